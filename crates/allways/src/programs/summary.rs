//! From what a search has seen to a verdict for each kind of failure.

use super::evidence::Evidence;
use super::found_services;
use super::request::Wanted;
use super::search::{Reason, Searched};
use super::setup::Setup;
use crate::checked::Checked;
use crate::options::FaultOptions;
use crate::safety::without_violation;
use crate::usage;
use checker::{ChoiceKind, Engine, MemoryModel, Scheduler, StoreBuffers};
use explore::graph::{Bound, ChoiceCount, ChoiceCounts, Mode, Stopped};
use explore::{Spent, sample};
use report::{Choices, Covered, End, Property, PropertyVerdict, Summary, count};
use trace::{Counterexample, FailureKind};
use world::Cause;

/// A verdict for each kind that was asked for, and what was covered.
pub fn summary(setup: &Setup, wanted: &Wanted, searched: &Searched, evidence: Evidence) -> Checked {
    let end = end(wanted, searched, &evidence);
    let named = wanted.view.never.iter().chain(&wanted.view.finally);
    let named = named.map(|text| (checker::named(text).0.to_owned(), FailureKind::Never));
    let strict = wanted.view.is_strict().then(|| (checker::STRICT.to_owned(), FailureKind::Never));
    let names = wanted.kinds().into_iter().map(|kind| (kind.name().to_owned(), kind)).chain(named).chain(strict);
    let formulas = wanted.view.formulas.iter().map(|text| (checker::named(text).0.to_owned(), FailureKind::Ltl));
    let names = names.chain(formulas);
    let mut properties: Vec<Property> = names.map(|name| property(name, &end, searched, &evidence)).collect();
    doubt_the_masked(&mut properties, wanted);
    let place = |found: &Counterexample| properties.iter().position(|property| is_about(found, property));
    let programs = programs(setup, wanted, searched, &evidence);
    let counterexamples = evidence.counterexamples.into_iter();
    let counterexamples: Vec<_> = counterexamples.filter_map(|found| Some((place(&found)?, found))).collect();
    let summary = Summary {
        system: setup.command_lines().join(" + "),
        properties,
        covered: covered(wanted, searched, end),
        programs: Some(programs),
        ..Summary::default()
    };
    let is_doubtful = searched.refusal.as_ref().is_some_and(|refusal| refusal.cause == Cause::Differs);
    Checked { summary, counterexamples, unconfirmed: evidence.unconfirmed, is_doubtful, ..Checked::default() }
}

/// Of each end one proposition is told that fails there. While one fails, the others are not known to hold.
fn doubt_the_masked(properties: &mut [Property], wanted: &Wanted) {
    let finally: Vec<&str> = wanted.view.finally.iter().map(|text| checker::named(text).0).collect();
    let is_one = |own: &Property| own.kind == FailureKind::Never && finally.contains(&own.name.as_str());
    let fails = |own: &Property| own.verdict == PropertyVerdict::Violated;
    let Some(failing) = properties.iter().find(|own| is_one(own) && fails(own)).map(|own| own.name.clone()) else {
        return;
    };
    for own in properties.iter_mut().filter(|own| is_one(own) && !fails(own)) {
        own.verdict = PropertyVerdict::Incomplete;
        own.note = format!("`{failing}` fails, and one is told of each end: check this one alone");
    }
}

fn is_about(found: &Counterexample, property: &Property) -> bool {
    found.property.kind == property.kind && found.property.name == property.name
}

fn property((name, kind): (String, FailureKind), end: &End, searched: &Searched, evidence: &Evidence) -> Property {
    let found =
        evidence.counterexamples.iter().filter(|found| found.property.kind == kind && found.property.name == name);
    let messages: Vec<&str> = found.map(|found| found.message.as_str()).collect();
    let (verdict, note) = match messages.first() {
        Some(_) if kind == FailureKind::Ltl && evidence.needs_fairness.contains(&name) => {
            (PropertyVerdict::NeedsFairness, "holds with --fair weak".to_owned())
        }
        Some(_) if kind == FailureKind::Never && name != checker::STRICT => (PropertyVerdict::Violated, String::new()),
        Some(message) => (PropertyVerdict::Violated, (*message).to_owned()),
        None if evidence.cut_formulas.contains(&name) && kind == FailureKind::Ltl => {
            (PropertyVerdict::Incomplete, "a limit ended the search of its runs (--time, --mem)".to_owned())
        }
        None if evidence.is_doubtful(kind) => {
            (PropertyVerdict::Incomplete, "a violation could not be shown again".to_owned())
        }
        // Most of what looks like one is an atomic variable, which only a replay tells.
        None if evidence.is_left(kind) && kind == FailureKind::Race => {
            (PropertyVerdict::Incomplete, "the time was over before a possible race was examined".to_owned())
        }
        None if evidence.is_left(kind) => {
            (PropertyVerdict::Incomplete, "the time was over before a violation could be shown again".to_owned())
        }
        None if searched.refusal.as_ref().is_some_and(|refusal| refusal.cause == Cause::Unmodelled) => {
            (PropertyVerdict::Unsupported, "something is not modelled".to_owned())
        }
        None if kind == FailureKind::Never && searched.masked.contains(&name) => {
            (PropertyVerdict::Incomplete, "true only in steps that fail otherwise, too: check it alone".to_owned())
        }
        // Whether somebody would have come later is not known.
        None if kind == FailureKind::Deadlock && !searched.cut.waiting.is_empty() => {
            let waiting = searched.cut.waiting.iter().cloned().collect::<Vec<_>>().join(", ");
            (PropertyVerdict::Incomplete, format!("at the horizon (--horizon) {waiting}"))
        }
        None if kind == FailureKind::Livelock && evidence.is_reduced => {
            (PropertyVerdict::Incomplete, "that there is none is known only with --reduction off".to_owned())
        }
        None => without_violation(end),
    };
    let vacuous = evidence.vacuous.iter().find(|(formula, _)| kind == FailureKind::Ltl && *formula == name);
    let (verdict, note) = match vacuous {
        Some((_, text)) if verdict == PropertyVerdict::Holds => {
            (PropertyVerdict::Vacuous, format!("`{text}` is never true"))
        }
        _ => (verdict, note),
    };
    let violations = messages.len() as u64;
    Property { name, kind, verdict, note, counterexample: None, violations, trail: None }
}

/// Why the search ended; what nobody asked for comes first.
fn end(wanted: &Wanted, searched: &Searched, evidence: &Evidence) -> End {
    let request = &wanted.request;
    let report = &searched.outcome.report;
    let limit = || request.memory.map(|limit| format!(" ({}; --mem)", report::bytes(limit))).unwrap_or_default();
    if let Some(refusal) = &searched.refusal {
        return End::Inconclusive(match refusal.cause {
            Cause::Memory => format!("the programs' memory ran out{}", limit()),
            Cause::Changed => format!("{} changes while it is used", refusal.what),
            Cause::Differs => format!("the audit found a difference: {}", refusal.what),
            Cause::Peer => refusal.what.lines().next().unwrap_or_default().to_owned(),
            Cause::Unmodelled | Cause::Spent => format!("not modelled: {}", refusal.what),
        });
    }
    match (searched.reason, report.stopped) {
        (Some(Reason::Spent(Spent::Interrupted)), _) => End::Interrupted,
        (Some(Reason::Spent(Spent::Time)), _) => {
            End::limit(report::limit(request.time.unwrap_or_default()), has_completed_runs(searched))
        }
        (Some(Reason::Spent(Spent::Memory)), _) => End::Inconclusive(format!("memory ran out{}", limit())),
        (Some(Reason::Failure), _) if !evidence.counterexamples.is_empty() => End::Violation,
        (Some(Reason::Failure), _) => End::Inconclusive("stopped at a violation that was not shown again".to_owned()),
        (None, Some(Stopped::Actors)) => End::Inconclusive("too many threads".to_owned()),
        (None, _) if matches!(wanted.engine, Engine::Sample(_)) => {
            let runs = searched.outcome.sampled.as_ref().map_or(0, |sampled| sampled.runs);
            End::limit(format!("{} runs", count(runs)), has_completed_runs(searched))
        }
        (None, Some(Stopped::Depth)) => End::Bound(format!("depth {}", report.depth_max)),
        (None, _) if report.complete => bound(wanted, searched, evidence).map_or(End::Exhaustive, End::Bound),
        (None, _) => End::Inconclusive("the search was stopped".to_owned()),
    }
}

/// Whether a run came to its end, well or not.
fn has_completed_runs(searched: &Searched) -> bool {
    let outcome = &searched.outcome;
    let (classes, sampled) = (outcome.classes.as_ref(), outcome.sampled.as_ref());
    let ended = !outcome.report.ends.is_empty() || !outcome.report.found.is_empty();
    ended || classes.is_some_and(|classes| classes.traces > 0) || sampled.is_some_and(|all| all.runs > all.cut)
}

/// What a search that was carried out to its end was bounded by.
fn bound(wanted: &Wanted, searched: &Searched, evidence: &Evidence) -> Option<String> {
    let view = &wanted.view;
    let engine = match wanted.engine {
        Engine::Graph { mode: Mode::Bounded(Bound::Preemptions(most)), .. } => Some(times(most, "preemption")),
        Engine::Graph { mode: Mode::Bounded(Bound::Delays(most)), .. } => Some(times(most, "delay")),
        _ => None,
    };
    let points = view.only_breaks.then(|| format!("turns only at {}", view.breaks.join(", ")));
    let abstraction =
        (!view.matched.is_empty()).then(|| format!("states told apart by {} alone", view.matched.join(", ")));
    let horizon =
        searched.cut.happened.then(|| format!("{} of virtual time (--horizon)", report::limit(view.horizon())));
    let buffers = match (view.memory(), evidence.store_buffers) {
        (MemoryModel::Tso { buffered_max }, StoreBuffers::Full) => {
            Some(format!("{} of a thread in its store buffer (--memory tso:N)", times(buffered_max as u32, "store")))
        }
        _ => None,
    };
    let schedulers =
        evidence.libraries.schedulers.iter().filter_map(|scheduler| scheduled(*scheduler, view.timeouts()));
    let all =
        [engine, points, abstraction, horizon, buffers].into_iter().flatten().chain(schedulers.map(str::to_owned));
    Some(all.collect::<Vec<_>>().join(", ")).filter(|all| !all.is_empty())
}

/// What a runtime decides that schedules inside of threads: the search chooses among threads.
fn scheduled(scheduler: Scheduler, timeouts: u32) -> Option<&'static str> {
    match scheduler {
        Scheduler::Go => Some("the order in which Go's runtime runs goroutines on a thread"),
        // Another thread gets the interpreter lock when its timed wait for it has ended.
        Scheduler::CPython if timeouts > 0 => None,
        Scheduler::CPython => Some("switches of Python's threads where they block (--timeouts N: also elsewhere)"),
    }
}

fn times(count: u32, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// In which order schedules are searched, and whether some are left out.
fn order(engine: &Engine) -> (&'static str, &'static str) {
    match engine {
        Engine::Graph { mode: Mode::Full, .. } => ("every schedule", "off"),
        Engine::Graph { mode: Mode::Bounded(_), .. } => ("every schedule within the bound", "off"),
        Engine::Graph { .. } => ("every schedule", "on"),
        Engine::Classes { .. } => ("every class of schedules", "on"),
        Engine::Sample(_) => ("schedules at random", "off"),
    }
}

fn covered(wanted: &Wanted, searched: &Searched, end: End) -> Covered {
    let report = &searched.outcome.report;
    let (order, reduction) = order(&searched.engine);
    let pairs = report.states as f64 * report.states as f64 / 2.0;
    Covered {
        end,
        states: report.states,
        steps: report.steps,
        depth_max: u64::from(report.depth_max),
        matched: (report.steps + 1).saturating_sub(report.states),
        memory_bytes: usage::memory_bytes().unwrap_or(0),
        seconds: searched.seconds,
        cpu_seconds: usage::cpu_seconds().unwrap_or(searched.seconds),
        workers: searched.outcome.workers,
        order: order.to_owned(),
        store: "128-bit fingerprint".to_owned(),
        reduction: reduction.to_owned(),
        traces: searched.outcome.classes.as_ref().map_or(0, |classes| classes.traces),
        seed: matches!(wanted.engine, Engine::Sample(_)).then_some(wanted.request.seed),
        faults: wanted.view.faults.as_ref().map(FaultOptions::told).unwrap_or_default(),
        // Two different states are taken for one if their fingerprints agree. So rare that no report needs to mention it.
        collision_probability: Some(pairs / 2f64.powi(128)).map(|chance| if chance < 1e-20 { 0.0 } else { chance }),
        ..Covered::default()
    }
}

fn programs(setup: &Setup, wanted: &Wanted, searched: &Searched, evidence: &Evidence) -> report::Programs {
    let libraries = &evidence.libraries;
    let counts = &searched.outcome.report.counts;
    report::Programs {
        commands: setup.command_lines(),
        rounds: searched.outcome.rounds,
        executed: searched.outcome.executed,
        audited: wanted.audit.map(|_| searched.audited.again),
        memoized: wanted.audit.map(|_| searched.audited.results),
        scheduling: counts.scheduling,
        choices: choices(wanted, &counts.choices),
        pruned: counts.pruned,
        left: counts.left,
        promoted: libraries.promoted,
        libc: libraries.told.clone(),
        engine: told_engine(searched),
        memory_model: memory_model(wanted, evidence),
        assumptions: assumptions(wanted, &evidence.peers)
            .into_iter()
            .chain(ends_early(setup, evidence))
            .chain(found_services::services(setup))
            .chain(evidence.unreached_faults.iter().map(|fault| format!("the fault {fault} was never reached")))
            .collect(),
        peers: evidence.peers.clone(),
        traffic: evidence.traffic.clone(),
    }
}

/// When stores reach memory, and what the search has seen of it.
fn memory_model(wanted: &Wanted, evidence: &Evidence) -> String {
    match (wanted.view.memory(), evidence.store_buffers) {
        (MemoryModel::Sequential, _) => "sequential consistency".to_owned(),
        (MemoryModel::Tso { .. }, StoreBuffers::Unneeded) => "x86-TSO (store buffers make no difference)".to_owned(),
        (MemoryModel::Tso { .. }, _) => "x86-TSO, with store buffers".to_owned(),
    }
}

/// Whether what other programs do behind a failure was left out.
fn ends_early(setup: &Setup, evidence: &Evidence) -> Option<String> {
    let ends_run = |kind| matches!(kind, FailureKind::Assert | FailureKind::Crash | FailureKind::Exit);
    let has_ended = evidence.counterexamples.iter().any(|found| ends_run(found.property.kind));
    (setup.services.len() > 1 && has_ended)
        .then(|| "a run ends at its first failed assertion, crash or failing exit code".to_owned())
}

/// Choices beside who moves that were looked at, and how often they were met.
///
/// Only those that were looked at: a choice that is switched off is an assumption and is told
/// there.
fn choices(wanted: &Wanted, counts: &ChoiceCounts) -> Vec<Choices> {
    let view = &wanted.view;
    let is_on = |what: &ChoiceKind| match what {
        ChoiceKind::Wakes => !view.longest_sleeper(),
        ChoiceKind::Reads => view.short_reads(),
        // Whoever moves first takes it: that cannot be switched off.
        ChoiceKind::Accepts => true,
        ChoiceKind::Timeouts => wanted.view.timeouts() > 0,
        ChoiceKind::Answers => counts.of(ChoiceKind::Answers as u8).states > 0,
        ChoiceKind::Faults => view.faults.is_some(),
    };
    let told = |what: ChoiceKind| {
        let ChoiceCount { states, taken } = counts.of(what as u8);
        Choices { about: what.told().to_owned(), states, taken }
    };
    ChoiceKind::ALL.into_iter().filter(is_on).map(told).collect()
}

/// What there is to say about engines that do not remember states.
fn told_engine(searched: &Searched) -> Vec<String> {
    let classes = searched.outcome.classes.as_ref().map(|classes| {
        let mut words = vec![format!("{} classes of schedules", count(classes.traces))];
        words.extend((classes.stuck > 0).then(|| format!("{} of them get stuck", count(classes.stuck))));
        words.extend((classes.failed > 0).then(|| format!("{} of them fail", count(classes.failed))));
        words.extend(
            (classes.redundant > 0).then(|| format!("{} runs like another given up", count(classes.redundant))),
        );
        words.extend((classes.cut > 0).then(|| format!("{} runs longer than the bound", count(classes.cut))));
        words
    });
    let sampled = searched.outcome.sampled.as_ref().map(told_sample);
    let estimate = searched.estimate.as_ref().map(|estimate| vec![told_estimate(estimate)]);
    classes.or(sampled).or(estimate).unwrap_or_default()
}

fn told_estimate(estimate: &sample::Estimate) -> String {
    let sample::Estimate { log10, log10_low, log10_high, .. } = estimate;
    format!("estimated 10^{log10:.1} interleavings (90 %: 10^{log10_low:.1} to 10^{log10_high:.1})")
}

/// The probability of a new class is the Good-Turing estimate, the bound on failing runs that of a
/// binomial with no success ("rule of three").
fn told_sample(sampled: &sample::Report) -> Vec<String> {
    let mut words = vec![
        format!("{} runs", count(sampled.runs)),
        format!("{} different classes of schedules", count(sampled.classes)),
    ];
    words.extend((sampled.cut > 0).then(|| format!("{} runs longer than the bound", count(sampled.cut))));
    words.extend(sampled.gave_up.then(|| "one more was not brought to its end".to_owned()));
    words.extend(sampled.unseen.map(|chance| format!("the next run shows a new class with probability {chance:.2}")));
    words.extend(sampled.schedules.as_ref().map(told_estimate));
    let below = sampled.tallies.iter().filter_map(|tally| tally.below).reduce(f64::min);
    words.extend(below.map(|below| format!("a random run fails with probability below {below:.1e} (95 %)")));
    words
}

/// What a search takes for granted.
///
/// Every abstraction that is not checked otherwise has to be named here: it is what "holds" is
/// relative to.
fn assumptions(wanted: &Wanted, peers: &[String]) -> Vec<String> {
    let waits = match wanted.view.timeouts() {
        0 => "timeouts fire only when no thread can run (--timeouts N)".to_owned(),
        1 => "at most 1 timeout in a run fires while other threads can run".to_owned(),
        times => format!("at most {times} timeouts in a run fire while other threads can run"),
    };
    let reads = match wanted.view.short_reads() {
        true => "reads return all that there is, all but one byte, one byte, or what was sent first",
        false => "reads and writes are never partial (--reads short)",
    };
    let view = &wanted.view;
    let wakes = match (view.longest_sleeper(), view.spurious_wakes()) {
        (true, _) => Some("a signal wakes the one who waits longest, and nobody wakes without one"),
        (false, false) => Some("no spurious wakeups of condition variables (--wakes spurious)"),
        (false, true) => None,
    };
    let more = [Some(reads), wakes, Some("no signal arrives inside a summarised library function")];
    let peers = peers.iter().map(|peer| format!("peers answer as recorded: {peer}"));
    [waits].into_iter().chain(more.into_iter().flatten().map(str::to_owned)).chain(peers).collect()
}
