//! Own models with structure: parameters in named blocks with constraints, whose Jacobians and priors are added here.
//!
//! | kind | values | coordinates of the state | log Jacobian |
//! |---|---|---|---|
//! | real | any | themselves | 0 |
//! | positive | θ > 0 | log θ | Σ log θ |
//! | ordered | θ_1 < θ_2 < … | θ_1, log(θ_k − θ_{k−1}) | Σ log(θ_k − θ_{k−1}) |
//! | simplex | θ_k > 0, Σ θ_k = 1 | stick breaking: logit of each share of what is left, centred; one coordinate fewer | Σ log(z_k(1 − z_k)·left_k) |
//! | interval | a < θ < b | logit of (θ − a)/(b − a) | Σ log((θ − a)(b − θ)/(b − a)) |
//!
//! (Stan Reference Manual 2.36, §10.) [`Structured`] gives the user's [`Likelihoods`] states of the values, and samples in the coordinates. Draws hold the values; of a
//! simplex all but the last, which is 1 less the others.
//!
//! Without a prior a block is flat on its values. A prior of a block is that of each of its values.
//!
//! Cost: one exponential per constrained value and batch. Not for constraints that tie blocks together.

use crate::Prior;
use crate::own::Likelihoods;
use austerity::error::{Result, setting};
use austerity::model::check_length;
use austerity::population::Batch;

/// What values a block may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Any numbers.
    Real,
    /// Positive numbers.
    Positive,
    /// Rising numbers.
    Ordered,
    /// Shares that sum to 1.
    Simplex,
    /// Numbers between two others.
    Interval {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
}

/// Some parameters of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Name.
    pub name: String,
    /// What values they may have.
    pub kind: Kind,
    /// How many values there are.
    pub size: usize,
    /// The prior of each value; flat without one.
    pub prior: Option<Prior>,
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// log σ(x).
fn ln_logistic(x: f64) -> f64 {
    if x > 0.0 { -(-x).exp().ln_1p() } else { x - x.exp().ln_1p() }
}

impl Block {
    /// A block without a prior.
    pub fn new(name: impl Into<String>, kind: Kind, size: usize) -> Self {
        Self { name: name.into(), kind, size, prior: None }
    }

    /// The same with a prior of each value.
    #[must_use]
    pub fn with_prior(self, prior: Prior) -> Self {
        Self { prior: Some(prior), ..self }
    }

    /// Coordinates of the state.
    #[must_use]
    pub fn coordinates(&self) -> usize {
        if self.kind == Kind::Simplex { self.size - 1 } else { self.size }
    }

    /// Refuses blocks without values, ends that are none, and priors of the wrong support.
    pub fn check(&self) -> Result<()> {
        let about = |what: &str| format!("{what} of `{}`", self.name);
        let least = if self.kind == Kind::Simplex { 2 } else { 1 };
        if self.size < least {
            return Err(setting(&about("size"), self.size, &format!("at least {least}")));
        }
        if let Kind::Interval { low, high } = self.kind
            && !(low < high && low.is_finite() && high.is_finite())
        {
            return Err(setting(
                &about("interval"),
                format!("{low} to {high}"),
                "finite ends, the lower one first",
            ));
        }
        let Some(prior) = self.prior else { return Ok(()) };
        prior.check()?;
        let allowed = match self.kind {
            Kind::Positive if !prior.is_positive() => "a prior of a positive number, such as half-normal:1",
            Kind::Simplex if prior != Prior::Flat => "flat; add another to the log prior",
            Kind::Real | Kind::Ordered | Kind::Interval { .. } if prior.is_positive() => {
                "a prior of any number, such as normal:1"
            }
            _ => return Ok(()),
        };
        Err(setting(&about("prior"), prior, allowed))
    }

    /// Writes the values that belong to coordinates; gives the log Jacobian with the log prior of the values.
    fn values(&self, from: &[f64], to: &mut [f64]) -> f64 {
        let mut log = 0.0;
        match self.kind {
            Kind::Real => to.copy_from_slice(from),
            Kind::Positive => {
                for (value, &x) in to.iter_mut().zip(from) {
                    *value = x.exp();
                    // Such priors are of the coordinate: the Jacobian is theirs.
                    log += self.prior.map_or(x, |prior| prior.log_density(x));
                }
                return log;
            }
            Kind::Ordered => {
                let mut last = None;
                for (value, &x) in to.iter_mut().zip(from) {
                    *value = last.map_or(x, |last| last + x.exp());
                    log += if last.is_some() { x } else { 0.0 };
                    last = Some(*value);
                }
            }
            Kind::Interval { low, high } => {
                for (value, &x) in to.iter_mut().zip(from) {
                    *value = low + (high - low) * logistic(x);
                    log += (high - low).ln() + ln_logistic(x) + ln_logistic(-x);
                }
            }
            Kind::Simplex => {
                let (mut left, mut ln_left) = (1.0, 0.0);
                for (k, &x) in from.iter().enumerate() {
                    let x = x - ((self.size - k - 1) as f64).ln();
                    log += ln_left + ln_logistic(x) + ln_logistic(-x);
                    to[k] = left * logistic(x);
                    left *= logistic(-x);
                    ln_left += ln_logistic(-x);
                }
                to[from.len()] = left;
            }
        }
        log + self.prior.map_or(0.0, |prior| to.iter().map(|&value| prior.log_density(value)).sum())
    }

    /// The coordinates of values; refuses those that break the constraint.
    pub fn coordinates_of(&self, values: &[f64], out: &mut Vec<f64>) -> Result<()> {
        let refused = |allowed: &str| {
            Err(setting(&format!("start of `{}`", self.name), format!("{values:?}"), allowed))
        };
        if values.len() != self.size {
            return refused(&format!("{} numbers", self.size));
        }
        if values.iter().any(|value| !value.is_finite()) {
            return refused("finite numbers");
        }
        match self.kind {
            Kind::Real => out.extend(values),
            Kind::Positive if values.iter().any(|&value| value <= 0.0) => return refused("positive numbers"),
            Kind::Positive => out.extend(values.iter().map(|value| value.ln())),
            Kind::Ordered if !values.is_sorted_by(|a, b| a < b) => return refused("rising numbers"),
            Kind::Ordered => {
                out.push(values[0]);
                out.extend(values.windows(2).map(|pair| (pair[1] - pair[0]).ln()));
            }
            Kind::Interval { low, high } => {
                if values.iter().any(|&value| !(low < value && value < high)) {
                    return refused(&format!("numbers between {low} and {high}"));
                }
                out.extend(values.iter().map(|value| ((value - low) / (high - value)).ln()));
            }
            Kind::Simplex => {
                if values.iter().any(|&value| value <= 0.0) || (values.iter().sum::<f64>() - 1.0).abs() > 1e-8
                {
                    return refused("positive numbers that sum to 1");
                }
                for k in 0..self.size - 1 {
                    let rest: f64 = values[k + 1..].iter().sum();
                    out.push((values[k] / rest).ln() + ((self.size - k - 1) as f64).ln());
                }
            }
        }
        Ok(())
    }

    /// The start where nobody names one: 0, 1, rising numbers around 0, equal shares, the middle.
    fn usual(&self) -> Vec<f64> {
        let middle = 0.5 * (self.size as f64 - 1.0);
        match self.kind {
            Kind::Real => vec![0.0; self.size],
            Kind::Positive => vec![1.0; self.size],
            Kind::Ordered => (0..self.size).map(|k| k as f64 - middle).collect(),
            Kind::Simplex => vec![1.0 / self.size as f64; self.size],
            Kind::Interval { low, high } => vec![0.5 * (low + high); self.size],
        }
    }

    /// Names of what is recorded.
    fn names(&self) -> impl Iterator<Item = String> + '_ {
        let one = self.size == 1;
        (0..self.coordinates())
            .map(move |k| if one { self.name.clone() } else { format!("{}[{k}]", self.name) })
    }
}

/// [`Likelihoods`] of values in blocks, for states of their coordinates.
#[derive(Clone, Debug)]
pub struct Structured<L> {
    inner: L,
    blocks: Vec<Block>,
}

impl<L: Likelihoods> Structured<L> {
    /// `inner` is asked with all values, block after block; its log prior is added to those of the blocks.
    ///
    /// ```
    /// use austerity::population::Batch;
    /// use austerity_glm::own::{Block, Differences, Kind, Likelihoods, Structured, from_batches};
    /// use austerity_glm::Prior;
    ///
    /// struct Waits(Vec<f64>);
    /// impl Likelihoods for Waits {
    ///     type Memory = ();
    ///     fn rows(&self) -> usize {
    ///         self.0.len()
    ///     }
    ///     fn names(&self) -> Vec<String> {
    ///         vec!["rate".into()]
    ///     }
    ///     fn log_prior(&self, _: &[f64]) -> austerity::Result<f64> {
    ///         Ok(0.0)
    ///     }
    ///     fn log_likelihoods(&self, values: &[f64], batch: Batch<'_>, (): &mut (), out: &mut [f64]) -> austerity::Result<()> {
    ///         let waits = batch.ranges().flatten().map(|row| self.0[row]);
    ///         out.iter_mut().zip(waits).for_each(|(out, wait)| *out = values[0].ln() - values[0] * wait);
    ///         Ok(())
    ///     }
    /// }
    /// let rate = Block::new("rate", Kind::Positive, 1).with_prior(Prior::HalfNormal { scale: 2.0 });
    /// let model = from_batches(Differences::of(Structured::new(Waits(vec![0.7, 1.9, 0.2]), vec![rate])?))?;
    /// let mode = austerity::model::find_mode(&model, &[0.0])?;
    /// assert!(mode.state[0].exp() > 0.5);
    /// # Ok::<(), austerity::Error>(())
    /// ```
    pub fn new(inner: L, blocks: Vec<Block>) -> Result<Self> {
        blocks.iter().try_for_each(Block::check)?;
        for (k, block) in blocks.iter().enumerate() {
            if blocks[..k].iter().any(|other| other.name == block.name) {
                return Err(setting("names of blocks", &block.name, "each one once"));
            }
        }
        if blocks.is_empty() {
            return Err(setting("blocks", 0, "at least one"));
        }
        Ok(Self { inner, blocks })
    }

    /// `inner` as it is: its states are the values.
    pub fn plain(inner: L) -> Self {
        Self { inner, blocks: Vec::new() }
    }

    /// The state of the values of every block; the usual ones where there are none.
    pub fn start(&self, values: &[Option<Vec<f64>>]) -> Result<Vec<f64>> {
        check_length("starts of blocks", self.blocks.len(), values.len())?;
        let mut state = Vec::new();
        for (block, values) in self.blocks.iter().zip(values) {
            block.coordinates_of(&values.clone().unwrap_or_else(|| block.usual()), &mut state)?;
        }
        Ok(state)
    }

    /// What the user's functions know.
    pub fn likelihoods(&self) -> &L {
        &self.inner
    }

    /// The values of a state, and the log Jacobian with the log priors.
    fn values(&self, state: &[f64]) -> (Vec<f64>, f64) {
        if self.blocks.is_empty() {
            return (state.to_vec(), 0.0);
        }
        let mut values = vec![0.0; self.blocks.iter().map(|block| block.size).sum()];
        let (mut from, mut to, mut log) = (state, &mut values[..], 0.0);
        for block in &self.blocks {
            let (own, rest) = from.split_at(block.coordinates().min(from.len()));
            let (slots, later) = std::mem::take(&mut to).split_at_mut(block.size);
            log += block.values(own, slots);
            (from, to) = (rest, later);
        }
        (values, log)
    }
}

impl<L: Likelihoods> Likelihoods for Structured<L> {
    type Memory = L::Memory;

    fn rows(&self) -> usize {
        self.inner.rows()
    }

    fn names(&self) -> Vec<String> {
        match self.blocks[..] {
            [] => self.inner.names(),
            _ => self.blocks.iter().flat_map(Block::names).collect(),
        }
    }

    fn log_prior(&self, state: &[f64]) -> Result<f64> {
        let (values, log) = self.values(state);
        Ok(if log == f64::NEG_INFINITY { log } else { log + self.inner.log_prior(&values)? })
    }

    fn log_likelihoods(
        &self,
        state: &[f64],
        batch: Batch<'_>,
        memory: &mut L::Memory,
        out: &mut [f64],
    ) -> Result<()> {
        match self.blocks[..] {
            [] => self.inner.log_likelihoods(state, batch, memory, out),
            _ => self.inner.log_likelihoods(&self.values(state).0, batch, memory, out),
        }
    }

    fn write(&self, state: &[f64], out: &mut [f64]) {
        if self.blocks.is_empty() {
            return self.inner.write(state, out);
        }
        let (values, _) = self.values(state);
        let (mut from, mut to) = (&values[..], out);
        for block in &self.blocks {
            let (own, rest) = from.split_at(block.size);
            let (slots, later) = std::mem::take(&mut to).split_at_mut(block.coordinates());
            slots.copy_from_slice(&own[..block.coordinates()]);
            (from, to) = (rest, later);
        }
    }

    fn original_row(&self, position: usize) -> usize {
        self.inner.original_row(position)
    }

    fn fingerprint(&self) -> u64 {
        self.inner.fingerprint()
    }

    fn data_bytes(&self) -> usize {
        self.inner.data_bytes()
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;

    fn blocks() -> Vec<Block> {
        vec![
            Block::new("real", Kind::Real, 2),
            Block::new("positive", Kind::Positive, 2),
            Block::new("ordered", Kind::Ordered, 4),
            Block::new("simplex", Kind::Simplex, 4),
            Block::new("interval", Kind::Interval { low: -1.0, high: 3.0 }, 2),
        ]
    }

    /// log |det| of the derivatives of the values, but for the last of a simplex, by central differences.
    #[test]
    fn jacobians_are_those_of_the_values() {
        for block in blocks() {
            let d = block.coordinates();
            let at: Vec<f64> = (0..d).map(|k| 0.3 - 0.4 * k as f64 + 0.15 * (k * k) as f64).collect();
            let values = |state: &[f64]| {
                let mut values = vec![0.0; block.size];
                let log = block.values(state, &mut values);
                (values, log)
            };
            let h = 1e-5;
            let matrix = DMatrix::from_fn(d, d, |i, j| {
                let (mut up, mut down) = (at.clone(), at.clone());
                (up[j], down[j]) = (up[j] + h, down[j] - h);
                (values(&up).0[i] - values(&down).0[i]) / (2.0 * h)
            });
            let (there, log) = values(&at);
            assert!((matrix.determinant().abs().ln() - log).abs() < 1e-7, "{block:?}");
            let mut back = Vec::new();
            block.coordinates_of(&there, &mut back).unwrap();
            assert!(at.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-9), "{block:?} {at:?} {back:?}");
            block.coordinates_of(&block.usual(), &mut Vec::new()).unwrap();
        }
    }

    #[test]
    fn blocks_that_make_no_sense_are_refused() {
        let wrong = [
            Block::new("a", Kind::Real, 0),
            Block::new("a", Kind::Simplex, 1),
            Block::new("a", Kind::Interval { low: 1.0, high: 1.0 }, 1),
            Block::new("a", Kind::Positive, 1).with_prior(Prior::normal(1.0)),
            Block::new("a", Kind::Real, 1).with_prior(Prior::HalfNormal { scale: 1.0 }),
            Block::new("a", Kind::Simplex, 3).with_prior(Prior::normal(1.0)),
        ];
        assert!(wrong.iter().all(|block| block.check().is_err()));
        let bad: [(Kind, &[f64]); 4] = [
            (Kind::Ordered, &[1.0, 1.0]),
            (Kind::Positive, &[0.0, 1.0]),
            (Kind::Simplex, &[0.5, 0.6]),
            (Kind::Interval { low: 0.0, high: 1.0 }, &[0.2, 1.0]),
        ];
        for (kind, values) in bad {
            assert!(Block::new("a", kind, 2).coordinates_of(values, &mut Vec::new()).is_err(), "{kind:?}");
        }
    }
}
