//! Requests survive the file that keeps them.

use std::time::Duration;

use austerity::rule::Law;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![1e-9..1e9_f64, Just(0.1), Just(1.0 / 3.0)]
}

fn name() -> impl Strategy<Value = String> {
    "[a-zA-Z=_. '\"é-]{1,8}"
}

fn prior() -> impl Strategy<Value = Prior> {
    (number(), number(), number(), 0..7_u8).prop_map(|(freedom, mean, sd, kind)| match kind {
        0 => Prior::Flat,
        1 => Prior::Normal { mean, sd },
        2 => Prior::Laplace { mean: -mean, scale: sd },
        3 => Prior::Student { freedom, mean, scale: sd },
        4 => Prior::HalfStudent { freedom, scale: sd },
        5 => Prior::Exponential { rate: sd },
        _ => Prior::LogNormal { mean: -mean, sd },
    })
}

fn proposal() -> impl Strategy<Value = ProposalChoice> {
    use ProposalChoice::{Adaptive, Auto, Langevin, Laplace, RandomWalk, SurrogateHmc};
    (number(), 0..6_u8).prop_map(|(sd, kind)| {
        [Auto, Adaptive, Laplace, SurrogateHmc, RandomWalk(sd), Langevin(sd % 1.9 + 0.01)][usize::from(kind)]
    })
}

fn shape() -> impl Strategy<Value = ShapeOptions> {
    let laws = prop_oneof![
        Just(LawChoice::Compensated),
        Just(LawChoice::Given(Law::Logistic)),
        number().prop_map(|lambda| LawChoice::Given(Law::Compensated { lambda })),
    ];
    let bounds = (number(), number(), 0..3_u8).prop_map(|(critical, alpha, kind)| {
        [BoundChoice::Pocock, BoundChoice::ObrienFleming, BoundChoice::WangTsiatis { critical, alpha }]
            [usize::from(kind)]
    });
    let audits = prop_oneof![Just(AuditChoice::Auto), (0.0..=1.0_f64).prop_map(AuditChoice::Rate)];
    let surrogates = select(vec![SurrogateChoice::Auto, SurrogateChoice::None, SurrogateChoice::Order(3)]);
    let rules = select(RuleChoice::all()).prop_map(|(rule, ..)| rule);
    let words = (
        of(rules),
        of(Just(Preset::Paper)),
        of(bounds),
        of(laws),
        of(surrogates),
        of(audits),
        of(proposal()),
    );
    let priors = proptest::collection::btree_map(name(), prior(), 0..3);
    let numbers = (of(number()), of(number()), of(number()), of(1..1000_usize));
    let counts = (of(any::<u32>()), of(0..1_u64 << 62), of(proptest::collection::vec(name(), 0..3)));
    (words, of(prior()), of(prior()), priors, numbers, counts).prop_map(
        |(words, prior, prior_intercept, priors, numbers, counts)| ShapeOptions {
            prior,
            prior_intercept,
            prior_group: prior_intercept,
            keep_groups: counts.0.is_some(),
            rule: words.0,
            preset: words.1,
            bound: words.2,
            law: words.3,
            surrogate: words.4,
            audit: words.5,
            proposal: words.6,
            epsilon: numbers.0,
            growth: numbers.1,
            stop_at: numbers.2,
            tolerance: numbers.0,
            batch: numbers.3,
            block_rows: numbers.3,
            chains: counts.0,
            first_chain: counts.0,
            warmup: counts.1,
            thin: counts.1,
            keep: counts.2,
            priors,
        },
    )
}

fn data() -> impl Strategy<Value = DataOptions> {
    let names = || proptest::collection::vec(name(), 0..3);
    let references = proptest::collection::vec(("[a-z]{1,5}", name()), 0..3);
    let families = select(FamilyChoice::all()).prop_map(|(family, ..)| family);
    let files = (name(), proptest::collection::vec(name(), 0..3));
    let missing = of(select(MissingChoice::all())).prop_map(|chosen| chosen.map(|(missing, ..)| missing));
    let flags = (any::<[bool; 2]>(), missing);
    (files, of(name()), of(names()), names(), references, of(families), flags).prop_map(
        |(
            (file, further),
            role,
            features,
            categorical,
            references,
            family,
            ([no_intercept, standardize], missing),
        )| DataOptions {
            sample_rows: None,
            memory: None,
            file: file.into(),
            further: further.into_iter().map(Into::into).collect(),
            response: role.clone(),
            formula: role.clone(),
            features,
            categorical,
            success: role.clone(),
            reference: references.into_iter().map(|(column, level)| Reference { column, level }).collect(),
            weights: role.clone(),
            trials: role.clone(),
            event: role.clone(),
            offset: role,
            no_intercept,
            standardize,
            missing,
            family,
        },
    )
}

fn request() -> impl Strategy<Value = Request> {
    let length = (of(0..1_u64 << 62), of((0..1_u64 << 40, 0..1_000_000_000_u32)), of(number())).prop_map(
        |(draws, budget, number)| LengthOptions {
            draws,
            budget: budget.map(|(seconds, nanos)| Duration::new(seconds, nanos)),
            evaluations: number,
            target_ess: number,
            max_disk: draws,
        },
    );
    (of(name()), any::<bool>(), of(0..1_u64 << 62), 0..64_usize, data(), length, shape()).prop_map(
        |(out, resume, seed, threads, data, length, shape)| Request {
            part: None,
            out: out.map(Into::into),
            resume,
            seed,
            threads,
            data,
            length,
            shape,
        },
    )
}

proptest! {
    /// Whatever is asked for is what its file says, to the bit.
    #[test]
    fn requests_survive_their_file(request in request()) {
        let text = toml::to_string_pretty(&request).map_err(|error| TestCaseError::fail(error.to_string()))?;
        let again: Request = toml::from_str(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
        prop_assert_eq!(&again, &request, "{}", text);
        // A request that differs has another file.
        let other = Request { threads: request.threads + 1, ..request };
        prop_assert_ne!(toml::to_string_pretty(&other).ok(), Some(text));
    }
}

#[test]
fn builders_set_what_they_name() {
    let built = Request::logistic("flights.parquet", "delayed")
        .draws(2_000)
        .rule(RuleChoice::Exact)
        .reference("airport", "JFK")
        .prior_of("distance", Prior::Flat)
        .budget(Duration::from_secs(60))
        .out("run");
    let text = r#"
        out = "run"
        [data]
        file = "flights.parquet"
        response = "delayed"
        family = "logistic"
        reference = ["airport=JFK"]
        [length]
        draws = 2000
        budget = "1m"
        [shape]
        rule = "exact"
        priors = { distance = "flat" }
    "#;
    assert_eq!(toml::from_str::<Request>(text), Ok(built));
    let wrong = toml::from_str::<Request>("[shape]\nproposal = \"jump\"").map_err(|error| error.to_string());
    assert!(wrong.is_err_and(|error| error.contains("`jump`") && error.contains("random-walk:SD")));
}
