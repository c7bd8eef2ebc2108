//! `austerity fit` on a terminal: a live line while things are prepared, one line per chain while they run, words or JSON at the end.

use austerity::run::{Control, Observer, Progress, Settings, UNBOUNDED};
use austerity_fit::fit::{self, Display, Host};
use austerity_fit::output::{Failure, json, say};
use austerity_fit::parts;
use austerity_fit::request::Common;
use austerity_fit::runs::{Overview, summary};
use austerity_fit::{Line, Request};
use austerity_io::text::printable_lines;

use crate::arguments::{FitArguments, UpdateArguments};
use crate::engine;
use crate::interrupt;

/// Runs the fit; tells whether its result may be trusted.
pub(crate) fn run(common: &Common, arguments: &FitArguments) -> Result<bool, Failure> {
    if arguments.prior_only {
        let request = Request { out: None, ..arguments.request(common)? };
        return fit::prior_table::run(common, &request, arguments.prior_draws()).map(|()| true);
    }
    let asked = Asked { name: "fit", json_progress: arguments.json_progress, dry_run: arguments.dry_run };
    let request = arguments.request(common)?;
    match engine::named(arguments.engine.as_deref())? {
        Some(engine) if !arguments.dry_run => {
            let mut host = Terminal::new(common, &asked);
            Ok(fit::run_by(&*engine, None, &request, &mut host)?.verdict.trusted())
        }
        _ => asked_for(common, &request, &asked),
    }
}

/// Adds new rows to a run; tells whether its result may be trusted.
pub(crate) fn update(common: &Common, arguments: &UpdateArguments) -> Result<bool, Failure> {
    let asked = Asked { name: "update", json_progress: arguments.json_progress, dry_run: false };
    let engine = engine::named(arguments.engine.as_deref())?;
    let (old, arrivals, request) = arguments.asked(common);
    let mut host = Terminal::new(common, &asked);
    Ok(parts::update((old, &arrivals), &request, engine.as_deref(), &mut host)?.verdict.trusted())
}

/// How a command that draws is to go on.
pub(crate) struct Asked {
    /// The command.
    pub(crate) name: &'static str,
    pub(crate) json_progress: bool,
    pub(crate) dry_run: bool,
}

/// Runs what is asked for; tells whether its result may be trusted.
pub(crate) fn asked_for(common: &Common, request: &Request, asked: &Asked) -> Result<bool, Failure> {
    let mut host = Terminal::new(common, asked);
    if asked.dry_run {
        let plan = fit::plan(request, &mut host)?;
        host.line.clear();
        let told = if common.json { json(&plan) } else { say(plan.words(host.dialect())) };
        return told.map(|()| true);
    }
    Ok(fit::run(request, &mut host)?.verdict.trusted())
}

struct Terminal<'a> {
    common: &'a Common,
    json: bool,
    line: Line,
    display: Option<Display>,
}

impl<'a> Terminal<'a> {
    fn new(common: &'a Common, asked: &Asked) -> Self {
        Self { common, json: asked.json_progress, line: Line::new(asked.name), display: None }
    }
}

impl Observer for Terminal<'_> {
    fn progress(&mut self, progress: &Progress) {
        if let Some(display) = &mut self.display {
            display.progress(progress);
        }
    }
}

impl Host for Terminal<'_> {
    fn control(&self) -> Control {
        interrupt::control()
    }

    fn note(&mut self, doing: &str) {
        self.line.note(doing);
    }

    fn plan(&mut self, text: &str) -> Result<(), Failure> {
        self.line.clear();
        if self.common.json { Ok(()) } else { say(text) }
    }

    fn warn(&mut self, text: &str) {
        self.line.clear();
        eprintln!("austerity: {}", printable_lines(text));
    }

    fn begin(&mut self, settings: &Settings) {
        self.line.clear();
        self.display = Some(Display::new(self.json, settings.first_chain, settings.draws < UNBOUNDED));
    }

    fn end(&mut self) {
        self.display = None;
    }

    fn told(&mut self, overview: &Overview) -> Result<(), Failure> {
        self.line.clear();
        summary::print(self.common, overview)
    }
}
