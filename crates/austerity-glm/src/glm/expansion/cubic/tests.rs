//! The cubic form against the sum over rows that it stands for, its gradient against differences, and what it takes out of residuals.

use super::*;
use crate::glm::Logistic;
use crate::glm::expansion::ExpansionSettings;
use crate::{Expansion as _, Glm, Prior, ResponseKind, Surrogate, generate};
use austerity::model::{Access, Model as _};
use austerity::population::Population as _;
use austerity::rng::{Role, stream};
use rand::RngExt as _;
use rand_distr::StandardNormal;

fn model(rows: usize, columns: usize) -> Glm<Logistic> {
    let data = generate::logistic(rows, columns).build().unwrap().data.check(ResponseKind::Binary).unwrap();
    Glm::new(Logistic, &data, vec![Prior::normal(1.0); columns + 1]).unwrap()
}

fn expanded(model: &Glm<Logistic>, settings: &ExpansionSettings) -> GlmExpansion<Logistic> {
    let start = vec![0.0; model.parameters()];
    GlmExpansion::new(model, &start, &ExpansionSettings { stratum_rows: Some(0), ..settings.clone() })
        .unwrap()
}

fn third() -> ExpansionSettings {
    ExpansionSettings { order: 3, ..ExpansionSettings::default() }
}

fn near(expansion: &GlmExpansion<Logistic>, seed: u64, size: f64) -> Vec<f64> {
    let mut rng = stream(seed, 0, Role::Proposal);
    let d = expansion.centre().len();
    let sds = expansion.covariance().iter().step_by(d + 1).map(|v| v.sqrt());
    let step = |sd: f64, rng: &mut austerity::rng::Rng| size * sd * rng.sample::<f64, _>(StandardNormal);
    expansion.centre().iter().zip(sds).map(|(c, sd)| c + step(sd, &mut rng)).collect()
}

/// Σ ℓ'''(η̂)·h³/6, row by row in f64; sums in f32 within panels leave 1e-5 of Σ|ℓ'''h³|.
#[test]
fn the_form_is_the_sum_over_rows() {
    for columns in [1, 6, 7, 8, 20] {
        let model = model(3_000, columns);
        let expansion = expanded(&model, &third());
        let cubic = expansion.cubic.as_deref().unwrap();
        for seed in 0..3 {
            let state = near(&expansion, seed, 1.0);
            let moved: Vec<f64> = state.iter().zip(expansion.centre()).map(|(s, c)| s - c).collect();
            let (mut sum, mut size) = (0.0, 0.0);
            for row in 0..3_000 {
                let mut h = moved[0];
                model.coding.row(model.blocks(), row, |j, x| h += x * moved[1 + j]);
                let eta = f64::from(expansion.eta[row]);
                let term = Logistic.row_derivatives(&[], eta, 1.0, 1.0)[2] * h.powi(3) / 6.0;
                sum += term;
                size += term.abs();
            }
            let found = cubic.evaluate(expansion.level(), &moved, None);
            assert!((found - sum).abs() < 1e-5 * size, "{columns} columns: {found} against {sum} of {size}");
        }
    }
}

#[test]
fn the_gradient_is_that_of_the_value() {
    for columns in [1, 7, 8, 19, 40] {
        let model = model(2_000, columns);
        let expansion = expanded(&model, &third());
        let cubic = expansion.cubic.as_deref().unwrap();
        let state = near(&expansion, 1, 1.0);
        let moved: Vec<f64> = state.iter().zip(expansion.centre()).map(|(s, c)| s - c).collect();
        let mut gradient = vec![0.0; moved.len()];
        let value = cubic.evaluate(expansion.level(), &moved, Some(&mut gradient));
        let plain = cubic.evaluate(expansion.level(), &moved, None);
        assert!((value - plain).abs() < 1e-12 * (1.0 + plain.abs()));
        for i in 0..moved.len() {
            let at = |by: f64| {
                let mut moved = moved.clone();
                moved[i] += by;
                cubic.evaluate(expansion.level(), &moved, None)
            };
            // Exact for a cubic, so that the steps can be long.
            let h = 0.05;
            let slope = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
            let slack = 2e-5 * gradient.iter().fold(1.0f64, |m, g| m.max(g.abs()));
            assert!((slope - gradient[i]).abs() < slack, "{columns} {i}: {slope} {}", gradient[i]);
        }
    }
}

fn spread(surrogate: &Surrogate<GlmExpansion<Logistic>>) -> f64 {
    let expansion = surrogate.expansion();
    let (from, to) = (near(expansion, 3, 0.8), near(expansion, 4, 0.8));
    let mut scratch = surrogate.scratch(Access::Blocks);
    surrogate.compare(&from, &to, &mut scratch).total().unwrap().sd()
}

/// Residuals of the third order are another √N times smaller: 10 × as much at 100 times the rows, within a factor of 2.
#[test]
fn residuals_shrink_with_another_root_of_n() {
    let gain = |rows: usize| {
        let model = model(rows, 5);
        let second = spread(&Surrogate::new(expanded(&model, &ExpansionSettings::default())));
        second / spread(&Surrogate::new(expanded(&model, &third())))
    };
    let (few, many) = (gain(1_000), gain(100_000));
    assert!(few > 3.0 && (5.0..20.0).contains(&(many / few)), "{few} {many}");
}

/// Raised where decisions would read much, not where the first look settles them, nor for more parameters than the form is made for.
#[test]
fn the_order_is_raised_where_it_saves_reading() {
    let raise = ExpansionSettings { raise: true, ..ExpansionSettings::default() };
    let of = |rows: usize, columns: usize| {
        let model = model(rows, columns);
        let start = vec![0.0; model.parameters()];
        GlmExpansion::new(&model, &start, &raise).unwrap().report().clone()
    };
    let small = of(10_000, 20);
    assert_eq!(small.order, 3, "{small:?}");
    assert!(small.sentence().starts_with("third-order surrogate"));
    let large = of(300_000, 3);
    assert_eq!(large.order, 2, "{large:?}");
    // And half the first look where that is predicted to reach the tolerance.
    assert_eq!(large.first_look, 32, "{large:?}");
    let second = expanded(&model(10_000, 20), &ExpansionSettings::default()).report().clone();
    assert_eq!(second.first_look, 64, "{second:?}");
    let wide = model(2_000, 70);
    let start = vec![0.0; wide.parameters()];
    assert!(GlmExpansion::new(&wide, &start, &third()).is_err());
    assert_eq!(GlmExpansion::new(&wide, &start, &raise).unwrap().report().order, 2);
}
