//! The problems: rows in memory, as a table for `fit` with the options that say what they mean, and as a model.
//!
//! Files are looked for in `AUSTERITY_DATA` or in `../shared/data` beside the repository.

use std::path::PathBuf;

use austerity::model::Parameters as _;
use austerity_glm::{Data, Glm, Logistic, Prior, ResponseKind};
use austerity_io::table::{Column, Source, Table, open};

/// A logistic regression on real rows.
pub(crate) struct Problem {
    table: Source,
    model: Glm<Logistic>,
    /// The prior of all coefficients of a model without intercept; the defaults of one with it.
    pub(crate) prior: Option<Prior>,
}

impl Problem {
    /// The rows of a file whose response is `positive` against the others; all coefficients and no intercept with a normal prior of `sd`, or the defaults.
    fn new(name: &str, (response, positive): (&str, f64), sd: Option<f64>) -> Option<Self> {
        let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
        let folder = std::env::var_os("AUSTERITY_DATA").map_or(here, PathBuf::from);
        let path = Some(folder.join(name)).filter(|path| path.exists())?;
        let mut table = open(path).expect("a table").read(None).expect("columns");
        let place = table.names.iter().position(|name| name == response).expect("the response");
        let Column::Numbers(values) = &table.columns[place] else { panic!("{response} holds no numbers") };
        let labels: Vec<f64> = values.iter().map(|&value| f64::from(value == positive)).collect();
        table.names[place] = "y".into();
        table.columns[place] = Column::Numbers(labels.clone());
        let Table { names, columns, .. } = &table;
        let features = names.iter().zip(columns).filter(|(name, _)| *name != "y");
        let (names, values): (Vec<String>, Vec<Vec<f64>>) = features
            .map(|(name, column)| match column {
                Column::Numbers(values) => (name.clone(), values.clone()),
                Column::Levels { .. } => panic!("{name} holds no numbers"),
            })
            .unzip();
        let data = Data::new(names, values, labels).intercept(sd.is_none());
        let data = data.check(ResponseKind::Binary).expect("checked data");
        let prior = sd.map(Prior::normal);
        let priors =
            prior.map_or_else(|| data.default_priors(), |prior| vec![prior; data.coefficients()].into());
        let model = Glm::new(Logistic, &data, priors).expect("a model");
        Some(Self { table: Source::of_table(table), model, prior })
    }

    pub(crate) fn table(&self) -> &Source {
        &self.table
    }

    pub(crate) fn model(&self) -> &Glm<Logistic> {
        &self.model
    }

    pub(crate) fn rows(&self) -> usize {
        self.model.blocks().rows()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.model.names()
    }
}

/// 7 against 9, 50 components, with the paper's prior precision of 10.
pub(crate) fn mnist() -> Option<Problem> {
    Problem::new("mnist79_pca50_train.parquet", ("label", 1.0), Some(0.1f64.sqrt()))
}

/// Class 2 against the rest, all columns: rank-deficient, so that the prior has a say.
pub(crate) fn covertype() -> Option<Problem> {
    Problem::new("covtype.parquet", ("Cover_Type", 2.0), None)
}
