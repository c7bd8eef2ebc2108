//! The three pictures of a parameter: trace, ranks, marginal.
//!
//! Ranks are taken over the draws of all chains; a chain that explores the same distribution as the others has them spread
//! evenly, each bar at the dotted line (Vehtari, Gelman, Simpson, Carpenter & Bürkner, 2021, section 5).

use austerity::diagnostics::{Summary, average_ranks};
use austerity_plot::{Axis, Mark, Panel, Scale, extremes};

use super::density::{density, range};
use super::words::counted;
use super::{Report, figure};

/// Points of all traces of a card, and of one at the most.
const TRACE_POINTS: (usize, usize) = (2400, 600);
/// Chains that traces and marginals show, at the most.
const CHAINS_DRAWN: usize = 16;
/// Chains whose ranks are shown, at the most.
const RANKS_DRAWN: usize = 8;
/// Bars of a rank histogram, at the most, and draws per bar at the least.
const RANK_BARS: (usize, usize) = (20, 10);

/// One parameter, ready to be drawn.
pub(super) struct Pictures<'a> {
    report: &'a Report,
    summary: &'a Summary,
    chains: Vec<&'a [f64]>,
    /// Per chain the shares of its draws in equal ranges of rank.
    ranks: Vec<Vec<f64>>,
    /// Chains that differ most from the others, first.
    odd_first: Vec<usize>,
}

impl<'a> Pictures<'a> {
    /// `None` when there is nothing to draw.
    pub(super) fn new(report: &'a Report, summary: &'a Summary, chains: &'a [Vec<f64>]) -> Option<Self> {
        let chains: Vec<&[f64]> = chains.iter().map(Vec::as_slice).collect();
        chains.iter().any(|chain| chain.iter().any(|value| value.is_finite())).then(|| {
            let ranks = rank_shares(&chains);
            let uneven = |shares: &[f64]| {
                shares.iter().map(|share| (share - 1.0 / shares.len() as f64).powi(2)).sum::<f64>()
            };
            let mut odd_first: Vec<usize> = (0..chains.len()).collect();
            odd_first.sort_by(|&a, &b| uneven(&ranks[b]).total_cmp(&uneven(&ranks[a])));
            Self { report, summary, chains, ranks, odd_first }
        })
    }

    /// The figures of the card.
    pub(super) fn figures(&self) -> String {
        [self.trace(), self.ranks(), self.marginal()].concat()
    }

    /// The `most` oddest chains, in their order; and a remark when that is not all.
    fn pick(&self, most: usize) -> (Vec<usize>, String) {
        let mut picked: Vec<usize> = self.odd_first.iter().copied().take(most).collect();
        picked.sort_unstable();
        let all = picked.len() == self.chains.len();
        (
            picked,
            if all { String::new() } else { format!("the {most} oddest of {} chains", self.chains.len()) },
        )
    }

    fn trace(&self) -> String {
        let (picked, remark) = self.pick(CHAINS_DRAWN);
        let points = (TRACE_POINTS.0 / picked.len().max(1)).min(TRACE_POINTS.1);
        let draws = (self.report.draws.max(1)) as f64;
        let axis = Axis::new("draw", Scale::Linear).with_limits(0.0, draws);
        let panel = picked.iter().fold(
            Panel::new("", axis, Axis::new("", Scale::Linear)).small(),
            |panel, &series| {
                let chain = self.chains[series];
                let stride = draws / chain.len().max(1) as f64;
                let points = extremes(chain, points);
                let points = points.into_iter().map(|(index, value)| ((index as f64 + 1.0) * stride, value));
                panel.mark(Mark::Line { series, points: points.collect() })
            },
        );
        let name = &self.summary.name;
        figure(
            "Trace",
            &panel.inline(&format!("Trace of {name}, {}", counted(self.chains.len(), "chain"))),
            &remark,
        )
    }

    fn ranks(&self) -> String {
        if self.chains.len() < 2 {
            return String::new();
        }
        let (picked, remark) = self.pick(RANKS_DRAWN);
        let rows = picked.len() as f64;
        // From top to bottom; half the height of a row is the even share, all of it twice that.
        let base = |row: usize| rows - 1.0 - row as f64;
        let label =
            |&series: &usize| self.report.chain_numbers.get(series).map_or(String::new(), u32::to_string);
        let labels =
            picked.iter().enumerate().map(|(row, series)| (base(row) + 0.4, label(series))).collect();
        let mut panel = Panel::new(
            "",
            Axis::new("rank among all draws, lowest to highest", Scale::Linear)
                .with_limits(0.0, 1.0)
                .with_marks(Vec::new()),
            Axis::new("chain", Scale::Linear).with_limits(0.0, rows).with_marks(labels),
        )
        .small();
        for (row, &series) in picked.iter().enumerate() {
            let shares = &self.ranks[series];
            let bars = shares.len() as f64;
            panel = panel
                .mark(Mark::Bars {
                    series: Some(series),
                    edges: (0..=shares.len()).map(|edge| edge as f64 / bars).collect(),
                    base: base(row),
                    heights: shares.iter().map(|share| (0.45 * share * bars).min(0.95)).collect(),
                })
                .mark(Mark::Level(base(row) + 0.45));
        }
        let description = format!("Rank histograms of {} by chain", self.summary.name);
        figure(
            "Ranks",
            &panel.inline(&description),
            if remark.is_empty() { "even when chains agree" } else { &remark },
        )
    }

    fn marginal(&self) -> String {
        let Some((low, high)) = range(&self.chains) else { return String::new() };
        let (picked, _) = self.pick(CHAINS_DRAWN);
        let constant = low >= high;
        let room = if low == 0.0 { 0.5 } else { 0.01 * low.abs() };
        let limits = if constant { (low - room, low + room) } else { (low, high) };
        let value = Axis::new("value", Scale::Linear).with_limits(limits.0, limits.1);
        let bare = Axis::new("", Scale::Linear).with_marks(Vec::new());
        let mut panel = Panel::new("", value, bare)
            .small()
            .mark(Mark::Band { from: self.summary.q025, to: self.summary.q975 })
            .mark(Mark::Upright(if constant { low } else { self.summary.q50 }));
        let curves: Vec<(usize, Vec<(f64, f64)>)> =
            picked.iter().map(|&series| (series, density(self.chains[series], limits))).collect();
        // Starting at zero keeps the heights honest.
        panel = panel.mark(Mark::Line { series: 0, points: vec![(limits.0, 0.0)] });
        if !constant {
            for (series, points) in curves {
                panel = panel.mark(Mark::Line { series, points });
            }
        }
        let description =
            format!("Marginal density of {} by chain, with median and 95 % interval", self.summary.name);
        figure(
            "Marginal",
            &panel.inline(&description),
            if constant { "all draws are equal" } else { "median, 95 % interval" },
        )
    }
}

/// Per chain the share of its draws in each of equally wide ranges of rank.
fn rank_shares(chains: &[&[f64]]) -> Vec<Vec<f64>> {
    let total: usize = chains.iter().map(|chain| chain.len()).sum();
    let ranks = average_ranks(&chains.concat());
    let shortest = chains.iter().map(|chain| chain.len()).min().unwrap_or(0);
    let bars = (shortest / RANK_BARS.1).clamp(1, RANK_BARS.0);
    let mut rest = ranks.as_slice();
    let mut shares = Vec::with_capacity(chains.len());
    for chain in chains {
        let (own, others) = rest.split_at(chain.len());
        rest = others;
        let mut counts = vec![0.0; bars];
        for rank in own {
            // Ranks run from 1 to the total; their middles from 0 to 1.
            let place = (rank - 0.5) / total as f64;
            counts[((place * bars as f64) as usize).min(bars - 1)] += 1.0 / own.len() as f64;
        }
        shares.push(counts);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_chains_have_even_ranks_and_a_shifted_one_has_not() {
        let even: Vec<f64> = (0..400).map(|i| f64::from(i * 37 % 400)).collect();
        let same = rank_shares(&[&even, &even]);
        assert!(same.iter().flatten().all(|share| (share - 0.05).abs() < 1e-12), "{same:?}");
        let shifted: Vec<f64> = even.iter().map(|v| v + 1000.0).collect();
        let apart = rank_shares(&[&even, &shifted]);
        assert!(apart[0][19] == 0.0 && apart[1][0] == 0.0 && (apart[1][19] - 0.1).abs() < 1e-12);
        assert_eq!(rank_shares(&[&[1.0], &[1.0]]), [[1.0], [1.0]]);
    }
}
