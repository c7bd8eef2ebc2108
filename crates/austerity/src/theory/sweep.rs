//! One sweep over the looks, good for every drift.
//!
//! h_j(z) = P(no look before j decided | z_j = z) does not depend on the drift, because the last value of a
//! Brownian motion is sufficient for it. Given z_j the statistic before is N(ρz_j, σ²), ρ² = t_{j−1}/t_j,
//! σ² = 1 − ρ², hence
//!
//! h_j(z) = ∫_{|y| ≤ G_{j−1}} h_{j−1}(y) φ((y − ρz)/σ)/σ dy, h_1 = 1,
//!
//! and the drift μ enters only when h is weighed with the density φ(z − μ√t_j) of z_j:
//! P(wrong at j) = ∫_{z < −G_j} h_j(z)φ(z − μ√t_j)dz and P(on after j) = ∫_{|z| ≤ G_j} h_j(z)φ(z − μ√t_j)dz.
//! (h·φ is the drift-free density of Armitage, McPherson & Rowe 1969; the weight ratio is Girsanov's factor
//! exp(μz√t − μ²t/2). Working with h keeps every number in \[0, 1\] at any drift.)
//!
//! Bounds may be far wider than the walk. Where no bound before can have been met, |z| ≤ c_j = (c_{j−1} −
//! 7σ)/ρ, h_j is 1: the *core*, integrated in closed form at any drift. Beyond d_j = (d_{j−1} + 7σ)/ρ it is
//! 0. Nodes are needed only in the *layer* between, cut off at G_j; the first look is all core (c_1 = d_1 =
//! G_1). For bounds of ordinary width the core is soon empty and the layer is \[−G_j, G_j\].
//!
//! The layer is integrated by Gauss–Legendre, in panels when it is wide, with nodes in proportion to its
//! length over σ; 12 or 16 nodes outside. Error: spectral, about 1e-9 at resolution 1.5, see
//! [`crate::theory::TestWalk::error_estimate`]. Cost: Σ_j (nodes of the positive half) × (nodes within 7σ)
//! exponentials, then half the nodes per look and drift.

use std::ops::Range;

use fearless_simd::{Level, dispatch};

use super::exponential::{exp_negative, weighted_sum};
use super::legendre::{composite, rule};
use super::merge::Visit;
use crate::rule::bound::normal_tail;

/// How finely to integrate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Precision {
    /// Scales the number of nodes within the bounds.
    pub resolution: f64,
    /// Steps of the walk longer than this many standard deviations are left out.
    pub reach: f64,
    /// Nodes on the stretch of `reach` standard deviations outside the bound.
    pub outside: f64,
}

impl Precision {
    /// About 1e-9: 2Φ(−7) = 3e-12 per look.
    pub(crate) const EXACT: Self = Self { resolution: 1.5, reach: 7.0, outside: 16.0 };
    /// About 1e-6 (resolution 0.75 is not enough for hundreds of looks): 2Φ(−6) = 2e-9 per look.
    pub(crate) const FAST: Self = Self { resolution: 0.9, reach: 6.0, outside: 12.0 };
    /// To check the others by.
    pub(crate) const FINER: Self = Self { resolution: 3.0, reach: 8.0, outside: 32.0 };
}

/// The walk is followed until less than this is going on.
const NOTHING: f64 = 1e-13;
/// Density beyond this is nothing: Φ(−8.5) = 1e-17.
const FAR: f64 = 8.5;
/// Layers that want more nodes than this are split into panels of about [`PANEL_NODES`].
const ONE_PANEL: f64 = 512.0;
const PANEL_NODES: f64 = 64.0;
/// More nodes than this in one look: the sweep goes on with so many and owns up to it.
const MOST_NODES: f64 = 1_048_576.0;
/// A panel where h is within this of 1 joins the core; one where it is below is left out.
const FLAT: f64 = 1e-11;
const DENSITY: f64 = 0.398_942_280_401_432_7; // 1/√(2π)

/// The nodes of one look, weights multiplied by h and 1/√(2π).
#[derive(Clone, Debug)]
struct Nodes {
    visit: Visit,
    /// No bound before can have been met within ±core; closed form there.
    core: f64,
    /// Positive half of the nodes between the core and the bound.
    inside: Inside,
    /// Nodes beyond the bound, z > G.
    outside: Weighted,
}

/// The result of the sweep.
#[derive(Clone, Debug)]
pub(crate) struct Sweep {
    looks: Vec<Nodes>,
    first_share: f64,
    /// Every look had the nodes it wanted.
    resolved: bool,
}

/// What one look adds at a given drift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Passage {
    /// Probability of stopping here on the wrong side.
    pub wrong: f64,
    /// Probability of going on after this look.
    pub on: f64,
}

impl Sweep {
    /// Sweeps over `visits`; `first_share` is π_1.
    pub(crate) fn new(visits: &[Visit], first_share: f64, precision: Precision) -> Self {
        dispatch!(Level::new(), _ => Self::build(visits, first_share, precision))
    }

    #[inline(always)]
    fn build(visits: &[Visit], first_share: f64, precision: Precision) -> Self {
        let Precision { resolution, reach, outside } = precision;
        let mut looks: Vec<Nodes> = Vec::with_capacity(visits.len());
        let mut resolved = true;
        let mut source = Source::default();
        for (j, visit) in visits.iter().enumerate() {
            let bound = visit.critical;
            let mut nodes =
                Nodes { visit: *visit, core: bound, inside: Inside::default(), outside: Weighted::default() };
            if j == 0 {
                source = Source { core: bound, top: bound, layer: Weighted::default() };
                looks.push(nodes); // closed form
                continue;
            }
            let survival = |z: f64| source.survival(visit, reach, z);
            let next = visits.get(j + 1).map_or(1.0, |next| next.step);
            let sharpness = (0.5 * (visit.step.powi(-2) + next.powi(-2))).sqrt();
            let density = 0.5 * resolution * std::f64::consts::PI * sharpness;
            let (flat, far) = source.extent(visit, reach);
            let (mut core, mut top) = (flat.clamp(0.0, bound), far.min(bound));
            if core < bound && density * core < 8.0 {
                core = 0.0; // too small to be worth its closed form
            }
            let mut layer = Weighted::default();
            let half = density * (top - core);
            if core >= bound {
                top = bound;
            } else if core == 0.0 && 2.0 * half <= ONE_PANEL {
                let grid = rule((2.0 * half) as usize + 6);
                let half = grid.nodes.len() / 2;
                for (x, weight) in grid.nodes[half..].iter().zip(&grid.weights[half..]) {
                    let z = top * x;
                    layer.push(z, top * weight * survival(z));
                }
            } else {
                resolved &= half <= MOST_NODES;
                let panels = (half.min(MOST_NODES) / PANEL_NODES).ceil().max(1.0);
                let size = (half / panels).min(PANEL_NODES) as usize + 10;
                (core, top) = layer.panels(core..top, panels as usize, size, survival);
            }
            for (&z, weight) in layer.nodes.iter().zip(&layer.weights) {
                nodes.inside.half.push(z, DENSITY * weight);
                nodes.inside.squares.push(DENSITY * weight * (-z * z).exp());
            }
            nodes.core = core;
            let end = far.min(FAR);
            if end > bound {
                let length = end - bound;
                let wanted = outside * (length * visit.correlation / (reach * visit.step)).max(1.0);
                let grid = rule(wanted as usize);
                for (x, weight) in grid.nodes.iter().zip(&grid.weights) {
                    let z = bound + 0.5 * length * (1.0 + x);
                    nodes.outside.push(z, DENSITY * 0.5 * length * weight * survival(z));
                }
            }
            layer.mirror();
            source = Source { core, top, layer };
            looks.push(nodes);
        }
        Self { looks, first_share, resolved }
    }

    /// Whether every look had the nodes it wanted; if not, nothing is known of the error.
    pub(crate) fn resolved(&self) -> bool {
        self.resolved
    }

    /// Calls `visit` look by look with the passage at drift `drift` ≥ 0, until it says that it has enough.
    #[inline(always)]
    pub(crate) fn passages(&self, drift: f64, mut visit: impl FnMut(&Visit, Passage) -> bool) {
        for (j, look) in self.looks.iter().enumerate() {
            let shift = drift * look.visit.root_time;
            let bound = look.visit.critical;
            let passage = if j == 0 {
                Passage { wrong: normal_tail(bound + shift), on: within(bound, shift) }
            } else {
                let on = within(look.core, shift) + look.inside.within(shift);
                Passage { wrong: look.outside.beyond(shift), on }
            };
            if !visit(&look.visit, passage) {
                return;
            }
        }
    }

    /// Share of the data at the first look, 1 when there is none before the last.
    pub(crate) fn first_share(&self) -> f64 {
        self.first_share
    }

    /// The drift at which the first look leaves all but certainly nothing open: Φ(−7) = 1e-12.
    pub(crate) fn certain_drift(&self) -> f64 {
        self.looks.first().map_or(0.0, |look| ((look.visit.critical + 7.0) / look.visit.root_time).min(1e200))
    }

    /// E and π̄ at drift `drift` ≥ 0.
    pub(crate) fn outcome(&self, drift: f64) -> (f64, f64) {
        dispatch!(Level::new(), _ => self.follow(drift))
    }

    #[inline(always)]
    fn follow(&self, drift: f64) -> (f64, f64) {
        let (mut error, mut share) = (0.0, self.first_share);
        self.passages(drift, |visit, passage| {
            error += passage.wrong;
            share += visit.cost * passage.on;
            passage.on > NOTHING
        });
        (error.clamp(0.0, 0.5), share.clamp(self.first_share.min(1.0), 1.0))
    }
}

/// P(|Z − shift| ≤ bound) for a standard normal Z.
#[inline(always)]
fn within(bound: f64, shift: f64) -> f64 {
    if bound > 0.0 { (normal_tail(shift - bound) - normal_tail(shift + bound)).max(0.0) } else { 0.0 }
}

/// What the next look needs of the one before: h is 1 on ±`core`, `layer` from there to `top` (both signs,
/// weights multiplied by h), 0 beyond.
#[derive(Default)]
struct Source {
    core: f64,
    top: f64,
    layer: Weighted,
}

impl Source {
    /// The z up to which h_j is 1 (negative: nowhere), and that from which on it is 0.
    fn extent(&self, visit: &Visit, reach: f64) -> (f64, f64) {
        let reach = reach * visit.step;
        ((self.core - reach) / visit.correlation, (self.top + reach) / visit.correlation)
    }

    /// h_j at `z`.
    #[inline(always)]
    fn survival(&self, visit: &Visit, reach: f64, z: f64) -> f64 {
        let core = within(self.core / visit.step, visit.correlation * z / visit.step);
        if self.layer.nodes.is_empty() { core } else { core + self.layer.survival(visit, reach, z) }
    }
}

/// Nodes, ascending, with weights.
#[derive(Clone, Debug, Default)]
struct Weighted {
    nodes: Vec<f64>,
    weights: Vec<f64>,
}

/// The nodes within the bound, with e^{−z²} at hand.
#[derive(Clone, Debug, Default)]
struct Inside {
    half: Weighted,
    squares: Vec<f64>,
}

impl Weighted {
    fn push(&mut self, node: f64, weight: f64) {
        self.nodes.push(node);
        self.weights.push(weight);
    }

    /// Adds the negative half.
    fn mirror(&mut self) {
        let half = self.nodes.len();
        self.nodes.extend_from_within(..);
        self.weights.extend_from_within(..);
        self.nodes[..half].reverse();
        self.nodes[..half].iter_mut().for_each(|z| *z = -*z);
        self.weights[..half].reverse();
    }

    /// Fills the positive layer from `core` to `top` panel by panel, h being `survival`. Panels at either end
    /// where h is 1 or 0 are left out: returns the core and the top that remain.
    #[inline(always)]
    fn panels(
        &mut self,
        between: Range<f64>,
        panels: usize,
        size: usize,
        survival: impl Fn(f64) -> f64,
    ) -> (f64, f64) {
        let Range { start, end: top } = between;
        let mut core = start;
        let width = (top - core) / panels as f64;
        let mut reached = core;
        for k in 0..panels {
            let (low, high) = (start + width * k as f64, start + width * (k + 1) as f64);
            let held = self.nodes.len();
            let (mut least, mut most) = (1.0f64, 0.0f64);
            composite(low..high, high - low, size, |z, weight| {
                let h = survival(z);
                (least, most) = (least.min(h), most.max(h));
                self.push(z, weight * h);
            });
            if held == 0 && least > 1.0 - FLAT {
                self.nodes.clear();
                self.weights.clear();
                core = high;
            } else if most < FLAT && held > 0 {
                self.nodes.truncate(held);
                self.weights.truncate(held);
                break; // h falls with |z|
            }
            reached = high;
        }
        (core, reached)
    }

    /// The part of h_j at `z` that comes from these, all nodes of the look before with weights multiplied by
    /// h.
    #[inline(always)]
    fn survival(&self, visit: &Visit, reach: f64, z: f64) -> f64 {
        let centre = visit.correlation * z;
        let reach = reach * visit.step;
        let from = self.nodes.partition_point(|&y| y < centre - reach);
        let to = from + self.nodes[from..].partition_point(|&y| y <= centre + reach);
        let scale = -0.5 / (visit.step * visit.step);
        let sum = weighted_sum(&self.nodes[from..to], &self.weights[from..to], |y| {
            exp_negative(scale * (y - centre) * (y - centre))
        });
        DENSITY / visit.step * sum
    }

    /// Σ weight·exp(−(z + shift)²/2).
    #[inline(always)]
    fn beyond(&self, shift: f64) -> f64 {
        if self.nodes.first().is_none_or(|z| z + shift > FAR) {
            return 0.0;
        }
        weighted_sum(&self.nodes, &self.weights, |z| exp_negative(-0.5 * (z + shift) * (z + shift)))
    }
}

impl Inside {
    /// Σ weight·{exp(−(z − shift)²/2) + exp(−(z + shift)²/2)}: the second is e^{−z²−shift²} over the first.
    #[inline(always)]
    fn within(&self, shift: f64) -> f64 {
        let Weighted { nodes, weights } = &self.half;
        let from = nodes.partition_point(|z| shift - z > FAR);
        let to = from + nodes[from..].partition_point(|z| z - shift <= FAR);
        if from == to {
            return 0.0;
        }
        let (nodes, weights) = (&nodes[..to], &weights[..to]);
        let near = |z: f64| exp_negative(-0.5 * (z - shift) * (z - shift));
        if from > 0 || shift > FAR {
            return weighted_sum(&nodes[from..], &weights[from..], near);
        }
        let square = (-shift * shift).exp();
        let (mut direct, mut mirrored) = ([0.0; 4], [0.0; 4]);
        let (chunks, left) = nodes.as_chunks::<4>();
        for (k, chunk) in chunks.iter().enumerate() {
            for lane in 0..4 {
                let near = near(chunk[lane]);
                direct[lane] += weights[4 * k + lane] * near;
                mirrored[lane] += self.squares[4 * k + lane] / near;
            }
        }
        let done = nodes.len() - left.len();
        for (lane, z) in left.iter().enumerate() {
            let near = near(*z);
            direct[lane] += weights[done + lane] * near;
            mirrored[lane] += self.squares[done + lane] / near;
        }
        direct.iter().sum::<f64>() + square * mirrored.iter().sum::<f64>()
    }
}
