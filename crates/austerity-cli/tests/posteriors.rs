//! Posteriors that the program finds against integrals over a grid, for every family: the densities here are written anew, in double
//! precision, from the definition of the models.
//!
//! Mean and sd of every parameter must lie within 4.5 Monte Carlo standard errors of the answer: a false-alarm rate of 7e-6 for each of
//! 250 numbers, 2e-3 in all; the seed is fixed. The partner has another prior, and must be missed.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::Write as _;
use std::fs;

use crate::common::{self, Scratch};
use austerity::diagnostics::{mcse_mean, mcse_sd};
use austerity_io::run::DrawsReader;
use statrs::function::erf::erfc;
use statrs::function::gamma::ln_gamma;

const WITHIN: f64 = 4.5;
const ROWS: usize = 250;

/// A row: feature, response, and what else the family needs.
#[derive(Clone, Copy)]
struct Row {
    x: f64,
    y: f64,
    /// Trials, or the offset, or the weight.
    extra: f64,
}

struct Case {
    name: &'static str,
    columns: &'static str,
    options: &'static str,
    /// Log-likelihood of a row, given the linear predictor and log σ or log φ.
    density: fn(&Row, f64, f64) -> f64,
    /// Response, made of the predictor, three uniforms and the extra column.
    response: fn(f64, [f64; 3], f64) -> f64,
    extra: fn(f64) -> f64,
    scale: bool,
}

fn softplus(z: f64) -> f64 {
    z.max(0.0) + (-z.abs()).exp().ln_1p()
}

fn normal([a, b, _]: [f64; 3]) -> f64 {
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

fn cases() -> Vec<Case> {
    let mut cases = without_extra_parameters();
    cases.extend(of_hazards());
    cases.extend(of_levels());
    cases.extend(with_extra_parameters());
    cases
}

fn without_extra_parameters() -> Vec<Case> {
    vec![
        Case {
            name: "logistic",
            columns: "x,y,w",
            options: "--response y --weights w --features x",
            density: |row, eta, _| row.extra * (row.y * eta - softplus(eta)),
            response: |eta, u, _| f64::from(u8::from(u[0] < 1.0 / (1.0 + (-eta).exp()))),
            extra: |u| (1.0 + 3.0 * u).floor(),
            scale: false,
        },
        Case {
            name: "binomial",
            columns: "x,y,n",
            options: "--response y --trials n --features x",
            density: |row, eta, _| row.y * eta - row.extra * softplus(eta),
            response: |eta, u, n| (n * (0.7 * u[0] + 0.3 / (1.0 + (-eta).exp()))).floor(),
            extra: |u| (1.0 + 7.0 * u).floor(),
            scale: false,
        },
        Case {
            name: "poisson",
            columns: "x,y,e",
            options: "--response y --family poisson --offset e --features x",
            density: |row, eta, _| row.y * (eta + row.extra) - (eta + row.extra).exp(),
            response: |eta, u, e| ((eta + e).exp() * -2.0 * (1.0 - u[0]).ln() * u[1]).floor(),
            extra: |u| u - 0.5,
            scale: false,
        },
        Case {
            name: "probit",
            columns: "x,y,w",
            options: "--response y --family probit --weights w --features x",
            density: |row, eta, _| row.extra * log_normal(if row.y == 1.0 { eta } else { -eta }),
            response: |eta, u, _| f64::from(u8::from(u[0] < 0.5 * erfc(-eta / std::f64::consts::SQRT_2))),
            extra: |u| (1.0 + 3.0 * u).floor(),
            scale: false,
        },
        Case {
            name: "binomial-probit",
            columns: "x,y,n",
            options: "--response y --family probit --trials n --features x",
            density: |row, eta, _| row.y * log_normal(eta) + (row.extra - row.y) * log_normal(-eta),
            response: |eta, u, n| (n * (0.7 * u[0] + 0.3 / (1.0 + (-eta).exp()))).floor(),
            extra: |u| (1.0 + 7.0 * u).floor(),
            scale: false,
        },
    ]
}

fn of_hazards() -> Vec<Case> {
    vec![
        Case {
            name: "cloglog",
            columns: "x,y,w",
            options: "--response y --family cloglog --weights w --features x",
            density: |row, eta, _| {
                let u = eta.exp();
                row.extra * if row.y == 1.0 { (1.0 - (-u).exp()).ln() } else { -u }
            },
            response: |eta, u, _| f64::from(u8::from(u[0] < 1.0 - (-eta.exp()).exp())),
            extra: |u| (1.0 + 3.0 * u).floor(),
            scale: false,
        },
        Case {
            name: "binomial-cloglog",
            columns: "x,y,n",
            options: "--response y --family cloglog --trials n --features x",
            density: |row, eta, _| {
                let u = eta.exp();
                row.y * (1.0 - (-u).exp()).ln() - (row.extra - row.y) * u
            },
            response: |eta, u, n| (n * (0.7 * u[0] + 0.3 / (1.0 + (-eta).exp()))).floor(),
            extra: |u| (1.0 + 7.0 * u).floor(),
            scale: false,
        },
        Case {
            name: "exponential",
            columns: "x,y,d",
            options: "--response y --family exponential --event d --features x",
            density: |row, eta, _| -row.extra * eta - row.y * (-eta).exp(),
            response: |eta, u, _| (eta + 0.6 * normal(u)).exp() * 1.5,
            extra: |u| f64::from(u8::from(u < 0.7)),
            scale: false,
        },
    ]
}

fn with_extra_parameters() -> Vec<Case> {
    let mut cases = with_scales();
    cases.extend(with_shapes());
    cases
}

fn with_shapes() -> Vec<Case> {
    vec![
        Case {
            name: "gamma",
            columns: "x,y,e",
            options: "--response y --family gamma --offset e --features x --priors shape.csv",
            density: |row, eta, log_shape| {
                let (shape, mean) = (log_shape.exp(), (eta + row.extra).exp());
                shape * (shape / mean).ln() - ln_gamma(shape) + (shape - 1.0) * row.y.ln()
                    - shape * row.y / mean
            },
            response: |eta, u, e| (eta + e + 0.8 * normal(u)).exp(),
            extra: |u| u - 0.5,
            scale: true,
        },
        Case {
            name: "beta",
            columns: "x,y,e",
            options: "--response y --family beta --offset e --features x --priors phi.csv",
            density: |row, eta, log_phi| {
                let (phi, mean) = (log_phi.exp(), 1.0 / (1.0 + (-eta - row.extra).exp()));
                let (a, b) = (mean * phi, (1.0 - mean) * phi);
                ln_gamma(phi) - ln_gamma(a) - ln_gamma(b)
                    + (a - 1.0) * row.y.ln()
                    + (b - 1.0) * (1.0 - row.y).ln()
            },
            response: |eta, u, e| 1.0 / (1.0 + (-eta - e - 0.8 * normal(u)).exp()),
            extra: |u| u - 0.5,
            scale: true,
        },
        Case {
            name: "weibull",
            columns: "x,y,d",
            options: "--response y --family weibull --event d --features x --priors shape.csv",
            density: |row, eta, log_shape| {
                let (shape, scale) = (log_shape.exp(), eta.exp());
                let hazard = shape / scale * (row.y / scale).powf(shape - 1.0);
                row.extra * hazard.ln() - (row.y / scale).powf(shape)
            },
            response: |eta, u, _| (eta + 0.6 * normal(u)).exp() * 1.5,
            extra: |u| f64::from(u8::from(u < 0.7)),
            scale: true,
        },
        Case {
            name: "lognormal",
            columns: "x,y,d",
            options: "--response y --family lognormal --event d --features x --priors sigma.csv",
            density: |row, eta, log_sigma| {
                let z = (row.y.ln() - eta) / log_sigma.exp();
                if row.extra == 1.0 { -log_sigma - 0.5 * z * z } else { log_normal(-z) }
            },
            response: |eta, u, _| (eta + 0.6 * normal(u)).exp() * 1.5,
            extra: |u| f64::from(u8::from(u < 0.7)),
            scale: true,
        },
    ]
}

/// The first cut point is 0, the second the exponential of the last argument.
fn of_levels() -> Vec<Case> {
    vec![
        Case {
            name: "ordered-logit",
            columns: "x,y,e",
            options: "--response y --family ordered-logit --offset e --features x --prior cut2=half-normal:1",
            density: |row, eta, log_cut| {
                let up_to = |cut: f64| 1.0 / (1.0 + (eta + row.extra - cut).exp());
                let (first, second) = (up_to(0.0), up_to(log_cut.exp()));
                [first, second - first, 1.0 - second][row.y as usize].ln()
            },
            response: |eta, u, e| {
                let latent = eta + e + 1.7 * normal(u);
                f64::from(u8::from(latent > 0.0) + u8::from(latent > 1.2))
            },
            extra: |u| u - 0.5,
            scale: true,
        },
        Case {
            name: "ordered-probit",
            columns: "x,y,e",
            options: "--response y --family ordered-probit --offset e --features x --prior cut2=half-normal:1",
            density: |row, eta, log_cut| {
                let up_to = |cut: f64| log_normal(cut - eta - row.extra).exp();
                let (first, second) = (up_to(0.0), up_to(log_cut.exp()));
                [first, second - first, 1.0 - second][row.y as usize].ln()
            },
            response: |eta, u, e| {
                let latent = eta + e + normal(u);
                f64::from(u8::from(latent > 0.0) + u8::from(latent > 0.8))
            },
            extra: |u| u - 0.5,
            scale: true,
        },
        Case {
            name: "zero-inflated-poisson",
            columns: "x,y,e",
            options: "--response y --family zero-inflated-poisson --offset e --features x --prior zero_odds=half-normal:1",
            density: |row, eta, log_odds| {
                let (zero, mean) = (1.0 / (1.0 + (-log_odds).exp()), (eta + row.extra).exp());
                if row.y == 0.0 {
                    (zero + (1.0 - zero) * (-mean).exp()).ln()
                } else {
                    (1.0 - zero).ln() + row.y * mean.ln() - mean
                }
            },
            response: |eta, u, e| {
                if u[2] < 0.3 {
                    0.0
                } else {
                    ((eta + e).exp() * -2.0 * (1.0 - u[0]).ln() * u[1] + u[1]).round()
                }
            },
            extra: |u| u + 0.5,
            scale: true,
        },
    ]
}

fn with_scales() -> Vec<Case> {
    vec![
        Case {
            name: "linear",
            columns: "x,y,w",
            options: "--response y --family linear --weights w --features x --priors sigma.csv",
            density: |row, eta, log_sigma| {
                row.extra * (-log_sigma - 0.5 * ((row.y - eta) / log_sigma.exp()).powi(2))
            },
            response: |eta, u, _| eta + 0.8 * normal(u),
            extra: |u| (1.0 + 3.0 * u).floor(),
            scale: true,
        },
        Case {
            name: "student",
            columns: "x,y,e",
            options: "--response y --family student --offset e --features x --priors sigma.csv",
            density: |row, eta, log_sigma| {
                let z = (row.y - row.extra - eta) / log_sigma.exp();
                -log_sigma - 2.5 * (z * z / 4.0).ln_1p()
            },
            response: |eta, u, e| eta + e + 0.7 * normal(u) / (0.2 + u[2]).sqrt(),
            extra: |u| u - 0.5,
            scale: true,
        },
        Case {
            name: "student-seven",
            columns: "x,y,e",
            options: "--response y --family student:7 --offset e --features x --priors sigma.csv",
            density: |row, eta, log_sigma| {
                let z = (row.y - row.extra - eta) / log_sigma.exp();
                -log_sigma - 4.0 * (z * z / 7.0).ln_1p()
            },
            response: |eta, u, e| eta + e + 0.7 * normal(u) / (0.2 + u[2]).sqrt(),
            extra: |u| u - 0.5,
            scale: true,
        },
        Case {
            name: "negative-binomial",
            columns: "x,y,e",
            options: "--response y --family negative-binomial --offset e --features x --priors phi.csv",
            density: |row, eta, log_phi| {
                // log Γ(y + φ)/Γ(φ) as a product, then the textbook's form.
                let (phi, mean) = (log_phi.exp(), (eta + row.extra).exp());
                let rising: f64 = (0..row.y as u32).map(|k| (phi + f64::from(k)).ln()).sum();
                rising + phi * (phi / (phi + mean)).ln() + row.y * (mean / (phi + mean)).ln()
            },
            response: |eta, u, e| ((eta + e).exp() * -2.0 * (1.0 - u[0]).ln() * u[1]).floor(),
            extra: |u| u + 0.5,
            scale: true,
        },
    ]
}

/// log Φ, where that is not tiny.
fn log_normal(z: f64) -> f64 {
    (0.5 * erfc(-z / std::f64::consts::SQRT_2)).ln()
}

fn rows(case: &Case) -> Vec<Row> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64 ^ case.name.len() as u64;
    let mut uniform = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..ROWS)
        .map(|_| {
            let x = 3.0 + 1.5 * normal([uniform(), uniform(), 0.0]);
            let extra = (case.extra)(uniform());
            let eta = 0.5 * (x - 3.0) - 0.3;
            Row { x, y: (case.response)(eta, [uniform(), uniform(), uniform()], extra), extra }
        })
        .collect()
}

/// Mean and sd of a probability over grid points.
fn moments(points: &[Vec<f64>], weights: &[f64]) -> Vec<(f64, f64)> {
    let total: f64 = weights.iter().sum();
    (0..points[0].len())
        .map(|j| {
            let mean = points.iter().zip(weights).map(|(p, w)| p[j] * w).sum::<f64>() / total;
            let square = points.iter().zip(weights).map(|(p, w)| (p[j] - mean).powi(2) * w).sum::<f64>();
            (mean, (square / total).sqrt())
        })
        .collect()
}

/// The answer by a sum over a grid around `about` (mean and sd of each parameter, σ last), in the intercept at the middle of the data, the
/// slope and log σ: smooth and far from its ends, so that the sum converges faster than any power of the step.
fn answer(case: &Case, rows: &[Row], about: &[(f64, f64)], prior: f64) -> Vec<(f64, f64)> {
    let (mut points, mut logs, mut edge) = (Vec::new(), Vec::new(), Vec::new());
    let steps = || -16..=16;
    let scales = || if case.scale { -16..=16 } else { 0..=0 };
    let middle = rows.iter().map(|row| row.x).sum::<f64>() / rows.len() as f64;
    let (intercept, slope) = (about[0], about[1]);
    // The intercept at the middle hardly depends on the slope; its sd is at most this.
    let centre =
        (intercept.0 + middle * slope.0, (intercept.1.powi(2) - (middle * slope.1).powi(2)).max(0.0).sqrt());
    let centre = (centre.0, centre.1.max(0.15 * intercept.1));
    let sigma = about.get(2).map_or((0.0, 0.0), |&(mean, sd)| (mean.ln(), sd / mean));
    for i in steps() {
        for j in steps() {
            for k in scales() {
                let at = |about: (f64, f64), place: i32| about.0 + about.1 * 0.45 * f64::from(place);
                let (b, log_sigma) = (at(slope, j), at(sigma, k));
                let a = at(centre, i) - middle * b;
                // σ is half-normal with scale 1; its logarithm is what is integrated over.
                let spread = if case.scale { log_sigma - 0.5 * (2.0 * log_sigma).exp() } else { 0.0 };
                let priors = -0.5 * (a / 2.0).powi(2) - 0.5 * (b / prior).powi(2) + spread;
                logs.push(
                    priors
                        + rows.iter().map(|row| (case.density)(row, a + b * row.x, log_sigma)).sum::<f64>(),
                );
                let mut point = vec![a, b];
                point.extend(case.scale.then(|| log_sigma.exp()));
                points.push(point);
                edge.push(i.abs() == 16 || j.abs() == 16 || (case.scale && k.abs() == 16));
            }
        }
    }
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
    let outside: f64 = weights.iter().zip(&edge).filter(|(_, edge)| **edge).map(|(w, _)| w).sum();
    assert!(outside < 1e-5 * weights.iter().sum::<f64>(), "{}: the grid is too small", case.name);
    moments(&points, &weights)
}

/// Independent draws from the normal approximation, for every family.
#[test]
fn every_family_finds_the_integrals() {
    find_the_integrals("laplace", |_| true);
}

/// Random walks that learn their shape, for one family of each number of parameters.
#[test]
fn walks_find_the_integrals() {
    find_the_integrals("adaptive", |name| ["logistic", "student"].contains(&name));
}

/// Langevin steps, on a surrogate that few rows leave much to, for a family with a kernel and one without.
#[test]
fn langevin_steps_find_the_integrals() {
    find_the_integrals("langevin:1 --surrogate taylor2", |name| ["poisson", "probit"].contains(&name));
}

#[test]
#[ignore = "second tier: the families that the first tier leaves out, a minute"]
fn walks_find_the_integrals_of_the_other_families() {
    find_the_integrals("adaptive", |name| !["logistic", "student"].contains(&name));
}

#[test]
#[ignore = "second tier: the families that the first tier leaves out, a minute"]
fn langevin_steps_find_the_integrals_of_the_other_families() {
    // A linear model has no surrogate.
    let others = |name: &str| !["poisson", "probit", "linear"].contains(&name);
    find_the_integrals("langevin:1 --surrogate taylor2", others);
}

fn find_the_integrals(proposal: &str, wanted: impl Fn(&str) -> bool) {
    let kind = proposal.split(':').next().unwrap();
    let scratch = Scratch::new(&format!("posteriors-{kind}"));
    let (mut worst, mut found_cases): (f64, usize) = (0.0, 0);
    for case in cases().into_iter().filter(|case| wanted(case.name)) {
        found_cases += 1;
        let rows = rows(&case);
        let mut table = format!("{}\n", case.columns);
        rows.iter().for_each(|row| writeln!(table, "{},{},{}", row.x, row.y, row.extra).unwrap());
        fs::write(scratch.path().join(format!("{}.csv", case.name)), table).unwrap();
        scratch.file("sigma.csv", "coefficient,prior\nsigma,half-normal:1\n");
        scratch.file("phi.csv", "coefficient,prior\nphi,half-normal:1\n");
        scratch.file("shape.csv", "coefficient,prior\nshape,half-normal:1\n");
        let run = format!("{}-{kind}", case.name);
        // A prior that matters, and a feature far from its origin, where intercept and slope go together.
        let line = format!(
            "fit {}.csv {} --rule exact --proposal {proposal} --prior normal:0.5 --prior-intercept normal:2 --draws 20000 --seed 7 \
             --out {run}",
            case.name, case.options
        );
        let output = scratch.fit(&line);
        assert_eq!(output.status.code(), Some(0), "{run}: {}", common::text(&output.stdout));
        let reader = DrawsReader::open(scratch.path().join(&run).join("draws.zarr")).unwrap();
        let draws: Vec<Vec<Vec<f64>>> =
            (0..reader.names().len()).map(|index| reader.parameter(index).unwrap()).collect();
        let found: Vec<[f64; 4]> = draws
            .iter()
            .map(|chains| {
                let all: Vec<f64> = chains.iter().flatten().copied().collect();
                let mean = all.iter().sum::<f64>() / all.len() as f64;
                let sd =
                    (all.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (all.len() - 1) as f64).sqrt();
                let chains: Vec<&[f64]> = chains.iter().map(Vec::as_slice).collect();
                [mean, sd, mcse_mean(&chains), mcse_sd(&chains)]
            })
            .collect();
        let about: Vec<(f64, f64)> = found.iter().map(|&[mean, sd, ..]| (mean, sd)).collect();
        let distance = |prior: f64| {
            let right = answer(&case, &rows, &about, prior);
            let each = found.iter().zip(right).flat_map(|([mean, sd, mean_error, sd_error], right)| {
                [(mean - right.0) / mean_error, (sd - right.1) / sd_error]
            });
            each.map(f64::abs).fold(0.0, f64::max)
        };
        let (right, wrong) = (distance(0.5), distance(0.15));
        eprintln!("{run}: {right:.2} standard errors off at most; with another prior {wrong:.0}");
        assert!(right < WITHIN, "{run}: {right} standard errors, {found:?}");
        assert!(wrong > WITHIN, "{run}: another prior is not noticed ({wrong})");
        worst = worst.max(right);
    }
    assert!(found_cases >= 2, "{found_cases} families of that name");
    eprintln!("largest distance: {worst:.2} standard errors");
}
