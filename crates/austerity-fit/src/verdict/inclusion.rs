//! Which parameters the verdict on a selection or a factor graph rests on, and on which of their numbers.
//!
//! Many of their parameters are indicators. One that is the same in every draw of every chain has no R-hat and no effective sample size: nothing moved, so nothing
//! can disagree. It is left out, with a remark: the rule of three bounds its frequency by 3/ESS of the others. The tail ESS of an indicator whose probability is below 5 %
//! or above 95 % does not exist either; its bulk ESS is that of its mean, which is all there is to it.

use austerity::diagnostics::Summary;

use crate::fit::part::PartRecord;

/// Names that a remark lists.
const LISTED: usize = 8;

fn is_constant(summary: &Summary) -> bool {
    summary.sd == 0.0
}

/// The summaries that the verdict rests on.
pub(super) fn judged(part: Option<&PartRecord>, all: &[Summary]) -> Vec<Summary> {
    if !part.is_some_and(PartRecord::has_indicators) {
        return all.to_vec();
    }
    let one = |summary: &Summary| Summary {
        ess_tail: if summary.ess_tail.is_nan() { summary.ess_bulk } else { summary.ess_tail },
        ..summary.clone()
    };
    all.iter().filter(|summary| !is_constant(summary)).map(one).collect()
}

/// What was left out.
pub(super) fn remark(part: Option<&PartRecord>, all: &[Summary]) -> Option<String> {
    if !part.is_some_and(PartRecord::has_indicators) {
        return None;
    }
    let constant: Vec<String> = all
        .iter()
        .filter(|summary| is_constant(summary))
        .map(|summary| format!("{} = {}", summary.name, summary.mean))
        .collect();
    if constant.is_empty() {
        return None;
    }
    let more = constant.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!(
        "The same in every draw, so without R-hat, ESS and Monte Carlo error: {}{more}.",
        constant[..constant.len().min(LISTED)].join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_left_out_and_named() {
        let same = [1.0; 40];
        let rare: Vec<f64> = (0..40).map(|i| f64::from(u8::from(i % 29 == 3))).collect();
        let all = [Summary::new("a", &[&same, &same]), Summary::new("b", &[&rare, &rare])];
        let record: PartRecord = serde_json::from_str(r#"{"kind":"field","variables":2,"factors":1}"#)
            .unwrap_or_else(|e| panic!("{e}"));
        let kept = judged(Some(&record), &all);
        assert_eq!(kept.len(), 1);
        assert!(kept[0].name == "b" && kept[0].ess_tail > 0.0, "{kept:?}");
        assert!(remark(Some(&record), &all).is_some_and(|words| words.contains("a = 1.")));
        assert_eq!(judged(None, &all).len(), 2);
        assert!(remark(None, &all).is_none());
    }
}
