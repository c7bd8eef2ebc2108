//! Running diagnostics against their batch versions.

use super::super::chains::{borrow, mean, variance};
use super::super::simulate::{autoregressive, shifted};
use super::super::{ess_mean, split_rhat as batch_split_rhat};
use super::*;

fn record(chain: &[f64]) -> Streaming {
    let mut streaming = Streaming::new(1);
    for &value in chain {
        streaming.push(&[value]);
    }
    streaming
}

fn combined(chains: &[Vec<f64>]) -> RunningSummary {
    let records: Vec<Streaming> = chains.iter().map(|chain| record(chain)).collect();
    combine(&records.iter().collect::<Vec<_>>())[0]
}

#[test]
fn mean_and_sd_are_exact_at_every_length() {
    let chain = autoregressive(1, 700, 0.5, 61).remove(0);
    let mut streaming = Streaming::new(1);
    for (index, &value) in chain.iter().enumerate() {
        streaming.push(&[value + 1e6]);
        let seen: Vec<f64> = chain[..=index].iter().map(|value| value + 1e6).collect();
        assert!((streaming.mean(0) - mean(&seen)).abs() < 1e-8);
        if index > 0 {
            assert!((streaming.sd(0) / variance(&seen).sqrt() - 1.0).abs() < 1e-8);
        }
    }
}

#[test]
fn batches_stay_between_half_and_all_and_cover_the_draws() {
    let mut streaming = Streaming::new(2);
    for index in 1..=100_000_u32 {
        streaming.push(&[f64::from(index), 1.0]);
        let covered = streaming.full as u64 * streaming.batch_length();
        assert!(streaming.full <= BATCHES && covered <= streaming.draws());
        assert!(streaming.draws() - covered < streaming.batch_length());
        assert!(index < 32 || streaming.full >= BATCHES / 2);
    }
    assert!(streaming.full_batches(0).iter().all(|batch| batch.count == streaming.batch_length() as f64));
    assert_eq!(streaming.means.capacity(), 2 * BATCHES);
}

#[test]
fn effective_size_follows_the_batch_version() {
    // 4 chains × 32–64 batches: relative sd √(2/128) = 12 % at worst; three of those.
    for (coefficient, seed) in [(0.0, 62), (0.5, 63), (0.9, 64)] {
        let chains = autoregressive(4, 10_000, coefficient, seed);
        let running = combined(&chains).ess;
        let expected = ess_mean(&borrow(&chains));
        assert!((running / expected - 1.0).abs() < 0.36, "φ = {coefficient}: {running} against {expected}");
        let theory = 40_000.0 * (1.0 - coefficient) / (1.0 + coefficient);
        assert!((running / theory - 1.0).abs() < 0.36, "φ = {coefficient}: {running} against {theory}");
    }
}

#[test]
fn effective_size_has_little_bias_over_many_runs() {
    // 50 runs: the mean ratio has sd 12 %/√50 ≈ 1.7 %; batches of 156 draws against τ = 9 lose about
    // 2ρ/((1−ρ²)L) ≈ 3 %, and 1/σ² adds 2/K ≈ 1 %.
    let ratios: Vec<f64> = (0..50)
        .map(|seed| combined(&autoregressive(4, 10_000, 0.8, 700 + seed)).ess / (40_000.0 / 9.0))
        .collect();
    let ratio = mean(&ratios);
    assert!((0.95..1.12).contains(&ratio), "{ratio}");
}

#[test]
fn rhat_equals_the_batch_version_when_batches_fill_the_halves() {
    // 4096 = 64 × 64 draws: the halves of the batches are the halves of the chain.
    let chains = autoregressive(4, 4096, 0.9, 65);
    for distance in [0.0, 0.5, 3.0] {
        let chains = shifted(&chains, distance);
        let expected = batch_split_rhat(&borrow(&chains));
        assert!((combined(&chains).rhat / expected - 1.0).abs() < 1e-12, "shift {distance}");
    }
    let odd = autoregressive(4, 5001, 0.5, 66);
    assert!((combined(&odd).rhat - batch_split_rhat(&borrow(&odd))).abs() < 2e-3);
}

#[test]
fn shifted_chains_raise_rhat_and_lower_effective_size() {
    let chains = autoregressive(4, 2000, 0.0, 67);
    let (agreeing, apart) = (combined(&chains), combined(&shifted(&chains, 3.0)));
    assert!(agreeing.rhat < 1.01 && apart.rhat > 1.3, "{agreeing:?} {apart:?}");
    assert!(apart.ess < 0.1 * agreeing.ess);
}

#[test]
fn chains_of_different_length_combine() {
    let chains = autoregressive(2, 3000, 0.5, 68);
    let (long, short) = (record(&chains[0]), record(&chains[1][..700]));
    let running = combine(&[&long, &short])[0];
    assert!((running.mean - mean(&[&chains[0][..], &chains[1][..700]].concat())).abs() < 1e-12);
    assert!(running.rhat < 1.05 && (running.ess / (3700.0 / 3.0) - 1.0).abs() < 0.6, "{running:?}");
}

#[test]
fn degenerate_input_is_undefined_not_fatal() {
    assert!(combine(&[]).is_empty());
    let empty = Streaming::new(1);
    assert!(empty.mean(0).is_nan() && empty.sd(0).is_nan() && empty.ess(0).is_nan());
    assert!(empty.mean(7).is_nan());
    assert!(combine(&[&empty, &empty])[0].rhat.is_nan());
    let mut ragged = Streaming::new(2);
    for _ in 0..200 {
        ragged.push(&[1.0]);
        ragged.push(&[1.0, 2.0, 3.0]);
    }
    assert_eq!(ragged.mean(0), 1.0);
    assert_eq!(ragged.ess(0), 400.0);
    assert!(ragged.mean(1).is_nan() && ragged.ess(1).is_nan());
    let both = combine(&[&ragged, &ragged]);
    assert!(both[0].rhat.is_nan() && both[1].rhat.is_nan() && both[1].sd.is_nan());
    Streaming::new(0).push(&[]);
    assert_eq!(combine(&[&ragged, &Streaming::new(1)]).len(), 1);
}
