//! A target with five states and eight rows, small enough to enumerate every order of the rows: the transition
//! matrix of the approximate chain is computed without simulation error, and so are its stationary distribution,
//! the bound of Theorem 1 of Korattikara, Chen & Welling (2014) and its lemma.

#![allow(clippy::unwrap_used, clippy::needless_range_loop, reason = "a test may panic; indices are states")]

use austerity::Result;
use austerity::kernel::{Kernel, Metropolis};
use austerity::model::{Access, Model};
use austerity::population::{BlockOrder, Population};
use austerity::proposal::{Proposal, Proposed};
use austerity::rng::{Rng, Streams};
use austerity::rule::{Law, Looks, Rule, RuleSettings, Sequential, SequentialSettings};
use rand::RngExt as _;
use std::ops::Range;

const STATES: usize = 5;
const ROWS: usize = 8;

/// Log-likelihood of each row in each state, and a prior that is not flat.
struct Table {
    log_likelihood: [[f64; STATES]; ROWS],
    log_prior: [f64; STATES],
}

impl Table {
    fn new() -> Self {
        let mut log_likelihood = [[0.0; STATES]; ROWS];
        for (i, row) in log_likelihood.iter_mut().enumerate() {
            for (s, value) in row.iter_mut().enumerate() {
                // Irrational-looking, spread by about one unit, a few rows stronger than the rest.
                let phase = (i * STATES + s) as f64;
                *value = (phase * 2.399_963).sin() * (0.3 + 0.12 * i as f64);
            }
        }
        Self { log_likelihood, log_prior: [0.0, -0.4, 0.3, -0.1, 0.2] }
    }

    fn log_posterior(&self, state: usize) -> f64 {
        self.log_prior[state] + self.log_likelihood.iter().map(|row| row[state]).sum::<f64>()
    }

    fn differences(&self, from: usize, to: usize) -> [f64; ROWS] {
        std::array::from_fn(|i| self.log_likelihood[i][to] - self.log_likelihood[i][from])
    }
}

struct Differences([f64; ROWS]);

impl Population for Differences {
    fn len(&self) -> usize {
        ROWS
    }
    fn reveal(&mut self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        out.copy_from_slice(&self.0[rows]);
        Ok(())
    }
}

impl Model for Table {
    type State = usize;
    type Scratch = ();
    type Ratio<'a> = Differences;
    fn len(&self) -> usize {
        ROWS
    }
    fn scratch(&self, _: Access) {}
    fn log_prior(&self, state: &usize) -> f64 {
        self.log_prior[*state]
    }
    fn compare<'a>(&'a self, from: &'a usize, to: &'a usize, (): &'a mut ()) -> Differences {
        Differences(self.differences(*from, *to))
    }
}

/// Any other state with equal probability.
#[derive(Clone)]
struct Elsewhere;

impl Proposal<usize> for Elsewhere {
    fn propose(&mut self, from: &usize, to: &mut usize, rng: &mut Rng) -> Result<Proposed> {
        *to = (from + rng.random_range(1..STATES)) % STATES;
        Ok(0.0.into())
    }
}

/// Calls `visit` with every order of the rows (Heap's algorithm).
fn every_order(visit: &mut impl FnMut(&[usize; ROWS])) {
    fn heap(k: usize, order: &mut [usize; ROWS], visit: &mut impl FnMut(&[usize; ROWS])) {
        if k == 1 {
            visit(order);
            return;
        }
        for i in 0..k {
            heap(k - 1, order, visit);
            order.swap(if k.is_multiple_of(2) { i } else { 0 }, k - 1);
        }
    }
    heap(ROWS, &mut std::array::from_fn(|i| i), visit);
}

/// The probability, over u and over all orders, that the test accepts the move `from` → `to`.
///
/// For one order the thresholds μ0 still undecided after each look form an interval: a look accepts those below
/// mean − G·s and rejects those above mean + G·s. With P(μ0 ≤ x) = min(1, exp(N·x + offset)) the accepted part
/// has a closed form.
fn acceptance(table: &Table, rule: &Sequential, from: usize, to: usize) -> f64 {
    let values = table.differences(from, to);
    let offset = table.log_prior[to] - table.log_prior[from];
    let below = |x: f64| (ROWS as f64 * x + offset).min(0.0).exp();
    let (mut sum, mut orders) = (0.0, 0.0);
    every_order(&mut |order| {
        let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
        let mut accepted = 0.0;
        for look in rule.looks() {
            let n = look.rows as f64;
            let seen = order[..look.rows].iter().map(|&i| values[i]);
            let mean = seen.clone().sum::<f64>() / n;
            let reach = if look.rows == ROWS {
                0.0
            } else {
                let variance = seen.map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
                look.critical * (variance / n * (ROWS as f64 - n) / (ROWS as f64 - 1.0)).sqrt()
            };
            let (accept, reject) = ((mean - reach).clamp(low, high), (mean + reach).clamp(low, high));
            accepted += below(accept) - below(low);
            (low, high) = (accept, reject);
        }
        sum += accepted;
        orders += 1.0;
    });
    sum / orders
}

/// Entry (from, to): indices are states throughout.
type Matrix = [[f64; STATES]; STATES];

fn transition(acceptance: impl Fn(usize, usize) -> f64) -> Matrix {
    let mut matrix = [[0.0; STATES]; STATES];
    for from in 0..STATES {
        for to in 0..STATES {
            if from != to {
                matrix[from][to] = acceptance(from, to) / (STATES - 1) as f64;
            }
        }
        matrix[from][from] = 1.0 - matrix[from].iter().sum::<f64>();
    }
    matrix
}

fn apply(law: &[f64; STATES], matrix: &Matrix) -> [f64; STATES] {
    std::array::from_fn(|to| (0..STATES).map(|from| law[from] * matrix[from][to]).sum())
}

fn stationary(matrix: &Matrix) -> [f64; STATES] {
    let mut law = [1.0 / STATES as f64; STATES];
    for _ in 0..20_000 {
        law = apply(&law, matrix);
    }
    law
}

fn total_variation(a: &[f64; STATES], b: &[f64; STATES]) -> f64 {
    0.5 * a.iter().zip(b).map(|(x, y)| (x - y).abs()).sum::<f64>()
}

/// Dobrushin's coefficient: the exact contraction of the kernel in total variation.
fn contraction(matrix: &Matrix) -> f64 {
    let mut largest = 0.0f64;
    for a in matrix {
        for b in matrix {
            largest = largest.max(total_variation(a, b));
        }
    }
    largest
}

fn settings(epsilon: f64) -> SequentialSettings {
    SequentialSettings {
        looks: Looks::Custom { rows: vec![2, 4, 6] },
        ..SequentialSettings::paper(2, epsilon)
    }
}

fn exact_matrix(table: &Table) -> Matrix {
    transition(|from, to| Law::Metropolis.acceptance(table.log_posterior(to) - table.log_posterior(from)))
}

/// The computed acceptance of the exact rule is min(1, ratio): checks the enumeration itself.
#[test]
fn enumeration_reproduces_the_exact_rule() {
    let table = Table::new();
    let rule = Sequential::new(&settings(0.0), ROWS).unwrap();
    for from in 0..STATES {
        for to in 0..STATES {
            let exact = Law::Metropolis.acceptance(table.log_posterior(to) - table.log_posterior(from));
            assert!((acceptance(&table, &rule, from, to) - exact).abs() < 1e-12);
        }
    }
}

/// Frequencies of accepted moves and of visited states in a long chain against the computed ones. Each of 20
/// acceptance frequencies is held to 4.5 binomial standard deviations (false-alarm rate 1.4e-4 in all), the
/// occupation to a chi-square over batch means at level 1e-4; fixed seed. Power: the same occupation must refuse the
/// exact stationary distribution.
#[test]
fn simulated_chain_has_the_computed_law() {
    let table = Table::new();
    let given = settings(0.2);
    let test = Sequential::new(&given, ROWS).unwrap();
    let computed = transition(|from, to| acceptance(&table, &test, from, to));
    let approximate = stationary(&computed);
    let exact = stationary(&exact_matrix(&table));
    assert!(total_variation(&approximate, &exact) > 0.02, "the case must be biased to have power");

    let mut state = 0;
    let rule = RuleSettings::Sequential(given).build(ROWS).unwrap();
    let order = BlockOrder::new(ROWS, 1, 42, 0).unwrap();
    let mut kernel = Metropolis::new(&table, Elsewhere, rule, order, &state).unwrap();
    let mut streams = Streams::new(42, 0);
    let (batches, length) = (400, 2000);
    let mut moves = [[0.0; STATES]; STATES];
    let mut tries = [0.0; STATES];
    let mut occupation = vec![[0.0; STATES]; batches];
    for step in 0..(batches * length) as u64 {
        streams.begin(step);
        let from = state;
        let decision = kernel.step(&mut state, &mut streams).unwrap();
        assert_eq!(decision.accepted, from != state);
        tries[from] += 1.0;
        moves[from][state] += 1.0;
        occupation[step as usize / length][state] += 1.0 / length as f64;
    }
    for from in 0..STATES {
        for to in 0..STATES {
            let p = computed[from][to];
            let sd = (tries[from] * p * (1.0 - p)).sqrt();
            assert!(
                (moves[from][to] - tries[from] * p).abs() < 4.5 * sd,
                "{from} → {to}: {} of {}",
                moves[from][to],
                tries[from]
            );
        }
    }
    // Hotelling-like: squared batch-mean z scores of four states; 5 is the 1e-6 point of one z, Bonferroni over 4.
    let z = |truth: &[f64; STATES]| {
        (0..STATES - 1)
            .map(|s| {
                let mean = occupation.iter().map(|b| b[s]).sum::<f64>() / batches as f64;
                let variance =
                    occupation.iter().map(|b| (b[s] - mean).powi(2)).sum::<f64>() / (batches - 1) as f64;
                ((mean - truth[s]) / (variance / batches as f64).sqrt()).abs()
            })
            .fold(0.0, f64::max)
    };
    assert!(z(&approximate) < 4.3, "largest z {}", z(&approximate));
    assert!(z(&exact) > 10.0, "no power: largest z against the exact law {}", z(&exact));
}

/// Theorem 1: d(S_ε, S_0) ≤ Δ_max/(1 − η), and its lemma: one step of the two kernels differs by at most Δ_max from any
/// distribution. All numbers are exact.
#[test]
fn theorem_one_and_its_lemma_hold() {
    let table = Table::new();
    let exact = exact_matrix(&table);
    let eta = contraction(&exact);
    assert!(eta < 1.0, "η = {eta}");
    let truth = stationary(&exact);
    let mut previous = 0.0;
    for epsilon in [0.0, 0.05, 0.1, 0.2, 0.3, 0.5] {
        let test = Sequential::new(&settings(epsilon), ROWS).unwrap();
        let approximate = transition(|from, to| acceptance(&table, &test, from, to));
        let mut largest = 0.0f64; // Δ_max of the acceptance probability
        for from in 0..STATES {
            for to in 0..STATES {
                if from != to {
                    largest =
                        largest.max((approximate[from][to] - exact[from][to]).abs() * (STATES - 1) as f64);
                }
            }
        }
        let distance = total_variation(&stationary(&approximate), &truth);
        assert!(
            distance <= largest / (1.0 - eta) + 1e-12,
            "ε = {epsilon}: {distance} > {}",
            largest / (1.0 - eta)
        );
        for corner in 0..STATES {
            for weight in [1.0, 0.7, 0.3] {
                let law: [f64; STATES] = std::array::from_fn(|s| {
                    if s == corner { weight } else { (1.0 - weight) / (STATES - 1) as f64 }
                });
                let step = total_variation(&apply(&law, &approximate), &apply(&law, &exact));
                assert!(step <= largest + 1e-12);
            }
        }
        if epsilon == 0.0 {
            assert!(distance < 1e-10 && largest < 1e-10);
        } else {
            assert!(largest > previous, "Δ_max must grow with ε in this case");
        }
        previous = largest;
    }
}

/// The rule never reads more than it needs: a first look at N is one look, exact.
#[test]
fn looks_are_the_ones_enumerated() {
    let rule = Sequential::new(&settings(0.2), ROWS).unwrap();
    assert_eq!(rule.looks().iter().map(|look| look.rows).collect::<Vec<_>>(), [2, 4, 6, 8]);
    assert_eq!(Rule::<dyn austerity::population::Reveal>::access(&rule), Access::Blocks);
}
