//! The paper's toy: one coefficient, Gaussian noise, an L1 prior, and a posterior in closed form.
//!
//! y_i ~ N(θ x_i, 1/λ), prior ∝ exp(−λ₀|θ|). With A = λΣx² and B = λΣxy the posterior is
//!
//! ```text
//! log p(θ|x, y) = −½Aθ² + Bθ − λ₀|θ| + constant          mode = sign(B)·max(|B| − λ₀, 0)/A
//! ```
//!
//! two Gaussians of variance 1/A, with means (B ∓ λ₀)/A, cut at 0 and joined. [`Lasso::posterior`] gives its
//! density, moments and quantiles, so that a chain can be held to the truth.
//!
//! Korattikara, Chen & Welling (2014), §6.4, where Langevin moves fall into the steep side of the kink:
//! [`Lasso::toy`] has N = 10,000, slope .5, x uniform on (−1, 1), noise of *variance* 1/3, λ = 3, λ₀ = 4950, mode
//! about .005 and posterior sd about .01. (The paper leaves the law of x open; only E[x²] = 1/3 gives its picture.)
//! Rows are read at every decision although sums would do: it is a toy to test rules on; for real
//! problems of this kind take [`crate::model::Linear`] with Laplace priors. Cost: two multiply-adds per row.

use std::f64::consts::{FRAC_1_SQRT_2, PI};
use std::ops::Range;

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use crate::error::{Error, Result, setting};
use crate::model::data::{check_finite, check_rows, storage_order};
use crate::model::{Access, Curvature, Gradient, Model, Parameters, Prior};
use crate::population::Population;
use crate::rng::{Role, stream};

/// Regression of y on one x without intercept, under an L1 prior. A state is `[θ]`.
#[derive(Clone, Debug)]
pub struct Lasso {
    /// (x, y) in storage order.
    rows: Vec<(f64, f64)>,
    order: Vec<u32>,
    precision: f64,
    prior: Prior,
    posterior: LassoPosterior,
}

impl Lasso {
    /// A model of `y` given `x` with noise precision λ and prior rate λ₀.
    pub fn new(x: &[f64], y: &[f64], precision: f64, rate: f64) -> Result<Self> {
        if x.len() != y.len() {
            return Err(Error::Dimension { what: "y".into(), expected: x.len(), found: y.len() });
        }
        check_rows(x.len())?;
        check_finite("x", x)?;
        check_finite("y", y)?;
        for (name, value) in [("precision", precision), ("prior rate", rate)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(setting(name, value, "a positive finite number"));
            }
        }
        let squares: f64 = x.iter().map(|x| x * x).sum();
        if squares == 0.0 {
            return Err(Error::ConstantColumn { column: "x".into(), value: 0.0 });
        }
        let products: f64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
        let order = storage_order(x.len(), Some(0));
        Ok(Self {
            rows: order.iter().map(|&i| (x[i as usize], y[i as usize])).collect(),
            order,
            precision,
            prior: Prior::Laplace { scale: 1.0 / rate },
            posterior: LassoPosterior::new(precision * squares, precision * products, rate),
        })
    }

    /// The paper's data. Two data sets in three have a positive mode; others are redrawn, always alike for a seed.
    pub fn toy(seed: u64) -> Result<Self> {
        let mut attempt = 0;
        loop {
            let mut rng = stream(seed, attempt, Role::Data);
            let (mut x, mut y) = (Vec::new(), Vec::new());
            for _ in 0..10_000 {
                let value = rng.random_range(-1.0..1.0);
                let noise: f64 = StandardNormal.sample(&mut rng);
                x.push(value);
                y.push(0.5 * value + noise * (1.0f64 / 3.0).sqrt());
            }
            let model = Self::new(&x, &y, 3.0, 4950.0)?;
            if model.posterior.mode() > 0.0 {
                return Ok(model);
            }
            attempt += 1;
        }
    }

    /// The posterior in closed form.
    #[must_use]
    pub fn posterior(&self) -> &LassoPosterior {
        &self.posterior
    }
}

/// exp(−½Aθ² + Bθ − λ₀|θ|), normalised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LassoPosterior {
    curvature: f64,
    slope: f64,
    rate: f64,
    positive: Side,
    negative: Side,
}

/// One half of the posterior, mirrored so that it lies on θ > 0: N(t·sd, sd²) cut at 0, sd = 1/√A.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Side {
    t: f64,
    /// Its share of the posterior.
    share: f64,
    /// First and second moment in units of sd and sd².
    first: f64,
    second: f64,
}

impl LassoPosterior {
    fn new(curvature: f64, slope: f64, rate: f64) -> Self {
        let root = curvature.sqrt();
        let ts = [(slope - rate) / root, (-slope - rate) / root];
        let logs = ts.map(|t| log_phi(t) + 0.5 * t * t);
        let side = |i: usize| {
            let (first, second) = cut_moments(ts[i]);
            Side { t: ts[i], share: 1.0 / (1.0 + (logs[1 - i] - logs[i]).exp()), first, second }
        };
        Self { curvature, slope, rate, positive: side(0), negative: side(1) }
    }

    /// Where the density is largest.
    #[must_use]
    pub fn mode(&self) -> f64 {
        let size = (self.slope.abs() - self.rate).max(0.0) / self.curvature;
        size.copysign(self.slope)
    }

    /// The density at `theta`.
    #[must_use]
    pub fn density(&self, theta: f64) -> f64 {
        let root = self.curvature.sqrt();
        let side = if theta >= 0.0 { self.positive } else { self.negative };
        let u = theta.abs() * root - side.t;
        side.share * root / (2.0 * PI).sqrt() * (-0.5 * u * u - log_phi(side.t)).exp()
    }

    /// P(θ ≤ `theta`).
    #[must_use]
    pub fn cumulative(&self, theta: f64) -> f64 {
        if theta >= 0.0 {
            1.0 - self.positive.beyond(theta * self.curvature.sqrt())
        } else {
            self.negative.beyond(-theta * self.curvature.sqrt())
        }
    }

    /// The value below which a share `level` of the posterior lies (by bisection).
    #[must_use]
    pub fn quantile(&self, level: f64) -> f64 {
        // Forty sds beyond either Gaussian's mean leave nothing out.
        let root = self.curvature.sqrt();
        let mut high = (self.positive.t.max(0.0) + 40.0) / root;
        let mut low = -(self.negative.t.max(0.0) + 40.0) / root;
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if self.cumulative(middle) < level {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    /// Posterior mean.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let (p, n) = (self.positive, self.negative);
        (p.share * p.first - n.share * n.first) / self.curvature.sqrt()
    }

    /// Posterior standard deviation.
    #[must_use]
    pub fn sd(&self) -> f64 {
        let (p, n) = (self.positive, self.negative);
        let mean = p.share * p.first - n.share * n.first;
        let spread = p.share * p.second + n.share * n.second - mean * mean;
        (spread.max(0.0) / self.curvature).sqrt()
    }
}

impl Side {
    /// Posterior mass of this side beyond `u` ≥ 0, in units of sd from 0.
    fn beyond(&self, u: f64) -> f64 {
        self.share * (log_phi(self.t - u) - log_phi(self.t)).exp()
    }
}

/// From here on the continued fraction takes over from erfc.
const FAR: f64 = 5.0;

/// c(a) = 1/(a + 2/(a + 3/(a + …))): Laplace's fraction for φ(a)/Φ(−a) = a + c(a), and its first denominator's
/// tail k = 2/(a + 3/(…)). Eighty terms give full precision at a ≥ [`FAR`].
fn fraction(a: f64) -> (f64, f64) {
    let mut k = 0.0;
    for term in (2..=80).rev() {
        k = f64::from(term) / (a + k);
    }
    (1.0 / (a + k), k)
}

/// log Φ(t).
fn log_phi(t: f64) -> f64 {
    if t < -FAR {
        let (c, _) = fraction(-t);
        -0.5 * t * t - 0.5 * (2.0 * PI).ln() - (-t + c).ln()
    } else if t > 0.0 {
        (-0.5 * libm::erfc(t * FRAC_1_SQRT_2)).ln_1p()
    } else {
        (0.5 * libm::erfc(-t * FRAC_1_SQRT_2)).ln()
    }
}

/// First and second moment about 0 of N(t, 1) cut to the positive half line, without cancellation.
fn cut_moments(t: f64) -> (f64, f64) {
    if t < -FAR {
        let (c, k) = fraction(-t);
        return (c, k * c);
    }
    let hazard = (-0.5 * t * t - 0.5 * (2.0 * PI).ln() - log_phi(t)).exp();
    (t + hazard, 1.0 + t * (t + hazard))
}

/// The differences λδ(r − δ/2), with r = y − θx and δ = (θ' − θ)x.
#[derive(Debug)]
pub struct LassoRatio<'a> {
    model: &'a Lasso,
    from: f64,
    step: f64,
}

impl Population for LassoRatio<'_> {
    fn len(&self) -> usize {
        self.model.rows.len()
    }

    fn reveal(&mut self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        for (out, (x, y)) in out.iter_mut().zip(&self.model.rows[rows]) {
            let change = self.step * x;
            *out = self.model.precision * change * (y - self.from * x - 0.5 * change);
        }
        Ok(())
    }
}

impl Model for Lasso {
    type State = Vec<f64>;
    type Scratch = ();
    type Ratio<'a> = LassoRatio<'a>;

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn scratch(&self, _access: Access) {}

    fn log_prior(&self, state: &Vec<f64>) -> f64 {
        self.prior.log_density(state[0])
    }

    fn compare<'a>(&'a self, from: &'a Vec<f64>, to: &'a Vec<f64>, _scratch: &'a mut ()) -> LassoRatio<'a> {
        LassoRatio { model: self, from: from[0], step: to[0] - from[0] }
    }

    fn original_row(&self, position: usize) -> usize {
        self.order[position] as usize
    }
}

impl Parameters for Lasso {
    fn names(&self) -> Vec<String> {
        vec!["slope".into()]
    }

    fn write(&self, state: &Vec<f64>, out: &mut [f64]) {
        out.copy_from_slice(state);
    }
}

impl Gradient for Lasso {
    /// At the kink θ = 0 the prior's subgradient 0 is taken.
    fn log_density_gradient(&self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<f64> {
        let (a, b) = (self.posterior.curvature, self.posterior.slope);
        let theta = state[0];
        gradient[0] = b - a * theta + self.prior.derivatives(theta).0;
        Ok(theta * (b - 0.5 * a * theta) + self.log_prior(state))
    }
}

impl Curvature for Lasso {
    fn log_density_hessian(
        &self,
        state: &Vec<f64>,
        gradient: &mut [f64],
        hessian: &mut [f64],
    ) -> Result<f64> {
        hessian[0] = -self.posterior.curvature;
        self.log_density_gradient(state, gradient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mass, mean, sd and cumulative by Simpson's rule on each side of the kink.
    fn quadrature(posterior: &LassoPosterior) -> (f64, f64, f64, f64) {
        let (low, high) = (posterior.quantile(0.0), posterior.quantile(1.0));
        let integrate = |f: &dyn Fn(f64) -> f64, a: f64, b: f64| {
            let n = 200_000;
            let h = (b - a) / f64::from(n);
            (0..=n)
                .map(|i| {
                    let weight = if i == 0 || i == n { 1.0 } else { 2.0 + 2.0 * f64::from(i % 2) };
                    weight * f(a + f64::from(i) * h)
                })
                .sum::<f64>()
                * h
                / 3.0
        };
        let both = |f: &dyn Fn(f64) -> f64| integrate(f, low, -1e-300) + integrate(f, 0.0, high);
        let mass = both(&|t| posterior.density(t));
        let mean = both(&|t| t * posterior.density(t));
        let square = both(&|t| (t - mean) * (t - mean) * posterior.density(t));
        let negative = integrate(&|t| posterior.density(t), low, -1e-300);
        (mass, mean, square.sqrt(), negative)
    }

    #[test]
    fn the_closed_form_agrees_with_quadrature() {
        let toy = *Lasso::toy(3).unwrap().posterior();
        for posterior in [
            toy,
            LassoPosterior::new(4.0, 1.0, 0.5),
            LassoPosterior::new(4.0, -1.0, 3.0),
            LassoPosterior::new(100.0, 2.0, 80.0),
            LassoPosterior::new(1.0, -7.0, 2.0),
        ] {
            let (mass, mean, sd, negative) = quadrature(&posterior);
            let size = posterior.sd();
            assert!((mass - 1.0).abs() < 1e-9, "{mass}");
            assert!((mean - posterior.mean()).abs() < 1e-9 * size);
            assert!((sd / size - 1.0).abs() < 1e-9);
            assert!((negative - posterior.cumulative(-1e-300)).abs() < 1e-9);
            assert!((posterior.cumulative(0.0) - negative).abs() < 1e-9);
            for level in [0.001, 0.025, 0.5, 0.975] {
                let q = posterior.quantile(level);
                assert!((posterior.cumulative(q) - level).abs() < 1e-12);
            }
            let mode = posterior.mode();
            let top = posterior.density(mode);
            assert!(
                top >= posterior.density(mode + 0.01 * size) && top >= posterior.density(mode - 0.01 * size)
            );
        }
    }

    #[test]
    fn tails_of_the_normal_are_smooth_where_the_methods_meet() {
        for t in [-FAR - 1e-9, -FAR + 1e-9] {
            // log Φ(−5) and the moments of N(−5, 1) beyond 0, from 40-digit arithmetic.
            assert!((log_phi(t) + 15.064_998_393_988_727).abs() < 2e-8);
            let (first, second) = cut_moments(t);
            assert!((first - 0.186_503_967_125_842_1).abs() < 1e-9, "{first}");
            assert!((second - (1.0 - 5.0 * first)).abs() < 1e-8);
        }
    }

    /// THEORY 4.8: mode .005 (sd between data sets .011), posterior sd .01, left gradient 9950.
    #[test]
    fn the_toy_is_the_papers_picture() {
        for seed in 0..5 {
            let toy = Lasso::toy(seed).unwrap();
            let posterior = toy.posterior();
            assert_eq!(toy.len(), 10_000);
            assert!(posterior.mode() > 0.0 && posterior.mode() < 0.06);
            assert!(posterior.sd() > 0.004 && posterior.sd() < 0.012);
            assert!((posterior.curvature / 1e4 - 1.0).abs() < 0.05);
            let mut gradient = [0.0];
            toy.log_density_gradient(&vec![-1e-9], &mut gradient).unwrap();
            assert!((gradient[0] - 9950.0).abs() < 600.0);
            assert_eq!(toy.rows, Lasso::toy(seed).unwrap().rows);
        }
    }

    #[test]
    fn differences_and_derivatives_are_those_of_the_density() {
        let toy = Lasso::toy(1).unwrap();
        let (from, to) = (vec![-0.004], vec![0.013]);
        let sum = toy.compare(&from, &to, &mut ()).total().unwrap().sum();
        let log = |t: &Vec<f64>| toy.posterior().density(t[0]).ln();
        let ratio = sum + toy.log_prior(&to) - toy.log_prior(&from);
        assert!((ratio - (log(&to) - log(&from))).abs() < 1e-9);
        let mut gradient = [0.0];
        for theta in [-0.01, 0.02] {
            let at = |t: f64| toy.log_density_gradient(&vec![t], &mut [0.0]).unwrap();
            toy.log_density_gradient(&vec![theta], &mut gradient).unwrap();
            let slope = (at(theta + 1e-6) - at(theta - 1e-6)) / 2e-6;
            assert!((slope - gradient[0]).abs() < 1e-3);
        }
    }

    #[test]
    fn bad_input_is_named() {
        let message = |x: &[f64], y: &[f64], precision, rate| {
            Lasso::new(x, y, precision, rate).unwrap_err().to_string()
        };
        assert!(message(&[], &[], 1.0, 1.0).contains("empty"));
        assert!(message(&[1.0], &[], 1.0, 1.0).contains("y: expected 1"));
        assert!(message(&[1.0, f64::NAN], &[1.0, 2.0], 1.0, 1.0).contains("`x`, row 1"));
        assert!(message(&[0.0], &[1.0], 1.0, 1.0).contains("`x`"));
        assert!(message(&[1.0], &[1.0], -3.0, 1.0).contains("-3"));
        assert!(message(&[1.0], &[1.0], 1.0, 0.0).contains("prior rate"));
    }
}
