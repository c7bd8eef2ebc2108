//! From a model to its expansion: centre, scores, stratum, sums of the rest, and what is sampled.

use std::sync::Arc;
use std::time::Instant;

use rand::RngExt as _;
use rand::seq::SliceRandom as _;

use super::cubic::{Cubic, LARGEST};
use super::limit::Collected;
use super::scores;
use super::{CertainRows, ExpansionReport, GlmExpansion, Limit, Line, centre};
use crate::check::blindness::{Falling, ResidualTest, Stratum, SurrogateBlindness, heaviest, surrogate};
use crate::check::replication::{Replication, replicate};
use crate::glm::blocks::{BLOCK, Blocks, View};
use crate::glm::derivative;
use crate::glm::predictor::{Entry, levels};
use crate::glm::{Family, Glm};
use crate::memory::filled;
use crate::simd::eight::strips;
use austerity::error::{Result, setting};
use austerity::population::relocated;
use austerity::rng::{Role, stream};

/// Decisions that read no more rows than this are cheap enough without copies, which would cost certain coefficients their own exact steps.
const WORTH: f64 = 30_000.0;

/// A walk's steps have more energy along steep directions than on average, and so have rows that lie there.
const STEEP: f64 = 2.0;

/// Decisions that a pass for a term of the third order may cost.
const DECISIONS: f64 = 20_000.0;

/// The same of a pass for a limit of the third order.
const SETTLED: f64 = 100_000.0;

/// How an expansion is built.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpansionSettings {
    /// 1, 2 or 3.
    pub order: u8,
    /// Whether an expansion of the second order gets a term of the third where decisions would read much fewer rows for it.
    pub raise: bool,
    /// The test that the stratum is made for.
    pub stratum: ResidualTest,
    /// The sd of the isotropic random walk whose steps are decided about, instead of independent draws: residuals change less, and fewer rows need to be apart.
    pub walk: Option<f64>,
    /// How many rows the stratum has, instead of the number found best. 0 switches it off: for tests and teaching.
    pub stratum_rows: Option<usize>,
    /// Copies of heavy rows, as a share of all rows, that the sampled storage may hold where no stratum within its limit serves, or copies
    /// halve the cost of a decision. 0 switches them off, and so does a given `stratum_rows`.
    pub extra_rows: f64,
    /// Whether the start is the centre, as it is; otherwise the mode is looked for from there.
    pub fixed: bool,
    /// Threads for the passes. Nothing depends on them but the time.
    pub threads: usize,
}

impl Default for ExpansionSettings {
    fn default() -> Self {
        Self {
            order: 2,
            raise: false,
            stratum: ResidualTest::default(),
            walk: None,
            stratum_rows: None,
            extra_rows: 0.5,
            fixed: false,
            threads: std::thread::available_parallelism().map_or(1, Into::into),
        }
    }
}

impl<F: Family> GlmExpansion<F> {
    /// Expands `model`, looking for its mode from `start`.
    ///
    /// ```
    /// use austerity_glm::glm::expansion::{ExpansionSettings, GlmExpansion};
    /// use austerity_glm::{Glm, Logistic, Prior, ResponseKind, Surrogate, generate};
    /// use austerity::model::Model;
    ///
    /// let data = generate::logistic(20_000, 5).build()?.data.check(ResponseKind::Binary)?;
    /// let model = Glm::new(Logistic, &data, vec![Prior::normal(1.0); 6])?;
    /// let expansion = GlmExpansion::new(&model, &[0.0; 6], &ExpansionSettings::default())?;
    /// assert!(!expansion.report().is_blind());
    /// let surrogate = Surrogate::new(expansion);
    /// assert_eq!(surrogate.len(), 20_000);
    /// # Ok::<(), austerity::Error>(())
    /// ```
    pub fn new(model: &Glm<F>, start: &[f64], settings: &ExpansionSettings) -> Result<Self> {
        let begun = Instant::now();
        check_order(model, settings.order)?;
        let threaded = &model.clone().with_threads(settings.threads);
        let centre = centre::find(threaded, start, settings.fixed)?;
        let settings = &ExpansionSettings { stratum: moved(settings, &centre), ..settings.clone() };
        let (order, weighed) = weighed(threaded, &centre, settings)?;
        let chosen = weighed.stratum(settings)?;
        let mut apart = heaviest(&threaded.driver, &weighed.scores, chosen.rows);
        if settings.stratum_rows.is_none() && weighed.copies.is_none() {
            apart = completed(threaded, apart);
        }
        let Weighed { scores, falling, found, copies, collected } = weighed;
        let mut report = ExpansionReport {
            rows: model.blocks().rows(),
            order,
            stratum: apart.len(),
            passes: centre.passes + 1,
            replicated: copies.map_or(0, |copies| copies.replicated),
            extra_rows: copies.map_or(0, |copies| copies.extra),
            first_look: match copies {
                None => first_look(&falling, chosen.rows, &settings.stratum)?,
                Some(_) => settings.stratum.first,
            },
            ..ExpansionReport::of(&chosen, &found.without)
        };
        let typical =
            copies.map_or_else(|| falling.root_mean_square(chosen.rows), |copies| copies.root_mean_square);
        let scale = power_of_two(if order == 1 { typical.cbrt() } else { typical });
        let sampled = copies.map(|copies| Sampled::new(&scores, &apart, &copies));
        let mut expansion = assemble(threaded, centre, apart, sampled, collected, order, scale)?;
        if order == 3 {
            expansion.cubic = Some(Cubic::new(&expansion)?.into());
        }
        report.sampled_columns = expansion.coding.len();
        report.limit = expansion.limit.as_deref().map(Limit::typical);
        report.passes +=
            u32::from(expansion.compact) + u32::from(order == 3) + u32::from(order > settings.order);
        report.seconds = begun.elapsed().as_secs_f64();
        expansion.report = report;
        Ok(expansion)
    }
}

/// Refuses orders that there are not, or not for so many parameters.
fn check_order<F: Family>(model: &Glm<F>, order: u8) -> Result<()> {
    if !(1..=3).contains(&order) {
        return Err(setting("order of the expansion", order, "1, 2 or 3"));
    }
    if order == 3 && model.parameters() > LARGEST {
        return Err(setting(
            "order of the expansion",
            format!("3, {} with {} parameters", model.family.name(), model.parameters()),
            "3 with at most 64 parameters",
        ));
    }
    Ok(())
}

/// The rows by what they can leave of an expansion, and what follows.
struct Weighed {
    /// Of all rows.
    scores: Vec<f32>,
    falling: Falling,
    found: SurrogateBlindness,
    copies: Option<Replication>,
    collected: Option<Collected>,
}

impl Weighed {
    /// By a pass over all rows, for an expansion of the third order or a lower one.
    fn new<F: Family>(
        model: &Glm<F>,
        centre: &centre::Centre,
        third: bool,
        settings: &ExpansionSettings,
    ) -> Result<Self> {
        let (mut scores, collected) = scores::of_all(model, centre, third, settings.order > 1)?;
        scores.truncate(model.blocks().rows());
        let falling =
            Falling::on(&model.driver, &scores, largest_stratum(settings), settings.stratum.first / 2);
        let found = surrogate(&falling, &settings.stratum)?;
        let copies = copies(&scores, &found, settings)?;
        Ok(Self { scores, falling, found, copies, collected })
    }

    /// Rows read per decision.
    fn cost(&self, settings: &ExpansionSettings) -> f64 {
        let chosen = self.copies.map(|copies| copies.stratum).or(self.found.chosen);
        chosen.map_or(f64::INFINITY, |chosen| chosen.cost(&settings.stratum))
    }

    /// Share of the decisions that a limit leaves open.
    fn left_open(&self) -> f64 {
        self.collected.as_ref().map_or(1.0, |collected| -(-collected.typical()).exp_m1())
    }

    /// The stratum. Blind within the limits, the largest is the best there is, and the report says what it is worth.
    fn stratum(&self, settings: &ExpansionSettings) -> Result<Stratum> {
        Ok(match (settings.stratum_rows, &self.copies, self.found.chosen) {
            (Some(rows), ..) => self.falling.stratum(rows, &settings.stratum)?,
            (None, Some(copies), _) => copies.stratum,
            (None, None, Some(chosen)) => chosen,
            (None, None, None) => self.falling.stratum(largest_stratum(settings), &settings.stratum)?,
        })
    }
}

/// Rows that may be set apart.
fn largest_stratum(settings: &ExpansionSettings) -> usize {
    settings.stratum_rows.unwrap_or(0).max(settings.stratum.largest_stratum)
}

/// The order, raised to the third where that pays, and the rows weighed for it.
fn weighed<F: Family>(
    model: &Glm<F>,
    centre: &centre::Centre,
    settings: &ExpansionSettings,
) -> Result<(u8, Weighed)> {
    let order = settings.order;
    let plain = Weighed::new(model, centre, order == 3, settings)?;
    if order != 2 || !settings.raise || model.parameters() > LARGEST {
        return Ok((order, plain));
    }
    let (rows, d, cost) = (model.blocks().rows(), model.parameters(), plain.cost(settings));
    // Decisions that read a first look and no more gain where a limit settles them without.
    let left = cost * plain.left_open();
    let dear = cost > worth_raising(rows, d, settings);
    if !dear && (cost > 2.0 * settings.stratum.first as f64 || left <= worth_settling(rows, d)) {
        return Ok((order, plain));
    }
    let raised = Weighed::new(model, centre, true, settings)?;
    let cost_of_raised = raised.cost(settings);
    let pays = if dear {
        // A term of the third order costs about as much as reading d²/12 rows more.
        2.0 * (cost_of_raised + (d * d) as f64 / 12.0) < cost
    } else {
        2.0 * cost_of_raised * raised.left_open() < left
    };
    Ok(if pays { (3, raised) } else { (order, plain) })
}

/// The test as the moves that are decided about have it.
fn moved(settings: &ExpansionSettings, centre: &centre::Centre) -> ResidualTest {
    let Some(sd) = settings.walk else { return settings.stratum };
    settings.stratum.for_walk(STEEP * sd * sd * centre.mean_precision)
}

/// Half the usual first look where that is predicted to reach the tolerance and misses nothing that matters.
fn first_look(falling: &Falling, apart: usize, settings: &ResidualTest) -> Result<usize> {
    let half = ResidualTest { first: settings.first / 2, ..*settings };
    if half.first == 0 {
        return Ok(settings.first);
    }
    let found = falling.stratum(apart, &half)?;
    let serves = found.standard_error <= half.tolerance && !found.blindness.is_blind();
    Ok(if serves { half.first } else { settings.first })
}

/// Rows read per decision from which a term of the third order is worth looking at: twice the first look, and as many as tens of thousands of decisions
/// need to pay for the pass that makes it, d²/12 rows' worth of each row.
fn worth_raising(rows: usize, d: usize, settings: &ExpansionSettings) -> f64 {
    let pass = rows as f64 * (d * d) as f64 / 12.0;
    (2.0 * settings.stratum.first as f64).max(pass / DECISIONS)
}

/// Rows read per decision from which it is worth to settle decisions by a limit of the third order: those whose reading takes as long as the term of the
/// third order, besides its pass, which takes a row as long and may cost a hundred thousand decisions.
fn worth_settling(rows: usize, d: usize) -> f64 {
    let d = d as f64;
    let term = 4.0 + d * d / 80.0 + d * d * d / 3000.0;
    term * (1.0 + rows as f64 / SETTLED)
}

/// Copies of heavy rows, where they are needed or halve the cost of a decision.
fn copies(
    scores: &[f32],
    found: &SurrogateBlindness,
    settings: &ExpansionSettings,
) -> Result<Option<Replication>> {
    let share = settings.extra_rows;
    if !(share >= 0.0 && share.is_finite()) {
        return Err(setting("extra rows of an expansion", share, "a finite share of the rows, 0 or more"));
    }
    let cost = found.chosen.map_or(f64::INFINITY, |chosen| chosen.cost(&settings.stratum));
    let room = (share * scores.len() as f64) as usize;
    let room = room.min((u32::MAX as usize).saturating_sub(scores.len()));
    if settings.stratum_rows.is_some() || room == 0 || cost <= WORTH {
        return Ok(None);
    }
    let copies = replicate(scores, &settings.stratum, room)?;
    Ok(copies.filter(|copies| 2.0 * copies.stratum.cost(&settings.stratum) < cost))
}

/// What a number of this size is multiplied by to be about 1, exactly.
fn power_of_two(size: f64) -> f32 {
    if !(size > 0.0 && size.is_finite()) {
        return 1.0;
    }
    (-size.log2().round()).clamp(-60.0, 60.0).exp2() as f32
}

fn assemble<F: Family>(
    model: &Glm<F>,
    centre: centre::Centre,
    apart: Vec<u32>,
    sampled: Option<Sampled>,
    collected: Option<Collected>,
    order: u8,
    scale: f32,
) -> Result<GlmExpansion<F>> {
    let d = model.parameters();
    let centre::Centre { state, mut gradient, mut hessian, mut eta, covariance, mode, .. } = centre;
    let limit;
    let stratum = if apart.is_empty() {
        limit = collected.map(|collected| collected.finish::<F>(None)).transpose()?.flatten();
        None
    } else {
        let sorted = by_pattern(model, &apart);
        let part = model.subset(&sorted, None)?;
        // Its own sums are taken out of those of all rows.
        let (mut g, mut h) = (vec![0.0; d], vec![0.0; d * d]);
        derivative::of_likelihood(&part, &state, &mut g, &mut h)
            .map_err(|error| relocated(error, |position| model.original(position)))?;
        gradient.iter_mut().zip(&g).for_each(|(all, own)| *all -= own);
        hessian.iter_mut().zip(&h).for_each(|(all, own)| *all -= own);
        let mut own: Vec<f32> = sorted.iter().map(|&p| eta[p as usize]).collect();
        own.resize(part.blocks().count() * BLOCK, 0.0);
        limit = collected.map(|collected| collected.finish(Some((&part, &own)))).transpose()?.flatten();
        Some(CertainRows::new(part, own, &state))
    };
    let (kept, first) = (kept(model, &apart), usize::from(model.intercept));
    let is_kept = |entry: &Entry| kept[entry.parameter - first];
    let dense = model.coding.entries.iter().filter(|entry| model.coding.level(entry).is_none());
    let columns: Vec<u32> = dense.filter(|entry| is_kept(entry)).map(|entry| entry.slot as u32).collect();
    let coding = model.coding.restricted(is_kept, &columns);
    let compact = columns.len() < model.blocks().layout().columns || sampled.is_some();
    let (blocks, eta) = if let Some(sampled) = &sampled {
        let Sampled { places, weights } = sampled;
        let blocks = model.blocks().gather(places.iter().copied(), places.len(), &columns).weighted(weights);
        let mut own = filled(blocks.count() * BLOCK, 0.0);
        own.iter_mut().zip(places).for_each(|(slot, &p)| *slot = eta[p as usize]);
        (blocks, own)
    } else if compact {
        let rest = Rest { rows: model.blocks().rows(), apart: &apart };
        let blocks = model.blocks().gather(rest.positions(), rest.len(), &columns);
        let mut own = filled(blocks.count() * BLOCK, 0.0);
        own.iter_mut().zip(rest.positions()).for_each(|(slot, p)| *slot = eta[p as usize]);
        (blocks, own)
    } else {
        apart.iter().for_each(|&position| eta[position as usize] = f32::NAN);
        (model.blocks().clone(), eta)
    };
    let takes_part = |i: usize| i.checked_sub(first).and_then(|j| kept.get(j)).is_none_or(|&kept| kept);
    let active: Vec<u32> = (0..d).filter(|&i| takes_part(i)).map(|i| i as u32).collect();
    let linear = active.iter().map(|&i| gradient[i as usize]).collect();
    let entry = |i: u32, k: u32| if order >= 2 { hessian[i as usize * d + k as usize] } else { 0.0 };
    let quadratic = strips(active.len(), active.len(), &|i, k| entry(active[i], active[k]));
    Ok(GlmExpansion {
        model: model.clone(),
        order,
        centre: state,
        mode,
        covariance,
        active,
        linear,
        quadratic,
        cubic: None,
        stratum,
        apart,
        blocks,
        compact,
        places: sampled.map(|sampled| sampled.places.into()),
        coding,
        eta: Arc::new(eta),
        scale,
        limit: limit.map(Arc::new),
        bounds: None,
        report: ExpansionReport::default(),
    })
}

/// The rows that are sampled, heavy ones several times.
struct Sampled {
    /// Where they stand in the model's storage.
    places: Vec<u32>,
    /// The share of its row's weight that each has.
    weights: Vec<f64>,
}

impl Sampled {
    /// Rows keep their order, which is random, and copies go to random places between them: copies of one row must not share a block.
    fn new(scores: &[f32], apart: &[u32], copies: &Replication) -> Self {
        let rest = Rest { rows: scores.len(), apart };
        let count = |place: u32| copies.copies(scores[place as usize]);
        let mut further: Vec<u32> = Vec::with_capacity(copies.extra);
        for place in rest.positions() {
            further.extend(std::iter::repeat_n(place, count(place) as usize - 1));
        }
        let mut rng = stream(0, 2, Role::Shuffle);
        further.shuffle(&mut rng);
        let total = rest.len() + further.len();
        let (mut places, mut weights) = (Vec::with_capacity(total), Vec::with_capacity(total));
        let mut rows = rest.positions();
        while places.len() < total {
            let left = total - places.len();
            let copy = if rng.random_range(0..left) < further.len() { further.pop() } else { rows.next() };
            let Some(place) = copy else { break };
            places.push(place);
            weights.push(1.0 / f64::from(count(place)));
        }
        Self { places, weights }
    }
}

/// The rows that are not in the stratum.
struct Rest<'a> {
    rows: usize,
    apart: &'a [u32],
}

impl Rest<'_> {
    fn len(&self) -> usize {
        self.rows - self.apart.len()
    }

    fn positions(&self) -> impl Iterator<Item = u32> + '_ {
        let mut apart = self.apart.iter().peekable();
        (0..self.rows as u32).filter(move |position| apart.next_if_eq(&position).is_none())
    }
}

/// Of every coefficient the rows outside the stratum in which it takes part, at most `most`; `None` where there are more, or where its column
/// is centred, so that its zeros are not stored as such.
fn strays<F: Family>(model: &Glm<F>, apart: &[u32], most: usize) -> Vec<Option<Vec<u32>>> {
    let view = model.blocks().view();
    let mut by_level: Vec<Vec<u32>> = vec![Vec::new(); model.coding.table()];
    let mut masked = apart.iter().copied().peekable();
    for position in 0..if by_level.is_empty() { 0 } else { view.rows() } {
        if masked.next_if_eq(&(position as u32)).is_none() {
            for place in levels::of_row(view.layout(), view.block(position / BLOCK), position % BLOCK) {
                if by_level[place].len() <= most {
                    by_level[place].push(position as u32);
                }
            }
        }
    }
    let of = |entry: &Entry| match model.coding.level(entry) {
        Some(place) => Some(std::mem::take(&mut by_level[place])).filter(|rows| rows.len() <= most),
        None => column_strays(&view, apart, entry, most),
    };
    model.coding.entries.iter().map(of).collect()
}

/// The same of a dense column.
fn column_strays(view: &View<'_>, apart: &[u32], entry: &Entry, most: usize) -> Option<Vec<u32>> {
    if entry.shift != 0.0 {
        return None;
    }
    let mut found = Vec::new();
    let mut masked = apart.iter().copied().peekable();
    for block in 0..view.count() {
        let end = ((block + 1) * BLOCK) as u32;
        let lines = &view.block(block)[2 * entry.slot..][..2];
        let empty = |line: &Line| line.0.iter().all(|&x| x == 0.0);
        if lines.iter().all(empty) {
            while masked.next_if(|&p| p < end).is_some() {}
            continue;
        }
        for i in 0..view.rows_in(block) {
            let position = (block * BLOCK + i) as u32;
            let inside = masked.next_if_eq(&position).is_some();
            if !inside && lines[i / 16].0[i % 16] != 0.0 {
                if found.len() == most {
                    return None;
                }
                found.push(position);
            }
        }
    }
    Some(found)
}

/// Whether each coefficient takes part outside the stratum.
fn kept<F: Family>(model: &Glm<F>, apart: &[u32]) -> Vec<bool> {
    if apart.is_empty() {
        return vec![true; model.coding.len()];
    }
    strays(model, apart, 0).iter().map(Option::is_none).collect()
}

/// The stratum with the last rows of features that it has nearly all rows of, those with the fewest first, up to a quarter more rows in all: a few rows
/// outside would keep a column in the sample, and its coefficient from steps of its own.
fn completed<F: Family>(model: &Glm<F>, mut apart: Vec<u32>) -> Vec<u32> {
    let mut room = apart.len() / 4;
    let outside = strays(model, &apart, room).into_iter().flatten();
    let mut nearly: Vec<Vec<u32>> = outside.filter(|rows| !rows.is_empty()).collect();
    nearly.sort_by_key(Vec::len);
    for rows in nearly {
        if rows.len() <= room {
            room -= rows.len();
            apart.extend(rows);
        }
    }
    apart.sort_unstable();
    apart.dedup();
    apart
}

/// The positions sorted by which sparse columns and levels they have, so that neighbours share their zeros.
fn by_pattern<F: Family>(model: &Glm<F>, positions: &[u32]) -> Vec<u32> {
    let dense = |entry: &&Entry| model.coding.level(entry).is_none() && entry.shift == 0.0;
    let sparse: Vec<usize> = model.coding.entries.iter().filter(dense).map(|entry| entry.slot).collect();
    let blocks: &Blocks = model.blocks();
    let pattern = |&position: &u32| -> Vec<u32> {
        let row = position as usize;
        let present = sparse.iter().copied().filter(|&j| blocks.value(row, j) != 0.0);
        let places = levels::of_row(blocks.layout(), blocks.block(row / BLOCK), row % BLOCK);
        present.chain(places.map(|place| blocks.layout().columns + place)).map(|slot| slot as u32).collect()
    };
    let mut sorted = positions.to_vec();
    sorted.sort_by_cached_key(|position| (pattern(position), *position));
    sorted
}
