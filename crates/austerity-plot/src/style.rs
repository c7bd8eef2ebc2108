//! Colours of the charts, once for a picture of its own and once for a page with a dark mode.
//!
//! Charts name classes only. The rules below are written with `$name` where a colour goes: a standalone picture gets the
//! light colours spelled out (few viewers know CSS variables), a page gets `var(--name)` and both sets of values.
//!
//! Series are the colours of Okabe & Ito (2008), which colour-blind readers can tell apart; against a dark ground the dark
//! ones are lightened. The yellow of that set is left out: it cannot be seen on white.

use std::fmt::Write as _;

/// Series colours; the next one is the first again.
pub const SERIES: usize = 7;

/// Name, on white, on dark.
const PALETTE: [(&str, &str, &str); 13] = [
    ("s0", "#0072b2", "#4aa8e0"),
    ("s1", "#d55e00", "#f2894a"),
    ("s2", "#009e73", "#2fc49a"),
    ("s3", "#cc79a7", "#e39cc3"),
    ("s4", "#e69f00", "#f0b93a"),
    ("s5", "#56b4e9", "#8fd0f5"),
    ("s6", "#000000", "#ffffff"),
    ("paper", "#ffffff", "#1a1e22"),
    ("ink", "#1b1f24", "#e4e7ea"),
    ("grid", "#e5e7ea", "#2c3238"),
    ("axis", "#4a525c", "#8b949e"),
    ("rule", "#6b7280", "#9aa4af"),
    ("accent", "#0a5f8f", "#6cb8ea"),
];

const RULES: &str = "\
.chart text{fill:$ink}
.chart path{fill:none}
.chart .grid{stroke:$grid}
.chart .axis{stroke:$axis}
.chart .rule{stroke:$rule;stroke-dasharray:1 3}
.chart .mark{stroke:$accent}
.chart .band{fill:$accent;fill-opacity:.13}
.chart .bar{fill:$accent;fill-opacity:.75}
.chart .line{stroke-width:1.8;stroke-linejoin:round}
.chart .dot{stroke-width:3;stroke-linecap:round;stroke-opacity:.6}
.chart .shape{stroke-width:1.2}
.chart .zero{stroke:$axis}
.chart .outer{stroke:$accent;stroke-width:1.5}
.chart .inner{stroke:$accent;stroke-width:4.5}
.chart .point{fill:$accent;stroke:$accent;stroke-width:1.4}
.chart.open .outer,.chart.open .inner,.chart.open .point{stroke:$rule}
.chart.open .point{fill:$paper}
.chart .thin{stroke-width:1;stroke-opacity:.8;stroke-linejoin:bevel}
";

/// The rules with colours as `colour` says them.
fn rules(colour: impl Fn(usize) -> String) -> String {
    let mut sheet = RULES.to_owned();
    for series in 0..SERIES {
        let _ = writeln!(sheet, ".chart .s{series}{{stroke:$s{series}}}");
        let _ = writeln!(sheet, ".chart .b{series}{{fill:$s{series};fill-opacity:.75}}");
    }
    for (index, (name, ..)) in PALETTE.iter().enumerate() {
        sheet = sheet.replace(&format!("${name}"), &colour(index));
    }
    sheet
}

/// The sheet of a picture that stands alone, on white.
pub(super) fn standalone() -> String {
    rules(|index| PALETTE[index].1.into())
}

/// The sheet of charts within a page: light, dark when the reader's screen is, light again on paper.
#[must_use]
pub fn in_page() -> String {
    let values = |dark: bool| {
        PALETTE.iter().fold(String::new(), |mut out, (name, light, night)| {
            let _ = write!(out, "--{name}:{};", if dark { night } else { light });
            out
        })
    };
    format!(
        ":root{{{}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}\n{}",
        values(false),
        values(true),
        rules(|index| format!("var(--{})", PALETTE[index].0))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_is_filled_in() {
        assert!(!standalone().contains(['$']) && !standalone().contains("var("));
        let page = in_page();
        assert!(!page.contains('$') && page.contains("prefers-color-scheme:dark"));
        assert_eq!(page.matches('{').count(), page.matches('}').count());
    }
}
