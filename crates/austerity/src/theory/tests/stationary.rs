//! Theorem 1 and its Gibbs version on enumerated chains: every number is exact, nothing is simulated.

use super::table;
use crate::rule::Law;
use crate::theory::{Scan, gibbs_bound, metropolis_bound};

type Matrix = Vec<Vec<f64>>;

/// P(site = 1 | the others) of an Ising-like model with unequal couplings, logit scale, off by at most
/// `delta`.
fn conditional(state: usize, site: usize, sites: usize, delta: f64) -> f64 {
    let mut field = 0.3 - 0.2 * site as f64;
    for other in (0..sites).filter(|&other| other != site) {
        let sign = if state >> other & 1 == 1 { 1.0 } else { -1.0 };
        field += sign * 0.25 * (1.0 + 0.1 * (site + other) as f64);
    }
    let exact = 1.0 / (1.0 + (-field).exp());
    // Errors of either sign and full size, depending on where.
    let sign = if (state + site).is_multiple_of(2) { 1.0 } else { -1.0 };
    if delta == 0.0 { exact } else { (exact + sign * delta).clamp(0.0, 1.0) }
}

fn site_kernel(sites: usize, site: usize, delta: f64) -> Matrix {
    let states = 1 << sites;
    let mut kernel = vec![vec![0.0; states]; states];
    for (state, row) in kernel.iter_mut().enumerate() {
        // The conditional sees the others only: clear the site's own bit.
        let one = conditional(state & !(1 << site), site, sites, delta);
        row[state | 1 << site] += one;
        row[state & !(1 << site)] += 1.0 - one;
    }
    kernel
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let row =
        |row: &Vec<f64>| (0..b.len()).map(|to| row.iter().zip(b).map(|(p, via)| p * via[to]).sum()).collect();
    a.iter().map(row).collect()
}

fn mixture(kernels: &[Matrix]) -> Matrix {
    let states = kernels[0].len();
    let mean = |i: usize, j: usize| kernels.iter().map(|k| k[i][j]).sum::<f64>() / kernels.len() as f64;
    (0..states).map(|i| (0..states).map(|j| mean(i, j)).collect()).collect()
}

fn variation(a: &[f64], b: &[f64]) -> f64 {
    0.5 * a.iter().zip(b).map(|(x, y)| (x - y).abs()).sum::<f64>()
}

/// Dobrushin's coefficient: the contraction in total variation.
fn contraction(kernel: &Matrix) -> f64 {
    kernel.iter().flat_map(|a| kernel.iter().map(|b| variation(a, b))).fold(0.0, f64::max)
}

fn stationary(kernel: &Matrix) -> Vec<f64> {
    let mut power = kernel.clone();
    for _ in 0..14 {
        power = product(&power, &power);
    }
    power[0].clone()
}

#[test]
fn gibbs_theorem_holds_for_both_scans() {
    for delta in [0.001, 0.01, 0.05] {
        // Random scan: one step contracts only for two sites (with more, opposite corners do not meet at
        // once).
        let scan = |delta| mixture(&[site_kernel(2, 0, delta), site_kernel(2, 1, delta)]);
        let distance = variation(&stationary(&scan(0.0)), &stationary(&scan(delta)));
        let bound = gibbs_bound(delta, contraction(&scan(0.0)), Scan::Random).unwrap();
        assert!(distance > 0.0 && distance <= bound, "random: {distance} above {bound}");

        let sweep = |delta| {
            let first = product(&site_kernel(3, 0, delta), &site_kernel(3, 1, delta));
            product(&first, &site_kernel(3, 2, delta))
        };
        let distance = variation(&stationary(&sweep(0.0)), &stationary(&sweep(delta)));
        let eta = contraction(&sweep(0.0));
        let bound = gibbs_bound(delta, eta, Scan::Systematic { sites: 3 }).unwrap();
        assert!(distance > 0.0 && distance <= bound, "sweep: {distance} above {bound}");
    }
    // A single site does not contract: its η is 1 and the theorem has nothing to say.
    assert!((contraction(&site_kernel(3, 0, 0.0)) - 1.0).abs() < 1e-12);
    assert!(gibbs_bound(0.01, 1.0, Scan::Random).is_err());
}

/// A Metropolis chain on five states, proposals uniform over the others, acceptance P or P + Δ of the test.
#[test]
fn metropolis_theorem_holds() {
    let levels = [0.0, -0.7, 0.4, -1.5, 0.9f64];
    let total: f64 = levels.iter().map(|level| level.exp()).sum();
    for (epsilon, noise) in [(0.01, 1.0), (0.05, 1.0), (0.1, 0.5), (0.2, 3.0)] {
        let test = table(1000, 100, epsilon);
        let mut largest = 0.0f64;
        let mut kernel = |approximate: bool| -> Matrix {
            let mut kernel = vec![vec![0.0; levels.len()]; levels.len()];
            for from in 0..levels.len() {
                for to in (0..levels.len()).filter(|&to| to != from) {
                    // κ differs from pair to pair, the same in both directions.
                    let kappa = noise * (1.0 + 0.3 * (from + to) as f64);
                    let step = test.step(Law::Metropolis, levels[to] - levels[from], kappa).unwrap();
                    largest = largest.max(step.delta.abs());
                    let accepted = step.acceptance + if approximate { step.delta } else { 0.0 };
                    kernel[from][to] = accepted / (levels.len() - 1) as f64;
                }
                kernel[from][from] = 1.0 - kernel[from].iter().sum::<f64>();
            }
            kernel
        };
        let (exact, approximate) = (kernel(false), kernel(true));
        let posterior: Vec<f64> = levels.iter().map(|level| level.exp() / total).collect();
        assert!(variation(&stationary(&exact), &posterior) < 1e-12);
        let distance = variation(&stationary(&approximate), &posterior);
        let bound = metropolis_bound(largest, contraction(&exact)).unwrap();
        println!("ε {epsilon}, κ from {noise}: distance {distance:.4}, bound {bound:.4}");
        assert!(distance > 0.0 && distance <= bound, "{distance} above {bound}");
    }
}
