//! From characters to tokens.
//!
//! The preprocessor and the parser share these tokens. They are Promela's, not C's: `::`, `..`, `??` and `!!` are one
//! token each, and a number ends before `..`, so that `0..N` holds a macro's name (to gcc it is one "number").

use crate::ast::Name;
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};
use std::collections::HashSet;

/// What a token is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// A name or a keyword.
    Word,
    /// Begins with a digit.
    Number,
    /// `'a'`, quotes included.
    Char,
    /// `"text"`, quotes included.
    Text,
    /// An operator or separator.
    Punct,
    /// Anything else, such as a quote that is not closed.
    Other,
    /// The end of the input; its text is empty.
    End,
}

/// A token where it stands.
///
/// `painted` is the C preprocessor's "blue paint": a macro's name that came out of its own
/// expansion is not expanded again (C11, 6.10.3.4).
#[derive(Clone, Debug)]
pub struct Token {
    /// What it is made of.
    pub kind: TokenKind,
    /// Its spelling.
    pub text: Name,
    /// Its place; for what came out of a macro, the place of the macro's use.
    pub span: Span,
    /// A line ended between the token before and this one.
    pub newline: bool,
    /// White space or a comment stands before it.
    pub space: bool,
    /// A macro's name that must not be replaced any more.
    pub painted: bool,
    /// The macro that it came out of.
    pub via: Option<Name>,
}

impl Token {
    /// Whether it is this operator or word.
    #[must_use]
    pub fn is(&self, text: &str) -> bool {
        matches!(self.kind, TokenKind::Word | TokenKind::Punct) && &*self.text == text
    }

    /// The end of a text.
    #[must_use]
    pub fn end(span: Span) -> Token {
        Token {
            kind: TokenKind::End,
            text: Name::from(""),
            span,
            newline: true,
            space: true,
            painted: false,
            via: None,
        }
    }
}

/// The words of the language. `in` is not among them: it is one only inside `for (..)`.
///
/// Sorted, for the binary search below.
const KEYWORDS: [&str; 64] = [
    "D_proctype",
    "active",
    "assert",
    "atomic",
    "bit",
    "bool",
    "break",
    "byte",
    "c_code",
    "c_decl",
    "c_expr",
    "c_state",
    "c_track",
    "chan",
    "d_step",
    "do",
    "else",
    "empty",
    "enabled",
    "eval",
    "false",
    "fi",
    "for",
    "full",
    "get_priority",
    "goto",
    "hidden",
    "if",
    "init",
    "inline",
    "int",
    "len",
    "local",
    "ltl",
    "mtype",
    "nempty",
    "never",
    "nfull",
    "notrace",
    "np_",
    "od",
    "of",
    "pc_value",
    "pid",
    "printf",
    "printm",
    "priority",
    "proctype",
    "provided",
    "return",
    "run",
    "select",
    "set_priority",
    "short",
    "show",
    "skip",
    "timeout",
    "trace",
    "true",
    "typedef",
    "unless",
    "unsigned",
    "xr",
    "xs",
];

/// Whether a word belongs to the language.
#[must_use]
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word).is_ok()
}

/// Two-character operators; everything else is one character.
const PAIRS: [&str; 16] =
    ["::", "..", "->", "--", "++", "<<", "<=", ">>", ">=", "==", "!=", "!!", "??", "&&", "||", "##"];

/// Splits a text into tokens. The last one is [`TokenKind::End`].
///
/// # Errors
/// When a comment is not closed.
pub fn scan(text: &str, file: FileId) -> Result<Vec<Token>, Diagnostic> {
    let mut scanner = Scanner { text, at: 0, file, names: HashSet::new() };
    let mut tokens = Vec::new();
    loop {
        let token = scanner.token(tokens.is_empty())?;
        let done = token.kind == TokenKind::End;
        tokens.push(token);
        if done {
            return Ok(tokens);
        }
    }
}

/// Walks over a text. `peek` and `bump` never show a spliced line end (backslash, newline).
///
/// Names are interned per file: a model has few spellings and many tokens, and comparing them is
/// comparing pointers first.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
    file: FileId,
    names: HashSet<Name>,
}

impl Scanner<'_> {
    fn token(&mut self, first: bool) -> Result<Token, Diagnostic> {
        let begin = self.at;
        let newline = self.skip_space()? || first;
        self.skip_splices();
        let start = self.at;
        let (kind, text) = self.lexeme();
        let text = self.intern(&text);
        let span = self.span(start, self.at);
        Ok(Token { kind, text, span, newline, space: start > begin, painted: false, via: None })
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span { file: self.file, start: start as u32, end: end as u32, ..Span::default() }
    }

    /// One copy for each spelling.
    fn intern(&mut self, text: &str) -> Name {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name = Name::from(text);
        self.names.insert(name.clone());
        name
    }

    /// Skips white space and comments; tells whether a line ended.
    fn skip_space(&mut self) -> Result<bool, Diagnostic> {
        let mut newline = false;
        loop {
            match (self.peek(), self.second()) {
                (Some('\n'), _) => {
                    newline = true;
                    self.bump();
                }
                (Some(c), _) if c.is_ascii_whitespace() || c == '\u{b}' => {
                    self.bump();
                }
                (Some('/'), Some('/')) => self.skip_while(|c| c != '\n'),
                (Some('/'), Some('*')) => newline |= self.skip_comment()?,
                _ => return Ok(newline),
            }
        }
    }

    fn skip_comment(&mut self) -> Result<bool, Diagnostic> {
        let start = self.at;
        self.bump();
        self.bump();
        let body = self.at;
        let mut last = ' ';
        while let Some(c) = self.bump() {
            if last == '*' && c == '/' {
                return Ok(self.text[body..self.at].contains('\n'));
            }
            last = c;
        }
        Err(Diagnostic::error("syntax", self.span(start, start + 2), "this comment is not closed")
            .label("opened here")
            .help("add `*/` where it ends"))
    }

    /// One token's kind and spelling.
    fn lexeme(&mut self) -> (TokenKind, String) {
        let Some(first) = self.bump() else { return (TokenKind::End, String::new()) };
        match first {
            '"' | '\'' => self.quoted(first),
            c if c.is_ascii_digit() => (TokenKind::Number, self.number(c)),
            c if is_name_start(c) => (TokenKind::Word, self.rest(c, is_name_part)),
            c if c.is_ascii_punctuation() => (TokenKind::Punct, self.punct(c)),
            c => (TokenKind::Other, c.to_string()),
        }
    }

    fn rest(&mut self, first: char, belongs: fn(char) -> bool) -> String {
        let mut text = String::from(first);
        while let Some(c) = self.peek().filter(|&c| belongs(c)) {
            text.push(c);
            self.bump();
        }
        text
    }

    /// A number as C's preprocessor sees it, but ending before `..`.
    fn number(&mut self, first: char) -> String {
        let mut text = String::from(first);
        while let Some(c) = self.peek().filter(|&c| is_name_part(c) || c == '.') {
            if c == '.' && self.second() == Some('.') {
                break;
            }
            text.push(c);
            self.bump();
        }
        text
    }

    /// A string or character constant; a lone quote when it is not closed on its line.
    fn quoted(&mut self, quote: char) -> (TokenKind, String) {
        let resume = self.at;
        let mut text = String::from(quote);
        while let Some(c) = self.peek().filter(|&c| c != '\n') {
            text.push(c);
            self.bump();
            if c == quote {
                return (if quote == '"' { TokenKind::Text } else { TokenKind::Char }, text);
            }
            if c == '\\'
                && let Some(escaped) = self.peek().filter(|&c| c != '\n')
            {
                text.push(escaped);
                self.bump();
            }
        }
        self.at = resume;
        (TokenKind::Other, quote.to_string())
    }

    fn punct(&mut self, first: char) -> String {
        let mut text = String::from(first);
        if let Some(second) = self.peek() {
            text.push(second);
            if PAIRS.contains(&text.as_str()) {
                self.bump();
            } else {
                text.pop();
            }
        }
        text
    }

    fn skip_while(&mut self, belongs: fn(char) -> bool) {
        while self.peek().is_some_and(belongs) {
            self.bump();
        }
    }

    /// The length of a spliced line end at `at`: a backslash, blanks, a newline.
    fn splice(&self, at: usize) -> Option<usize> {
        // Asked at every character, so the common answer comes first.
        if self.text.as_bytes().get(at) != Some(&b'\\') {
            return None;
        }
        let rest = self.text[at..].strip_prefix('\\')?;
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
        rest[blanks..].starts_with('\n').then_some(blanks + 2)
    }

    fn skip_splices(&mut self) {
        while let Some(length) = self.splice(self.at) {
            self.at += length;
        }
    }

    fn peek(&mut self) -> Option<char> {
        self.skip_splices();
        self.text[self.at..].chars().next()
    }

    /// The character after the next.
    fn second(&self) -> Option<char> {
        let mut at = self.at + self.text[self.at..].chars().next()?.len_utf8();
        while let Some(length) = self.splice(at) {
            at += length;
        }
        self.text[at..].chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }
}

fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> String {
        let tokens = scan(source, FileId(0)).expect("scans");
        let shown: Vec<String> = tokens
            .iter()
            .take(tokens.len() - 1)
            .map(|token| format!("{}{}", if token.newline { "/" } else { "" }, token.text))
            .collect();
        shown.join(" ")
    }

    #[test]
    fn texts_split_into_promelas_tokens() {
        for (source, expected) in [
            ("a::b", "/a :: b"),
            ("q??<x>", "/q ?? < x >"),
            ("q!!-1", "/q !! - 1"),
            ("0..N 1..3 a..b", "/0 .. N 1 .. 3 a .. b"),
            ("<->[]<>p", "/< -> [ ] < > p"),
            ("x/* don't */y // it's\nz", "/x y /z"),
            ("x/*\n*/y", "/x /y"),
            ("ab\\\ncd \\  \n e", "/abcd e"),
            ("\"a // \\\" b\" 'x' '\\''", "/\"a // \\\" b\" 'x' '\\''"),
            ("don't", "/don ' t"),
            ("0x10 1.5", "/0x10 1.5"),
            ("\u{e9}\0", "/\u{e9} \0"),
            ("", ""),
        ] {
            assert_eq!(texts(source), expected, "{source:?}");
        }
    }

    #[test]
    fn spans_cover_the_text_as_written() {
        let tokens = scan("  ab\\\ncd;", FileId(0)).expect("scans");
        assert_eq!((tokens[0].span.start, tokens[0].span.end), (2, 8));
        assert_eq!(&*tokens[0].text, "abcd");
    }

    #[test]
    fn an_open_comment_is_an_error_where_it_opens() {
        let told = scan("x /* y", FileId(0)).expect_err("open");
        assert_eq!((told.span.start, told.span.end), (2, 4));
    }

    #[test]
    fn keywords_are_sorted_for_the_search() {
        assert!(KEYWORDS.is_sorted());
        assert!(is_keyword("xs") && is_keyword("D_proctype") && !is_keyword("in") && !is_keyword(""));
    }
}
