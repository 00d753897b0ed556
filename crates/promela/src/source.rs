//! Where things stand in the user's files.
//!
//! Every token and every node of the tree carries a [`Span`]. A span points into the text of a file as the user wrote
//! it. What came out of a macro has the place of the macro's use. What came out of an `inline` has its place in the
//! inline's body, and its [`Origin`] says which call it belongs to.
//!
//! Spans are 16 bytes and `Copy`; lines and columns are worked out only when a message is shown.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// Identity of a file in a [`SourceMap`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct FileId(pub u32);

/// Identity of an entry in the table of inline calls; [`OriginId::WRITTEN`] means "stands there as written".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct OriginId(pub u32);

impl OriginId {
    /// The text stands in the file as it was read.
    pub const WRITTEN: OriginId = OriginId(0);
}

/// A stretch of a file, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Through which call of an inline it came here.
    pub origin: OriginId,
}

impl Span {
    /// The smallest span that covers both, when both stand in the same file and call; else `self`.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file || self.origin != other.origin {
            return self;
        }
        Span { start: self.start.min(other.start), end: self.end.max(other.end), ..self }
    }

    /// The empty span just behind this one: the place where something is missing.
    #[must_use]
    pub fn after(self) -> Span {
        Span { start: self.end, ..self }
    }
}

/// How a stretch of text came to be read at a place where it does not stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It stands there as written.
    Written,
    /// It is the body of an `inline`. Spans of such tokens point into the definition's body.
    Inline {
        /// The inline.
        name: String,
        /// The call.
        site: Span,
        /// Its parameters, each with what the call put in its place.
        arguments: Vec<(Box<str>, Box<str>)>,
    },
}

/// A place for people: counted from 1, columns in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location<'a> {
    /// The file's name as the user would write it.
    pub path: &'a Path,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The whole line without its end.
    pub text: &'a str,
}

/// One file as read.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its name.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
    line_starts: Vec<u32>,
}

/// The files that were read and the inline calls that were expanded.
#[derive(Clone, Debug)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    origins: Vec<Origin>,
}

impl Default for SourceMap {
    fn default() -> Self {
        SourceMap { files: Vec::new(), origins: vec![Origin::Written] }
    }
}

impl SourceMap {
    /// Takes in a file. Texts beyond 4 GiB must be refused before.
    pub fn add_file(&mut self, path: impl Into<PathBuf>, text: impl Into<String>) -> FileId {
        let (path, text) = (path.into(), text.into());
        let mut line_starts = vec![0];
        line_starts.extend(text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(at, _)| at as u32 + 1));
        self.files.push(SourceFile { path, text, line_starts });
        FileId(self.files.len() as u32 - 1)
    }

    /// Remembers a call.
    pub fn add_origin(&mut self, origin: Origin) -> OriginId {
        self.origins.push(origin);
        OriginId(self.origins.len() as u32 - 1)
    }

    /// The files in the order they were read; the first is the model itself.
    #[must_use]
    pub fn files(&self) -> &[SourceFile] {
        &self.files
    }

    /// The call a span came through.
    #[must_use]
    pub fn origin(&self, id: OriginId) -> &Origin {
        self.origins.get(id.0 as usize).unwrap_or(&Origin::Written)
    }

    /// The calls of inlines that lead to `span`, innermost first.
    #[must_use]
    pub fn origins(&self, span: Span) -> Vec<&Origin> {
        let mut chain = Vec::new();
        let mut id = span.origin;
        while let origin @ Origin::Inline { site, .. } = self.origin(id) {
            chain.push(origin);
            // Calls only refer to earlier ones, which is what ends this loop.
            if site.origin >= id {
                break;
            }
            id = site.origin;
        }
        chain
    }

    /// File, line, column and line text of the span's first byte; `None` when it belongs to no file of this map.
    ///
    /// O(log lines). Offsets are bytes, columns are characters, both counted from the file as read.
    #[must_use]
    pub fn locate(&self, span: Span) -> Option<Location<'_>> {
        let file = self.files.get(span.file.0 as usize)?;
        let start = floor_boundary(&file.text, span.start as usize);
        let line = file.line_starts.partition_point(|&first| first as usize <= start).saturating_sub(1);
        let text = file.line(line);
        let column = file.text.get(file.line_starts[line] as usize..start).map_or(0, |before| before.chars().count());
        Some(Location { path: &file.path, line: line as u32 + 1, column: column as u32 + 1, text })
    }

    /// The text a span covers.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        let Some(file) = self.files.get(span.file.0 as usize) else { return "" };
        let start = floor_boundary(&file.text, span.start as usize);
        let end = floor_boundary(&file.text, span.end as usize).max(start);
        &file.text[start..end]
    }

    /// The text a span covers as it is executed: in the body of an inline, with the arguments of the call.
    #[must_use]
    pub fn executed(&self, span: Span) -> Cow<'_, str> {
        match self.origin(span.origin) {
            // What an inner call was given has the arguments of the outer one in it already.
            Origin::Inline { arguments, .. } => substituted(self.text(span), arguments).into(),
            Origin::Written => self.text(span).into(),
        }
    }
}

/// A text with parameters replaced by arguments, wherever they stand as words of their own outside strings.
fn substituted(text: &str, arguments: &[(Box<str>, Box<str>)]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
            _ if is_word(first) => rest.find(|char| !is_word(char)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        let argument = arguments.iter().find(|(parameter, _)| **parameter == *word);
        out.push_str(argument.map_or(word, |(_, argument)| argument));
        rest = after;
    }
    out
}

fn is_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || char == '_'
}

impl SourceFile {
    /// A line's text without its end, by index from 0.
    fn line(&self, index: usize) -> &str {
        let start = self.line_starts[index] as usize;
        let end = self.line_starts.get(index + 1).map_or(self.text.len(), |&next| next as usize);
        self.text[start..end].trim_end_matches(['\n', '\r'])
    }
}

/// The nearest character boundary at or before `at`.
fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u32, end: u32) -> Span {
        Span { start, end, ..Span::default() }
    }

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let mut sources = SourceMap::default();
        sources.add_file("m.pml", "int x\r\n/* \u{e9} */ y\n");
        let place = |at| {
            let found = sources.locate(span(at, at + 1)).expect("in the file");
            (found.line, found.column, found.text.to_string())
        };
        assert_eq!(place(4), (1, 5, "int x".to_string()));
        assert_eq!(place(16), (2, 9, "/* \u{e9} */ y".to_string()));
        assert_eq!(place(900), (3, 1, String::new()));
    }

    #[test]
    fn a_span_inside_a_character_is_rounded_down() {
        let mut sources = SourceMap::default();
        sources.add_file("m.pml", "\u{e9}x");
        assert_eq!(sources.text(span(1, 3)), "\u{e9}x");
    }

    #[test]
    fn an_inlined_text_has_the_arguments_of_its_call() {
        let mut sources = SourceMap::default();
        sources.add_file("m.pml", "to = to2 + a.to; printf(\"to\", to)");
        let arguments = vec![("to".into(), "x[i+1]".into())];
        let origin = sources.add_origin(Origin::Inline { name: "f".into(), site: span(0, 1), arguments });
        let body = Span { origin, ..span(0, 90) };
        assert_eq!(sources.executed(body), "x[i+1] = to2 + a.x[i+1]; printf(\"to\", x[i+1])");
        assert_eq!(sources.executed(span(0, 2)), "to");
    }

    #[test]
    fn spans_join_only_within_one_call() {
        let outside = Span { origin: OriginId(1), ..span(9, 12) };
        assert_eq!(span(1, 3).to(span(5, 7)), span(1, 7));
        assert_eq!(span(1, 3).to(outside), span(1, 3));
    }
}
