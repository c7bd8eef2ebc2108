//! The claims of section 6.1 (and of sections 2 and 3, which it illustrates), and what became of them.
//!
//! "While burn-in lasts" means: at the times at which the squared bias of the exact chains exceeds their variance. Risks are compared
//! at equal CPU time and at equal numbers of likelihood evaluations, with our exact rule and with the textbook's loop.

use super::chains::{Curves, Family, Quantity, Start, label};
use super::measure::Measured;
use super::stuck::{self, Found};
use super::{EPSILONS, Plan};
use crate::claim::{Band, Claim, Estimate, Over, Source};
use crate::curves::{Along, Comparison, Point, Textbook, comparisons, point_at, reached, risk_ratio};
use crate::outcome::Check;

/// The paper's numbers of samples in 50 seconds.
const PAPER_STEPS: [f64; 2] = [9.5e3, 16.5e3];

const BURN_IN: Claim = Claim {
    name: "burn-in",
    source: Source::Commented,
    place: "section 6.1, text to a figure of marginals",
    quote: "Our algorithm with ε = 0.01 is able to accelerate burn-in because it can collect more samples in a given amount of time",
    says: "",
    quantity: "risk of exact decisions over risk of ε = 0.01, midway through burn-in",
    band: Band::Above(1.0),
    over: Over::Every,
    partner: "planted curves in which ε = 0.01 has twice the risk",
};
const ORDER: Claim = Claim {
    name: "order from a cold start",
    source: Source::Own,
    place: "after section 3",
    quote: "",
    says: "With little time burn-in and variance dominate, so each larger ε does better than the one before.",
    quantity: "risk at the ε before over risk at ε, midway through burn-in",
    band: Band::Above(1.0),
    over: Over::Every,
    partner: "planted curves in the reverse order",
};
const MINIMUM: Claim = Claim {
    name: "minimum of the risk",
    source: Source::Paper,
    place: "section 6.1",
    quote: "even after collecting a lot of samples, the risk is still dominated by the variance and the minimum risk is obtained with ε>0",
    says: "",
    quantity: "risk of exact decisions over risk at ε, at the end",
    band: Band::Above(1.0),
    over: Over::Some,
    partner: "planted curves in which every ε > 0 has twice the risk",
};
const MINIMUM_STATIONARY: Claim = Claim {
    name: "minimum of the risk, stationary start",
    source: Source::Own,
    place: "after section 6.1",
    quote: "",
    says: "The same of chains that begin in the posterior: the paper counts burn-in.",
    ..MINIMUM
};
const DOMINATED: Claim = Claim {
    name: "variance dominates",
    quantity: "share of bias² in the risk of each ε > 0, at the end",
    band: Band::Below(0.5),
    over: Over::Every,
    partner: "planted curves of which nine tenths are bias²",
    ..MINIMUM
};
const DOMINATED_STATIONARY: Claim = Claim {
    name: "variance dominates, stationary start",
    source: Source::Own,
    place: "after section 6.1",
    quote: "",
    says: "The same of chains that begin in the posterior.",
    ..DOMINATED
};
const OVERTAKES: Claim = Claim {
    name: "exact overtakes, variances",
    source: Source::Commented,
    place: "section 6.1, text to a figure of marginals",
    quote: "Theoretically, as more computational time becomes available the exact MH algorithm will catch up with (and eventually outperform) \
            our algorithm, because the exact MH algorithm is unbiased unlike ours",
    says: "Seen in posterior variances, which feel a hotter posterior; predictive means hardly do.",
    quantity: "risk at ε over risk of exact decisions for ε ≥ 0.05, at the end",
    band: Band::Above(1.0),
    over: Over::Every,
    partner: "planted curves in which every ε > 0 has half the risk",
};
const BIAS: Claim = Claim {
    name: "bias dominates at last, variances",
    source: Source::Paper,
    place: "section 6.1",
    quote: "expect it to decrease as a function of time until the bias dominates the variance",
    says: "Of the risk of posterior variances, for the two largest ε.",
    quantity: "share of bias² in the risk at ε ≥ 0.1, at the end",
    band: Band::Above(0.5),
    over: Over::Every,
    partner: "planted curves without bias",
};
const SAMPLES: Claim = Claim {
    name: "samples in the same time",
    source: Source::Commented,
    place: "section 6.1, captions of a figure of marginals",
    quote: "ε=0, WCT = 50 sec, T = 9.5K … ε=0.01, WCT = 50 sec, T = 16.5K",
    says: "1.74 times as many, from a cold start; ± 20 % is ours.",
    quantity: "steps at ε = 0.01 over exact steps in the same CPU time",
    band: Band::Within(1.39, 2.08),
    over: Over::Every,
    partner: "planted chains with as many steps, and with four times as many",
};
const NOTICEABLE: Claim = Claim {
    name: "hardly noticeable bias",
    source: Source::Commented,
    place: "section 6.1, text to a figure of marginals",
    quote: "But the bias is hardly noticeable in this example",
    says: "Said of ε = 0.01; read as posterior standard deviations off by less than 5 %.",
    quantity: "posterior sd of chains at ε = 0.01 over the true one",
    band: Band::Within(0.95, 1.05),
    over: Over::Every,
    partner: "planted chains with an sd 1.2 times too large",
};
const VARIANCE: Claim = Claim {
    name: "V ≈ σ²τ/T",
    source: Source::Paper,
    place: "section 2 (exact), section 3 (ε)",
    quote: "It is well known that V ≈ σ^2_{f,S_0} τ / T … τ is the integrated auto-correlation time",
    says: "\"≈\" is read as within a factor of 1.5.",
    quantity: "variance between chains of the means of the coefficients over σ²τ/T, mean over the coefficients",
    band: Band::Within(0.667, 1.5),
    over: Over::Every,
    partner: "τ of every other draw in the place of τ",
};
const INFLATION: Claim = Claim {
    name: "inflation of the sd",
    source: Source::Own,
    place: "after section 5.1",
    quote: "",
    says: "Errors of decisions act as a temperature, and the recursion predicts by how much each posterior standard deviation grows.",
    quantity: "measured over predicted posterior sd at each ε",
    band: Band::Within(0.95, 1.05),
    over: Over::Every,
    partner: "predictions 20 % too large",
};
const SHARE: Claim = Claim {
    name: "share of the data",
    source: Source::Paper,
    place: "section 5.1",
    quote: "This allows us to compute the error of the sequential test E(μ_std,m,ε), and the expected proportion of the data required to reach a \
            decision",
    says: "Here from the acceptance rate of exact chains alone.",
    quantity: "measured less predicted share at each ε",
    band: Band::Within(-0.03, 0.03),
    over: Over::Every,
    partner: "predictions 0.1 too large",
};
const ACCEPTANCE: Claim = Claim {
    name: "acceptance",
    source: Source::Derived,
    place: "section 5.1",
    quote: "",
    says: "The acceptance rate of a test is that of exact decisions plus the mean of Δ.",
    quantity: "measured less predicted acceptance rate at each ε",
    band: Band::Within(-0.03, 0.03),
    over: Over::Every,
    partner: "predictions 0.1 too large",
};

const STUCK: Claim = Claim {
    name: "unbiased estimates get stuck",
    source: Source::Paper,
    place: "section 4",
    quote: "have very high variance for large datasets. Because of this, once we get a very high estimate of the likelihood, almost all proposed moves \
            are rejected and the algorithm gets stuck",
    says: "Of batches of m = 512 rows and of an eighth of the data; \"almost all\" is read as nine of ten of those that exact decisions take.",
    quantity: "acceptance of pseudo-marginal chains over that of exact ones, both estimators",
    band: Band::Below(0.1),
    over: Over::Every,
    partner: "planted chains that accept as exact ones do",
};
const LONGEST: Claim = Claim {
    name: "how long they are stuck",
    says: "",
    quantity: "longest run of rejections over the steps of a chain, both estimators",
    band: Band::Above(0.1),
    partner: "planted chains that accept as exact ones do",
    ..STUCK
};
const UNSTUCK: Claim = Claim {
    name: "a surrogate sets them free",
    source: Source::Own,
    place: "after section 4",
    quote: "",
    says: "The variance of an estimate is that of the differences it is made of; what a second-order expansion leaves of them is small.",
    quantity: "acceptance of pseudo-marginal chains on the residuals of a surrogate over that of exact ones, both estimators",
    band: Band::Above(0.9),
    over: Over::Every,
    partner: "planted chains that are stuck",
};

pub(crate) const CLAIMS: &[Claim] = &[
    STUCK,
    LONGEST,
    UNSTUCK,
    BURN_IN,
    ORDER,
    MINIMUM,
    MINIMUM_STATIONARY,
    DOMINATED,
    DOMINATED_STATIONARY,
    OVERTAKES,
    BIAS,
    SAMPLES,
    NOTICEABLE,
    VARIANCE,
    INFLATION,
    SHARE,
    ACCEPTANCE,
];

const TOO_SHORT: &str =
    "Even the exact chains have not burned in: this run is too short for a claim about many samples.";

/// Claims beside the risk curves, and beside their parts.
pub(super) fn about(
    start: Start,
    quantity: Quantity,
    curves: &Curves,
    textbook: Textbook,
) -> [Vec<Check>; 2] {
    let [minimum, dominated] = match start {
        Start::Cold => [&MINIMUM, &DOMINATED],
        Start::Stationary => [&MINIMUM_STATIONARY, &DOMINATED_STATIONARY],
    };
    match (start, quantity) {
        (Start::Stationary, Quantity::Variances) => [overtakes(curves, textbook), vec![bias_wins(curves)]],
        (Start::Cold, Quantity::Variances) => [Vec::new(), Vec::new()],
        (_, Quantity::Predictive) => {
            let early = if start == Start::Cold { burn_in(curves, textbook) } else { Vec::new() };
            let parts = shares(dominated, &curves[1..], &EPSILONS[1..]);
            let parts = parts.undecided_if(!settled(start, curves), TOO_SHORT).remark(match start {
                Start::Cold => {
                    "From a cold start bias² also holds what is left of burn-in, for exact chains too."
                }
                Start::Stationary => "A share below 0 is noise about no bias.",
            });
            [[early, minima(minimum, start, curves, textbook)].concat(), vec![parts]]
        }
    }
}

/// The time midway through burn-in, in logarithms: between the first time and the last at which the exact chains' squared bias exceeds their
/// variance.
fn midway(exact: &[Point]) -> Option<f64> {
    let burning = exact.iter().take_while(|point| point.risk.bias_squared > point.risk.variance);
    let times: Vec<f64> = burning.map(|point| point.seconds).collect();
    times.get(times.len().checked_sub(1)? / 2).copied()
}

fn burn_in(curves: &Curves, textbook: Textbook) -> Vec<Check> {
    let held = |comparison: Comparison| {
        let time = midway(&comparison.exact)?;
        let value = comparison.along.of(&point_at(&comparison.exact, Along::Seconds, time)?);
        let gain = risk_ratio("", (&comparison.exact, &curves[1]), (comparison.along, value));
        Some(Check::of(&BURN_IN, gain.into_iter().collect()).about(comparison.name))
    };
    let mut checks: Vec<Check> =
        comparisons(&curves[0], Some(textbook)).into_iter().filter_map(held).collect();
    if checks.is_empty() {
        checks.push(Check::of(&BURN_IN, Vec::new()).remark("Burn-in was over before the first time."));
    }
    let steps = midway(&curves[0]).into_iter().flat_map(|time| {
        let pairs = curves.windows(2).zip(&EPSILONS[1..]);
        pairs.filter_map(move |(pair, &epsilon)| {
            risk_ratio(&label(epsilon), (&pair[0], &pair[1]), (Along::Seconds, time))
        })
    });
    checks.push(Check::of(&ORDER, steps.collect()));
    checks
}

/// One check for each baseline and axis: the best of four ε pays for being the best of four.
fn minima(claim: &Claim, start: Start, curves: &Curves, textbook: Textbook) -> Vec<Check> {
    let held = |comparison: Comparison| {
        let tests = || curves[1..].iter().map(Vec::as_slice);
        let end = reached(tests().chain([&comparison.exact[..]]), comparison.along);
        let ratio = |(&epsilon, curve): (&f64, &Vec<Point>)| {
            risk_ratio(&label(epsilon), (&comparison.exact, curve), (comparison.along, end?))
        };
        let gains = EPSILONS[1..].iter().zip(&curves[1..]).filter_map(ratio).collect();
        let spent = end.map_or(String::new(), |end| match comparison.along {
            Along::Seconds => format!("after {end:.2} CPU seconds"),
            Along::Evaluations => format!("after {end:.1e} evaluations"),
        });
        Check::of(claim, gains)
            .also(spent)
            .about(comparison.name)
            .undecided_if(!settled(start, curves), TOO_SHORT)
    };
    comparisons(&curves[0], Some(textbook)).into_iter().map(held).collect()
}

/// Whether exact chains have burned in at the end: before that nothing can be said about what is left after many samples.
fn settled(start: Start, curves: &Curves) -> bool {
    let burning = |point: &Point| point.risk.bias_squared > point.risk.variance;
    start == Start::Stationary || !curves[0].iter().all(burning)
}

/// Shares of bias² at the end.
fn shares(claim: &Claim, curves: &[Vec<Point>], epsilons: &[f64]) -> Check {
    let share = |(&epsilon, curve): (&f64, &Vec<Point>)| {
        let risk = curve.last()?.risk;
        Some(Estimate::new(label(epsilon), risk.bias_share(), (risk.share_error, risk.freedom())))
    };
    Check::of(claim, epsilons.iter().zip(curves).filter_map(share).collect())
}

fn overtakes(curves: &Curves, textbook: Textbook) -> Vec<Check> {
    let held = |comparison: Comparison| {
        let tests = || EPSILONS.iter().zip(curves).filter(|(epsilon, _)| **epsilon >= 0.05);
        let ends = tests().map(|(_, curve)| &curve[..]).chain([&comparison.exact[..]]);
        let end = reached(ends, comparison.along);
        let ratio = |(&epsilon, curve): (&f64, &Vec<Point>)| {
            risk_ratio(&label(epsilon), (curve, &comparison.exact), (comparison.along, end?))
        };
        Check::of(&OVERTAKES, tests().filter_map(ratio).collect()).about(comparison.name)
    };
    comparisons(&curves[0], Some(textbook)).into_iter().map(held).collect()
}

fn bias_wins(curves: &Curves) -> Check {
    shares(&BIAS, &curves[3..], &EPSILONS[3..])
}

/// Samples in the same time.
pub(super) fn speed(cold: &Family, measured: &[Measured], textbook: Textbook) -> Vec<Check> {
    // Where exact chains have made the paper's number of steps, or at the end.
    let steps = |rule: usize, at: usize| -> Vec<f64> {
        cold[rule].iter().map(|chain| chain.checkpoints[at].steps as f64).collect()
    };
    let count = cold.iter().flatten().map(|chain| chain.checkpoints.len()).min().unwrap_or(0);
    let Some(last) = count.checked_sub(1) else { return vec![Check::of(&SAMPLES, Vec::new())] };
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let at = (0..=last).find(|&at| mean(&steps(0, at)) >= PAPER_STEPS[0]).unwrap_or(last);
    let ratio = |slower: f64| {
        let (exact, test) = (Estimate::mean("", &steps(0, at)), Estimate::mean("", &steps(1, at)));
        let relative = (exact.error / exact.value).hypot(test.error / test.value);
        // Times of the grid are met between steps: a per cent is lost there.
        Estimate::ratio("", slower * test.value / exact.value, (relative.hypot(0.01), exact.freedom))
    };
    let words = format!("{:.0} steps against {:.0}", mean(&steps(1, at)), mean(&steps(0, at)));
    let posterior = measured[1].speed / measured[0].speed;
    vec![
        Check::of(&SAMPLES, vec![ratio(1.0)])
            .about("against our exact rule")
            .also(format!("{words}; {posterior:.2} times as many in the posterior"))
            .remark(format!(
                "A decision at ε = 0.01 in the posterior rests on {:.0} % of the rows and evaluates two states on each; our exact one reads all \
                 rows, with a second dot product for each after an acceptance.",
                100.0 * measured[1].share
            )),
        Check::of(&SAMPLES, vec![ratio(textbook.slower)])
            .about("against the textbook's loop")
            .also(format!(
                "its steps take {:.2} times as long as ours; {:.2} times as many in the posterior",
                textbook.slower,
                posterior * textbook.slower
            )),
    ]
}

/// Predicted against measured.
pub(super) fn theory(measured: &[Measured], plan: &Plan) -> Vec<Check> {
    let freedom = f64::from(plan.chains) - 1.0;
    let tests = &measured[1..];
    let each = |of: &dyn Fn(&Measured) -> Estimate| tests.iter().map(of).collect::<Vec<_>>();
    let inflation = |m: &Measured| {
        let error = m.inflation_error / m.inflation;
        Estimate::ratio(label(m.epsilon), m.inflation / m.predicted.inflation, (error, freedom))
    };
    let share =
        |m: &Measured| Estimate::new(label(m.epsilon), m.share - m.predicted.share, (m.share_error, freedom));
    let acceptance = |m: &Measured| {
        Estimate::new(label(m.epsilon), m.acceptance - m.predicted.acceptance, (m.acceptance_error, freedom))
    };
    let pairs = |of: &dyn Fn(&Measured) -> (f64, f64)| {
        let words = tests.iter().map(|m| format!("{:.3} / {:.3} at {}", of(m).0, of(m).1, m.epsilon));
        format!("predicted / measured: {}", words.collect::<Vec<_>>().join(", "))
    };
    let least = measured.iter().find(|m| m.epsilon == EPSILONS[1]);
    let noticed = least.map(|m| Estimate::new("", m.inflation, (m.inflation_error, freedom)));
    vec![
        Check::of(&INFLATION, each(&inflation)).also(pairs(&|m| (m.predicted.inflation, m.inflation))),
        Check::of(&NOTICEABLE, noticed.into_iter().collect()),
        Check::of(&SHARE, each(&share)).also(pairs(&|m| (m.predicted.share, m.share))),
        Check::of(&ACCEPTANCE, each(&acceptance)).also(pairs(&|m| (m.predicted.acceptance, m.acceptance))),
    ]
}

/// V over σ²τ/T of each rule: its mean over the coefficients and the values themselves.
pub(super) fn variance(ratios: &[(f64, Vec<f64>)]) -> Check {
    let one = |(epsilon, values): &(f64, Vec<f64>)| Estimate::mean(label(*epsilon), values);
    Check::of(&VARIANCE, ratios.iter().map(one).collect())
}

/// Pseudo-marginal chains against the acceptance of exact ones.
pub(super) fn stuck(found: &[Found], exact: f64) -> Vec<Check> {
    let whole = found.iter().map(|one| one.rows).fold(0.0, f64::max);
    let plain = || found.iter().filter(|one| !one.name.contains("surrogate") && one.rows < whole);
    let freed = found.iter().filter(|one| one.name.contains("surrogate"));
    let over = |one: &Found| {
        let rate = stuck::acceptance(one);
        Estimate { value: rate.value / exact, error: rate.error.max(1e-4) / exact, ..rate }
    };
    vec![
        Check::of(&STUCK, plain().map(over).collect()),
        Check::of(&LONGEST, plain().map(stuck::longest).collect()),
        Check::of(&UNSTUCK, freed.map(over).collect()),
    ]
}
