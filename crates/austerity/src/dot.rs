//! Σ a_i·b_i of f64 in four sums side by side, which the compiler keeps in vectors: one sum after the other would wait for each addition.
//!
//! The order of the additions is fixed, so the result is the same on every instruction set.

/// Σ a_i·b_i over the shorter of the two.
#[inline(always)]
#[must_use]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    let length = a.len().min(b.len());
    let (a_chunks, a_rest) = a[..length].as_chunks::<4>();
    let (b_chunks, b_rest) = b[..length].as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (x, y) in a_chunks.iter().zip(b_chunks) {
        for i in 0..4 {
            sums[i] += x[i] * y[i];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_length_agrees_with_one_sum() {
        for length in 0..40 {
            let a: Vec<f64> = (0..length).map(|i| f64::from(i) - 7.5).collect();
            let b: Vec<f64> = (0..length + 3).map(|i| 1.0 / (1.0 + f64::from(i))).collect();
            let one: f64 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            assert!((super::dot(&a, &b) - one).abs() < 1e-12);
        }
    }
}
