//! What the paper says of the test's theory, with thresholds.

use crate::claim::{Band, Claim, Over, Source};

/// "Well fitted": a difference of distribution functions that no eye sees in a histogram.
pub(super) const FIT_NORMAL: Claim = Claim {
    name: "t against the normal",
    source: Source::Paper,
    place: "supplement A, figure 7",
    quote: "when μ=μ_0 the empirical marginal distribution of t_j (or z_j) is well fitted by both a standard student-t and a standard \
            normal distribution",
    says: "",
    quantity: "largest difference of the distribution functions of t and N(0, 1), the worst of all moves and sizes",
    band: Band::Below(0.02),
    over: Over::Every,
    partner: "planted statistics shifted by 0.1 standard deviations",
};
pub(super) const FIT_STUDENT: Claim = Claim {
    name: "t against Student's law",
    quantity: "largest difference of the distribution functions of t and Student's law, the worst of all moves and sizes",
    ..FIT_NORMAL
};
pub(super) const LEVELS: Claim = Claim {
    name: "level of a single look",
    source: Source::Derived,
    place: "section 5.1",
    quote: "n is large enough that the t statistics can be approximated with z statistics",
    says: "then ε bounds the error of a single look.",
    quantity: "share of the statistics beyond ±Φ⁻¹(1−ε), over 2ε, at each n, all moves together",
    band: Band::Within(0.9, 1.1),
    over: Over::Every,
    partner: "planted statistics with standard deviation 1.2",
};
pub(super) const WALK_MEAN: Claim = Claim {
    name: "mean of z",
    source: Source::Paper,
    place: "supplement A",
    quote: "as the proportion of observed data π_j approaches 1, the mean of z_j approaches infinity with a constant variance of 1",
    says: "The mean is μ_std√(π/(1−π)).",
    quantity: "mean of z less μ_std√(π/(1−π)), at ten shares from 2 % to 98 %",
    band: Band::Within(-0.1, 0.1),
    over: Over::Every,
    partner: "planted walks of which half have no drift",
};
pub(super) const WALK_VARIANCE: Claim = Claim {
    name: "variance of z",
    says: "",
    quantity: "variance of z at ten shares",
    band: Band::Within(0.9, 1.1),
    partner: "planted walks of rows drawn with replacement, whose noise does not vanish",
    ..WALK_MEAN
};
pub(super) const WALK_CORRELATION: Claim = Claim {
    name: "correlation of z",
    source: Source::Derived,
    place: "supplement A, Proposition 1",
    quote: "follows a Gaussian random walk process",
    says: "so corr(z_i, z_j) = √(t_i/t_j) with t = π/(1−π).",
    quantity: "correlation of z at two looks less √(t_i/t_j), over pairs of looks",
    band: Band::Within(-0.1, 0.1),
    over: Over::Every,
    partner: "planted walks of independent looks",
};
pub(super) const WALK_BAND: Claim = Claim {
    name: "the 95 % band",
    source: Source::Paper,
    place: "supplement A, figure 8",
    quote: "shows the mean and 95% confidence interval of the random walk as a function of π",
    says: "",
    quantity: "share of walks inside the band at ten shares of the data",
    band: Band::Within(0.93, 0.97),
    over: Over::Every,
    partner: "planted walks with standard deviation 1.3",
};
pub(super) const THREE_RECURSION: Claim = Claim {
    name: "three looks by recursion",
    source: Source::Paper,
    place: "supplement A, equations 16 and 17",
    quote: "can be efficiently approximated together using a dynamic programming algorithm by discretizing the value of z_j between [-G,G]",
    says: "",
    quantity: "largest difference of E and π̄ between the recursion and a double integral",
    band: Band::Below(1e-8),
    over: Over::Every,
    partner: "the printed bound G = Φ(1−ε)",
};
pub(super) const THREE_SIMULATION: Claim = Claim {
    name: "three looks by simulation",
    source: Source::Paper,
    place: "section 5.1",
    quote: "the test statistic at different stages of the sequential test follows a Gaussian Random Walk process. This allows us to compute \
            the error of the sequential test",
    says: "",
    quantity: "simulated less computed E and π̄ at four distances",
    band: Band::Within(-0.005, 0.005),
    over: Over::Every,
    partner: "the printed bound G = Φ(1−ε)",
};
pub(super) const THREE_WORST: Claim = Claim {
    name: "worst case of three looks",
    source: Source::Paper,
    place: "supplement A, equation 18",
    quote: "The error and data usage as functions of μ_std are maximum in the worst case scenario",
    says: "E(0) = (1 − P(the last look decides))/2.",
    quantity: "|E(0) − (1 − P(the last look decides))/2|",
    band: Band::Below(1e-8),
    over: Over::Every,
    partner: "E at μ_std = 0.5 in the place of E(0)",
};
pub(super) const ERROR: Claim = Claim {
    name: "error of whole tests",
    source: Source::Paper,
    place: "section 5.1, figure 1; supplement A",
    quote: "the theoretical value of the error (E) and the average data usage (π̄) estimated using our dynamic programming algorithm match \
            the simulated values",
    says: "",
    quantity: "simulated less computed E at 15 distances",
    band: Band::Within(-0.04, 0.04),
    over: Over::Every,
    partner: "simulations held against the recursion of another ε",
};
pub(super) const USAGE: Claim = Claim {
    name: "data use of whole tests",
    place: "supplement A, figure 10",
    quantity: "simulated less computed π̄ at 15 distances",
    ..ERROR
};
pub(super) const DROP: Claim = Claim {
    name: "drop away from the threshold",
    source: Source::Paper,
    place: "supplement A",
    quote: "both error and data usage drop off very fast as μ moves away from μ_0",
    says: "\"Very fast\" is read as halved at μ_std = 1, for both; the factor is ours.",
    quantity: "E(1)/E(0) and π̄(1)/π̄(0)",
    band: Band::Below(0.5),
    over: Over::Every,
    partner: "a test with two looks only at half of the data, and a drop read at μ_std = 4",
};
pub(super) const BOUND: Claim = Claim {
    name: "|Δ| is bounded",
    source: Source::Paper,
    place: "section 5.1",
    quote: "| Δ(θ,θ') | is upper-bounded by the worst-case error E(0,m,ε) of the sequential test",
    says: "",
    quantity: "largest |Δ| over E(0) among all moves",
    band: Band::Below(1.000_001),
    over: Over::Every,
    partner: "planted moves whose |Δ| is twice E(0)",
};
pub(super) const SMALLER: Claim = Claim {
    name: "usually much smaller",
    source: Source::Paper,
    place: "section 5.1",
    quote: "the actual error is usually much smaller",
    says: "\"Usually much smaller\" is read as below a quarter of the bound for most moves; the quarter is ours.",
    quantity: "share of the moves with |Δ| below E(0)/4",
    band: Band::Above(0.5),
    over: Over::Every,
    partner: "planted moves whose |Δ| is twice E(0)",
};
pub(super) const CANCELLATION: Claim = Claim {
    name: "errors cancel",
    source: Source::Paper,
    place: "supplement B",
    quote: "when P_a≈ 0.5, a typical value of μ_std(u) is close to 0, and the average value of the absolute error |E| can be large. But due \
            to the cancellation of errors, the actual acceptance probability P_{a,ε} can approximate P_a very well",
    says: "",
    quantity: "mean |Δ| over mean E_u[E] of the moves with P_a from 0.4 to 0.6",
    band: Band::Below(0.333),
    over: Over::Every,
    partner: "planted moves whose |Δ| equals E_u[E]",
};
pub(super) const CLOSE: Claim = Claim {
    name: "close at P_a ≈ 0.5",
    says: "The condition is part of the claim; \"very well\" is read as within 0.05, for moves with P_a from 0.4 to 0.6.",
    quantity: "largest |P_{a,ε} − P_a| of these moves",
    band: Band::Below(0.05),
    partner: "planted moves whose |Δ| is twice E(0)",
    ..CANCELLATION
};
pub(super) const CLOSE_EVERYWHERE: Claim = Claim {
    name: "close at every P_a",
    source: Source::Own,
    place: "supplement B, figure 12",
    quote: "",
    says: "The same for every move. Near P_a = 1 every error is a rejection and nothing cancels, so the paper's claim cannot be widened to all \
           moves where this differs.",
    quantity: "largest |P_{a,ε} − P_a| of all moves",
    ..CLOSE
};
pub(super) const SIMULATED: Claim = Claim {
    name: "Δ by simulation",
    source: Source::Paper,
    place: "section 5.1",
    quote: "For any given (θ,θ'), Δ can be computed easily using 1-dimensional quadrature",
    says: "",
    quantity: "share accepted by the library's test less P_a + Δ, for single moves",
    band: Band::Within(-0.05, 0.05),
    over: Over::Every,
    partner: "the exact acceptance probability in the place of P_a + Δ at a large ε",
};
pub(super) const BLOCKS: Claim = Claim {
    name: "blocks of rows instead of single ones",
    source: Source::Own,
    place: "after section 5.1",
    quote: "",
    says: "Chains of the experiments draw 32 rows together where the paper draws single ones. From rows in random order that changes no decision's law.",
    quantity: "share accepted with blocks of 32 rows less that with single rows, mean over the simulated moves, and the same towards P = 1/2",
    band: Band::Within(-0.03, 0.03),
    over: Over::Every,
    partner: "planted blocks whose test errs by three times as much",
};
pub(super) const THEOREM: Claim = Claim {
    name: "Theorem 1",
    source: Source::Paper,
    place: "section 5.1, Theorem 1; supplement C",
    quote: "The distance between the posterior distribution S_0 and the stationary distribution of our approximate Markov chain S_ε is upper \
            bounded",
    says: "d_v(S_0, S_ε) ≤ Δ_max/(1−η). Both sides are computed on a chain with a finite number of states.",
    quantity: "d_v(S_0, S_ε) over the bound, at each ε",
    band: Band::Below(1.0),
    over: Over::Every,
    partner: "the bound of a contraction twice as fast",
};
pub(super) const THEOREM_RUN: Claim = Claim {
    name: "Theorem 1 on a run",
    source: Source::Own,
    place: "supplement C",
    quote: "",
    says: "The library's chain on these states has the stationary distribution that the theory computes.",
    quantity: "variance of long runs of the library's test over that of S_ε, at each ε",
    band: Band::Within(0.85, 1.15),
    over: Over::Every,
    partner: "the runs held against the variance of S_0 in the place of S_ε's",
};
pub(super) const TIGHT: Claim = Claim {
    name: "linear in Δ_max",
    source: Source::Paper,
    place: "section 5.1",
    quote: "the error in the stationary distribution is bounded linearly by Δ_max",
    says: "A bound is of use where it is not far off; within a factor of 100 is our reading.",
    quantity: "the bound over d_v(S_0, S_ε), at each ε",
    band: Band::Below(100.0),
    over: Over::Every,
    partner: "the bound of a chain that contracts a thousand times as slowly",
};

pub(crate) const CLAIMS: &[Claim] = &[
    FIT_NORMAL,
    FIT_STUDENT,
    LEVELS,
    WALK_MEAN,
    WALK_VARIANCE,
    WALK_CORRELATION,
    WALK_BAND,
    THREE_RECURSION,
    THREE_SIMULATION,
    THREE_WORST,
    ERROR,
    USAGE,
    DROP,
    BOUND,
    SMALLER,
    CANCELLATION,
    CLOSE,
    CLOSE_EVERYWHERE,
    SIMULATED,
    BLOCKS,
    THEOREM,
    THEOREM_RUN,
    TIGHT,
];
