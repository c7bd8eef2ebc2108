//! The paper's own recursion: z on a grid of L cells, one drift at a time.
//!
//! Given z_{j−1} and the drift, z_j is N(ρz_{j−1} + μ√t_j(1 − ρ²), 1 − ρ²), ρ² = t_{j−1}/t_j. The mass not
//! yet stopped is kept on L equal cells of \[−G_j, G_j\] and moved from look to look by the midpoint rule.
//!
//! Korattikara, Chen & Welling (2014), supplement A ("discretizing the value of z_j between \[−G, G\]"). Cost
//! O(L²J) *per drift*; error O(L⁻²), and it diverges without warning when cells are wider than a step of the
//! walk. Kept as an independent reference for tests and benchmarks: use [`crate::theory::TestWalk`].

use super::plan::TestPlan;
use super::walk::Outcome;
use crate::error::{Result, setting};
use crate::rule::bound::normal_tail;

/// E and π̄ at `mu_std` on a grid of `cells` cells.
pub fn paper_grid(plan: &TestPlan, mu_std: f64, cells: usize) -> Result<Outcome> {
    if cells == 0 {
        return Err(setting("cells (L)", cells, "at least 1"));
    }
    if !mu_std.is_finite() {
        return Err(setting("mu_std", mu_std, "a finite number"));
    }
    let drift = mu_std.abs();
    let mut mass: Vec<(f64, f64)> = vec![(0.0, 1.0)];
    let (mut error, mut share, mut last_share, mut time) = (0.0, 0.0, 0.0, 0.0);
    for stage in plan.stages().iter().filter(|stage| stage.critical < f64::INFINITY) {
        let going: f64 = mass.iter().map(|(_, weight)| weight).sum();
        share += (stage.share - last_share) * going;
        let correlation = f64::sqrt(time / stage.time);
        let step = (1.0 - time / stage.time).sqrt();
        let shift = drift * stage.time.sqrt() * step * step;
        error += mass
            .iter()
            .map(|(z, weight)| weight * normal_tail((stage.critical + correlation * z + shift) / step))
            .sum::<f64>();
        let width = 2.0 * stage.critical / cells as f64;
        let scale = width / (step * (2.0 * std::f64::consts::PI).sqrt());
        mass = (0..cells)
            .map(|i| {
                let to = -stage.critical + (i as f64 + 0.5) * width;
                let moved = mass.iter().map(|(z, weight)| {
                    let distance = (to - correlation * z - shift) / step;
                    weight * (-0.5 * distance * distance).exp()
                });
                (to, scale * moved.sum::<f64>())
            })
            .collect();
        (last_share, time) = (stage.share, stage.time);
    }
    share += (1.0 - last_share) * mass.iter().map(|(_, weight)| weight).sum::<f64>();
    Ok(Outcome { error, data_usage: share })
}
