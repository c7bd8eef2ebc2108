//! Fields with random potentials, for experiments and tests.

use rand_distr::{Distribution as _, StandardNormal};

use super::{Field, FieldBuilder};
use austerity::error::{Result, setting};
use austerity::rng::{Role, stream};

/// Potentials of a generated factor, at most.
const LARGEST_TABLE: usize = 1 << 24;

/// A field of `variables` variables with `values` values each and one factor for every subset of `arity` of them, its
/// log potentials normal with mean 0 and standard deviation `sd`.
///
/// 100 variables, 2 values, arity 3, sd 0.02 is the example of Korattikara, Chen & Welling (2014), supplement F: 161,700
/// factors, 4,851 of them at every variable. (The 0.02 printed there must be a standard deviation, not a variance:
/// otherwise the error they report could not be that small.)
pub fn complete(variables: usize, values: u8, arity: usize, sd: f64, seed: u64) -> Result<Field> {
    complete_builder(variables, values, arity, sd, seed)?.build(seed)
}

/// The factors of [`complete`], not yet built.
pub fn complete_builder(
    variables: usize,
    values: u8,
    arity: usize,
    sd: f64,
    seed: u64,
) -> Result<FieldBuilder> {
    if arity == 0 || arity > variables {
        return Err(setting("arity", arity, "from 1 to the number of variables"));
    }
    if !(sd >= 0.0 && sd.is_finite()) {
        return Err(setting("sd of the log potentials", sd, "a finite number, 0 or more"));
    }
    let mut builder = FieldBuilder::new(&vec![values; variables])?;
    let mut rng = stream(seed, 0, Role::Data);
    let length = u32::try_from(arity).ok().and_then(|arity| usize::from(values).checked_pow(arity));
    let Some(length) = length.filter(|&length| length <= LARGEST_TABLE) else {
        return Err(setting("arity", arity, "tables of at most 16777216 potentials"));
    };
    let mut logs = vec![0.0; length];
    let mut subset: Vec<usize> = (0..arity).collect();
    loop {
        for log in &mut logs {
            let normal: f64 = StandardNormal.sample(&mut rng);
            *log = sd * normal;
        }
        builder.factor(&subset, &logs)?;
        // The next subset in lexicographic order: the last place that can still grow does.
        let Some(place) = (0..arity).rev().find(|&p| subset[p] < variables - arity + p) else {
            return Ok(builder);
        };
        subset[place] += 1;
        for next in place + 1..arity {
            subset[next] = subset[next - 1] + 1;
        }
    }
}
