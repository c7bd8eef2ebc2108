//! Preparing chains: what every diagnostic does to its input before it starts.
//!
//! A parameter's draws come as `chains: &[&[f64]]`, one slice per chain. Chains of
//! unequal length are cut to the shortest, because R-hat and effective sample size
//! assume equal lengths; fewer than [`MINIMUM_DRAWS`] draws, or any value that is not
//! finite, make the diagnostic undefined (as in R's `posterior`; ArviZ lets infinity pass).
//! Chains are split into halves so that a drift within one chain shows up as a difference
//! between chains.

/// Fewest draws per chain for which a diagnostic is defined (two per half).
pub const MINIMUM_DRAWS: usize = 4;

/// Cuts all chains to the length of the shortest.
pub fn trim<'a>(chains: &[&'a [f64]]) -> Vec<&'a [f64]> {
    let shortest = chains.iter().map(|chain| chain.len()).min().unwrap_or(0);
    chains.iter().map(|chain| &chain[..shortest]).collect()
}

/// Trimmed chains, or `None` where the result must be NaN.
pub(crate) fn check<'a>(chains: &[&'a [f64]], minimum_chains: usize) -> Option<Vec<&'a [f64]>> {
    let trimmed = trim(chains);
    let draws = trimmed.first().map_or(0, |chain| chain.len());
    let finite = trimmed.iter().all(|chain| chain.iter().all(|value| value.is_finite()));
    (trimmed.len() >= minimum_chains && draws >= MINIMUM_DRAWS && finite).then_some(trimmed)
}

/// Draws of all chains in one vector, chain after chain.
pub fn pool(chains: &[&[f64]]) -> Vec<f64> {
    trim(chains).concat()
}

/// Finite draws of all chains in ascending order; empty when there is none or when any is not finite.
pub(crate) fn sorted(chains: &[&[f64]]) -> Vec<f64> {
    let mut values = pool(chains);
    if values.iter().any(|value| !value.is_finite()) {
        return Vec::new();
    }
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// First and last half of every chain, first halves first; the middle draw of an odd length is dropped.
pub(crate) fn halves<'a>(chains: &[&'a [f64]]) -> Vec<&'a [f64]> {
    let first = chains.iter().map(|chain| &chain[..chain.len() / 2]);
    let last = chains.iter().map(|chain| &chain[chain.len() - chain.len() / 2..]);
    first.chain(last).collect()
}

/// Applies `transform` to every draw, keeping the shape.
pub(crate) fn map(chains: &[&[f64]], transform: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
    chains.iter().map(|chain| chain.iter().map(|&value| transform(value)).collect()).collect()
}

/// Borrows owned chains in the form the diagnostics take.
pub fn borrow(chains: &[Vec<f64>]) -> Vec<&[f64]> {
    chains.iter().map(Vec::as_slice).collect()
}

/// Arithmetic mean; NaN without values.
///
/// The second pass removes the rounding of the first, so that draws far from zero keep their digits.
pub fn mean(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let rough = values.iter().sum::<f64>() / count;
    rough + values.iter().map(|value| value - rough).sum::<f64>() / count
}

/// Means of sequences up to a common constant, for their variance.
///
/// Taken about the first draw: far from zero a mean is rounded more coarsely than means differ.
pub(crate) fn relative_means(sequences: &[&[f64]]) -> Vec<f64> {
    let origin = sequences.iter().find_map(|sequence| sequence.first().copied()).unwrap_or(0.0);
    let about = |sequence: &[f64]| sequence.iter().map(|value| value - origin).sum::<f64>();
    sequences.iter().map(|sequence| about(sequence) / sequence.len() as f64).collect()
}

/// Variance with divisor n − 1; NaN with fewer than two values.
pub(crate) fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    let centre = mean(values);
    values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

/// Whether all draws of all chains are the same number.
pub(crate) fn constant(chains: &[&[f64]]) -> bool {
    let mut values = chains.iter().flat_map(|chain| chain.iter());
    match values.next() {
        Some(first) => values.all(|value| value == first),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unequal_chains_are_cut_to_the_shortest() {
        let trimmed = trim(&[&[1.0, 2.0, 3.0], &[4.0, 5.0]]);
        assert_eq!(trimmed, vec![&[1.0, 2.0][..], &[4.0, 5.0][..]]);
    }

    #[test]
    fn no_chains_and_bad_values_are_refused() {
        assert!(check(&[], 1).is_none());
        assert!(check(&[&[]], 1).is_none());
        assert!(check(&[&[1.0, 2.0, 3.0]], 1).is_none());
        assert!(check(&[&[1.0, 2.0, f64::INFINITY, 3.0]], 1).is_none());
        assert!(check(&[&[1.0, 2.0, f64::NAN, 3.0]], 1).is_none());
        assert!(check(&[&[1.0, 2.0, 2.5, 3.0]], 1).is_some());
        assert!(check(&[&[1.0, 2.0, 2.5, 3.0]], 2).is_none());
    }

    #[test]
    fn halves_drop_the_middle_draw() {
        assert_eq!(halves(&[&[1.0, 2.0, 3.0, 4.0, 5.0]]), vec![&[1.0, 2.0][..], &[4.0, 5.0][..]]);
    }

    #[test]
    fn moments_far_from_zero_keep_their_digits() {
        let values = [1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0];
        assert_eq!(mean(&values), 1e9 + 2.0);
        assert_eq!(variance(&values), 1.0);
        assert!(variance(&[1.0]).is_nan());
    }
}
