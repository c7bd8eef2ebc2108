//! Draws whose every number is known.

#![allow(dead_code, reason = "not every test file uses all of it")]

use std::ops::Range;
use std::path::{Path, PathBuf};

use austerity::rule::{Decision, Stopped};
use austerity::run::Settings;
use austerity_io::run::Layout;

/// Coefficients `x0`, `x1`, … and `sigma`; chains numbered from 5.
pub(crate) fn layout(features: usize, chains: u32) -> Layout {
    let mut names: Vec<String> = (0..features).map(|j| format!("x{j}")).collect();
    names.push("sigma".into());
    let settings = Settings { chains, first_chain: 5, draws: 1, seed: 11, ..Settings::default() };
    Layout { created_at: "2026-01-02T03:04:05+00:00".into(), ..Layout::new(names, features, &settings) }
}

/// A number that is a function of its place.
pub(crate) fn value(chain: usize, draw: usize, parameter: usize) -> f64 {
    let mixed = ((chain * 1_000_003 + draw) * 4099 + parameter).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed >> 12) as f64 / (1_u64 << 52) as f64 - 0.5
}

pub(crate) fn values(layout: &Layout, chain: usize, draws: Range<usize>) -> Vec<f64> {
    let width = layout.names.len();
    draws.flat_map(|draw| (0..width).map(move |parameter| value(chain, draw, parameter))).collect()
}

pub(crate) fn decision(chain: usize, draw: usize) -> Decision {
    if draw % 7 == 3 {
        return Decision::ruled_out();
    }
    let ends =
        [Stopped::Bound, Stopped::Exhausted, Stopped::Tolerance, Stopped::Impossible, Stopped::Certified];
    let stopped = ends[draw % 5];
    Decision {
        accepted: draw.is_multiple_of(3),
        used: (draw * 500 + chain + 1) as u64,
        looks: (draw % 5) as u32,
        mean: value(chain, draw, 1001),
        sd: value(chain, draw, 1002).abs(),
        threshold: value(chain, draw, 1003),
        stopped,
        guarded: (draw % 2) as u32,
        ..Decision::ruled_out()
    }
}

/// All files below a folder, sorted.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}
