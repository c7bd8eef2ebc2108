//! The regressions that a command can be about, chosen at run time.
//!
//! A [`Task`] is generic over the model; [`with_model`] builds the one that the family names and hands it over.

use austerity::model::{Curvature, Model, Parameters};
use austerity_glm::{
    Binomial, Glm, Linear, Logistic, Noise, NoiseTails, Poisson, Priors, ResponseKind, Store, Student,
    WithPriors,
};
use serde::{Deserialize, Serialize};

use crate::output::Failure;
use crate::request::FamilyChoice;

/// Degrees of freedom of the Student family.
pub(crate) const FREEDOM: f64 = 4.0;

/// The likelihood of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Family {
    Logistic,
    Binomial,
    Poisson,
    Student,
    Linear,
    /// A user's own functions.
    Own,
}

impl Family {
    /// The likelihood that was asked for, or the usual one of a kind of response.
    pub(crate) fn of(choice: Option<FamilyChoice>, kind: ResponseKind) -> Self {
        match (choice, kind) {
            (Some(FamilyChoice::Linear), _) => Self::Linear,
            (Some(FamilyChoice::Student), _) => Self::Student,
            (Some(FamilyChoice::Poisson), _) | (None, ResponseKind::Count) => Self::Poisson,
            (_, ResponseKind::CountOfTrials) => Self::Binomial,
            (Some(FamilyChoice::Logistic), _) | (None, ResponseKind::Binary) => Self::Logistic,
            (None, ResponseKind::Real) => Self::Linear,
        }
    }

    /// Whether σ follows the coefficients.
    pub(crate) fn has_sigma(self) -> bool {
        matches!(self, Self::Student | Self::Linear)
    }

    /// What default priors assume of the noise.
    pub(crate) fn tails(self) -> NoiseTails {
        if self == Self::Student { NoiseTails::Heavy } else { NoiseTails::Normal }
    }

    /// Whether the log-likelihood is concave in the parameters, for every data set: one mode under log-concave priors.
    ///
    /// Logit and log links are canonical (Wedderburn 1976). With an unknown σ it is concave in (β/σ, 1/σ), where the priors are not.
    pub(crate) fn is_log_concave(self) -> bool {
        matches!(self, Self::Logistic | Self::Binomial | Self::Poisson)
    }

    /// Whether certified decisions exist.
    pub(crate) fn has_bounds(self) -> bool {
        matches!(self, Self::Logistic | Self::Binomial | Self::Poisson)
    }

    /// In words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Logistic => "logistic regression",
            Self::Binomial => "binomial regression, logit link",
            Self::Poisson => "Poisson regression, log link",
            Self::Student => "regression with Student-t noise, 4 degrees of freedom",
            Self::Linear => "linear regression with normal noise",
            Self::Own => "a posterior of the user's own",
        }
    }
}

/// A posterior of coefficients that a run can be made of.
pub(crate) trait Regression: Parameters + Curvature + WithPriors + Model<State = Vec<f64>> {}
impl<M: Parameters + Curvature + WithPriors + Model<State = Vec<f64>>> Regression for M {}

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

/// Builds the model of `family` and hands it to `task`. `priors` has one entry per parameter, that of σ last.
pub(crate) fn with_model<T: Task>(
    family: Family,
    store: &Store,
    priors: &Priors,
    by_rows: bool,
    task: T,
) -> Result<T::Output, Failure> {
    let (store, priors) = (store.clone(), priors.clone());
    match family {
        Family::Logistic => task.run_expandable(&Glm::from_store(Logistic, store, priors)?),
        Family::Binomial => task.run_expandable(&Glm::from_store(Binomial, store, priors)?),
        Family::Poisson => task.run_expandable(&Glm::from_store(Poisson, store, priors)?),
        Family::Student => {
            task.run_expandable(&Glm::from_store(Student { freedom: FREEDOM }, store, priors)?)
        }
        Family::Linear => {
            let (coefficients, prior) = priors
                .apart_from_last()
                .ok_or_else(|| Failure::Usage("a linear model needs a prior for sigma".into()))?;
            let model = Linear::from_store(&store, coefficients, Noise::Unknown { prior })?;
            if by_rows { task.run(&model.by_rows()?) } else { task.run(&model) }
        }
        Family::Own => Err(own()),
    }
}
