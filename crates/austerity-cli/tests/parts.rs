//! `select`, `ica` and `gibbs`: against enumeration, known sources and exact marginals; killed and resumed; bad input.
//!
//! Statistical comparisons allow 4.5 Monte Carlo errors: were the errors known exactly, 12 of them would raise one false alarm in 12,000 runs. Seeds are fixed, and
//! each comparison has a partner that must fail it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use austerity::rng::{Role, stream};
use austerity_io::audio::{self, Sound};
use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal, StudentT};
use serde_json::Value;

use crate::common::{Scratch, text};

/// Mean and Monte Carlo error of every parameter.
fn means(said: &Value) -> BTreeMap<String, (f64, f64)> {
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let of =
        |p: &Value| (p["name"].as_str().unwrap().to_owned(), (number(&p["mean"]), number(&p["mcse_mean"])));
    said["parameters"].as_array().unwrap().iter().map(of).collect()
}

fn json(scratch: &Scratch, line: &str) -> Value {
    let output = scratch.fit(&format!("{line} --json"));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// What nobody looked at does not count as passed.
fn says_what_was_not_checked(said: &Value) {
    for name in ["modes", "tails", "prior-conflict"] {
        let found = said["checks"].as_array().unwrap().iter().find(|check| check["check"] == name).unwrap();
        assert!(found["passed"].is_null(), "{found}");
    }
}

fn draws(scratch: &Scratch, run: &str) -> Vec<Vec<f64>> {
    let reader = scratch.reader(run);
    reader.parameters(0..reader.names().len()).unwrap()
}

/// A run that is killed and resumed, and one that is stopped and resumed, have the draws of the uninterrupted one.
pub(crate) fn goes_on(scratch: &Scratch, line: &str, draws_wanted: u64) {
    let half = draws_wanted / 2;
    scratch.fit(&format!("{line} --out whole --draws {draws_wanted}"));
    let whole = draws(scratch, "whole");
    scratch.fit(&format!("{line} --out half --draws {half}"));
    scratch.fit(&format!("{line} --out half --resume --draws {draws_wanted}"));
    assert_eq!(draws(scratch, "half"), whole, "{line}: stopped and resumed");
    let mut child = scratch.start(&format!("{line} --out killed --draws {draws_wanted}"));
    let begun = Instant::now();
    while !scratch.at("killed/run.toml").exists() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{line} did not begin");
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    child.wait().unwrap();
    scratch.fit(&format!("{line} --out killed --resume"));
    assert_eq!(draws(scratch, "killed"), whole, "{line}: killed and resumed");
    // Another command, another seed: refused.
    scratch.refused_with(&format!("{line} --out half --resume --seed 77"), &["seed"]);
    assert!(scratch.at("half/report.html").exists() && scratch.at("half/summary.json").exists());
}

const ROWS: usize = 300;

/// A strong feature, a weak one and a useless one.
fn choices() -> (Vec<[f64; 3]>, Vec<f64>) {
    let mut rng = stream(21, 0, Role::Data);
    let mut rows = Vec::new();
    let mut response = Vec::new();
    for _ in 0..ROWS {
        let x: [f64; 3] = std::array::from_fn(|_| rng.sample(StandardNormal));
        let eta = 0.9 * x[0] + 0.3 * x[1];
        response.push(f64::from(u8::from(rng.random::<f64>() < 1.0 / (1.0 + (-eta).exp()))));
        rows.push(x);
    }
    (rows, response)
}

fn table(rows: &[[f64; 3]], response: &[f64]) -> String {
    let mut csv = String::from("strong,weak,useless,y\n");
    for (x, y) in rows.iter().zip(response) {
        writeln!(csv, "{},{},{},{y}", x[0], x[1], x[2]).unwrap();
    }
    csv
}

/// Log-likelihood, its gradient and information of the features `model`.
fn likelihood(
    model: &[usize],
    beta: &[f64],
    (rows, response): &(Vec<[f64; 3]>, Vec<f64>),
) -> (f64, Vec<f64>, Vec<f64>) {
    let k = model.len();
    let (mut value, mut gradient, mut information) = (0.0, vec![0.0; k], vec![0.0; k * k]);
    for (x, y) in rows.iter().zip(response) {
        let eta: f64 = model.iter().zip(beta).map(|(&j, b)| x[j] * b).sum();
        value += y * eta - eta.max(0.0) - (-eta.abs()).exp().ln_1p();
        let p = 1.0 / (1.0 + (-eta).exp());
        for a in 0..k {
            gradient[a] += (y - p) * x[model[a]];
            for b in 0..k {
                information[a * k + b] += p * (1.0 - p) * x[model[a]] * x[model[b]];
            }
        }
    }
    (value, gradient, information)
}

/// Inclusion probabilities of the three features by importance sampling of every model, with their errors.
fn enumerated(data: &(Vec<[f64; 3]>, Vec<f64>), rate: f64) -> [(f64, f64); 3] {
    let mut rng = stream(5, 0, Role::Start);
    let freedom = 5.0;
    let mut masses = Vec::new();
    for mask in 1usize..8 {
        let model: Vec<usize> = (0..3).filter(|j| mask >> j & 1 == 1).collect();
        let k = model.len();
        let mut mode = vec![0.0; k];
        for _ in 0..30 {
            let (_, gradient, information) = likelihood(&model, &mode, data);
            let step = nalgebra::DMatrix::from_vec(k, k, information).cholesky().unwrap();
            let step = step.solve(&nalgebra::DVector::from_vec(gradient));
            (0..k).for_each(|j| mode[j] += step[j]);
        }
        let (_, _, information) = likelihood(&model, &mode, data);
        let root = nalgebra::DMatrix::from_vec(k, k, information).cholesky().unwrap().inverse();
        let root = root.cholesky().unwrap().l();
        let log_det: f64 = (0..k).map(|j| root[(j, j)].ln()).sum();
        // B(k, D−k+1) for D = 3.
        let size = [0.0, 1.0 / 3.0, 1.0 / 6.0, 1.0 / 3.0][k];
        let draws = 8_000;
        let mut weights = Vec::new();
        for _ in 0..draws {
            let z = nalgebra::DVector::from_fn(k, |_, _| rng.sample::<f64, _>(StandardNormal));
            let chi: f64 = rand_distr::ChiSquared::new(freedom).unwrap().sample(&mut rng);
            let scale = (freedom / chi).sqrt();
            let away = &root * &z * scale;
            let beta: Vec<f64> = (0..k).map(|j| mode[j] + away[j]).collect();
            let q =
                -0.5 * (freedom + k as f64) * (z.norm_squared() * scale * scale / freedom).ln_1p() - log_det;
            let norm: f64 = beta.iter().map(|b| b.abs()).sum();
            let p = likelihood(&model, &beta, data).0
                + k as f64 * ((rate / 2.0).ln() - norm.ln())
                + f64::ln(size);
            weights.push(p - q - constant(freedom, k));
        }
        masses.push((model, weights));
    }
    let top = masses.iter().flat_map(|(_, w)| w).copied().fold(f64::NEG_INFINITY, f64::max);
    let mass = |weights: &[f64]| {
        let n = weights.len() as f64;
        let mean = weights.iter().map(|w| (w - top).exp()).sum::<f64>() / n;
        let square = weights.iter().map(|w| ((w - top).exp() - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, square / n)
    };
    let masses: Vec<_> = masses.iter().map(|(model, weights)| (model, mass(weights))).collect();
    let all: f64 = masses.iter().map(|(_, (mean, _))| mean).sum();
    std::array::from_fn(|feature| {
        let inside = |model: &[usize]| f64::from(u8::from(model.contains(&feature)));
        let p = masses.iter().map(|(model, (mean, _))| inside(model) * mean).sum::<f64>() / all;
        let variance: f64 = masses.iter().map(|(model, (_, v))| (inside(model) - p).powi(2) * v).sum();
        (p, variance.sqrt() / all)
    })
}

/// Log of the constant of a Student density in k dimensions.
fn constant(freedom: f64, k: usize) -> f64 {
    use statrs::function::gamma::ln_gamma;
    let k = k as f64;
    ln_gamma(0.5 * (freedom + k)) - ln_gamma(0.5 * freedom) - 0.5 * k * (freedom * std::f64::consts::PI).ln()
}

/// The largest distance of inclusion probabilities from enumeration, in errors.
fn distance(found: &BTreeMap<String, (f64, f64)>, truth: &[(f64, f64); 3]) -> f64 {
    let one = |(name, (p, error)): (&str, &(f64, f64))| {
        let (mean, mcse) = found[&format!("{name}_included")];
        (mean - p).abs() / (mcse.powi(2) + error.powi(2) + 1e-10).sqrt()
    };
    ["strong", "weak", "useless"].into_iter().zip(truth).map(one).fold(0.0, f64::max)
}

#[test]
fn selections_agree_with_enumeration() {
    let scratch = Scratch::new("select");
    let data = choices();
    scratch.file("data.csv", table(&data.0, &data.1));
    let line = "select data.csv --response y --no-intercept --raw --draws 12000";
    let exact = json(&scratch, &format!("{line} --out exact"));
    let found = means(&exact);
    let truth = enumerated(&data, 1.0);
    assert!(distance(&found, &truth) < 4.5, "{found:?} for {truth:?}");
    assert!(exact["trusted"].as_bool().unwrap(), "{exact}");
    says_what_was_not_checked(&exact);
    // Another prior is found out.
    assert!(distance(&found, &enumerated(&data, 6.0)) > 6.0, "another prior must not pass");
    // Models add up, and are those of the indicators.
    let models = exact["selection"]["models"].as_array().unwrap();
    let all: f64 = models.iter().map(|model| model["probability"].as_f64().unwrap()).sum();
    assert!((all - 1.0).abs() < 1e-9, "{models:?}");
    let weak = |model: &&Value| model["features"].as_array().unwrap().iter().any(|name| name == "weak");
    let share: f64 = models.iter().filter(weak).map(|model| model["probability"].as_f64().unwrap()).sum();
    assert!((share - found["weak_included"].0).abs() < 1e-9);
    // The same answer by a test that reads all rows in doubt, and predictions that average over models.
    let test = json(&scratch, &format!("{line} --out test --rule sequential --epsilon 0.001 --batch 100"));
    assert!((means(&test)["weak_included"].0 - found["weak_included"].0).abs() < 0.1, "{test}");
    let predicted = scratch.run("predict exact data.csv --out predicted.csv");
    assert!(predicted.status.success(), "{}", text(&predicted.stderr));
    let predicted = scratch.table("predicted.csv");
    let mean = predicted.names.iter().position(|name| name == "mean").unwrap();
    let chances = &predicted.values[mean];
    assert!(chances.len() == ROWS && chances.iter().all(|p| (0.0..=1.0).contains(p)), "{chances:?}");
}

#[test]
fn selections_go_on() {
    let scratch = Scratch::new("select-resume");
    let data = choices();
    scratch.file("data.csv", table(&data.0, &data.1));
    goes_on(&scratch, "select data.csv --response y --warmup 50 --chains 2", 600);
    scratch.refused_with("select data.csv --response y --out half --resume --rate 3", &["rate"]);
    scratch.refused_with("fit data.csv --response y --out half --resume", &["austerity select"]);
    for (line, word) in [
        ("select data.csv --out none", "response"),
        ("select data.csv --response z --out none", "z"),
        ("select data.csv --response strong --out none", "strong"),
        ("select data.csv --response y --rate -1 --out none", "rate"),
        ("select data.csv --response y --rule certified --out none", "sequential"),
    ] {
        scratch.refused_with(line, &[word]);
        assert!(!scratch.at("none").exists(), "{line} left a folder");
    }
    let plan = scratch.done("select data.csv --response y --dry-run");
    assert!(plan.contains("birth") && plan.contains("Nothing was written"), "{plan}");
}

/// Sources with heavy tails, or Gaussian ones, mixed.
fn mixtures(rows: usize, gaussian: bool) -> ([Vec<f64>; 3], [[f64; 3]; 3], String) {
    let mut rng = stream(9, 0, Role::Data);
    let mix = [[1.0, 0.5, -0.3], [0.2, 1.0, 0.6], [-0.4, 0.3, 1.0]];
    let tailed = StudentT::new(4.0).unwrap();
    let mut sources: [Vec<f64>; 3] = Default::default();
    let mut csv = String::from("left,right,middle\n");
    for _ in 0..rows {
        let s: [f64; 3] = std::array::from_fn(|_| {
            if gaussian { rng.sample(StandardNormal) } else { tailed.sample(&mut rng) / 2f64.sqrt() }
        });
        let x: [f64; 3] = std::array::from_fn(|i| (0..3).map(|j| mix[i][j] * s[j]).sum());
        writeln!(csv, "{},{},{}", x[0], x[1], x[2]).unwrap();
        (0..3).for_each(|j| sources[j].push(s[j]));
    }
    (sources, mix, csv)
}

#[test]
fn known_sources_are_recovered() {
    let scratch = Scratch::new("ica");
    let (sources, mix, csv) = mixtures(6000, false);
    scratch.file("mixed.csv", csv);
    let rows = mix.map(|row| row.map(|value| value.to_string()).join(",")).join("\n");
    scratch.file("mix.csv", format!("a,b,c\n{rows}\n"));
    let said = json(&scratch, "ica mixed.csv --mixing mix.csv --sources out.csv --out run --draws 3000");
    assert!(said["trusted"].as_bool().unwrap(), "{said}");
    let (amari, _) = means(&said)["amari"];
    assert!(amari < 0.08, "Amari distance {amari}");
    says_what_was_not_checked(&said);
    let out = scratch.table("out.csv");
    let correlation = |a: &[f64], b: &[f64]| {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        (dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()).abs()
    };
    for source in &sources {
        let best = out.values.iter().map(|found| correlation(found, source)).fold(0.0, f64::max);
        assert!(best > 0.99, "{best}");
    }
    // The same as sound: a channel per microphone in, a channel per source out.
    let mixed = scratch.table("mixed.csv");
    let sound = Sound {
        rate: 8_000,
        channels: mixed.values.iter().map(|x| x.iter().map(|x| x / 40.0).collect()).collect(),
    };
    audio::write(&scratch.at("mixed.wav"), &sound).unwrap();
    let said = json(&scratch, "ica mixed.wav --sources out.wav --out sound --draws 1000");
    assert!(said["parameters"][0]["name"] == "s1.channel1", "{said}");
    let heard = audio::read(&scratch.at("out.wav")).unwrap();
    assert_eq!(heard.rate, 8_000);
    for source in &sources {
        let best = heard.channels.iter().map(|found| correlation(found, source)).fold(0.0, f64::max);
        assert!(best > 0.98, "{best}");
    }
    scratch.refused_with("ica mixed.wav --features left --out none", &["channel1, channel2, channel3"]);
    scratch.file("bad.wav", "RIFF");
    scratch.refused_with("ica bad.wav --out none", &["bad.wav", "WAVE"]);
    // Gaussian sources cannot be recovered: the run must say so.
    scratch.file("gauss.csv", mixtures(6000, true).2);
    let blind = json(&scratch, "ica gauss.csv --mixing mix.csv --out blind --draws 1000");
    let (far, _) = means(&blind)["amari"];
    assert!(far > 0.12 && blind["remarks"].to_string().contains("apart"), "{blind}");
    goes_on(&scratch, "ica mixed.csv --warmup 50 --chains 2", 400);
    scratch.file("text.csv", "a,b\n1,x\n2,y\n");
    scratch.file("same.csv", "a,b\n1,2\n2,4\n3,6\n");
    for (line, word) in [
        ("ica text.csv --out none", "`b`"),
        ("ica same.csv --out none", "covariance"),
        ("ica mixed.csv --features left --out none", "2 to 64"),
        ("ica mixed.csv --mixing text.csv --out none", "`b`"),
        ("ica mixed.csv --mixing same.csv --out none", "3 rows"),
        ("ica none.csv --out none", "none.csv"),
    ] {
        scratch.refused_with(line, &[word]);
        assert!(!scratch.at("none").exists(), "{line} left a folder");
    }
}

/// Two by two binary variables in a ring, and a ternary one that hangs on the last.
const FIELD: &str = "MARKOV\n5\n2 2 2 2 3\n6\n1 0\n2 0 1\n2 1 2\n2 2 3\n2 3 0\n2 3 4\n\n2\n1 2\n4\n2 1 1 2\n4\n3 1 1 1\n4\n1 2 2 1\n4\n2 1 1 3\n6\n1 2 3\n4 1 2\n";

/// Marginal probabilities of values 1 of the binary variables, and of 1 and 2 of the last.
fn marginals(last: f64) -> [f64; 6] {
    let tables = [[2.0, 1.0, 1.0, 2.0], [3.0, 1.0, 1.0, 1.0], [1.0, 2.0, 2.0, 1.0], [2.0, 1.0, 1.0, 3.0]];
    let hanging = [1.0, 2.0, 3.0, 4.0, 1.0, last];
    let (mut all, mut sums) = (0.0, [0.0; 6]);
    for state in 0..48usize {
        let x: [usize; 4] = std::array::from_fn(|i| state >> i & 1);
        let v = state / 16;
        let pairs = [(0, 1), (1, 2), (2, 3), (3, 0)];
        let p: f64 = pairs.iter().zip(&tables).map(|(&(a, b), table)| table[2 * x[a] + x[b]]).product();
        let p = p * [1.0, 2.0][x[0]] * hanging[3 * x[3] + v];
        all += p;
        (0..4).for_each(|i| sums[i] += p * x[i] as f64);
        if v > 0 {
            sums[3 + v] += p;
        }
    }
    sums.map(|sum| sum / all)
}

#[test]
fn fields_have_their_exact_marginals() {
    let scratch = Scratch::new("gibbs");
    scratch.file("ring.uai", FIELD);
    let names = ["x0", "x1", "x2", "x3", "x4", "x4=2"];
    let away = |said: &Value, truth: [f64; 6]| {
        let found = means(said);
        let one = |(name, p): (&str, f64)| (found[name].0 - p).abs() / found[name].1;
        names.into_iter().zip(truth).map(one).fold(0.0, f64::max)
    };
    for rule in ["", "--rule sequential --epsilon 0.01 --batch 2"] {
        let out = if rule.is_empty() { "exact" } else { "test" };
        let said = json(&scratch, &format!("gibbs ring.uai --draws 20000 --out {out} {rule}"));
        assert!(away(&said, marginals(2.0)) < 4.5, "{rule}: {said}");
        assert!(said["trusted"].as_bool().unwrap(), "{rule}: {said}");
        says_what_was_not_checked(&said);
        assert!(away(&said, marginals(3.0)) > 6.0, "another table must not pass");
    }
    goes_on(&scratch, "gibbs ring.uai --warmup 20 --chains 2", 2000);
    scratch.file("bad.uai", FIELD.replacen("3 1 1 1", "3 0 1 1", 1));
    scratch.file("cut.uai", &FIELD[..FIELD.len() - 4]);
    scratch.file("bytes.uai", [0x4d, 0x0a, 0xff]);
    for (line, words) in [
        ("gibbs bad.uai --out none", &["bad.uai", "line 17", "above 0"][..]),
        ("gibbs cut.uai --out none", &["cut short"][..]),
        ("gibbs bytes.uai --out none", &["line 2", "UTF-8"][..]),
        ("gibbs none.uai --out none", &["none.uai"][..]),
        ("gibbs ring.uai --epsilon 2 --out none", &["epsilon"][..]),
    ] {
        scratch.refused_with(line, words);
        assert!(!scratch.at("none").exists(), "{line} left a folder");
    }
    scratch.file("ring.uai", FIELD.replacen("3 1 1 1", "3 2 1 1", 1));
    scratch.refused_with("gibbs ring.uai --out half --resume --draws 3000", &["fingerprint"]);
}
