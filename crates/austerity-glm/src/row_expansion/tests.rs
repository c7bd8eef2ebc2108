//! The same regression by closures and by the library's own families: same sums, same residuals, same decisions; and what is refused.

use super::*;
use crate::glm::expansion::{ExpansionSettings, GlmExpansion};
use crate::gradients::{At, BatchGradient};
use crate::own::{with_curvature, with_gradient};
use crate::{CheckedData, Data, Glm, Poisson, Prior, ResponseKind, Surrogate, SurrogateDensity};
use austerity::model::{LogDensity as _, Model, from_fn};
use austerity::population::{BlockOrder, BlockReveal, Population};
use austerity::rng::{Role, stream};
use austerity::rule::{Exact, Rule};
use rand::RngExt as _;
use rand_distr::StandardNormal;

const ROWS: usize = 600;
const SD: f64 = 2.0;

/// Two columns, the second rare, and counts.
struct Counts {
    x: Vec<[f64; 2]>,
    y: Vec<f64>,
}

impl Counts {
    fn new() -> Self {
        let mut rng = stream(4, 0, Role::Data);
        let mut counts = Self { x: Vec::new(), y: Vec::new() };
        for row in 0..ROWS {
            let x = [rng.sample::<f64, _>(StandardNormal), f64::from(u8::from(row % 60 == 7))];
            let u: f64 = rng.random();
            counts.y.push(((0.4 + 0.5 * x[0] + x[1]).exp() * 2.0 * u).floor());
            counts.x.push(x);
        }
        counts
    }

    fn data(&self) -> CheckedData {
        let column = |j: usize| self.x.iter().map(|x| x[j]).collect();
        Data::new(["a", "rare"], vec![column(0), column(1)], self.y.clone())
            .check(ResponseKind::Count)
            .unwrap()
    }

    fn glm(&self) -> Glm<Poisson> {
        Glm::new(Poisson, &self.data(), vec![Prior::normal(SD); 3]).unwrap()
    }

    fn z(&self, row: usize) -> [f64; 3] {
        [1.0, self.x[row][0], self.x[row][1]]
    }

    fn mean(&self, state: &[f64], row: usize) -> f64 {
        self.z(row).iter().zip(state).map(|(z, s)| z * s).sum::<f64>().exp()
    }

    /// The same model by closures.
    fn model(&self) -> impl RowCurvature + '_ {
        let model = from_fn(
            ROWS,
            3,
            |state: &[f64]| -0.5 * state.iter().map(|s| (s / SD).powi(2)).sum::<f64>(),
            |state: &[f64], row| {
                let mean = self.mean(state, row);
                self.y[row] * mean.ln() - mean
            },
        );
        let model = with_gradient(
            model.unwrap(),
            3,
            |state: &[f64], gradient: &mut [f64]| {
                gradient.iter_mut().zip(state).for_each(|(g, s)| *g -= s / (SD * SD));
            },
            |state: &[f64], row, gradient: &mut [f64]| {
                let pull = self.y[row] - self.mean(state, row);
                gradient.iter_mut().zip(self.z(row)).for_each(|(g, z)| *g += pull * z);
            },
        );
        with_curvature(
            model.unwrap(),
            |_: &[f64], hessian: &mut [f64]| (0..3).for_each(|i| hessian[4 * i] -= 1.0 / (SD * SD)),
            |state: &[f64], row, hessian: &mut [f64]| {
                let (z, mean) = (self.z(row), self.mean(state, row));
                (0..9).for_each(|k| hessian[k] -= mean * z[k / 3] * z[k % 3]);
            },
        )
    }
}

fn near<M: RowCurvature>(
    expansion: &RowExpansion<'_, M>,
    rng: &mut austerity::rng::Rng,
    size: f64,
) -> Vec<f64> {
    let sds = expansion.covariance().iter().step_by(4).map(|v| size * v.sqrt());
    expansion.centre().iter().zip(sds).map(|(c, sd)| c + sd * rng.sample::<f64, _>(StandardNormal)).collect()
}

fn total<M: Model<State = Vec<f64>>>(model: &M, from: &Vec<f64>, to: &Vec<f64>) -> f64 {
    let mut scratch = model.scratch(Access::Blocks);
    let sum = model.compare(from, to, &mut scratch).total().unwrap().sum();
    model.log_prior(to) - model.log_prior(from) + sum
}

fn settings(order: u8, certainty: Certainty<'_>) -> RowExpansionSettings<'_> {
    RowExpansionSettings { order, certainty, ..RowExpansionSettings::default() }
}

#[test]
fn surrogate_and_residuals_are_the_model_and_residuals_are_those_of_the_family() {
    let counts = Counts::new();
    let (model, glm) = (counts.model(), counts.glm());
    let rare: Vec<usize> = (0..ROWS).filter(|row| row % 60 == 7).collect();
    let mut rng = stream(6, 0, Role::Proposal);
    for order in [1, 2] {
        for certainty in [Certainty::Unchecked, Certainty::Rows(&rare), Certainty::Probed] {
            let expansion = RowExpansion::new(&model, &[0.0; 3], &settings(order, certainty)).unwrap();
            let surrogate = Surrogate::new(expansion.clone());
            for size in [0.1, 1.0, 4.0] {
                let (from, to) = (near(&expansion, &mut rng, size), near(&expansion, &mut rng, size));
                let (found, wanted) = (total(&surrogate, &from, &to), total(&model, &from, &to));
                assert!((found - wanted).abs() < 1e-9 * (1.0 + wanted.abs()), "{found} against {wanted}");
                let other = total(&glm, &from, &to);
                assert!((found - other).abs() < 2e-5 * (1.0 + other.abs()), "{found} against {other}");
            }
            if matches!(certainty, Certainty::Unchecked) {
                // Row by row as the family's own residuals, at the same centre.
                let fixed = ExpansionSettings { order, stratum_rows: Some(0), ..Default::default() };
                let own = GlmExpansion::new(&glm, expansion.centre(), &fixed).unwrap();
                let at = RowExpansionSettings { fixed: true, ..settings(order, certainty) };
                let same = RowExpansion::new(&model, own.centre(), &at).unwrap();
                let (own, same) = (Surrogate::new(own), Surrogate::new(same));
                let (from, to) = (near(&expansion, &mut rng, 2.0), near(&expansion, &mut rng, 2.0));
                let residuals = |list: &mut dyn Population| {
                    let mut out = vec![0.0; ROWS];
                    list.reveal(0..ROWS, &mut out).unwrap();
                    let mut rows: Vec<(usize, f64)> =
                        out.into_iter().enumerate().map(|(p, r)| (list.original_row(p), r)).collect();
                    rows.sort_unstable_by_key(|row| row.0);
                    rows
                };
                let (mut a, mut b) = (own.scratch(Access::Blocks), same.scratch(Access::Blocks));
                let a = residuals(&mut own.compare(&from, &to, &mut a));
                let b = residuals(&mut same.compare(&from, &to, &mut b));
                let largest = b.iter().fold(0.0f64, |most, (_, r)| most.max(r.abs()));
                assert!(largest > 1e-4);
                for ((row, a), (_, b)) in a.iter().zip(&b) {
                    assert!((a - b).abs() < 1e-4 * largest, "row {row}: {a} against {b}");
                }
            }
        }
    }
}

/// The exact rule decides the same about the model and about its surrogate, for thresholds on both sides.
#[test]
fn decisions_are_those_of_the_model() {
    let counts = Counts::new();
    let model = counts.model();
    let surrogate =
        Surrogate::new(RowExpansion::new(&model, &[0.0; 3], &settings(2, Certainty::Probed)).unwrap());
    let mut rng = stream(7, 0, Role::Proposal);
    let mut decided = [0, 0];
    fn decide<M: Model<State = Vec<f64>>>(model: &M, from: &Vec<f64>, to: &Vec<f64>, seed: u64) -> bool {
        let mut scratch = model.scratch(Access::Scan);
        let mut population = model.compare(from, to, &mut scratch);
        let mut order = BlockOrder::new(ROWS, 32, 1, 0).unwrap();
        let mut reveal = BlockReveal::new(&mut population, &mut order, 0);
        let offset = model.log_prior(to) - model.log_prior(from);
        let mut rng = stream(seed, 0, Role::Decision);
        Exact::default().decide(&mut reveal, offset, &mut rng).unwrap().accepted
    }
    for seed in 0..200 {
        let from = near(surrogate.expansion(), &mut rng, 1.0);
        let to = near(surrogate.expansion(), &mut rng, 1.0);
        let own = decide(&model, &from, &to, seed);
        assert_eq!(own, decide(&surrogate, &from, &to, seed));
        decided[usize::from(own)] += 1;
    }
    assert!(decided.iter().all(|&count| count > 20), "{decided:?}");
}

#[test]
fn gradients_are_those_of_the_densities_and_batches_add_up() {
    let counts = Counts::new();
    let model = counts.model();
    for (order, certainty) in
        [(2, Certainty::Probed), (2, Certainty::Rows(&[7, 67, 3])), (1, Certainty::Unchecked)]
    {
        let surrogate =
            Surrogate::new(RowExpansion::new(&model, &[0.0; 3], &settings(order, certainty)).unwrap());
        let expansion = surrogate.expansion();
        let state = near(expansion, &mut stream(8, 0, Role::Proposal), 1.5);
        let mut gradient = vec![0.0; 3];
        let value = expansion.log_density_gradient(&state, &mut Default::default(), &mut gradient);
        assert!((value - expansion.log_density(&state)).abs() < 1e-12 * value.abs());
        for i in 0..3 {
            let moved = |by: f64| {
                let mut state = state.clone();
                state[i] += by;
                expansion.log_density(&state)
            };
            let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((slope - gradient[i]).abs() < 1e-4 * (1.0 + slope.abs()), "{i}: {slope} {}", gradient[i]);
        }
        let all = Batch { blocks: &[0], block_rows: ROWS, population: ROWS };
        let (mut whole, mut own) = (vec![0.0; 3], vec![0.0; 3]);
        surrogate
            .stochastic_gradient(At { state: &state, batch: all }, &mut Default::default(), &mut whole)
            .unwrap();
        model
            .stochastic_gradient(At { state: &state, batch: all }, &mut Default::default(), &mut own)
            .unwrap();
        for (a, b) in whole.iter().zip(&own) {
            assert!((a - b).abs() < 1e-8 * (1.0 + b.abs()), "{whole:?} against {own:?}");
        }
    }
}

#[test]
fn probing_and_a_bound_find_the_rare_rows() {
    let counts = Counts::new();
    let model = counts.model();
    let limited = |certainty| {
        let mut settings = settings(2, certainty);
        settings.stratum.first = 16;
        RowExpansion::new(&model, &[0.0; 3], &settings).unwrap()
    };
    // s = mean·lev³/6, the exact third derivative of a Poisson row at the centre.
    let bound = |centre: &[f64], covariance: &[f64], row: usize| {
        let z = counts.z(row);
        let square: f64 = (0..9).map(|k| z[k / 3] * covariance[k] * z[k % 3]).sum();
        counts.mean(centre, row) * square.powf(1.5) / 6.0
    };
    let bounded = limited(Certainty::Scored(&bound));
    let probed = limited(Certainty::Probed);
    for expansion in [&bounded, &probed] {
        let report = expansion.report();
        assert_eq!(report.is_blind(), Some(false), "{report:?}");
        assert!(report.doubt().is_none() && !report.sentence().contains("trusted"));
        let rare = expansion.stratum().filter(|row| row % 60 == 7).count();
        assert!(rare >= 8, "{rare} of 10 rare rows in a stratum of {}", report.stratum);
    }
    // Without a stratum both predict the same error, within a factor of 6: probes exceed the bound by 2 in the median, and all rare
    // rows share one direction.
    let errors = [Certainty::Scored(&bound), Certainty::Probed].map(|certainty| {
        let mut settings = settings(2, certainty);
        settings.stratum.largest_stratum = 0;
        let expansion = RowExpansion::new(&model, &[0.0; 3], &settings).unwrap();
        expansion.report().predicted.unwrap().standard_error
    });
    println!("predicted standard errors: bound {:.3}, probed {:.3}", errors[0], errors[1]);
    assert!(errors[0] / errors[1] < 6.0 && errors[1] / errors[0] < 6.0, "{errors:?}");
    // Without scores nothing is promised; a cap that is too small is said to be blind.
    let unchecked = limited(Certainty::Unchecked);
    assert_eq!(unchecked.report().is_blind(), None);
    assert!(unchecked.report().sentence().contains("could not be checked"));
    let mut capped = settings(2, Certainty::Scored(&bound));
    capped.stratum.largest_stratum = 0;
    capped.stratum.tolerance = 1e-6;
    let heavy = |centre: &[f64], covariance: &[f64], row: usize| {
        if row == 5 { 50.0 } else { bound(centre, covariance, row) }
    };
    capped.certainty = Certainty::Scored(&heavy);
    let blind = RowExpansion::new(&model, &[0.0; 3], &capped).unwrap();
    assert_eq!(blind.report().is_blind(), Some(true));
    assert!(blind.report().doubt().unwrap().contains("could shift"));
}

#[test]
fn a_centre_that_is_no_mode_is_said_to_be_one_and_stays_exact() {
    let counts = Counts::new();
    let model = counts.model();
    let off = RowExpansionSettings { fixed: true, ..settings(2, Certainty::Probed) };
    let expansion = RowExpansion::new(&model, &[0.6, 0.3, 0.5], &off).unwrap();
    assert!(expansion.report().distance > 3.0, "{:?}", expansion.report());
    assert!(expansion.report().sentence().contains("from the mode"));
    let surrogate = Surrogate::new(expansion);
    let (from, to) = (vec![0.4, 0.5, 1.0], vec![0.45, 0.48, 0.9]);
    let (found, wanted) = (total(&surrogate, &from, &to), total(&model, &from, &to));
    assert!((found - wanted).abs() < 1e-9 * (1.0 + wanted.abs()), "{found} against {wanted}");
}

/// A model of one parameter whose rows 3 and 5 can be told to misbehave.
fn one(
    gradient: impl Fn(usize) -> f64 + Sync,
    hessian: impl Fn(usize) -> f64 + Sync,
    prior: f64,
) -> impl RowCurvature {
    let model = from_fn(
        40,
        1,
        move |state: &[f64]| -0.5 * prior * state[0] * state[0],
        |state: &[f64], row| if row < 20 { -0.5 * state[0].powi(2) } else { 0.0 },
    );
    let model = with_gradient(
        model.unwrap(),
        1,
        move |state: &[f64], g: &mut [f64]| g[0] -= prior * state[0],
        move |state: &[f64], row, g: &mut [f64]| {
            g[0] += if row < 20 { gradient(row) * state[0] } else { 0.0 }
        },
    );
    with_curvature(
        model.unwrap(),
        move |_: &[f64], h: &mut [f64]| h[0] -= prior,
        move |_: &[f64], row, h: &mut [f64]| h[0] += if row < 20 { hessian(row) } else { 0.0 },
    )
}

#[test]
fn bad_derivatives_are_refused_with_their_row() {
    let fixed = RowExpansionSettings { fixed: true, ..RowExpansionSettings::default() };
    let refuse = |model: &dyn Fn() -> Error| model().to_string();
    let text = refuse(&|| {
        let model = one(|row| if row == 5 { f64::NAN } else { -1.0 }, |_| -1.0, 1.0);
        RowExpansion::new(&model, &[0.3], &fixed).unwrap_err()
    });
    assert!(text.contains("gradient") && text.contains("row 5"), "{text}");
    let text = refuse(&|| {
        let model = one(|_| -1.0, |row| if row == 3 { f64::NEG_INFINITY } else { -1.0 }, 1.0);
        RowExpansion::new(&model, &[0.3], &fixed).unwrap_err()
    });
    assert!(text.contains("Hessian") && text.contains("row 3"), "{text}");
    let text = refuse(&|| {
        let model = one(|_| -1.0, |row| if row == 3 { [0.0][row] } else { -1.0 }, 1.0);
        RowExpansion::new(&model, &[0.3], &fixed).unwrap_err()
    });
    assert!(text.contains("panicked at row 3"), "{text}");
    let text = refuse(&|| {
        let model = one(|_| 0.0, |_| 0.0, 0.0);
        RowExpansion::new(&model, &[0.3], &fixed).unwrap_err()
    });
    assert!(text.contains("not positive definite") && text.contains("prior"), "{text}");
    let model = one(|_| -1.0, |_| -1.0, 1.0);
    assert!(RowExpansion::new(&model, &[0.3, 0.1], &fixed).is_err());
    assert!(RowExpansion::new(&model, &[0.3], &RowExpansionSettings { order: 3, ..fixed }).is_err());
    let outside = RowExpansionSettings { certainty: Certainty::Rows(&[40]), ..fixed };
    assert!(RowExpansion::new(&model, &[0.3], &outside).unwrap_err().to_string().contains("40"));
    let negative = |_: &[f64], _: &[f64], row: usize| if row == 9 { -1.0 } else { 1.0 };
    let negative = RowExpansionSettings { certainty: Certainty::Scored(&negative), ..fixed };
    assert!(RowExpansion::new(&model, &[0.3], &negative).unwrap_err().to_string().contains("row 9"));
}

/// A log-likelihood of the stratum that is no number is an error with its row, not a silent refusal.
#[test]
fn a_nan_in_the_stratum_is_named() {
    let model = from_fn(
        30,
        1,
        |s: &[f64]| -0.5 * s[0] * s[0],
        |s: &[f64], row| {
            if row == 11 && s[0] > 1.0 { f64::NAN } else { -s[0] * s[0] }
        },
    );
    let model = with_gradient(
        model.unwrap(),
        1,
        |s: &[f64], g: &mut [f64]| g[0] -= s[0],
        |s: &[f64], _, g: &mut [f64]| g[0] -= 2.0 * s[0],
    );
    let model = with_curvature(
        model.unwrap(),
        |_: &[f64], h: &mut [f64]| h[0] -= 1.0,
        |_: &[f64], _, h: &mut [f64]| h[0] -= 2.0,
    );
    let given = settings(2, Certainty::Rows(&[11]));
    let surrogate = Surrogate::new(RowExpansion::new(&model, &[0.1], &given).unwrap());
    assert!(surrogate.log_prior(&vec![0.5]).is_finite());
    assert!(surrogate.log_prior(&vec![1.5]).is_nan());
    assert!(surrogate.prior_error().to_string().contains("row 11"), "{}", surrogate.prior_error());
    // A path that strays there is refused, as with any density that is no number.
    let mut density = SurrogateDensity::new(surrogate.expansion());
    let error = density.log_density_gradient(&vec![1.5], &mut [0.0]).unwrap_err();
    assert!(matches!(error, Error::NotANumber { row: 11 }), "{error}");
}
