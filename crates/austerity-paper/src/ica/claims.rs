//! The claims of section 6.2 and what became of them.
//!
//! The exact rule computes the difference of both states sample by sample, as a textbook's loop does: there is no cache to speak of, so
//! one baseline serves for both.

use austerity::model::Model as _;

use super::stationary::RIDGE;
use super::{Arm, BATCH, Findings};
use crate::claim::{Band, Claim, Estimate, Over, Source};
use crate::curves::{Along, Comparison, Point, comparisons, point_at, reached, risk_ratio};
use crate::outcome::Check;

const WHOLE: &str = "even after 6400 secs the variance dominates the bias, as evidenced by the still decreasing risk, except for the most biased \
                     algorithm with ε = 0.2";

const LOWEST: Claim = Claim {
    name: "lowest risk at the end",
    source: Source::Paper,
    place: "section 6.2",
    quote: "the lowest risk at 6400 secs is obtained with ε = 0.1 and not the exact MH algorithm (ε = 0)",
    says: "",
    quantity: "risk of exact decisions and of every other ε over that at ε = 0.1",
    band: Band::Above(1.0),
    over: Over::Every,
    partner: "planted curves in which exact decisions have a tenth of the risk",
};
const SOME: Claim = Claim {
    name: "some ε > 0 beats exact decisions",
    source: Source::Derived,
    place: "section 6.2",
    quote: "",
    says: "The weaker half of the claim: not the exact algorithm, whichever ε it is.",
    quantity: "risk of exact decisions over that at ε",
    over: Over::Some,
    ..LOWEST
};
const FALLING: Claim = Claim {
    name: "risk still falling",
    source: Source::Paper,
    place: "section 6.2",
    quote: WHOLE,
    says: "Where variance rules the risk falls to a quarter in four times the time; \"still decreasing\" is read as to three quarters at most.",
    quantity: "risk at the end over that at a quarter of the time, for ε < 0.2",
    band: Band::Below(0.75),
    over: Over::Every,
    partner: "planted curves that are level",
};
const LEVEL: Claim = Claim {
    name: "risk at ε = 0.2 no longer falls",
    says: "The exception, read as above three quarters.",
    quantity: "risk at the end over that at a quarter of the time, for ε = 0.2",
    band: Band::Above(0.75),
    partner: "planted curves that fall",
    ..FALLING
};
const VARIANCE: Claim = Claim {
    name: "variance dominates",
    says: "",
    quantity: "share of bias² in the risk at the end, for ε = 0.01, 0.05 and 0.1",
    band: Band::Below(0.5),
    partner: "planted curves of which nine tenths are bias²",
    ..FALLING
};
const BIAS: Claim = Claim {
    name: "bias dominates at ε = 0.2",
    says: "The exception.",
    quantity: "share of bias² in the risk at the end, for ε = 0.2",
    band: Band::Above(0.5),
    partner: "planted curves without bias",
    ..FALLING
};
const FASTER: Claim = Claim {
    name: "faster at little bias",
    source: Source::Own,
    place: "after section 5.2",
    quote: "",
    says: "Fewer data per decision are a gain only as far as decisions stay the same: only ε with a mean |Δ| of at most 0.01 count.",
    quantity: "steps per second over exact ones, at each ε with a mean |Δ| of at most 0.01",
    band: Band::Above(1.0),
    over: Over::Some,
    partner: "planted speeds below that of exact decisions",
};
const EXACT_STEP: Claim = Claim {
    name: "exact step",
    source: Source::Own,
    place: "a baseline of this project",
    quote: "",
    says: "The exact step is a fast one, so that ratios are not flattered by a slow baseline.",
    quantity: "nanoseconds per sample and core of an exact step",
    band: Band::Below(4.0),
    over: Over::Every,
    partner: "planted chains a hundred times as slow",
};
const A_RIDGE: Claim = Claim {
    name: "a ridge, by design",
    source: Source::Own,
    place: "the paper's data of section 6.2",
    quote: "",
    says: "Two Gaussian sources leave a rotation that the data do not determine. The ratio grows like N^¼; 10 is for the paper's N.",
    quantity: "width of the posterior in the plane of the two Gaussian sources over that in any other",
    band: Band::Above(10.0),
    over: Over::Every,
    partner: "planted widths that are all alike",
};

pub(crate) const CLAIMS: &[Claim] =
    &[LOWEST, SOME, FALLING, LEVEL, VARIANCE, BIAS, FASTER, EXACT_STEP, A_RIDGE];

const OTHER_DATA: &str = "The paper's data are missing.";

fn label(arm: &Arm) -> String {
    if arm.epsilon == 0.0 { "exact".into() } else { format!("ε = {}", arm.epsilon) }
}

/// Beside the risk curves.
pub(super) fn risk(arms: &[Arm], paper_data: bool) -> Vec<Check> {
    let mut checks = Vec::new();
    for Comparison { name, along, exact } in comparisons(&arms[0].curve, None) {
        let end = reached(arms.iter().map(|arm| &arm.curve[..]).chain([&exact[..]]), along);
        let over = |arm: &Arm, below: &Arm| {
            let above: &[Point] = if arm.epsilon == 0.0 { &exact } else { &arm.curve };
            risk_ratio(&label(arm), (above, &below.curve), (along, end?))
        };
        if let Some(winner) = arms.iter().find(|arm| arm.epsilon == 0.1) {
            let others = arms.iter().filter(|arm| arm.epsilon != 0.1);
            checks
                .push(Check::of(&LOWEST, others.filter_map(|arm| over(arm, winner)).collect()).about(&name));
        }
        let against = |arm: &Arm| Some(Estimate { label: label(arm), ..over(&arms[0], arm)? });
        checks.push(Check::of(&SOME, arms[1..].iter().filter_map(against).collect()).about(&name));
    }
    let fall = |arm: &Arm| {
        let end = arm.curve.last()?;
        let middle = point_at(&arm.curve, Along::Seconds, 0.25 * end.seconds)?;
        // The end's mean contains the quarter's, so the errors are not independent; they are treated as if they were.
        let relative = |point: &Point| point.risk.standard_error / point.risk.total;
        let error = relative(end).hypot(relative(&middle));
        Some(Estimate::ratio(label(arm), end.risk.total / middle.risk.total, (error, end.risk.freedom())))
    };
    let (most, few): (Vec<&Arm>, Vec<&Arm>) = arms.iter().partition(|arm| arm.epsilon == 0.2);
    checks.push(Check::of(&FALLING, few.into_iter().filter_map(fall).collect()));
    checks.push(Check::of(&LEVEL, most.into_iter().filter_map(fall).collect()));
    judged(checks, paper_data)
}

/// Beside the two parts of the risk.
pub(super) fn parts(found: &Findings) -> Vec<Check> {
    let words = found.arms[1..].iter().map(|arm| {
        let bias = (arm.mean - found.truth.mean) / found.truth.sd;
        format!(
            "{}: mean off by {bias:.2} posterior sds, sd {:.2} times the posterior's",
            label(arm),
            arm.sd / found.truth.sd
        )
    });
    let words = words.collect::<Vec<_>>().join("; ");
    let looks = found.problem.model.len().div_ceil(BATCH);
    let [variance, bias] = shares(&found.arms);
    judged(
        vec![
            variance
                .also(words)
                .remark(format!("A decision has up to {looks} looks of {BATCH}, each of which may err.")),
            bias,
        ],
        found.problem.is_the_papers(),
    )
}

pub(super) fn shares(arms: &[Arm]) -> [Check; 2] {
    let share = |arm: &Arm| {
        let risk = arm.curve.last()?.risk;
        Some(Estimate::new(label(arm), risk.bias_share(), (risk.share_error, risk.freedom())))
    };
    let (most, few): (Vec<&Arm>, Vec<&Arm>) = arms[1..].iter().partition(|arm| arm.epsilon == 0.2);
    [
        Check::of(&VARIANCE, few.into_iter().filter_map(share).collect()),
        Check::of(&BIAS, most.into_iter().filter_map(share).collect()),
    ]
}

/// Beside the speeds.
pub(super) fn speed(arms: &[Arm], rows: usize, paper_data: bool) -> Vec<Check> {
    let exact = &arms[0];
    let ratio = |arm: &Arm| {
        let error =
            (arm.speed_error / arm.steps_per_second).hypot(exact.speed_error / exact.steps_per_second);
        Estimate::ratio(label(arm), arm.steps_per_second / exact.steps_per_second, (error, arm.chains - 1.0))
    };
    let fair = arms[1..].iter().filter(|arm| arm.delta <= 0.01).map(ratio).collect::<Vec<_>>();
    let words = arms[1..].iter().map(|arm| {
        format!(
            "{}: {:.1} times, mean |Δ| {:.3}",
            label(arm),
            arm.steps_per_second / exact.steps_per_second,
            arm.delta
        )
    });
    let nanoseconds = 1e9 / exact.steps_per_second / rows as f64;
    let error = exact.speed_error / exact.steps_per_second;
    // An ε that is not within the tolerance is no gain, however fast: where there is none within it, the best gain is that of exact decisions.
    let fair =
        if fair.is_empty() { vec![Estimate::exact("no ε is within the tolerance", 0.0)] } else { fair };
    vec![
        Check::of(&FASTER, fair)
            .also(words.collect::<Vec<_>>().join("; "))
            .undecided_if(!paper_data, OTHER_DATA),
        Check::of(&EXACT_STEP, vec![Estimate::ratio("", nanoseconds, (error, exact.chains - 1.0))])
            .also(format!("{:.1} steps per second", exact.steps_per_second))
            .remark("CPU time; other work on the machine shares its memory and raises it."),
    ]
}

/// Beside the ridge.
pub(super) fn ridge(widths: &[f64], paper_data: bool) -> Vec<Check> {
    let others = widths[..RIDGE].iter().copied().fold(0.0, f64::max);
    let check = Check::of(&A_RIDGE, vec![Estimate::exact("", widths[RIDGE] / others)])
        .also(format!("{:.2e} rad against {others:.2e} rad", widths[RIDGE]));
    judged(vec![check], paper_data)
}

fn judged(checks: Vec<Check>, paper_data: bool) -> Vec<Check> {
    checks.into_iter().map(|check| check.undecided_if(!paper_data, OTHER_DATA)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claim::tests::both_ways;
    use crate::curves::tests::planted;
    use crate::ica::EPSILONS;

    /// Arms whose variance falls as `variance` says of an ε and whose bias² is `bias`; tests are `speed` times as fast as exact decisions.
    fn arms(variance: impl Fn(f64) -> f64, bias: impl Fn(f64) -> f64, speed: f64) -> Vec<Arm> {
        let arm = |epsilon: f64| {
            let point = |i: i32| planted(2f64.powi(i), variance(epsilon) / 2f64.powi(i), bias(epsilon));
            let steps_per_second = if epsilon == 0.0 { 100.0 / speed } else { 100.0 };
            Arm {
                epsilon,
                curve: (0..8).map(point).collect(),
                steps_per_second,
                speed_error: 0.01 * steps_per_second,
                chains: 10.0,
                delta: 0.1 * epsilon,
                data_share: 0.5,
                acceptance: 0.5,
                predicted_share: 0.5,
                mean: 0.1,
                sd: 0.1,
            }
        };
        EPSILONS.map(arm).into()
    }

    #[test]
    fn planted_data_make_every_claim_come_out_both_ways() {
        let good = arms(|e| if e == 0.1 { 0.1 } else { 1.0 }, |e| if e == 0.2 { 1.0 } else { 0.0 }, 3.0);
        let bad = arms(
            |e| if e == 0.0 { 0.1 } else { 1.0 },
            |e| if e == 0.0 || e == 0.2 { 0.0 } else { 9.0 },
            0.01,
        );
        let mut checks = Vec::new();
        for (arms, rows) in [(&good, 19_500_000), (&bad, 1_000)] {
            checks.extend(risk(arms, true));
            checks.extend(shares(arms));
            checks.extend(speed(arms, rows, true));
        }
        checks.extend(ridge(&[1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 5e-2], true));
        checks.extend(ridge(&[1e-3; 6], true));
        both_ways(CLAIMS, &checks);
        assert!(risk(&good, false).iter().all(|check| check.verdict == crate::Verdict::Undecided));
    }
}
