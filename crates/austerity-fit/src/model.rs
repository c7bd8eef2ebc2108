//! The regressions that a command can be about, chosen at run time.
//!
//! A [`Task`] is generic over the model; a [`Posterior`] builds the one that its family names and hands it over.

use austerity::model::{Curvature, Model, Parameters};
use austerity_glm::glm::{Extra, Visitor};
use austerity_glm::gradients::BatchGradient;
use austerity_glm::{AnyFamily, Glm, Linear, Noise, NoiseTails, Priors, ResponseKind, Store, WithPriors};
use austerity_io::coding::ResponseCoding;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::data::Loaded;
use crate::output::Failure;
use crate::refusal::Refusal;
use crate::request::{FamilyChoice, Keyword};

/// The likelihood of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Family {
    /// One of the list.
    Glm(AnyFamily),
    /// Normal noise, by sums of squares.
    Linear,
    /// A user's own functions.
    Own,
    /// Independent components.
    Components,
    /// A discrete factor graph.
    Field,
}

/// Names of the families that are not in the list.
const LINEAR: &str = "linear";
const OWN: &str = "own";
const COMPONENTS: &str = "components";
const FIELD: &str = "field";

impl Family {
    /// The likelihood that was asked for, or the usual one of a kind of response.
    pub(crate) fn of(choice: Option<FamilyChoice>, kind: ResponseKind) -> Self {
        match choice {
            None if kind == ResponseKind::Real => Self::Linear,
            None => AnyFamily::usual(kind).map_or(Self::Linear, Self::Glm),
            Some(choice) => choice.family(kind).map_or(Self::Linear, Self::Glm),
        }
    }

    /// The likelihood of a request for these data: one of ordered levels has as many as the response.
    pub(crate) fn for_data(choice: Option<FamilyChoice>, loaded: &Loaded) -> Result<Self, Failure> {
        let family = Self::of(choice, loaded.store.description().kind);
        match (family, &loaded.recipe.coding) {
            (Self::Glm(family), ResponseCoding::Levels { levels, .. }) => {
                let found = levels.len() as f64;
                if choice.and_then(FamilyChoice::setting).is_some_and(|asked| asked != found) {
                    let allowed = format!("{}, as many as `{}` has", levels.len(), loaded.recipe.response);
                    return Err(Refusal::range(
                        Keyword::Family,
                        choice.map_or_else(String::new, |c| c.to_string()),
                        allowed,
                    )
                    .into());
                }
                Ok(Self::Glm(family.with_setting(found)?))
            }
            _ => Ok(family),
        }
    }

    /// Name, as in run.toml, with its number where that is not the usual one.
    fn name(self) -> String {
        match self {
            Self::Glm(family) => family.to_string(),
            Self::Linear => LINEAR.into(),
            Self::Own => OWN.into(),
            Self::Components => COMPONENTS.into(),
            Self::Field => FIELD.into(),
        }
    }

    fn named(name: &str) -> Option<Self> {
        match name {
            LINEAR => Some(Self::Linear),
            OWN => Some(Self::Own),
            COMPONENTS => Some(Self::Components),
            FIELD => Some(Self::Field),
            _ => name.parse().ok().map(Self::Glm),
        }
    }

    /// The parameters that follow the coefficients.
    pub(crate) fn extra(self) -> &'static [Extra] {
        match self {
            Self::Glm(family) => family.facts().extra,
            Self::Linear => &[Extra::SIGMA],
            Self::Own | Self::Components | Self::Field => &[],
        }
    }

    /// Logarithms of usual values of them, where the response has this sd.
    pub(crate) fn typical(self, width: f64) -> Vec<f64> {
        let usual = |extra: &Extra| match extra.prior {
            None if width > 0.0 => width.ln(),
            None => 0.0,
            Some(_) => extra.typical.ln(),
        };
        self.extra().iter().map(usual).collect()
    }

    /// Whether the first of them is the scale of the noise.
    pub(crate) fn has_sigma(self) -> bool {
        self.extra().first().is_some_and(|extra| extra.prior.is_none())
    }

    /// Whether the mean of a response depends on the extra parameters, beside the linear predictor.
    pub(crate) fn has_mean_by_extra(self) -> bool {
        matches!(self, Self::Glm(family) if family.facts().mean_by_extra)
    }

    /// Whether each of the extra parameters is larger than the one before.
    pub(crate) fn has_rising(self) -> bool {
        matches!(self, Self::Glm(family) if family.facts().rising)
    }

    /// What it explains.
    pub(crate) fn kind(self) -> ResponseKind {
        match self {
            Self::Glm(family) => family.facts().kind,
            Self::Linear | Self::Own | Self::Components | Self::Field => ResponseKind::Real,
        }
    }

    /// What default priors assume of the noise.
    pub(crate) fn tails(self) -> NoiseTails {
        match self {
            Self::Glm(family) => family.facts().tails,
            Self::Linear | Self::Own | Self::Components | Self::Field => NoiseTails::Normal,
        }
    }

    /// Whether the log-likelihood is concave in the parameters, for every data set: one mode under log-concave priors.
    ///
    /// Logit and log links are canonical (Wedderburn 1976), and log Φ is concave. With an unknown σ it is concave in (β/σ, 1/σ), where the priors are not.
    pub(crate) fn is_log_concave(self) -> bool {
        matches!(self, Self::Glm(family) if family.facts().log_concave)
    }

    /// Whether rows have a response that features explain.
    pub(crate) fn is_regression(self) -> bool {
        matches!(self, Self::Glm(_) | Self::Linear)
    }

    /// Whether certified decisions exist.
    pub(crate) fn has_bounds(self) -> bool {
        matches!(self, Self::Glm(_))
    }

    /// What a coefficient changes.
    pub(crate) fn effect(self) -> Option<&'static str> {
        match self {
            Self::Glm(family) => Some(family.facts().effect),
            Self::Linear => Some("Change of the mean response"),
            Self::Own | Self::Components | Self::Field => None,
        }
    }

    /// In words.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Glm(family) => family.words(),
            Self::Linear => "linear regression with normal noise".into(),
            Self::Own => "a posterior of the user's own".into(),
            Self::Components => "independent components with logistic sources".into(),
            Self::Field => "a discrete factor graph".into(),
        }
    }
}

impl Serialize for Family {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}

impl<'de> Deserialize<'de> for Family {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::named(&name).ok_or_else(|| D::Error::custom(format!("no family is called {name:?}")))
    }
}

/// A posterior of coefficients that a run can be made of.
pub(crate) trait Regression:
    Parameters + Curvature + BatchGradient + WithPriors + Model<State = Vec<f64>>
{
}
impl<M: Parameters + Curvature + BatchGradient + WithPriors + Model<State = Vec<f64>>> Regression for M {}

/// A posterior that chains can sample: a regression, a surrogate of one, or a user's own.
pub trait Sampled: Parameters + Model<State = Vec<f64>> {}
impl<M: Parameters + Model<State = Vec<f64>>> Sampled for M {}

/// Only who has the functions can do it.
pub(crate) fn own() -> Failure {
    Failure::Usage(
        "the likelihood of this run is a function of the user's own, which a run does not hold: do this where the function is".into(),
    )
}

/// Work on a model of any family.
pub(crate) trait Task: Sized {
    type Output;
    fn run<M: Regression>(self, model: &M) -> Result<Self::Output, Failure>;

    /// The same where the model can be expanded.
    fn run_expandable<F: austerity_glm::glm::Family>(self, model: &Glm<F>) -> Result<Self::Output, Failure> {
        self.run(model)
    }
}

/// A likelihood, rows and priors: what a model is built from.
pub(crate) struct Posterior<'a> {
    pub(crate) family: Family,
    pub(crate) store: &'a Store,
    /// One per parameter, those of the extra parameters last.
    pub(crate) priors: &'a Priors,
}

impl Posterior<'_> {
    /// Builds the model and hands it to `task`. One of the linear family sums its rows up, or keeps them where decisions are `by_rows`.
    pub(crate) fn build<T: Task>(&self, by_rows: bool, task: T) -> Result<T::Output, Failure> {
        let (store, priors) = (self.store.clone(), self.priors.clone());
        match self.family {
            Family::Glm(family) => family.visit(Build { store, priors, task }),
            Family::Linear => {
                let (coefficients, prior) = priors
                    .apart_from_last()
                    .ok_or_else(|| Failure::Usage("a linear model needs a prior for sigma".into()))?;
                let model = Linear::from_store(&store, coefficients, Noise::Unknown { prior })?;
                if by_rows { task.run(&model.by_rows()?) } else { task.run(&model) }
            }
            Family::Own | Family::Components | Family::Field => Err(own()),
        }
    }
}

struct Build<T> {
    store: Store,
    priors: Priors,
    task: T,
}

impl<T: Task> Visitor for Build<T> {
    type Output = Result<T::Output, Failure>;

    fn visit<F: austerity_glm::glm::Family>(self, family: F) -> Self::Output {
        self.task.run_expandable(&Glm::from_store(family, self.store, self.priors)?)
    }
}
