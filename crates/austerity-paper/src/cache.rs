//! Ground truths: long runs whose results are kept in a file together with the settings they were made with.
//!
//! A file holds `{"settings": …, "value": …}`. Other settings, another version of the library, or a file that cannot be
//! understood mean that the truth is computed again and the file replaced. Numbers are kept to the last bit.

use std::fs;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::{Error, Result};

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
}
