//! The passes that bounds are made of: which blocks are the heaviest, then the sums over each head and over the rest.

use std::ops::Range;

use nalgebra::DMatrix;

use super::{Bounds, CUBIC, CertificateSettings, QUARTIC, ROUNDING, Tail};
use crate::glm::Family;
use crate::glm::blocks::BLOCK;
use crate::glm::expansion::GlmExpansion;
use crate::glm::expansion::limit::widths;
use crate::glm::expansion::span::{MixedPanel, Span};
use crate::glm::expansion::spread::{Spread, factor};
use crate::glm::expansion::tensor::{FORMS, PANEL, Panel, ROWS};
use crate::pass::Pass;
use austerity::error::{Result, setting};

/// Coefficients up to which the tensor is built.
const LARGEST_TENSOR: usize = 40;
/// Shares of the blocks that the heads end at.
const HEADS: [f64; 4] = [1.0 / 1024.0, 1.0 / 256.0, 1.0 / 64.0, 1.0 / 16.0];
/// Relative rounding of a term of a dot product in f32, twice over.
const UNIT: f64 = 1.2e-7;
/// Relative accuracy of R in f32, the order of its sum included.
const ACCURACY: f64 = 3e-5;

impl<F: Family> GlmExpansion<F> {
    /// The same expansion, whose residuals certify their totals: see [`austerity::rule::Certified`].
    ///
    /// Refuses expansions of another order than the second, which have no certificate.
    ///
    /// ```
    /// use austerity_glm::glm::expansion::{CertificateSettings, ExpansionSettings, GlmExpansion};
    /// use austerity_glm::{Glm, Logistic, Prior, ResponseKind, Surrogate, generate};
    ///
    /// let data = generate::logistic(20_000, 5).build()?.data.check(ResponseKind::Binary)?;
    /// let model = Glm::new(Logistic, &data, vec![Prior::normal(1.0); 6])?;
    /// let expansion = GlmExpansion::new(&model, &[0.0; 6], &ExpansionSettings::default())?;
    /// let surrogate = Surrogate::new(expansion.with_certificate(&CertificateSettings::default())?);
    /// assert!(surrogate.expansion().bounds().is_some());
    /// # Ok::<(), austerity::Error>(())
    /// ```
    pub fn with_certificate(mut self, settings: &CertificateSettings) -> Result<Self> {
        if self.order != 2 {
            return Err(setting("order of an expansion with a certificate", self.order, "2"));
        }
        let size = self.active.len();
        let reach = settings.reach.unwrap_or((size as f64).sqrt() + 4.0);
        if !(reach > 0.0 && reach.is_finite()) {
            return Err(setting("reach of the certificate", reach, "a positive number"));
        }
        let d = self.model.parameters();
        let entry =
            |i: usize, k: usize| self.covariance[self.active[i] as usize * d + self.active[k] as usize];
        let lower = factor(&DMatrix::from_fn(size, size, entry))?;
        let (spread, widths) = (Spread::of(&lower, &self.coding, 0.0), widths(&lower, &self.coding));
        let cubic = settings.third_order.unwrap_or(size <= LARGEST_TENSOR);
        let constant = f64::from(spread.constant());
        let all = factor(&DMatrix::from_fn(d, d, |i, k| self.covariance[i * d + k]))?;
        // Units by all parameters; directions among those that move residuals.
        let span = Span::new(&self.model, &all, &self.centre, 0.0).along(&lower).reaching(reach);
        let rows = RowTerms { expansion: &self, spread, span, widths, constant, reach, size };
        let (tails, heads) = rows.collect(cubic, settings.threads.max(1))?;
        let factor = (0..size).flat_map(|i| (0..=i).map(move |k| (i, k))).map(|at| lower[at]).collect();
        self.bounds = Some(Bounds { factor, reach, tails, heads }.into());
        (self.limit, self.report.limit) = (None, None);
        Ok(self)
    }

    /// The bounds that a certificate rests on.
    #[must_use]
    pub fn bounds(&self) -> Option<&Bounds> {
        self.bounds.as_deref()
    }
}

/// What the passes need.
struct RowTerms<'a, F: Family> {
    expansion: &'a GlmExpansion<F>,
    spread: Spread,
    span: Span,
    /// sd of a coefficient, in the order of the storage.
    widths: Vec<f32>,
    /// lev of the constant.
    constant: f64,
    reach: f64,
    size: usize,
}

impl<F: Family> RowTerms<'_, F> {
    fn extras(&self) -> usize {
        self.expansion.model.family.extra().len()
    }

    /// The tails, and the heads before them.
    fn collect(&self, cubic: bool, threads: usize) -> Result<(Vec<Tail>, Vec<Vec<u32>>)> {
        let all: Vec<u32> = (0..self.expansion.blocks.count() as u32).collect();
        if all.is_empty() {
            return Ok((vec![Tail::new(self.size, cubic, self.extras())], Vec::new()));
        }
        let driver = self.expansion.model.driver.clone().with_threads(threads);
        let left: Vec<f64> = driver.run(&BlockScores { cubic }, self)?;
        let mut falling = all.clone();
        falling.sort_by(|&a, &b| left[b as usize].total_cmp(&left[a as usize]).then(a.cmp(&b)));
        let mut ends: Vec<usize> =
            HEADS.iter().map(|share| (share * all.len() as f64).ceil() as usize).collect();
        ends.dedup();
        ends.retain(|&end| end < all.len());
        let mut groups: Vec<Vec<u32>> = Vec::new();
        let mut start = 0;
        for end in ends.into_iter().chain([all.len()]) {
            let mut group = falling[start..end].to_vec();
            group.sort_unstable();
            groups.push(group);
            start = end;
        }
        let mut tails = Vec::new();
        let mut after = Tail::new(self.size, cubic, self.extras());
        for group in groups.iter().rev() {
            after.add(&driver.run(&TailSums { blocks: group, cubic }, self)?);
            tails.insert(0, after.clone());
        }
        tails.iter_mut().for_each(|tail| tail.complete(&self.span));
        groups.pop();
        Ok((tails, groups))
    }

    /// δ: how far z of a row, and h/ρ in f32, can be from the truth.
    fn delta(&self, panel: &Panel, row: usize) -> f64 {
        let size = f64::from(panel.sizes[row / 16][row % 16]) + self.constant;
        UNIT * (self.size + 4) as f64 * size
    }

    /// Gives all panels of `blocks`, with the number of blocks in each, to `take`.
    fn panels(&self, blocks: &[u32], mut take: impl FnMut(&mut Panel, &MixedPanel, usize)) {
        let expansion = self.expansion;
        let view = expansion.blocks.view();
        let (layout, family) = (view.layout(), &expansion.model.family);
        let (mut panel, mut mixed) = (Panel::new(&self.spread), MixedPanel::new(self.extras()));
        let extra = expansion.model.extra(&expansion.centre);
        for blocks in blocks.chunks(PANEL) {
            panel.take(expansion.model.level, &self.spread, &self.widths, &view, blocks);
            mixed.clear();
            for (place, &block) in blocks.iter().enumerate() {
                let (block, lines) = (block as usize, view.block(block as usize));
                for i in 0..view.rows_in(block) {
                    let side = |place: Option<usize>| {
                        place.map_or(1.0, |p| f64::from(lines[2 * p + i / 16].0[i % 16]))
                    };
                    let eta = f64::from(expansion.eta[block * BLOCK + i]);
                    let weight = side(layout.weight);
                    if eta.is_nan() || weight == 0.0 {
                        continue;
                    }
                    let row = place * BLOCK + i;
                    let (vector, lane) = (row / 16, row % 16);
                    let delta = self.delta(&panel, row);
                    let own = f64::from(panel.squares[vector][lane]).sqrt() * (1.0 + 1e-5) + delta;
                    let leverage = if self.extras() == 0 { own } else { own.hypot(self.span.square.sqrt()) };
                    let (response, trials) = (side(Some(layout.response)), side(layout.trials));
                    let place = (eta, own * self.reach);
                    let [largest, fourth] =
                        family.row_bounds(&self.span.around(), place, response, trials, true);
                    let third = if self.extras() == 0 {
                        family.row_derivatives(extra, eta, response, trials)[2]
                    } else {
                        let thirds = family.row_third(extra, eta, response, trials);
                        mixed.set(row, weight, &thirds, family.uses(response));
                        thirds[0]
                    };
                    let largest = weight * largest / 6.0;
                    panel.cubic[vector][lane] = (weight * third) as f32;
                    panel.weights[CUBIC][vector][lane] = (largest * leverage) as f32;
                    panel.weights[QUARTIC][vector][lane] =
                        (weight * fourth / 24.0 * leverage * leverage) as f32;
                    panel.weights[ROUNDING][vector][lane] =
                        (largest * (8.0 * delta + ACCURACY * leverage)) as f32;
                }
            }
            take(&mut panel, &mixed, blocks.len());
        }
    }
}

/// The pass for what every block can leave, in their order: of the fourth order where there is a tensor.
struct BlockScores {
    cubic: bool,
}

impl<F: Family> Pass<RowTerms<'_, F>> for BlockScores {
    type Partial = Vec<f64>;
    const NAME: &'static str = "heaviest blocks";

    fn blocks(&self, rows: &RowTerms<'_, F>) -> usize {
        rows.expansion.blocks.count()
    }

    fn empty(&self, _rows: &RowTerms<'_, F>) -> Vec<f64> {
        Vec::new()
    }

    fn visit(
        &self,
        rows: &RowTerms<'_, F>,
        blocks: Range<usize>,
        _kept: &mut [f32],
        left: &mut Vec<f64>,
    ) -> Result<()> {
        let blocks: Vec<u32> = blocks.map(|block| block as u32).collect();
        rows.panels(&blocks, |panel, _, blocks| {
            let weights = &panel.weights[if self.cubic { QUARTIC } else { CUBIC }];
            for k in 0..blocks {
                let vectors = 2 * k..2 * k + 2;
                let lanes = weights[vectors.clone()].iter().zip(&panel.squares[vectors]);
                let all = lanes.flat_map(|(weight, square)| weight.iter().zip(square));
                let size = |square: f32| f64::from(square) + rows.span.square;
                left.push(all.map(|(&weight, &square)| f64::from(weight) * size(square)).sum());
            }
        });
        Ok(())
    }

    fn merge(&self, earlier: &mut Vec<f64>, later: Vec<f64>) {
        earlier.extend(later);
    }
}

/// The pass for the sums over some blocks.
struct TailSums<'a> {
    blocks: &'a [u32],
    cubic: bool,
}

impl<F: Family> Pass<RowTerms<'_, F>> for TailSums<'_> {
    type Partial = Tail;
    const NAME: &'static str = "bounds";

    fn blocks(&self, _rows: &RowTerms<'_, F>) -> usize {
        self.blocks.len()
    }

    fn empty(&self, rows: &RowTerms<'_, F>) -> Tail {
        Tail::new(rows.size, self.cubic, rows.extras())
    }

    fn visit(
        &self,
        rows: &RowTerms<'_, F>,
        blocks: Range<usize>,
        _kept: &mut [f32],
        tail: &mut Tail,
    ) -> Result<()> {
        let level = rows.expansion.model.level;
        rows.panels(&self.blocks[blocks], |panel, mixed, _| {
            tail.sums.push(level, panel);
            if self.cubic {
                tail.mixed.push(level, panel, mixed);
            }
            for k in 0..FORMS {
                for row in 0..ROWS {
                    let (vector, lane) = (row / 16, row % 16);
                    let weight = f64::from(panel.weights[k][vector][lane]);
                    let delta = rows.delta(panel, row);
                    tail.errors[k] += weight * delta * delta;
                    let square = f64::from(panel.squares[vector][lane]) + rows.span.square;
                    tail.traces[k] += weight * square;
                    tail.spanned[k] += weight;
                }
            }
        });
        Ok(())
    }

    fn merge(&self, earlier: &mut Tail, later: Tail) {
        earlier.add(&later);
    }
}
