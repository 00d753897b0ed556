//! A log for ShiViz: the events of a trace with vector clocks.
//!
//! <https://bestchai.bitbucket.io/shiviz/>. The first line is the expression that reads the log, the second one, which would
//! tell several executions apart, is empty. An event takes two lines: who and when, then what.

use super::causality::{clocks, edges};
use super::occurrences::{Occurrence, actors, occurrences};
use crate::Detail;
use crate::escape::word;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use trace::{Counterexample, Trace};

/// How ShiViz reads the log.
const PARSER: &str = r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)";

/// The trace of a counterexample.
#[must_use]
pub fn shiviz(found: &Counterexample) -> String {
    let all = occurrences(&found.trace, Detail::Folded);
    let hosts = hosts(&found.trace, &all);
    let mut out = format!("{PARSER}\n\n");
    for (one, clock) in all.iter().zip(clocks(&all, &edges(found, &all))) {
        let clock: BTreeMap<&str, u64> = clock.iter().map(|(actor, count)| (hosts[actor].as_str(), *count)).collect();
        let clock = serde_json::to_string(&clock).expect("plain data always becomes JSON");
        let _ = writeln!(out, "{} {clock}\n{}", hosts[&one.actor()], event(one));
    }
    out
}

/// What happened, on the second line of an event; the number of the step tells equal ones apart.
fn event(one: &Occurrence<'_>) -> String {
    let mut words = vec![format!("{}: {}", one.step, one.text())];
    words.extend(one.changes().iter().map(|change| crate::escape::line(change)));
    words.extend(one.place().map(|place| crate::escape::line(&place)));
    words.join(" | ")
}

/// A word for each actor; of those with one name, later ones get a number.
fn hosts(trace: &Trace, all: &[Occurrence<'_>]) -> BTreeMap<u32, String> {
    let mut hosts: BTreeMap<u32, String> = BTreeMap::new();
    for actor in actors(trace, all) {
        let name = word(&trace.name(actor));
        let is_taken = |name: &String| hosts.values().any(|host| host == name);
        let numbered = (2..).map(|number| format!("{name}.{number}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !is_taken(name));
        hosts.insert(actor, free.unwrap_or(name));
    }
    hosts
}
