//! How far a second-order expansion can be off, for certain: what certified decisions rest on.
//!
//! With C Cᵀ the covariance of the coefficients, z = Cᵀx and lev = |z| of a row, u = C⁻¹(θ − θ̂) and ρ = |u| of a state, the linear predictor moves by
//! h = z·u, |h| ≤ lev·ρ. For all states with ρ ≤ ρ_max, by Taylor's theorem with D₃ and D₄ the largest third and fourth derivative within lev·ρ_max of η̂,
//!
//! ```text
//! |Σ R_i|                ≤ Σ w D₃/6·|h|³   ≤ ρ·uᵀA₃u,    A₃ = Σ w D₃/6·lev·z zᵀ        (second order)
//! |Σ R_i − T[u,u,u]/6|   ≤ Σ w D₄/24·h⁴    ≤ ρ²·uᵀA₄u,   A₄ = Σ w D₄/24·lev²·z zᵀ      (third order)
//! ```
//!
//! with the tensor T = Σ w ℓ'''(η̂) z⊗z⊗z. Bounding only one factor |h| (or two) by lev·ρ keeps the bounds d times narrower than lev³ρ³ would.
//! The total of a move R(θ') − R(θ) is bounded by the sum of both. The rows with the largest bounds come in a few *heads*, blocks that can be read: matrices
//! and tensors of the *tails*, the blocks after each head, bound what is then left. States beyond ρ_max have no bound.
//!
//! What is bounded is the total that f32 arithmetic computes: with δ the largest error of h/ρ, of a row as dot products in f32 have it, another form
//! Σ w D₃/6·(8δ + 3e-5·lev)·z zᵀ covers the effect of δ on R and on T and the relative accuracy of R itself ([`crate::glm::remainder`]).
//!
//! Cost: two passes; d²/2 multiply-adds a row each, and d³/6 for the tensor, which is built up to 40 coefficients. A decision: d² and d³/6 numbers per new
//! state. Extra parameters of the family add matrices of rank one (`span.rs`).

mod build;

use super::dot;
use super::span::{Mixed, Span};
use super::tensor::{self, FORMS, Sums};

/// How a certificate is built.
#[derive(Clone, Debug, PartialEq)]
pub struct CertificateSettings {
    /// ρ_max: sds within which states have a bound. `None`: √d + 4.
    pub reach: Option<f64>,
    /// Whether the tensor is built. `None`: up to 40 coefficients.
    pub third_order: Option<bool>,
    /// Threads for the passes. Nothing depends on them but the time.
    pub threads: usize,
}

impl Default for CertificateSettings {
    fn default() -> Self {
        Self {
            reach: None,
            third_order: None,
            threads: std::thread::available_parallelism().map_or(1, Into::into),
        }
    }
}

/// Relative rounding of sums over panels.
const SUMMED: f64 = 3e-6;

/// The forms of a tail.
const CUBIC: usize = 0;
const QUARTIC: usize = 1;
const ROUNDING: usize = 2;

/// Bounds of what an expansion leaves.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// C, packed row by row.
    factor: Vec<f64>,
    /// ρ_max.
    reach: f64,
    /// Of all blocks, then of those after each head.
    tails: Vec<Tail>,
    /// The blocks of each head, ascending.
    heads: Vec<Vec<u32>>,
}

/// Sums over some blocks.
#[derive(Clone, Debug)]
struct Tail {
    sums: Sums,
    /// Σ w δ² of the forms: z is known to within δ.
    errors: [f64; FORMS],
    /// Traces of the forms, which their rounding is relative to.
    traces: [f64; FORMS],
    /// Sums of the weights, which extra parameters are multiplied by.
    spanned: [f64; FORMS],
    /// What extra parameters add to the tensor.
    mixed: Mixed,
}

impl Tail {
    fn new(directions: usize, cubic: bool, extras: usize) -> Self {
        Self {
            sums: Sums::new(directions, cubic),
            errors: [0.0; FORMS],
            traces: [0.0; FORMS],
            spanned: [0.0; FORMS],
            mixed: Mixed::new(directions, if cubic { extras } else { 0 }),
        }
    }

    /// Takes in what extra parameters add, then counts every order of the indices.
    fn complete(&mut self, span: &Span) {
        for (form, &weight) in self.sums.forms.iter_mut().zip(&self.spanned) {
            span.add_to(form, weight);
        }
        self.mixed.add_to(span, &mut self.sums.cubic);
        self.sums.complete();
    }

    fn add(&mut self, other: &Self) {
        self.sums.add(&other.sums);
        self.mixed.add(&other.mixed);
        for k in 0..FORMS {
            self.errors[k] += other.errors[k];
            self.traces[k] += other.traces[k];
            self.spanned[k] += other.spanned[k];
        }
    }

    /// Σ w (z·u)² from above: √Σw(z·u)² ≤ √Σw(z̃·u)² + ρ√Σwδ².
    fn form(&self, which: usize, place: &Place) -> f64 {
        let rho = place.distance;
        let computed = tensor::quadratic(&self.sums.forms[which], &place.coordinates).max(0.0);
        let root = (computed + SUMMED * self.traces[which] * rho * rho).sqrt();
        (root + rho * self.errors[which].sqrt()).powi(2)
    }
}

/// Where a state lies, and what is bounded there.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// θ − θ̂ of the coefficients that move residuals.
    moved: Vec<f64>,
    /// u, once asked for.
    coordinates: Vec<f64>,
    /// ρ.
    distance: f64,
    /// Whether both are those of `moved`.
    known: bool,
    /// The bound of the second order, without rounding, or the limit.
    second: Option<f64>,
    /// The term of the third order and its bound, without rounding.
    third: Option<(f64, f64)>,
}

impl Place {
    fn set(&mut self, moved: impl Iterator<Item = f64>) {
        self.moved.clear();
        self.moved.extend(moved);
        (self.known, self.second, self.third) = (false, None, None);
    }

    fn is(&self, mut moved: impl Iterator<Item = f64>) -> bool {
        !self.moved.is_empty() && self.moved.iter().all(|&h| moved.next() == Some(h))
    }
}

/// The two states of a move; what is known of a state that was the candidate before is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Places([Place; 2]);

impl Places {
    /// Takes in a move.
    pub(super) fn take<I: Iterator<Item = f64> + Clone>(&mut self, from: I, to: I) {
        let [here, there] = &mut self.0;
        if there.is(from.clone()) {
            std::mem::swap(here, there);
        } else if !here.is(from.clone()) {
            here.set(from);
        }
        there.set(to);
    }

    /// θ − θ̂ of both states.
    pub(super) fn moved(&self) -> [&[f64]; 2] {
        self.0.each_ref().map(|place| &place.moved[..])
    }

    /// The sum of a limit of both states, which is worked out once for each.
    pub(super) fn limited(&mut self, mut limit: impl FnMut(&[f64], &mut Vec<f64>) -> f64) -> f64 {
        let mut of = |place: &mut Place| {
            let Place { moved, coordinates, second, .. } = place;
            *second.get_or_insert_with(|| limit(moved, coordinates))
        };
        let [from, to] = &mut self.0;
        of(from) + of(to)
    }
}

/// What the blocks after some heads add to a total: an estimate and its bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rest {
    pub(super) estimate: f64,
    pub(super) bound: f64,
}

impl Bounds {
    /// Heads that can be read.
    pub(super) fn heads(&self) -> &[Vec<u32>] {
        &self.heads
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let of = |tail: &Tail| tail.sums.cubic.len() + FORMS * tail.sums.forms[0].len();
        8 * (self.factor.len() + self.tails.iter().map(of).sum::<usize>())
    }

    /// Whether there is a bound at all: intervals may be too wide where an extra parameter is hardly known.
    fn are_finite(&self) -> bool {
        self.tails[0].traces.iter().all(|trace| trace.is_finite())
    }

    /// Finds u and ρ of both states; whether they have bounds.
    pub(super) fn locate(&self, places: &mut Places) -> bool {
        for place in &mut places.0 {
            if !place.known {
                place.coordinates.clear();
                let mut rest = &self.factor[..];
                for (k, &h) in place.moved.iter().enumerate() {
                    let (row, after) = rest.split_at(k + 1);
                    rest = after;
                    let u = (h - dot(&row[..k], &place.coordinates)) / row[k];
                    place.coordinates.push(u);
                }
                let square = dot(&place.coordinates, &place.coordinates);
                place.distance = square.sqrt() * (1.0 + 1e-9);
                place.known = true;
            }
        }
        self.are_finite() && places.0.iter().all(|place| place.distance <= self.reach)
    }

    /// What rounding can add to a total.
    fn rounding(&self, places: &Places) -> f64 {
        let all = &self.tails[0];
        let of = |place: &Place| place.distance * all.form(ROUNDING, place);
        of(&places.0[0]) + of(&places.0[1])
    }

    /// |Σ r| of all blocks by the second order.
    pub(super) fn second(&self, places: &mut Places) -> Rest {
        let rounding = self.rounding(places);
        let mut of = |i: usize| {
            let place = &mut places.0[i];
            let second = place.second.unwrap_or_else(|| self.second_of(0, place));
            place.second = Some(second);
            second
        };
        Rest { estimate: 0.0, bound: of(0) + of(1) + rounding }
    }

    fn second_of(&self, tail: usize, place: &Place) -> f64 {
        place.distance * self.tails[tail].form(CUBIC, place)
    }

    /// Σ r of all blocks by the third order, where there is a tensor.
    pub(super) fn third(&self, places: &mut Places) -> Option<Rest> {
        let rounding = self.rounding(places);
        let mut of = |i: usize| {
            let place = &mut places.0[i];
            let third = place.third.or_else(|| self.third_of(0, place));
            place.third = third;
            third
        };
        let (from, to) = (of(0)?, of(1)?);
        Some(Rest { estimate: to.0 - from.0, bound: from.1 + to.1 + rounding })
    }

    /// The term of the third order of one state, and the bound of what it leaves.
    fn third_of(&self, tail: usize, place: &Place) -> Option<(f64, f64)> {
        let tail = &self.tails[tail];
        if tail.sums.cubic.is_empty() {
            return None;
        }
        let square = place.distance * place.distance;
        let term = tensor::cubic(&tail.sums.cubic, &place.coordinates) / 6.0;
        // The trace of A₃ is Σ w D₃/6·lev³: what the sums of the tensor are made of, from above.
        let summed = SUMMED * tail.traces[CUBIC] * square * place.distance;
        Some((term, square * tail.form(QUARTIC, place) + summed))
    }

    /// Σ r of the blocks after `heads` heads, by the narrower of both orders.
    pub(super) fn after(&self, heads: usize, places: &mut Places) -> Rest {
        if heads == 0 {
            let (second, third) = (self.second(places), self.third(places));
            return third.filter(|third| third.bound < second.bound).unwrap_or(second);
        }
        let rounding = self.rounding(places);
        let [from, to] = &places.0;
        let bound = self.second_of(heads, from) + self.second_of(heads, to) + rounding;
        let third = self.third_of(heads, from).zip(self.third_of(heads, to));
        let third = third.map(|(from, to)| Rest { estimate: to.0 - from.0, bound: from.1 + to.1 + rounding });
        third.filter(|third| third.bound < bound).unwrap_or(Rest { estimate: 0.0, bound })
    }

    /// The same bounds with the constants of the cubic and the quartic multiplied: for power checks.
    #[cfg(test)]
    pub(super) fn weakened(mut self, factor: f64) -> Self {
        for tail in &mut self.tails {
            for which in [CUBIC, QUARTIC] {
                tail.sums.forms[which].iter_mut().for_each(|entry| *entry *= factor);
                tail.errors[which] *= factor;
                tail.traces[which] *= factor;
            }
        }
        self
    }
}

#[cfg(test)]
mod tests;
