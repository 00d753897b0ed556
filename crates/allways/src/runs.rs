//! Searches for runs that violate a property of whole runs.
//!
//! A property of whole runs is a monitor (docs/decisions 0005): an automaton that accepts the runs
//! which violate it. A violation is a lasso, a path and a cycle through acceptance.

use crate::evidence::{Claim, describe};
use crate::jobs::in_parallel;
use crate::model::Model;
use crate::request::Request;
use crate::run_property::Run;
use crate::safety::{self, Watch};
use explore::{AfterViolation, Control, Fairness, Incomplete, Options, Outcome, Reduction, TransitionSystem, Watched};
use promela::engines::{find_cycle, search_monitored};
use promela::property::RunProperty;
use promela::run::ModelSystem;
use replay::{Budget, Candidate, Mismatch, ModelReplay};
use report::{End, Property, PropertyVerdict};
use trace::{Counterexample, FailureKind, PropertyRef, Schedule};

/// Steps that shortening a lasso may execute.
const SHORTENING: Budget = Budget { work: 50_000 };
/// Lassos longer than this are not shortened.
const SHORTENED_MAX: usize = 2_000;

/// What is known about a run property.
pub struct Answer {
    /// The row of the verdict table.
    pub property: Property,
    /// The proof of a violation, if it could be shown again.
    pub counterexample: Option<Result<Counterexample, Mismatch>>,
    /// What was covered.
    pub outcome: Outcome,
    /// How its search ended; its own violation leaves nothing of it out.
    end: End,
}

impl Answer {
    /// The answer where no search was made, for a reason that must not pass for a verdict.
    pub fn not_searched(run: &Run, why: &str, end: End) -> Answer {
        let property = run.row(PropertyVerdict::Incomplete, why.to_owned());
        Answer { property, counterexample: None, outcome: Outcome::default(), end }
    }
}

/// Short searches for each of several properties; `None` where they decide nothing.
pub fn probe_all(model: &Model, runs: &[&Run], request: &Request, watch: Watch<'_>) -> Vec<Option<Answer>> {
    let (threads, each) = divided(request, runs.len());
    in_parallel(runs.len(), threads, |index| {
        let search = |property: &RunProperty| probe(model, runs[index], property, &each, watch);
        check(model, runs[index], &each, watch, search)
    })
}

/// Checks several properties, on several workers if there are several. Each gets its share of the time, and `others` that
/// come afterwards get as much as one of them.
pub fn check_all(model: &Model, runs: &[&Run], request: &Request, others: u32, watch: Watch<'_>) -> Vec<Answer> {
    let (threads, each) = divided(request, runs.len());
    in_parallel(runs.len(), threads, |index| {
        let turns = (runs.len() - index).div_ceil(threads) as u32 + others;
        let each = Request { deadline: request.share_ends(turns), ..each.clone() };
        let search = |property: &RunProperty| {
            let (fairness, system) = (fairness(&each), model.searched(&each));
            let search = Search { fairness, ..Search::default() };
            let outcome = find(system, property, runs[index].observer, search, &each, watch).outcome;
            if let Some(journal) = watch.journal {
                journal.decide(&name(runs[index]), &outcome, system.marks());
            }
            Some(outcome)
        };
        check(model, runs[index], &each, watch, search).expect("a whole search has an outcome")
    })
}

/// What a journal calls the search for runs that violate a property.
fn name(run: &Run) -> String {
    format!("{} {}", run.kind, run.name)
}

/// What a journal says that the search for a property has found.
fn known(model: &Model, run: &Run, request: &Request, watch: Watch<'_>) -> Option<Outcome> {
    let system = model.searched(request);
    watch.journal?.decided(&name(run), |marks| system.set_marks(marks))
}

/// How many searches run at a time, and what each of them may use.
fn divided(request: &Request, searches: usize) -> (usize, Request) {
    let threads = request.workers.min(searches).max(1);
    let mut each = request.clone();
    each.workers = (request.workers / threads).max(1);
    each.memory = request.memory.map(|bytes| bytes / threads as u64);
    (threads, each)
}

fn fairness(request: &Request) -> Fairness {
    if request.fair { Fairness::Weak } else { Fairness::Off }
}

/// Lengths of search paths at which short searches turn back, and states after which they end: together a fraction of a
/// second. The whole search, depth first, may take for ever to find a cycle of three states next to the initial one, and
/// may come after others that take for ever.
const PROBES: [(u32, u64); 2] = [(100, 5_000), (10_000, 200_000)];

/// Short searches; `None` if they decide nothing.
///
/// A probe that ends without being cut has searched everything, so it may also answer "holds".
fn probe(model: &Model, run: &Run, property: &RunProperty, request: &Request, watch: Watch<'_>) -> Option<Outcome> {
    // A bound on the depth is settled level by level.
    let probes = if request.depth.is_none() { &PROBES[..] } else { &[] };
    let (fairness, system) = (fairness(request), model.searched(request));
    probes.iter().find_map(|(path, states)| {
        let search = Search { fairness, states: Some(*states), path: Some(*path) };
        let outcome = find(system, property, run.observer, search, request, watch).outcome;
        let cut = |reason: &Incomplete| matches!(reason, Incomplete::TurnedBack | Incomplete::StateBound);
        let decided = !outcome.violations.is_empty() || !outcome.incomplete.iter().any(cut);
        decided.then_some(outcome)
    })
}

/// What a search says about a property; `None` if it decides nothing.
fn check(
    model: &Model,
    run: &Run,
    request: &Request,
    watch: Watch<'_>,
    search: impl FnOnce(&RunProperty) -> Option<Outcome>,
) -> Option<Answer> {
    let property = match &run.property {
        Ok(property) => property,
        Err(why) => {
            let property = run.row(PropertyVerdict::Unsupported, why.clone());
            let end = End::Inconclusive(why.clone());
            return Some(Answer { property, counterexample: None, outcome: Outcome::default(), end });
        }
    };
    if request.samples() {
        let why = "whole runs need --order bfs or dfs";
        return Some(Answer::not_searched(run, why, End::Inconclusive(why.to_owned())));
    }
    if request.time_left().is_some_and(|left| left.is_zero()) {
        return Some(Answer::not_searched(run, "no time was left (--time)", safety::end(request, &[Incomplete::Time])));
    }
    let (fairness, system) = (fairness(request), model.searched(request));
    let outcome = known(model, run, request, watch).or_else(|| search(property))?;
    let Some(violation) = outcome.violations.first() else {
        let end = safety::end(request, &outcome.incomplete);
        let (verdict, note) = safety::without_violation(&end);
        let mut row = run.row(verdict, note);
        if end == End::Exhaustive {
            judge_vacuity(system, run, property, &mut row);
        }
        return Some(Answer { property: row, counterexample: None, outcome, end });
    };
    if violation.failure.kind != run.kind {
        // A proposition cannot be evaluated in some state: the run is wrong, not the property.
        let why = format!("cannot be evaluated: {}", violation.failure.message);
        let row = run.row(PropertyVerdict::Incomplete, why.clone());
        let end = End::Inconclusive(why);
        return Some(Answer { property: row, counterexample: None, outcome, end });
    }
    let mut row = run.row(PropertyVerdict::Violated, String::new());
    row.violations = 1;
    if fairness == Fairness::Off && !property.monitor.is_safety() && !is_fair(system, &violation.schedule) {
        let states = outcome.stats.states.saturating_mul(FAIR_STATES.0).saturating_add(FAIR_STATES.1);
        let search = Search { fairness: Fairness::Weak, states: Some(states), path: None };
        judge_fairness(&find(system, property, run.observer, search, request, watch).outcome, &mut row);
    }
    let counterexample = evidence(model, run, property, &violation.schedule, request.fair, SHORTENING);
    let (counterexample, end) = (Some(counterexample), End::Exhaustive);
    Some(Answer { property: row, counterexample, outcome, end })
}

/// A property that unfair runs violate may still hold on the fair ones.
///
/// A counterexample by an unfair schedule (one process never moves although it could) is a
/// violation all the same; the verdict says in addition whether fairness would save the property,
/// for that is the first question everybody asks.
fn judge_fairness(fair: &Outcome, row: &mut Property) {
    match (fair.violations.is_empty(), fair.complete()) {
        (true, true) => {
            row.verdict = PropertyVerdict::NeedsFairness;
            row.note = "holds with --fair weak".to_owned();
        }
        (true, false) => row.note = "by an unfair run; whether by a fair one, too, --fair weak finds out".to_owned(),
        (false, _) => {}
    }
}

/// How many times as many states as the search before a search for a fair run may visit, and some for small ones.
const FAIR_STATES: (u64, u64) = (4, 200_000);

/// Which runs count, how many states may be visited to find one, and at which length of its path the search turns back.
#[derive(Default)]
struct Search {
    fairness: Fairness,
    states: Option<u64>,
    path: Option<u32>,
}

/// Whether a lasso is weakly fair as it is, so that no other has to be looked for.
///
/// Weak fairness: no process is enabled in all states of the cycle and moves in none of its steps.
fn is_fair(system: &ModelSystem, schedule: &Schedule) -> bool {
    let Some(start) = schedule.cycle_start else { return true };
    let mut system = ModelReplay::new(system);
    let run = replay::run(&mut system, schedule);
    run.is_ok_and(|run| replay::is_weakly_fair(&mut system, &run.states, &schedule.choices, start))
}

/// Searches for runs that violate a property, one for each set of faults; `None` if that is impossible, and why.
pub fn violations(model: &Model, run: &Run, request: &Request, watch: Watch<'_>) -> Result<Outcome, String> {
    let property = run.property.as_ref().map_err(Clone::clone)?;
    let search = Search { fairness: fairness(request), ..Search::default() };
    Ok(find(model.searched(request), property, run.observer, search, request, watch).outcome)
}

/// The counterexample of one of them.
pub fn proof(
    model: &Model,
    run: &Run,
    schedule: &Schedule,
    fairness: bool,
    budget: Budget,
) -> Result<Counterexample, Mismatch> {
    match &run.property {
        Ok(property) => evidence(model, run, property, schedule, fairness, budget),
        Err(why) => Err(Mismatch { step: 0, why: why.clone() }),
    }
}

/// Searches for a run that violates a property.
fn find(
    system: &ModelSystem,
    property: &RunProperty,
    observer: usize,
    search: Search,
    request: &Request,
    watch: Watch<'_>,
) -> Watched {
    let show = |progress: &explore::Progress| (watch.progress)(&safety::progress_of(progress));
    let control =
        Control { interrupt: Some(watch.stop), progress: Some(&show), pause: watch.pause, ..Control::default() };
    let reduction = if property.stutters { safety::options(request).reduction } else { Reduction::Off };
    let ignored = FailureKind::ALL.into_iter().filter(|kind| *kind != property.kind).collect();
    let mut options = Options { reduction, ignored, ..safety::options(request) };
    (options.bounds.states, options.bounds.path) = (search.states, search.path);
    // There is one way to violate a property of runs: whoever has found it need not go on.
    if options.after_violation != AfterViolation::EachPart {
        options.after_violation = AfterViolation::Stop;
    }
    let failure = property.failure();
    // Every finite run can go on fairly, so fairness does not matter for what is seen on a finite run.
    if property.monitor.is_safety() {
        return search_monitored(system, &property.monitor, observer, failure, &options, control);
    }
    find_cycle(system, &property.monitor, observer, failure, search.fairness, &options, control)
}

/// A property that holds only because something it speaks of never happens says less than it seems to.
fn judge_vacuity(system: &ModelSystem, run: &Run, property: &RunProperty, row: &mut Property) {
    if row.verdict != PropertyVerdict::Holds || !property.sees_every_state() {
        return;
    }
    let seen = system.seen(run.observer);
    if let Some((_, text)) = property.triggers.iter().find(|(bit, _)| seen >> bit & 1 == 0) {
        row.verdict = PropertyVerdict::Vacuous;
        row.note = format!("`{text}` is never true");
    }
}

/// The counterexample of a violation: shortened, executed again, judged by the monitor again.
fn evidence(
    model: &Model,
    run: &Run,
    property: &RunProperty,
    schedule: &Schedule,
    fairness: bool,
    budget: Budget,
) -> Result<Counterexample, Mismatch> {
    let short = shortened(model.lean(), run, property, schedule, fairness, budget);
    confirmed(model, run, property, short, fairness)
        .or_else(|_| confirmed(model, run, property, schedule.clone(), fairness))
}

fn shortened(
    system: &ModelSystem,
    run: &Run,
    property: &RunProperty,
    schedule: &Schedule,
    fairness: bool,
    budget: Budget,
) -> Schedule {
    if schedule.choices.len() > SHORTENED_MAX {
        return schedule.clone();
    }
    let mut shows = |replayed: &mut ModelReplay<'_, ModelSystem>, candidate: &Candidate<'_, Vec<u8>>| {
        refutes(system, run, property, &mut replayed.scratch, candidate.states, candidate.cycle_start).is_ok()
            && (!fairness
                || candidate
                    .cycle_start
                    .is_none_or(|start| replay::is_weakly_fair(replayed, candidate.states, candidate.choices, start)))
    };
    replay::shorten(&mut ModelReplay::new(system), schedule, budget, &mut shows)
}

fn confirmed(
    model: &Model,
    run: &Run,
    property: &RunProperty,
    schedule: Schedule,
    fairness: bool,
) -> Result<Counterexample, Mismatch> {
    let mut system = model.replay();
    let trace = replay::run(&mut system, &schedule)?.trace;
    let claim = Claim {
        system: &model.system_ref,
        property: PropertyRef { name: run.name.clone(), kind: run.kind },
        message: property.failure().message,
        fairness,
        location: run.location.clone(),
    };
    let counterexample = describe(&mut system, claim, schedule, trace)?;
    confirm(model, run, property, &counterexample)?;
    Ok(counterexample)
}

/// Executes a counterexample of a run property again.
///
/// # Errors
/// Where and why it does not refute the property.
pub fn confirm(
    model: &Model,
    run: &Run,
    property: &RunProperty,
    counterexample: &Counterexample,
) -> Result<trace::Trace, Mismatch> {
    let system = model.lean();
    let mut refutes = |replayed: &mut ModelReplay<'_, ModelSystem>, states: &[Vec<u8>], start| {
        refutes(system, run, property, &mut replayed.scratch, states, start)
    };
    replay::confirm(&mut ModelReplay::new(system), counterexample, Some(&mut refutes))?;
    // Told with every value, also those that nobody reads.
    replay::run(&mut model.replay(), &counterexample.schedule).map(|run| run.trace)
}

/// Whether a run that was executed is accepted by the monitor of the property's violations.
fn refutes(
    system: &ModelSystem,
    run: &Run,
    property: &RunProperty,
    scratch: &mut <ModelSystem as TransitionSystem>::Scratch,
    states: &[Vec<u8>],
    cycle_start: Option<usize>,
) -> Result<(), String> {
    let mut valuations = Vec::new();
    for state in states {
        valuations.push(system.observe(scratch, state, run.observer).map_err(|failure| failure.message)?);
    }
    // The last state of a cycle is its first one again; a run that has ended repeats its last state.
    if cycle_start.is_some_and(|start| start + 1 < states.len()) {
        valuations.pop();
    }
    match property.monitor.accepts(&valuations, cycle_start) {
        true => Ok(()),
        false => Err(format!("`{}` holds on this run", run.name)),
    }
}

/// How a check ended that searched for violations of runs only.
pub fn covered(request: &Request, answers: &[Answer]) -> Option<report::Covered> {
    let largest = answers.iter().max_by_key(|answer| answer.outcome.stats.states)?;
    let mut covered = safety::covered(request, &largest.outcome);
    if answers.iter().any(|answer| answer.counterexample.is_some()) {
        covered.end = End::Violation;
    }
    Some(covered)
}

/// How everything together ended: the worst counts.
pub fn end(end: End, answers: &[Answer]) -> End {
    answers.iter().fold(end, |worst, answer| safety::worse(worst, answer.end.clone()))
}
