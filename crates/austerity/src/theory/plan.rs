//! The looks of a test in information time, ready for the recursion.
//!
//! A look at n of N rows has share π = n/N and information time t = π/(1−π). In that clock z·√t is Brownian
//! motion with drift μ_std and unit variance, z the test statistic: the covariances of Proposition 1 of
//! Korattikara, Chen & Welling (2014) say exactly that (there z_j lacks a factor √(N−1); corrected here). The
//! whole data set is t = ∞: the last look has no place in the table, it is what happens when no other
//! decides.
//!
//! The plan is read off the table a [`Sequential`] rule runs by, so that theory and practice cannot differ in
//! their looks. Exact under Gaussian l and known σ_l; σ_l is estimated in practice, which matters below about
//! 100 rows. The guard of the rule is not modelled: it only ever forbids a look to decide, so that a rule with a guard
//! reads more data than the theory says, never less, and more of its decisions are the exact ones of the last look.

use crate::error::{Result, setting};
use crate::rule::{Look, Sequential, SequentialSettings};

/// Plans of settings with more looks are refused: minutes of work and gigabytes of tables.
const MOST_LOOKS: usize = 1_000_000;

/// One look before the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    /// π = n/N.
    pub share: f64,
    /// t = π/(1−π).
    pub time: f64,
    /// G: the look decides when |z| > G.
    pub critical: f64,
}

/// The looks before the last, in information time.
#[derive(Clone, Debug, PartialEq)]
pub struct TestPlan {
    stages: Vec<Stage>,
}

impl TestPlan {
    /// The plan of a table of looks at `rows` rows. Looks at or beyond `rows` are the exact last look.
    pub fn new(looks: &[Look], rows: usize) -> Result<Self> {
        if rows < 2 {
            return Err(setting("rows (N)", rows, "at least 2"));
        }
        let mut stages = Vec::with_capacity(looks.len());
        let mut before = 0;
        for look in looks {
            if look.rows <= before {
                return Err(setting(
                    "looks",
                    look.rows,
                    "strictly increasing row numbers, the first positive",
                ));
            }
            if look.critical.is_nan() || look.critical < 0.0 {
                return Err(setting("critical value", look.critical, "0 or more"));
            }
            before = look.rows;
            if look.rows >= rows {
                break;
            }
            let left = (rows - look.rows) as f64;
            stages.push(Stage {
                share: look.rows as f64 / rows as f64,
                time: look.rows as f64 / left,
                critical: look.critical,
            });
        }
        Ok(Self::cut(stages))
    }

    /// The plan of a rule.
    pub fn of_rule(rule: &Sequential) -> Result<Self> {
        let looks = rule.looks();
        Self::new(looks, looks.last().map_or(0, |look| look.rows))
    }

    /// The plan of settings on `rows` rows, at most 1,000,000 looks. An absolute tolerance τ needs κ: see
    /// [`TestPlan::with_absolute_stop`].
    pub fn of_settings(settings: &SequentialSettings, rows: usize) -> Result<Self> {
        let looks = settings.looks.count_estimate(rows, settings.block_rows);
        if looks > MOST_LOOKS as f64 {
            return Err(setting(
                "number of looks",
                format!("{looks:.0}"),
                &format!("at most {MOST_LOOKS}: take a larger first look or growth above 1"),
            ));
        }
        Self::new(Sequential::new(settings, rows)?.looks(), rows)
    }

    /// A plan from information times: the classical group-sequential setting.
    pub fn from_information(times: &[f64], critical: &[f64]) -> Result<Self> {
        if times.len() != critical.len() {
            return Err(setting("critical values", critical.len(), "one per information time"));
        }
        let mut before = 0.0;
        let mut stages = Vec::with_capacity(times.len());
        for (&time, &critical) in times.iter().zip(critical) {
            if !(time > before && time.is_finite()) {
                return Err(setting("information time", time, "positive, finite and strictly increasing"));
            }
            if critical.is_nan() || critical < 0.0 {
                return Err(setting("critical value", critical, "0 or more"));
            }
            before = time;
            stages.push(Stage { share: time / (1.0 + time), time, critical });
        }
        Ok(Self::cut(stages))
    }

    /// This test with the absolute stop "decide once the standard error of the total is below τ".
    ///
    /// With κ = √N·σ_l that standard error is κ/√t: from t = (κ/τ)² on the critical value is 0.
    pub fn with_absolute_stop(&self, kappa: f64, tolerance: f64) -> Result<Self> {
        if !(kappa >= 0.0 && kappa.is_finite()) {
            return Err(setting("kappa", kappa, "a finite number, 0 or more"));
        }
        if !(tolerance >= 0.0 && tolerance.is_finite()) {
            return Err(setting("stop_at (tau)", tolerance, "a finite number, 0 or more"));
        }
        let mut stages = self.stages.clone();
        for stage in &mut stages {
            if kappa < tolerance * stage.time.sqrt() {
                stage.critical = 0.0;
            }
        }
        Ok(Self::cut(stages))
    }

    /// After a look that always decides there is nothing.
    fn cut(mut stages: Vec<Stage>) -> Self {
        if let Some(last) = stages.iter().position(|stage| stage.critical == 0.0) {
            stages.truncate(last + 1);
        }
        Self { stages }
    }

    /// The looks before the last.
    #[must_use]
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// J: looks in all, the exact last one included.
    #[must_use]
    pub fn looks(&self) -> usize {
        self.stages.len() + 1
    }
}
