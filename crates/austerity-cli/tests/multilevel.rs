//! Group terms: posteriors against quadrature on a grid, with groups integrated on grids of their own; resumption; predictions; bad input.
//!
//! Comparisons of means allow 4.5 Monte Carlo errors, and of standard deviations 8 %: with 8,000 effective draws a standard deviation has a relative error of 1 %, so nothing here raises
//! a false alarm more than once in 10,000 seeds. Seeds are fixed, and each comparison has a partner that must fail it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use austerity::rng::{Role, stream};
use rand::RngExt as _;
use rand_distr::StandardNormal;
use serde_json::Value;

use crate::common::{Scratch, text};

const GROUPS: usize = 8;
const EACH: usize = 25;

/// Rows of eight groups: a group, a column, a response.
fn rows() -> Vec<(usize, f64, f64)> {
    let mut rng = stream(5, 0, Role::Data);
    let mut rows = Vec::new();
    for group in 0..GROUPS {
        let u = 0.8 * rng.sample::<f64, _>(StandardNormal);
        for _ in 0..EACH {
            let x: f64 = rng.sample(StandardNormal);
            let p = 1.0 / (1.0 + (0.3 - 0.7 * x - u).exp());
            rows.push((group, x, f64::from(u8::from(rng.random::<f64>() < p))));
        }
    }
    rows
}

fn csv(rows: &[(usize, f64, f64)]) -> String {
    let mut csv = String::from("site,x,y\n");
    for (group, x, y) in rows {
        writeln!(csv, "s{group},{x},{y}").unwrap();
    }
    csv
}

/// Means and standard deviations.
type Moments = Vec<(f64, f64)>;

/// Mean and standard deviation of intercept, slope and σ, and of the effect of every group, under normal(0, 2) coefficients and a half-normal σ of this scale: sums over a grid.
fn exact(rows: &[(usize, f64, f64)], scale: f64) -> (Moments, Moments) {
    const POINTS: usize = 17;
    const NODES: usize = 49;
    // Midpoints of equal pieces; densities vanish at the ends.
    let grid =
        |low: f64, high: f64| (0..POINTS).map(move |k| low + (high - low) * (k as f64 + 0.5) / POINTS as f64);
    let z: Vec<f64> = (0..NODES).map(|k| -6.0 + 12.0 * (k as f64 + 0.5) / NODES as f64).collect();
    let mut points: Vec<(f64, [f64; 3], Vec<[f64; 2]>)> = Vec::new();
    for a in grid(-2.6, 2.0) {
        for b in grid(-0.1, 1.6) {
            for log_sigma in grid(-3.4, 1.6) {
                let sigma = log_sigma.exp();
                let mut log_density = -0.125 * (a * a + b * b) - 0.5 * (sigma / scale).powi(2) + log_sigma;
                let mut groups = Vec::new();
                for group in 0..GROUPS {
                    let own: Vec<f64> = z
                        .iter()
                        .map(|z| {
                            // Π p(y) as one product: e^{Σ y η} / Π(1 + e^η).
                            let (mut sum, mut product) = (0.0, 1.0_f64);
                            for (_, x, y) in rows.iter().filter(|(g, ..)| *g == group) {
                                let eta = a + b * x + sigma * z;
                                sum += y * eta;
                                product *= 1.0 + eta.exp();
                            }
                            (sum - 0.5 * z * z).exp() / product
                        })
                        .collect();
                    let total: f64 = own.iter().sum();
                    let mean = |power: i32| {
                        z.iter().zip(&own).map(|(z, w)| (sigma * z).powi(power) * w).sum::<f64>() / total
                    };
                    log_density += total.ln();
                    groups.push([mean(1), mean(2)]);
                }
                points.push((log_density, [a, b, sigma], groups));
            }
        }
    }
    let most = points.iter().map(|point| point.0).fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = points.iter().map(|point| (point.0 - most).exp()).sum();
    let weights: Vec<f64> = points.iter().map(|point| (point.0 - most).exp() / total).collect();
    let moments = |first: &dyn Fn(usize) -> f64, second: &dyn Fn(usize) -> f64| {
        let mean: f64 = (0..points.len()).map(|k| weights[k] * first(k)).sum();
        let square: f64 = (0..points.len()).map(|k| weights[k] * second(k)).sum();
        (mean, (square - mean * mean).sqrt())
    };
    let parameters = (0..3).map(|i| moments(&|k| points[k].1[i], &|k| points[k].1[i].powi(2))).collect();
    let effects = (0..GROUPS).map(|g| moments(&|k| points[k].2[g][0], &|k| points[k].2[g][1])).collect();
    (parameters, effects)
}

fn summary(scratch: &Scratch, run: &str) -> Value {
    scratch.summary(run)
}

fn parameters(said: &Value) -> BTreeMap<String, [f64; 3]> {
    let number = |p: &Value, key: &str| p[key].as_f64().unwrap();
    let one = |p: &Value| {
        (p["name"].as_str().unwrap().to_owned(), ["mean", "sd", "mcse_mean"].map(|key| number(p, key)))
    };
    said["parameters"].as_array().unwrap().iter().map(one).collect()
}

/// Whether the fit has the moments of the grid.
fn agrees(said: &Value, expected: &(Moments, Moments)) -> Result<(), String> {
    let found = parameters(said);
    for (name, (mean, sd)) in ["intercept", "x", "sd(site:intercept)"].iter().zip(&expected.0) {
        let [own, own_sd, error] = found[*name];
        // The grid has an error of its own, well below a hundredth of a standard deviation.
        if (own - mean).abs() > 4.5 * error + 0.01 * sd || (own_sd / sd - 1.0).abs() > 0.08 {
            return Err(format!("{name}: {own} ± {own_sd} (error {error}), on the grid {mean} ± {sd}"));
        }
    }
    for (level, (mean, sd)) in said["groups"]["site"].as_array().unwrap().iter().zip(&expected.1) {
        let (own, own_sd) = (level["mean"].as_f64().unwrap(), level["sd"].as_f64().unwrap());
        if (own - mean).abs() > 0.15 * sd || (own_sd / sd - 1.0).abs() > 0.1 {
            return Err(format!("{level}: on the grid {mean} ± {sd}"));
        }
    }
    Ok(())
}

const FIT: &str =
    "fit data.csv --prior normal:2 --prior-intercept normal:2 --draws 2000 --seed 4 --rule exact";

#[test]
fn eight_groups_have_the_posterior_of_a_grid() {
    let (scratch, rows) = (Scratch::new("multilevel_grid"), rows());
    scratch.file("data.csv", csv(&rows));
    let formula = "y~x+(1|site)";
    scratch.fit(&format!("{FIT} --formula {formula} --prior-group half-normal:1 --out run"));
    let said = summary(&scratch, "run");
    let expected = exact(&rows, 1.0);
    agrees(&said, &expected).unwrap();
    assert_eq!(said["groups"]["site"].as_array().unwrap().len(), GROUPS);
    assert_eq!(said["groups"]["site"][0]["level"], "s0");
    assert_eq!(said["groups"]["site"][0]["term"], "intercept");
    // Another prior of σ is seen.
    agrees(&said, &exact(&rows, 0.2)).unwrap_err();
    // Known groups, and new ones, whose intervals hold how groups differ.
    scratch.file("new.csv", "site,x\ns0,0.5\nelsewhere,0.5\n");
    scratch.done("predict run new.csv --out made.csv");
    let made = std::fs::read_to_string(scratch.at("made.csv")).unwrap();
    let lines: Vec<Vec<f64>> = made
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[1][3] - lines[1][2] > lines[0][3] - lines[0][2], "{made}");
    let [intercept, slope] = ["intercept", "x"].map(|name| parameters(&said)[name][0]);
    let expected = 1.0
        / (1.0 + (-(intercept + 0.5 * slope + said["groups"]["site"][0]["mean"].as_f64().unwrap())).exp());
    assert!((lines[0][1] - expected).abs() < 0.03, "{made} {expected}");
}

#[test]
fn a_run_with_groups_goes_on_as_if_it_had_not_stopped() {
    let scratch = Scratch::new("multilevel_resume");
    scratch.file("data.csv", csv(&rows()));
    let line = "fit data.csv --formula y~x+(1+x|site) --seed 9 --warmup 200";
    scratch.fit(&format!("{line} --out whole --draws 200"));
    scratch.fit(&format!("{line} --out half --draws 100"));
    scratch.fit(&format!("{line} --out half --resume --draws 200"));
    let draws = |run: &str| {
        let reader = scratch.reader(run);
        (reader.names(), reader.parameters(0..reader.names().len()).unwrap())
    };
    assert_eq!(draws("half"), draws("whole"));
    assert_eq!(
        draws("whole").0,
        ["intercept", "x", "sd(site:intercept)", "sd(site:x)", "cor(site:intercept,x)"]
    );
    assert!(scratch.at("whole/draws.zarr/posterior/sd_site_x").exists());
    let said = summary(&scratch, "half");
    assert_eq!(said["groups"]["site"].as_array().unwrap().len(), 2 * GROUPS);
}

#[test]
fn bad_group_terms_are_refused_with_a_sentence() {
    let scratch = Scratch::new("multilevel_bad");
    let mut table = String::from("y,x,z,site,one,id,gap\n");
    for (k, (group, x, y)) in rows().into_iter().enumerate() {
        let gap = if k == 3 { String::new() } else { format!("g{group}") };
        writeln!(table, "{y},{x},{},s{group},same,{k},{gap}", x * x).unwrap();
    }
    scratch.file("data.csv", &table);
    let refused = |formula: &str, more: &str, words: &[&str]| {
        scratch.refused_with(&format!("fit data.csv --formula {formula} --out run {more}"), words);
    };
    refused("y~x+(1|one)", "", &["one", "1 level"]);
    refused("y~x+(1|nowhere)", "", &["nowhere"]);
    refused("y~x+(1|gap)", "", &["gap", "row"]);
    refused("y~x+(z|site)", "", &["z", "add"]);
    refused("y~x+(0|site)", "", &["nothing varies"]);
    refused("y~x+(1|site)+(1|gap)", "", &["gap"]);
    refused("y~x+(1|site)", "--standardize", &["scale(x)"]);
    refused("y~x+(1|id)", "--family linear", &["every row"]);
    refused("y~x", "--prior-group half-normal:1", &["(1 | group)"]);
    let output = scratch.fit("fit data.csv --formula y~x+(1|id) --out one --draws 50 --warmup 50");
    assert!(text(&output.stdout).contains("level of id of its own"), "{}", text(&output.stdout));
}

/// Successes of 100 in each of 200 groups that hardly differ (σ = 0.02).
#[rustfmt::skip]
const ALIKE: [u32; 200] = [
    36, 44, 39, 36, 47, 38, 40, 37, 40, 34, 37, 37, 41, 30, 42, 33, 41, 38, 47, 34, 31, 33, 42, 44, 38,
    33, 36, 33, 34, 46, 40, 34, 38, 31, 41, 35, 37, 37, 37, 35, 36, 31, 37, 34, 38, 34, 35, 40, 35, 37,
    38, 42, 36, 40, 49, 46, 36, 37, 36, 30, 50, 36, 28, 38, 43, 42, 38, 35, 52, 40, 40, 36, 43, 35, 41,
    41, 42, 42, 37, 41, 31, 33, 45, 37, 35, 36, 42, 36, 47, 46, 34, 38, 48, 34, 47, 38, 39, 35, 37, 40,
    44, 39, 42, 38, 45, 33, 34, 34, 42, 32, 42, 42, 42, 38, 40, 45, 40, 39, 42, 39, 41, 30, 40, 38, 35,
    34, 36, 44, 36, 33, 35, 39, 33, 41, 31, 35, 35, 32, 33, 40, 34, 40, 37, 36, 42, 39, 39, 41, 45, 46,
    43, 40, 35, 37, 39, 41, 37, 38, 44, 34, 37, 28, 34, 43, 47, 33, 47, 35, 36, 37, 39, 41, 42, 40, 39,
    45, 30, 33, 38, 44, 38, 41, 41, 38, 34, 43, 34, 41, 39, 39, 41, 31, 31, 37, 28, 40, 35, 33, 46, 36,
];

/// Where groups hardly differ the posterior of σ leans against 0. Mean and standard deviation of the intercept, and the quantiles of σ, are those of `multilevel_reference.py` (its own
/// grids, in numpy, under the priors below); `binomial` rows of 100 trials and 0/1 rows are the same posterior.
#[test]
fn a_standard_deviation_near_zero_has_the_quantiles_of_a_grid() {
    let scratch = Scratch::new("multilevel_alike");
    let mut table = String::from("g,k,n\n");
    for (group, k) in ALIKE.iter().enumerate() {
        writeln!(table, "g{group},{k},100").unwrap();
    }
    scratch.file("data.csv", &table);
    scratch.fit("fit data.csv --formula k|trials(n)~1+(1|g) --prior-intercept normal:2 --draws 20000 --seed 2 --rule exact --out run");
    let said = scratch.summary("run");
    let of = |name: &str, key: &str| {
        let found = said["parameters"].as_array().unwrap().iter().find(|p| p["name"] == name).unwrap();
        found[key].as_f64().unwrap()
    };
    assert!((of("intercept", "mean") + 0.4802).abs() < 0.1 * 0.0148);
    assert!((of("intercept", "sd") / 0.0148 - 1.0).abs() < 0.08);
    let sigma = |key: &str| of("sd(g:intercept)", key);
    assert!((sigma("mean") - 0.0291).abs() < 0.1 * 0.0208, "{said}");
    assert!((sigma("q975") - 0.0744).abs() < 0.15 * 0.0208, "{said}");
    // A fit that took σ for that of its mode alone would miss the long tail.
    assert!(sigma("q975") > 2.0 * sigma("q50"));
}
