//! The last screen: a verdict for each property, what was covered, and the verdict of all.
//!
//! **Invariant:** the words never claim more than the search covered. "Holds" stands alone only if
//! everything was searched, or the bound that the user asked for and the recorded peers are named
//! with it; all else is "not found", "inconclusive" or "unsupported". The exit code and the JSON
//! come from the same `Summary::outcome`.

use crate::fit::{clean, cut, pad, width, wrap};
use crate::number::{bytes, count, span};
use crate::programs::programs_text;
use crate::unreached::unreached_text;
use crate::{Covered, End, Layout, Outcome, Paint, Property, PropertyVerdict, Role, Summary, Verdict};
use std::fmt::Write as _;
use trace::FailureKind;

/// Columns that a remark gets on the narrowest terminal.
const REMARK_MIN: usize = 24;

/// The whole closing report.
#[must_use]
pub fn summary_text(summary: &Summary, layout: &Layout) -> String {
    let paint = Paint(layout.colour);
    let mut out = String::new();
    // Without a property there is nothing to tell about the search either.
    let searched = !summary.properties.is_empty();
    if searched {
        out += &property_table(summary, layout);
    }
    let unreached: Vec<_> =
        summary.unreached.iter().flatten().filter(|unit| !unit.statements.is_empty()).cloned().collect();
    if !unreached.is_empty() {
        let _ = write!(out, "\n{}", unreached_text(&unreached));
    }
    for warning in &summary.warnings {
        let _ = writeln!(out, "{}: {}", paint.paint(Role::Warning, "warning"), clean(warning));
    }
    if searched {
        out.push('\n');
        for line in wrap(&covered(summary), " . ", layout.width) {
            let _ = writeln!(out, "{line}");
        }
        out += &summary.programs.as_ref().map(|programs| programs_text(programs, layout)).unwrap_or_default();
    }
    let (role, line) = last_line(summary);
    let _ = writeln!(out, "{}", paint.paint(role, &line));
    out
}

fn property_table(summary: &Summary, layout: &Layout) -> String {
    let heads = ["property", "kind", "verdict", ""].map(str::to_owned);
    let mut rows: Vec<[String; 4]> = summary.properties.iter().map(cells).collect();
    // A property that is its own name may be long.
    let room = (layout.width / 2).max(REMARK_MIN);
    rows.iter_mut().for_each(|row| row[0] = cut(&row[0], room, layout.signs));
    let widest = |column: usize| rows.iter().chain([&heads]).map(|row| width(&row[column])).max().unwrap_or(0);
    let widths = [widest(0), widest(1), widest(2)];
    let paint = Paint(layout.colour);
    let mut out = line(&heads, &widths, |text| paint.paint(Role::Strong, &text));
    for (row, property) in rows.iter().zip(&summary.properties) {
        // The whole message stands above, at the counterexample.
        let room = layout.width.saturating_sub(widths.iter().sum::<usize>() + 6).max(REMARK_MIN);
        let mut row = row.clone();
        row[3] = cut(&row[3], room, layout.signs);
        out += &line(&row, &widths, |text| paint.paint(role(property.verdict), &text));
    }
    out
}

fn line(row: &[String; 4], widths: &[usize; 3], paint_verdict: impl Fn(String) -> String) -> String {
    let verdict = paint_verdict(pad(&row[2], widths[2]));
    let text = format!("{}  {}  {verdict}  {}", pad(&row[0], widths[0]), pad(&row[1], widths[1]), row[3]);
    text.trim_end().to_owned() + "\n"
}

/// A row of the table. A property that no user has named bears the name of its kind, which is what goes wrong: its row says what
/// is promised, so that the verdict is about that.
fn cells(property: &Property) -> [String; 4] {
    let mut remarks: Vec<String> = Vec::new();
    remarks.extend(property.counterexample.as_ref().map(|id| format!("counterexample {id}")));
    if property.violations > 1 {
        remarks.push(format!("{} violations", count(property.violations)));
    }
    if !property.note.is_empty() {
        remarks.push(clean(&property.note));
    }
    let is_unnamed = property.name == property.kind.name();
    let name = promise(property.kind).filter(|_| is_unnamed).map_or_else(|| clean(&property.name), str::to_owned);
    [name, property.kind.to_string(), property.verdict.words().to_owned(), remarks.join(" . ")]
}

/// What a system promises that has no failure of a kind; nothing for kinds that users name.
fn promise(kind: FailureKind) -> Option<&'static str> {
    match kind {
        FailureKind::Deadlock => Some("no deadlock"),
        FailureKind::Assert => Some("no failed assertion"),
        FailureKind::Runtime => Some("no runtime error"),
        FailureKind::Accept => Some("no acceptance cycle"),
        FailureKind::Progress => Some("no cycle without progress"),
        FailureKind::Exclusive => Some("no broken xr or xs"),
        FailureKind::Crash => Some("no crash"),
        FailureKind::Exit => Some("no failing exit code"),
        FailureKind::Race => Some("no data race"),
        FailureKind::Misuse => Some("no misuse of locks"),
        FailureKind::Livelock => Some("no livelock"),
        FailureKind::Ltl | FailureKind::Never | FailureKind::Trace => None,
    }
}

fn role(verdict: PropertyVerdict) -> Role {
    match verdict {
        PropertyVerdict::Holds => Role::Good,
        PropertyVerdict::Violated | PropertyVerdict::NeedsFairness => Role::Error,
        PropertyVerdict::Vacuous
        | PropertyVerdict::NotFound
        | PropertyVerdict::Incomplete
        | PropertyVerdict::Unsupported => Role::Warning,
    }
}

fn covered(summary: &Summary) -> Vec<String> {
    let covered = &summary.covered;
    let remembers = covered.states > 0 || covered.traces == 0;
    let mut parts: Vec<String> = remembers.then(|| format!("{} states", count(covered.states))).into_iter().collect();
    parts.extend([
        format!("{} steps", count(covered.steps)),
        format!("depth {}", count(covered.depth_max)),
        extent(summary),
    ]);
    if covered.traces > 0 {
        parts.push(format!("{} traces", count(covered.traces)));
    }
    parts.extend([covered.order.clone(), format!("reduction {}", covered.reduction)]);
    parts.extend(summary.programs.is_none().then(|| store(covered)));
    parts.extend(covered.fair.then(|| "weak fairness".to_owned()));
    parts.extend((!covered.faults.is_empty()).then(|| covered.faults.clone()));
    parts.extend(covered.seed.map(|seed| format!("seed {seed}")));
    parts.extend(collisions(covered));
    parts.push(if covered.workers == 1 { "1 worker".to_owned() } else { format!("{} workers", covered.workers) });
    parts.extend([bytes(covered.memory_bytes), span(covered.seconds)]);
    parts
}

fn extent(summary: &Summary) -> String {
    match &summary.covered.end {
        End::Exhaustive if cuts_runs(summary) => "exhaustive up to violations".to_owned(),
        End::Exhaustive => "exhaustive".to_owned(),
        End::Bound(bound) => format!("not exhaustive: bound {}", clean(bound)),
        End::Limit(effort) => format!("not exhaustive: {}", clean(effort)),
        End::Violation => "stopped at the first violation".to_owned(),
        End::Inconclusive(why) => format!("not exhaustive: {}", clean(why)),
        End::Interrupted => "not exhaustive: interrupted".to_owned(),
    }
}

/// Whether a violation ended runs that would have gone on: what comes after it was not looked at.
fn cuts_runs(summary: &Summary) -> bool {
    let ends = |kind| matches!(kind, FailureKind::Runtime | FailureKind::Trace);
    summary.properties.iter().any(|property| property.verdict == PropertyVerdict::Violated && ends(property.kind))
}

fn store(covered: &Covered) -> String {
    let states = covered.states.max(1);
    let each = covered.store_bytes as f64 / states as f64;
    // On small models the table's first allocation is all there is to see.
    if covered.states < 10_000 {
        format!("{} store", covered.store)
    } else {
        format!("{} store, {each:.1} B/state", covered.store)
    }
}

fn collisions(covered: &Covered) -> Option<String> {
    match covered.collision_probability {
        Some(0.0) => None,
        Some(probability) => Some(format!("collision probability {probability:.1e}")),
        None => Some("states may have been taken for others (no bound known)".to_owned()),
    }
}

/// The verdict of all in words: `holds: 2 of 2 properties`.
pub(crate) fn verdict_line(summary: &Summary) -> String {
    last_line(summary).1
}

fn last_line(summary: &Summary) -> (Role, String) {
    let all = summary.properties.len();
    let with = |wanted: &[PropertyVerdict]| summary.properties.iter().filter(|p| wanted.contains(&p.verdict)).count();
    let of = |found: usize| format!("{found} of {all} {}", if all == 1 { "property" } else { "properties" });
    match summary.outcome() {
        Outcome::Verdict(Verdict::Violated) => {
            let violated = with(&[PropertyVerdict::Violated, PropertyVerdict::NeedsFairness]);
            (Role::Error, format!("violated: {}", of(violated)))
        }
        Outcome::Verdict(Verdict::Holds) => (Role::Good, format!("holds: {}{}", of(holding(summary)), within(summary))),
        Outcome::Verdict(Verdict::NotFound) => (Role::Warning, not_found(summary)),
        Outcome::Verdict(Verdict::Unsupported) => {
            (Role::Warning, format!("unsupported: {}", of(with(&[PropertyVerdict::Unsupported]))))
        }
        Outcome::Verdict(Verdict::Inconclusive) => {
            let why = match &summary.covered.end {
                End::Inconclusive(why) => clean(why),
                _ => of(with(&[PropertyVerdict::Incomplete])) + " not fully covered",
            };
            (Role::Warning, format!("inconclusive: {why}; no violation found so far"))
        }
        Outcome::Nothing => (Role::Warning, "nothing was checked".to_owned()),
        Outcome::Interrupted => (Role::Warning, "interrupted: no violation found so far".to_owned()),
    }
}

fn not_found(summary: &Summary) -> String {
    let effort = match &summary.covered.end {
        End::Limit(effort) => format!(" in {}", clean(effort)),
        _ => String::new(),
    };
    format!("no violation found{effort}; not exhaustive")
}

fn holding(summary: &Summary) -> usize {
    let holds = |property: &&Property| matches!(property.verdict, PropertyVerdict::Holds | PropertyVerdict::Vacuous);
    summary.properties.iter().filter(holds).count()
}

/// What a "holds" is limited to.
fn within(summary: &Summary) -> String {
    let bound = match &summary.covered.end {
        End::Bound(bound) => format!(", within the bound ({})", clean(bound)),
        _ => String::new(),
    };
    let peers: Vec<String> =
        summary.programs.iter().flat_map(|programs| &programs.peers).map(|peer| clean(peer)).collect();
    match peers.is_empty() {
        true => bound,
        false => format!("{bound}, for the peer behaviour recorded: {}", peers.join(", ")),
    }
}
