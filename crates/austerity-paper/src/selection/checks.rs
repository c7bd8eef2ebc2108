//! The claims of section 6.3, held against what was found on one data set.
//!
//! Claims about how chains behave get a verdict on every data set. Numbers that the paper gives for the complete MiniBooNE are judged there
//! alone: on other data they are shown and left undecided, whichever way they point.

use austerity_models::{JumpMove, JumpTally};

use super::chains::{Found, Group, update_sd};
use super::data::Problem;
use super::{BARS, MIDDLE};
use crate::claim::{Band, Claim, Estimate, Over, Source};
use crate::curves::{Comparison, Point, Textbook, comparisons, reached, risk_ratio};
use crate::outcome::Check;

const OTHER_DATA: &str = "The paper's number is for the complete MiniBooNE; other data need not agree.";

const LOWEST: Claim = Claim {
    name: "lowest risk",
    source: Source::Paper,
    place: "section 6.3, figure 4",
    quote: "Again we see that the lowest risk is obtained with ε > 0",
    says: "",
    quantity: "risk of exact decisions over risk at ε, at the end",
    band: Band::Above(1.0),
    over: Over::Some,
    partner: "planted curves in which exact decisions have a tenth of the risk",
};
const SPEED: Claim = Claim {
    name: "speed",
    source: Source::Paper,
    place: "section 3",
    quote: "As ε moves away from 0, it becomes cheap to simulate the Markov chain",
    says: "",
    quantity: "steps per CPU second over those of exact decisions, at each ε",
    band: Band::Above(1.0),
    over: Over::Every,
    partner: "planted speeds of half",
};
const RATES: &str = "The acceptance rates for the birth/death moves starts off at ≈ 20% but dies down to ≈ 2% once a good model is found";
const FADE: Claim = Claim {
    name: "births and deaths fade",
    source: Source::Paper,
    place: "section 6.3",
    quote: RATES,
    says: "Read as to half at most, whatever the numbers.",
    quantity: "acceptance of births and deaths at the end over that in the first 127 steps",
    band: Band::Below(0.5),
    over: Over::Every,
    partner: "planted rates that stay",
};
const FIRST: Claim = Claim {
    name: "births and deaths at first",
    says: "\"≈\" is read as within a factor of 2.",
    quantity: "acceptance of births and deaths in the first 127 steps",
    band: Band::Within(0.1, 0.4),
    partner: "planted rates of 60 %",
    ..FADE
};
const LAST: Claim = Claim {
    name: "births and deaths at the end",
    quantity: "acceptance of births and deaths at the end",
    band: Band::Within(0.01, 0.04),
    ..FIRST
};
const UPDATES: Claim = Claim {
    name: "updates",
    source: Source::Paper,
    place: "section 6.3",
    quote: "The acceptance rate for update moves is kept at ≈ 50%",
    says: "",
    quantity: "acceptance of updates at the end",
    band: Band::Within(0.35, 0.65),
    over: Over::Every,
    partner: "planted rates of 90 %",
};
const FROM_ONE: &str = "we started with only one variable and we ended up learning models with around 12 features, giving a classification error ≈ \
                        15%";
const SIZE_ONE: Claim = Claim {
    name: "features from one",
    source: Source::Paper,
    place: "section 6.3",
    quote: FROM_ONE,
    says: "",
    quantity: "features of exact chains that start with one",
    band: Band::Within(9.0, 15.0),
    over: Over::Every,
    partner: "planted chains of 30 features",
};
const ERROR_ONE: Claim = Claim {
    name: "error from one",
    quantity: "share of held-out rows misclassified by exact chains that start with one feature",
    band: Band::Within(0.13, 0.17),
    partner: "planted chains that misclassify a third",
    ..SIZE_ONE
};
const FROM_MODE: &str = "if we initialize the sampler with all features included and initialize β to the MAP value, we learn models with around 45 \
                         features, but with a lower classification error ≈ 10%";
const SIZE_MODE: Claim = Claim {
    name: "features from the mode",
    quote: FROM_MODE,
    quantity: "features of exact chains that start with all",
    band: Band::Within(40.0, 50.0),
    ..SIZE_ONE
};
const ERROR_MODE: Claim = Claim {
    name: "error from the mode",
    quote: FROM_MODE,
    quantity: "share of held-out rows misclassified by exact chains that start with all features",
    band: Band::Within(0.08, 0.12),
    partner: "planted chains that misclassify a third",
    ..SIZE_ONE
};
const MINIMA: Claim = Claim {
    name: "local minima",
    source: Source::Paper,
    place: "section 6.3",
    quote: "The model also suffers from local minima. … Both the exact reversible jump algorithm and our approximate version suffer from this problem",
    says: "Chains end where their start has put them: sizes that differ by more than one feature.",
    quantity: "features of chains from the mode less those of chains from one feature, exact and with the test",
    band: Band::Above(1.0),
    over: Over::Every,
    partner: "planted chains that all have the same size",
};
const LONG: Claim = Claim {
    name: "local minima, long runs",
    source: Source::Own,
    place: "after section 6.3",
    quote: "",
    says: "A difference that fades with time is slow mixing, not a local minimum: the same of the long exact runs.",
    quantity: "features of long exact runs from the mode less those from one feature",
    ..MINIMA
};
const SIMILAR: Claim = Claim {
    name: "inclusion probabilities",
    source: Source::Paper,
    place: "section 6.3; supplement E, figure 13",
    quote: "when initialized with the same values, we obtain similar results with the approximate algorithm and the exact algorithm",
    says: "\"Similar\" is read as a root mean square difference below 0.1.",
    quantity: "mean squared difference of the inclusion probabilities, exact and with the test, without what noise between chains adds",
    band: Band::Below(0.01),
    over: Over::Every,
    partner: "planted probabilities off by 0.3",
};

pub(crate) const CLAIMS: &[Claim] = &[
    LOWEST, SPEED, FADE, FIRST, LAST, UPDATES, SIZE_ONE, ERROR_ONE, SIZE_MODE, ERROR_MODE, MINIMA, LONG,
    SIMILAR,
];

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn label(epsilon: f64) -> String {
    if epsilon == 0.0 { "exact".into() } else { format!("ε = {epsilon}") }
}

/// Risk and speed.
pub(super) fn risk(problem: &Problem, found: &Found) -> Vec<Check> {
    let Some((exact, tests)) = found.groups.split_first() else { return Vec::new() };
    let curves: Vec<(f64, &[Point])> =
        tests.iter().map(|group| (group.epsilon, group.curve.as_slice())).collect();
    let mut checks = lowest(&exact.curve, &curves, (found.textbook, found.truth.error()));
    let speeds: Vec<(f64, Vec<f64>)> = tests.iter().map(|group| (group.epsilon, group.speeds())).collect();
    let words = |group: &Group| {
        format!("{} of the rows at ε = {}", percent(group.data_share(found.rows)), group.epsilon)
    };
    let words = tests.iter().map(words).collect::<Vec<_>>().join(", ");
    checks.push(faster(&exact.speeds(), &speeds, 1.0).about("against our exact rule").also(words).remark(
        "Our exact chain keeps its linear predictor, so a row costs it one column. The test reads k + 1 columns of the rows it draws.",
    ));
    let slower = found.textbook.slower;
    checks.push(
        faster(&exact.speeds(), &speeds, slower)
            .about("against the textbook's loop")
            .also(format!("its steps take {slower:.2} times as long as ours")),
    );
    named(problem, checks)
}

/// Steps per second of the chains of each ε over those of exact ones, which are so many times slower.
pub(super) fn faster(exact: &[f64], tests: &[(f64, Vec<f64>)], slower: f64) -> Check {
    let exact = Estimate::mean("", exact);
    let ratio = |(epsilon, speeds): &(f64, Vec<f64>)| {
        let test = Estimate::mean("", speeds);
        let error = (test.error / test.value).hypot(exact.error / exact.value);
        Estimate::ratio(label(*epsilon), slower * test.value / exact.value, (error, exact.freedom))
    };
    Check::of(&SPEED, tests.iter().map(ratio).collect())
}

/// Which rule has the lowest risk at the end, against both baselines along both axes; `floor` is the squared error of the truth.
pub(super) fn lowest(
    exact: &[Point],
    tests: &[(f64, &[Point])],
    (textbook, floor): (Textbook, f64),
) -> Vec<Check> {
    let held = |Comparison { name, along, exact }: Comparison| {
        let end = reached(tests.iter().map(|(_, curve)| *curve).chain([&exact[..]]), along);
        let ratio =
            |(epsilon, curve): &(f64, &[Point])| risk_ratio(&label(*epsilon), (&exact, curve), (along, end?));
        let check = Check::of(&LOWEST, tests.iter().filter_map(ratio).collect()).about(name);
        let least = tests.iter().filter_map(|(_, curve)| curve.last()).map(|point| point.risk.total);
        let near = least.fold(f64::INFINITY, f64::min) < 3.0 * floor;
        check.remark(if near {
            format!("The long exact run that serves as truth is itself only known to {floor:.1e}.")
        } else {
            String::new()
        })
    };
    comparisons(exact, Some(textbook)).into_iter().map(held).collect()
}

/// The checks of one of several data sets.
fn named(problem: &Problem, checks: Vec<Check>) -> Vec<Check> {
    let name = |check: Check| {
        let subject = if check.subject.is_empty() {
            problem.title.to_owned()
        } else {
            format!("{}; {}", problem.title, check.subject)
        };
        check.about(subject)
    };
    checks.into_iter().map(name).collect()
}

/// Acceptance, sizes, errors.
pub(super) fn moves(problem: &Problem, found: &Found) -> Vec<Check> {
    let complete = problem.name == "miniboone";
    let rates = acceptance(&found.groups[0].rates())
        .into_iter()
        .map(|check| if check.name == FADE.name { check } else { check.undecided_if(!complete, OTHER_DATA) });
    let mut checks: Vec<Check> = rates.collect();
    if let Some(updates) = checks.iter_mut().find(|check| check.name == UPDATES.name) {
        *updates = updates
            .clone()
            .remark(format!("σ_update = {:.4}, set by the number of rows alone.", update_sd(found.rows)));
    }
    let ends = |group: &Group| (group.sizes(), group.errors(problem));
    let (one, mode) = (ends(&found.groups[0]), ends(&found.from_mode[0]));
    checks.extend(
        sizes((&one.0, &one.1), (&mode.0, &mode.1)).map(|check| check.undecided_if(!complete, OTHER_DATA)),
    );
    let pairs = [(&found.groups[0], &found.from_mode[0]), (&found.groups[MIDDLE], &found.from_mode[1])];
    let pairs = pairs.map(|(one, mode)| (label(one.epsilon), one.sizes(), mode.sizes()));
    checks.extend(minima(&pairs, (&found.truth.sizes(), &found.truth_from_mode.sizes())));
    named(problem, checks)
}

/// Moves of one chain: early and late.
pub(super) type Rates = (JumpTally, JumpTally);

/// How often births, deaths and updates are accepted, chain by chain.
pub(super) fn acceptance(chains: &[Rates]) -> Vec<Check> {
    let both = |tally: &JumpTally| {
        let sum = |of: fn(&JumpTally, JumpMove) -> u64| {
            (of(tally, JumpMove::Birth) + of(tally, JumpMove::Death)) as f64
        };
        sum(JumpTally::accepted) / sum(JumpTally::proposed).max(1.0)
    };
    let mean = |of: &dyn Fn(&Rates) -> f64| Estimate::mean("", &chains.iter().map(of).collect::<Vec<_>>());
    let (first, last) = (mean(&|chain| both(&chain.0)), mean(&|chain| both(&chain.1)));
    // The difference to half of it, chain by chain, has the sign of the claim and no quotient of small numbers.
    let relative = (last.error / last.value.max(1e-9)).hypot(first.error / first.value.max(1e-9));
    let fall = Estimate::ratio("", last.value / first.value, (relative, first.freedom));
    let words =
        format!("{} in the first 127 steps, {} at the end", percent(first.value), percent(last.value));
    vec![
        Check::of(&FADE, vec![fall]).also(words),
        Check::of(&FIRST, vec![first]),
        Check::of(&LAST, vec![last]),
        Check::of(&UPDATES, vec![mean(&|chain| chain.1.acceptance(JumpMove::Update))]),
    ]
}

/// Where exact chains end that begin with one feature and with all: sizes and errors, chain by chain.
pub(super) fn sizes(one: (&[f64], &[f64]), mode: (&[f64], &[f64])) -> [Check; 4] {
    let check = |claim: &Claim, values: &[f64]| Check::of(claim, vec![Estimate::mean("", values)]);
    [check(&SIZE_ONE, one.0), check(&ERROR_ONE, one.1), check(&SIZE_MODE, mode.0), check(&ERROR_MODE, mode.1)]
}

/// Whether the two starts end apart: a rule's name with the sizes of its chains from one feature and from the mode; the same of long runs.
pub(super) fn minima(rules: &[(String, Vec<f64>, Vec<f64>)], long: (&[f64], &[f64])) -> [Check; 2] {
    let gap = |label: &str, one: &[f64], mode: &[f64]| {
        let (a, b) = (Estimate::mean("", one), Estimate::mean("", mode));
        Estimate::new(label, b.value - a.value, (a.error.hypot(b.error), a.freedom.min(b.freedom)))
    };
    [
        Check::of(&MINIMA, rules.iter().map(|(name, one, mode)| gap(name, one, mode)).collect()),
        Check::of(&LONG, vec![gap("", long.0, long.1)]),
    ]
}

/// Whether inclusion probabilities agree.
pub(super) fn inclusion(problem: &Problem, found: &Found) -> Vec<Check> {
    let pairs = [
        ("from one feature", &found.groups[0], &found.groups[BARS]),
        ("from one feature", &found.groups[0], &found.groups[MIDDLE]),
        ("from the mode", &found.from_mode[0], &found.from_mode[1]),
    ];
    let compare = |(start, exact, test): (&str, &Group, &Group)| {
        let (a, b) = (exact.mean_inclusion(), test.mean_inclusion());
        let far = |&i: &usize, &j: &usize| (a[i] - b[i]).abs().total_cmp(&(a[j] - b[j]).abs());
        let worst = (0..a.len()).max_by(far).unwrap_or(0);
        let name = problem.model.feature_names().get(worst).map_or("", String::as_str);
        similar(&exact.inclusion(), &test.inclusion())
            .also(format!("largest difference: {name} {:.2} against {:.2}", a[worst], b[worst]))
            .about(format!("{start}, ε = {}", test.epsilon))
    };
    named(problem, pairs.into_iter().map(compare).collect())
}

/// Mean squared difference of inclusion probabilities of two sets of chains, unbiased, with its error by leaving out one chain at a time.
pub(super) fn similar(exact: &[&[f64]], test: &[&[f64]]) -> Check {
    let distance = |a: &[&[f64]], b: &[&[f64]]| {
        let features = a.first().map_or(0, |list| list.len());
        let moments = |lists: &[&[f64]], j: usize| {
            let n = lists.len() as f64;
            let mean = lists.iter().map(|list| list[j]).sum::<f64>() / n;
            (mean, lists.iter().map(|list| (list[j] - mean).powi(2)).sum::<f64>() / (n - 1.0) / n)
        };
        let one = |j: usize| {
            let ((x, v), (y, w)) = (moments(a, j), moments(b, j));
            (x - y).powi(2) - v - w
        };
        (0..features).map(one).sum::<f64>() / features as f64
    };
    let without = |lists: &[&[f64]], out: usize| -> Vec<f64> {
        let kept = lists.iter().enumerate().filter(|(place, _)| *place != out);
        kept.flat_map(|(_, list)| list.iter().copied()).collect()
    };
    let width = exact.first().map_or(1, |list| list.len()).max(1);
    let spread = |lists: &[&[f64]], of: &dyn Fn(&[&[f64]]) -> f64| {
        let values: Vec<f64> = (0..lists.len())
            .map(|out| {
                let kept = without(lists, out);
                of(&kept.chunks(width).collect::<Vec<_>>())
            })
            .collect();
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() * (n - 1.0) / n
    };
    let error =
        (spread(exact, &|kept| distance(kept, test)) + spread(test, &|kept| distance(exact, kept))).sqrt();
    let freedom = exact.len().min(test.len()) as f64 - 1.0;
    Check::of(&SIMILAR, vec![Estimate::new("", distance(exact, test), (error, freedom))])
}
