//! The effects of groups: a caterpillar plot of the levels in the order of their means, and the effects against the size of the groups, where shrinkage shows.

use austerity_plot::{Axis, Mark, Panel, Scale, escape};

use super::words::counted;
use super::{Report, figure};
use crate::fit::groups::LevelEffect;

/// Levels that have an interval in the picture: the lowest and the highest means.
const MOST_LEVELS: usize = 60;
/// Points of a cloud at most.
const MOST_POINTS: usize = 2_000;
/// Levels named below a picture, at each end.
const NAMED: usize = 5;

pub(super) fn section(report: &Report) -> String {
    let Some(effects) = &report.groups else { return String::new() };
    let mut terms: Vec<&str> = Vec::new();
    for effect in &effects.effects {
        if !terms.contains(&effect.term.as_str()) {
            terms.push(&effect.term);
        }
    }
    let figures: String = terms
        .iter()
        .map(|term| {
            let mut own: Vec<&LevelEffect> =
                effects.effects.iter().filter(|effect| effect.term == *term).collect();
            own.sort_by(|a, b| a.mean.total_cmp(&b.mean));
            of_term(&effects.group, term, &own)
        })
        .collect();
    format!(
        "<section id=\"groups\">\n<h2>Effects of {}</h2>\n<p class=\"reading\">How the levels differ from the average, with what the levels have in common taken into account: \
         posterior means with 95 % intervals. Levels with few rows are drawn towards 0.</p>\n<div class=\"charts\">\n{figures}</div>\n</section>\n",
        escape(&effects.group)
    )
}

fn of_term(group: &str, term: &str, own: &[&LevelEffect]) -> String {
    let shown: Vec<&&LevelEffect> = if own.len() <= MOST_LEVELS {
        own.iter().collect()
    } else {
        own[..MOST_LEVELS / 2].iter().chain(&own[own.len() - MOST_LEVELS / 2..]).collect()
    };
    let ranked = || (1..).map(f64::from).zip(&shown);
    let mut caterpillar =
        Panel::new("", Axis::new("effect", Scale::Linear), Axis::new("rank of the level", Scale::Linear))
            .small();
    for (rank, effect) in ranked() {
        let points = vec![(effect.q025, rank), (effect.q975, rank)];
        caterpillar = caterpillar.mark(Mark::Line { series: 0, points });
    }
    let means = ranked().map(|(rank, effect)| (effect.mean, rank)).collect();
    let caterpillar = caterpillar.mark(Mark::Points { series: 0, points: means }).mark(Mark::Upright(0.0));
    let step = own.len().div_ceil(MOST_POINTS).max(1);
    let cloud = own.iter().step_by(step).map(|effect| (f64::from(effect.rows), effect.mean)).collect();
    let sizes = Panel::new(
        "",
        Axis::new("rows of the level", Scale::Logarithmic),
        Axis::new("effect", Scale::Linear),
    )
    .small()
    .mark(Mark::Points { series: 0, points: cloud })
    .reference(0.0);
    let names = |effects: &[&LevelEffect]| {
        let names: Vec<String> =
            effects.iter().map(|effect| format!("{} ({:.2})", effect.level, effect.mean)).collect();
        names.join(", ")
    };
    let ends = own.len().min(NAMED);
    let reading = if own.len() > 2 * NAMED {
        format!("lowest: {}; highest: {}", names(&own[..ends]), names(&own[own.len() - ends..]))
    } else {
        format!("in order: {}", names(own))
    };
    [
        figure(
            &format!("{term}, {}", counted(own.len(), "level")),
            &caterpillar.inline(&format!("Effects of the levels of {group} on {term} with intervals")),
            &reading,
        ),
        figure(
            &format!("{term} and size"),
            &sizes.inline(&format!("Effects on {term} against the rows of the levels of {group}")),
            "shrinkage: effects of small levels lie near 0",
        ),
    ]
    .concat()
}
