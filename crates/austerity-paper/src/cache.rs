//! Ground truths: long runs whose results are kept in a file together with the settings they were made with. Chains, too, while an
//! experiment lasts, so that one that was interrupted goes on with the chains it has not finished.
//!
//! A file holds `{"settings": …, "value": …}`. Other settings, another version of the library, or a file that cannot be
//! understood mean that the truth is computed again and the file replaced. Numbers are kept to the last bit.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{Error, Result};

/// A chain that took less is as soon made again.
const WORTH_KEEPING: Duration = Duration::from_secs(1);

impl Context<'_> {
    /// The truth called `name` under `settings`: from the cache, or computed and stored there.
    pub fn truth<T: Serialize + DeserializeOwned>(
        &self,
        name: &str,
        settings: &impl Serialize,
        compute: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let path = self.cache.join(format!("{name}.json"));
        let invalid = |error: serde_json::Error| Error::File { path: path.clone(), source: error.into() };
        let version = env!("CARGO_PKG_VERSION");
        let wanted =
            json!({ "version": version, "settings": serde_json::to_value(settings).map_err(invalid)? });
        if let Some(value) = stored(&path, &wanted) {
            return Ok(value);
        }
        let value = compute()?;
        let text = serde_json::to_string(&json!({ "settings": wanted, "value": value })).map_err(invalid)?;
        fs::create_dir_all(&self.cache).map_err(Error::file(&self.cache))?;
        austerity_io::run::write_file(&path, text.as_bytes())?;
        Ok(value)
    }

    /// A chain of `experiment` under `settings`: as an interrupted run left it, or computed, and stored where it took more than a second. The
    /// folder goes when the experiment has ended ([`Context::ended`]).
    pub fn chain<T: Serialize + DeserializeOwned>(
        &self,
        (experiment, name): (&str, &str),
        settings: &impl Serialize,
        compute: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let folder = self.chains(experiment);
        let path = folder.join(format!("{name}.json"));
        let invalid = |error: serde_json::Error| Error::File { path: path.clone(), source: error.into() };
        let version = env!("CARGO_PKG_VERSION");
        let wanted = json!({
            "version": version, "seed": self.seed, "size": self.size, "settings": serde_json::to_value(settings).map_err(invalid)?
        });
        if let Some(value) = stored(&path, &wanted) {
            return Ok(value);
        }
        let start = Instant::now();
        let value = compute()?;
        if start.elapsed() >= WORTH_KEEPING {
            let text =
                serde_json::to_string(&json!({ "settings": wanted, "value": value })).map_err(invalid)?;
            fs::create_dir_all(&folder).map_err(Error::file(&folder))?;
            austerity_io::run::write_file(&path, text.as_bytes())?;
        }
        Ok(value)
    }

    /// Forgets the chains of an experiment that has ended.
    pub fn ended(&self, experiment: &str) -> Result<()> {
        let folder = self.chains(experiment);
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::file(&folder)(error)),
            _ => Ok(()),
        }
    }

    fn chains(&self, experiment: &str) -> PathBuf {
        self.cache.join("chains").join(experiment)
    }
}

fn stored<T: DeserializeOwned>(path: &std::path::Path, wanted: &Value) -> Option<T> {
    let mut found: Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    // Through text, since a number read back may be an integer where it was a float.
    let same = serde_json::to_string(&found["settings"]).ok()? == serde_json::to_string(wanted).ok()?;
    if same { serde_json::from_value(found["value"].take()).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{Size, Stage};

    #[test]
    fn a_truth_is_computed_once_per_settings() {
        let folder = std::env::temp_dir().join(format!("austerity-truth-{}", std::process::id()));
        let observer = |_: &Stage| {};
        let context = Context::new(Size::Quick, 1, &folder, &observer).threads(1);
        let value = vec![0.1 + 0.2, 1e-300, -7.0];
        let compute = || Ok(value.clone());
        let settings = json!({"steps": 5, "scale": 0.1});
        assert_eq!(context.truth("t", &settings, compute).unwrap(), value);
        let kept: Vec<f64> = context.truth("t", &settings, || panic!("it is in the cache")).unwrap();
        assert_eq!(kept, value);
        let other: Vec<f64> = context.truth("t", &json!({"steps": 6}), || Ok(vec![1.0])).unwrap();
        assert_eq!(other, [1.0]);
        fs::write(folder.join("t.json"), "{").unwrap();
        let again: Vec<f64> = context.truth("t", &settings, || Ok(vec![2.0])).unwrap();
        assert_eq!(again, [2.0]);
        fs::remove_dir_all(&folder).unwrap();
    }

    /// A chain that took long is there after an interruption, under its settings only, until the experiment has ended.
    #[test]
    fn chains_of_an_interrupted_run_are_kept_until_it_has_ended() {
        let folder = std::env::temp_dir().join(format!("austerity-chains-{}", std::process::id()));
        let observer = |_: &Stage| {};
        let context = Context::new(Size::Quick, 1, &folder, &observer).threads(1);
        let long = |value: f64| {
            move || {
                std::thread::sleep(WORTH_KEEPING);
                Ok(value)
            }
        };
        let name = ("demo", "chain-3");
        assert_eq!(context.chain(name, &5, long(0.1)).unwrap(), 0.1);
        let again: f64 = context.chain(name, &5, || panic!("it is kept")).unwrap();
        assert_eq!(again, 0.1);
        assert_eq!(context.chain(name, &6, || Ok(2.0)).unwrap(), 2.0);
        let interrupted = context.chain(("demo", "chain-4"), &5, || Err::<f64, _>(Error::Interrupted));
        assert!(matches!(interrupted, Err(Error::Interrupted)));
        context.ended("demo").unwrap();
        assert_eq!(context.chain(name, &5, || Ok(3.0)).unwrap(), 3.0);
        context.ended("never ran").unwrap();
        fs::remove_dir_all(&folder).ok();
    }
}
