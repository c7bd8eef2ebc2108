//! Takes the factors of a field one by one, checks them, and lays them out by variable.
//!
//! A factor is a list of distinct variables and the logs of its table, the last variable varying fastest. For every
//! variable its factors are shuffled once, so that a block of neighbours in storage is a random sample of them. Cost:
//! the sum over factors of arity × table length.

use rand::seq::SliceRandom as _;

use super::bits::{Bits, LARGEST_NEIGHBOURHOOD, MOST_COLUMNS};
use super::polynomial::Polynomial;
use super::tables::Tables;
use super::{Field, Site, Storage};
use austerity::error::{Error, Result, setting};
use austerity::rng::{Role, stream};
use austerity_glm::simd::detected;

/// Largest size of a log potential: beyond it a single factor outweighs anything a sample could say.
pub const LARGEST_POTENTIAL: f64 = 1e6;

/// A field in the making.
#[derive(Clone, Debug)]
pub struct FieldBuilder {
    values: Vec<u8>,
    /// Variables of all factors, one after the other, and where each factor's begin.
    variables: Vec<u32>,
    variable_starts: Vec<usize>,
    /// The same for their tables.
    logs: Vec<f64>,
    log_starts: Vec<usize>,
    closed_form: bool,
}

impl FieldBuilder {
    /// A field without factors, of variables with so many `values` each.
    pub fn new(values: &[u8]) -> Result<Self> {
        if values.is_empty() {
            return Err(Error::EmptyData);
        }
        if let Some(variable) = values.iter().position(|&v| v < 2) {
            return Err(Error::OutOfRange {
                what: "number of values of a variable".into(),
                row: variable,
                value: f64::from(values[variable]),
                allowed: "2 to 255".into(),
            });
        }
        if u32::try_from(values.len()).is_err() {
            return Err(Error::TooManyRows { rows: values.len(), limit: u32::MAX as usize });
        }
        Ok(Self {
            values: values.to_vec(),
            variables: Vec::new(),
            variable_starts: vec![0],
            logs: Vec::new(),
            log_starts: vec![0],
            closed_form: false,
        })
    }

    /// Adds the factor over `variables` with the log potentials `logs`, the last variable varying fastest.
    pub fn factor(&mut self, variables: &[usize], logs: &[f64]) -> Result<&mut Self> {
        let number = self.log_starts.len() - 1;
        let wrong = |value: f64, what: &str, allowed: String| Error::OutOfRange {
            what: format!("{what} of a factor"),
            row: number,
            value,
            allowed,
        };
        if variables.is_empty() {
            return Err(wrong(0.0, "number of variables", "at least 1".into()));
        }
        let mut length = 1usize;
        for (slot, &variable) in variables.iter().enumerate() {
            let Some(&values) = self.values.get(variable) else {
                return Err(wrong(variable as f64, "variable", format!("0 to {}", self.values.len() - 1)));
            };
            if variables[..slot].contains(&variable) {
                return Err(wrong(variable as f64, "variable", "each variable once".into()));
            }
            length = length.saturating_mul(usize::from(values));
        }
        if logs.len() != length {
            return Err(Error::Dimension {
                what: format!("log potentials of factor {number}"),
                expected: length,
                found: logs.len(),
            });
        }
        if let Some(&log) = logs.iter().find(|log| log.is_nan() || log.abs() > LARGEST_POTENTIAL) {
            let allowed =
                format!("finite, size at most {LARGEST_POTENTIAL}; leave impossible values out of the model");
            return Err(wrong(log, "log potential", allowed));
        }
        self.variables.extend(variables.iter().map(|&v| v as u32));
        self.variable_starts.push(self.variables.len());
        self.logs.extend_from_slice(logs);
        self.log_starts.push(self.logs.len());
        Ok(self)
    }

    /// Keeps beside the factors their sum in closed form, for every binary variable whose factors have at most two others, all
    /// binary. [`Population::total`](austerity::population::Population::total) then reads that instead of the factors: the exact
    /// rule becomes many times cheaper, and knows the sum but not the spread. Looks are as before.
    pub fn closed_form(&mut self, keep: bool) -> &mut Self {
        self.closed_form = keep;
        self
    }

    /// The field, every variable's factors shuffled with `seed`.
    pub fn build(&self, seed: u64) -> Result<Field> {
        let factors = self.log_starts.len() - 1;
        if u32::try_from(factors).is_err() {
            return Err(Error::TooManyRows { rows: factors, limit: u32::MAX as usize });
        }
        let mut touching: Vec<Vec<u32>> = vec![Vec::new(); self.values.len()];
        for factor in 0..factors {
            for &variable in self.variables_of(factor) {
                touching[variable as usize].push(factor as u32);
            }
        }
        let mut places = vec![u32::MAX; self.values.len()];
        let sites = touching
            .into_iter()
            .enumerate()
            .map(|(variable, list)| self.site(variable, list, seed, &mut places))
            .collect::<Result<_>>()?;
        Ok(Field { values: self.values.clone(), sites, factors, level: detected() })
    }

    /// One variable; `list` are the factors that touch it, `places` is all `u32::MAX` before and after.
    fn site(&self, variable: usize, list: Vec<u32>, seed: u64, places: &mut [u32]) -> Result<Site> {
        let values = self.values[variable];
        let mut own = vec![0.0; usize::from(values)];
        let (single, mut order): (Vec<u32>, Vec<u32>) =
            list.into_iter().partition(|&factor| self.variables_of(factor as usize).len() == 1);
        for &factor in &single {
            for (sum, log) in own.iter_mut().zip(self.logs_of(factor as usize)) {
                *sum += log;
            }
        }
        order.shuffle(&mut stream(seed, variable as u32, Role::Shuffle));
        let others =
            |factor: u32| self.variables_of(factor as usize).iter().filter(move |&&v| v as usize != variable);
        let mut neighbours: Vec<u32> = Vec::new();
        for &factor in &order {
            for &other in others(factor) {
                if places[other as usize] == u32::MAX {
                    places[other as usize] = 0;
                    neighbours.push(other);
                }
            }
        }
        neighbours.sort_unstable();
        for (place, &other) in neighbours.iter().enumerate() {
            places[other as usize] = place as u32;
        }
        let slices: Vec<Slice> = order.iter().map(|&factor| self.slice(variable, factor, places)).collect();
        neighbours.iter().for_each(|&other| places[other as usize] = u32::MAX);
        let columns = slices.iter().map(|slice| slice.places.len()).max().unwrap_or(0);
        let binary = values == 2 && neighbours.iter().all(|&other| self.values[other as usize] == 2);
        let polynomial =
            (self.closed_form && binary && columns <= 2 && neighbours.len() <= LARGEST_NEIGHBOURHOOD)
                .then(|| Polynomial::new(neighbours.len(), &slices));
        let storage = if binary && columns <= MOST_COLUMNS && neighbours.len() <= LARGEST_NEIGHBOURHOOD {
            Storage::Bits(Bits::new(columns.max(1), &slices))
        } else {
            let numbers = slices.iter().map(|slice| slice.logs.len() as u64).sum::<u64>();
            if numbers > u64::from(u32::MAX) {
                return Err(setting("numbers in the factors of a variable", numbers, "at most 4294967295"));
            }
            Storage::Tables(Tables::new(usize::from(values), columns, neighbours.len(), &slices))
        };
        Ok(Site { own, neighbours, order, storage, polynomial })
    }

    /// What `factor` says about `variable`: its table turned so that the variable varies fastest, the others as
    /// numbered in `places`, the first of them next fastest.
    fn slice(&self, variable: usize, factor: u32, places: &[u32]) -> Slice {
        let (variables, logs) = (self.variables_of(factor as usize), self.logs_of(factor as usize));
        let mut stride = logs.len();
        let (mut own_stride, mut own_values) = (1, 1);
        let mut others = Vec::with_capacity(variables.len());
        for &other in variables {
            let values = usize::from(self.values[other as usize]);
            stride /= values;
            if other as usize == variable {
                (own_stride, own_values) = (stride, values);
            } else {
                others.push((places[other as usize], values, stride));
            }
        }
        let mut turned = Vec::with_capacity(logs.len());
        for state in 0..logs.len() / own_values {
            let (mut left, mut from) = (state, 0);
            for &(_, values, stride) in &others {
                from += left % values * stride;
                left /= values;
            }
            turned.extend((0..own_values).map(|value| logs[from + value * own_stride]));
        }
        Slice {
            places: others.iter().map(|&(place, ..)| place).collect(),
            values: others.iter().map(|&(_, values, _)| values).collect(),
            logs: turned,
        }
    }

    fn variables_of(&self, factor: usize) -> &[u32] {
        &self.variables[self.variable_starts[factor]..self.variable_starts[factor + 1]]
    }

    fn logs_of(&self, factor: usize) -> &[f64] {
        &self.logs[self.log_starts[factor]..self.log_starts[factor + 1]]
    }
}

/// A factor as one of its variables sees it.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    /// The other variables, as places among the neighbours.
    pub(super) places: Vec<u32>,
    /// How many values each of them takes.
    pub(super) values: Vec<usize>,
    /// Log potentials: the variable itself fastest, then the others in turn.
    pub(super) logs: Vec<f64>,
}
