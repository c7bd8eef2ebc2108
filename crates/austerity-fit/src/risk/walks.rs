//! Rules for a random walk, with what the theory expects of each: what a plan chooses from where decisions are about the rows themselves.
//!
//! With D the root of the step energy (2.38 for a walk tuned to the posterior, and that times `scale` for another) a tuned walk in d dimensions is worth
//! 0.33/d independent draws a step (Roberts & Rosenthal 2001), others in proportion to the speed D²·acceptance. κ = D by the information equality; a test
//! has the data use, acceptance and temperature of [`ErrorTable::bias`], and the λ that cancels it where there is one. Predictions
//! of sd − 1 have been within 15 % of chains; that is the doubt, and of compensated tests it is 15 % of what λ cancels.
//!
//! Tests: first looks N/100, N/25, N/10, growth 1 and 1.5, ε from 0.2 to 0.001; those that would cost more than exact decisions are left out. Cost: some 0.1 s; with
//! [`Effort::Little`] a few milliseconds.

use serde::{Deserialize, Serialize};

use super::Offer;
use austerity::design::Prediction;
use austerity::design::choice::BREAK_EVEN;
use austerity::error::Result;
use austerity::rule::{Guard, Law, Looks, RuleSettings, SequentialSettings};
use austerity::theory::{Accuracy, Bias, ErrorTable, Moves, TestPlan, TestWalk};

/// D of a walk tuned to the posterior.
const TUNED: f64 = 2.38;
/// Its acceptance in many dimensions, 2Φ(−1.19).
const ACCEPTANCE: f64 = 0.234;
/// Independent draws that one of its steps is worth, times d.
const WORTH_OF_A_STEP: f64 = 0.33;
/// Standard error of a predicted sd − 1, as a share of it.
const DOUBT: f64 = 0.15;
/// Fewer rows than this make no first look.
const SMALLEST_FIRST_LOOK: usize = 100;
/// Predicted sds beyond this are not worth having at any speed.
const WIDEST: f64 = 2.0;

/// How many tests are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Two.
    Little,
    /// A grid.
    Full,
}

/// A rule with what is expected of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Walk {
    /// What it costs and brings.
    pub setting: Offer,
    /// Who decides.
    pub rule: RuleSettings,
    /// Length of the steps, in units of a tuned walk's.
    pub scale: f64,
    /// Share of candidates that are accepted.
    pub acceptance: f64,
    /// What the theory says of a test.
    pub prediction: Option<Prediction>,
}

/// Exact decisions and tests for a walk in `dimension` dimensions on `rows` rows, whose steps are `scales` times as long as a tuned
/// walk's.
pub fn walks(
    (rows, dimension): (usize, usize),
    scales: &[f64],
    block_rows: usize,
    effort: Effort,
) -> Result<Vec<Walk>> {
    let tuned = WORTH_OF_A_STEP / dimension.max(1) as f64;
    let worth =
        |energy: f64, acceptance: f64| tuned * energy * energy * acceptance / (TUNED * TUNED * ACCEPTANCE);
    let mut found = Vec::new();
    for &scale in scales {
        let energy = TUNED * scale;
        let acceptance = 2.0 * austerity::rule::bound::normal_tail(0.5 * energy);
        let setting =
            Offer { scan_evaluations: rows as f64, worth: worth(energy, acceptance), ..Offer::default() };
        found.push(Walk { setting, rule: RuleSettings::default(), scale, acceptance, prediction: None });
    }
    if rows < 10 * SMALLEST_FIRST_LOOK {
        return Ok(found);
    }
    for test in tests(rows, block_rows, effort) {
        let plan = TestPlan::of_settings(&test, rows)?;
        let table = ErrorTable::new(&TestWalk::new(plan, Accuracy::Fast), Accuracy::Fast);
        for &scale in scales {
            let moves = Moves::plain(TUNED * scale);
            let plain = table.bias(Law::Metropolis, moves)?;
            let add = |law: Law, bias: &Bias| {
                let worth = worth(moves.energy_root, bias.acceptance);
                let test = SequentialSettings { law, ..test.clone() };
                Walk::of_test(test, [bias, &plain], (rows, scale), worth)
            };
            found.extend(add(Law::Metropolis, &plain));
            if let Some(lambda) = table.compensation(moves)? {
                let law = Law::Compensated { lambda };
                found.extend(add(law, &table.bias(law, moves)?));
            }
        }
    }
    Ok(found)
}

impl Walk {
    /// A test with its bias and that under the plain threshold, unless it costs more than exact decisions or leaves no posterior worth the name.
    fn of_test(
        test: SequentialSettings,
        [bias, plain]: [&Bias; 2],
        (rows, scale): (usize, f64),
        worth: f64,
    ) -> Option<Self> {
        let inflation = bias.sd_inflation;
        if bias.data_usage >= BREAK_EVEN || !(inflation < WIDEST && plain.sd_inflation < WIDEST) {
            return None;
        }
        let setting = Offer {
            block_evaluations: 2.0 * bias.data_usage * rows as f64,
            worth: worth / (inflation * inflation),
            inflation,
            doubt: DOUBT * (plain.sd_inflation - 1.0).abs(),
            ..Offer::default()
        };
        let prediction = Prediction {
            error: if test.law == Law::Metropolis { bias.mean_delta } else { bias.mean_defect },
            data_share: bias.data_usage,
            sd_inflation: Some(inflation),
            acceptance: Some(bias.acceptance),
            kappa: TUNED * scale,
        };
        Some(Self {
            setting,
            rule: RuleSettings::Sequential(test),
            scale,
            acceptance: bias.acceptance,
            prediction: Some(prediction),
        })
    }
}

/// The tests that are looked at, with plain thresholds.
fn tests(rows: usize, block_rows: usize, effort: Effort) -> Vec<SequentialSettings> {
    let (parts, growths, levels): (&[usize], &[f64], &[f64]) = match effort {
        Effort::Little => (&[25], &[1.0], &[0.1, 0.01]),
        Effort::Full => (&[100, 25, 10], &[1.0, 1.5], &[0.2, 0.1, 0.05, 0.01, 0.001]),
    };
    let mut tests = Vec::new();
    for &part in parts {
        let first = rows / part;
        for (&growth, &epsilon) in growths.iter().flat_map(|g| levels.iter().map(move |e| (g, e))) {
            if first >= SMALLEST_FIRST_LOOK {
                tests.push(SequentialSettings {
                    looks: Looks::Growing { first, growth },
                    guard: Some(Guard::default()),
                    block_rows,
                    ..SequentialSettings::constant(first, epsilon)
                });
            }
        }
    }
    tests
}
