//! Discrete Markov random fields: products of table factors, and the populations that their conditionals are made of.
//!
//! P(x) ∝ Π_n f_n(x), x_i ∈ {0, …, V_i − 1}, every f_n a positive table over a few variables. For a variable i and two of
//! its values the log ratio
//!
//! log P(x_i = a | rest) − log P(x_i = b | rest) = Σ_n {log f_n(x_i = a, rest) − log f_n(x_i = b, rest)}
//!
//! is a sum over the factors that touch i: a [`Population`](austerity::population::Population) that any rule may reveal in parts
//! ([`Conditional`]). Factors of one variable are summed beforehand and known exactly ([`Conditional::offset`]).
//! Korattikara, Chen & Welling (2014), supplement F; the kernel is [`crate::Gibbs`].
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | [`Field`]: variables and, for each, its factors in shuffled order |
//! | [`builder`] | [`FieldBuilder`]: takes factors one by one, checks them, lays them out |
//! | [`conditional`] | [`Conditional`]: the population of one variable and two of its values |
//! | `bits` | layout and SIMD kernel for binary variables: 16 factors per select |
//! | `polynomial` | the sum in closed form for binary variables: what an exact sampler should read |
//! | `tables` | layout for any arity and any number of values |
//! | [`uai`] | [`uai::parse`]: a field from the text of a UAI file |
//! | [`generate`] | [`generate::complete`]: all subsets of a size, log-normal potentials (the paper's example) |
//!
//! **Cost.** A factor over k variables is stored k times, once with each of its variables, as f32 differences against
//! value 0: for binary triples 4 × 18 bytes each. A conditional of the paper's example (100 binary variables, 4,851
//! factors each) takes 2–5 µs. The differences are rounded to f32 once, 6e-8 of their size.
//!
//! **When not to use it.** Hard constraints (a potential of 0) are refused: the sum of a sample cannot see them. When a few
//! factors dominate a conditional (a grid with strong couplings has only four), read them all: the sampled rules fall
//! back to that by themselves when a variable has fewer factors than their first look. And a binary field whose factors have at
//! most three variables is a polynomial: an exact sampler that reads it ([`FieldBuilder::closed_form`]) beats any sample of the
//! factors, however it is taken.

mod bits;
pub mod builder;
pub mod conditional;
pub mod generate;
mod polynomial;
mod tables;
pub mod uai;

use austerity::error::{Error, Result, setting};
use austerity_glm::simd::Level;

pub use builder::FieldBuilder;
pub use conditional::{Conditional, Neighbourhood};

use bits::Bits;
use polynomial::Polynomial;
use tables::Tables;

/// A discrete Markov random field.
#[derive(Clone, Debug)]
pub struct Field {
    /// V of each variable.
    values: Vec<u8>,
    sites: Vec<Site>,
    factors: usize,
    level: Level,
}

/// A variable and the factors that touch it.
#[derive(Clone, Debug)]
struct Site {
    /// Sum of the log potentials of its own factors, for each value.
    own: Vec<f64>,
    /// The other variables of its factors.
    neighbours: Vec<u32>,
    /// Which factor each storage position holds.
    order: Vec<u32>,
    storage: Storage,
    /// The sum of all its factors in closed form, when asked for and possible.
    polynomial: Option<Polynomial>,
}

/// The differences of a variable's factors against value 0.
#[derive(Clone, Debug)]
enum Storage {
    Bits(Bits),
    Tables(Tables),
}

impl Field {
    /// Begins a field of variables with so many `values` each.
    pub fn builder(values: &[u8]) -> Result<FieldBuilder> {
        FieldBuilder::new(values)
    }

    /// D: how many variables.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sites.len()
    }

    /// Never true: a field has variables.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// How many factors, those of one variable included.
    #[must_use]
    pub fn factors(&self) -> usize {
        self.factors
    }

    /// How many values `variable` takes.
    ///
    /// # Panics
    /// When there is no such variable, as for a slice.
    #[must_use]
    pub fn values(&self, variable: usize) -> u8 {
        self.values[variable]
    }

    /// How many factors of two or more variables touch `variable`: the size of its populations.
    ///
    /// # Panics
    /// When there is no such variable, as for a slice.
    #[must_use]
    pub fn degree(&self, variable: usize) -> usize {
        self.sites[variable].order.len()
    }

    /// Whether the sum of the factors of `variable` is known in closed form: see [`FieldBuilder::closed_form`].
    ///
    /// # Panics
    /// When there is no such variable, as for a slice.
    #[must_use]
    pub fn closed_form(&self, variable: usize) -> bool {
        self.sites[variable].polynomial.is_some()
    }

    /// Refuses a state of the wrong length or with a value that its variable does not take.
    pub fn check_state(&self, state: &[u8]) -> Result<()> {
        if state.len() != self.len() {
            return Err(Error::Dimension {
                what: "state of the field".into(),
                expected: self.len(),
                found: state.len(),
            });
        }
        if let Some(variable) = (0..state.len()).find(|&v| state[v] >= self.values[v]) {
            return Err(Error::OutOfRange {
                what: "value of a variable of the field".into(),
                row: variable,
                value: f64::from(state[variable]),
                allowed: format!("0 to {}", self.values[variable] - 1),
            });
        }
        Ok(())
    }

    /// The population of `variable` taking the value `to` against `from`, given the others in `state`.
    ///
    /// `neighbourhood` is working memory, best kept from one conditional to the next.
    pub fn conditional<'a>(
        &'a self,
        variable: usize,
        [to, from]: [u8; 2],
        state: &[u8],
        neighbourhood: &'a mut Neighbourhood,
    ) -> Result<Conditional<'a>> {
        let values = self.checked(variable)?;
        if to >= values || from >= values {
            let allowed = format!("0 to {} for variable {variable}", values - 1);
            return Err(setting("value", to.max(from), &allowed));
        }
        // Checked at every call: no branch in the loop, so that it takes nanoseconds.
        let fits = state.iter().zip(&self.values).fold(true, |fits, (value, values)| fits & (value < values));
        if !fits || state.len() != self.len() {
            self.check_state(state)?;
        }
        Ok(Conditional::new(&self.sites[variable], self.level, [to, from], state, neighbourhood))
    }

    /// The exact conditional probabilities of the values of `variable` given the others in `state`.
    pub fn probabilities(&self, variable: usize, state: &[u8]) -> Result<Vec<f64>> {
        use austerity::population::Population as _;
        let mut neighbourhood = Neighbourhood::default();
        let values = self.checked(variable)?;
        let mut logs = vec![0.0; usize::from(values)];
        for value in 1..values {
            let mut conditional = self.conditional(variable, [value, 0], state, &mut neighbourhood)?;
            logs[usize::from(value)] = conditional.offset() + conditional.total()?.sum();
        }
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        logs.iter_mut().for_each(|log| *log = (*log - largest).exp());
        let sum: f64 = logs.iter().sum();
        logs.iter_mut().for_each(|p| *p /= sum);
        Ok(logs)
    }

    /// log P(state) − log P(0, …, 0), along a path that changes one variable at a time. Costs D conditionals.
    pub fn log_density(&self, state: &[u8]) -> Result<f64> {
        use austerity::population::Population as _;
        self.check_state(state)?;
        let mut path = vec![0; state.len()];
        let mut neighbourhood = Neighbourhood::default();
        let mut sum = 0.0;
        for (variable, &value) in state.iter().enumerate() {
            let mut conditional = self.conditional(variable, [value, 0], &path, &mut neighbourhood)?;
            sum += conditional.offset() + conditional.total()?.sum();
            path[variable] = value;
        }
        Ok(sum)
    }

    /// A hint that these blocks of `variable` will be asked for soon.
    pub(crate) fn prefetch(&self, variable: usize, blocks: &[u32]) {
        if let Some(Site { storage: Storage::Bits(bits), .. }) = self.sites.get(variable) {
            blocks.iter().for_each(|&block| bits.prefetch(block as usize));
        }
    }

    /// How many values `variable` takes, if there is such a variable.
    fn checked(&self, variable: usize) -> Result<u8> {
        let none = || setting("variable", variable, &format!("0 to {}", self.len() - 1));
        self.values.get(variable).copied().ok_or_else(none)
    }

    /// Bytes of the factors held.
    #[must_use]
    pub fn data_bytes(&self) -> usize {
        let of = |site: &Site| {
            4 * (site.order.len() + site.neighbours.len())
                + 8 * site.own.len()
                + site.polynomial.as_ref().map_or(0, Polynomial::bytes)
                + match &site.storage {
                    Storage::Bits(bits) => bits.bytes(),
                    Storage::Tables(tables) => tables.bytes(),
                }
        };
        self.sites.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests;
