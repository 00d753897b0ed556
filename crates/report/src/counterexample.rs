//! A counterexample as text: what failed and where, the lanes, what to do next.
//!
//! In the manner of rustc's diagnostics: one line that says what is wrong, the place, the evidence,
//! and last what to do next. The last lines are commands that can be copied.

use crate::events::waiting_text;
use crate::fit::{clean, width, wrap};
use crate::lanes::lanes;
use crate::snippet::{Mark, gutter, snippet};
use crate::{Detail, Layout, Paint, Role, Sources};
use std::fmt::Write as _;
use trace::{Counterexample, Trace};

/// Lines of the final state that are shown unless everything is.
const FINAL_LINES: usize = 3;

/// Columns from which on the commands share a line.
const COMMANDS_WIDTH: usize = 88;

/// The whole report of one counterexample, which says so if it was not replayed.
#[must_use]
pub fn counterexample_text(counterexample: &Counterexample, sources: &Sources, layout: &Layout) -> String {
    let mut out = headline(counterexample, layout);
    out += &places(counterexample, sources, layout);
    out.push('\n');
    if !counterexample.trace.steps.is_empty() {
        out += &lanes(&counterexample.trace, layout);
        out.push('\n');
    }
    out += &final_state(counterexample, layout);
    out += &commands(counterexample, layout);
    out
}

/// The steps of a trace as a table of lanes.
#[must_use]
pub fn trace_text(trace: &Trace, layout: &Layout) -> String {
    lanes(trace, layout)
}

fn headline(counterexample: &Counterexample, layout: &Layout) -> String {
    let paint = Paint(layout.colour);
    let kind = match counterexample.is_driven {
        true => paint.paint(Role::Strong, "schedule"),
        false => paint.paint(Role::Error, &format!("error[{}]", counterexample.property.kind)),
    };
    format!("{kind}{}\n", paint.paint(Role::Strong, &format!(": {}", headline_text(counterexample))))
}

/// What does not hold, in a line.
pub(crate) fn headline_text(counterexample: &Counterexample) -> String {
    let property = &counterexample.property;
    let message = clean(&counterexample.message);
    if counterexample.is_driven {
        return message;
    }
    // A name that only repeats the kind says nothing, nor does one that the message begins with.
    let named = property.name != property.kind.name() && !message.starts_with(&format!("`{}`", clean(&property.name)));
    if named { format!("`{}`: {message}", clean(&property.name)) } else { message }
}

/// Where it went wrong, with the source lines of everyone who waits.
///
/// The failing place comes first, then everyone who waits: in a deadlock no single place is at
/// fault.
fn places(counterexample: &Counterexample, sources: &Sources, layout: &Layout) -> String {
    let trace = &counterexample.trace;
    let waiting = counterexample.wait_for.iter().filter_map(|waiting| {
        let label = format!("{} {}", trace.name(waiting.actor), waiting_text(waiting));
        Some(Mark { location: waiting.location.as_ref()?, label })
    });
    let mut marks: Vec<Mark<'_>> = waiting.collect();
    if let Some(location) = &counterexample.location
        && !marks.iter().any(|mark| mark.location == location)
    {
        marks.insert(0, Mark { location, label: String::new() });
    }
    let gutter = gutter(&marks);
    let frame = |text: &str| Paint(layout.colour).paint(Role::Frame, text);
    let facts = facts(counterexample);
    let mut out = String::new();
    match counterexample.location.as_ref().or(marks.first().map(|mark| mark.location)) {
        None => {
            let _ = writeln!(out, "{:gutter$} {} {facts}", "", frame("="));
        }
        Some(first) => {
            let place = format!("{}:{}:{}", clean(&first.file), first.line, first.column);
            let used = gutter + 4 + width(&place);
            let gap = layout.width.saturating_sub(used + width(&facts)).min(20);
            if gap >= 3 {
                let _ = writeln!(out, "{:gutter$}{} {place}{:gap$}{facts}", "", frame("-->"), "");
            } else {
                let _ = writeln!(out, "{:gutter$}{} {place}", "", frame("-->"));
                let _ = writeln!(out, "{:gutter$} {} {facts}", "", frame("="));
            }
            out += &snippet(&marks, sources, layout);
        }
    }
    let unplaced = counterexample.wait_for.iter().filter(|waiting| waiting.location.is_none());
    let unplaced = unplaced.map(|waiting| format!("{} {}", trace.name(waiting.actor), waiting_text(waiting)));
    for note in unplaced.chain(counterexample.notes.iter().cloned()) {
        let words: Vec<String> = clean(&note).split(' ').map(str::to_owned).collect();
        let lines = wrap(&words, " ", layout.width.saturating_sub(gutter + 3).max(20));
        for (index, line) in lines.iter().enumerate() {
            let sign = if index == 0 { frame("=") } else { " ".to_owned() };
            let _ = writeln!(out, "{:gutter$} {sign} {line}", "");
        }
    }
    out
}

/// How it goes wrong, in numbers.
pub(crate) fn facts(counterexample: &Counterexample) -> String {
    let (schedule, steps) = (&counterexample.schedule, counterexample.schedule.choices.len());
    let switches = match schedule.context_switches() {
        1 => "1 context switch".to_owned(),
        switches => format!("{switches} context switches"),
    };
    let mut facts = vec![match schedule.cycle_start {
        Some(0) if steps > 0 => format!("a cycle of {steps} from the start"),
        Some(1) if steps > 1 => format!("1 step, then a cycle of {}", steps - 1),
        Some(start) if start < steps => format!("{start} steps, then a cycle of {}", steps - start),
        _ => format!("step {steps} of {steps}"),
    }];
    facts.push(switches);
    facts.extend(counterexample.fairness.then(|| "weakly fair".to_owned()));
    let is_unconfirmed = counterexample.programs.as_ref().is_some_and(|programs| programs.is_unconfirmed);
    facts.push(if is_unconfirmed { "not replayed yet" } else { "confirmed by replay" }.to_owned());
    facts.join(" . ")
}

fn final_state(counterexample: &Counterexample, layout: &Layout) -> String {
    let variables = counterexample.final_state.iter();
    let words: Vec<String> =
        variables.map(|variable| clean(&format!("{} = {}", variable.name, variable.value))).collect();
    if words.is_empty() {
        return String::new();
    }
    let lines = wrap(&words, ", ", layout.width.saturating_sub(12).max(20));
    let shown = if layout.detail == Detail::Full { lines.len() } else { lines.len().min(FINAL_LINES) };
    let mut out = String::new();
    for (index, line) in lines[..shown].iter().enumerate() {
        let head = if index == 0 { "at the end" } else { "" };
        let _ = writeln!(out, "{}  {line}", Paint(layout.colour).paint(Role::Dim, &format!("{head:10}")));
    }
    if shown < lines.len() {
        let more = lines.len() - shown;
        let (lines, them) = if more == 1 { ("line", "it") } else { ("lines", "them") };
        let _ = writeln!(out, "            ... {more} more {lines} (-v shows {them})");
    }
    out.push('\n');
    out
}

/// What to do next; nothing, if the counterexample was not saved and so has no name.
fn commands(counterexample: &Counterexample, layout: &Layout) -> String {
    let id = &counterexample.id;
    if id.is_empty() {
        return String::new();
    }
    let paint = Paint(layout.colour);
    let command = |verb: &str, line: String| format!("{}  {line}", paint.paint(Role::Dim, verb));
    let mut commands = vec![command("replay", format!("allways replay {id}"))];
    // A model has no instructions to stop at.
    commands.extend(counterexample.programs.is_some().then(|| command("debug", format!("allways debug {id}"))));
    commands.push(command("see", format!("allways explore {id}")));
    let gap = if layout.width >= COMMANDS_WIDTH { "      " } else { "\n" };
    commands.join(gap) + "\n"
}
