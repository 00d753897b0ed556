//! Source lines with carets under what matters.
//!
//! Line numbers and columns count from 1, columns in characters, as compilers count them. A file
//! that is not there (a binary with debug information from elsewhere) costs its lines, not the
//! report.

use crate::fit::{clean, width};
use crate::{Layout, Paint, Role};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use trace::Location;

/// The texts of source files, by the names that locations use.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sources(BTreeMap<String, String>);

impl Sources {
    /// No file.
    pub const EMPTY: Self = Self(BTreeMap::new());

    /// Adds a file.
    pub fn add(&mut self, file: impl Into<String>, text: impl Into<String>) {
        self.0.insert(file.into(), text.into());
    }

    /// The names and texts of all files.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(file, text)| (file.as_str(), text.as_str()))
    }

    /// One line of a file, counted from 1.
    #[must_use]
    pub fn line(&self, file: &str, number: u32) -> Option<&str> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.0.get(file)?.lines().nth(index)
    }
}

/// A place and what to say about it.
pub(crate) struct Mark<'a> {
    /// Where.
    pub location: &'a Location,
    /// What to say; may be empty.
    pub label: String,
}

/// The lines of all marks, first file first, each line once with all its marks below it.
pub(crate) fn snippet(marks: &[Mark<'_>], sources: &Sources, layout: &Layout) -> String {
    let gutter = gutter(marks);
    let mut out = String::new();
    let mut files: Vec<&str> = Vec::new();
    for mark in marks {
        if !files.contains(&mark.location.file.as_str()) {
            files.push(&mark.location.file);
        }
    }
    for (index, file) in files.into_iter().enumerate() {
        let mut here: Vec<&Mark<'_>> = marks.iter().filter(|mark| mark.location.file == file).collect();
        here.sort_by_key(|mark| mark.location.line);
        if index > 0 {
            let place = format!("{}:{}", clean(file), here[0].location.line);
            let _ = writeln!(out, "{:gutter$}{} {place}", "", Paint(layout.colour).paint(Role::Frame, ":::"));
        }
        file_lines(&mut out, &here, sources, layout, gutter);
    }
    out
}

/// Columns of the line numbers.
pub(crate) fn gutter(marks: &[Mark<'_>]) -> usize {
    marks.iter().map(|mark| mark.location.line.to_string().len()).max().unwrap_or(1).max(2)
}

fn file_lines(out: &mut String, marks: &[&Mark<'_>], sources: &Sources, layout: &Layout, gutter: usize) {
    let frame = |text: String| Paint(layout.colour).paint(Role::Frame, &text);
    let _ = writeln!(out, "{}", frame(format!("{:gutter$} |", "")));
    let mut shown = None;
    for mark in marks {
        let number = mark.location.line;
        let Some(line) = sources.line(&mark.location.file, number) else {
            if !mark.label.is_empty() {
                let label = clean(&mark.label);
                let _ = writeln!(out, "{} line {number}: {label}", frame(format!("{:gutter$} =", "")));
            }
            continue;
        };
        let window = Window::around(mark.location, line, layout.width.saturating_sub(gutter + 3));
        if shown != Some(number) {
            if shown.is_some_and(|last| number > last + 1) {
                let _ = writeln!(out, "{}", frame("...".to_owned()));
            }
            let _ = writeln!(out, "{} {}", frame(format!("{number:gutter$} |")), window.text);
        }
        // The first mark of a line is the one to look at; the others are underlined more quietly.
        let sign = if shown == Some(number) { "-" } else { "^" };
        let role = if shown == Some(number) { Role::Frame } else { Role::Error };
        let label = clean(&mark.label);
        let carets = format!("{} {label}", sign.repeat(window.width));
        let painted = Paint(layout.colour).paint(role, carets.trim_end());
        let _ = writeln!(out, "{} {:offset$}{painted}", frame(format!("{:gutter$} |", "")), "", offset = window.offset);
        shown = Some(number);
    }
}

/// The part of a line that is shown, and where the mark is in it. Generated models have lines of many kilobytes.
struct Window {
    text: String,
    offset: usize,
    width: usize,
}

impl Window {
    /// Tabs become single blanks through `clean`, in the line and before the caret alike, so carets
    /// stay below their text.
    fn around(location: &Location, line: &str, room: usize) -> Self {
        let room = room.max(20);
        let column = (location.column as usize).saturating_sub(1);
        let skip = if column > room / 2 && line.chars().count() > room { column - room / 2 } else { 0 };
        let chars: Vec<char> = line.chars().skip(skip).take(room).collect();
        let text = clean(&chars.iter().collect::<String>());
        let before: String = chars.iter().take(column - skip).collect();
        let marked: String = chars.iter().skip(column - skip).take(location.width as usize).collect();
        let offset = width(&clean(&before));
        Self { offset, width: width(&clean(&marked)).max(1), text: text.trim_end().to_owned() }
    }
}
