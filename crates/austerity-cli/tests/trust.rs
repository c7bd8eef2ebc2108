//! Exit code 0 means what docs/trust.md says: priors that do not contradict the data, and modes with their shares.
//!
//! Truths are least squares, quadrature, or the same fit of centred columns. Where chance enters, a bound is five Monte Carlo errors or
//! more (false alarms: below 1 in 10⁵ each), and seeds are fixed. Every test has a partner that must come out otherwise.

use serde_json::Value;

use crate::common::Scratch;

/// Normal numbers, the same on every machine (splitmix64 and Box & Muller).
struct Numbers(u64);

impl Numbers {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let (u, v) = (1.0 - self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    /// Student noise with 4 degrees of freedom.
    fn student(&mut self) -> f64 {
        let normal = self.normal();
        normal / (0.25 * (0..4).map(|_| self.normal().powi(2)).sum::<f64>()).sqrt()
    }

    fn poisson(&mut self, mean: f64) -> f64 {
        let (limit, mut product, mut count) = ((-mean).exp(), self.uniform(), 0.0);
        while product > limit {
            product *= self.uniform();
            count += 1.0;
        }
        count
    }
}

fn csv(header: &str, rows: impl Iterator<Item = Vec<f64>>) -> String {
    let line = |row: Vec<f64>| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(",") + "\n";
    format!("{header}\n{}", rows.map(line).collect::<String>())
}

/// A fit: its exit code and what it says.
fn fit(folder: &Scratch, line: &str) -> (Option<i32>, Value) {
    let output = folder.fit(&format!("fit {line} --json"));
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
}

fn parameter<'a>(summary: &'a Value, name: &str) -> &'a Value {
    let found = summary["parameters"].as_array().unwrap().iter().find(|one| one["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {summary}"))
}

fn number(summary: &Value, name: &str, what: &str) -> f64 {
    parameter(summary, name)[what].as_f64().unwrap()
}

fn check<'a>(summary: &'a Value, name: &str) -> &'a Value {
    let found = summary["checks"].as_array().unwrap().iter().find(|one| one["check"] == name);
    found.unwrap_or_else(|| panic!("no check {name} in {}", summary["checks"]))
}

fn reasons(summary: &Value) -> String {
    summary["reasons"].to_string()
}

/// Prices in thousands and more: default priors are in the units of the response, and the answer is that of least squares.
#[test]
fn default_priors_have_the_units_of_the_response() {
    let folder = Scratch::new("trust-units");
    let mut numbers = Numbers(3);
    let rows: Vec<Vec<f64>> = (0..4000)
        .map(|_| {
            let (carat, depth) = (0.8 + 0.3 * numbers.normal(), 61.0 + 1.5 * numbers.normal());
            vec![carat, depth, 8000.0 * carat - 150.0 * depth + 12_000.0 + 1500.0 * numbers.normal()]
        })
        .collect();
    folder.file("prices.csv", csv("carat,depth,price", rows.into_iter()));
    for family in ["linear", "student"] {
        let line = format!("prices.csv --response price --family {family} --seed 1 --draws 4000");
        let (code, summary) = fit(&folder, &format!("{line} --out {family}"));
        assert_eq!(code, Some(0), "{}", reasons(&summary));
        for (name, truth) in [("carat", 8000.0), ("depth", -150.0)] {
            let (mean, sd) = (number(&summary, name, "mean"), number(&summary, name, "sd"));
            assert!((mean - truth).abs() < 5.0 * sd, "{family} {name}: {mean} ± {sd}");
        }
        assert_eq!(check(&summary, "prior-conflict")["passed"], true, "{}", summary["checks"]);
    }
    // The priors of before, which know nothing of thousands: the slopes are wrong, and it is said.
    let old = "--prior normal:2.5 --prior-intercept normal:10";
    let (_, summary) =
        fit(&folder, &format!("prices.csv --response price --family linear {old} --seed 1 --out old"));
    let (mean, sd) = (number(&summary, "carat", "mean"), number(&summary, "carat", "sd"));
    assert!((mean - 8000.0).abs() > 20.0 * sd, "{mean} ± {sd}");
    assert!(summary["remarks"].to_string().contains("contradicts the data"), "{}", summary["remarks"]);
}

/// A raw year needs no centring: the default prior of the intercept holds at the column means.
#[test]
fn the_origin_of_a_column_does_not_matter() {
    let folder = Scratch::new("trust-year");
    let mut numbers = Numbers(8);
    let rows: Vec<Vec<f64>> = (0..3000)
        .map(|_| {
            let year = 1990.0 + (31.0 * numbers.uniform()).floor();
            vec![year, year - 2005.0, numbers.poisson((0.3 + 0.03 * (year - 2005.0)).exp())]
        })
        .collect();
    folder.file("years.csv", csv("year,centred,y", rows.into_iter()));
    let slope = |column: &str, more: &str| {
        let line = format!(
            "years.csv --response y --family poisson --features {column} --seed 2 --draws 4000 {more}"
        );
        let (_, summary) = fit(&folder, &line);
        (number(&summary, column, "mean"), number(&summary, column, "sd"))
    };
    let (raw, centred) = (slope("year", "--out raw"), slope("centred", "--out centred"));
    // Monte Carlo errors are a hundredth of an sd each.
    assert!((raw.0 - centred.0).abs() < 0.1 * raw.1, "{raw:?} {centred:?}");
    let literal = slope("year", "--out literal --prior-intercept normal:10");
    assert!((literal.0 - centred.0).abs() > raw.1, "{literal:?} {centred:?}");
}

/// Two bundles of far rows.
const TWO: [(usize, f64); 2] = [(5, 20.0), (5, -20.0)];

/// 5,000 rows with noise about 0, and bundles of far rows about a response each, so that every bundle is the others' outliers under Student noise.
fn bundles(
    folder: &Scratch,
    name: &str,
    noise: fn(&mut Numbers) -> f64,
    far: &[(usize, f64)],
) -> Vec<Vec<f64>> {
    let mut numbers = Numbers(5);
    let mut rows: Vec<Vec<f64>> =
        (0..5000).map(|_| vec![0.01 * numbers.normal(), noise(&mut numbers)]).collect();
    for &(number, y) in far {
        rows.extend((0..number).map(|_| vec![10.0 + 0.1 * numbers.normal(), y + 0.7 * numbers.normal()]));
    }
    folder.file(name, csv("x,y", rows.clone().into_iter()));
    rows
}

/// P(slope > 0) of a Student regression (ν = 4) without an intercept, priors normal:10 of the slope and half-normal:2 of σ, by quadrature around the two modes.
fn share_above(rows: &[Vec<f64>]) -> f64 {
    let log = |slope: f64, log_sigma: f64| {
        let sigma = log_sigma.exp();
        let each = |row: &Vec<f64>| {
            let z = (row[1] - slope * row[0]) / sigma;
            -2.5 * (z * z / 4.0).ln_1p() - log_sigma
        };
        rows.iter().map(each).sum::<f64>() - slope * slope / 200.0 - sigma * sigma / 8.0 + log_sigma
    };
    // σ of normal noise under a t with 4 degrees of freedom is near e^(−0.18); the grid spans six sds on either side.
    let sum = |side: f64, top: f64| {
        let mut mass = 0.0;
        for i in 0..80 {
            let slope = side * 2.0 + 0.01 * (f64::from(i) - 39.5);
            for j in 0..24 {
                mass += (log(slope, -0.18 + 0.01 * (f64::from(j) - 11.5)) - top).exp();
            }
        }
        mass
    };
    let top = log(2.0, -0.18);
    let (above, below) = (sum(1.0, top), sum(-1.0, top));
    above / (above + below)
}

/// Chains cross between two modes, and each has its share of the draws: within five Monte Carlo errors of quadrature (false alarms: 6e-7 a seed), with residuals of one
/// expansion per mode and with exact decisions on all rows. The partners: one bundle has one mode; with a proposal of the user's own chains do not cross, and the run is not trusted.
#[test]
fn two_modes_have_their_shares() {
    let folder = Scratch::new("trust-modes");
    let truth = share_above(&bundles(&folder, "two.csv", Numbers::normal, &TWO));
    bundles(&folder, "one.csv", Numbers::normal, &TWO[..1]);
    folder.file("sigma.csv", "coefficient,prior\nsigma,half-normal:2\n");
    let line = "--response y --family student --no-intercept --prior normal:10 --priors sigma.csv";
    let above = |summary: &Value| {
        let modes = summary["modes"]["modes"].as_array().unwrap().clone();
        let up = modes.iter().find(|mode| mode["place"]["x"].as_f64().unwrap() > 0.0).unwrap().clone();
        (up["share"].as_f64().unwrap(), up["error"].as_f64().unwrap())
    };
    for seed in 1..=10 {
        let (code, summary) = fit(&folder, &format!("two.csv {line} --seed {seed} --out two{seed}"));
        assert_eq!(code, Some(0), "{}", reasons(&summary));
        let (share, error) = above(&summary);
        assert!((share - truth).abs() < 5.0 * error && error < 0.03, "{share} ± {error}, quadrature {truth}");
        let modes = check(&summary, "modes");
        assert!(
            modes["passed"] == true && modes["words"].as_str().unwrap().contains("cross every"),
            "{modes}"
        );
        assert!(summary["data_share"].as_f64().unwrap() < 0.5, "{}", summary["data_share"]);
    }
    let (code, summary) = fit(&folder, &format!("two.csv {line} --seed 1 --rule exact --out exact"));
    assert_eq!(code, Some(0), "{}", reasons(&summary));
    let (share, error) = above(&summary);
    assert!((share - truth).abs() < 5.0 * error, "{share} ± {error}, quadrature {truth}");
    let (code, summary) = fit(&folder, &format!("one.csv {line} --seed 1 --out one"));
    assert_eq!(code, Some(0), "{}", reasons(&summary));
    assert!(check(&summary, "modes")["passed"] == true && summary["modes"].is_null());
    let (code, summary) = fit(&folder, &format!("two.csv {line} --seed 1 --proposal laplace --out laplace"));
    assert_eq!(code, Some(1), "{summary}");
    assert!(reasons(&summary).contains("2 modes that matter"), "{}", reasons(&summary));
    assert_eq!(check(&summary, "modes")["passed"], false);
}

/// Shares of the modes that hold these slopes, by quadrature in slope, log σ and, where it is sampled, log ν: no intercept, priors normal:10, half-normal:2 and log-normal:2,1; otherwise ν = 4.
///
/// The grid of a mode goes eight conditional sds from its top in steps of 0.8.
fn shares(rows: &[Vec<f64>], slopes: &[f64], sampled: bool) -> Vec<f64> {
    let log = |[slope, log_sigma, log_nu]: [f64; 3]| {
        let (sigma, nu) = (log_sigma.exp(), log_nu.exp());
        let half = 0.5 * (nu + 1.0);
        let constant = libm::lgamma(half) - libm::lgamma(0.5 * nu) - 0.5 * log_nu - log_sigma;
        let each = |row: &Vec<f64>| half * (((row[1] - slope * row[0]) / sigma).powi(2) / nu).ln_1p();
        let rows = rows.len() as f64 * constant - rows.iter().map(each).sum::<f64>();
        rows - slope * slope / 200.0 - sigma * sigma / 8.0 + log_sigma - 0.5 * (log_nu - 2.0).powi(2)
    };
    let axes = if sampled { 3 } else { 2 };
    let moved = |mut at: [f64; 3], axis: usize, by: f64| {
        at[axis] += by;
        at
    };
    let mut masses = Vec::new();
    for &slope in slopes {
        let mut top = [slope, 0.0, 4f64.ln()];
        for k in 0..60 {
            let step = 0.2 * 0.85f64.powi(k);
            for axis in 0..axes {
                for by in [step, -step] {
                    if log(moved(top, axis, by)) > log(top) {
                        top = moved(top, axis, by);
                    }
                }
            }
        }
        let sd = |axis: usize| {
            let bend = 2.0 * log(top) - log(moved(top, axis, 1e-3)) - log(moved(top, axis, -1e-3));
            (1e-6 / bend).sqrt()
        };
        let grid = |axis: usize| (-10..=10).filter(move |&k| axis < axes || k == 0);
        let (mut mass, sds) = (0.0, [sd(0), sd(1), if sampled { sd(2) } else { 0.0 }]);
        for (i, j) in grid(0).flat_map(|i| grid(1).map(move |j| (i, j))) {
            for k in grid(2) {
                let units = [i, j, k].map(|k| 0.8 * f64::from(k));
                mass +=
                    (log(std::array::from_fn(|axis| top[axis] + units[axis] * sds[axis])) - log(top)).exp();
            }
        }
        let width: f64 = sds[..axes].iter().product();
        masses.push((log(top), mass * width));
    }
    let highest = masses.iter().fold(f64::NEG_INFINITY, |most, mass| most.max(mass.0));
    let masses: Vec<f64> = masses.iter().map(|(top, mass)| mass * (top - highest).exp()).collect();
    masses.iter().map(|mass| mass / masses.iter().sum::<f64>()).collect()
}

/// Three modes, and two with ν sampled, have their shares: within five Monte Carlo errors of quadrature (false alarms: 3e-6 a fit), reading less than a tenth of the data. The
/// partner: equal shares are farther away than that.
#[test]
fn three_modes_and_those_of_a_family_with_two_scales_have_their_shares() {
    let folder = Scratch::new("trust-three");
    let three = bundles(&folder, "three.csv", Numbers::normal, &[(7, 20.0), (5, 0.0), (7, -20.0)]);
    let two = bundles(&folder, "nu.csv", Numbers::student, &TWO);
    folder.file("sigma.csv", "coefficient,prior\nsigma,half-normal:2\n");
    let line = "--response y --no-intercept --prior normal:10 --priors sigma.csv";
    let cases = [
        ("three.csv --family student", vec![2.0, 0.0, -2.0], shares(&three, &[2.0, 0.0, -2.0], false)),
        ("nu.csv --family student-nu", vec![2.0, -2.0], shares(&two, &[2.0, -2.0], true)),
    ];
    for (model, slopes, truth) in cases {
        for seed in 1..=2 {
            let out = format!("{}{seed}", slopes.len());
            let (code, summary) = fit(&folder, &format!("{model} {line} --seed {seed} --out {out}"));
            assert_eq!(code, Some(0), "{model}: {}", reasons(&summary));
            let modes = summary["modes"]["modes"].as_array().unwrap();
            assert_eq!(modes.len(), slopes.len(), "{model}: {modes:?}");
            let mut even = true;
            for (slope, truth) in slopes.iter().zip(&truth) {
                let near = |mode: &&Value| (mode["place"]["x"].as_f64().unwrap() - slope).abs() < 0.5;
                let mode = modes.iter().find(near).unwrap();
                let (share, error) = (mode["share"].as_f64().unwrap(), mode["error"].as_f64().unwrap());
                assert!(
                    (share - truth).abs() < 5.0 * error && error < 0.03,
                    "{model}, {slope}: {share} ± {error}, quadrature {truth}"
                );
                even &= (share - 1.0 / slopes.len() as f64).abs() < 5.0 * error;
            }
            assert!(!even && summary["data_share"].as_f64().unwrap() < 0.1, "{model}: {summary}");
        }
    }
}

/// A run that jumps between modes goes on to the draws of an uninterrupted one, on residuals and on rows.
#[test]
fn jumps_between_modes_are_resumed_bit_for_bit() {
    let folder = Scratch::new("trust-modes-resumed");
    bundles(&folder, "two.csv", Numbers::normal, &TWO);
    for rule in ["", "--rule exact"] {
        let line = format!(
            "two.csv --response y --family student --no-intercept --prior normal:10 --seed 3 --warmup 100 {rule}"
        );
        let name = if rule.is_empty() { "residuals" } else { "rows" };
        folder.done(&format!("fit {line} --draws 400 --out {name}-whole"));
        folder.done(&format!("fit {line} --draws 150 --out {name}-parts"));
        folder.done(&format!("fit {line} --draws 400 --out {name}-parts --resume"));
        let (whole, parts) = (folder.draws(&format!("{name}-whole")), folder.draws(&format!("{name}-parts")));
        whole.assert_equal(&parts, name);
        let slopes = folder.reader(&format!("{name}-whole")).parameter(0).unwrap().concat();
        assert!(slopes.iter().any(|x| *x > 0.0) && slopes.iter().any(|x| *x < 0.0));
    }
}

/// A narrow Student prior: its spike is denser than the mode that holds the mass.
#[test]
fn a_mode_counts_by_its_mass_not_by_its_height() {
    let folder = Scratch::new("trust-spike");
    let mut numbers = Numbers(11);
    let rows: Vec<Vec<f64>> = (0..5000)
        .map(|_| {
            let x = numbers.normal();
            vec![x, f64::from(u8::from(numbers.uniform() < 1.0 / (1.0 + (-0.3 * x).exp())))]
        })
        .collect();
    // By quadrature: mean and sd of the posterior.
    let log = |b: f64| {
        let rows: f64 = rows.iter().map(|row| b * row[0] * row[1] - (b * row[0]).exp().ln_1p()).sum();
        rows - 3.0 * (b * b / (5.0 * 1e-6)).ln_1p()
    };
    let grid: Vec<(f64, f64)> = (0..1000).map(|k| 0.0006 * f64::from(k)).map(|b| (b, log(b))).collect();
    let most = grid.iter().map(|point| point.1).fold(f64::NEG_INFINITY, f64::max);
    let weight = |&(_, log): &(f64, f64)| (log - most).exp();
    let total: f64 = grid.iter().map(weight).sum();
    let mean = grid.iter().map(|point| weight(point) * point.0).sum::<f64>() / total;
    folder.file("spike.csv", csv("x,y", rows.into_iter()));
    for seed in 1..=3 {
        let line = format!(
            "spike.csv --response y --no-intercept --prior student:5,0.001 --seed {seed} --draws 4000 --out run{seed}"
        );
        let (code, summary) = fit(&folder, &line);
        assert_eq!(code, Some(0), "{}", reasons(&summary));
        let (found, error) = (number(&summary, "x", "mean"), number(&summary, "x", "mcse_mean"));
        assert!((found - mean).abs() < 5.0 * error, "{found} ± {error}, quadrature {mean}");
    }
    assert!(mean > 0.15, "the spike would be at 0, this is at {mean}");
}

/// A Cauchy prior two hundred times narrower than the likelihood: a spike with a shoulder that holds one twentieth of the mass, three standard deviations away. The mean is that of quadrature within five Monte Carlo errors (false alarms: 6e-7
/// a seed). The partner is a random walk with the size of the spike, as before: it does not see the shoulder.
#[test]
fn the_shoulder_beside_a_narrow_prior_is_reached() {
    const SCALE: f64 = 0.0002;
    let folder = Scratch::new("trust-shoulder");
    let rows: Vec<[f64; 2]> = (0..3000)
        .map(|i| {
            let x = (f64::from(i % 1000) - 499.5) / 289.0;
            let even = (f64::from(i) * 0.618_033_988_749_894_9).fract();
            [x, f64::from(u8::from(even < 1.0 / (1.0 + (-0.117 * x).exp())))]
        })
        .collect();
    folder.file("shoulder.csv", csv("x,y", rows.iter().map(|row| row.to_vec())));
    // The log-likelihood on a grid, linear between its points: off by less than 1e-4.
    let likelihood = |b: f64| rows.iter().map(|[x, y]| b * x * y - (b * x).exp().ln_1p()).sum::<f64>();
    let grid: Vec<f64> = (0..=700).map(|k| likelihood(-0.3 + 0.001 * f64::from(k))).collect();
    let between = |b: f64| {
        let place = (b + 0.3) / 0.001;
        let (low, part) = (place.floor() as usize, place.fract());
        grid[low] * (1.0 - part) + grid[low + 1] * part
    };
    let (mut sum, mut all, top) = (0.0, 0.0, between(0.0));
    for k in -30_000..33_500 {
        // Points that are dense at the spike.
        let t = 2.5e-4 * f64::from(k);
        let (b, width) = (SCALE * t.sinh(), SCALE * t.cosh());
        if (-0.29..0.39).contains(&b) {
            let mass = (between(b) - top).exp() / (1.0 + (b / SCALE).powi(2)) * width;
            (sum, all) = (sum + b * mass, all + mass);
        }
    }
    let truth = sum / all;
    assert!((0.003..0.01).contains(&truth), "{truth}");
    let line = format!("shoulder.csv --response y --no-intercept --prior student:1,{SCALE}");
    for seed in 1..=3 {
        let (code, summary) = fit(&folder, &format!("{line} --seed {seed} --out run{seed}"));
        assert_eq!(code, Some(0), "{}", reasons(&summary));
        let (found, error) = (number(&summary, "x", "mean"), number(&summary, "x", "mcse_mean"));
        assert!(
            (found - truth).abs() < 5.0 * error && error < 0.002,
            "{found} ± {error}, quadrature {truth}"
        );
    }
    let (_, summary) = fit(&folder, &format!("{line} --seed 2 --proposal adaptive --out walk"));
    assert!((number(&summary, "x", "mean") - truth).abs() > 0.5 * truth, "{summary}");
}

/// A prior that contradicts the data makes a linear model choose between a small and a large σ; the mass is at the large one.
#[test]
fn a_prior_in_conflict_is_named_and_the_mode_with_the_mass_is_found() {
    let folder = Scratch::new("trust-conflict");
    let mut numbers = Numbers(21);
    let rows = (0..100).map(|_| {
        let x = numbers.normal();
        vec![x, 40.0 * x + numbers.normal()]
    });
    folder.file("conflict.csv", csv("x,y", rows));
    let line = "conflict.csv --response y --family linear --no-intercept --seed 1";
    let (_, summary) = fit(&folder, &format!("{line} --prior normal:1 --out narrow"));
    assert!(number(&summary, "x", "mean") < 10.0 && number(&summary, "sigma", "mean") > 20.0, "{summary}");
    let remarks = summary["remarks"].to_string();
    assert!(
        remarks.contains("normal:1 of x contradicts the data") && !remarks.contains("say little"),
        "{remarks}"
    );
    let (code, summary) = fit(&folder, &format!("{line} --out open"));
    assert_eq!(code, Some(0), "{}", reasons(&summary));
    assert!((number(&summary, "x", "mean") - 40.0).abs() < 1.0, "{summary}");
    assert!(!summary["remarks"].to_string().contains("contradicts"), "{}", summary["remarks"]);
}

/// A logistic likelihood is not quadratic between a prior and its maximum: the conflict is found all the same, with the numbers of the maximum.
#[test]
fn a_conflict_with_a_skewed_likelihood_is_named() {
    let folder = Scratch::new("trust-skewed-conflict");
    let mut numbers = Numbers(22);
    let rows = (0..3000).map(|_| {
        let x = numbers.normal();
        vec![x, f64::from(u8::from(numbers.uniform() < 1.0 / (1.0 + (-2.0 * x).exp())))]
    });
    folder.file("skewed.csv", csv("x,y", rows));
    let line = "skewed.csv --response y --seed 1 --draws 1000";
    let (code, summary) = fit(&folder, &format!("{line} --prior normal:-2,0.2 --out against"));
    assert_eq!(code, Some(0), "{}", reasons(&summary));
    let remarks = summary["remarks"].to_string();
    assert!(remarks.contains("normal:-2,0.2 of x contradicts the data"), "{remarks}");
    assert!(
        ["has 1.9", "has 2 ±", "has 2.0", "has 2.1"].iter().any(|words| remarks.contains(words)),
        "{remarks}"
    );
    let (_, summary) = fit(&folder, &format!("{line} --prior normal:2,0.2 --out along"));
    assert!(!summary["remarks"].to_string().contains("contradicts"), "{}", summary["remarks"]);
}

/// Where a theorem leaves one mode nothing is searched, and separated columns are no conflict.
#[test]
fn one_mode_by_proof_and_no_alarm_about_separated_columns() {
    let folder = Scratch::new("trust-proof");
    let mut numbers = Numbers(31);
    let rows = (0..20_000).map(|row| {
        let rare = f64::from(u8::from(row < 200));
        let success = rare > 0.0 || numbers.uniform() < 0.3;
        vec![rare, numbers.normal(), f64::from(u8::from(success))]
    });
    folder.file("separated.csv", csv("rare,x,y", rows));
    let (code, summary) = fit(&folder, "separated.csv --response y --seed 1 --out run");
    assert_eq!(code, Some(0), "{}", reasons(&summary));
    assert!(check(&summary, "modes")["words"].as_str().unwrap().contains("by proof"), "{summary}");
    assert_eq!(check(&summary, "prior-conflict")["passed"], true);
    assert!(!summary["remarks"].to_string().contains("contradicts"), "{}", summary["remarks"]);
    let shown = folder.done("summary run");
    assert!(shown.contains("one mode, by proof") && shown.contains("prior conflict"), "{shown}");
}

#[test]
fn priors_of_sigma_are_those_of_a_positive_number() {
    let folder = Scratch::new("trust-sigma");
    let mut numbers = Numbers(41);
    let rows = (0..200).map(|_| vec![numbers.normal(), 3.0 * numbers.normal()]);
    folder.file("data.csv", csv("x,y", rows));
    folder.file("half.csv", "coefficient,prior\nsigma,normal:0.5\n");
    folder.file("away.csv", "coefficient,prior\nsigma,\"normal:1,0.5\"\n");
    folder.file("slope.csv", "coefficient,prior\nx,half-normal:1\n");
    let line = "fit data.csv --response y --family linear --seed 1";
    let summary = folder.json(&format!("{line} --priors half.csv --out half"));
    // The mode of σ^(−n)·exp(−RSS/2σ² − σ²/(2·0.25)) solves 4σ⁴ + nσ² = RSS: with n = 200 and RSS = nσ̂² the prior pulls σ̂ = 3 to 2.79.
    let open = folder.json(&format!("{line} --out open"));
    let (pulled, least) = (number(&summary, "sigma", "mean"), number(&open, "sigma", "mean"));
    let rows = 200.0;
    let mode = ((-rows + (rows * rows + 16.0 * rows * least * least).sqrt()) / 8.0).sqrt();
    assert!(
        (pulled - mode).abs() < 0.05 && least - mode > 0.15,
        "{pulled}, predicted {mode}, default {least}"
    );
    let file = std::fs::read_to_string(folder.at("half").join("run.toml")).unwrap();
    assert!(file.contains("half-normal:0.5"), "{file}");
    folder.refused_with(&format!("{line} --priors away.csv --out a"), &["sigma is positive", "half-normal"]);
    folder.refused_with(&format!("{line} --priors slope.csv --out b"), &["may be negative", "normal:SD"]);
    // A run of an earlier version had a prior of log σ.
    // A file that was edited on purpose goes without its checksum, which is in the first line.
    let old = file.split_once('\n').unwrap().1.replace("half-normal:0.5", "normal:0.5");
    std::fs::write(folder.at("half").join("run.toml"), old).unwrap();
    let resume = format!("{line} --priors half.csv --out half --resume --draws 5000");
    folder.refused_with(&resume, &["earlier version", "log sigma"]);
}
