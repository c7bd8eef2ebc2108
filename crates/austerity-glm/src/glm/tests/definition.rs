//! Every family of the list against its scalar definition: kernels, derivatives, residuals, bounds, constants, means and quantiles.
//!
//! Nothing here names a family. Points are drawn with a fixed seed; comparisons are deterministic given those, so there is no false-alarm rate.

use super::derived::{self, Derived};
use super::expansion::span::bend;
use super::families::{AnyFamily, Visitor};
use super::family::{Around, Curve, Kernel};
use super::*;
use crate::simd::{Lanes, dispatched};
use fearless_simd::prelude::*;

/// A row where a family may be, and how far it moves.
#[derive(Clone, Copy, Debug)]
struct Point {
    eta: f64,
    delta: f64,
    response: f64,
    trials: f64,
    extra: [f64; MOST_EXTRA],
    moved: [f64; MOST_EXTRA],
}

fn point<F: Family>(family: &F, rng: &mut Rng, size: f64) -> Point {
    let usual = |k: usize| F::EXTRA.get(k).map_or(0.0, |extra| extra.typical.ln());
    let mut extra: [f64; MOST_EXTRA] = std::array::from_fn(|k| usual(k) + 0.4 * normal(rng));
    let mut moved: [f64; MOST_EXTRA] = std::array::from_fn(|_| size * normal(rng));
    if F::RISING {
        // They must rise at both ends.
        let mut at = f64::NEG_INFINITY;
        for (k, extra) in extra.iter_mut().enumerate() {
            *extra = extra.max(at + 0.2);
            at = *extra;
            moved[k] = moved[0] + if size < 0.1 { 0.2 * (moved[k] - moved[0]) } else { 0.0 };
        }
    }
    let trials = f64::from(rng.random_range(1..9u32));
    // Of times it says whether there was an event.
    let trials = if F::KIND == ResponseKind::Time { trials % 2.0 } else { trials };
    let eta = 1.5 * normal(rng);
    let drawn = family.sample(rng, eta, &extra[..F::EXTRA.len()], trials);
    Point {
        // f32, as stored.
        eta: f64::from(eta as f32),
        delta: f64::from((size * normal(rng)) as f32),
        response: f64::from(F::KIND.stored(drawn) as f32),
        trials,
        extra,
        moved,
    }
}

impl Point {
    fn from<F: Family>(&self) -> &[f64] {
        &self.extra[..F::EXTRA.len()]
    }

    fn to<F: Family>(&self) -> Vec<f64> {
        (0..F::EXTRA.len()).map(|k| self.extra[k] + self.moved[k]).collect()
    }

    fn displaced<F: Family>(&self, tau: f64) -> (f64, Vec<f64>) {
        (
            self.eta + tau * self.delta,
            (0..F::EXTRA.len()).map(|k| self.extra[k] + tau * self.moved[k]).collect(),
        )
    }
}

/// Every family, and those with a number after their name with others, too.
fn every_member() -> impl Iterator<Item = AnyFamily> {
    let others = |family: &AnyFamily| {
        [2.5, 30.0].into_iter().filter_map(|n| family.with_setting(n).ok()).collect::<Vec<_>>()
    };
    AnyFamily::ALL.iter().copied().chain(AnyFamily::ALL.iter().flat_map(others))
}

/// Calls a function with every family.
macro_rules! for_all {
    ($check:ident) => {{
        struct All;
        impl Visitor for All {
            type Output = ();
            fn visit<F: Family>(self, family: F) {
                $check(family);
            }
        }
        every_member().for_each(|family| family.visit_definition(All));
    }};
}

fn close(found: f64, wanted: f64, allowed: f64, what: &dyn std::fmt::Debug) {
    assert!((found - wanted).abs() <= allowed, "{found} instead of {wanted} (allowed {allowed:e}): {what:?}");
}

/// Differences in f64 are those of the log density, for small and large moves.
fn differences<F: Family>(family: F) {
    let mut rng = stream(5, 0, Role::Data);
    for round in 0..600 {
        let size = [1e-6, 1e-3, 0.1, 1.0][round % 4];
        let p = point(&family, &mut rng, size);
        let (from, to) = (p.from::<F>(), p.to::<F>());
        let of = |eta, extra: &[f64]| family.log_likelihood(extra, eta, p.response, p.trials);
        let (a, b) = (of(p.eta, from), of(p.eta + p.delta, &to));
        let allowed = 2e-14 * (1.0 + a.abs() + b.abs()) * (1.0 + p.response.abs());
        let own = <F::Kernel>::difference(
            &<F::Kernel>::step(&family, from, &to),
            p.eta,
            p.delta,
            p.response,
            p.trials,
        );
        close(own, b - a, allowed, &(F::NAME, p));
        let step = <Derived as Kernel<F>>::step(&family, from, &to);
        let derived = <Derived as Kernel<F>>::difference(&step, p.eta, p.delta, p.response, p.trials);
        close(derived, b - a, allowed, &(F::NAME, p));
        // Relative accuracy of small moves: by the slope.
        if size < 1e-5 {
            let curve = family.row_curve(from, p.eta, p.response, p.trials);
            let slope = curve.slope[0] * p.delta
                + (0..from.len()).map(|k| curve.slope[k + 1] * p.moved[k]).sum::<f64>();
            let second = 1e-9
                * (1.0 + p.response.abs() + p.trials)
                * (1.0 + (p.eta - p.response).abs() * (-p.extra[0]).exp()).powi(2);
            close(own, slope, 1e-9 * slope.abs() + second, &(F::NAME, p));
        }
    }
}

#[test]
fn differences_are_those_of_the_definition() {
    for_all!(differences);
}

fn curves<F: Family>(family: F) {
    let mut rng = stream(6, 0, Role::Data);
    for _ in 0..300 {
        let p = point(&family, &mut rng, 1.0);
        let extra = p.from::<F>();
        let (own, jets) = (
            family.row_derivatives(extra, p.eta, p.response, p.trials),
            derived::row_derivatives(&family, extra, p.eta, p.response, p.trials),
        );
        let size: f64 = 1.0 + jets.iter().map(|value| value.abs()).sum::<f64>();
        own.iter().zip(jets).for_each(|(own, jet)| close(*own, jet, 1e-12 * size, &(F::NAME, p)));
        let own = family.row_curve(extra, p.eta, p.response, p.trials);
        let jets = derived::row_curve(&family, extra, p.eta, p.response, p.trials);
        let all = |curve: Curve| curve.slope.into_iter().chain(curve.second.into_iter().flatten());
        all(own)
            .zip(all(jets))
            .for_each(|(own, jet)| close(own, jet, 1e-12 * size.max(p.response.powi(2)), &(F::NAME, p)));
        // Third derivatives are slopes of second ones.
        let third = family.row_third(extra, p.eta, p.response, p.trials);
        let (h, mut up, mut down) = (1e-4, extra.to_vec(), extra.to_vec());
        let second =
            |extra: &[f64], eta| derived::row_curve(&family, extra, eta, p.response, p.trials).second;
        let slope = (second(extra, p.eta + h)[0][0] - second(extra, p.eta - h)[0][0]) / (2.0 * h);
        close(third[0], slope, 1e-5 * size * (1.0 + p.response.abs()), &(F::NAME, p));
        if F::EXTRA.len() == 1 {
            (up[0], down[0]) = (up[0] + h, down[0] - h);
            let (up, down) = (second(&up, p.eta), second(&down, p.eta));
            for (place, (a, b)) in [(1, (0, 0)), (2, (0, 1)), (3, (1, 1))] {
                let slope = (up[a][b] - down[a][b]) / (2.0 * h);
                close(third[place], slope, 1e-5 * size * (1.0 + p.response.powi(2)), &(F::NAME, place, p));
            }
        }
    }
}

#[test]
fn derivatives_are_those_of_the_definition() {
    for_all!(curves);
}

/// The pairs of 32 values.
fn values<S: Simd>(simd: S, of: &[Point; 32], value: impl Fn(&Point) -> f64) -> Pair<S> {
    let all = of.each_ref().map(|p| value(p) as f32);
    [Lanes::from_slice(simd, &all[..16]), Lanes::from_slice(simd, &all[16..])]
}

/// Difference, slope, second derivative, residuals of the second and third order in f32; `None` where they are left to f64.
type Found = [Option<[f32; 32]>; 5];

#[inline(always)]
fn in_blocks<S: Simd, F: Family>(simd: S, family: &F, all: &[Point; 32]) -> Found {
    let rows = Rows {
        eta: values(simd, all, |p| p.eta),
        response: values(simd, all, |p| p.response),
        trials: values(simd, all, |p| p.trials),
    };
    let delta = values(simd, all, |p| p.delta);
    let (from, to) = (all[0].from::<F>(), all[0].to::<F>());
    let step = <F::Kernel>::step(family, from, &to);
    let derivatives = <F::Kernel>::derivatives(family, simd, from, &rows);
    let expanded = <F::Kernel>::expanded(family, from, from, &to);
    let zero = [Lanes::splat(simd, 0.0); 2];
    let residuals =
        |third| <F::Kernel>::residuals(simd, &expanded, &rows, [zero, delta], third).map(kernel::array);
    [
        <F::Kernel>::differences(simd, &step, &rows, delta).map(kernel::array),
        Some(kernel::array(derivatives.first)),
        Some(kernel::array(derivatives.second)),
        residuals(false),
        residuals(true),
    ]
}

fn blocks<F: Family>(family: F) {
    let mut rng = stream(7, 0, Role::Data);
    for round in 0..60 {
        let size = [1e-3, 0.03, 0.2][round % 3];
        let mut all: [Point; 32] = std::array::from_fn(|_| point(&family, &mut rng, size));
        let first = all[0];
        // Extra parameters are those of all rows.
        all.iter_mut().for_each(|p| (p.extra, p.moved) = (first.extra, first.moved));
        let (from, to) = (first.from::<F>().to_vec(), first.to::<F>());
        for level in simd::available() {
            let found = dispatched!(level, simd => in_blocks(simd, &family, &all));
            let step = <Derived as Kernel<F>>::step(&family, &from, &to);
            let ways = <Derived as Kernel<F>>::expanded(&family, &from, &from, &to);
            for (i, p) in all.iter().enumerate() {
                let unit = family.unit(&from);
                let curve = family.row_curve(&from, p.eta, p.response, p.trials);
                let residual = |third| {
                    <Derived as Kernel<F>>::residual(
                        &ways,
                        p.eta,
                        [0.0, p.delta],
                        p.response,
                        p.trials,
                        third,
                    )
                };
                let wanted = [
                    <Derived as Kernel<F>>::difference(&step, p.eta, p.delta, p.response, p.trials),
                    curve.slope[0],
                    curve.second[0][0],
                    residual(false),
                    residual(true),
                ];
                let moved =
                    (p.delta / unit).abs() + p.moved[..from.len()].iter().map(|m| m.abs()).sum::<f64>();
                let far = 1.0 + ((p.response - p.eta) / unit).abs() * f64::from(u8::from(F::LOCATION));
                let terms = (1.0 + p.response.abs() + p.trials + p.eta.exp()) * far;
                // What rounding to f32 of η and of the terms can do; a term of the third order is what rounds in the residual of that order.
                let sizes = [
                    2e-6 * terms * moved,
                    2e-6 * terms / unit,
                    2e-6 * terms / unit.powi(2),
                    2e-5 * terms * moved.powi(3),
                    2e-5 * terms * moved.powi(3),
                ];
                for k in 0..5 {
                    let Some(values) = found[k] else { continue };
                    close(
                        f64::from(values[i]),
                        wanted[k],
                        sizes[k] + 1e-7 * wanted[k].abs(),
                        &(F::NAME, k, p),
                    );
                }
            }
        }
    }
}

#[test]
fn kernels_compute_the_definition() {
    for_all!(blocks);
}

/// Residuals in f64: by definition where they are large, and of the right order where they are small.
fn residuals<F: Family>(family: F) {
    let mut rng = stream(8, 0, Role::Data);
    for round in 0..400 {
        let size = [0.01, 0.05, 0.3, 1.0][round % 4];
        let p = point(&family, &mut rng, size);
        let (from, to) = (p.from::<F>(), p.to::<F>());
        let own = <F::Kernel>::expanded(&family, from, from, &to);
        let ways = <Derived as Kernel<F>>::expanded(&family, from, from, &to);
        for third in [false, true] {
            let found = <F::Kernel>::residual(&own, p.eta, [0.0, p.delta], p.response, p.trials, third);
            let derived =
                <Derived as Kernel<F>>::residual(&ways, p.eta, [0.0, p.delta], p.response, p.trials, third);
            // The definition.
            let curve = derived::row_curve(&family, from, p.eta, p.response, p.trials);
            let v: Vec<f64> = std::iter::once(p.delta).chain(p.moved[..from.len()].iter().copied()).collect();
            let of = |eta, extra: &[f64]| family.log_likelihood(extra, eta, p.response, p.trials);
            let mut wanted = of(p.eta + p.delta, &to) - of(p.eta, from);
            for a in 0..v.len() {
                wanted -= curve.slope[a] * v[a];
                wanted -= (0..v.len()).map(|b| 0.5 * curve.second[a][b] * v[a] * v[b]).sum::<f64>();
            }
            if third {
                let slopes =
                    bend(&family.row_third(from, p.eta, p.response, p.trials), family.uses(p.response), &v);
                wanted -= v.iter().zip(slopes).map(|(v, slope)| v * slope).sum::<f64>() / 3.0;
            }
            let far = 1.0 + ((p.response - p.eta) / family.unit(from)).abs().powi(2);
            let rounding = 1e-13 * (1.0 + p.response.abs() + p.trials) * far * (1.0 + p.eta.exp());
            close(derived, wanted, 1e-6 * wanted.abs() + rounding, &(F::NAME, third, p));
            close(found, wanted, 1e-6 * wanted.abs() + rounding + 1e-8 * size.powi(3), &(F::NAME, third, p));
        }
    }
}

#[test]
fn residuals_are_what_the_expansion_leaves() {
    for_all!(residuals);
}

/// |D³ℓ[v,v,v]| and |D⁴ℓ[v,v,v,v]| at random points of a box, along random directions, against the bounds; the share of the bound that is reached.
fn bounded<F: Family>(family: F) {
    let mut rng = stream(9, 0, Role::Data);
    let mut reached = [0.0f64; 2];
    for round in 0..400 {
        let radius = [0.0, 0.01, 0.05][round % 3];
        let p = point(&family, &mut rng, 1.0);
        let extra = p.from::<F>();
        let units = vec![0.8; extra.len()];
        let reach = vec![radius; extra.len()];
        let around = Around { extra, reach: &reach, units: &units };
        let bounds = family.row_bounds(&around, (p.eta, radius), p.response, p.trials, true);
        for _ in 0..20 {
            // A direction of length 1 in the units.
            let mut v: Vec<f64> = (0..=extra.len()).map(|_| normal(&mut rng)).collect();
            let norm = v.iter().map(|x| x * x).sum::<f64>().sqrt();
            v.iter_mut().for_each(|x| *x /= norm);
            let mut inside = || radius * (2.0 * rng.random::<f64>() - 1.0);
            let mut q = p;
            q.eta += inside();
            (0..extra.len()).for_each(|k| q.extra[k] += inside());
            q.delta = v[0];
            (0..extra.len()).for_each(|k| q.moved[k] = v[k + 1] / units[k]);
            let w: Vec<f64> =
                std::iter::once(q.delta).chain(q.moved[..extra.len()].iter().copied()).collect();
            // Fourth and third differences along the line.
            let h = 0.02 * family.unit(extra).min(1.0);
            let third = |tau: f64| {
                let (eta, extra) = q.displaced::<F>(tau);
                let slopes =
                    bend(&family.row_third(&extra, eta, p.response, p.trials), family.uses(p.response), &w);
                2.0 * w.iter().zip(slopes).map(|(w, slope)| w * slope).sum::<f64>()
            };
            let fourth = (8.0 * (third(h) - third(-h)) - (third(2.0 * h) - third(-2.0 * h))) / (12.0 * h);
            for (k, value) in [third(0.0), fourth].into_iter().enumerate() {
                let allowed = bounds[k] * (1.0 + 1e-6) + [1e-9, 1e-5][k] * (1.0 + p.response.abs());
                assert!(value.abs() <= allowed, "{} order {}: {value} {bounds:?} {p:?}", F::NAME, k + 3);
                reached[k] = reached[k].max(value.abs() / allowed);
            }
        }
    }
    // Not merely large: half of a bound would be none.
    assert!(reached.iter().all(|&share| share > 0.5), "{} {reached:?}", F::NAME);
}

#[test]
fn bounds_hold_and_half_of_them_do_not() {
    for_all!(bounded);
}

/// Probabilities add up to 1 with the constant, have the mean that is claimed, and quantiles where they should be.
fn laws<F: Family>(family: F) {
    let mut rng = stream(10, 0, Role::Data);
    for _ in 0..40 {
        let mut p = point(&family, &mut rng, 1.0);
        if F::KIND == ResponseKind::Time {
            p.trials = 1.0;
        }
        let extra = p.from::<F>();
        let (low, high, step) = match F::KIND {
            ResponseKind::Binary => (0.0, 1.0, 1.0),
            ResponseKind::Ordered => (0.0, F::EXTRA.len() as f64 + 1.0, 1.0),
            ResponseKind::CountOfTrials => (0.0, p.trials, 1.0),
            ResponseKind::Count => (0.0, 20_000.0, 1.0),
            // Heavy tails: as far as memory goes, with a midpoint rule.
            ResponseKind::Real => (-4000.0, 4000.0, 0.01),
            // Of the logarithm, and of the log odds.
            ResponseKind::Positive | ResponseKind::Time => (-60.0, 60.0, 0.001),
            ResponseKind::Share => (-400.0, 400.0, 0.005),
        };
        let unit = if F::LOCATION { family.unit(extra) } else { 1.0 };
        let (mut total, mut mean) = (0.0, 0.0);
        let level = 0.05 + 0.9 * rng.random::<f64>();
        let quantile = family.quantile((level, family.noise(level, extra)), p.eta, extra, p.trials);
        let (mut below, mut at) = (0.0, 0.0);
        for i in 0..=((high - low) / step) as u64 {
            let mut place = low + step * i as f64;
            if F::LOCATION {
                place = p.eta + unit * place;
            }
            // The response, what is stored of it, and log |dy/d stored| with the constant, which is even in the log odds.
            let (y, stored, more) = match F::KIND {
                ResponseKind::Positive | ResponseKind::Time => {
                    let y = place.exp();
                    (y, place, family.constant(y, p.trials) + place)
                }
                ResponseKind::Share => {
                    let small = 1.0 / (1.0 + place.abs().exp());
                    let more = family.constant(small, p.trials) + small.ln() + (-small).ln_1p();
                    (1.0 / (1.0 + (-place).exp()), place, more)
                }
                kind => (place, kind.stored(place), family.constant(place, p.trials)),
            };
            let density = family.log_likelihood(extra, p.eta, stored, p.trials) + more;
            let mass = density.exp() * step * unit;
            total += mass;
            mean += mass * y;
            below += if y < quantile { mass } else { 0.0 };
            at += if y == quantile { mass } else { 0.0 };
        }
        // What heavy tails have beyond 4000 scales: 1e-5 with 1.5 degrees of freedom.
        close(total, 1.0, if F::LOCATION { 1e-4 } else { 1e-6 }, &(F::NAME, p));
        close(mean, family.mean(p.eta, extra, p.trials), 1e-4 * (1.0 + mean.abs()), &(F::NAME, p));
        let slack = if F::KIND.is_continuous() { 0.01 } else { 1e-9 };
        assert!(
            below - slack < level && level <= below + at + slack,
            "{} {p:?}: {below} {level} {at}",
            F::NAME
        );
    }
}

#[test]
fn laws_have_their_constants_means_and_quantiles() {
    for_all!(laws);
}
