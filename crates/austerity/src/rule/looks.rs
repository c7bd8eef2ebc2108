//! When a sequential test looks at the data.
//!
//! Looks grow by a factor: n_1 = first, n_{j+1} = growth·n_j, the last look at N. Growth 1 means constant
//! steps n_j = j·first, Algorithm 1 of Korattikara, Chen & Welling (2014). Few looks mean fewer chances to err:
//! at fixed ε the error of the whole test grows with their number. Looks are rounded up to whole blocks.

use serde::{Deserialize, Serialize};

use crate::error::{Result, setting};

/// A schedule of looks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Looks {
    /// From `first` on, by a factor; a factor of 1 means constant steps.
    Growing {
        /// Rows of the first look, m.
        first: usize,
        /// Factor between looks, at least 1.
        growth: f64,
    },
    /// Given cumulative row numbers; a look at N is appended when missing.
    Custom {
        /// Strictly increasing.
        rows: Vec<usize>,
    },
}

impl Looks {
    /// Constant steps of `step` rows: Algorithm 1 of the paper.
    #[must_use]
    pub fn constant(step: usize) -> Self {
        Self::Growing { first: step, growth: 1.0 }
    }

    /// About how many looks [`Looks::schedule`] makes, without making them: never below the true number,
    /// and the true number for constant steps. Infinite for a first look of 0 rows, which `schedule` refuses.
    #[must_use]
    pub fn count_estimate(&self, rows: usize, block_rows: usize) -> f64 {
        let blocks = (rows as f64 / block_rows.max(1) as f64).ceil();
        let looks = match self {
            Self::Growing { first, growth } => {
                let (first, rows) = (*first as f64, rows as f64);
                if rows <= first {
                    1.0
                } else if *growth > 1.0 {
                    // Steps of one row until growth takes over at 1/(growth − 1) rows.
                    let slow = (1.0 / (growth - 1.0)).clamp(first, rows);
                    (slow - first).ceil() + ((rows / slow).ln() / growth.ln()).ceil() + 2.0
                } else {
                    (rows / first).ceil()
                }
            }
            Self::Custom { rows } => rows.len() as f64 + 1.0,
        };
        looks.min(blocks).max(1.0)
    }

    /// The looks at a population of `rows` rows drawn in blocks of `block_rows`; the last one is `rows`.
    pub fn schedule(&self, rows: usize, block_rows: usize) -> Result<Vec<usize>> {
        if block_rows == 0 {
            return Err(setting("block_rows", block_rows, "at least 1"));
        }
        let round = |n: usize| n.div_ceil(block_rows).saturating_mul(block_rows).min(rows);
        let mut looks: Vec<usize> = Vec::new();
        match self {
            Self::Growing { first, growth } => {
                if *first == 0 {
                    return Err(setting("first look (m)", first, "at least 1 row"));
                }
                if !(*growth >= 1.0 && growth.is_finite()) {
                    return Err(setting("growth", growth, "a finite factor of at least 1"));
                }
                let mut wanted = *first as f64;
                while wanted < rows as f64 {
                    let look = round(wanted.ceil() as usize);
                    if looks.last() != Some(&look) {
                        looks.push(look);
                    }
                    wanted = if *growth == 1.0 {
                        wanted + *first as f64
                    } else {
                        (wanted * growth).max(wanted + 1.0)
                    };
                }
            }
            Self::Custom { rows: given } => {
                if given.is_empty() || given[0] == 0 || given.windows(2).any(|pair| pair[0] >= pair[1]) {
                    return Err(setting(
                        "looks",
                        format!("{given:?}"),
                        "a strictly increasing list of at least one positive row number",
                    ));
                }
                looks.extend(given.iter().filter(|&&n| n < rows).map(|&n| round(n)));
                looks.dedup();
            }
        }
        if looks.last() != Some(&rows) {
            looks.push(rows);
        }
        Ok(looks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules() {
        let paper = Looks::constant(500).schedule(12_214, 1).unwrap();
        assert_eq!(paper.len(), 25);
        assert_eq!((paper[0], paper[23], paper[24]), (500, 12_000, 12_214));
        let doubling = Looks::Growing { first: 500, growth: 2.0 }.schedule(10_000, 1).unwrap();
        assert_eq!(doubling, [500, 1000, 2000, 4000, 8000, 10_000]);
        let blocks = Looks::Growing { first: 50, growth: 1.5 }.schedule(300, 32).unwrap();
        assert_eq!(blocks, [64, 96, 128, 192, 256, 300]);
        assert_eq!(Looks::constant(7).schedule(5, 1).unwrap(), [5]);
        assert_eq!(Looks::constant(5).schedule(5, 1).unwrap(), [5]);
        assert_eq!(Looks::constant(1).schedule(3, 1).unwrap(), [1, 2, 3]);
        assert_eq!(Looks::Custom { rows: vec![2, 9, 40] }.schedule(10, 4).unwrap(), [4, 10]);
        assert_eq!(Looks::Growing { first: 1, growth: 1.01 }.schedule(4, 1).unwrap(), [1, 2, 3, 4]);
    }

    #[test]
    fn estimates_are_not_below_the_count() {
        for rows in [1, 2, 10, 1000, 54_321] {
            for (first, growth) in
                [(1, 1.0), (7, 1.0), (1, 1.001), (64, 1.0001), (64, 1.5), (3, 100.0), (9999, 2.0)]
            {
                for block in [1, 32] {
                    let looks = Looks::Growing { first, growth };
                    let (count, estimate) = (
                        looks.schedule(rows, block).unwrap().len() as f64,
                        looks.count_estimate(rows, block),
                    );
                    assert!(estimate >= count, "{rows} {first} {growth} {block}: {estimate} < {count}");
                    assert!(
                        block > 1 || estimate <= 1.1 * count + 4.0,
                        "{rows} {first} {growth}: {estimate}"
                    );
                }
            }
        }
        assert!(Looks::constant(1).count_estimate(usize::MAX, 1) > 1e19);
        assert_eq!(Looks::Custom { rows: vec![2, 9] }.count_estimate(100, 1), 3.0);
    }

    #[test]
    fn bad_looks_are_refused() {
        assert!(Looks::constant(0).schedule(10, 1).is_err());
        assert!(Looks::constant(1).schedule(10, 0).is_err());
        for growth in [0.5, f64::NAN, f64::INFINITY] {
            assert!(Looks::Growing { first: 5, growth }.schedule(10, 1).is_err());
        }
        for rows in [vec![], vec![0, 3], vec![3, 3], vec![5, 2]] {
            assert!(Looks::Custom { rows }.schedule(10, 1).is_err());
        }
    }
}
