//! The robustness report as text.
//!
//! Three tables from coarse to fine: what each fault does alone (the effects table of an FMEA),
//! what sets break each property, and which faults are single points of failure.

use super::{Cell, PropertyRow, Robustness};
use crate::fit::{clean, cut, pad, width, wrap};
use crate::number::{count, span};
use crate::{Layout, Outcome, Paint, Role, Signs, Verdict};
use std::fmt::Write as _;

/// The whole report.
#[must_use]
pub fn robustness_text(told: &Robustness, layout: &Layout) -> String {
    let mut out = String::new();
    out += &table(told, layout);
    out.push('\n');
    out += &sets(told, layout);
    out += &single_points(told, layout);
    out += &notes(&told.notes, layout);
    out.push('\n');
    out += &closing(told, layout);
    out
}

/// What the reader should know, broken into lines.
pub(super) fn notes(notes: &[String], layout: &Layout) -> String {
    let mut out = String::new();
    for note in notes {
        let words: Vec<String> = format!("note: {}", clean(note)).split(' ').map(str::to_owned).collect();
        out += &(wrap(&words, " ", layout.width.saturating_sub(2)).join("\n  ") + "\n");
    }
    out
}

/// Faults by properties: what each fault alone does.
fn table(told: &Robustness, layout: &Layout) -> String {
    let paint = Paint(layout.colour);
    let names: Vec<String> = told.faults.iter().map(|fault| clean(&fault.name)).collect();
    let first = names.iter().map(|name| width(name)).max().unwrap_or(0).max(5);
    let heads: Vec<String> = told.properties.iter().map(|row| clean(&row.name)).collect();
    let mut out = String::new();
    // As many columns at a time as the terminal has room for.
    let mut start = 0;
    while start < heads.len() {
        let mut end = start + 1;
        let room = |end: usize| heads[start..end].iter().map(|head| width(head).max(1) + 2).sum::<usize>() + first;
        while end < heads.len() && room(end + 1) <= layout.width {
            end += 1;
        }
        let head: String = heads[start..end].iter().map(|head| format!("  {head}")).collect();
        let _ =
            writeln!(out, "{}{}", paint.paint(Role::Strong, &pad("fault", first)), paint.paint(Role::Strong, &head));
        for (index, name) in names.iter().enumerate() {
            let cells: String = (start..end)
                .map(|column| {
                    let cell = told.properties[column].cells[index];
                    let text = pad(sign(cell, layout.signs), width(&heads[column]));
                    format!("  {}", paint.paint(role(cell), &text))
                })
                .collect();
            let _ = writeln!(out, "{}{}", pad(name, first), cells.trim_end());
        }
        start = end;
        if start < heads.len() {
            out.push('\n');
        }
    }
    let all = [Cell::Violated, Cell::Repeated, Cell::Holds, Cell::NotReached, Cell::Unknown];
    let used = all.into_iter().filter(|cell| told.properties.iter().any(|row| row.cells.contains(cell)));
    let legend: Vec<String> = used.map(|cell| format!("{} {}", sign(cell, layout.signs), cell.words())).collect();
    if !legend.is_empty() {
        let _ = writeln!(out, "({}; each fault alone)", legend.join(", "));
    }
    out
}

fn sign(cell: Cell, signs: Signs) -> &'static str {
    match (cell, signs) {
        (Cell::Holds, Signs::Unicode) => "·",
        (Cell::Holds, Signs::Ascii) => ".",
        (Cell::Violated, _) => "X",
        (Cell::Repeated, _) => "x",
        (Cell::NotReached, _) => "-",
        (Cell::Unknown, _) => "?",
    }
}

fn role(cell: Cell) -> Role {
    match cell {
        Cell::Holds => Role::Good,
        Cell::Violated | Cell::Repeated => Role::Error,
        Cell::NotReached => Role::Dim,
        Cell::Unknown => Role::Warning,
    }
}

/// The minimal sets of each property.
fn sets(told: &Robustness, layout: &Layout) -> String {
    let paint = Paint(layout.colour);
    let heads = ["property", "tolerates", "minimal fault sets"];
    let first = told.properties.iter().map(|row| width(&clean(&row.name))).max().unwrap_or(0).max(width(heads[0]));
    let second = told.properties.iter().map(|row| width(&tolerance(told, row))).max().unwrap_or(0).max(width(heads[1]));
    let room = layout.width.saturating_sub(first + second + 4).max(24);
    let line = format!("{}  {}  {}", pad(heads[0], first), pad(heads[1], second), heads[2]);
    let mut out = paint.paint(Role::Strong, &line) + "\n";
    for row in &told.properties {
        let mut words: Vec<String> = row.cut_sets.iter().map(|set| set_text(told, set)).collect();
        let open = (!row.complete(told.budget)).then(|| format!("(not exhausted: {})", clean(&row.note)));
        match (words.is_empty(), open) {
            (true, Some(open)) => words.push(format!("none found {open}")),
            (true, None) => words.push("none".to_owned()),
            (false, open) => words.extend(open),
        }
        let lines = wrap(&words, ", ", room);
        for (number, text) in lines.iter().enumerate() {
            let (name, level) = match number {
                0 => (clean(&row.name), tolerance(told, row)),
                _ => (String::new(), String::new()),
            };
            let comma = if number + 1 < lines.len() { "," } else { "" };
            let _ = writeln!(
                out,
                "{}  {}  {}{comma}",
                pad(&name, first),
                pad(&level, second),
                cut(text, room, layout.signs)
            );
        }
    }
    out
}

fn set_text(told: &Robustness, set: &super::CutSet) -> String {
    let name = clean(&told.set_name(&set.faults));
    match &set.counterexample {
        Some(id) => format!("{name} [{id}]"),
        None => name,
    }
}

/// How many faults a property tolerates, in words.
pub(super) fn tolerance(told: &Robustness, row: &PropertyRow) -> String {
    if row.fails_anyway() {
        return "violated even without faults".to_owned();
    }
    match row.tolerates() {
        None => "unknown".to_owned(),
        Some(level) if row.cut_sets.is_empty() && level == told.budget => format!("all {level}"),
        Some(level) if row.cut_sets.is_empty() => format!("at least {level}"),
        Some(level) => level.to_string(),
    }
}

fn single_points(told: &Robustness, layout: &Layout) -> String {
    let points = told.single_points();
    if points.is_empty() {
        return String::new();
    }
    let paint = Paint(layout.colour);
    let mut out = format!("\n{}\n", paint.paint(Role::Strong, "single points of failure"));
    for (fault, properties) in points {
        let text = format!("{} breaks {}", clean(&told.faults[fault].name), clean(&properties.join(", ")));
        let _ = writeln!(out, "  {}", cut(&text, layout.width.saturating_sub(2), layout.signs));
    }
    out
}

/// What was covered, and the verdict.
fn closing(told: &Robustness, layout: &Layout) -> String {
    let paint = Paint(layout.colour);
    let plural =
        |number: usize, word: &str| format!("{} {word}{}", count(number as u64), if number == 1 { "" } else { "s" });
    let mut parts = vec![
        plural(told.faults.len(), "fault"),
        format!("budget {}", told.budget),
        plural(told.covered.searches as usize, "search").replace("searchs", "searches"),
        format!("{} states", count(told.covered.states)),
        format!("{} steps", count(told.covered.steps)),
    ];
    parts.push(if told.complete() { "exhaustive".to_owned() } else { "not exhaustive".to_owned() });
    parts.extend(told.fair.then(|| "weak fairness".to_owned()));
    parts.push(span(told.covered.seconds));
    let mut out = wrap(&parts, " . ", layout.width).join("\n") + "\n";
    let (role, line) = verdict(told);
    out += &paint.paint(role, &line);
    out.push('\n');
    out
}

/// The last line.
pub(super) fn verdict(told: &Robustness) -> (Role, String) {
    let all = told.properties.len();
    let broken = told.properties.iter().filter(|row| !row.cut_sets.is_empty()).count();
    let faults = if told.budget == 1 { "1 fault".to_owned() } else { format!("{} faults", told.budget) };
    match told.outcome() {
        Outcome::Verdict(Verdict::Violated) => {
            (Role::Error, format!("violated: {broken} of {all} properties do not survive {faults}"))
        }
        Outcome::Verdict(Verdict::Holds) => (Role::Good, format!("holds: {all} of {all} properties survive {faults}")),
        Outcome::Interrupted => (Role::Warning, "interrupted: no violation found so far".to_owned()),
        Outcome::Nothing => (Role::Warning, "nothing was checked".to_owned()),
        Outcome::Verdict(_) => (
            Role::Warning,
            format!("inconclusive: not every set of up to {faults} was exhausted; no violation found so far"),
        ),
    }
}
