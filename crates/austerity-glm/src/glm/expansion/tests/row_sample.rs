//! A sample of the rows has the slope and about the shape of all of them; the centre of few events; weighted rows that only σ knows.

use super::super::{ExpansionSettings, GlmExpansion, RowSample, sampled_mode};
use super::normal;
use crate::check::blindness::ResidualTest;
use crate::glm::{Glm, Logistic, Student};
use crate::surrogate::posterior_differences;
use crate::{Data, Prior, ResponseKind, Surrogate};
use austerity::model::{Access, LogDensity as _, Model as _, find_mode};
use austerity::population::Population as _;
use austerity::rng::{Role, stream};

/// `events` events in `rows` rows, those with the largest first column.
fn rare(rows: usize, events: usize, seed: u64) -> Glm<Logistic> {
    let mut rng = stream(seed, 0, Role::Data);
    let columns: Vec<Vec<f64>> = (0..2).map(|_| (0..rows).map(|_| normal(&mut rng)).collect()).collect();
    let mut order: Vec<usize> = (0..rows).collect();
    let noisy: Vec<f64> = columns[0].iter().map(|x| x + normal(&mut rng)).collect();
    order.sort_by(|&a, &b| noisy[b].total_cmp(&noisy[a]));
    let mut response = vec![0.0; rows];
    order[..events].iter().for_each(|&row| response[row] = 1.0);
    let data = Data::new(["a", "b"], columns, response).check(ResponseKind::Binary).unwrap();
    let priors = vec![Prior::normal(10.0), Prior::normal(2.5), Prior::normal(2.5)];
    Glm::new(Logistic, &data, priors).unwrap()
}

/// At states four standard deviations out and less, log q is off by less than 0.5 with 4,096 rows, and by more than that somewhere with 64. Its gradient is that of differences, and at the centre that of all rows.
#[test]
fn few_rows_have_the_shape_of_all() {
    let model = rare(60_000, 3, 1);
    let mode = find_mode(&model, &[0.0; 3]).unwrap();
    let worst = |rows: usize| {
        let sample = RowSample::new(&model, &mode.state, rows, 1).unwrap();
        assert!(sample.rows() <= rows + 1, "{} of {rows}", sample.rows());
        let centre = sample.centre().to_vec();
        let mut off: f64 = 0.0;
        for parameter in 0..3 {
            for sds in [-4.0, -2.0, 1.0, 2.0] {
                let entry =
                    |j: usize| mode.covariance[3 * parameter + j] / mode.covariance[4 * parameter].sqrt();
                let there: Vec<f64> = (0..3).map(|j| centre[j] + sds * entry(j)).collect();
                let exact = posterior_differences(&model, &[(&centre, &there)]).unwrap()[0];
                off = off.max((sample.log_density(&there) - sample.log_density(&centre) - exact).abs());
            }
        }
        off
    };
    let (many, few) = (worst(4096), worst(64));
    assert!(many < 0.5 && few > 0.5, "{many} {few}");
    let sample = RowSample::new(&model, &mode.state, 2000, 1).unwrap();
    let (mut density, mut slope) = (sample.density(), [0.0; 3]);
    let there: Vec<f64> = sample.centre().iter().map(|x| x - 0.3).collect();
    density.log_density_gradient(&there, &mut slope).unwrap();
    for j in 0..3 {
        let mut at = [there.clone(), there.clone()];
        (at[0][j], at[1][j]) = (there[j] - 0.01, there[j] + 0.01);
        let difference = (sample.log_density(&at[1]) - sample.log_density(&at[0])) / 0.02;
        assert!(
            (slope[j] - difference).abs() < 0.01 * (1.0 + difference.abs()),
            "{j}: {slope:?} {difference}"
        );
    }
    density.log_density_gradient(&sample.centre().to_vec(), &mut slope).unwrap();
    assert!(slope.iter().all(|slope| slope.abs() < 0.02), "{slope:?}");
    // Hardly more rows than asked for: all of them.
    assert_eq!(RowSample::new(&rare(3000, 5, 2), &[-6.0, 0.0, 0.0], 2000, 1).unwrap().rows(), 3000);
}

/// With four events in 140,000 rows the sample of 65,536 that the search begins with may hold one or none of them; the centre is the mode all the same.
#[test]
fn the_centre_is_found_where_the_sample_misses_the_events() {
    let mut lost = 0;
    for seed in 0..6 {
        let model = rare(140_000, 4, seed);
        let mode = find_mode(&model, &[0.0; 3]).unwrap();
        let away = |state: &[f64]| {
            (0..3)
                .map(|j| (state[j] - mode.state[j]).abs() / mode.covariance[4 * j].sqrt())
                .fold(0.0, f64::max)
        };
        let expansion = GlmExpansion::new(&model, &mode.state, &ExpansionSettings::default()).unwrap();
        let off = away(&expansion.centre);
        assert!(off < 0.5, "seed {seed}: {off} sds");
        lost += usize::from(
            sampled_mode(&model, &mode.state, 1 << 16).map_or(true, |mode| away(&mode.state) > 3.0),
        );
    }
    // Power: the sample alone would have led astray.
    assert!(lost > 0);
}

/// A hundred rows of weight 1 without a column that is not 0, among 20,000 of weight 0.001: they have no leverage, and most of what is known about σ. They are in the stratum, and what is left along σ is below the tolerance; without a
/// stratum it is not.
#[test]
fn weighted_rows_that_only_sigma_knows_do_not_hide() {
    let mut rng = stream(4, 0, Role::Data);
    let (mut x, mut y, mut weights) = (vec![], vec![], vec![]);
    for row in 0..20_000 {
        let heavy = row % 200 == 0;
        x.push(if heavy { 0.0 } else { normal(&mut rng) });
        weights.push(if heavy { 1.0 } else { 1e-3 });
        y.push(0.3 * x[row] + normal(&mut rng) / normal(&mut rng).abs().max(0.5));
    }
    let data =
        Data::new(["x"], vec![x], y).intercept(false).weights(weights).check(ResponseKind::Real).unwrap();
    let model = Glm::new(Student { freedom: 4.0 }, &data, vec![Prior::normal(10.0); 2]).unwrap();
    let mode = find_mode(&model, &[0.0; 2]).unwrap();
    let left = |rows: Option<usize>| {
        let settings =
            ExpansionSettings { stratum_rows: rows, extra_rows: 0.0, ..ExpansionSettings::default() };
        let expansion = GlmExpansion::new(&model, &mode.state, &settings).unwrap();
        let stratum = expansion.report().stratum;
        let surrogate = Surrogate::new(expansion);
        let mut scratch = surrogate.scratch(Access::Blocks);
        let sd = mode.covariance[3].sqrt();
        let mut worst: f64 = 0.0;
        for sds in [-2.0, 2.0] {
            let there = vec![mode.state[0], mode.state[1] + sds * sd];
            worst =
                worst.max(surrogate.compare(&mode.state, &there, &mut scratch).total().unwrap().sum().abs());
        }
        (worst, stratum)
    };
    let tolerance = ResidualTest::default().tolerance;
    let ((kept, stratum), (hidden, _)) = (left(None), left(Some(0)));
    assert!(kept < tolerance && stratum >= 100, "{kept} with {stratum} rows apart");
    assert!(hidden > tolerance, "{hidden}");
}
