//! The claims of section 6.4 (and of sections 1 and 3, which it bears out), with thresholds.
//!
//! A histogram's total variation distance is too large by what the noise of its bars adds; that is taken off in quadrature before a verdict.

use super::Found;
use super::chains::Record;
use crate::claim::{Band, Claim, Estimate, Over, Source};

const THROWN: &str = "the Langevin noise occasionally throws it into the valley to the left, where the gradient is very high. This propels the \
                      sampler far off to the right, after which it takes a long time to find its way back to the mode";
pub(super) const VALLEY: Claim = Claim {
    name: "the valley",
    source: Source::Paper,
    place: "section 6.4",
    quote: THROWN,
    says: "",
    quantity: "drift of one step in the valley, in posterior sds",
    band: Band::Above(1.0),
    over: Over::Every,
    partner: "a planted gradient of a tenth",
};
pub(super) const FAR: Claim = Claim {
    name: "thrown far off",
    quantity: "mean way to the right of a step that begins in the valley, in posterior sds",
    partner: "planted chains that stay where they are",
    ..VALLEY
};
pub(super) const BACK: Claim = Claim {
    name: "a long way back",
    says: "\"A long time\" is read as more than 10 steps.",
    quantity: "mean steps from beyond mode + sd back to the mode",
    band: Band::Above(10.0),
    partner: "planted chains that are back after 2 steps",
    ..VALLEY
};
pub(super) const SEVERE: Claim = Claim {
    name: "omitting the test is severe",
    quote: "The effect of omitting the MH test is quite severe here",
    says: "\"Severe\" is read as a fifth of the mass in the wrong place.",
    quantity: "total variation distance of untested chains from the posterior",
    band: Band::Above(0.2),
    partner: "planted chains that sample the posterior",
    ..VALLEY
};
pub(super) const REJECTED: Claim = Claim {
    name: "jumps into the valley are rejected",
    quote: "the MH test rejects most troublesome jumps into the valley because the density in the valley is much lower than that at the mode",
    says: "",
    quantity: "share rejected of the candidates left of the kink, from states right of it, at ε = 0.5",
    band: Band::Above(0.5),
    partner: "planted chains that take nine of ten",
    ..VALLEY
};
pub(super) const CLOSE: Claim = Claim {
    name: "close at ε = 0.5",
    quote: "corrected using our approximate MH test, with ε = 0.5 … The stationary distribution is almost indistinguishable from the true posterior",
    says: "Read as less than a twentieth of the mass in the wrong place.",
    quantity: "total variation distance of tested chains from the posterior",
    band: Band::Below(0.05),
    partner: "planted untested chains",
    ..VALLEY
};
pub(super) const CLOSE_TENTH: Claim = Claim {
    name: "close at ε = 0.1",
    source: Source::Own,
    place: "after section 6.4",
    quote: "",
    says: "The same at ε = 0.1, whose picture the paper's source keeps commented out.",
    ..CLOSE
};
pub(super) const ONE_LOOK: Claim = Claim {
    name: "one look",
    quote: "when ε = 0.5, a decision is always made in the first step (using just m = 500 datapoints) without querying additional data sequentially",
    says: "",
    quantity: "largest number of looks of a test at ε = 0.5",
    band: Band::Within(1.0, 1.0),
    partner: "planted chains with a test of two looks",
    ..VALLEY
};
pub(super) const BALANCE: Claim = Claim {
    name: "ε = 0 is exact",
    quote: "The mixture kernel will satisfy detailed balance with respect to the posterior distribution if the MH test enforces detailed balance \
            between the posterior and each of the component kernels",
    says: "",
    quantity: "Kolmogorov distance of chains at ε = 0 from the posterior",
    band: Band::Below(0.06),
    partner: "planted untested chains",
    ..VALLEY
};
pub(super) const SCORING: Claim = Claim {
    name: "Fisher scoring alone is thrown off too",
    place: "section 1",
    quote: "These algorithms do not have an MH step which resulted in occasional samples with extremely low probability",
    says: "Of stochastic gradient Fisher scoring, on this toy; a fifth of the mass is our reading.",
    quantity: "total variation distance of untested chains from the posterior",
    band: Band::Above(0.2),
    partner: "planted chains that sample the posterior",
    ..VALLEY
};
pub(super) const RESOLVED: Claim = Claim {
    name: "Fisher scoring, tested",
    place: "section 1",
    quote: "We show that our approximate MH step largely resolves this, still avoiding O(N) computations per iteration",
    says: "\"Largely\" is read as to a quarter.",
    quantity: "total variation distance at ε = 0.5 over that of untested chains",
    band: Band::Below(0.25),
    partner: "planted chains on which the test has no effect",
    ..VALLEY
};
pub(super) const ROWS: Claim = Claim {
    name: "rows per step",
    says: "At ε = 0.5; half of the rows is our reading.",
    quantity: "rows per step over N, gradients included, SGLD and Fisher scoring",
    band: Band::Below(0.5),
    partner: "the same chains at ε = 0",
    ..RESOLVED
};
pub(super) const FRESH: Claim = Claim {
    name: "a fresh mini-batch for the reverse",
    source: Source::Own,
    place: "after section 6.4",
    quote: "",
    says: "A second, independent mini-batch in the reverse density keeps detailed balance too and halves the variance of the log ratio.",
    quantity: "acceptance with a fresh mini-batch less that with the same one, at ε = 0.5",
    band: Band::Above(0.0),
    over: Over::Every,
    partner: "the two exchanged",
};
pub(super) const FRESH_CLOSE: Claim = Claim {
    name: "a fresh mini-batch is no farther off",
    quantity: "total variation distance with a fresh mini-batch less that with the same one, at ε = 0.5",
    band: Band::Below(0.03),
    partner: "planted untested chains in its place",
    ..FRESH
};
pub(super) const LOGISTIC: Claim = Claim {
    name: "another model, tested",
    place: "section 3",
    quote: "Or, we can even combine our method with SGLD/SGFS, to obtain the best of both worlds",
    says: "On a logistic regression.",
    quantity: "total variation distance at ε = 0.5 over that of untested chains",
    band: Band::Below(0.25),
    partner: "planted chains on which the test has no effect",
    ..VALLEY
};
pub(super) const LOGISTIC_BALANCE: Claim =
    Claim { name: "another model, ε = 0 is exact", says: "On a logistic regression.", ..BALANCE };
pub(super) const OTHER: Claim = Claim {
    name: "other data sets, untested",
    source: Source::Own,
    place: "after section 6.4",
    quote: "",
    says: "Whether \"severe\" hangs on the data set: the farther the mode is from the kink, the less often a chain is thrown over it.",
    quantity: "total variation distance of untested chains, on each data set",
    ..SEVERE
};
pub(super) const OTHER_CLOSE: Claim = Claim {
    name: "other data sets, ε = 0.5",
    source: Source::Own,
    place: "after section 6.4",
    quote: "",
    says: "Whether \"almost indistinguishable\" hangs on the data set.",
    quantity: "total variation distance of tested chains, on each data set",
    ..CLOSE
};

pub(crate) const CLAIMS: &[Claim] = &[
    VALLEY,
    FAR,
    BACK,
    SEVERE,
    REJECTED,
    CLOSE,
    CLOSE_TENTH,
    ONE_LOOK,
    BALANCE,
    SCORING,
    RESOLVED,
    ROWS,
    FRESH,
    FRESH_CLOSE,
    LOGISTIC,
    LOGISTIC_BALANCE,
    OTHER,
    OTHER_CLOSE,
];

/// Total variation without what noise adds, and the error by leaving out one chain at a time.
pub(super) fn variation(label: &str, found: &Found) -> Estimate {
    let distance = &found.distance;
    let square = distance.total_variation.powi(2) - distance.floor.powi(2);
    let freedom = found.record.draws.len() as f64 - 1.0;
    Estimate::new(label, square.max(0.0).sqrt(), (distance.total_variation_error, freedom))
}

/// Ratio of two such distances.
pub(super) fn quotient(above: &Found, below: &Found) -> Estimate {
    let (a, b) = (variation("", above), variation("", below));
    // Where the test leaves nothing to see the ratio is at most what can be seen.
    let value = a.value.max(a.error) / b.value;
    let error = (a.error / a.value.max(a.error)).hypot(b.error / b.value);
    Estimate::ratio("", value, (error, a.freedom.min(b.freedom)))
}

/// Kolmogorov's distance; chance stays within what independent draws pass once in a thousand times.
pub(super) fn kolmogorov(found: &Found) -> Estimate {
    Estimate::new("", found.distance.kolmogorov, (found.distance.critical / 2.575_829_3, f64::INFINITY))
}

/// A ratio of two sums, chain by chain, over the chains that have at least one of the latter.
pub(super) fn rate(record: &Record, above: usize, below: usize) -> Estimate {
    let chains: Vec<f64> =
        record.each.iter().filter(|sums| sums[below] > 0.0).map(|sums| sums[above] / sums[below]).collect();
    Estimate::mean("", &chains)
}
