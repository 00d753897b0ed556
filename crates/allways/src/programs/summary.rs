//! From what a search has seen to a verdict for each kind of failure.

use super::evidence::Evidence;
use super::request::Wanted;
use super::search::{Reason, Searched};
use super::setup::Setup;
use crate::model::Checked;
use crate::request::Request;
use crate::safety::without_violation;
use crate::usage;
use explore::graph::Stopped;
use report::{Covered, End, Property, PropertyVerdict, Summary};
use trace::{Counterexample, FailureKind};

/// A verdict for each kind that was asked for, and what was covered.
pub fn summary(setup: &Setup, wanted: &Wanted, searched: &Searched, evidence: Evidence) -> Checked {
    let end = end(&wanted.request, searched, &evidence);
    let named = wanted.never.iter().map(|text| (text.clone(), FailureKind::Never));
    let names = wanted.kinds().into_iter().map(|kind| (kind.name().to_owned(), kind)).chain(named);
    let properties: Vec<Property> = names.map(|name| property(name, &end, searched, &evidence)).collect();
    let place = |found: &Counterexample| properties.iter().position(|property| is_about(found, property));
    let counterexamples = evidence.counterexamples.into_iter();
    let counterexamples: Vec<_> = counterexamples.filter_map(|found| Some((place(&found)?, found))).collect();
    let summary = Summary {
        system: command_lines(setup).join(" + "),
        properties,
        covered: covered(&wanted.request, searched, end),
        programs: Some(programs(setup, wanted, searched, &evidence.libraries)),
        ..Summary::default()
    };
    Checked { summary, counterexamples, unconfirmed: evidence.unconfirmed }
}

fn is_about(found: &Counterexample, property: &Property) -> bool {
    found.property.kind == property.kind && found.property.name == property.name
}

fn property((name, kind): (String, FailureKind), end: &End, searched: &Searched, evidence: &Evidence) -> Property {
    let found =
        evidence.counterexamples.iter().filter(|found| found.property.kind == kind && found.property.name == name);
    let messages: Vec<&str> = found.map(|found| found.message.as_str()).collect();
    let (verdict, note) = match messages.first() {
        Some(_) if kind == FailureKind::Never => (PropertyVerdict::Violated, String::new()),
        Some(message) => (PropertyVerdict::Violated, (*message).to_owned()),
        None if evidence.is_doubtful(kind) => {
            (PropertyVerdict::Incomplete, "a violation could not be shown again".to_owned())
        }
        None if searched.refusal.as_ref().is_some_and(|refusal| !refusal.is_limit()) => {
            (PropertyVerdict::Unsupported, "something is not modelled".to_owned())
        }
        None if kind == FailureKind::Livelock && evidence.is_reduced => {
            (PropertyVerdict::Incomplete, "that there is none is known only with --reduction off".to_owned())
        }
        None => without_violation(end),
    };
    let violations = messages.len() as u64;
    Property { name, kind, verdict, note, counterexample: None, violations, trail: None }
}

/// Why the search ended; what nobody asked for comes first.
fn end(request: &Request, searched: &Searched, evidence: &Evidence) -> End {
    let report = &searched.outcome.report;
    if let Some(refusal) = &searched.refusal {
        return End::Inconclusive(match refusal.is_limit() {
            true => "the programs' memory ran out".to_owned(),
            false => format!("not modelled: {}", refusal.what),
        });
    }
    match (searched.reason, report.stopped) {
        (Some(Reason::Interrupted), _) => End::Interrupted,
        (Some(Reason::Time), _) => {
            End::Bound(format!("time {}", report::span(request.time.map_or(0.0, |time| time.as_secs_f64()))))
        }
        (Some(Reason::Memory), _) => {
            let bound = request.memory.map(|limit| format!(" ({}; --mem)", report::bytes(limit))).unwrap_or_default();
            End::Inconclusive(format!("memory ran out{bound}"))
        }
        (Some(Reason::Failure), _) if !evidence.counterexamples.is_empty() => End::Violation,
        (Some(Reason::Failure), _) => End::Inconclusive("stopped at a violation that was not shown again".to_owned()),
        (None, Some(Stopped::Actors)) => End::Inconclusive("too many threads".to_owned()),
        (None, _) if report.complete => End::Exhaustive,
        (None, _) => End::Inconclusive("the search was stopped".to_owned()),
    }
}

fn covered(request: &Request, searched: &Searched, end: End) -> Covered {
    let report = &searched.outcome.report;
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
        workers: 1,
        order: "every schedule".to_owned(),
        store: "128-bit fingerprint".to_owned(),
        reduction: if request.reduction { "on" } else { "off" }.to_owned(),
        // Two different states are taken for one if their fingerprints agree. So rare that no report needs to mention it.
        collision_probability: Some(pairs / 2f64.powi(128)).map(|chance| if chance < 1e-20 { 0.0 } else { chance }),
        ..Covered::default()
    }
}

fn programs(setup: &Setup, wanted: &Wanted, searched: &Searched, libraries: &Libraries) -> report::Programs {
    let counts = &searched.outcome.report.counts;
    report::Programs {
        commands: command_lines(setup),
        rounds: searched.outcome.rounds,
        executed: searched.outcome.executed,
        scheduling: counts.scheduling,
        data: counts.data,
        pruned: counts.pruned,
        left: counts.left,
        promoted: libraries.promoted,
        libc: libraries.told.clone(),
        memory_model: "sequential consistency".to_owned(),
        assumptions: assumptions(wanted),
    }
}

/// What a search takes for granted.
fn assumptions(wanted: &Wanted) -> Vec<String> {
    let waits = match wanted.timeouts {
        0 => "timed waits end only when nobody else can move".to_owned(),
        1 => "a timed wait ends while others can move at most once in a run".to_owned(),
        times => format!("timed waits end while others can move at most {times} times in a run"),
    };
    let more = ["reads and writes take all that there is", "signals come between steps"];
    [waits].into_iter().chain(more.map(str::to_owned)).collect()
}

/// What is known of the C libraries at the end of a search.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Libraries {
    /// How they were looked at.
    pub told: String,
    /// Words that were made visible.
    pub promoted: u64,
}

/// Commands as a shell would take them.
pub fn command_lines(setup: &Setup) -> Vec<String> {
    let word = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
    let line = |command: &world::Command| command.arguments.iter().map(word).collect::<Vec<_>>().join(" ");
    setup.services.iter().map(|service| line(&service.command)).collect()
}
