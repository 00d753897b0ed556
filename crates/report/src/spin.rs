//! SPIN's closing report, for tools that scrape it.
//!
//! Scripts written for SPIN's verifier look for words such as `errors: 0`, `invalid end state` and
//! `unreached in proctype`, so these lines keep SPIN 6's words and positions even where ours
//! differ. What SPIN does not know (programs, faults) is left out or named by our own word.

use crate::unreached::unreached_text;
use crate::{Covered, End, Property, PropertyVerdict, Summary};
use std::fmt::Write as _;
use trace::FailureKind;

const MEGABYTE: f64 = 1_048_576.0;

/// The lines that `pan` prints, with the same words in the same places.
#[must_use]
pub fn spin_text(summary: &Summary, version: &str) -> String {
    let covered = &summary.covered;
    let mut out = String::new();
    for property in violated(summary) {
        let depth = property.trail.map_or(covered.depth_max, |trail| trail.depth);
        let _ = writeln!(out, "pan:1: {} (at depth {depth})", complaint(property));
    }
    let _ = writeln!(out, "\n(Spin Version 6.5.2 -- format only, by Allways {version})");
    if covered.end != End::Exhaustive {
        out.push_str("Warning: Search not completed\n");
    }
    if covered.order.contains("breadth") {
        out.push_str("\t+ Breadth-First Search\n");
    }
    if covered.reduction != "off" {
        out.push_str("\t+ Partial Order Reduction\n");
    }
    out += &searched_for(summary);
    out += &counts(summary);
    let _ = writeln!(out, "\nStats on memory usage (in Megabytes):");
    let _ = writeln!(out, "{:9.3}\tactual memory usage for states", covered.store_bytes as f64 / MEGABYTE);
    let _ = writeln!(out, "{:9.3}\ttotal actual memory usage\n", covered.memory_bytes as f64 / MEGABYTE);
    out += &unreached_text(summary.unreached.as_deref().unwrap_or_default());
    out += &elapsed(covered);
    out
}

fn violated(summary: &Summary) -> impl Iterator<Item = &Property> {
    let broken = [PropertyVerdict::Violated, PropertyVerdict::NeedsFairness];
    summary.properties.iter().filter(move |property| broken.contains(&property.verdict))
}

fn complaint(property: &Property) -> String {
    let from_the_model = matches!(property.kind, FailureKind::Assert | FailureKind::Runtime);
    if from_the_model && !property.note.is_empty() {
        return crate::fit::clean(&property.note);
    }
    match property.kind {
        FailureKind::Deadlock => "invalid end state".to_owned(),
        FailureKind::Ltl | FailureKind::Never if property.trail.is_some_and(|trail| !trail.cycle) => {
            "end state in claim reached".to_owned()
        }
        FailureKind::Accept if property.trail.is_some_and(|trail| !trail.cycle) => "accept stutter".to_owned(),
        FailureKind::Accept | FailureKind::Ltl | FailureKind::Never => "acceptance cycle".to_owned(),
        FailureKind::Progress => "non-progress cycle".to_owned(),
        FailureKind::Assert => "assertion violated".to_owned(),
        FailureKind::Trace => "event_trace error".to_owned(),
        FailureKind::Exclusive => "xr/xs assertion violated".to_owned(),
        FailureKind::Runtime => "run-time error".to_owned(),
        // SPIN knows no programs.
        FailureKind::Crash | FailureKind::Exit | FailureKind::Race | FailureKind::Misuse | FailureKind::Livelock => {
            property.kind.name().to_owned()
        }
    }
}

fn searched_for(summary: &Summary) -> String {
    let checked = |kind: FailureKind| {
        summary.absent.contains(&kind) || summary.properties.iter().any(|property| property.kind == kind)
    };
    let sign = |on: bool| if on { '+' } else { '-' };
    let claims = summary.properties.iter().filter(|p| matches!(p.kind, FailureKind::Ltl | FailureKind::Never));
    let claims: Vec<&str> = claims.map(|property| property.name.as_str()).collect();
    let fairness = if summary.covered.fair { "enabled" } else { "disabled" };
    let claim = if claims.is_empty() { "- (none specified)".to_owned() } else { format!("+ ({})", claims.join(", ")) };
    let cycles = if checked(FailureKind::Progress) { "non-progress cycles" } else { "acceptance   cycles" };
    let on = checked(FailureKind::Progress) || checked(FailureKind::Accept) || !claims.is_empty();
    let mut out = "\nFull statespace search for:\n".to_owned();
    let _ = writeln!(out, "\tnever claim         \t{claim}");
    let _ = writeln!(out, "\tassertion violations\t{}", sign(checked(FailureKind::Assert)));
    let _ = writeln!(out, "\t{cycles} \t{} (fairness {fairness})", sign(on));
    let _ = writeln!(out, "\tinvalid end states\t{}\n", sign(checked(FailureKind::Deadlock)));
    out
}

fn counts(summary: &Summary) -> String {
    let covered = &summary.covered;
    let errors: u64 = violated(summary).map(|property| property.violations.max(1)).sum();
    let (vector, depth) = (covered.state_bytes, covered.depth_max);
    let mut out = format!("State-vector {vector} byte, depth reached {depth}, errors: {errors}\n");
    let _ = writeln!(out, "{:9} states, stored", covered.states);
    let _ = writeln!(out, "{:9} states, matched", covered.matched);
    let _ = writeln!(out, "{:9} transitions (= stored+matched)", covered.states + covered.matched);
    let _ = writeln!(out, "hash conflicts: {:9} (resolved)", 0);
    out
}

fn elapsed(covered: &Covered) -> String {
    let mut out = format!("\npan: elapsed time {:.3} seconds\n", covered.seconds);
    if covered.seconds > 0.0 {
        let _ = writeln!(out, "pan: rate {:9.0} states/second", covered.states as f64 / covered.seconds);
    }
    out
}
