//! Traces in viewers: what each format demands of every file.

use crate::{check, fixture};
use report::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use trace::{Call, Counterexample, Direction, EventKind, Operation, Passage, ProgramsRef, ServiceRef, Verb};

/// Checks all formats of a trace by their own rules.
pub fn check_all(found: &Counterexample) {
    perfetto_rules(&perfetto(found));
    shiviz_rules(&shiviz(found));
    dot_rules(&trace_dot(found, Detail::Folded));
    dot_rules(&trace_dot(found, Detail::Full));
}

/// Every event has a phase and a place; arrows have two ends; slices of a track do not overlap.
fn perfetto_rules(text: &str) -> Value {
    let file: Value = serde_json::from_str(text).expect("JSON");
    let events = file["traceEvents"].as_array().expect("a list");
    let (mut named, mut ends) = (BTreeSet::new(), BTreeMap::<u64, Vec<&str>>::new());
    let mut free: BTreeMap<u64, u64> = BTreeMap::new();
    for event in events {
        let (phase, track) = (event["ph"].as_str().expect("a phase"), event["tid"].as_u64().expect("a track"));
        assert!(event["pid"] == 1 && event["name"].is_string(), "{event}");
        match phase {
            "M" if event["name"] == "thread_name" => drop(named.insert(track)),
            "M" => {}
            "X" => {
                let (begin, length) = (event["ts"].as_u64().expect("a time"), event["dur"].as_u64().expect("a time"));
                assert!(
                    named.contains(&track) && length > 0 && begin >= free.insert(track, begin + length).unwrap_or(0)
                );
            }
            "s" | "f" => ends.entry(event["id"].as_u64().expect("an id")).or_default().push(phase),
            "i" => assert!(event["ts"].is_u64() && ["g", "t"].contains(&event["s"].as_str().expect("a scope"))),
            other => panic!("no phase {other}"),
        }
    }
    assert!(ends.values().all(|pair| *pair == ["s", "f"]), "{ends:?}");
    file
}

/// The log as ShiViz reads it: who, clock, event.
fn shiviz_rules(text: &str) -> Vec<(String, BTreeMap<String, u64>, String)> {
    let mut lines = text.split('\n');
    assert_eq!(lines.next(), Some(r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)"));
    assert_eq!(lines.next(), Some(""));
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines.last(), Some(&""), "the last line ends");
    let mut clocks: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let mut all = Vec::new();
    for pair in lines[..lines.len() - 1].chunks(2) {
        let [head, event] = pair else { panic!("an event without a text: {pair:?}") };
        let (host, clock) = head.split_once(' ').expect("a host and a clock");
        let clock: BTreeMap<String, u64> = serde_json::from_str(clock).expect("a clock");
        assert!(!host.is_empty() && !event.contains(['\r', '\u{2028}', '\u{2029}']));
        let before = clocks.insert(host.to_owned(), clock.clone()).unwrap_or_default();
        assert_eq!(clock[host], before.get(host).unwrap_or(&0) + 1, "one's own events are counted");
        assert!(before.iter().all(|(other, count)| clock[other] >= *count), "no clock goes back");
        // Whoever is known has got so far: ShiViz refuses a clock from the future.
        for (other, count) in clock.iter().filter(|(other, _)| *other != host) {
            assert!(clocks.get(other).is_some_and(|known| known[other] >= *count), "{other} is not there yet");
        }
        all.push((host.to_owned(), clock, (*event).to_owned()));
    }
    all
}

/// Strings of a file end on their line, braces match, and every node of an arrow is there.
fn dot_rules(text: &str) {
    let mut bare = String::new();
    for line in text.lines() {
        let (mut is_inside, mut is_escaped) = (false, false);
        for c in line.chars() {
            match c {
                '"' if !is_escaped => is_inside = !is_inside,
                c if !is_inside => bare.push(c),
                _ => {}
            }
            is_escaped = is_inside && c == '\\' && !is_escaped;
        }
        assert!(!is_inside, "a string does not end: {line}");
        bare.push('\n');
    }
    assert_eq!(bare.matches('{').count(), bare.matches('}').count());
    let words = |line: &str| line.trim().split([' ', ';']).map(str::to_owned).collect::<Vec<_>>();
    let lines: Vec<Vec<String>> = bare.lines().map(words).collect();
    let nodes: BTreeSet<&String> = lines
        .iter()
        .filter(|line| line.get(1).is_some_and(|word| word.starts_with('[')))
        .map(|line| &line[0])
        .collect();
    for arrow in lines.iter().filter(|line| line.get(1).is_some_and(|word| word == "->")) {
        assert!(nodes.contains(&arrow[0]) && nodes.contains(&arrow[2]), "{arrow:?} in {text}");
    }
}

#[test]
fn a_trace_is_tracks_with_arrows() {
    check("lasso.perfetto.json", &perfetto(&fixture::lasso()));
    let file = perfetto_rules(&perfetto(&fixture::rendezvous()));
    let arrows = file["traceEvents"].as_array().expect("a list").iter().filter(|event| event["ph"] == "s").count();
    assert_eq!(arrows, 2, "the third rendezvous has only one side that is told");
}

#[test]
fn a_trace_is_a_log_with_vector_clocks() {
    check("deadlock.shiviz", &shiviz(&fixture::deadlock()));
    let log = shiviz_rules(&shiviz(&fixture::lasso()));
    let (host, clock, event) = &log[2];
    assert_eq!((host.as_str(), clock["server:0"], clock["client:1"]), ("server:0", 2, 1), "{event}");
}

#[test]
fn a_trace_is_a_graph_with_a_cluster_for_each_actor() {
    check("lasso.dot", &trace_dot(&fixture::lasso(), Detail::Folded));
    let folded = trace_dot(&fixture::long_run(), Detail::Folded);
    assert!(folded.contains("88 events left out (-v shows them)"), "{folded}");
    assert!(!trace_dot(&fixture::long_run(), Detail::Full).contains("left out"));
}

#[test]
fn a_message_that_a_fault_changed_comes_from_the_fault() {
    use trace::Direction::{Receive, Send};
    let mut changed = fixture::message(0, "ch?nak", Receive, None);
    changed.message.iter_mut().for_each(|message| message.fields = vec!["nak".to_owned()]);
    let steps = vec![
        vec![fixture::message(1, "ch!ack(3)", Send, None)],
        vec![fixture::changing(2, "corrupt:ch", 5, ["ch", "[ack,3]", "[nak]"])],
        vec![changed],
    ];
    let log = shiviz_rules(&shiviz(&fixture::counterexample(&["server", "client", "faults"], steps, None)));
    assert_eq!(log[1].1, BTreeMap::from([("client".to_owned(), 1), ("faults".to_owned(), 1)]));
    assert_eq!(log[2].1["client"], 1, "by way of the fault");
}

/// Two threads and a lock, as programs tell it.
fn locked(services: usize) -> Counterexample {
    let does = |actor, verb, object: &str| {
        let kind = EventKind::Operation(Operation { verb, object: Some(object.to_owned()), has_time_limit: false });
        vec![trace::Event { kind, ..fixture::event(actor, "", 3) }]
    };
    let writes = |actor, is_write| {
        vec![trace::Event {
            kind: EventKind::Access { name: "x".to_owned(), is_write, is_buffered: false },
            ..fixture::event(actor, "", 4)
        }]
    };
    let steps = vec![
        does(0, Verb::Lock, "m"),
        writes(0, true),
        does(0, Verb::Unlock, "m"),
        does(1, Verb::Lock, "m"),
        writes(1, false),
        does(0, Verb::Join, "T1"),
    ];
    let mut found = fixture::counterexample(&["main", "T1 worker"], steps, None);
    let services = vec![ServiceRef::default(); services];
    found.programs = Some(ProgramsRef { services, ..ProgramsRef::default() });
    found
}

#[test]
fn locks_variables_and_joins_order_the_threads_of_one_program() {
    let found = locked(1);
    check("locked.dot", &trace_dot(&found, Detail::Folded));
    let log = shiviz_rules(&shiviz(&found));
    assert_eq!(log[3].1["main"], 3, "the lock comes after the unlock");
    assert_eq!(log[5].1["T1_worker"], 2, "the join comes after the end");
}

#[test]
fn equal_names_in_two_programs_order_nothing() {
    let log = shiviz_rules(&shiviz(&locked(2)));
    assert!(!log[3].1.contains_key("main"), "{log:?}");
}

#[test]
fn a_read_of_a_connection_comes_after_the_write() {
    let call = |actor, name: &str, direction| {
        let passage = Passage { channel: "socket 1".to_owned(), direction, bytes: 2, is_message: false };
        let kind = EventKind::Call(Call { passage: Some(passage), ..Call::named(name.to_owned()) });
        vec![trace::Event { kind, ..fixture::event(actor, "", 3) }]
    };
    let steps = vec![call(1, "write", Direction::Send), call(0, "read", Direction::Receive)];
    let found = fixture::counterexample(&["server", "client"], steps, None);
    let log = shiviz_rules(&shiviz(&found));
    assert_eq!(log[1].1, BTreeMap::from([("client".to_owned(), 1), ("server".to_owned(), 1)]));
    check_all(&found);
}

#[test]
fn actors_of_one_name_are_told_apart() {
    let mut found = fixture::rendezvous();
    found.trace.actors.iter_mut().for_each(|actor| actor.name = "a b".to_owned());
    let log = shiviz_rules(&shiviz(&found));
    let hosts: BTreeSet<&str> = log.iter().map(|(host, ..)| host.as_str()).collect();
    assert_eq!(hosts.into_iter().collect::<Vec<_>>(), ["a_b", "a_b.2", "a_b.3"]);
}

#[test]
fn steps_that_were_not_kept_leave_empty_traces() {
    let mut found = fixture::lasso();
    found.trace.steps.clear();
    check_all(&found);
}
