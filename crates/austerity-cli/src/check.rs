//! `austerity check`: are the assumptions of the sequential test sound on these data?
//!
//! Finds the mode, makes a short exact pilot from there, and looks at a few of its moves: are means of batches normal
//! enough, which rows carry a difference, is drawing blocks as good as drawing rows, how hard are the decisions.

use austerity::check::normality::{
    DISTANCE_LIMIT, Normality, NormalitySettings, PairNormality, SHARE_LIMIT, check_normality, examine,
};
use austerity::kernel::{Kernel as _, Metropolis};
use austerity::model::{
    Access, Binomial, Curvature, Glm, Linear, Logistic, Model, Noise, Poisson, Prior, ResponseKind, Store,
    Student, find_mode,
};
use austerity::population::{BlockOrder, design_effect};
use austerity::proposal::{Proposal as _, RandomWalk};
use austerity::rng::{Role, Streams, stream};
use austerity::rule::{Exact, Law};
use serde_json::{Value, json};

use crate::arguments::{CheckOptions, Common, FamilyChoice};
use crate::output::{Failure, json as print_json, say};
use crate::progress::Line;
use crate::table::table;

/// Exact steps of the pilot between two pairs.
const SPACING: u64 = 5;
/// Degrees of freedom of the Student family.
const FREEDOM: f64 = 4.0;
/// Weak prior of log σ.
const SCALE_PRIOR: Prior = Prior::Normal { sd: 10.0 };
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
}

/// Runs the check.
pub(crate) fn run(common: &Common, options: &CheckOptions) -> Result<(), Failure> {
    if options.pairs == 0 {
        return Err(Failure::Usage("--pairs is 0; allowed: at least 1".into()));
    }
    let mut line = Line::new("check");
    line.note("reading the data");
    let loaded = crate::data::load(&options.data, common.seed)?;
    line.note("finding the mode and looking at moves");
    let store = &loaded.store;
    let mut priors = store.default_priors();
    let rows = store.clone();
    let findings = match (options.data.family, store.description().kind) {
        (FamilyChoice::Logistic, ResponseKind::CountOfTrials) => {
            look(&Glm::from_store(Binomial, rows, priors)?, store, 0, common, options)
        }
        (FamilyChoice::Logistic, _) => {
            look(&Glm::from_store(Logistic, rows, priors)?, store, 0, common, options)
        }
        (FamilyChoice::Poisson, _) => {
            look(&Glm::from_store(Poisson, rows, priors)?, store, 0, common, options)
        }
        (FamilyChoice::Student, _) => {
            priors.push(SCALE_PRIOR);
            look(&Glm::from_store(Student { freedom: FREEDOM }, rows, priors)?, store, 1, common, options)
        }
        (FamilyChoice::Linear, _) => {
            let noise = Noise::Unknown { prior: SCALE_PRIOR };
            let model = Linear::from_store(store, &priors, noise)?.by_rows()?;
            look(&model, store, 1, common, options)
        }
    }?;
    drop(line);
    if common.json {
        print_json(&findings.json(store.rows(), &loaded.remarks))
    } else {
        say(findings.words(store, &loaded.remarks))
    }
}

/// Looks at moves of a short pilot; `extra` parameters follow the coefficients.
fn look<M>(
    model: &M,
    store: &Store,
    extra: usize,
    common: &Common,
    options: &CheckOptions,
) -> Result<Findings, Failure>
where
    M: Model<State = Vec<f64>> + Curvature,
{
    let dimension = store.coefficients() + extra;
    let rows = model.len();
    let settings = NormalitySettings {
        batch: options.batch,
        block_rows: options.block_rows,
        repetitions: options.repetitions,
        seed: common.seed,
    };
    let mode = find_mode(model, &vec![0.0; dimension])?;
    let mut walk = RandomWalk::for_posterior(dimension, &mode.covariance)?;
    let mut state = mode.state;
    let order = BlockOrder::new(rows, options.block_rows, common.seed, 0)?;
    let mut pilot = Metropolis::new(model, walk.clone(), Exact::new(Law::Metropolis)?, order, &state)?;
    let mut streams = Streams::new(common.seed, 0);
    let mut rng = stream(common.seed, 0, Role::Start);
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
    })
}

impl Findings {
    fn blocks_sound(&self) -> bool {
        self.design_effect <= DESIGN_EFFECT_LIMIT.max(1.0 + self.design_effect_by_chance)
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
            "sound": n.sound && self.blocks_sound(),
            "normality": {
                "sound": n.sound, "batch": n.batch, "distance": n.distance, "distance_by_chance": n.distance_by_chance,
                "tails": tails, "skewness": n.skewness, "kurtosis": n.kurtosis, "largest_share": n.largest_share,
                "verdict": n.verdict(),
            },
            "offending_rows": offenders,
            "design_effect": self.design_effect,
            "kappa": self.kappa,
            "remarks": remarks,
        })
    }

    fn words(&self, store: &Store, remarks: &[String]) -> String {
        let n = &self.normality;
        let mut text = format!("{} rows, {} coefficients.\n", store.rows(), store.coefficients());
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
        text.trim_end().into()
    }
}
