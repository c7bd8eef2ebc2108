//! Rows and what the draws say of them: replicates, PIT values, means, scores.
//!
//! Of every row and draw one new response is drawn. The PIT value of a row is the rank of its response among them, ties and the ends broken at random, so it is uniform if the model
//! holds, for continuous and discrete responses alike (Czado, Gneiting and Held 2009). Noise is independent between rows: statistics of a draw over all rows are those of a replicated data set.
//!
//! Cost: rows × draws × (features + one quantile).

use austerity::rng::{Role, stream};
use rand::RngExt as _;

use crate::model::Family;
use crate::runs::law::{Law, Lawful, under};
use crate::runs::predict::draws::Draws;
use crate::runs::predict::product::{Product, TILE};
use crate::runs::rows::Kept;

/// Counts that a rootogram shows.
pub(super) const MOST_COUNTS: usize = 30;

/// What was seen of some rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Looked {
    pub(super) response: Vec<f64>,
    pub(super) trials: Vec<f64>,
    /// Expected response of every row.
    pub(super) mean: Vec<f64>,
    pub(super) pit: Vec<f64>,
    /// Log of the average density of every row.
    pub(super) density: Vec<f64>,
    /// Row after row the expected responses under every draw.
    pub(super) means: Vec<f32>,
    /// Per draw: sum of the log densities.
    pub(super) densities: Vec<f64>,
    /// Per draw: mean, standard deviation, share of zeros, largest value of the replicated data.
    pub(super) statistics: Vec<[f64; 4]>,
    /// By count, per draw how often it was replicated.
    pub(super) counts: Vec<Vec<f64>>,
    pub(super) draws: usize,
}

/// Looks at rows; `counted` families get the numbers of a rootogram.
pub(super) fn look(family: Family, (draws, kept): (&Draws, &Kept), counted: bool, seed: u64) -> Looked {
    under(family, Look { draws, kept, counted, seed })
}

struct Look<'a> {
    draws: &'a Draws,
    kept: &'a Kept,
    counted: bool,
    seed: u64,
}

impl Lawful for Look<'_> {
    type Output = Looked;

    fn under(self, law: &impl Law) -> Looked {
        let Self { draws, kept, counted, seed } = self;
        let (piece, count) = (kept.piece(), draws.count());
        let response = piece.response.clone().unwrap_or_default();
        let most = response.iter().copied().fold(0.0, f64::max).min(MOST_COUNTS as f64) as usize;
        let mut seen = Looked {
            trials: piece.trials.as_ref().map_or_else(|| vec![1.0; piece.rows], |trials| trials.to_vec()),
            densities: vec![0.0; count],
            statistics: vec![[0.0, 0.0, 0.0, f64::NEG_INFINITY]; count],
            counts: if counted { vec![vec![0.0; count]; most + 1] } else { Vec::new() },
            draws: count,
            ..Looked::default()
        };
        let mut rng = stream(seed, 2, Role::Data);
        let mut product = Product::new(draws);
        let mut logs = vec![0.0; count];
        for first in (0..piece.rows).step_by(TILE) {
            let tile = TILE.min(piece.rows - first);
            product.compute(&piece, first, tile);
            for at in 0..tile {
                let (y, trials) = (response[first + at], seen.trials[first + at]);
                let constant = law.constant(y, trials);
                let (mut below, mut equal, mut mean) = (0.0, 0.0, 0.0);
                for (d, &eta) in product.row(at).iter().enumerate() {
                    let extra = draws.extra(d);
                    let level = (rng.random::<f64>() + f64::EPSILON / 2.0).min(1.0 - f64::EPSILON / 2.0);
                    let new = law.quantile((level, law.noise(level, extra)), eta, extra, trials);
                    let expected = law.mean(eta, extra, trials);
                    mean += expected;
                    seen.means.push(expected as f32);
                    logs[d] = law.log_density(eta, extra, y, trials) + constant;
                    seen.densities[d] += logs[d];
                    below += f64::from(u8::from(new < y));
                    equal += f64::from(u8::from(new == y));
                    let statistics = &mut seen.statistics[d];
                    statistics[0] += new;
                    statistics[1] += new * new;
                    statistics[2] += f64::from(u8::from(new == 0.0));
                    statistics[3] = statistics[3].max(new);
                    if counted && let Some(counts) = seen.counts.get_mut(new as usize) {
                        counts[d] += 1.0;
                    }
                }
                seen.mean.push(mean / count as f64);
                seen.pit.push((below + rng.random::<f64>() * (equal + 1.0)) / (count as f64 + 1.0));
                let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = logs.iter().map(|log| (log - highest).exp()).sum();
                seen.density.push(highest + (sum / count as f64).ln());
            }
        }
        let rows = piece.rows as f64;
        for statistics in &mut seen.statistics {
            let mean = statistics[0] / rows;
            let variance = (statistics[1] / rows - mean * mean).max(0.0);
            (statistics[0], statistics[1], statistics[2]) = (mean, variance.sqrt(), statistics[2] / rows);
        }
        seen.response = response;
        seen
    }
}
