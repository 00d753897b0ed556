//! Two systems side by side, before and after an improvement.
//!
//! Faults and properties are matched by name; what only one side has is listed, not guessed to be a
//! renamed other.

use super::html::{class, page};
use super::psa::escaped;
use super::text::{notes, tolerance, verdict};
use super::{Cell, PropertyRow, Robustness, json};
use crate::fit::{clean, cut};
use crate::table::plain_table;
use crate::{Layout, Paint};
use std::fmt::Write as _;

/// Both reports property by property, then fault by fault where they differ.
#[must_use]
pub fn compare_text(before: &Robustness, after: &Robustness, layout: &Layout) -> String {
    let mut out = format!("before: {}\nafter:  {}\n\n", clean(&before.system), clean(&after.system));
    let mut rows = vec![["property", "tolerates", "", "", "broken by", ""].map(str::to_owned).to_vec()];
    rows.push(["", "before", "after", "", "before", "after"].map(str::to_owned).to_vec());
    for pair in pairs(before, after) {
        rows.push(vec![
            clean(pair.name),
            pair.tolerance(0),
            pair.tolerance(1),
            pair.change().to_owned(),
            pair.broken_by(0),
            pair.broken_by(1),
        ]);
    }
    out += &fitted(&plain_table(&rows), layout);
    out += &fitted(&differences(before, after), layout);
    out.push('\n');
    out += &closing(before, after, layout);
    out
}

/// Lines that fit the terminal.
fn fitted(text: &str, layout: &Layout) -> String {
    text.lines().map(|line| cut(line, layout.width, layout.signs) + "\n").collect()
}

/// What must be known beside the tables, and both verdicts, the one that counts last.
fn closing(before: &Robustness, after: &Robustness, layout: &Layout) -> String {
    let mut out = String::new();
    out += &notes(&remarks(before, after), layout);
    for (when, told) in [("before:", before), ("after: ", after)] {
        let (role, line) = verdict(told);
        let _ = writeln!(out, "{when} {}", Paint(layout.colour).paint(role, &line));
    }
    out
}

/// What was left out on either side, each thing once.
fn remarks(before: &Robustness, after: &Robustness) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for told in [before, after] {
        let open = told.properties.iter().filter(|row| !row.complete(told.budget));
        all.extend(open.map(|row| format!("{} of {} was not exhausted: {}", row.name, told.system, row.note)));
    }
    for note in before.notes.iter().chain(&after.notes) {
        if !all.contains(note) {
            all.push(note.clone());
        }
    }
    all
}

/// Cells that differ: what was lost, what was won.
fn differences(before: &Robustness, after: &Robustness) -> String {
    let mut rows = Vec::new();
    for (index, fault) in before.faults.iter().enumerate() {
        let Some(other) = after.faults.iter().position(|other| other.name == fault.name) else { continue };
        for pair in pairs(before, after) {
            let [Some(old), Some(new)] = pair.rows else { continue };
            let (old, new) = (old.cells[index], new.cells[other]);
            if old != new {
                rows.push(vec![
                    clean(&fault.name),
                    clean(pair.name),
                    old.words().to_owned(),
                    "->".to_owned(),
                    new.words().to_owned(),
                ]);
            }
        }
    }
    let mut out = String::new();
    if !rows.is_empty() {
        rows.insert(0, ["fault", "property", "before", "", "after"].map(str::to_owned).to_vec());
        let _ = write!(out, "\n{}", plain_table(&rows));
    }
    for (title, one, other) in [("only before", before, after), ("only after", after, before)] {
        let missing = |name: &&str| !other.faults.iter().any(|fault| fault.name == **name);
        let names: Vec<&str> = one.faults.iter().map(|fault| fault.name.as_str()).filter(missing).collect();
        if !names.is_empty() {
            let _ = writeln!(out, "\nfaults {title}: {}", clean(&names.join(", ")));
        }
    }
    out
}

/// A property in both systems, or in one of them.
struct Pair<'a> {
    name: &'a str,
    told: [&'a Robustness; 2],
    rows: [Option<&'a PropertyRow>; 2],
}

impl Pair<'_> {
    fn tolerance(&self, side: usize) -> String {
        self.rows[side].map_or_else(|| "(not there)".to_owned(), |row| tolerance(self.told[side], row))
    }

    fn broken_by(&self, side: usize) -> String {
        let names = self.names(side);
        match names.len() {
            0..=3 => self.sets(side),
            many => format!("{}, and {} more", names[..2].join(", "), many - 2),
        }
    }

    /// Every minimal set.
    fn sets(&self, side: usize) -> String {
        let names = self.names(side);
        if names.is_empty() && self.rows[side].is_some() { "-".to_owned() } else { names.join(", ") }
    }

    fn names(&self, side: usize) -> Vec<String> {
        let sets = self.rows[side].iter().flat_map(|row| &row.cut_sets);
        sets.map(|set| clean(&self.told[side].set_name(&set.faults))).collect()
    }

    /// Whether fewer minimal sets break it now, or larger ones.
    ///
    /// Lexicographic: tolerance, then the number of minimal sets, then the number of single faults
    /// that break it. A system that tolerates one fault more is better even if more sets of the
    /// larger size exist.
    fn change(&self) -> &'static str {
        let [Some(old), Some(new)] = self.rows else { return "" };
        // What was not exhausted is neither better nor worse.
        if !old.complete(self.told[0].budget) || !new.complete(self.told[1].budget) {
            return "?";
        }
        let rank = |row: &PropertyRow| {
            let broken = row.cells.iter().filter(|cell| matches!(cell, Cell::Violated | Cell::Repeated)).count();
            (row.tolerates().map_or(-1, i64::from), -(row.cut_sets.len() as i64), -(broken as i64))
        };
        match rank(new).cmp(&rank(old)) {
            std::cmp::Ordering::Greater => "better",
            std::cmp::Ordering::Less => "worse",
            std::cmp::Ordering::Equal => "same",
        }
    }
}

fn pairs<'a>(before: &'a Robustness, after: &'a Robustness) -> Vec<Pair<'a>> {
    let find = |told: &'a Robustness, name: &str| told.properties.iter().find(|row| row.name == name);
    let mut names: Vec<&str> = before.properties.iter().map(|row| row.name.as_str()).collect();
    names.extend(after.properties.iter().map(|row| row.name.as_str()).filter(|name| find(before, name).is_none()));
    let pair = |name| Pair { name, told: [before, after], rows: [find(before, name), find(after, name)] };
    names.into_iter().map(pair).collect()
}

/// Both objects in one.
#[must_use]
pub fn compare_json(before: &Robustness, after: &Robustness) -> String {
    let both = serde_json::json!({ "before": json::object(before), "after": json::object(after) });
    both.to_string() + "\n"
}

/// Both tables on one page.
#[must_use]
pub fn compare_html(before: &Robustness, after: &Robustness) -> String {
    let title = format!("{} and {}", before.system, after.system);
    let mut body = String::from("<h1>Robustness before and after</h1>\n");
    for (when, told) in [("Before", before), ("After", after)] {
        let (name, line) = (escaped(&told.system), escaped(&verdict(told).1));
        let _ = writeln!(body, "<p>{when}: <code>{name}</code>. <strong>{line}</strong></p>");
    }
    for note in remarks(before, after) {
        let _ = writeln!(body, "<p>Note: {}</p>", escaped(&note));
    }
    body.push_str("<h2>Property by property</h2>\n<div class=\"scroll\"><table>\n");
    body.push_str("<thead><tr><th>property</th><th>tolerates before</th><th>after</th><th></th><th>broken by, before</th><th>after</th></tr></thead>\n<tbody>\n");
    for pair in pairs(before, after) {
        let cells = [pair.tolerance(0), pair.tolerance(1), pair.change().to_owned(), pair.sets(0), pair.sets(1)];
        let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", escaped(cell))).collect();
        let _ = writeln!(body, "<tr><th>{}</th>{cells}</tr>", escaped(pair.name));
    }
    body.push_str("</tbody>\n</table></div>\n<h2>Each fault alone</h2>\n");
    body += &cells(before, after);
    page(&title, &body)
}

fn cells(before: &Robustness, after: &Robustness) -> String {
    let all = pairs(before, after);
    let mut out = String::from("<div class=\"scroll\"><table>\n<thead><tr><th rowspan=\"2\">fault</th>");
    all.iter().for_each(|pair| {
        let _ = write!(out, "<th colspan=\"2\">{}</th>", escaped(pair.name));
    });
    let _ = write!(out, "</tr>\n<tr>{}", "<th>before</th><th>after</th>".repeat(all.len()));
    out.push_str("</tr></thead>\n<tbody>\n");
    let mut names: Vec<&str> = before.faults.iter().map(|fault| fault.name.as_str()).collect();
    let known = names.clone();
    names.extend(after.faults.iter().map(|fault| fault.name.as_str()).filter(|name| !known.contains(name)));
    for name in names {
        let _ = write!(out, "<tr><th><code>{}</code></th>", escaped(name));
        for pair in &all {
            for side in 0..2 {
                let fault = pair.told[side].faults.iter().position(|fault| fault.name == name);
                let _ = match pair.rows[side].zip(fault).map(|(row, fault)| row.cells[fault]) {
                    Some(cell) => write!(out, "<td class=\"{}\">{}</td>", class(cell), cell.words()),
                    None => write!(out, "<td></td>"),
                };
            }
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
    out
}

#[cfg(test)]
mod tests {
    use super::super::tests::example;
    use super::*;

    #[test]
    fn what_got_better_is_told_property_by_property() {
        let before = example();
        let mut after = example();
        after.properties[0].cut_sets.clear();
        after.properties[0].cells[1] = Cell::Holds;
        let text = compare_text(&before, &after, &Layout::PLAIN);
        assert!(text.contains("deadlock  0          all 2  better  stop:P"), "{text}");
        assert!(text.contains("stop:P  deadlock  violated  ->  holds"), "{text}");
        assert!(text.contains("safe      1          1      same"), "{text}");
        assert!(text.ends_with("after:  violated: 1 of 2 properties do not survive 2 faults\n"), "{text}");
    }

    #[test]
    fn what_was_not_exhausted_is_neither_better_nor_worse() {
        let before = example();
        let mut after = example();
        after.properties[0].doubt(1, "time ran out");
        let text = compare_text(&before, &after, &Layout::PLAIN);
        assert!(text.contains("deadlock  0          0      ?"), "{text}");
        assert!(text.contains("note: deadlock of a.pml was not exhausted: time ran out"), "{text}");
    }
}
