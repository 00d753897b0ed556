//! What people read, compared with files beside this one. `BLESS=1 cargo test -p report` writes them anew.
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

mod fixture;
mod formats;

use report::*;
use std::path::Path;

/// Compares a text with `expected/NAME`, or writes it there.
fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, text).expect("can write the expectation");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(expected == text, "{name} differs; BLESS=1 accepts it.\nexpected:\n{expected}\nfound:\n{text}");
}

const PLAIN: Layout = Layout::PLAIN;
const NARROW: Layout = Layout { width: 60, signs: Signs::Ascii, ..Layout::PLAIN };

fn text(counterexample: &trace::Counterexample, layout: &Layout) -> String {
    counterexample_text(counterexample, &fixture::bank_sources(), layout)
}

#[test]
fn a_deadlock_shows_who_waits_for_what() {
    check("deadlock.txt", &text(&fixture::deadlock(), &PLAIN));
}

#[test]
fn a_narrow_terminal_gets_narrow_lanes() {
    let narrow = text(&fixture::deadlock(), &NARROW);
    assert!(narrow.lines().all(|line| line.len() <= 60), "a line is longer than the terminal:\n{narrow}");
    check("deadlock-narrow.txt", &narrow);
}

#[test]
fn colours_surround_words_and_change_nothing_else() {
    let coloured = text(&fixture::deadlock(), &Layout { colour: Colour::Always, ..PLAIN });
    check("deadlock-coloured.txt", &coloured);
    let mut plain = String::new();
    for (index, piece) in coloured.split('\x1b').enumerate() {
        plain.push_str(if index == 0 { piece } else { piece.split_once('m').expect("an escape ends").1 });
    }
    assert_eq!(plain, text(&fixture::deadlock(), &PLAIN));
}

#[test]
fn what_happens_to_everybody_is_told_across_all_lanes() {
    let mut faulty = fixture::deadlock();
    faulty.trace.actors.last_mut().expect("somebody acts").name = "faults".to_owned();
    check("fault.txt", &text(&faulty, &PLAIN));
}

#[test]
fn a_lasso_marks_its_cycle() {
    check("lasso.txt", &text(&fixture::lasso(), &PLAIN));
    check("lasso-ascii.txt", &text(&fixture::lasso(), &Layout { signs: Signs::Ascii, ..PLAIN }));
}

#[test]
fn a_run_that_ends_says_that_time_goes_on() {
    let mut ended = fixture::lasso();
    ended.schedule.cycle_start = Some(4);
    ended.trace.cycle_start = Some(4);
    check("ended.txt", &text(&ended, &PLAIN));
}

#[test]
fn a_rendezvous_is_one_row_with_an_arrow() {
    check("rendezvous.txt", &text(&fixture::rendezvous(), &PLAIN));
    check("rendezvous-ascii.txt", &text(&fixture::rendezvous(), &Layout { signs: Signs::Ascii, ..PLAIN }));
}

#[test]
fn local_steps_are_folded_unless_asked_for() {
    let folded = text(&fixture::long_run(), &PLAIN);
    check("long.txt", &folded);
    let full = text(&fixture::long_run(), &Layout { detail: Detail::Full, ..PLAIN });
    assert_eq!(full.lines().filter(|line| line.contains("i++")).count(), 90);
}

#[test]
fn more_actors_than_columns_share_one_lane() {
    let names: Vec<String> = (0..20).map(|n| format!("worker:{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let steps = (0..20).map(|actor| vec![fixture::changing(actor, "x++", 2, ["x", "0", "1"])]).collect();
    check("many.txt", &text(&fixture::counterexample(&names, steps, None), &PLAIN));
}

#[test]
fn a_counterexample_without_places_or_steps_is_still_told() {
    let mut bare = fixture::deadlock();
    bare.trace.steps.clear();
    bare.wait_for.iter_mut().for_each(|waiting| waiting.location = None);
    check("bare.txt", &text(&bare, &PLAIN));
    // Sources that are gone, or shorter than they were, leave the labels.
    let lost = counterexample_text(&fixture::deadlock(), &Sources::default(), &PLAIN);
    assert!(lost.contains("line 6: transfer:1 waits for `!a`"), "{lost}");
}

#[test]
fn absurd_places_do_not_bring_the_report_down() {
    let mut absurd = fixture::deadlock();
    absurd.location = Some(trace::Location { file: "bank.pml".to_owned(), line: 0, column: 0, width: 0 });
    for (line, column, width) in [(5, 0, 0), (5, u32::MAX, u32::MAX), (u32::MAX, 1, 1)] {
        absurd.wait_for[0].location = Some(fixture::at(line, column, width));
        for columns in [0, 1, 30, 200] {
            let text = text(&absurd, &Layout { width: columns, ..PLAIN });
            assert!(text.contains("error[deadlock]"));
        }
    }
}

fn findings(summary: &Summary) -> Findings<'_> {
    static NOTHING: (Sources, Paths) = (Sources::EMPTY, Paths { here: String::new(), root: String::new() });
    let (sources, paths) = (&NOTHING.0, &NOTHING.1);
    Findings { version: "0.1.0", created: 0, summary, counterexamples: &[], run: None, doubts: &[], sources, paths }
}

#[test]
fn the_closing_report_has_a_verdict_for_each_property() {
    check("summary.txt", &summary_text(&fixture::summary(), &PLAIN));
    check("summary.json", &summary_json(&findings(&fixture::summary())));
    check("summary.spin", &spin_text(&fixture::summary(), "0.1.0"));
}

fn last_line(properties: &[PropertyVerdict], end: End) -> String {
    let properties = properties.iter().map(|&verdict| fixture::property("p", trace::FailureKind::Ltl, verdict));
    let covered = Covered { end, ..fixture::covered() };
    let summary = Summary { properties: properties.collect(), covered, ..Summary::default() };
    summary_text(&summary, &PLAIN).lines().last().unwrap_or_default().to_owned()
}

#[test]
fn the_last_line_is_the_verdict() {
    use PropertyVerdict::*;
    let bound = || End::Bound("depth 100".to_owned());
    assert_eq!(last_line(&[Holds, Vacuous], End::Exhaustive), "holds: 2 of 2 properties");
    let within = "holds: 1 of 1 property, within the bound (depth 100)";
    assert_eq!(last_line(&[Holds], bound()), within);
    let limit = || End::limit("8 s".to_owned(), true);
    assert_eq!(last_line(&[NotFound], limit()), "no violation found in 8 s; not exhaustive");
    assert_eq!(last_line(&[NotFound, Violated], limit()), "violated: 1 of 2 properties");
    let none = last_line(&[Incomplete], End::limit("8 s".to_owned(), false));
    assert_eq!(none, "inconclusive: no run came to its end in 8 s; no violation found so far");
    assert_eq!(last_line(&[Holds, Violated], End::Violation), "violated: 1 of 2 properties");
    assert_eq!(last_line(&[Unsupported], End::Exhaustive), "unsupported: 1 of 1 property");
    let memory = End::Inconclusive("memory ran out (8.0 GB)".to_owned());
    assert_eq!(last_line(&[Incomplete], memory), "inconclusive: memory ran out (8.0 GB); no violation found so far");
    assert_eq!(last_line(&[], End::Exhaustive), "nothing was checked");
    assert_eq!(last_line(&[Incomplete], End::Interrupted), "interrupted: no violation found so far");
    assert_eq!(last_line(&[Violated], End::Interrupted), "violated: 1 of 1 property");
}

#[test]
fn what_was_not_covered_never_passes() {
    use PropertyVerdict::*;
    for end in [End::Interrupted, End::Inconclusive("memory".to_owned())] {
        for verdict in [Holds, Vacuous, Incomplete] {
            let summary = Summary {
                properties: vec![fixture::property("p", trace::FailureKind::Ltl, verdict)],
                covered: Covered { end: end.clone(), ..fixture::covered() },
                ..Summary::default()
            };
            assert_eq!(summary.verdict(), Verdict::Inconclusive);
            assert!(!summary.complete());
        }
    }
}
