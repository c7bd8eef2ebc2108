//! Markov chains with few states: stationary distributions and contraction by arithmetic, no sampling.
//!
//! A kernel is a stochastic matrix. Its contraction in total variation is Dobrushin's coefficient, η = ½ max_{x,y} Σ|T(x,·) − T(y,·)|, which
//! serves as the η of Theorem 1: d(PT, S) ≤ η·d(P, S) for every P. Cost O(states²) a power, O(states³) for η. Not beyond a few hundred states.

/// One row for each state.
pub(crate) type Kernel = Vec<Vec<f64>>;

/// Total variation distance.
pub(crate) fn variation(a: &[f64], b: &[f64]) -> f64 {
    0.5 * a.iter().zip(b).map(|(x, y)| (x - y).abs()).sum::<f64>()
}

/// One step from a distribution.
pub(crate) fn step(distribution: &[f64], kernel: &Kernel) -> Vec<f64> {
    let mut next = vec![0.0; distribution.len()];
    for (mass, row) in distribution.iter().zip(kernel) {
        next.iter_mut().zip(row).for_each(|(to, p)| *to += mass * p);
    }
    next
}

/// The distribution that stays as it is under `once`, from the uniform one.
pub(crate) fn stationary(states: usize, once: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let mut here = vec![1.0 / states as f64; states];
    for _ in 0..200_000 {
        let next = once(&here);
        let moved = variation(&here, &next);
        here = next;
        if moved < 1e-14 {
            break;
        }
    }
    here
}

/// Dobrushin's coefficient.
pub(crate) fn contraction(kernel: &Kernel) -> f64 {
    let pairs = kernel.iter().enumerate();
    pairs.flat_map(|(i, a)| kernel[..i].iter().map(move |b| variation(a, b))).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of two states: stationary (b, a)/(a + b), contraction |1 − a − b|.
    #[test]
    fn two_states_are_as_in_the_book() {
        let (a, b) = (0.3, 0.1);
        let kernel = vec![vec![1.0 - a, a], vec![b, 1.0 - b]];
        let found = stationary(2, |p| step(p, &kernel));
        assert!((found[0] - b / (a + b)).abs() < 1e-12, "{found:?}");
        assert!((contraction(&kernel) - (1.0 - a - b)).abs() < 1e-12);
    }
}
