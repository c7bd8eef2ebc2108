//! Functions that survival, gamma and beta regression need, each without loss of digits.
//!
//! | function | value | derivatives |
//! |---|---|---|
//! | [`LnComplement`] | log(1 − e^{−u}), u = e^x: the log chance of a success with the complementary log-log link | b = u/(e^u − 1), then b' = bc, c' = −u − bc with c = 1 − u − b; for small u the series of b in Bernoulli numbers |
//! | [`Stirling`] | log Γ(v) − (v − ½)·log v + v − ½·log 2π, v = e^x: what Stirling's formula leaves | for large v its asymptotic series, otherwise jets of the definition |
//! | [`Lag`] | x − (e^x − 1), which is −x²/2 for small x | −(e^x − 1), then −e^x |

use super::{Function, Interval, Jet, Number, ORDERS};

/// log(1 − e^{−e^x}).
#[derive(Clone, Copy, Debug)]
pub struct LnComplement;

/// b = u/(e^u − 1) = 1 + Σ b_n uⁿ: exponents and coefficients, those of b_n u^n being B_n/n!.
const BERNOULLI: [(f64, f64); 7] = [
    (1.0, -0.5),
    (2.0, 1.0 / 12.0),
    (4.0, -1.0 / 720.0),
    (6.0, 1.0 / 30_240.0),
    (8.0, -1.0 / 1_209_600.0),
    (10.0, 1.0 / 47_900_160.0),
    (12.0, -691.0 / 1_307_674_368_000.0),
];
/// The series is exact to rounding below this u: its next term is 2·(u/2π)¹⁴.
const SMALL: f64 = 0.3;
/// e^{−u} is 0 beyond.
const LARGE: f64 = 700.0;

impl Function for LnComplement {
    fn value(&self, x: f64) -> f64 {
        let u = x.exp();
        if u < 1e-8 {
            x - 0.5 * u
        } else if u < std::f64::consts::LN_2 {
            (-(-u).exp_m1()).ln()
        } else {
            (-(-u).exp()).ln_1p()
        }
    }

    fn derivatives(&self, x: f64, _order: usize) -> [f64; ORDERS] {
        let (value, u) = (self.value(x), x.exp());
        if u < SMALL {
            let mut all = [value, 1.0, 0.0, 0.0, 0.0];
            for (n, coefficient) in BERNOULLI.into_iter().rev() {
                let mut term = coefficient * u.powi(n as i32);
                for sum in &mut all[1..] {
                    *sum += term;
                    term *= n;
                }
            }
            return all;
        }
        if u > LARGE {
            return [value, 0.0, 0.0, 0.0, 0.0];
        }
        let b = u / u.exp_m1();
        let c = 1.0 - u - b;
        let second = b * c;
        let bent = c * c - u - second;
        let slope = -2.0 * c * u - u - 3.0 * second * c + b * u + b * second;
        [value, b, second, b * bent, second * bent + b * slope]
    }

    /// At most 2.376, .593·u, and for u ≥ 7 3.2·u⁵e^{−u}, which falls.
    fn largest_fifth(&self, x: Interval) -> f64 {
        let (low, high) = (x.low.exp(), x.high.exp());
        let far = if low > 7.0 { 3.2 * low.powi(5) * (-low).exp() } else { f64::INFINITY };
        2.38f64.min(0.6 * high).min(if far.is_nan() { 0.0 } else { far })
    }
}

/// log Γ(v) − (v − ½)·log v + v − ½·log 2π at v = e^x.
#[derive(Clone, Copy, Debug)]
pub struct Stirling;

/// ½ log 2π.
pub(in crate::glm) const HALF_LOG_TWO_PI: f64 = 0.918_938_533_204_672_8;
/// From this v on the asymptotic series is exact to rounding: its next term is 1/(1188·v⁹).
const ASYMPTOTIC: f64 = 30.0;

fn remainder<T: Number>(x: T) -> T {
    let v = x.exp();
    if v.value() >= ASYMPTOTIC {
        let inverse = (-x).exp();
        let square = inverse * inverse;
        let rest = square * (square * (1.0 / 1260.0) - square * square * (1.0 / 1680.0) - 1.0 / 360.0);
        return inverse * (rest + 1.0 / 12.0);
    }
    v.ln_gamma() - (v - 0.5) * x + v - HALF_LOG_TWO_PI
}

impl Function for Stirling {
    fn value(&self, x: f64) -> f64 {
        remainder(x)
    }

    fn derivatives(&self, x: f64, order: usize) -> [f64; ORDERS] {
        if order == 0 {
            return [remainder(x), 0.0, 0.0, 0.0, 0.0];
        }
        let mut all = remainder(Jet::<f64, 1, ORDERS>::variable(x, 0, 1.0)).coefficients;
        all.iter_mut().zip([1.0, 1.0, 2.0, 6.0, 24.0]).for_each(|(value, factorial)| *value *= factorial);
        all
    }

    /// At most .0608 and 1/(12v); for v < 1 at most .652·v(1 − log v), which grows with v.
    fn largest_fifth(&self, x: Interval) -> f64 {
        let most = 0.061f64.min(0.0834 * (-x.low).exp());
        if x.high < 0.0 { most.min(0.66 * x.high.exp() * (1.0 - x.high)) } else { most }
    }
}

/// x − (e^x − 1).
#[derive(Clone, Copy, Debug)]
pub struct Lag;

impl Function for Lag {
    fn value(&self, x: f64) -> f64 {
        x - x.exp_m1()
    }

    fn derivatives(&self, x: f64, _order: usize) -> [f64; ORDERS] {
        let growth = x.exp();
        [x - x.exp_m1(), -x.exp_m1(), -growth, -growth, -growth]
    }

    fn largest_fifth(&self, x: Interval) -> f64 {
        x.high.exp() * (1.0 + 1e-12)
    }
}
