//! From a failed search to counterexamples: each schedule is executed again and told before it is believed.

use super::formulas::Judgement;
use super::request::Wanted;
use super::search::Searched;
use super::setup::Setup;
use super::traffic::{peers, traffic};
use super::{record, tell, variants};
use crate::checked::Checked;
use crate::progress::ProgressLine;
use crate::saved::Saved;
use checker::narrate::Told;
use checker::narrate::program_replay::ProgramReplay;
use checker::{Depth, Difference, Earlier, Engine, MemoryModel, Programs, Scheduler, StoreBuffers};
use explore::graph::{Found, Mode, Race};
use explore::system::Failure;
use replay::{Budget, fails_with, shorten};
use report::Sources;
use std::collections::BTreeSet;
use trace::{Choice, Counterexample, FailureKind, RaceRef, Schedule};

/// Instructions that shortening may execute: a fraction of a second, however long the steps of a program are.
const SHORTENING: Budget = Budget { work: 10_000_000 };
/// Schedules longer than this are not shortened: each attempt would eat much of the budget.
const SHORTENED_MAX: usize = 500;

/// What a search has shown.
#[derive(Default)]
pub struct Evidence {
    /// Failures that were shown again.
    pub counterexamples: Vec<Counterexample>,
    /// Failures that were not: bugs of ours.
    pub unconfirmed: Vec<String>,
    /// Their kinds.
    doubtful: Vec<FailureKind>,
    /// Kinds of failures that there was no time to show again.
    left: Vec<FailureKind>,
    /// Whether interleavings were left out: then livelocks may have been, too.
    pub is_reduced: bool,
    /// How the C library was looked at.
    pub libraries: Libraries,
    /// Peers, with how much was said to them.
    pub peers: Vec<String>,
    /// What was carried out with each of them.
    pub traffic: Vec<Vec<String>>,
    /// Whether the search needed store buffers.
    pub store_buffers: StoreBuffers,
    /// Faults that were allowed and never reached.
    pub unreached_faults: Vec<String>,
    /// Formulas that unfair runs violate, and no fair one.
    pub needs_fairness: Vec<String>,
    /// Formulas that hold because a proposition is never true, each with that.
    pub vacuous: Vec<(String, String)>,
    /// Formulas whose runs could not all be searched within the limits.
    pub cut_formulas: Vec<String>,
}

impl Evidence {
    /// Whether a failure of a kind was met that could not be shown again.
    pub fn is_doubtful(&self, kind: FailureKind) -> bool {
        self.doubtful.contains(&kind)
    }

    fn doubt_because(&mut self, failure: &Failure, difference: &Difference, file: Option<String>) {
        let file = file.map(|file| format!("; kept in {file}")).unwrap_or_default();
        self.unconfirmed.push(format!("{}: {difference}{file}", failure.message));
        self.doubtful.push(failure.kind);
    }

    fn doubt(&mut self, failure: &Failure) {
        self.unconfirmed.push(failure.message.clone());
        self.doubtful.push(failure.kind);
    }

    /// There was no time to show it again.
    fn leave(&mut self, failure: &Failure) {
        self.left.push(failure.kind);
    }

    /// Whether a failure of a kind was met that there was no time to show again.
    pub fn is_left(&self, kind: FailureKind) -> bool {
        self.left.contains(&kind)
    }

    fn has(&self, failure: &Failure) -> bool {
        let name = tell::property_name(failure);
        self.counterexamples.iter().any(|known| known.property.kind == failure.kind && known.property.name == name)
    }
}

/// What is known of the C libraries at the end of a search.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Libraries {
    /// How they were looked at.
    pub told: String,
    /// Words that were made visible.
    pub promoted: u64,
    /// Runtimes that schedule inside of threads.
    pub schedulers: BTreeSet<Scheduler>,
}

/// What came of executing a schedule again.
enum Again {
    /// The same failure, told.
    Told(Box<Told>),
    /// The time was over before it could be told, or even executed.
    Untold {
        /// Whether the same failure was seen again.
        is_confirmed: bool,
    },
    /// Something else.
    Different,
}

/// Everything that is needed to make counterexamples.
pub struct Court<'a> {
    /// The programs, with what the search has learnt of them.
    pub programs: &'a mut Programs,
    /// What was started.
    pub setup: &'a Setup,
    /// What was asked for.
    pub wanted: &'a Wanted,
    /// Where it is shown what takes long after the search.
    pub line: ProgressLine,
}

impl Court<'_> {
    /// Executes what was found again, and keeps what fails again.
    pub fn collect(&mut self, searched: &Searched) -> Evidence {
        let is_reduced = !matches!(searched.engine, Engine::Graph { mode: Mode::Full, .. });
        let (libraries, peers, traffic) = (libraries(self.programs), peers(self.programs), traffic(self.programs));
        let unreached_faults = self.programs.unreached_faults().into_iter().map(str::to_owned).collect();
        let store_buffers = self.programs.store_buffers();
        let mut evidence =
            Evidence { libraries, peers, traffic, unreached_faults, store_buffers, is_reduced, ..Evidence::default() };
        self.at_the_start(&mut evidence);
        self.tell_phase(searched);
        self.variants(&searched.variants, &mut evidence);
        self.failures(&searched.outcome.report.found, &mut evidence);
        if let Some(earlier) = &searched.outcome.earlier {
            self.earlier(earlier, &mut evidence);
        }
        if self.wanted.wants(FailureKind::Livelock) {
            self.livelocks(searched, &mut evidence);
        }
        if self.wanted.request.wants(FailureKind::Race) {
            self.races(searched, &mut evidence);
        }
        self.formulas(&searched.judged, &mut evidence);
        self.line.clear();
        evidence
    }

    /// Says what was found before it is shortened and told, which may take longer than the reader expects.
    fn tell_phase(&self, searched: &Searched) {
        if let Some(found) = searched.outcome.report.found.first() {
            let what = noun(found.failure.kind);
            self.line
                .show_phase(searched.seconds, || format!("found {what} after {:.0} s; shortening", searched.seconds));
        }
    }

    /// Executes the schedules of failures again.
    fn failures(&mut self, all: &[Found], evidence: &mut Evidence) {
        for found in all {
            if evidence.has(&found.failure) && !self.wanted.shows_all() {
                continue;
            }
            self.failure(found, evidence);
        }
    }

    /// Executes two schedules again of which each contradicts the other.
    fn variants(&mut self, all: &[Found], evidence: &mut Evidence) {
        variants::refuse_all(self.programs, true);
        all.iter().for_each(|found| self.failure(found, evidence));
        variants::refuse_all(self.programs, false);
    }

    /// Executes the schedule of a failure again.
    fn failure(&mut self, found: &Found, evidence: &mut Evidence) {
        let found = &self.shortened(found);
        match self.again(found) {
            Again::Told(told) => {
                let notes = inevitable(found.inevitable_from, found.schedule.len());
                let failure = told.failure.clone().expect("it failed again");
                let shown = self.counterexample(&failure, &found.schedule, *told, notes, None);
                evidence.counterexamples.push(shown);
            }
            Again::Untold { is_confirmed } => evidence.counterexamples.push(self.untold(found, is_confirmed)),
            Again::Different => {
                let difference = self.programs.difference(found);
                let file = self.keep_unconfirmed(found, &difference);
                evidence.doubt_because(&found.failure, &difference, file);
            }
        }
    }

    /// The same failure by a shorter schedule, or with fewer context switches; as it is if there is none.
    fn shortened(&mut self, found: &Found) -> Found {
        if found.schedule.len() > SHORTENED_MAX {
            return found.clone();
        }
        let schedule = Schedule { choices: found.schedule.clone(), cycle_start: None };
        let folder = self.setup.folder();
        let mut replayed = ProgramReplay::new(self.programs, &folder);
        let short = shorten(&mut replayed, &schedule, SHORTENING, &mut fails_with(&found.failure)).choices;
        if short == found.schedule {
            return found.clone();
        }
        match self.programs.fingerprints(&short) {
            Some(states) => {
                let fingerprint = states.last().copied().unwrap_or(found.fingerprint);
                // From which step on a failure is inevitable is known of the schedule that the search found.
                Found { schedule: short, states, fingerprint, inevitable_from: None, ..found.clone() }
            }
            None => found.clone(),
        }
    }

    /// What an earlier round found and the last one did not, perhaps because it was stopped before.
    fn earlier(&mut self, earlier: &Earlier, evidence: &mut Evidence) {
        let missing = |found: &&Found| !evidence.has(&found.failure) && !evidence.is_doubtful(found.failure.kind);
        let missing: Vec<Found> = earlier.found.iter().filter(missing).cloned().collect();
        if !missing.is_empty() {
            let known = self.programs.learnt();
            self.programs.know(&earlier.refinement);
            self.failures(&missing, evidence);
            self.programs.know(&known);
        }
    }

    /// Keeps what is needed to look into a failure that did not come again; where.
    fn keep_unconfirmed(&mut self, found: &Found, difference: &Difference) -> Option<String> {
        if self.wanted.no_save {
            return None;
        }
        let choice = |choice: &Choice| (choice.actor, choice.index);
        let text = serde_json::json!({
            "commands": self.setup.command_lines(),
            "failure": { "kind": found.failure.kind.name(), "message": found.failure.message },
            "difference": difference.to_string(),
            "schedule": found.schedule.iter().map(choice).collect::<Vec<_>>(),
            "states": found.states.iter().map(|state| format!("{state:032x}")).collect::<Vec<_>>(),
            "knowledge": self.programs.learnt(),
        });
        Saved::here().save_unconfirmed(&text.to_string()).ok()
    }

    /// Cycles in which somebody moves for ever and nobody gets on: they must come back to where they began.
    fn livelocks(&mut self, searched: &Searched, evidence: &mut Evidence) {
        for livelock in searched.outcome.report.livelocks.iter().take(1) {
            let message = "somebody moves for ever and nobody gets on, although everybody gets its turn".to_owned();
            let failure = Failure { kind: FailureKind::Livelock, message, fatal: false, property: None };
            let schedule: Vec<Choice> = livelock.stem.iter().chain(&livelock.cycle).copied().collect();
            let start = self.told(&livelock.stem).map(|told| told.fingerprint);
            match self.told(&schedule).filter(|told| Some(told.fingerprint) == start) {
                Some(told) => {
                    let mut found = self.counterexample(&failure, &schedule, told, Vec::new(), None);
                    found.schedule.cycle_start = Some(livelock.stem.len());
                    found.trace.cycle_start = Some(livelock.stem.len());
                    evidence.counterexamples.push(found);
                }
                None if self.programs.is_spent() => evidence.leave(&failure),
                None => evidence.doubt(&failure),
            }
        }
    }

    /// Runs that violate formulas: a cycle, or an end at which everything stays as it is.
    fn formulas(&mut self, judged: &[Judgement], evidence: &mut Evidence) {
        for (formula, judgement) in self.programs.formulas().to_vec().iter().zip(judged) {
            let (schedule, needs_fairness) = match judgement {
                Judgement::Violated { schedule, needs_fairness } => (schedule, *needs_fairness),
                Judgement::Holds { vacuous } => {
                    evidence.vacuous.extend(vacuous.iter().map(|text| (formula.name.clone(), text.clone())));
                    continue;
                }
                Judgement::Cut => {
                    evidence.cut_formulas.push(formula.name.clone());
                    continue;
                }
            };
            let failure = formula.failure();
            let told = self.programs.refutes(formula, schedule).then(|| self.told(&schedule.choices)).flatten();
            let Some(told) = told else {
                if self.programs.is_spent() {
                    evidence.leave(&failure);
                } else {
                    evidence.doubt(&failure);
                }
                continue;
            };
            let mut found = self.counterexample(&failure, &schedule.choices, told, Vec::new(), None);
            found.schedule.cycle_start = schedule.cycle_start;
            found.trace.cycle_start = schedule.cycle_start;
            found.fairness = self.wanted.request.fair;
            evidence.counterexamples.push(found);
            if needs_fairness {
                evidence.needs_fairness.push(formula.name.clone());
            }
        }
    }

    /// A proposition that is true before anybody moves.
    fn at_the_start(&mut self, evidence: &mut Evidence) {
        if let Some(text) = self.programs.forbidden_from_the_start() {
            let message = format!("`{text}` is true from the start");
            let failure = Failure { kind: FailureKind::Never, message, fatal: true, property: Some(text) };
            if let Some(told) = self.told(&[]) {
                evidence.counterexamples.push(self.counterexample(&failure, &[], told, Vec::new(), None));
            }
        }
    }

    /// Races of two plain accesses, except on variables that were made for use by several threads at once.
    fn races(&mut self, searched: &Searched, evidence: &mut Evidence) {
        for (race, way) in searched.outcome.ways.iter().filter(|(race, _)| race.plain) {
            let failure =
                Failure { kind: FailureKind::Race, message: "a race".to_owned(), fatal: false, property: None };
            if evidence.has(&failure) && !self.wanted.shows_all() {
                continue;
            }
            if self.programs.is_spent() {
                evidence.leave(&failure);
                return;
            }
            let Some(shown) = self.programs.show_race(race, way) else {
                if !self.programs.is_spent() {
                    evidence.doubt(&failure);
                }
                continue;
            };
            if shown.is_atomic {
                continue;
            }
            let outcomes = self.outcomes(searched, evidence);
            match self.race(race, way, &shown, outcomes) {
                Some(counterexample) => evidence.counterexamples.push(counterexample),
                None if self.programs.is_spent() => evidence.leave(&failure),
                None => evidence.doubt(&failure),
            }
        }
    }

    /// What is known of what races lead to, if all of it was searched and nothing of it fails.
    fn outcomes(&self, searched: &Searched, evidence: &Evidence) -> Option<String> {
        let is_searched = searched.outcome.report.complete
            && [FailureKind::Assert, FailureKind::Crash, FailureKind::Deadlock]
                .iter()
                .all(|kind| self.wanted.wants(*kind));
        let is_harmless = evidence.counterexamples.iter().all(|found| found.property.kind == FailureKind::Race);
        let machine = match self.wanted.view.memory() {
            MemoryModel::Sequential => "with sequential consistency",
            MemoryModel::Tso { .. } => "as this build behaves on x86",
        };
        (is_searched && is_harmless).then(|| format!("no other property is violated by any outcome of it, {machine}"))
    }

    fn race(
        &mut self,
        race: &Race,
        way: &[Choice],
        shown: &checker::narrate::races::Shown,
        outcomes: Option<String>,
    ) -> Option<Counterexample> {
        let message = tell::race_message(race, shown);
        let failure = Failure { kind: FailureKind::Race, message, fatal: false, property: None };
        let [one, other] = shown.choices;
        let schedule: Vec<Choice> = way.iter().copied().chain([one, other]).collect();
        let mut told = self.told(&schedule)?;
        tell::race_sides(&mut told, race, way.len());
        let mut notes = tell::race_notes(shown);
        notes.extend(outcomes);
        let race = RaceRef { object: race.object, one: (one, race.one.1), other: (other, race.other.1) };
        Some(self.counterexample(&failure, &schedule, told, notes, Some(race)))
    }

    /// Executes a schedule again, first without telling it: that is quick, and the time may be over before the rest is done.
    fn again(&mut self, found: &Found) -> Again {
        let is_same = |failure: &Failure| failure.kind == found.failure.kind;
        match self.programs.replayed(&found.schedule) {
            Some((failure, _)) if !failure.as_ref().is_some_and(is_same) => return Again::Different,
            None if !self.programs.is_spent() => return Again::Different,
            None => return Again::Untold { is_confirmed: false },
            Some(_) => {}
        }
        match self.told(&found.schedule) {
            Some(told) if told.failure.as_ref().is_some_and(is_same) => Again::Told(Box::new(told)),
            _ if self.programs.is_spent() => Again::Untold { is_confirmed: true },
            _ => Again::Different,
        }
    }

    /// A counterexample that there was no time to tell.
    fn untold(&mut self, found: &Found, is_confirmed: bool) -> Counterexample {
        let told = Told { failure: Some(found.failure.clone()), fingerprint: found.fingerprint, ..Told::default() };
        let note = match is_confirmed {
            true => "it was stopped before its steps could be told: `allways replay` tells them",
            false => "it was stopped before it could be executed again: `allways replay` does so, and tells its steps",
        };
        let notes = vec![note.to_owned()];
        let mut counterexample = self.counterexample(&found.failure, &found.schedule, told, notes, None);
        if let Some(programs) = &mut counterexample.programs {
            programs.is_unconfirmed = !is_confirmed;
        }
        counterexample
    }

    fn told(&mut self, schedule: &[Choice]) -> Option<Told> {
        self.programs.tell(schedule, &self.setup.folder())
    }

    fn counterexample(
        &mut self,
        failure: &Failure,
        schedule: &[Choice],
        told: Told,
        notes: Vec<String>,
        race: Option<RaceRef>,
    ) -> Counterexample {
        let mut record = record::record(self.programs, self.setup, self.wanted, &told);
        record.race = race;
        let mut counterexample = tell::counterexample(failure, schedule, told, record);
        counterexample.notes.extend(notes);
        counterexample
    }
}

/// A failure of programs in the middle of a sentence.
fn noun(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Deadlock => "a deadlock",
        FailureKind::Assert => "a failed assertion",
        FailureKind::Crash => "a crash",
        FailureKind::Race => "a data race",
        FailureKind::Misuse => "a misused lock",
        FailureKind::Exit => "a program that fails",
        _ => "a violation",
    }
}

fn inevitable(from: Option<usize>, steps: usize) -> Vec<String> {
    from.filter(|from| *from < steps && *from > 0)
        .map(|from| format!("inevitable from step {from} on"))
        .into_iter()
        .collect()
}

fn libraries(programs: &Programs) -> Libraries {
    let known = programs.libraries();
    let told = match (programs.depth(), known.is_empty()) {
        (Depth::Real, _) => "real".to_owned(),
        (Depth::Summary, true) => "real (none was recognised)".to_owned(),
        (Depth::Summary, false) => format!("summary ({})", known.join(", ")),
    };
    Libraries { told, promoted: programs.promoted() as u64, schedulers: programs.schedulers() }
}

/// The source files that counterexamples name, as far as they are there.
pub fn sources(checked: &mut Checked) -> Sources {
    let mut sources = Sources::default();
    for (_, counterexample) in &mut checked.counterexamples {
        tell::add_sources(counterexample, &mut sources);
    }
    sources
}
