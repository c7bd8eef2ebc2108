//! `austerity report RUN`: one page about a run, `RUN/report.html`.

use std::path::Path;

use austerity::rule::RuleSettings;
use austerity::theory::TestPlan;
use austerity_io::run::DrawsReader;
use austerity_io::seal;

use super::{Folder, Overview, RunFile, about, after};
use crate::fit::plan::words;
use crate::output::{Failure, json, say};
use crate::report::{ParameterDraws, PlannedTest, Report, Verdict, page};
use crate::request::{Common, Dialect};
use crate::verdict::checks;

/// Draws of every chain that go into pictures.
const SHOWN: usize = 2_000;

/// Writes the page.
pub fn run(common: &Common, run: &Path, out: Option<&Path>) -> Result<(), Failure> {
    let folder = Folder::new(run);
    let overview = Overview::read(&folder, Dialect::Shell)?;
    let target = out.map_or_else(|| folder.file("report.html"), Into::into);
    write(&folder, &overview, &target)?;
    if common.json {
        return json(&serde_json::json!({"report": target, "trusted": overview.verdict.trusted()}));
    }
    say(format!("Wrote {}. Open it in a browser; it needs no network.", target.display()))
}

/// Writes the page of the run at `run` to `target`.
pub fn save(run: &Path, target: &Path) -> Result<(), Failure> {
    let folder = Folder::new(run);
    write(&folder, &Overview::read(&folder, Dialect::Shell)?, target)
}

/// Writes the page of a run just read.
pub(crate) fn write(folder: &Folder, overview: &Overview, target: &Path) -> Result<(), Failure> {
    let comment = format!("<!DOCTYPE html>\n<!-- checksum {} -->\n", seal::PLACE);
    let text = page(&report(folder, overview)?).replacen("<!DOCTYPE html>\n", &comment, 1);
    austerity_io::run::write_file(target, seal::apply(&text).as_bytes())?;
    Ok(())
}

fn report(folder: &Folder, overview: &Overview) -> Result<Report, Failure> {
    let reader = folder.reader()?;
    let run = &overview.run;
    let thinned = reader.thinned(SHOWN)?;
    let names = reader.names();
    let width = names.len();
    let parameters = names
        .into_iter()
        .enumerate()
        .map(|(place, name)| {
            let column = |chain: &Vec<f64>| chain.iter().skip(place).step_by(width).copied().collect();
            ParameterDraws { name, chains: thinned.values.iter().map(column).collect() }
        })
        .collect();
    let rows = run.plan.population() as f64;
    // Of a trusted run, the reader does what is to be done next.
    let sentences = if overview.verdict.trusted() { overview.findings() } else { overview.sentences() };
    let used = statistic(&reader, "data_used", &thinned.draws)?;
    let accepted = statistic(&reader, "accepted", &thinned.draws)?;
    let chain_numbers =
        reader.chain_numbers().into_iter().map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    let shown = folder.path().canonicalize().unwrap_or_else(|_| folder.path().into());
    let title = shown.file_name().map_or_else(|| "run".into(), |name| name.to_string_lossy().into_owned());
    Ok(Report {
        title,
        about: about::lines(&run.plan),
        checks: checks::of(overview).iter().map(checks::Check::cells).collect(),
        meaning: about::meaning(&run.plan),
        verdict: if overview.verdict.trusted() { Verdict::Trusted } else { Verdict::Untrusted },
        sentences,
        summary: overview.summary.clone(),
        parameters,
        chain_numbers: chain_numbers.collect(),
        draws: overview.draws as u64,
        data_used: used.iter().map(|chain| chain.iter().map(|value| value / rows).collect()).collect(),
        accepted: accepted.iter().map(|chain| chain.iter().map(|&value| value != 0.0).collect()).collect(),
        groups: overview.groups.clone(),
        test: planned(run, &reader, &thinned.draws)?,
        after: after::answers(folder.path()),
        settings: settings(run, overview),
        made: format!("austerity {}, run begun {}", run.version, run.created),
    })
}

/// A statistic at the draws that are shown.
fn statistic(reader: &DrawsReader, name: &str, draws: &[usize]) -> Result<Vec<Vec<f64>>, Failure> {
    Ok(reader.statistic_at(name, draws)?)
}

/// The test of the run, with κ = √N·sd of its decisions.
fn planned(run: &RunFile, reader: &DrawsReader, draws: &[usize]) -> Result<Option<PlannedTest>, Failure> {
    let RuleSettings::Sequential(settings) = &run.plan.settings.rule else { return Ok(None) };
    let plan = TestPlan::of_settings(settings, run.plan.population())?;
    let root = (run.plan.population() as f64).sqrt();
    let kappas = statistic(reader, "mu_sd", draws)?
        .into_iter()
        .flatten()
        .map(|sd| root * sd)
        .filter(|kappa| kappa.is_finite() && *kappa > 0.0)
        .collect();
    Ok(Some(PlannedTest { plan, law: settings.law, kappas }))
}

fn settings(run: &RunFile, overview: &Overview) -> Vec<(String, Vec<(String, String)>)> {
    let pair = |name: &str, value: String| (name.to_owned(), value);
    let s = &run.plan.settings;
    let mut data = vec![
        pair("file", run.plan.data.file.display().to_string()),
        pair("rows", run.plan.data.rows.to_string()),
        pair("response", run.plan.recipe.response.clone()),
    ];
    data.extend(about::success(&run.plan).map(|class| pair("success", class)));
    data.extend(
        about::references(&run.plan.recipe)
            .into_iter()
            .map(|(column, level)| pair(&format!("reference level of {column}"), level)),
    );
    data.extend([pair("fingerprint", run.plan.data.fingerprint.clone())]);
    data.extend(run.plan.remarks().into_iter().map(|remark| pair("noticed", remark)));
    let mut model = vec![pair("family", run.plan.model.family.words())];
    model.extend(
        run.plan
            .model
            .priors
            .iter()
            .map(|p| pair(&format!("prior of {}", p.parameter), about::rounded(&p.prior))),
    );
    let decision = vec![
        pair("rule", words::rule(&s.rule)),
        pair("why", words::why(&run.plan)),
        pair("tolerance", run.plan.decision.tolerance.to_string()),
        pair("audited share", s.audit.to_string()),
    ];
    let length = vec![
        pair("chains", format!("{}, from number {}", s.chains, s.first_chain)),
        pair("warm-up", s.warmup.to_string()),
        pair("draws", overview.draws.to_string()),
        pair("steps per draw", s.thin.to_string()),
        pair("draws per stored draw", overview.stored_every.to_string()),
        pair("seed", s.seed.to_string()),
        pair("ended", overview.saved.ended.clone().unwrap_or_else(|| "still running, or killed".into())),
    ];
    let mut decision = decision;
    if let Some(plan) = &run.plan.budget {
        decision.push(pair("budget", plan.sentence()));
        decision.extend(plan.words().into_iter().map(|words| pair("stretch", words)));
    }
    vec![
        ("Data".into(), data),
        ("Model".into(), model),
        ("Decision".into(), decision),
        ("Proposal".into(), vec![pair("proposal", words::proposal(&run.plan.proposal))]),
        ("Length".into(), length),
    ]
}
