//! `austerity data fetch NAME`: public data sets, ready for the experiments.

use std::time::{Duration, Instant};

use austerity_paper::fetch::{Checksums, Event, Fetched, Options, Origin, fetch};
use serde_json::json;

use crate::arguments::FetchOptions;
use austerity_fit::Line;
use austerity_fit::output::{Failure, json as print_json, say};
use austerity_fit::request::Common;

/// Longer time-outs are no time-outs.
const LONGEST: f64 = 86_400.0;

/// Fetches and tells what is there.
pub(crate) fn run(common: &Common, options: &FetchOptions) -> Result<(), Failure> {
    if !(options.timeout > 0.0 && options.timeout <= LONGEST) {
        return Err(Failure::Usage(format!(
            "--timeout is {}; allowed: seconds above 0, at most {LONGEST}",
            options.timeout
        )));
    }
    let how = Options {
        from: options.from.as_deref().map(Origin::parse).transpose().map_err(Failure::other)?,
        checksums: match (&options.checksums, options.unchecked) {
            (Some(list), _) => Checksums::Listed(list.clone()),
            (None, true) => Checksums::Unchecked,
            (None, false) => Checksums::Known,
        },
        timeout: Duration::from_secs_f64(options.timeout),
        ..Options::new(&options.out)
    };
    let mut line = Line::new(options.name.name());
    let mut clock = Clock::default();
    let mut warnings = Vec::new();
    let fetched = fetch(options.name, &how, &mut |event| {
        if let Event::Unchecked { file, sha256 } = event {
            warnings.push(format!("{file} was not checked; its sha256 is {sha256}"));
        }
        line.note(&clock.describe(event));
    })
    .map_err(Failure::other)?;
    line.clear();
    if common.json {
        return print_json(&json!({
            "folder": fetched.folder, "present": fetched.present, "record": fetched.record, "warnings": warnings,
        }));
    }
    say(words(&fetched, &warnings))
}

/// When a download began, to tell its speed.
#[derive(Default)]
struct Clock {
    began: Option<(String, u64, Instant)>,
}

impl Clock {
    fn describe(&mut self, event: &Event) -> String {
        match event {
            Event::Receiving { file, received, total, .. } => self.receiving(file, *received, *total),
            Event::Again { problem } => format!("again: {problem}"),
            Event::Kept { file } => format!("{file} is there already"),
            Event::Checking { file } => format!("checking {file}"),
            Event::Unchecked { file, .. } => format!("{file} is not checked"),
            Event::Preparing => "preparing the tables".into(),
        }
    }

    fn receiving(&mut self, file: &str, received: u64, total: Option<u64>) -> String {
        let (_, before, since) = match &self.began {
            Some(began) if began.0 == file && received >= began.1 => began,
            _ => self.began.insert((file.into(), received, Instant::now())),
        };
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        let speed = (received - before) as f64 / since.elapsed().as_secs_f64();
        let mut text = format!("{file}  {:.1}", megabytes(received));
        match total {
            Some(total) => {
                let share = 100.0 * received as f64 / total.max(1) as f64;
                text += &format!(" of {:.1} MB ({share:.0} %)", megabytes(total));
            }
            None => text += " MB",
        }
        if speed.is_finite() && speed > 0.0 {
            text += &format!("  {:.1} MB/s", speed / 1e6);
            let left = total.map(|total| total.saturating_sub(received) as f64 / speed);
            text += &left.map(|left| format!("  {left:.0} s left")).unwrap_or_default();
        }
        text
    }
}

fn words(fetched: &Fetched, warnings: &[String]) -> String {
    let record = &fetched.record;
    let folder = fetched.folder.display();
    let mut lines = vec![if fetched.present {
        format!("{} is in {folder} already: nothing to do.", record.data_set)
    } else {
        format!("{} is in {folder}:", record.data_set)
    }];
    let tables = record.files.iter();
    lines.extend(tables.map(|file| format!("  {}  {} × {}", file.name, file.rows, file.columns)));
    lines.extend(record.remarks.iter().map(|remark| format!("• {remark}")));
    lines.extend(warnings.iter().map(|warning| format!("• warning: {warning}")));
    lines.push(format!("Experiments find it by --data {folder}, or by AUSTERITY_DATA={folder}."));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_download_tells_share_speed_and_time_left() {
        let mut clock = Clock::default();
        let event = |received| Event::Receiving {
            file: "a.gz".into(),
            received,
            total: Some(4_000_000),
            resumed: 1_000_000,
        };
        assert_eq!(clock.describe(&event(1_000_000)), "a.gz  1.0 of 4.0 MB (25 %)");
        std::thread::sleep(Duration::from_millis(5));
        let text = clock.describe(&event(2_000_000));
        assert!(text.contains("(50 %)") && text.contains("MB/s") && text.contains("s left"), "{text}");
        // A server that gives the whole file again.
        assert_eq!(clock.describe(&event(0)), "a.gz  0.0 of 4.0 MB (0 %)");
    }
}
