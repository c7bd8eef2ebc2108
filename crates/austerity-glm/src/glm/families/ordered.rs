//! Ordered responses: cumulative logit and probit. P(y ≤ k) = F(c_k − η) with cut points c_1 < c_2 < … and F the logistic or the normal distribution function.
//!
//! The linear predictor has an intercept, so that the first cut point is 0 (Albert & Chib 1993, §3.3); those of a model without an intercept are c_k less the
//! intercept. Cut points from the second on are positive extra parameters that rise. A row of level k depends on two of them at most,
//!
//! ```text
//! log(F(u) − F(l)),   u = c_k − η, l = c_{k−1} − η
//! logit:   −log(1 + e^{−u}) − log(1 + e^l) + log(1 − e^{−(u − l)})
//! probit:  log Φ(u) + log(1 − e^{−D}),   D = log Φ(u) − log Φ(l), in the tail where both are small
//! ```
//!
//! so that tensors of third order are sparse in them. Levels are numbered from 0 in their order; up to [`MOST_LEVELS`]. A state whose cut points do not rise has a prior of 0.
//!
//! No kernel: rows are computed in f64, some 0.2 µs a difference. Decisions by limits read none. Not for levels without an order, and not where effects differ
//! from one cut point to the next.

use crate::glm::derived::Derived;
use crate::glm::family::{MOST_EXTRA, MOST_USED, Uses};
use crate::glm::number::Number;
use crate::glm::number::special::LnComplement;
use crate::glm::{Extra, Family, Setting};
use crate::{Prior, ResponseKind};
use austerity::error::{Result, setting};

/// Most levels of a response.
pub const MOST_LEVELS: usize = MOST_EXTRA + 2;
/// Levels of generated data.
const USUAL_LEVELS: usize = 5;

/// A cut point after the first, which is 0.
const fn cut(name: &'static str, about: &'static str, typical: f64) -> Extra {
    Extra { name, about, typical, prior: Some(Prior::HalfNormal { scale: 10.0 }) }
}

/// Those of every number of levels.
static CUTS: [Extra; MOST_EXTRA] = [
    cut("cut2", "second cut point", 1.0),
    cut("cut3", "third cut point", 2.0),
    cut("cut4", "fourth cut point", 3.0),
    cut("cut5", "fifth cut point", 4.0),
    cut("cut6", "sixth cut point", 5.0),
    cut("cut7", "seventh cut point", 6.0),
    cut("cut8", "eighth cut point", 7.0),
    cut("cut9", "ninth cut point", 8.0),
    cut("cut10", "tenth cut point", 9.0),
    cut("cut11", "eleventh cut point", 10.0),
];

/// A distribution function, in logarithms.
trait Link {
    /// log F(x).
    fn ln_cdf<T: Number>(x: T) -> T;
    /// log(F(u) − F(l)), given log(u − l), too.
    fn ln_between<T: Number>(l: T, u: T, ln_gap: T) -> T;
}

#[derive(Clone, Copy, Debug)]
struct Logit;
#[derive(Clone, Copy, Debug)]
struct Probit;

impl Link for Logit {
    #[inline(always)]
    fn ln_cdf<T: Number>(x: T) -> T {
        -(-x).softplus()
    }

    #[inline(always)]
    fn ln_between<T: Number>(l: T, u: T, ln_gap: T) -> T {
        ln_gap.apply(&LnComplement) - (-u).softplus() - l.softplus()
    }
}

impl Link for Probit {
    #[inline(always)]
    fn ln_cdf<T: Number>(x: T) -> T {
        x.ln_normal_cdf()
    }

    #[inline(always)]
    fn ln_between<T: Number>(l: T, u: T, _ln_gap: T) -> T {
        // Both in the lower tail, where the logarithm keeps its digits.
        let (l, u) = if l.value() + u.value() > 0.0 { (-u, -l) } else { (l, u) };
        let upper = u.ln_normal_cdf();
        let apart = upper - l.ln_normal_cdf();
        if apart.value() <= 0.0 {
            return T::constant(f64::NEG_INFINITY);
        }
        upper + apart.ln().apply(&LnComplement)
    }
}

/// Places of the cut points below and above a level.
#[inline(always)]
fn uses(levels: u8, response: f64) -> Uses {
    let (level, last) = (response as usize, usize::from(levels.max(2)) - 1);
    let mut places = [usize::MAX; MOST_USED];
    if level >= 2 {
        places[0] = level - 2;
    }
    if (1..last).contains(&level) {
        places[1] = level - 1;
    }
    Uses { places, count: 2 }
}

/// The log chance of a level, given the logarithms of the cut points below and above.
#[inline(always)]
fn ln_chance<L: Link, T: Number>(levels: u8, eta: T, extra: &[T], response: f64) -> T {
    let (level, last) = (response as usize, usize::from(levels.max(2)) - 1);
    if level == 0 {
        return L::ln_cdf(-eta);
    }
    let below = if level == 1 { T::constant(0.0) } else { extra[0].exp() };
    if level >= last {
        return L::ln_cdf(eta - below);
    }
    let above = extra[1].exp();
    let gap = above - below;
    if gap.value() <= 0.0 {
        return T::constant(f64::NEG_INFINITY);
    }
    let ln_gap = if level == 1 { extra[1] } else { gap.ln() };
    L::ln_between(below - eta, above - eta, ln_gap)
}

/// F at every cut point less η: the chances of no more than each level but the last.
fn up_to<L: Link>(eta: f64, extra: &[f64]) -> impl Iterator<Item = f64> {
    std::iter::once(0.0).chain(extra.iter().map(|s| s.exp())).map(move |cut| L::ln_cdf(cut - eta).exp())
}

/// What the two families share.
macro_rules! ordered {
    ($family:ident, $link:ident, $name:literal, $words:literal, $effect:literal, $about:literal) => {
        impl $family {
            /// For so many levels.
            pub fn of(levels: usize) -> Result<Self> {
                if !(2..=MOST_LEVELS).contains(&levels) {
                    let allowed = format!("2 to {MOST_LEVELS}");
                    return Err(setting("levels of an ordered response", levels, &allowed));
                }
                Ok(Self { levels: levels as u8 })
            }

            /// The same, for as long as the program runs.
            pub(in crate::glm) fn kept(self) -> &'static Self {
                static ALL: [$family; MOST_LEVELS + 1] = {
                    let mut all = [$family { levels: 0 }; MOST_LEVELS + 1];
                    let mut levels = 0;
                    while levels <= MOST_LEVELS {
                        all[levels].levels = levels as u8;
                        levels += 1;
                    }
                    all
                };
                &ALL[usize::from(self.levels).min(MOST_LEVELS)]
            }
        }

        impl Family for $family {
            const USUAL: Self = Self { levels: USUAL_LEVELS as u8 };
            const NAME: &'static str = $name;
            const WORDS: &'static str = $words;
            const EFFECT: &'static str = $effect;
            const ABOUT: &'static str = $about;
            const KIND: ResponseKind = ResponseKind::Ordered;
            const EXTRA: &'static [Extra] = CUTS.split_at(USUAL_LEVELS - 2).0;
            const USED: usize = 2;
            const RISING: bool = true;
            const SETTING: Option<Setting> = Some(Setting { about: "number of levels", symbol: "LEVELS" });
            const MEAN_BY_EXTRA: bool = true;
            type Kernel = Derived;

            fn extra(&self) -> &'static [Extra] {
                &CUTS[..usize::from(self.levels).clamp(2, MOST_LEVELS) - 2]
            }

            fn uses(&self, response: f64) -> Uses {
                uses(self.levels, response)
            }

            fn words(&self) -> String {
                format!("{}, {} levels", $words, self.levels)
            }

            fn setting(&self) -> Option<f64> {
                Some(f64::from(self.levels))
            }

            fn with_setting(self, number: f64) -> Self {
                let whole = (0.0..=255.0).contains(&number) && number.fract() == 0.0;
                Self { levels: if whole { number as u8 } else { 0 } }
            }

            fn check(&self) -> Result<()> {
                Self::of(self.levels.into()).map(drop)
            }

            fn log_density<T: Number>(&self, eta: T, extra: &[T], response: f64, _trials: f64) -> T {
                ln_chance::<$link, T>(self.levels, eta, extra, response)
            }

            /// The mean of the levels' numbers, from 0: the sum of the chances of more than each.
            fn mean(&self, eta: f64, extra: &[f64], _trials: f64) -> f64 {
                up_to::<$link>(eta, extra).map(|chance| 1.0 - chance).sum()
            }

            fn constant(&self, _response: f64, _trials: f64) -> f64 {
                0.0
            }

            fn quantile(&self, (level, _): (f64, f64), eta: f64, extra: &[f64], _trials: f64) -> f64 {
                up_to::<$link>(eta, extra).filter(|&chance| chance < level).count() as f64
            }

            fn finite_within(&self, extra: &[f64]) -> f32 {
                let rise = extra.is_sorted_by(|a, b| a < b) && extra.iter().all(|s| s.abs() < 20.0);
                if rise { super::logistic::ETA } else { -1.0 }
            }
        }
    };
}

/// Cumulative logit: proportional odds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderedLogit {
    levels: u8,
}

/// Cumulative probit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderedProbit {
    levels: u8,
}

ordered!(
    OrderedLogit,
    Logit,
    "ordered-logit",
    "ordered regression, logit link",
    "Change of the log odds of a higher level",
    "ordered levels, cumulative logit"
);
ordered!(
    OrderedProbit,
    Probit,
    "ordered-probit",
    "ordered regression, probit link",
    "Change of the latent response",
    "ordered levels, cumulative probit"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_of_all_levels_sum_to_one() {
        for levels in [2usize, 3, 5, MOST_LEVELS] {
            let extra: Vec<f64> = (1..levels - 1).map(|k| (0.7 * k as f64).ln()).collect();
            for eta in [-6.0, -0.3, 0.8, 3.0, 9.0] {
                let (logit, probit) = (OrderedLogit::of(levels).unwrap(), OrderedProbit::of(levels).unwrap());
                let direct = [logit.mean(eta, &extra, 1.0), probit.mean(eta, &extra, 1.0)];
                let chances: [&dyn Fn(f64) -> f64; 2] =
                    [&|y| logit.log_likelihood(&extra, eta, y, 1.0).exp(), &|y| {
                        probit.log_likelihood(&extra, eta, y, 1.0).exp()
                    }];
                for (chance, direct) in chances.into_iter().zip(direct) {
                    let sum: f64 = (0..levels).map(|level| chance(level as f64)).sum();
                    let mean: f64 = (0..levels).map(|level| level as f64 * chance(level as f64)).sum();
                    assert!((sum - 1.0).abs() < 1e-12, "{levels} {eta} {sum}");
                    assert!((mean - direct).abs() < 1e-10, "{levels} {eta} {mean} {direct}");
                }
            }
        }
    }

    #[test]
    fn cut_points_that_meet_leave_no_chance() {
        let extra = [0.3, 0.3, 0.1];
        for y in [2.0, 3.0] {
            assert_eq!(OrderedLogit::USUAL.log_likelihood(&extra, 0.4, y, 1.0), f64::NEG_INFINITY);
            assert_eq!(OrderedProbit::USUAL.log_likelihood(&extra, 0.4, y, 1.0), f64::NEG_INFINITY);
        }
        assert!(OrderedLogit::of(1).is_err() && OrderedProbit::of(MOST_LEVELS + 1).is_err());
    }
}
