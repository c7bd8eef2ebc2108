//! Is the mode the only one that matters?
//!
//! | likelihood | priors | what is done |
//! |---|---|---|
//! | log-concave (`Family::LOG_CONCAVE`) | log-concave | nothing: there is one mode, by proof |
//! | these | Student t: not log-concave | a search |
//! | linear or Student with an unknown σ | any | a search |
//!
//! A search climbs from dispersed starts ([`austerity_glm::dispersed_starts`], and for regressions with heavy-tailed noise the rows of high
//! leverage) on few rows that stand for all, then on all rows from every place that differs, and weighs the modes by their Laplace evidence.
//! A second mode with more than a thousandth of the mass makes a run untrusted, however well its chains agree: chains do not cross.
//!
//! Cost: some twenty searches on a thousand rows or so, and a few passes over all rows for every other mode. A search is no proof.

use austerity::model::{Mode, find_mode};
use austerity::rng::{Role, stream};
use austerity::run::{Control, Hazard, ModeFound};
use austerity_glm::{Glm, Prior, Priors, WeighedMode, add_mode, dispersed_starts, distinct_modes, weigh};
use serde::{Deserialize, Serialize};

use super::numeric;
use crate::model::{Family, Regression, Sampled};
use crate::output::Failure;

/// Mass of another mode that matters.
pub(crate) const MATTERS: f64 = 1e-3;
/// Other modes that are climbed to the end.
const MOST_MODES: usize = 6;
/// Differences, in posterior standard deviations, that tell modes apart; parameters that are named.
const APART: f64 = 2.0;
const NAMED: usize = 3;

/// What is known about the modes of a posterior.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "how")]
pub(crate) enum ModesRecord {
    /// A theorem leaves room for one.
    Proved,
    /// Looked for.
    Searched {
        /// Starts of the search.
        starts: usize,
        /// Modes found.
        found: usize,
        /// Share of the mass beside the main mode.
        beside: f64,
    },
}

/// The modes, the heaviest first, and how they were found.
pub(super) struct Modes {
    pub(super) record: ModesRecord,
    pub(super) weighed: Vec<WeighedMode>,
}

impl Modes {
    /// One mode by proof, where there is one.
    fn proved(family: Family, priors: &Priors, mode: &Mode) -> Option<Self> {
        (family.is_log_concave() && priors.are_log_concave()).then(|| Self {
            record: ModesRecord::Proved,
            weighed: vec![WeighedMode { mode: mode.clone(), share: 1.0 }],
        })
    }

    /// Looks for others on all rows: for models that sum them up.
    pub(super) fn of<M: Regression>(family: Family, model: &M, mode: &Mode, width: f64) -> Self {
        let priors = model.priors();
        Self::proved(family, priors, mode)
            .unwrap_or_else(|| Self::search((model, model), mode, &family.typical(width), Vec::new()))
    }

    /// Looks for others on few rows, then on all.
    pub(super) fn of_glm<F: austerity_glm::glm::Family>(
        family: Family,
        model: &Glm<F>,
        mode: &Mode,
        width: f64,
    ) -> Result<Self, Failure> {
        if let Some(proved) = Self::proved(family, austerity_glm::WithPriors::priors(model), mode) {
            return Ok(proved);
        }
        let (few, starts) = model.dispersed(mode)?;
        Ok(Self::search((model, &few), mode, &family.typical(width), starts))
    }

    /// Climbs from dispersed starts on few rows, then on all. `extra` are usual values of the parameters of the likelihood.
    fn search<M: Regression>(
        (model, few): (&M, &M),
        mode: &Mode,
        extra: &[f64],
        more: Vec<Vec<f64>>,
    ) -> Self {
        let priors = model.priors();
        let flat = Priors::from(vec![Prior::Flat; priors.len()]);
        let likelihood = few.with_priors(flat).and_then(|model| find_mode(&model, &mode.state)).ok();
        // Seeded by nothing that a user chooses: the same data have the same modes.
        let mut rng = stream(0, 0, Role::Start);
        let likelihood = likelihood.as_ref().map(|mode| &mode.state[..]);
        let mut starts = more;
        starts.extend(dispersed_starts(priors, mode, likelihood, extra, &mut rng));
        let near = find_mode(few, &mode.state).ok();
        let known = usize::from(near.is_some());
        let found = distinct_modes(few, near.into_iter().collect(), &starts);
        let mut modes = vec![mode.clone()];
        for other in found.into_iter().skip(known).take(MOST_MODES) {
            if let Ok(other) = find_mode(model, &other.state) {
                add_mode(&mut modes, other);
            }
        }
        Self::weighed(modes, starts.len() + 1)
    }

    /// Of a posterior of the user's own: looked for by differences.
    pub(super) fn of_own<M: Sampled>(
        model: &M,
        mode: &Mode,
        start: &[f64],
        control: &Control,
    ) -> Result<Option<Self>, Failure> {
        let (modes, starts) = numeric::other_modes(model, mode, start, control)?;
        if starts == 0 {
            return Ok(None);
        }
        Ok(Some(Self::weighed(modes, starts + 1)))
    }

    fn weighed(modes: Vec<Mode>, starts: usize) -> Self {
        let weighed = weigh(modes);
        let beside = 1.0 - weighed.first().map_or(1.0, |first| first.share);
        Self { record: ModesRecord::Searched { starts, found: weighed.len(), beside }, weighed }
    }

    /// The modes that matter.
    pub(super) fn that_matter(&self) -> &[WeighedMode] {
        let number = self.weighed.iter().filter(|mode| mode.share > MATTERS).count();
        &self.weighed[..number.max(1).min(self.weighed.len())]
    }

    /// Why a run must not be trusted: more than one mode matters.
    pub(super) fn hazard(&self, names: &[String], shown: impl Fn(&[f64]) -> Vec<f64>) -> Option<Hazard> {
        let matter = self.that_matter();
        (matter.len() > 1).then(|| Hazard::SeveralModes { modes: described(matter, names, shown) })
    }
}

/// Two parameters that a mode has the other way round than the first, if there are any: to a half of a standard deviation, and apart from each other.
pub(super) fn exchanged(modes: &[WeighedMode]) -> Option<(usize, usize)> {
    let (first, others) = modes.split_first()?;
    let d = first.mode.state.len();
    let sd = |i: usize| first.mode.covariance[i * d + i].sqrt();
    let pairs = (0..d).flat_map(|i| (0..i).map(move |j| (j, i)));
    let mut pairs = pairs.filter(|&(i, j)| {
        let near = |a: f64, b: f64| (a - b).abs() < 0.5 * sd(i).max(sd(j));
        let (own, apart) = (&first.mode.state, APART * sd(i).max(sd(j)));
        let swapped = |other: &WeighedMode| {
            let state = &other.mode.state;
            (own[i] - own[j]).abs() > apart && near(own[i], state[j]) && near(own[j], state[i])
        };
        others.iter().any(swapped)
    });
    pairs.next()
}

/// Modes in the parameters that tell them apart.
fn described(modes: &[WeighedMode], names: &[String], shown: impl Fn(&[f64]) -> Vec<f64>) -> Vec<ModeFound> {
    let (d, first) = (names.len(), &modes[0].mode);
    let gap = |i: usize| {
        let far = |other: &WeighedMode| (other.mode.state[i] - first.state[i]).abs();
        modes.iter().map(far).fold(0.0, f64::max) / first.covariance[i * d + i].sqrt()
    };
    let mut order: Vec<usize> = (0..d).collect();
    order.sort_by(|&a, &b| gap(b).total_cmp(&gap(a)));
    let least = gap(order[0]).min(APART);
    order.retain(|&i| gap(i) >= least);
    order.truncate(NAMED);
    let one = |mode: &WeighedMode| {
        let values = shown(&mode.mode.state);
        ModeFound { share: mode.share, place: order.iter().map(|&i| (names[i].clone(), values[i])).collect() }
    };
    modes.iter().map(one).collect()
}
