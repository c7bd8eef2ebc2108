//! The tests that took longest, from the report that nextest writes (`.config/nextest.toml`).

use std::path::Path;

/// Tests that are named.
const NAMED: usize = 10;

/// A table of the slowest tests; nothing without a report, which only nextest writes.
pub(crate) fn table(root: &Path) -> Option<String> {
    let report =
        std::fs::read_to_string(crate::suite::target(root).join("nextest/default/junit.xml")).ok()?;
    let mut times = times(&report);
    times.sort_by(|a, b| b.0.total_cmp(&a.0));
    let rows = times.iter().take(NAMED).map(|(seconds, name)| format!("{seconds:>8.1}  {name}\n"));
    (!times.is_empty()).then(|| format!(" seconds  slowest tests\n{}", rows.collect::<String>()))
}

/// Seconds and names of all test cases.
fn times(report: &str) -> Vec<(f64, String)> {
    report
        .split("<testcase ")
        .skip(1)
        .filter_map(|case| {
            let case = case.split('>').next()?;
            let seconds = attribute(case, "time")?.parse().ok()?;
            Some((seconds, format!("{} {}", attribute(case, "classname")?, attribute(case, "name")?)))
        })
        .collect()
}

/// The value of an attribute; a space before its name keeps `classname` from being taken for `name`.
fn attribute<'a>(case: &'a str, name: &str) -> Option<&'a str> {
    let start = format!("{name}=\"");
    let at = if case.starts_with(&start) { 0 } else { case.find(&format!(" {start}"))? + 1 };
    case[at + start.len()..].split('"').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_seconds_are_read_from_the_report() {
        let report = r#"<testsuites><testsuite name="austerity">
            <testcase name="rule::exact::ties" classname="austerity" timestamp="x" time="0.010">
            </testcase><testcase name="calibration::logistic" classname="austerity::integration" time="12.5"/>"#;
        let expected =
            [(0.01, "austerity rule::exact::ties"), (12.5, "austerity::integration calibration::logistic")];
        assert_eq!(times(report), expected.map(|(seconds, name)| (seconds, name.to_owned())));
        assert!(times("nothing").is_empty());
    }
}
