//! Every quote is in the paper's source, word by word, and every claim is complete.
//!
//! The source is looked for beside the data sets (`AUSTERITY_DATA/../paper`) and beside the project (`../shared/paper`); without it the comparison
//! is skipped with a message. Both sides are normalised in the same way: Greek letters and relations are written as characters, other
//! commands lose their name and keep their argument (references and labels lose both), and dollars, braces, sub- and superscripts, accents, quotation marks, tildes and
//! all white space go. "…" in a quote stands for words left out: the parts must follow each other within 4,000 characters.

use std::path::PathBuf;

use austerity_paper::{Claim, EXPERIMENTS, Source};

/// Commands that stand for characters.
const CHARACTERS: &[(&str, &str)] = &[
    ("epsilon", "ε"),
    ("mu", "μ"),
    ("theta", "θ"),
    ("Delta", "Δ"),
    ("pi", "π"),
    ("tau", "τ"),
    ("sigma", "σ"),
    ("sg", "σ"),
    ("eta", "η"),
    ("beta", "β"),
    ("lambda", "λ"),
    ("psi", "ψ"),
    ("gamma", "γ"),
    ("alpha", "α"),
    ("nu", "ν"),
    ("approx", "≈"),
    ("geq", "≥"),
    ("leq", "≤"),
    ("log", "log"),
    ("cE", "E"),
    ("eE", "E"),
    ("cS", "S"),
    ("cO", "O"),
    ("cN", "N"),
    ("cX", "X"),
    ("langle", "⟨"),
    ("rangle", "⟩"),
];
/// Commands that go with their argument.
const GONE: &[&str] = &["ref", "label", "citep", "citet", "cite"];

fn normal(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut out = String::new();
    let mut at = 0;
    while at < letters.len() {
        let letter = letters[at];
        at += 1;
        if letter == '\\' {
            let start = at;
            while at < letters.len() && letters[at].is_ascii_alphabetic() {
                at += 1;
            }
            let name: String = letters[start..at].iter().collect();
            if name.is_empty() {
                // An escaped character stands for itself: \%.
                continue;
            }
            if GONE.contains(&name.as_str()) {
                while at < letters.len() && letters[at] != '}' {
                    at += 1;
                }
            }
            if let Some((_, character)) = CHARACTERS.iter().find(|(command, _)| *command == name) {
                out += character;
            }
            continue;
        }
        if !letter.is_whitespace() && !"${}_^`'\"~\u{304}".contains(letter) {
            out.push(letter);
        }
    }
    out
}

/// What is printed, and what is commented out.
fn parts(source: &str) -> (String, String) {
    let (mut printed, mut commented) = (String::new(), String::new());
    for line in source.lines() {
        let bytes = line.as_bytes();
        let comment = (0..bytes.len()).find(|&i| bytes[i] == b'%' && (i == 0 || bytes[i - 1] != b'\\'));
        let (text, rest) = line.split_at(comment.unwrap_or(line.len()));
        printed += text;
        printed.push('\n');
        commented += rest.trim_start_matches('%');
        commented.push('\n');
    }
    (printed, commented)
}

fn source() -> Option<String> {
    let beside = std::env::var_os("AUSTERITY_DATA").map(|data| PathBuf::from(data).join("../paper"));
    let shared = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/paper");
    let file = |folder: PathBuf| std::fs::read_to_string(folder.join("austerity-in-mcmc-land.tex")).ok();
    beside.into_iter().chain([shared]).find_map(file)
}

/// Whether the parts of a quote follow each other in a normalised text.
fn found(quote: &str, text: &str) -> bool {
    let parts: Vec<String> = quote.split('…').map(normal).collect();
    let Some((first, rest)) = parts.split_first() else { return false };
    text.match_indices(first.as_str()).any(|(place, _)| {
        let mut at = place + first.len();
        rest.iter().all(|part| {
            let mut end = (at + 4_000).min(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            match text[at..end].find(part.as_str()) {
                Some(next) => {
                    at += next + part.len();
                    true
                }
                None => false,
            }
        })
    })
}

fn claims() -> impl Iterator<Item = (&'static str, &'static Claim)> {
    EXPERIMENTS.iter().flat_map(|experiment| experiment.claims.iter().map(|claim| (experiment.name, claim)))
}

#[test]
fn every_quote_is_verbatim() {
    let Some(source) = source() else {
        eprintln!("skipped: the paper's source is not at hand");
        return;
    };
    let (printed, commented) = parts(&source);
    let [printed, commented] = [printed, commented].map(|text| normal(&text));
    let mut quotes = 0;
    for (experiment, claim) in claims().filter(|(_, claim)| !claim.quote.is_empty()) {
        quotes += 1;
        let text = if claim.source == Source::Commented { &commented } else { &printed };
        assert!(
            found(claim.quote, text),
            "{experiment}, {:?}: not in the paper: {:?}",
            claim.name,
            claim.quote
        );
    }
    assert!(quotes > 50, "{quotes}");
    // The comparison sees what is not there, what is elsewhere, and what has been changed.
    for (quote, text) in [
        ("the minimum risk is obtained with ε≥0", &printed),
        ("Our algorithm with ε = 0.01 is able to accelerate burn-in", &printed),
        ("the minimum risk is obtained with ε>0", &commented),
        ("the minimum risk is obtained … To measure the correctness of the Gibbs sampler", &printed),
    ] {
        assert!(!found(quote, text), "{quote:?}");
    }
}

#[test]
fn every_claim_has_a_source_a_test_and_a_partner() {
    let mut names = std::collections::HashSet::new();
    for (experiment, claim) in claims() {
        assert!(names.insert((experiment, claim.name)), "{experiment}: {:?} twice", claim.name);
        for (part, text) in [("place", claim.place), ("quantity", claim.quantity), ("partner", claim.partner)]
        {
            assert!(!text.is_empty(), "{experiment}, {:?} has no {part}", claim.name);
        }
        let words = matches!(claim.source, Source::Paper | Source::Commented);
        assert!(!words || !claim.quote.is_empty(), "{experiment}, {:?} quotes nothing", claim.name);
        assert!(
            !claim.quote.is_empty() || !claim.says.is_empty(),
            "{experiment}, {:?} says nothing",
            claim.name
        );
        assert!(
            claim.source != Source::Own || claim.quote.is_empty(),
            "{experiment}, {:?} is ours and quotes",
            claim.name
        );
    }
    assert!(names.len() > 90, "{}", names.len());
}
