//! `austerity hypothesis RUN "x1 - x2 > 0"`: contrasts of parameters, and how probable a hypothesis is.
//!
//! An expression adds and subtracts parameters, each with a number before it where wanted, and plain numbers: `x1 - 2*x2 + 0.5`. `> 0` (or `<`, with any such expression on the right) asks for a probability, the
//! share of the draws in which it holds, with its Monte Carlo error from the effective number of draws of that event. Names are those of `summary`; in backquotes where they hold spaces or signs.

use std::path::{Path, PathBuf};

use austerity::diagnostics::{ess_mean, quantiles};
use serde_json::{Value, json};

use super::Folder;
use crate::output::{Failure, json as print_json, say};
use crate::request::Common;
use crate::table::table;

/// What `hypothesis` is asked for.
#[derive(Clone, Debug)]
pub struct HypothesisOptions {
    /// The run.
    pub run: PathBuf,
    /// The expressions.
    pub expressions: Vec<String>,
}

/// An expression under the posterior.
#[derive(Clone, Debug, PartialEq)]
pub struct Contrast {
    /// As it was written.
    pub text: String,
    /// Posterior mean of the left side less the right side.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    /// 95 % interval.
    pub ends: (f64, f64),
    /// Probability of the hypothesis and its Monte Carlo error, where there is one.
    pub probability: Option<(f64, f64)>,
}

/// A sum of parameters with factors, and a number.
#[derive(Clone, Debug, Default, PartialEq)]
struct Linear {
    /// Place of the parameter and its factor.
    terms: Vec<(usize, f64)>,
    constant: f64,
}

/// Computes and prints.
pub fn run(common: &Common, options: &HypothesisOptions) -> Result<(), Failure> {
    let made = answer(&options.run, &options.expressions)?;
    if common.json { print_json(&json(&made)) } else { say(words(&made)) }
}

/// What `--json` prints.
#[must_use]
pub fn json(made: &[Contrast]) -> Value {
    let one = |contrast: &Contrast| {
        let mut value = json!({"hypothesis": contrast.text, "mean": contrast.mean, "sd": contrast.sd, "q025": contrast.ends.0, "q975": contrast.ends.1});
        if let Some((probability, error)) = contrast.probability {
            value["probability"] = json!(probability);
            value["mcse"] = json!(error);
            value["odds"] =
                if probability < 1.0 { json!(probability / (1.0 - probability)) } else { Value::Null };
        }
        value
    };
    json!({"contrasts": made.iter().map(one).collect::<Vec<Value>>()})
}

/// As a table.
#[must_use]
pub fn words(made: &[Contrast]) -> String {
    let mut shown = table(&["", "mean", "sd", "95 % interval", "probability"]);
    for contrast in made {
        shown.add_row([
            contrast.text.clone(),
            format!("{:.4}", contrast.mean),
            format!("{:.4}", contrast.sd),
            format!("{:.4} to {:.4}", contrast.ends.0, contrast.ends.1),
            contrast
                .probability
                .map_or("–".into(), |(probability, error)| format!("{probability:.4} ± {error:.4}")),
        ]);
    }
    shown.to_string()
}

/// The expressions under the posterior of the run at `run`.
pub fn answer(run: &Path, expressions: &[String]) -> Result<Vec<Contrast>, Failure> {
    let reader = Folder::new(run).reader()?;
    let names = reader.names();
    expressions
        .iter()
        .map(|text| {
            let (left, sign, right) = split(text);
            let mut linear = parse(left, &names, text)?;
            if let Some(right) = right {
                let other = parse(right, &names, text)?;
                linear.constant -= other.constant;
                linear.terms.extend(other.terms.into_iter().map(|(place, factor)| (place, -factor)));
            }
            let mut chains = vec![vec![linear.constant; reader.draws()]; reader.chains()];
            for (place, factor) in &linear.terms {
                for (chain, values) in chains.iter_mut().zip(reader.parameter(*place)?) {
                    chain.iter_mut().zip(values).for_each(|(sum, value)| *sum += factor * value);
                }
            }
            Ok(contrast(text, &chains, sign))
        })
        .collect()
}

fn contrast(text: &str, chains: &[Vec<f64>], sign: Option<f64>) -> Contrast {
    let views: Vec<&[f64]> = chains.iter().map(Vec::as_slice).collect();
    let all: Vec<f64> = chains.concat();
    let count = all.len() as f64;
    let mean = all.iter().sum::<f64>() / count;
    let sd = (all.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0)).sqrt();
    let ends = quantiles(&views, &[0.025, 0.975]);
    let probability = sign.map(|sign| {
        let event = |value: &f64| f64::from(u8::from(sign * value > 0.0));
        let events: Vec<Vec<f64>> = chains.iter().map(|chain| chain.iter().map(event).collect()).collect();
        let share = events.iter().flatten().sum::<f64>() / count;
        let views: Vec<&[f64]> = events.iter().map(Vec::as_slice).collect();
        let effective = ess_mean(&views);
        // An event that every draw agrees on has no variance: its error is that of one draw that might not have.
        let effective = if effective.is_finite() && effective > 1.0 { effective } else { count };
        (
            share,
            (share * (1.0 - share) / effective).sqrt().max(if share == 0.0 || share == 1.0 {
                1.0 / count
            } else {
                0.0
            }),
        )
    });
    Contrast { text: text.into(), mean, sd, ends: (ends[0], ends[1]), probability }
}

/// Left side, direction, right side. Signs inside backquotes do not count.
fn split(text: &str) -> (&str, Option<f64>, Option<&str>) {
    let mut quoted = false;
    for (place, letter) in text.char_indices() {
        match letter {
            '`' => quoted = !quoted,
            '<' | '>' if !quoted => {
                let rest = text[place + 1..].trim_start_matches('=');
                return (&text[..place], Some(if letter == '>' { 1.0 } else { -1.0 }), Some(rest));
            }
            _ => {}
        }
    }
    (text, None, None)
}

/// One side of an expression.
fn parse(side: &str, names: &[String], whole: &str) -> Result<Linear, Failure> {
    let wrong = |rest: &str| {
        let near =
            austerity_io::table::nearest(names, rest.split([' ', '+', '*', '>', '<']).next().unwrap_or(rest));
        let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        Failure::Usage(format!(
            "`{whole}`: `{rest}` is neither a parameter of the run nor a number{near} (parameters: {}); write it as in `x1 - 2*x2 > 0`",
            names.iter().take(12).cloned().collect::<Vec<_>>().join(", ")
        ))
    };
    let (mut rest, mut found, mut sign) = (side.trim(), Linear::default(), 1.0);
    if rest.is_empty() {
        return Err(wrong(side));
    }
    loop {
        while let Some(next) = rest.strip_prefix(['+', '-']) {
            sign *= if rest.starts_with('-') { -1.0 } else { 1.0 };
            rest = next.trim_start();
        }
        let mut factor = sign;
        let mut has_number = false;
        if name(rest, names).is_none() {
            let (number, after) = leading_number(rest).ok_or_else(|| wrong(rest))?;
            factor *= number;
            has_number = true;
            rest = after.trim_start();
            match rest.strip_prefix('*') {
                Some(after) => {
                    has_number = false;
                    rest = after.trim_start();
                }
                None => found.constant += factor,
            }
        }
        if !has_number {
            let (place, after) = name(rest, names).ok_or_else(|| wrong(rest))?;
            found.terms.push((place, factor));
            rest = after.trim_start();
        }
        if rest.is_empty() {
            return Ok(found);
        }
        if !rest.starts_with(['+', '-']) {
            return Err(wrong(rest));
        }
        sign = 1.0;
    }
}

/// The longest parameter's name that a text begins with, and what follows.
fn name<'a>(text: &'a str, names: &[String]) -> Option<(usize, &'a str)> {
    if let Some(quoted) = text.strip_prefix('`') {
        let (own, after) = quoted.split_once('`')?;
        return names.iter().position(|name| name == own).map(|place| (place, after));
    }
    let ends = |rest: &str| rest.trim_start().is_empty() || rest.trim_start().starts_with(['+', '-', '*']);
    let fits = |name: &&String| text.strip_prefix(name.as_str()).is_some_and(ends);
    let longest = names.iter().filter(fits).max_by_key(|name| name.len())?;
    names.iter().position(|name| name == longest).map(|place| (place, &text[longest.len()..]))
}

/// A number at the beginning of a text, and what follows.
fn leading_number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(text.len());
    text[..end].parse().ok().map(|number| (number, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_read() {
        let names: Vec<String> = ["x1", "x2", "x10", "C(g)[a-b]", "intercept"].map(String::from).into();
        let read = |text: &str| parse(text, &names, text).unwrap();
        assert_eq!(read("x1 - x2"), Linear { terms: vec![(0, 1.0), (1, -1.0)], constant: 0.0 });
        assert_eq!(
            read("-2*x10 + 0.5 - C(g)[a-b]"),
            Linear { terms: vec![(2, -2.0), (3, -1.0)], constant: 0.5 }
        );
        assert_eq!(read("`C(g)[a-b]`+x1"), Linear { terms: vec![(3, 1.0), (0, 1.0)], constant: 0.0 });
        for wrong in ["x3", "x1 x2", "", "x1 -", "2*", "x1 * 2"] {
            assert!(parse(wrong, &names, wrong).is_err(), "{wrong}");
        }
        assert_eq!(split("x1 > 0"), ("x1 ", Some(1.0), Some(" 0")));
        assert_eq!(split("x1 <= x2"), ("x1 ", Some(-1.0), Some(" x2")));
        assert_eq!(split("`a>b`"), ("`a>b`", None, None));
    }

    #[test]
    fn probabilities_are_shares_of_draws() {
        let chains = vec![vec![1.0, -1.0, 2.0, 3.0], vec![1.0, 1.0, -2.0, 3.0]];
        let found = contrast("x > 0", &chains, Some(1.0));
        assert_eq!(found.probability.unwrap().0, 0.75);
        assert_eq!(found.mean, 1.0);
        let certain = contrast("x < 9", &[vec![-1.0; 50]], Some(-1.0));
        assert_eq!(certain.probability, Some((1.0, 1.0 / 50.0)));
    }
}
