//! How extra parameters move rows, in coordinates where the posterior is round.
//!
//! A state with u = C⁻¹(θ − θ̂) moves the linear predictor of a row by h = z·u, z = Cᵀx, and the logarithm of the extra parameter k by Δ_k = z_k·u, z_k = Cᵀe_k, which is the
//! same for all rows. In units c_k the row's displacement is v = (h, c_k Δ_k), and with M a bound of the norm of its third derivatives in those units
//!
//! ```text
//! |R| ≤ M/6·|v|³ ≤ M/6·lev·ρ·(u'(z zᵀ + Σ c_k² z_k z_kᵀ)u),    lev² = |z|² + Σ c_k²|z_k|²
//! ```
//!
//! so that extra parameters add Σ M/6·lev, one number, times a matrix of rank one each to the form that bounds a total. The same with lev² for the fourth order.
//!
//! Units only decide how tight the bound is. They are chosen by the bounds of some rows at the centre, in powers of √2.
//!
//! The term of the third order has the tensor D³ℓ of all variables: Σ w ℓ_ηηη z⊗z⊗z, and with each extra parameter the symmetric products of z_k with Σ w ℓ_ηηk z zᵀ, of z_k and z_l with
//! Σ w ℓ_ηkl z, and of z_k, z_l and z_m with Σ w ℓ_klm.

use nalgebra::DMatrix;

use super::tensor::{Column, EMPTY, FORMS, Panel, ROWS, Sums};
use crate::glm::blocks::BLOCK;
use crate::glm::family::{Around, Family, MOST_USED, THIRDS, Uses};
use crate::glm::{Glm, MOST_EXTRA, precise};
use crate::simd::Level;

/// Rows that units are chosen by.
const LOOKED_AT: usize = 256;
/// Units are tried up to so many factors of √2 either way, twice.
const FACTORS: i32 = 16;

/// The extra parameters.
#[derive(Clone, Debug)]
pub(super) struct Span {
    /// z_k.
    vectors: Vec<Vec<f64>>,
    /// Logarithms at the centre.
    extra: Vec<f64>,
    /// c_k.
    units: Vec<f64>,
    /// How far each may be from the centre.
    reach: Vec<f64>,
    /// Σ c_k²|z_k|².
    pub(super) square: f64,
}

impl Span {
    /// Of the extra parameters of `model` at the centre `state`, whose rows of the factor C are the last ones of `lower`, within `reach` sds.
    pub(super) fn new<F: Family>(model: &Glm<F>, lower: &DMatrix<f64>, state: &[f64], reach: f64) -> Self {
        let (count, extra) = (model.family.extra().len(), model.extra(state));
        let first = lower.nrows() - count;
        let vectors: Vec<Vec<f64>> =
            (0..count).map(|k| lower.row(first + k).iter().copied().collect()).collect();
        let mut span = Self {
            extra: extra.to_vec(),
            units: vec![model.family.unit(extra); count],
            reach: vec![0.0; count],
            square: 0.0,
            vectors,
        };
        if count > 0 {
            span.choose_units(model, lower, state);
        }
        span.reaching(reach)
    }

    /// The same units along the last rows of another factor.
    pub(super) fn along(self, lower: &DMatrix<f64>) -> Self {
        let extras = self.vectors.len();
        Self { vectors: Self::plain(lower, extras).vectors, ..self }
    }

    /// The directions alone, of the last rows of the factor C.
    pub(super) fn plain(lower: &DMatrix<f64>, extras: usize) -> Self {
        let first = lower.nrows() - extras;
        let vectors = (0..extras).map(|k| lower.row(first + k).iter().copied().collect()).collect();
        Self { vectors, extra: Vec::new(), units: Vec::new(), reach: Vec::new(), square: 0.0 }
    }

    /// The same within other sds.
    pub(super) fn reaching(mut self, reach: f64) -> Self {
        self.reach = self.vectors.iter().map(|z| (1.0 + 1e-9) * reach * norm(z)).collect();
        self.square = self.squared(&self.units);
        self
    }

    fn squared(&self, units: &[f64]) -> f64 {
        units.iter().zip(&self.vectors).map(|(unit, z)| (unit * norm(z)).powi(2)).sum()
    }

    fn choose_units<F: Family>(&mut self, model: &Glm<F>, lower: &DMatrix<f64>, state: &[f64]) {
        let view = model.blocks().view();
        let layout = view.layout();
        let first = usize::from(model.intercept);
        let gamma = model.exact_predictor(state);
        let rows: Vec<(f64, [f64; 4])> = (0..view.rows().min(LOOKED_AT))
            .map(|row| {
                let value = |place: usize| f64::from(model.blocks().value(row, place));
                let side = |place: Option<usize>| place.map_or(1.0, value);
                let mut x = Vec::new();
                model.coding.row(model.blocks(), row, |number, value| x.push((first + number, value)));
                let leverage: f64 = (0..lower.ncols())
                    .map(|k| {
                        let own = if model.intercept { lower[(0, k)] } else { 0.0 };
                        let moved = x.iter().map(|&(parameter, value)| lower[(parameter, k)] * value);
                        (own + moved.sum::<f64>()).powi(2)
                    })
                    .sum();
                let eta = precise::predictor(layout, view.block(row / BLOCK), &gamma)[row % BLOCK]
                    + layout.offset.map_or(0.0, value);
                (leverage, [eta, value(layout.response), side(layout.trials), side(layout.weight)])
            })
            .collect();
        let still = vec![0.0; self.units.len()];
        let cost = |units: &[f64]| -> f64 {
            let around = Around { extra: &self.extra, reach: &still, units };
            let more = self.squared(units);
            let of = |&(leverage, [eta, response, trials, weight]): &(f64, [f64; 4])| {
                let [third, _] = model.family.row_bounds(&around, (eta, 0.0), response, trials, false);
                weight * third * (leverage + more).powf(1.5)
            };
            rows.iter().map(of).sum()
        };
        let mut units = self.units.clone();
        for _ in 0..if units.len() > 1 { 2 } else { 1 } {
            for k in 0..units.len() {
                let usual = units[k];
                let tried = (-FACTORS..=FACTORS).map(|power| usual * 2f64.powf(0.5 * f64::from(power)));
                let costs = tried.map(|unit| {
                    units[k] = unit;
                    (cost(&units), unit)
                });
                let costs: Vec<(f64, f64)> = costs.collect();
                let best =
                    costs.into_iter().filter(|(cost, _)| cost.is_finite()).min_by(|a, b| a.0.total_cmp(&b.0));
                units[k] = best.map_or(usual, |(_, unit)| unit);
            }
        }
        self.units = units;
    }

    /// Where derivatives are bounded.
    pub(super) fn around(&self) -> Around<'_> {
        Around { extra: &self.extra, reach: &self.reach, units: &self.units }
    }

    /// Adds `weight`·Σ c_k² z_k z_kᵀ to a form, its lower triangle by rows.
    pub(super) fn add_to(&self, form: &mut [f64], weight: f64) {
        for (z, unit) in self.vectors.iter().zip(&self.units) {
            let factor = weight * unit * unit;
            let mut entries = form.iter_mut();
            for (a, za) in z.iter().enumerate() {
                z[..=a].iter().zip(&mut entries).for_each(|(zb, entry)| *entry += factor * za * zb);
            }
        }
    }
}

fn norm(z: &[f64]) -> f64 {
    z.iter().map(|z| z * z).sum::<f64>().sqrt()
}

/// The variables of each different third derivative, 0 for η, in the order of [`Family::row_third`].
pub(super) fn third_places(extras: usize) -> Vec<[usize; 3]> {
    let mut all = Vec::new();
    for a in 0..=extras {
        for b in a..=extras {
            all.extend((b..=extras).map(|c| [a, b, c]));
        }
    }
    all
}

/// The place of a derivative among those.
fn third_place(extras: usize, variables: [usize; 3]) -> usize {
    let [mut a, mut b, mut c] = variables;
    (a, b) = (a.min(b), a.max(b));
    (b, c) = (b.min(c), b.max(c));
    (a, b) = (a.min(b), a.max(b));
    let pairs = |n: usize| n * (n + 1) / 2;
    let triples = |n: usize| n * (n + 1) * (n + 2) / 6;
    let n = extras + 1;
    triples(n) - triples(n - a) + pairs(n - a) - pairs(n - b) + c - b
}

/// What extra parameters add to the sums of the third order.
#[derive(Clone, Debug)]
pub(super) struct Mixed {
    extras: usize,
    /// Σ w ℓ_ηηk z zᵀ, of some extra parameters each.
    forms: Vec<Sums>,
    /// Σ w ℓ_ηkl z by the place of the derivative, and Σ w ℓ_klm in front.
    vectors: Vec<Vec<f64>>,
    scalars: Vec<f64>,
}

/// Third derivatives of the rows of a panel in which an extra parameter takes part, times their weights.
#[derive(Clone, Debug)]
pub(super) struct MixedPanel {
    extras: usize,
    thirds: Vec<Column>,
}

impl MixedPanel {
    pub(super) fn new(extras: usize) -> Self {
        Self { extras, thirds: vec![EMPTY; if extras == 0 { 0 } else { third_places(extras).len() }] }
    }

    pub(super) fn clear(&mut self) {
        self.thirds.fill(EMPTY);
    }

    /// Sets a row, whose third derivatives are in η and the extra parameters that it uses.
    pub(super) fn set(&mut self, row: usize, weight: f64, thirds: &[f64; THIRDS], uses: Uses) {
        let mut thirds = thirds.iter();
        for a in 0..=uses.count {
            for b in a..=uses.count {
                for (c, third) in (b..=uses.count).zip(&mut thirds) {
                    let place =
                        [a, b, c].map(|k| if k == 0 { 0 } else { uses.places[k - 1].saturating_add(1) });
                    // Of what is unused all derivatives are 0.
                    if place.iter().all(|&k| k <= self.extras) {
                        let column = &mut self.thirds[third_place(self.extras, place)];
                        column[row / 16][row % 16] = (weight * third) as f32;
                    }
                }
            }
        }
    }
}

impl Mixed {
    pub(super) fn new(directions: usize, extras: usize) -> Self {
        let count = if extras == 0 { 0 } else { third_places(extras).len() };
        Self {
            extras,
            forms: (0..extras)
                .step_by(FORMS)
                .map(|first| Sums::quadratics(directions, FORMS.min(extras - first)))
                .collect(),
            vectors: vec![vec![0.0; directions]; count],
            scalars: vec![0.0; count],
        }
    }

    /// Adds the rows of a panel, whose own weights are overwritten.
    pub(super) fn push(&mut self, level: Level, panel: &mut Panel, mixed: &MixedPanel) {
        if self.extras == 0 {
            return;
        }
        let kept = std::mem::replace(&mut panel.weights, [EMPTY; FORMS]);
        for (place, (variables, thirds)) in
            third_places(self.extras).into_iter().zip(&mixed.thirds).enumerate()
        {
            match variables {
                [0, 0, _] => {}
                [0, ..] => panel.add_products(thirds, &mut self.vectors[place]),
                _ => {
                    let all = thirds.as_flattened()[..ROWS].iter();
                    self.scalars[place] += all.map(|&third| f64::from(third)).sum::<f64>();
                }
            }
        }
        for (group, forms) in self.forms.iter_mut().enumerate() {
            panel.weights = [EMPTY; FORMS];
            // The derivatives ηη1, ηη2, … follow that of η alone.
            let thirds =
                mixed.thirds.iter().skip(1 + FORMS * group).take((self.extras - FORMS * group).min(FORMS));
            panel.weights.iter_mut().zip(thirds).for_each(|(weights, thirds)| *weights = *thirds);
            forms.push(level, panel);
        }
        panel.weights = kept;
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.forms.iter_mut().zip(&other.forms).for_each(|(mine, theirs)| mine.add(theirs));
        let vectors = self.vectors.iter_mut().flatten().zip(other.vectors.iter().flatten());
        vectors.for_each(|(mine, theirs)| *mine += theirs);
        self.scalars.iter_mut().zip(&other.scalars).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// Adds it to a cubic form that is not completed yet.
    pub(super) fn add_to(&self, span: &Span, cubic: &mut [f64]) {
        if self.extras == 0 {
            return;
        }
        let z = &span.vectors;
        let directions = z[0].len();
        let entry = |form: &[f64], a: usize, b: usize| form[a.max(b) * (a.max(b) + 1) / 2 + a.min(b)];
        let mut entries = cubic.iter_mut();
        for a in 0..directions {
            for b in 0..=a {
                for (c, entry_of) in (0..=b).zip(&mut entries) {
                    let mut sum = 0.0;
                    for (place, variables) in third_places(self.extras).into_iter().enumerate() {
                        match variables {
                            [0, 0, 0] => {}
                            [0, 0, k] => {
                                let (form, z) =
                                    (&self.forms[(k - 1) / FORMS].forms[(k - 1) % FORMS], &z[k - 1]);
                                sum += z[a] * entry(form, b, c)
                                    + z[b] * entry(form, a, c)
                                    + z[c] * entry(form, a, b);
                            }
                            [0, k, l] => {
                                let (v, x, y) = (&self.vectors[place], &z[k - 1], &z[l - 1]);
                                // Both orders of two different parameters, one of the same.
                                let pair = |i: usize, j: usize| {
                                    if k == l { x[i] * y[j] } else { x[i] * y[j] + x[j] * y[i] }
                                };
                                sum += v[a] * pair(b, c) + v[b] * pair(a, c) + v[c] * pair(a, b);
                            }
                            [k, l, m] => {
                                let [x, y, w] = [&z[k - 1], &z[l - 1], &z[m - 1]];
                                sum += self.scalars[place] * orders([k, l, m], [a, b, c], [x, y, w]);
                            }
                        }
                    }
                    *entry_of += sum;
                }
            }
        }
    }
}

/// Σ x_i y_j w_k over the different assignments of three parameters to three places.
fn orders(which: [usize; 3], [a, b, c]: [usize; 3], [x, y, w]: [&Vec<f64>; 3]) -> f64 {
    let all = [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]];
    let sum: f64 = all.iter().map(|&[i, j, k]| x[i] * y[j] * w[k]).sum();
    // Equal parameters are counted once.
    let equal = match which {
        [k, l, m] if k == l && l == m => 6.0,
        [k, l, m] if k == l || l == m => 2.0,
        _ => 1.0,
    };
    sum / equal
}

/// ½D³ℓ[·, v, v] of a row in η and the extra parameters, whose third derivatives are in those that it uses.
pub(in crate::glm) fn bend(thirds: &[f64; THIRDS], uses: Uses, v: &[f64]) -> [f64; 1 + MOST_EXTRA] {
    let Uses { places, count } = uses;
    let mut used = [0; 1 + MOST_USED];
    used[1..].iter_mut().zip(places).for_each(|(slot, place)| *slot = place.saturating_add(1));
    let moved = used.map(|place| v.get(place).copied().unwrap_or(0.0));
    let mut all = [0.0; 1 + MOST_EXTRA];
    for (a, &place) in used[..=count].iter().enumerate().filter(|&(_, &place)| place < v.len()) {
        for (b, vb) in moved[..=count].iter().enumerate() {
            for (c, vc) in moved[..=count].iter().enumerate() {
                all[place] += 0.5 * thirds[third_place(count, [a, b, c])] * vb * vc;
            }
        }
    }
    all
}
