//! The paper's claims about Gibbs sampling, and those of the theory, against what was measured.
//!
//! "In the beginning" is the time, or the number of pairs, in which exact Gibbs makes 100 sweeps: a window in sweeps, so that it means the same
//! in a short run and in a long one.

use austerity::rule::Law;
use austerity::theory::kappa;

use super::conditionals::{Measured, table};
use super::plan::Plan;
use super::race::Races;
use super::{Found, Kind};
use crate::claim::{Band, Claim, Estimate, Over, Source};
use crate::curves::{Along, Point, point_at, reached, risk_ratio};
use crate::error::Result;
use crate::outcome::Check;

/// Largest |Δ| and mean share of the pairs that the theory gives for the paper's field: ε, |Δ|, share.
const REFERENCE: [(f64, f64, f64); 4] =
    [(0.01, 0.0058, 0.76), (0.05, 0.0322, 0.575), (0.1, 0.0671, 0.44), (0.25, 0.1639, 0.216)];
/// The reference was computed for the paper's field; other fields have other numbers.
const REFERENCE_VARIABLES: usize = 100;
/// Sweeps of exact Gibbs that are "the beginning".
const BEGINNING: f64 = 100.0;

const DIRECTION: Claim = Claim {
    name: "direction of the error",
    source: Source::Paper,
    place: "supplement F, figure 14",
    quote: "It tends to underestimate large probabilities and overestimate on the other end",
    says: "",
    quantity: "mean error of conditional probabilities towards ½, at each ε",
    band: Band::Above(0.0),
    over: Over::Every,
    partner: "planted errors away from ½",
};
const WITHIN: Claim = Claim {
    name: "largest error at ε = 0.01",
    source: Source::Paper,
    place: "supplement F",
    quote: "When ε=0.01, the observed maximum error is within 0.01",
    says: "",
    quantity: "errors of all conditional probabilities at ε = 0.01",
    band: Band::Within(-0.01, 0.01),
    over: Over::Every,
    partner: "planted errors of 0.05",
};
const PREDICTED: Claim = Claim {
    name: "predicted conditional probabilities",
    source: Source::Derived,
    place: "section 5.1; supplement A, Proposition 1",
    quote: "",
    says: "The error of a test follows from the mean and spread of the pairs alone.",
    quantity: "measured less predicted error of each conditional probability, all ε",
    band: Band::Within(-0.02, 0.02),
    over: Over::Every,
    partner: "predictions of no error",
};
const LARGEST: Claim = Claim {
    name: "largest |Δ| by recursion",
    source: Source::Own,
    place: "a reference of this project",
    quote: "",
    says: "The recursion gives for the paper's field what a separate program gave.",
    quantity: "largest |Δ| over the reference, at four ε",
    band: Band::Within(0.98, 1.02),
    over: Over::Every,
    partner: "the field with 0.02 read as a variance",
};
const SHARES: Claim = Claim {
    name: "share of the pairs",
    source: Source::Derived,
    place: "section 5.1",
    quote: "",
    says: "The share of the data a decision needs follows from the spread of the pairs.",
    quantity: "share read along the chains less what theory gives for the paper's field, at four ε",
    band: Band::Within(-0.06, 0.06),
    over: Over::Every,
    partner: "planted chains that read everything",
};
const STANDARD_DEVIATION: Claim = Claim {
    name: "N(0, 0.02) is a standard deviation",
    source: Source::Derived,
    place: "supplement F",
    quote: "log ψ_{i,j,k}(X_i,X_j,X_k) ~ N(0, 0.02) … When ε=0.01, the observed maximum error is within 0.01",
    says: "Only the reading as a standard deviation is compatible with the error that is printed.",
    quantity: "largest |Δ| at ε = 0.01 over 0.01 with 0.02 as a standard deviation, and 0.01 over it with 0.02 as a variance",
    band: Band::Below(1.0),
    over: Over::Every,
    partner: "the two exchanged",
};
const MORE: Claim = Claim {
    name: "more samples in the same time",
    source: Source::Paper,
    place: "supplement F",
    quote: "For small ε, we use fewer mini-batches per iteration and thus generate more samples in the same amount of time than the exact Gibbs \
            sampler",
    says: "\"Small\" must be read as \"large\"; taken of every ε of the figure.",
    quantity: "sweeps over those of exact Gibbs, at each ε",
    band: Band::Above(1.0),
    over: Over::Every,
    partner: "planted chains of half the speed",
};
const BEGINS: Claim = Claim {
    name: "faster in the beginning",
    source: Source::Paper,
    place: "supplement F, figure 15",
    quote: "So the error decays faster in the beginning",
    says: "Of some ε, when exact Gibbs has made 100 sweeps.",
    quantity: "L1 error of exact Gibbs over that at ε",
    band: Band::Above(1.0),
    over: Over::Some,
    partner: "planted chains of twice the error",
};
const OVERTAKES: Claim = Claim {
    name: "exact overtakes in the end",
    source: Source::Paper,
    place: "supplement F, figure 15",
    quote: "the exact Gibbs sampler out-performs all the approximate methods at around 1000 seconds",
    says: "At the end of this run; seconds of the paper's machine are not ours.",
    quantity: "L1 error at ε over that of exact Gibbs",
    band: Band::Above(1.0),
    over: Over::Every,
    partner: "planted chains of half the error",
};
const FLOOR: Claim = Claim {
    name: "the tests reach their bias floor",
    source: Source::Paper,
    place: "supplement F, figure 15",
    quote: "We see that these plots converge towards their bias floor",
    says: "Of the largest ε.",
    quantity: "share of bias² in the risk of the cells' probabilities at the end",
    band: Band::Above(0.5),
    over: Over::Every,
    partner: "planted chains without bias",
};
const CLOSED: Claim = Claim {
    name: "a test against the best exact sampler",
    source: Source::Own,
    place: "after section 4",
    quote: "",
    says: "Whether Gibbs sampling is sped up against exact Gibbs in closed form, when the loop over the pairs has made 100 sweeps and at the end.",
    quantity: "L1 error of exact Gibbs in closed form over that at ε",
    band: Band::Above(1.0),
    over: Over::Some,
    partner: "planted chains in closed form of ten times the error",
};
const PAIRS: Claim = Claim {
    name: "pairs of potentials a second",
    source: Source::Own,
    place: "a baseline of this project",
    quote: "",
    says: "The exact loop is a fast one.",
    quantity: "nanoseconds per pair of an exact conditional, all included",
    band: Band::Below(10.0),
    over: Over::Every,
    partner: "planted chains a hundred times as slow",
};
const RACE: Claim = Claim {
    name: "the race is right",
    source: Source::Paper,
    place: "supplement F",
    quote: "the extension to multi-valued variables is also possible",
    says: "With the exact rule each value wins with its probability.",
    quantity: "Pearson's χ² per degree of freedom of the races won, exact rule",
    band: Band::Below(3.0),
    over: Over::Every,
    partner: "the races at ε = 0.25",
};
const RACE_TEST: Claim = Claim {
    name: "the race under a test",
    source: Source::Derived,
    place: "supplement F",
    quote: "",
    says: "The test trades accuracy for data with four values as it does with two.",
    quantity: "total variation distance of races at ε = 0.25 less that at 0.05, and share of the factors at 0.05 less that at 0.25, by conditional",
    band: Band::Above(0.0),
    over: Over::Every,
    partner: "the two ε exchanged",
};
pub(super) const THEOREM: Claim = Claim {
    name: "the Gibbs theorem, with D",
    source: Source::Derived,
    place: "supplement F, Theorem 2",
    quote: "the distance between the stationary distribution and that of the approximate Gibbs sampler S_ε is upper bounded by",
    says: "D·Δ_max/(1−η) with η of a whole sweep, whose one-step errors add up. Both sides are computed on a field of few variables.",
    quantity: "d_v(S_0, S_ε) over the bound, at each ε",
    band: Band::Below(1.0),
    over: Over::Every,
    partner: "the bound of a contraction a hundred times as fast",
};
pub(super) const SINGLE: Claim = Claim {
    name: "a single site does not contract",
    source: Source::Own,
    place: "supplement F, Theorem 2",
    quote: "",
    says: "The proof contracts with the kernel of one variable, which cannot: its Dobrushin coefficient is 1, and the bound as printed has nothing to \
           say.",
    quantity: "Dobrushin coefficient of the update of one variable",
    band: Band::Within(0.999_999, 1.000_001),
    over: Over::Every,
    partner: "the coefficient of a whole sweep",
};

pub(crate) const CLAIMS: &[Claim] = &[
    DIRECTION,
    WITHIN,
    PREDICTED,
    LARGEST,
    SHARES,
    STANDARD_DEVIATION,
    MORE,
    BEGINS,
    OVERTAKES,
    FLOOR,
    CLOSED,
    PAIRS,
    RACE,
    RACE_TEST,
    THEOREM,
    SINGLE,
];

const OTHER_FIELD: &str = "The numbers are for the paper's field.";

fn label(epsilon: f64) -> String {
    format!("ε = {epsilon}")
}

/// Errors of single conditionals: their direction, the largest, and against the theory.
pub(super) fn errors(conditionals: &[Measured], epsilons: &[f64]) -> Vec<Check> {
    let at = |epsilon: f64| conditionals.iter().filter(move |one| one.epsilon == epsilon);
    let normal = |error: f64| (error, f64::INFINITY);
    let towards = |&epsilon: &f64| {
        let count = at(epsilon).count() as f64;
        let sum: f64 = at(epsilon).map(|one| one.delta * (0.5 - one.exact).signum()).sum();
        let square: f64 = at(epsilon).map(|one| one.standard_error.powi(2)).sum();
        Estimate::new(label(epsilon), sum / count, normal(square.sqrt() / count))
    };
    let place = |one: &Measured| format!("p = {:.2}", one.exact);
    let smallest = epsilons.first().copied().unwrap_or(0.01);
    let within = at(smallest).map(|one| Estimate::new(place(one), one.delta, normal(one.standard_error)));
    let off = conditionals.iter().map(|one| {
        let label = format!("{}, {}", label(one.epsilon), place(one));
        Estimate::new(label, one.delta - one.predicted, normal(one.standard_error))
    });
    let off: Vec<Estimate> = off.collect();
    let worst = off.iter().map(|one| one.value.abs()).fold(0.0, f64::max);
    let mut predicted = Check::of(&PREDICTED, off);
    predicted.measured = format!("largest difference {worst:.4} of {}", predicted.estimates.len());
    vec![
        Check::of(&DIRECTION, epsilons.iter().map(towards).collect()),
        Check::of(&WITHIN, within.collect()),
        predicted.remark("The prediction takes the mean of 500 pairs as normal and their spread as known."),
    ]
}

pub(super) fn conditionals(found: &Found) -> Result<Vec<Check>> {
    let plan = &found.plan;
    let mut checks = errors(&found.conditionals, &plan.epsilons);
    let spread =
        found.conditionals.iter().map(|one| one.kappa).sum::<f64>() / found.conditionals.len() as f64;
    let shares = found
        .tests()
        .map(|(epsilon, kind)| (epsilon, kind.each_share.as_slice(), kind.share))
        .collect::<Vec<_>>();
    let (as_sd, as_variance) = (largest(plan, plan.sd, 0.01)?, largest(plan, plan.sd.sqrt(), 0.01)?);
    let references =
        REFERENCE.iter().map(|&(epsilon, delta, _)| Ok((epsilon, largest(plan, plan.sd, epsilon)? / delta)));
    let other = plan.variables != REFERENCE_VARIABLES || plan.sd != 0.02;
    let against = against_reference(&references.collect::<Result<Vec<_>>>()?, &shares, (as_sd, as_variance));
    checks.extend(against.into_iter().map(|check| check.undecided_if(other, OTHER_FIELD)));
    if let Some(last) = checks.last_mut() {
        *last = last
            .clone()
            .remark(format!("The spread κ of the conditionals measured is {spread:.3} on average."));
    }
    Ok(checks)
}

/// Largest |Δ| over the reference at each ε; shares of the chains; the largest |Δ| with .02 read in two ways.
pub(super) fn against_reference(
    largest: &[(f64, f64)],
    shares: &[(f64, &[f64], f64)],
    (as_sd, as_variance): (f64, f64),
) -> Vec<Check> {
    let ratios = largest.iter().map(|&(epsilon, ratio)| Estimate::exact(label(epsilon), ratio));
    let share = |&(epsilon, _, reference): &(f64, f64, f64)| {
        let (_, chains, all) = shares.iter().find(|one| one.0 == epsilon)?;
        let one = Estimate::mean(label(epsilon), chains);
        Some(Estimate { value: all - reference, ..one })
    };
    vec![
        Check::of(&LARGEST, ratios.collect()),
        Check::of(&SHARES, REFERENCE.iter().filter_map(share).collect()),
        Check::of(
            &STANDARD_DEVIATION,
            vec![
                Estimate::exact("standard deviation", as_sd / 0.01),
                Estimate::exact("variance", 0.01 / as_variance),
            ],
        ),
    ]
}

fn largest(plan: &Plan, sd: f64, epsilon: f64) -> Result<f64> {
    let (_, step) = table(plan, epsilon)?.largest_delta(Law::Logistic, kappa_of(sd, plan.factors())?)?;
    Ok(step.delta.abs())
}

/// κ of differences of two independent potentials.
pub(super) fn kappa_of(sd: f64, factors: usize) -> Result<f64> {
    Ok(kappa(sd * 2f64.sqrt(), factors)?)
}

/// Beside the errors over time: the exact loop, and the tests with their ε.
pub(super) fn chains(exact: &Kind, tests: &[(f64, &Kind)]) -> Vec<Check> {
    let sweeps = |kind: &Kind| {
        kind.points
            .last()
            .map_or((f64::NAN, f64::NAN), |point| (point.sweeps, point.sweeps_error / point.sweeps))
    };
    let (exact_sweeps, exact_error) = sweeps(exact);
    let freedom = exact.points.last().map_or(f64::NAN, |point| point.risk.freedom());
    let ratio = |&(epsilon, kind): &(f64, &Kind)| {
        let (sweeps, error) = sweeps(kind);
        Estimate::ratio(label(epsilon), sweeps / exact_sweeps, (error.hypot(exact_error), freedom))
    };
    let mut checks = vec![Check::of(&MORE, tests.iter().map(ratio).collect()).about("CPU time")];
    for along in [Along::Seconds, Along::Evaluations] {
        let words = if along == Along::Seconds { "CPU time" } else { "pairs read" };
        let reference = exact.curve();
        let compare = |value: Option<f64>, swapped: bool| -> Vec<Estimate> {
            let one = |(epsilon, kind): &(f64, &Kind)| {
                let curve = kind.curve();
                let pair = if swapped { (&curve, &reference) } else { (&reference, &curve) };
                risk_ratio(&label(*epsilon), (pair.0, pair.1), (along, value?))
            };
            tests.iter().filter_map(one).collect()
        };
        let early = beginning(&reference).map(|point| along.of(&point));
        checks.push(Check::of(&BEGINS, compare(early, false)).about(words));
        let curves: Vec<Vec<Point>> = tests.iter().map(|(_, kind)| kind.curve()).collect();
        let end = reached(curves.iter().map(Vec::as_slice).chain([&reference[..]]), along);
        checks.push(Check::of(&OVERTAKES, compare(end, true)).about(words));
    }
    checks
}

/// Where exact Gibbs has made the first sweeps.
fn beginning(exact: &[Point]) -> Option<Point> {
    let after = exact.iter().find(|point| point.steps >= BEGINNING)?;
    let rate = after.seconds / after.steps;
    point_at(exact, Along::Seconds, rate * BEGINNING).or(Some(*after))
}

/// Beside bias and variance.
pub(super) fn risks(exact: &Kind, tests: &[(f64, &Kind)]) -> Vec<Check> {
    let share = |kind: &Kind| kind.points.last().map(|point| point.risk);
    let last = tests.last().and_then(|(epsilon, kind)| Some((epsilon, share(kind)?)));
    let estimate = last.map(|(epsilon, risk)| {
        Estimate::new(label(*epsilon), risk.bias_share(), (risk.share_error, risk.freedom()))
    });
    let words = tests
        .iter()
        .filter_map(|(epsilon, kind)| Some(format!("{:.2} at {epsilon}", share(kind)?.bias_share())));
    let own = share(exact).map_or(f64::NAN, |risk| risk.bias_share());
    vec![
        Check::of(&FLOOR, estimate.into_iter().collect())
            .also(format!("all: {}; {own:.2} for exact Gibbs", words.collect::<Vec<_>>().join(", ")))
            .remark("Burn-in from a random start and the error of the truth count as bias too."),
    ]
}

/// Beside the closed form.
pub(super) fn closed((exact, closed): (&Kind, &Kind), tests: &[(f64, &Kind)], factors: usize) -> Vec<Check> {
    let (slow, best) = (exact.curve(), closed.curve());
    let curves: Vec<Vec<Point>> = tests.iter().map(|(_, kind)| kind.curve()).collect();
    let end = reached(curves.iter().map(Vec::as_slice).chain([&best[..]]), Along::Seconds);
    let times = [("early", beginning(&slow).map(|point| point.seconds)), ("at the end", end)];
    let gains = times.iter().flat_map(|(word, time)| {
        let best = &best;
        tests.iter().zip(&curves).filter_map(move |((epsilon, _), curve)| {
            risk_ratio(&format!("ε = {epsilon} {word}"), (best, curve), (Along::Seconds, (*time)?))
        })
    });
    let speeds = tests.iter().map(|(epsilon, kind)| format!("{:.0} ns at {epsilon}", kind.nanoseconds));
    let pairs = Estimate::ratio("", exact.nanoseconds / factors as f64, (exact.speed_error, exact.freedom()));
    vec![
        Check::of(&CLOSED, gains.collect())
            .also(format!(
                "a conditional takes {:.0} ns in closed form, {:.0} ns pair by pair, {}",
                closed.nanoseconds,
                exact.nanoseconds,
                speeds.collect::<Vec<_>>().join(", ")
            ))
            .remark(
                "Potentials of three binary variables are polynomials of the bits, so 4,851 pairs collapse to their coefficients. A test pays \
                 where terms cannot be merged: likelihoods of data, potentials computed on the fly, many values.",
            ),
        Check::of(&PAIRS, vec![pairs]),
    ]
}

/// Beside the races: the exact rule first, then two tests.
pub(super) fn races(races: &[Races]) -> Vec<Check> {
    let [exact, small, large] = races else { return Vec::new() };
    let per_degree = exact.statistic / exact.freedom;
    let less = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x - y).collect::<Vec<f64>>();
    vec![
        Check::of(&RACE, vec![Estimate::new("", per_degree, ((2.0 / exact.freedom).sqrt(), f64::INFINITY))])
            .also(format!("p = {:.3}, mean total variation distance {:.4}", exact.p_value, exact.distance)),
        Check::of(
            &RACE_TEST,
            vec![
                Estimate::mean("distance", &less(&large.distances, &small.distances)),
                Estimate::mean("share", &less(&small.shares, &large.shares)),
            ],
        ),
    ]
}
