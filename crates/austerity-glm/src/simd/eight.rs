//! Sums of multiples of vectors of eight f64, kept in registers: what products with small matrices are made of.
//!
//! A matrix stands in strips of eight rows, each strip column by column, filled up with zeros: no loop has a tail, and nothing is summed across.
//! Plain multiplications and additions in a fixed order, so that every instruction set gives the same bits. To be called under
//! `dispatched!`, and not from closures inside, which would be compiled without it.

/// Numbers of a vector.
pub const LANES: usize = 8;

/// `len` filled up to whole vectors.
#[must_use]
pub const fn filled(len: usize) -> usize {
    len.next_multiple_of(LANES)
}

/// sum += a·b, number by number.
#[inline(always)]
pub fn add_product(sum: &mut [f64; LANES], a: &[f64; LANES], b: &[f64; LANES]) {
    for lane in 0..LANES {
        sum[lane] += a[lane] * b[lane];
    }
}

/// sum += times·a.
#[inline(always)]
pub fn add_multiple(sum: &mut [f64; LANES], a: &[f64; LANES], times: f64) {
    for lane in 0..LANES {
        sum[lane] += a[lane] * times;
    }
}

/// Σ factor·vector, in four sums: one alone would wait for every addition.
#[inline(always)]
#[must_use]
pub fn combined(vectors: &[[f64; LANES]], factors: &[f64]) -> [f64; LANES] {
    let mut sums = [[0.0; LANES]; 4];
    let (whole, left) = vectors.as_chunks::<4>();
    let (factors, rest) = factors.as_chunks::<4>();
    for (vectors, factors) in whole.iter().zip(factors) {
        for k in 0..4 {
            add_multiple(&mut sums[k], &vectors[k], factors[k]);
        }
    }
    for (k, (vector, &factor)) in left.iter().zip(rest).enumerate() {
        add_multiple(&mut sums[k], vector, factor);
    }
    std::array::from_fn(|lane| (sums[0][lane] + sums[2][lane]) + (sums[1][lane] + sums[3][lane]))
}

/// The strips of a `rows` × `columns` matrix.
pub fn strips(rows: usize, columns: usize, entry: &dyn Fn(usize, usize) -> f64) -> Vec<[f64; LANES]> {
    let of = |i: usize, j: usize| if i < rows { entry(i, j) } else { 0.0 };
    let firsts = (0..rows).step_by(LANES);
    let places = firsts.flat_map(|first| (0..columns).map(move |j| (first, j)));
    places.map(|(first, j)| std::array::from_fn(|lane| of(first + lane, j))).collect()
}

/// The strips of a lower triangle, each up to its last column that is not zero.
pub fn lower_strips(rows: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<[f64; LANES]> {
    let of = |i: usize, j: usize| if i < rows && j <= i { entry(i, j) } else { 0.0 };
    let firsts = (0..rows).step_by(LANES);
    let places = firsts.flat_map(|first| (0..rows.min(first + LANES)).map(move |j| (first, j)));
    places.map(|(first, j)| std::array::from_fn(|lane| of(first + lane, j))).collect()
}

/// out += matrix·factors, of the matrix in [`lower_strips`].
#[inline(always)]
pub fn add_lower_product(out: &mut [[f64; LANES]], strips: &[[f64; LANES]], factors: &[f64]) {
    let mut rest = strips;
    for (k, out) in out.iter_mut().enumerate() {
        let columns = factors.len().min((k + 1) * LANES);
        let (strip, after) = rest.split_at(columns.min(rest.len()));
        rest = after;
        let sum = combined(strip, &factors[..columns]);
        for lane in 0..LANES {
            out[lane] += sum[lane];
        }
    }
}

/// out += matrix·factors, of the matrix in [`strips`].
#[inline(always)]
pub fn add_matrix_product(out: &mut [[f64; LANES]], strips: &[[f64; LANES]], factors: &[f64]) {
    for (out, strip) in out.iter_mut().zip(strips.chunks_exact(factors.len().max(1))) {
        let sum = combined(strip, factors);
        for lane in 0..LANES {
            out[lane] += sum[lane];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_matrix() {
        for (rows, columns) in [(1usize, 1usize), (7, 3), (8, 8), (9, 20), (21, 21)] {
            let entry = |i: usize, j: usize| (1 + i) as f64 * 0.25 - (j * j) as f64;
            let factors: Vec<f64> = (0..columns).map(|j| 0.5 * j as f64 - 1.0).collect();
            let mut out = vec![[1.0; LANES]; rows.div_ceil(LANES)];
            add_matrix_product(&mut out, &strips(rows, columns, &entry), &factors);
            for (i, &found) in out.as_flattened().iter().enumerate() {
                let sum: f64 = factors.iter().enumerate().map(|(j, f)| f * entry(i, j)).sum();
                assert_eq!(found, 1.0 + if i < rows { sum } else { 0.0 }, "{rows} × {columns}, row {i}");
            }
            let lower = |i: usize, j: usize| if j <= i { entry(i, j) } else { 0.0 };
            let square: Vec<f64> = (0..rows).map(|j| 0.5 * j as f64 - 1.0).collect();
            let (mut all, mut few) = (out.clone(), out);
            add_matrix_product(&mut all, &strips(rows, rows, &lower), &square);
            add_lower_product(&mut few, &lower_strips(rows, entry), &square);
            assert_eq!(all, few);
        }
    }
}
