//! What the user is told about a model, and how it is printed.
//!
//! A `code` is stable, a message is not: scripts and tests match the former. Rendering is apart
//! from making, so that the same diagnostic goes to a terminal, a file or an editor.

use crate::source::{Location, Origin, SourceMap, Span};
use std::fmt::Write as _;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The model cannot be used.
    Error,
    /// The model is used, but it probably does not mean what was meant.
    Warning,
}

/// One message about one place.
///
/// Boxed strings where most are empty: a `Result<_, Diagnostic>` is returned through every level of
/// the parser.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A short stable name for scripts, such as `syntax` or `include`.
    pub code: &'static str,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What to write beside the carets; may be empty.
    pub label: Box<str>,
    /// Further facts.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<Box<str>>,
}

impl Diagnostic {
    /// An error.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, span, message.into())
    }

    /// A warning.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, span, message.into())
    }

    fn new(severity: Severity, code: &'static str, span: Span, message: String) -> Diagnostic {
        Diagnostic { severity, code, message, span, label: "".into(), notes: Vec::new(), help: None }
    }

    /// Adds the words beside the carets.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Diagnostic {
        self.label = label.into().into();
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// Adds what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into().into());
        self
    }
}

/// Whether to colour the text with ANSI escapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Plain text.
    Never,
    /// ANSI escapes.
    Always,
}

/// Renders a diagnostic as compilers do: message, place, line with carets, notes.
#[must_use]
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap, colour: Colour) -> String {
    let paint = Paint { colour, severity: diagnostic.severity };
    let mut out = String::new();
    let word = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let head = paint.severity(&format!("{word}[{}]", diagnostic.code));
    let _ = writeln!(out, "{head}{}", paint.bold(&format!(": {}", diagnostic.message)));
    let width = snippet(&mut out, diagnostic, sources, &paint);
    let gutter = " ".repeat(width);
    for origin in sources.origins(diagnostic.span) {
        if let Some(note) = origin_note(origin, sources) {
            let _ = writeln!(out, "{gutter} {} {note}", paint.line("="));
        }
    }
    for note in &diagnostic.notes {
        let _ = writeln!(out, "{gutter} {} note: {note}", paint.line("="));
    }
    if let Some(help) = &diagnostic.help {
        let _ = writeln!(out, "{gutter} {} help: {help}", paint.line("="));
    }
    out
}

/// Renders many, with an empty line between them.
#[must_use]
pub fn render_all(diagnostics: &[Diagnostic], sources: &SourceMap, colour: Colour) -> String {
    let rendered: Vec<String> = diagnostics.iter().map(|one| render(one, sources, colour)).collect();
    rendered.join("\n")
}

/// Writes place and line; returns the width of the line-number column.
fn snippet(out: &mut String, diagnostic: &Diagnostic, sources: &SourceMap, paint: &Paint) -> usize {
    let Some(place) = sources.locate(diagnostic.span) else { return 1 };
    let number = place.line.to_string();
    let gutter = " ".repeat(number.len());
    let (shown, offset) = visible_part(&place);
    let bar = paint.line("|");
    let covered = sources.text(diagnostic.span);
    let _ = writeln!(out, "{gutter}{} {}:{}:{}", paint.line("-->"), place.path.display(), place.line, place.column);
    let _ = writeln!(out, "{gutter} {bar}");
    let _ = writeln!(out, "{} {bar} {}", paint.line(&number), shown.replace('\t', " "));
    let width = covered.lines().next().unwrap_or("").chars().count();
    let room = shown.chars().count().saturating_sub(offset).max(1);
    let carets = "^".repeat(width.clamp(1, room));
    let label = if diagnostic.label.is_empty() { String::new() } else { format!(" {}", diagnostic.label) };
    let marks = paint.severity(&format!("{carets}{label}"));
    let _ = writeln!(out, "{gutter} {bar} {}{marks}", " ".repeat(offset));
    number.len()
}

/// The part of a line that is shown (generated models have lines of many kilobytes) and the marked column in it.
fn visible_part(place: &Location<'_>) -> (String, usize) {
    const BEFORE: usize = 100;
    const SHOWN: usize = 160;
    let column = place.column as usize - 1;
    let start = column.saturating_sub(BEFORE);
    (place.text.chars().skip(start).take(SHOWN).collect(), column - start)
}

/// "in the call of inline `f` at m.pml:3:4".
fn origin_note(origin: &Origin, sources: &SourceMap) -> Option<String> {
    let Origin::Inline { name, site, .. } = origin else { return None };
    let place = sources.locate(*site)?;
    Some(format!("in the call of inline `{name}` at {}:{}:{}", place.path.display(), place.line, place.column))
}

/// Puts ANSI escapes around words, or not.
struct Paint {
    colour: Colour,
    severity: Severity,
}

impl Paint {
    fn severity(&self, text: &str) -> String {
        match self.severity {
            Severity::Error => self.wrap("1;31", text),
            Severity::Warning => self.wrap("1;33", text),
        }
    }

    fn line(&self, text: &str) -> String {
        self.wrap("1;34", text)
    }

    fn bold(&self, text: &str) -> String {
        self.wrap("1", text)
    }

    fn wrap(&self, code: &str, text: &str) -> String {
        match self.colour {
            Colour::Never => text.to_string(),
            Colour::Always => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_shows_the_line_and_points_at_the_place() {
        let mut sources = SourceMap::default();
        sources.add_file("m.pml", "int x;\nint\ty = 0x10;\n");
        let span = Span { start: 15, end: 19, ..Span::default() };
        let told = Diagnostic::error("syntax", span, "no hexadecimal numbers").label("read as `0`").help("write 16");
        let expected = "error[syntax]: no hexadecimal numbers\n --> m.pml:2:9\n  |\n2 | int y = 0x10;\n  |         ^^^^ read as `0`\n  = help: write 16\n";
        assert_eq!(render(&told, &sources, Colour::Never), expected);
        assert!(render(&told, &sources, Colour::Always).starts_with("\u{1b}[1;31merror[syntax]\u{1b}[0m"));
    }

    #[test]
    fn the_call_of_an_inline_is_told() {
        let mut sources = SourceMap::default();
        sources.add_file("m.pml", "M\n");
        let site = Span { end: 1, ..Span::default() };
        let origin = sources.add_origin(Origin::Inline { name: "M".into(), site, arguments: Vec::new() });
        let told = Diagnostic::warning("w", Span { origin, ..site }, "odd");
        assert!(render(&told, &sources, Colour::Never).contains("  = in the call of inline `M` at m.pml:1:1\n"));
    }

    #[test]
    fn very_long_lines_are_cut() {
        let mut sources = SourceMap::default();
        sources.add_file("m.pml", "x".repeat(100_000));
        let span = Span { start: 50_000, end: 50_002, ..Span::default() };
        assert!(render(&Diagnostic::error("e", span, "m"), &sources, Colour::Never).len() < 600);
    }
}
