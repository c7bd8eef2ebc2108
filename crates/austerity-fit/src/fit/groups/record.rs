//! What a plan keeps of the groups: enough to make the same model again, and what people want to know of them.

use austerity_glm::groups::Multilevel;
use austerity_glm::groups::check::{ALLOWED, Found};
use austerity_io::coding::formula::Grouping;
use serde::{Deserialize, Serialize};

use crate::output::Failure;
use crate::refusal::{About, Refusal};
use crate::report::count;

/// Node tables: where they were made, and what they are off by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TablesRecord {
    pub(crate) centre: Vec<f64>,
    /// The largest error of a difference of log-likelihoods at eight draws around the mode, against integrals with more nodes that follow the parameters.
    pub(crate) error: f64,
}

/// The groups of a multilevel fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct GroupsRecord {
    /// The columns whose combinations are the groups.
    pub(crate) name: String,
    /// What varies: `intercept` and names of coefficients.
    pub(crate) terms: Vec<String>,
    pub(crate) correlated: bool,
    /// J.
    pub(crate) groups: usize,
    /// Rows of the smallest and of the largest group.
    pub(crate) smallest: usize,
    pub(crate) largest: usize,
    /// Nodes per effect.
    pub(crate) nodes: usize,
    /// What a rule of twice as many nodes finds wrong with a difference of log-likelihoods.
    pub(crate) error: f64,
    /// The node tables that decisions are made of, where they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tables: Option<TablesRecord>,
    /// Whether the levels are numbers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) numeric: bool,
}

impl GroupsRecord {
    /// The columns whose combinations are the groups.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        self.name.split(':')
    }

    pub(super) fn new(grouping: &Grouping, terms: &[String], model: &Multilevel, found: &Found) -> Self {
        let sizes = (0..model.data().len()).map(|group| model.data().size(group));
        Self {
            name: grouping.name.clone(),
            terms: terms.to_vec(),
            correlated: model.scales().is_correlated(),
            groups: model.data().len(),
            smallest: sizes.clone().min().unwrap_or(0),
            largest: sizes.max().unwrap_or(0),
            nodes: found.nodes,
            error: found.error,
            tables: None,
            numeric: grouping.numeric,
        }
    }

    /// Refuses other groups than those of the run.
    pub(super) fn compare(&self, grouping: &Grouping, terms: &[String]) -> Result<(), Failure> {
        let stored = format!("{} groups of {}, {}", self.groups, self.name, self.terms.join(" and "));
        let now = format!("{} groups of {}, {}", grouping.levels.len(), grouping.name, terms.join(" and "));
        if stored == now {
            return Ok(());
        }
        Err(Refusal::Changed { what: About::Thing("what varies between groups".into()), stored, now }.into())
    }

    /// Names of what is recorded of Λ.
    pub(crate) fn parameters(&self) -> Vec<String> {
        let Self { name, terms, correlated, .. } = self;
        let mut names: Vec<String> = terms.iter().map(|term| format!("sd({name}:{term})")).collect();
        if *correlated {
            let pairs = (0..terms.len()).flat_map(|a| (0..a).map(move |b| (b, a)));
            names.extend(pairs.map(|(b, a)| format!("cor({name}:{},{})", terms[b], terms[a])));
        }
        names
    }

    /// Whether the nodes suffice.
    pub(crate) fn converged(&self) -> bool {
        self.error < ALLOWED
    }

    /// The plan in sentences.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let Self { name, terms, correlated, groups, smallest, largest, nodes, error, tables, numeric } = self;
        let correlated = if *correlated { ", correlated" } else { "" };
        let sizes = if smallest == largest {
            format!("{} rows each", count(*smallest as f64))
        } else {
            format!("{} to {} rows", count(*smallest as f64), count(*largest as f64))
        };
        let what = match &terms[..] {
            [one] if one == "intercept" => "the intercept varies".to_owned(),
            [one] => format!("the slope of {one} varies"),
            several => format!("{} vary", several.join(" and ")),
        };
        let mut said = vec![format!(
            "Groups: {what} between the {} levels of {name}{correlated} ({sizes}). Their effects are integrated out by adaptive Gauss–Hermite quadrature with {nodes} nodes per \
             effect; twice as many nodes change a difference of log-likelihoods by {error:.4}. Decisions are about groups.",
            count(*groups as f64),
        )];
        if let Some(tables) = tables {
            said.push(format!(
                "Node tables: sums over the rows of every group, to the third order in the slopes, stand for the rows, so decisions read no rows; around the mode a difference of \
                 log-likelihoods is off by {:.4}.",
                tables.error
            ));
        }
        if *largest == 1 {
            said.push(format!(
                "Every row has a level of {name} of its own: the standard deviation between groups is that of single rows, and its prior may decide much of it: compare two values of --prior-group."
            ));
        }
        if *numeric {
            said.push(format!("The levels of {name} are numbers; each different number is a group."));
        }
        if !self.converged() {
            said.push(format!(
                "The quadrature has not converged: with {nodes} nodes per effect a difference of log-likelihoods can be off by {error:.2}. Group effects this far from normal come from a \
                 large standard deviation with rare or one-sided responses; a narrower --prior-group helps."
            ));
        }
        said
    }
}
