//! Leverage and blindness in tables, sentences and JSON.

use austerity::model::{Mode, Model as _};
use austerity_glm::Glm;
use austerity_glm::check::{
    Leverage, RawBlindness, ResidualTest, Stratum, SurrogateBlindness, check_leverage,
};
use austerity_glm::glm::{Family, Influence};
use serde_json::{Value, json};

use crate::output::Failure;

/// Rows named in sentences.
const NAMED: usize = 5;

/// Why a linear model has no such section.
const LINEAR: &str = "Gaussian linear regression is quadratic: decisions follow from sufficient statistics, no row is sampled and none can be missed.";

/// What all rows were asked.
pub(super) struct Influences {
    leverage: Leverage,
    pub(super) raw: RawBlindness,
    surrogate: SurrogateBlindness,
    /// The rows with the largest leverages, as people count them, with leverage and score.
    by_leverage: Vec<(usize, f64, f64)>,
    /// The rows with the largest scores.
    by_score: Vec<(usize, f64, f64)>,
}

/// Asks all rows of a generalised linear model; the first look is at `batch` rows.
pub(super) fn of_glm<F: Family>(
    model: &Glm<F>,
    mode: &Mode,
    batch: usize,
) -> Result<Option<Influences>, Failure> {
    let leverage = check_leverage(model, mode)?;
    let named = |rows: &[Influence]| {
        let row = |row: &Influence| (model.original_row(row.position) + 1, row.leverage, row.score);
        rows.iter().map(row).collect()
    };
    Ok(Some(Influences {
        raw: leverage.raw(batch)?,
        surrogate: leverage.surrogate(&ResidualTest::default())?,
        by_leverage: named(&leverage.by_leverage),
        by_score: named(&leverage.by_score),
        leverage,
    }))
}

fn rows_json(rows: &[(usize, f64, f64)]) -> Vec<Value> {
    rows.iter()
        .map(|(row, leverage, score)| json!({"row": row, "leverage": leverage, "score": score}))
        .collect()
}

fn stratum_json(stratum: &Stratum) -> Value {
    let worst = &stratum.blindness;
    json!({
        "rows": stratum.rows,
        "standard_error": stratum.standard_error,
        "rows_to_tolerance": stratum.rows_to_tolerance,
        "blind": worst.is_blind(),
        "look": worst.look,
        "missed": worst.missed,
        "believed": worst.believed,
        "ratio": worst.ratio(),
    })
}

/// What can be missed; for linear models that nothing can.
pub(super) fn blindness_json(influences: Option<&Influences>) -> Value {
    let Some(Influences { raw, surrogate, .. }) = influences else {
        return json!({"raw": null, "surrogate": null, "verdict": LINEAR});
    };
    let settings = ResidualTest::default();
    json!({
        "raw": {
            "sound": raw.sound(),
            "blind": raw.blindness.is_blind(),
            "batch": raw.first,
            "missed_share": raw.missed_share,
            "look": raw.blindness.look,
            "missed": raw.blindness.missed,
            "believed": raw.blindness.believed,
            "ratio": raw.blindness.ratio(),
            "sound_from": raw.sound_from,
            "kappa": raw.kappa,
            "verdict": raw.verdict(),
        },
        "surrogate": {
            "batch": settings.first,
            "tolerance": settings.tolerance,
            "without_stratum": stratum_json(&surrogate.without),
            "stratum": surrogate.chosen.as_ref().map(stratum_json),
            "verdict": surrogate.verdict(),
        },
        "verdict": format!("{} {}", raw.verdict(), surrogate.verdict()),
    })
}

impl Influences {
    pub(super) fn leverage_json(&self) -> Value {
        json!({
            "typical": self.leverage.typical,
            "largest_ratio": self.leverage.largest_ratio,
            "top_share": self.leverage.top_share,
            "largest": rows_json(&self.by_leverage),
            "largest_scores": rows_json(&self.by_score),
            "verdict": self.leverage.verdict(),
        })
    }

    /// Adds what was seen to a table of what, seen and wanted.
    pub(super) fn table_rows(&self, row: &mut impl FnMut(&str, String, String)) {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        row(
            "largest leverage over the typical",
            format!("{:.1} ×", self.leverage.largest_ratio),
            "below 10 ×".into(),
        );
        row("leverage in the top 1 % of rows", percent(self.leverage.top_share), "below 20 %".into());
        row("variance in rows that a batch misses", percent(self.raw.missed_share), "below 20 %".into());
        row("missed over believed, raw", format!("{:.2}", self.raw.blindness.ratio()), "below 1".into());
        row(
            "missed over believed, surrogate alone",
            format!("{:.2}", self.surrogate.without.blindness.ratio()),
            "below 1".into(),
        );
        let stratum = self.surrogate.chosen;
        row(
            "rows of the stratum a surrogate wants",
            stratum.map_or_else(|| "none does".into(), |stratum| stratum.rows.to_string()),
            "few".into(),
        );
    }
}

/// The verdicts, and the rows when they are needed.
pub(super) fn words(influences: Option<&Influences>) -> String {
    let Some(influences) = influences else { return format!("{LINEAR}\n") };
    let Influences { leverage, raw, surrogate, by_score, .. } = influences;
    let mut text = format!("{}\n{}\n{}\n", leverage.verdict(), raw.verdict(), surrogate.verdict());
    if surrogate.without.blindness.is_blind() || !raw.sound() {
        text += "Rows that weigh most (row of the data, leverage, score):\n";
        for (row, leverage, score) in by_score.iter().take(NAMED) {
            text += &format!("  row {row}: {leverage:.3}, {score:.3e}\n");
        }
    }
    text
}
