//! The robustness report as one page that needs nothing else.
//!
//! No scripts, no fonts, no requests: the page can be attached to a mail and opened in ten years.
//! Colours are never the only carrier of meaning, and everything from outside goes through
//! `escaped`.

use super::psa::escaped;
use super::text::{tolerance, verdict};
use super::{Cell, PropertyRow, Robustness};
use crate::number::{count, span};
use std::fmt::Write as _;

/// How the page looks. Cells say in words what their colour says.
const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;max-width:80em;padding:0 1em;color:#222}\
table{border-collapse:collapse;margin:1em 0}th,td{border:1px solid #ccc;padding:.3em .6em;text-align:left;vertical-align:top}\
thead th{position:sticky;top:0;background:#f3f3f3}.violated{background:#f4c7c3}.holds{background:#d9ead3}\
.not-reached{background:#eee;color:#666}.unknown{background:#fff2cc}pre{overflow:auto;background:#f7f7f7;padding:.7em;font-size:13px}\
.scroll{overflow-x:auto}code{white-space:nowrap}\
@media(prefers-color-scheme:dark){body{background:#1c1c1c;color:#ddd}thead th,pre{background:#2a2a2a}th,td{border-color:#444}\
.violated{background:#6b2b26}.holds{background:#2c4a25}.not-reached{background:#333;color:#999}.unknown{background:#5c4a12}}";

/// The page.
#[must_use]
pub fn robustness_html(told: &Robustness) -> String {
    let mut body = format!("<h1>Robustness of {}</h1>\n", escaped(&told.system));
    let _ = writeln!(body, "<p><strong>{}</strong></p>", escaped(&verdict(told).1));
    body += &table(told);
    body += &sets(told);
    body += &single_points(told);
    body += &proofs(told);
    body += &closing(told);
    page(&format!("Robustness of {}", told.system), &body)
}

/// A whole page.
pub(super) fn page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        escaped(title)
    )
}

pub(super) fn class(cell: Cell) -> &'static str {
    match cell {
        Cell::Holds => "holds",
        Cell::Violated | Cell::Repeated => "violated",
        Cell::NotReached => "not-reached",
        Cell::Unknown => "unknown",
    }
}

fn table(told: &Robustness) -> String {
    let mut out = String::from("<h2>Each fault alone</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>fault</th>");
    for row in &told.properties {
        let _ = write!(out, "<th>{}</th>", escaped(&row.name));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for (index, fault) in told.faults.iter().enumerate() {
        let _ = write!(out, "<tr><th><code>{}</code></th>", escaped(&fault.name));
        for row in &told.properties {
            let cell = row.cells[index];
            let _ = write!(out, "<td class=\"{}\">{}</td>", class(cell), cell.words());
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
    out
}

fn sets(told: &Robustness) -> String {
    let mut out = String::from(
        "<h2>Minimal fault sets</h2>\n<table>\n<thead><tr><th>property</th><th>tolerates</th><th>broken by</th></tr></thead>\n<tbody>\n",
    );
    for (number, row) in told.properties.iter().enumerate() {
        let _ = write!(out, "<tr><th>{}</th><td>{}</td><td>", escaped(&row.name), escaped(&tolerance(told, row)));
        for (index, set) in row.cut_sets.iter().enumerate() {
            let name = escaped(&told.set_name(&set.faults));
            let _ = write!(out, "<div><a href=\"#s{number}-{index}\"><code>{name}</code></a></div>");
        }
        if row.cut_sets.is_empty() {
            out.push_str("none");
        }
        out += &not_exhausted(told, row);
        out.push_str("</td></tr>\n");
    }
    out.push_str("</tbody>\n</table>\n");
    out
}

fn not_exhausted(told: &Robustness, row: &PropertyRow) -> String {
    if row.complete(told.budget) {
        return String::new();
    }
    format!("<div class=\"unknown\">not exhausted: {}</div>", escaped(&row.note))
}

fn single_points(told: &Robustness) -> String {
    let points = told.single_points();
    if points.is_empty() {
        return String::new();
    }
    let mut out = String::from("<h2>Single points of failure</h2>\n<ul>\n");
    for (fault, properties) in points {
        let (name, broken) = (escaped(&told.faults[fault].name), escaped(&properties.join(", ")));
        let _ = writeln!(out, "<li><code>{name}</code> breaks {broken}</li>");
    }
    out.push_str("</ul>\n");
    out
}

/// One counterexample for each minimal set.
fn proofs(told: &Robustness) -> String {
    if told.properties.iter().all(|row| row.cut_sets.is_empty()) {
        return String::new();
    }
    let mut out = String::from("<h2>Counterexamples</h2>\n");
    for (number, row) in told.properties.iter().enumerate() {
        for (index, set) in row.cut_sets.iter().enumerate() {
            let name = escaped(&format!("{}: {}", row.name, told.set_name(&set.faults)));
            let steps = if set.steps == 1 { "1 step".to_owned() } else { format!("{} steps", count(set.steps as u64)) };
            // A link to what is folded unfolds it, if it leads inside.
            let _ = writeln!(out, "<details><summary>{name} ({steps})</summary>");
            let _ = writeln!(out, "<pre id=\"s{number}-{index}\">{}</pre></details>", escaped(&set.told));
        }
    }
    out
}

fn closing(told: &Robustness) -> String {
    let complete = if told.complete() { "exhaustive" } else { "not exhaustive" };
    let mut out = format!(
        "<p>{} faults, budget {}, {} searches, {} states, {} steps, {complete}, {}.</p>\n",
        told.faults.len(),
        told.budget,
        count(told.covered.searches),
        count(told.covered.states),
        count(told.covered.steps),
        span(told.covered.seconds)
    );
    for note in &told.notes {
        let _ = writeln!(out, "<p>Note: {}</p>", escaped(note));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;

    #[test]
    fn the_page_needs_nothing_else_and_escapes_what_comes_from_files() {
        let mut told = example();
        told.properties[0].name = "<script>".to_owned();
        let page = robustness_html(&told);
        for foreign in ["http:", "https:", "src=", "<script", "@import"] {
            assert!(!page.contains(foreign), "{foreign} in {page}");
        }
        assert!(page.contains("step 1 &lt;loss&gt;"), "{page}");
        assert!(page.contains("<td class=\"not-reached\">not reached</td>"), "{page}");
    }
}
