//! `austerity check`: are the assumptions of the sequential test sound on these data?
//!
//! Finds the mode, makes a short exact pilot from there, and looks at a few of its moves: are means of batches normal
//! enough, which rows carry a difference, is drawing blocks as good as drawing rows, how hard are the decisions. All rows
//! are then asked what they can do near the mode: leverage, and whether a test can be blind to them.

mod influence;

use austerity::kernel::{Kernel as _, Metropolis};
use austerity::model::{Access, Curvature, Mode, Model, find_mode};
use austerity::population::BlockOrder;
use austerity::proposal::{Proposal as _, RandomWalk};
use austerity::rng::{Role, Streams, stream};
use austerity::rule::{Exact, Law};
use austerity_glm::check::design_effect;
use austerity_glm::check::normality::{
    DISTANCE_LIMIT, Normality, NormalitySettings, PairNormality, SHARE_LIMIT, check_normality, examine,
};
use austerity_glm::glm::Visitor;
use austerity_glm::{DefaultPriors, Glm, Linear, Noise, Store};
use austerity_glm::{Prior, Priors};
use austerity_io::table::Source;
use serde_json::{Value, json};

use crate::data::{self, Loaded, all_cores};
use crate::model::Family;
use crate::output::{Failure, json as print_json, say};
use crate::progress::Line;
use crate::refusal::Refusal;
use crate::request::{CheckOptions, Common, Keyword};
use crate::table::table;
use influence::{Influences, of_glm};

/// Rows of the first look unless told otherwise, where there are enough.
const BATCH: usize = 500;
/// Exact steps of the pilot between two pairs.
const SPACING: u64 = 5;
/// Beyond this, blocks are no substitute for rows: √1.25 is 12 % too small a standard error.
const DESIGN_EFFECT_LIMIT: f64 = 1.25;

/// What was found.
struct Findings {
    normality: Normality,
    /// Offending rows as the user counts them (from 1, as in the file without its header), value and share.
    rows: Vec<(usize, f64, f64)>,
    design_effect: f64,
    design_effect_by_chance: f64,
    kappa: f64,
    /// `None` for linear models, whose decisions need no sample.
    influences: Option<Influences>,
}

/// The findings as a value, which is that of `--json`: about a table in memory, else about the data that the options name.
pub fn answer(table: Option<&Source>, common: &Common, options: &CheckOptions) -> Result<Value, Failure> {
    let (findings, loaded) = find(common, options, table)?;
    Ok(findings.json(loaded.store.rows(), &loaded.remarks))
}

/// Runs the check and prints what it found.
pub fn run(common: &Common, options: &CheckOptions) -> Result<(), Failure> {
    let (findings, loaded) = find(common, options, None)?;
    if common.json {
        print_json(&findings.json(loaded.store.rows(), &loaded.remarks))
    } else {
        say(findings.words(&loaded.store, &loaded.remarks))
    }
}

fn find(
    common: &Common,
    options: &CheckOptions,
    table: Option<&Source>,
) -> Result<(Findings, Loaded), Failure> {
    if options.pairs == 0 {
        return Err(Refusal::range(Keyword::Pairs, 0, "at least 1").into());
    }
    let mut line = Line::new("check");
    line.note("reading the data");
    let loaded = data::load(&options.data, table, common.seed(), common.threads)?;
    line.note("finding the mode and looking at moves");
    let data = &loaded.store;
    let family = Family::for_data(options.data.family, &loaded)?;
    let DefaultPriors { coefficients: priors, sigma } = data.default_priors_with(family.tails());
    let findings = match family {
        Family::Glm(family) => family.visit(Look { data, priors, sigma, common, options }),
        Family::Own | Family::Components | Family::Field => return Err(crate::model::own()),
        Family::Linear => {
            let model = Linear::from_store(data, priors, Noise::Unknown { prior: sigma })?.by_rows()?;
            look(&model, data.coefficients() + 1, (common, options), |_, _, _| Ok(None))
        }
    }?;
    Ok((findings, loaded))
}

/// Looks at the regression of a family.
struct Look<'a> {
    data: &'a Store,
    priors: Priors,
    /// Of a scale.
    sigma: Prior,
    common: &'a Common,
    options: &'a CheckOptions,
}

impl Visitor for Look<'_> {
    type Output = Result<Findings, Failure>;

    fn visit<F: austerity_glm::glm::Family>(self, family: F) -> Self::Output {
        let Self { data, mut priors, sigma, common, options } = self;
        for extra in family.extra() {
            priors = priors.and(extra.prior.unwrap_or(sigma));
        }
        let model = Glm::from_store(family, data.clone(), priors)?.with_threads(all_cores(0));
        look(&model, data.coefficients() + family.extra().len(), (common, options), of_glm)
    }
}

/// 500 rows, or as many whole blocks as there are in half of fewer than 1000 rows.
fn batch(rows: usize, block_rows: usize) -> usize {
    let block = block_rows.max(1);
    (rows / 2 / block * block).clamp(2, BATCH)
}

/// Looks at moves of a short pilot of a model with so many parameters; `influences` asks all rows, given the mode.
fn look<M>(
    model: &M,
    dimension: usize,
    (common, options): (&Common, &CheckOptions),
    influences: impl Fn(&M, &Mode, usize) -> Result<Option<Influences>, Failure>,
) -> Result<Findings, Failure>
where
    M: Model<State = Vec<f64>> + Curvature,
{
    let rows = model.len();
    let settings = NormalitySettings {
        batch: options.batch.unwrap_or_else(|| batch(rows, options.block_rows)),
        block_rows: options.block_rows,
        repetitions: options.repetitions,
        seed: common.seed(),
    };
    let mode = find_mode(model, &vec![0.0; dimension])?;
    let mut walk = RandomWalk::for_posterior(dimension, &mode.covariance)?;
    let mut state = mode.state.clone();
    let order = BlockOrder::new(rows, options.block_rows, common.seed(), 0)?;
    let mut pilot = Metropolis::new(model, walk.clone(), Exact::new(Law::Metropolis)?, order, &state)?;
    let mut streams = Streams::new(common.seed(), 0);
    let mut rng = stream(common.seed(), 0, Role::Start);
    let mut candidate = state.clone();
    let mut scratch = model.scratch(Access::Blocks);
    let mut pairs: Vec<PairNormality> = Vec::new();
    let mut effects = 0.0;
    for pair in 0..options.pairs as u64 {
        for step in 0..SPACING {
            streams.begin(pair * SPACING + step);
            pilot.step(&mut state, &mut streams)?;
        }
        walk.propose(&state, &mut candidate, &mut rng)?;
        let mut population = model.compare(&state, &candidate, &mut scratch);
        pairs.push(examine(&mut population, &settings, pair as usize)?);
        effects += design_effect(&mut population, options.block_rows)?;
    }
    let normality = check_normality(&pairs, &settings, rows)?;
    let influences = influences(model, &mode, settings.rounded_batch())?;
    let spread = |pair: &PairNormality| {
        (pair.moments.m2 / rows as f64).sqrt() * rows as f64 / (rows as f64 - 1.0).sqrt()
    };
    let offenders = normality.offenders.iter();
    Ok(Findings {
        rows: offenders.map(|o| (model.original_row(o.position) + 1, o.value, o.share)).collect(),
        design_effect: effects / pairs.len() as f64,
        // The blocks are the same for every pair: averaging over pairs does not average over shuffles.
        design_effect_by_chance: 3.0
            * (2.0 / (rows.div_ceil(options.block_rows) as f64 - 1.0).max(1.0)).sqrt(),
        kappa: pairs.iter().map(spread).sum::<f64>() / pairs.len() as f64,
        normality,
        influences,
    })
}

impl Findings {
    fn blocks_sound(&self) -> bool {
        self.design_effect <= DESIGN_EFFECT_LIMIT.max(1.0 + self.design_effect_by_chance)
    }

    fn sound(&self) -> bool {
        let seeing = self.influences.as_ref().is_none_or(|influences| influences.raw.sound());
        self.normality.sound && self.blocks_sound() && seeing
    }

    fn json(&self, rows: usize, remarks: &[String]) -> Value {
        let n = &self.normality;
        let tails: Vec<Value> = n
            .tails
            .iter()
            .map(|tail| json!({"nominal": tail.nominal, "lower": tail.lower, "upper": tail.upper}))
            .collect();
        let offenders: Vec<Value> = self
            .rows
            .iter()
            .map(|(row, value, share)| json!({"row": row, "difference": value, "share": share}))
            .collect();
        json!({
            "rows": rows,
            "sound": self.sound(),
            "normality": {
                "sound": n.sound, "batch": n.batch, "distance": n.distance, "distance_by_chance": n.distance_by_chance,
                "tails": tails, "skewness": n.skewness, "kurtosis": n.kurtosis, "largest_share": n.largest_share,
                "verdict": n.verdict(),
            },
            "offending_rows": offenders,
            "design_effect": self.design_effect,
            "kappa": self.kappa,
            "leverage": self.influences.as_ref().map(Influences::leverage_json),
            "blindness": influence::blindness_json(self.influences.as_ref()),
            "remarks": remarks,
        })
    }

    fn words(&self, data: &Store, remarks: &[String]) -> String {
        let n = &self.normality;
        let mut text = format!("{} rows, {} coefficients.\n", data.rows(), data.coefficients());
        for remark in remarks {
            text += &format!("• {remark}\n");
        }
        let mut numbers = table(&["what", "seen", "should be"]);
        let mut row = |what: &str, seen: String, wanted: String| {
            numbers.add_row([what.to_string(), seen, wanted]);
        };
        row(
            "distance from Student's law",
            format!("{:.3}", n.distance),
            format!("below {:.3}", DISTANCE_LIMIT + n.distance_by_chance),
        );
        for tail in &n.tails {
            let rate = 100.0 * tail.nominal;
            row(
                &format!("visits of the {rate:.0} % tails"),
                format!("{:.2}, {:.2} ×", tail.lower, tail.upper),
                "1 ×".into(),
            );
        }
        row(
            "largest share of one row",
            format!("{:.2} %", 100.0 * n.largest_share),
            format!("below {:.0} %", 100.0 * SHARE_LIMIT),
        );
        row(
            "skewness, kurtosis of differences",
            format!("{:.2}, {:.1}", n.skewness, n.kurtosis),
            "0, 3 if normal".into(),
        );
        row(
            "design effect of blocks",
            format!("{:.2}", self.design_effect),
            format!("1 ± {:.2}", self.design_effect_by_chance),
        );
        row("κ of a tuned random-walk step", format!("{:.2}", self.kappa), "2.4 without surrogate".into());
        if let Some(influences) = &self.influences {
            influences.table_rows(&mut row);
        }
        text += &format!("{numbers}\n{}\n", n.verdict());
        if !self.rows.is_empty() {
            text += "Rows that carry most of a difference (row of the data, difference, share of the sum of squares):\n";
            for (row, value, share) in &self.rows {
                text += &format!("  row {row}: {value:.4}, {:.1} %\n", 100.0 * share);
            }
        }
        if !self.blocks_sound() {
            text += "Drawing blocks is not as good as drawing rows here: the storage is badly shuffled. Use another --seed or --block-rows 1.\n";
        }
        text += &influence::words(self.influences.as_ref());
        text.trim_end().into()
    }
}
