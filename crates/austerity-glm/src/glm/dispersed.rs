//! Few rows that show every mode of a regression, and starts that rows of high leverage suggest.
//!
//! A second mode of a tall regression hangs on rows that a sample misses: a bundle of rows far out that the noise allows to be ignored. So the
//! rows with the largest |x| in the units of the storage (standardised columns) are taken for certain, beside a sample in which each row stands for
//! N/n. Where the noise has heavy tails, the state nearest to the mode θ̂, in the metric of its covariance V, that fits such a row i exactly is a
//! start:
//!
//! ```text
//! θ = θ̂ + V x_i (y_i − η̂_i) / (x_i' V x_i)
//! ```
//!
//! (elemental starts of robust regression: Rousseeuw 1984). Cost: one pass of N·d additions, then d² per start.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::blocks::BLOCK;
use super::expansion::centre::sampled_with;
use super::{Family, Glm};
use crate::pass::Pass;
use austerity::error::Result;
use austerity::model::Mode;

/// Rows of the sample: so many, and so many per parameter.
const SAMPLE: usize = 1024;
const PER_PARAMETER: usize = 32;
/// Rows of high leverage.
const HEAVY: usize = 256;
/// Starts that fit one of them.
const STARTS: usize = 8;
/// Residuals, in units of σ, that a start changes.
const LARGE: f64 = 3.0;

impl<F: Family> Glm<F> {
    /// The model of few rows that stand for all, and starts of further searches from `mode`.
    pub fn dispersed(&self, mode: &Mode) -> Result<(Self, Vec<Vec<f64>>)> {
        let size = SAMPLE.max(PER_PARAMETER * self.parameters());
        let heavy = self.heaviest(HEAVY)?;
        let model = sampled_with(self, size, &heavy)?;
        let starts = if self.family.is_location() { self.elemental(mode, &heavy) } else { Vec::new() };
        Ok((model, starts))
    }

    /// Positions of the rows with the largest |x| in the units of the storage, levels apart, the largest first.
    fn heaviest(&self, number: usize) -> Result<Vec<u32>> {
        let found = self.driver.run(&Farthest { number }, self)?;
        Ok(found.into_sorted_vec().into_iter().map(|Reverse((_, Reverse(position)))| position).collect())
    }

    /// The columns of a row on the user's scale, the intercept first, and y − η at `state`.
    fn residual(&self, state: &[f64], position: u32) -> (Vec<f64>, f64) {
        let (blocks, first) = (self.blocks(), usize::from(self.intercept));
        let value = |column: usize| f64::from(blocks.value(position as usize, column));
        let mut x = vec![0.0; self.coefficients()];
        x[..first].fill(1.0);
        self.coding.row(blocks, position as usize, |number, value| x[first + number] = value);
        let eta = self.side_constant + x.iter().zip(state).map(|(x, s)| x * s).sum::<f64>();
        let offset = blocks.layout().offset.map_or(0.0, value);
        (x, value(blocks.layout().response) - eta - offset)
    }

    fn elemental(&self, mode: &Mode, heavy: &[u32]) -> Vec<Vec<f64>> {
        let (d, sigma) = (mode.state.len(), self.family.unit(self.extra(&mode.state)));
        let mut starts: Vec<Vec<f64>> = Vec::new();
        for &position in heavy {
            let (x, residual) = self.residual(&mode.state, position);
            let seen = starts.iter().any(|start| self.residual(start, position).1.abs() <= LARGE * sigma);
            if residual.abs() <= LARGE * sigma || seen {
                continue;
            }
            let moved: Vec<f64> = (0..d)
                .map(|i| x.iter().enumerate().map(|(j, x)| mode.covariance[i * d + j] * x).sum())
                .collect();
            let leverage: f64 = x.iter().zip(&moved).map(|(x, m)| x * m).sum();
            let coefficients = x.len();
            let start = (0..d).map(|i| {
                // σ stays: the other rows have not changed.
                mode.state[i] + if i < coefficients { moved[i] * residual / leverage } else { 0.0 }
            });
            starts.push(start.collect());
            if starts.len() == STARTS {
                break;
            }
        }
        starts
    }
}

/// The pass for the rows with the largest |x|: the K largest by (|x|², earlier row), whatever the order of merging.
struct Farthest {
    number: usize,
}

/// The bits of |x|², which are in the order of positive numbers, and the position.
type Far = (u32, Reverse<u32>);

impl Farthest {
    fn keep(&self, heap: &mut BinaryHeap<Reverse<Far>>, row: Far) {
        if heap.len() < self.number || heap.peek().is_some_and(|Reverse(least)| row > *least) {
            heap.push(Reverse(row));
            if heap.len() > self.number {
                heap.pop();
            }
        }
    }
}

impl<F: Family> Pass<Glm<F>> for Farthest {
    type Partial = BinaryHeap<Reverse<Far>>;
    const NAME: &'static str = "rows far out";

    fn blocks(&self, model: &Glm<F>) -> usize {
        model.blocks().count()
    }

    fn empty(&self, _model: &Glm<F>) -> Self::Partial {
        BinaryHeap::with_capacity(self.number + 1)
    }

    fn visit(
        &self,
        model: &Glm<F>,
        blocks: Range<usize>,
        _kept: &mut [f32],
        heap: &mut Self::Partial,
    ) -> Result<()> {
        let view = model.blocks().view();
        for block in blocks {
            let lines = view.block(block);
            let mut norms = [0.0f32; BLOCK];
            for j in 0..view.layout().columns {
                for (half, line) in lines[2 * j..2 * j + 2].iter().enumerate() {
                    let some = &mut norms[16 * half..16 * half + 16];
                    some.iter_mut().zip(&line.0).for_each(|(norm, x)| *norm += x * x);
                }
            }
            for (i, norm) in norms[..view.rows_in(block)].iter().enumerate() {
                self.keep(heap, (norm.to_bits(), Reverse((block * BLOCK + i) as u32)));
            }
        }
        Ok(())
    }

    fn merge(&self, earlier: &mut Self::Partial, later: Self::Partial) {
        later.into_iter().for_each(|Reverse(row)| self.keep(earlier, row));
    }
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, StandardNormal};

    use super::*;
    use crate::{Data, Prior, ResponseKind, Student, add_mode, weigh};
    use austerity::model::find_mode;
    use austerity::rng::{Role, stream};

    /// Two bundles of far rows that disagree: each is the other's outliers.
    fn bundles(rows: usize) -> Glm<Student> {
        let mut rng = stream(2, 0, Role::Start);
        let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
        let mut x: Vec<f64> = (0..rows).map(|_| 0.01 * normal()).collect();
        let mut y: Vec<f64> = (0..rows).map(|_| normal()).collect();
        for k in 0..10 {
            x.push(10.0 + 0.1 * normal());
            y.push(if k < 5 { 20.0 } else { -20.0 } + 0.7 * normal());
        }
        let data = Data::new(["x"], vec![x], y).check(ResponseKind::Real).unwrap();
        let priors = vec![Prior::normal(10.0), Prior::normal(10.0), Prior::HalfNormal { scale: 2.0 }];
        Glm::new(Student { freedom: 4.0 }, &data, priors).unwrap()
    }

    #[test]
    fn rows_of_high_leverage_lead_to_the_other_mode() {
        let model = bundles(30_000);
        let mode = find_mode(&model, &[0.0, 2.0, 0.0]).unwrap();
        assert!(mode.state[1] > 1.5, "{mode:?}");
        let (few, starts) = model.dispersed(&mode).unwrap();
        assert!(austerity::model::Model::len(&few) < 2000 && !starts.is_empty());
        let mut modes = vec![mode];
        for start in starts {
            let near = find_mode(&few, &start).unwrap();
            add_mode(&mut modes, find_mode(&model, &near.state).unwrap());
        }
        let weighed = weigh(modes);
        assert_eq!(weighed.len(), 2, "{weighed:?}");
        assert!(weighed[0].mode.state[1] * weighed[1].mode.state[1] < -3.0, "{weighed:?}");
        assert!(weighed[1].share > 1e-3, "{weighed:?}");
    }

    #[test]
    fn the_heaviest_rows_come_first() {
        let model = bundles(500);
        let heavy = model.heaviest(12).unwrap();
        let rows: Vec<usize> = heavy.iter().map(|&p| model.original(p as usize)).collect();
        assert!(rows[..10].iter().all(|&row| row >= 500), "{rows:?}");
        assert_eq!(model.heaviest(1000).unwrap().len(), 510);
    }
}
