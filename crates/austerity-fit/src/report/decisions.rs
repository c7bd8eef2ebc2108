//! What the decisions cost: how much of the data each read, and how often it accepted.

use austerity_plot::{Axis, Mark, Panel, Scale};

use super::verdict::mean;
use super::words::percent;
use super::{Report, figure};

/// Windows along the run, at the most, and draws in one at the least.
const WINDOWS: (usize, usize) = (60, 10);
/// Bars of the histogram of data use.
const BARS: usize = 40;
/// Different values up to which each has its own bar.
const MOST_PLACES: usize = 60;
/// Chains whose course is drawn.
const CHAINS_DRAWN: usize = 16;

pub(super) fn section(report: &Report) -> String {
    let shares: Vec<f64> = report.data_used.iter().flatten().copied().filter(|v| v.is_finite()).collect();
    let mut sentences = Vec::new();
    let mut figures = String::new();
    if let Some(average) = mean(shares.iter().copied()) {
        let most = shares.iter().copied().fold(0.0, f64::max);
        if shares.iter().all(|share| *share == most) {
            sentences.push(format!("Every decision read {} of the data.", percent(most)));
        } else {
            let all = shares.iter().filter(|share| **share >= 1.0).count() as f64 / shares.len() as f64;
            sentences.push(format!(
                "A decision read {} of the data on average; {} of the decisions read all of it.",
                percent(average),
                percent(all)
            ));
            figures += &histogram(&shares, most, average);
            figures += &course(report, &report.data_used, "Data read along the run", "share of the data");
        }
    }
    let accepted: Vec<Vec<f64>> = report
        .accepted
        .iter()
        .map(|chain| chain.iter().map(|&yes| f64::from(u8::from(yes))).collect())
        .collect();
    if let Some(rate) = mean(accepted.iter().flatten().copied()) {
        sentences.push(format!("{} of the proposals were accepted.", percent(rate)));
        figures += &course(report, &accepted, "Acceptance along the run", "share accepted");
    }
    if sentences.is_empty() {
        return String::new();
    }
    format!(
        "<section id=\"decisions\">\n<h2>Decisions</h2>\n<p class=\"reading\">{}</p>\n<div class=\"charts\">\n{figures}</div>\n</section>\n",
        sentences.join(" ")
    )
}

fn histogram(shares: &[f64], most: f64, average: f64) -> String {
    let (edges, heights) = bars(shares, most);
    let panel = Panel::new(
        "",
        Axis::new("share of the data", Scale::Linear).with_limits(0.0, 1.02 * most),
        Axis::new("share of the decisions", Scale::Linear),
    )
    .small()
    .mark(Mark::Bars { series: None, edges, base: 0.0, heights })
    .mark(Mark::Upright(average));
    let description = "Histogram of the share of the data that a decision read, with its mean";
    figure("Data read by a decision", &panel.inline(description), "line: mean")
}

/// Edges and heights of the bars. A test with few looks stops at few places: each gets a bar of its own.
fn bars(shares: &[f64], most: f64) -> (Vec<f64>, Vec<f64>) {
    let one = 1.0 / shares.len() as f64;
    let mut sorted = shares.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let places: Vec<(f64, f64)> =
        sorted.chunk_by(|a, b| a == b).map(|same| (same[0], one * same.len() as f64)).collect();
    if places.len() <= MOST_PLACES {
        let gaps = places.windows(2).map(|pair| pair[1].0 - pair[0].0);
        let half = (0.4 * gaps.fold(most, f64::min)).clamp(0.002 * most, 0.015 * most);
        let edges = places.iter().flat_map(|&(place, _)| [place - half, place + half]).collect();
        // Between two bars is a gap.
        return (edges, places.iter().flat_map(|&(_, height)| [height, 0.0]).collect());
    }
    let mut heights = vec![0.0; BARS];
    for share in shares {
        heights[(share / most * BARS as f64).clamp(0.0, (BARS - 1) as f64) as usize] += one;
    }
    ((0..=BARS).map(|edge| most * edge as f64 / BARS as f64).collect(), heights)
}

/// Means over windows along the run, chain by chain.
fn course(report: &Report, chains: &[Vec<f64>], heading: &str, label: &str) -> String {
    let draws = report.draws.max(1) as f64;
    let lines: Vec<Vec<(f64, f64)>> =
        chains.iter().take(CHAINS_DRAWN).map(|chain| windows(chain, draws)).collect();
    let top = lines.iter().flatten().map(|point| point.1).fold(0.0, f64::max);
    let top = if top > 0.0 { (1.1 * top).min(1.0) } else { 1.0 };
    let mut panel = Panel::new(
        "",
        Axis::new("draw", Scale::Linear).with_limits(0.0, draws),
        Axis::new(label, Scale::Linear).with_limits(0.0, top),
    )
    .small();
    for (series, points) in lines.into_iter().enumerate() {
        panel = panel.mark(Mark::Line { series, points });
    }
    figure(heading, &panel.inline(&format!("{heading}, by chain")), "by chain")
}

fn windows(values: &[f64], draws: f64) -> Vec<(f64, f64)> {
    let count = (values.len() / WINDOWS.1).clamp(1, WINDOWS.0);
    let edge = |window: usize| window * values.len() / count;
    (0..count)
        .filter_map(|window| {
            let average = mean(values[edge(window)..edge(window + 1)].iter().copied())?;
            Some((draws * (window as f64 + 0.5) / count as f64, average))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{bars, windows};

    #[test]
    fn every_decision_is_in_a_bar() {
        let looks: Vec<f64> = (0..1000).map(|i| f64::from(i % 25 + 1) / 25.0).collect();
        let (edges, heights) = bars(&looks, 1.0);
        assert_eq!(edges.len(), 50);
        assert!(edges.is_sorted() && heights.iter().step_by(2).all(|h| (h - 0.04).abs() < 1e-12));
        let many: Vec<f64> = (1..=1000).map(|i| f64::from(i) / 1000.0).collect();
        let (edges, heights) = bars(&many, 1.0);
        assert_eq!(edges.len(), heights.len() + 1);
        assert!((heights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn windows_keep_the_mean_and_the_length() {
        let values: Vec<f64> = (0..1234).map(|i| f64::from(i % 2)).collect();
        let points = windows(&values, 5000.0);
        assert_eq!(points.len(), 60);
        assert!(points.iter().all(|p| (p.1 - 0.5).abs() < 0.05 && p.0 < 5000.0));
        assert!(windows(&[], 10.0).is_empty() && windows(&[f64::NAN], 10.0).is_empty());
        assert_eq!(windows(&[0.5], 1.0), [(0.5, 0.5)]);
    }
}
