//! The parser's view of the tokens.
//!
//! SPIN makes most semicolons optional, and it does so in its scanner: a line's end, a `}` and an `else` bring one
//! along. The rules are SPIN's own, so that the same models are accepted and mean the same; see [`Tokens::fill`].

use crate::ast::Name;
use crate::lex::{Token, TokenKind, is_keyword};
use std::collections::{HashMap, VecDeque};

/// What a name was declared as. SPIN's scanner knows these before its parser looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameClass {
    /// Nothing special: a variable, a label, or unknown.
    Plain,
    /// An mtype constant.
    Mtype,
    /// A `typedef`.
    Record,
    /// A `proctype`.
    Proctype,
    /// An `inline`.
    Inline,
}

/// Tokens being read; an inline's body is read before what follows its call.
struct Frame {
    tokens: Vec<Token>,
    at: usize,
}

/// Where the scanner stands with respect to bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// At the outermost level.
    Outside,
    /// After `proctype`, `init`, ...: the next brace opens a body.
    BeforeBody,
    /// In a body, this many braces deep. Only here do lines end statements.
    Inside(usize),
}

/// The tokens of a model with SPIN's implied semicolons.
pub(super) struct Tokens {
    frames: Vec<Frame>,
    names: HashMap<Name, NameClass>,
    /// Read already, implied semicolons included, but not taken yet.
    ahead: VecDeque<Token>,
    /// Read from the frames but to be delivered after an implied semicolon.
    held: Option<Token>,
    /// The last token delivered, for the rules about `}` and `else`.
    delivered: Option<Token>,
    /// A line's end here implies a semicolon.
    ends_statement: bool,
    /// The last token was `}`.
    after_brace: bool,
    place: Place,
    parens: usize,
    /// Delivered when all frames are read.
    end: Token,
    /// The last token that was taken by the parser.
    pub(super) last: Token,
    /// The last one that is not an implied semicolon.
    pub(super) last_written: Token,
}

impl Tokens {
    /// Reads `tokens`, whose last one is the end.
    pub(super) fn new(mut tokens: Vec<Token>) -> Tokens {
        let end = tokens.pop().unwrap_or_else(|| Token::end(crate::source::Span::default()));
        Tokens {
            frames: vec![Frame { tokens, at: 0 }],
            names: HashMap::new(),
            ahead: VecDeque::new(),
            held: None,
            delivered: None,
            ends_statement: false,
            after_brace: false,
            place: Place::Outside,
            parens: 0,
            last: end.clone(),
            last_written: end.clone(),
            end,
        }
    }

    /// Goes on with other tokens at the outermost level, names kept.
    pub(super) fn restart(&mut self, tokens: Vec<Token>) {
        let names = std::mem::take(&mut self.names);
        *self = Tokens { names, ..Tokens::new(tokens) };
    }

    /// Reads these tokens first. Nothing may have been looked at beyond the last token taken.
    pub(super) fn push(&mut self, tokens: Vec<Token>) {
        debug_assert!(self.ahead.is_empty() && self.held.is_none(), "tokens are pushed behind the next one");
        self.frames.push(Frame { tokens, at: 0 });
    }

    /// Declares a name.
    pub(super) fn declare(&mut self, name: &Name, class: NameClass) {
        self.names.entry(name.clone()).or_insert(class);
    }

    /// What a name was declared as.
    pub(super) fn class(&self, name: &str) -> NameClass {
        self.names.get(name).copied().unwrap_or(NameClass::Plain)
    }

    /// The class of a token that is a name; `None` for everything else.
    pub(super) fn name_class(&self, token: &Token) -> Option<NameClass> {
        (token.kind == TokenKind::Word && !is_keyword(&token.text)).then(|| self.class(&token.text))
    }

    /// The next token.
    pub(super) fn peek(&mut self) -> &Token {
        self.peek_at(0)
    }

    /// The token `distance` after the next.
    pub(super) fn peek_at(&mut self, distance: usize) -> &Token {
        while self.ahead.len() <= distance {
            let token = self.fill();
            self.ahead.push_back(token);
        }
        &self.ahead[distance]
    }

    /// Takes the next token.
    pub(super) fn next(&mut self) -> Token {
        let token = self.ahead.pop_front().unwrap_or_else(|| self.fill());
        self.last = token.clone();
        if token.span.start < token.span.end {
            self.last_written = token.clone();
        }
        token
    }

    /// Takes the next token as it stands, without implied semicolons or bookkeeping.
    pub(super) fn next_raw(&mut self) -> Token {
        let token = self.ahead.pop_front().or_else(|| self.held.take()).unwrap_or_else(|| self.take());
        self.last = token.clone();
        token
    }

    /// Forgets the last line's rules, after raw tokens were taken; a line's end may end a statement.
    pub(super) fn resume(&mut self, ends_statement: bool) {
        self.delivered = None;
        self.ends_statement = ends_statement;
    }

    /// One more token, by the rules of SPIN's `yylex`:
    /// - `else` brings a semicolon unless a separator or `fi` follows;
    /// - `}` brings one unless something follows that cannot begin a statement;
    /// - a separator is dropped before `}` and before another separator.
    fn fill(&mut self) -> Token {
        if let Some(held) = self.held.take() {
            return self.deliver(held);
        }
        let token = self.scan();
        if self.wants_separator(&token) {
            let implied = self.semicolon();
            self.held = Some(token);
            self.delivered = None;
            return implied;
        }
        if is_separator(&token) {
            let next = self.scan();
            if next.is("}") || is_separator(&next) {
                return self.deliver(next);
            }
            self.held = Some(next);
        }
        self.deliver(token)
    }

    fn deliver(&mut self, token: Token) -> Token {
        self.delivered = Some(token.clone());
        token
    }

    fn wants_separator(&self, next: &Token) -> bool {
        let Some(before) = &self.delivered else { return false };
        if before.is("else") {
            return !is_separator(next) && !next.is("fi");
        }
        let cannot_begin = ["proctype", "init", "never", "::", "fi", "od", "}", "unless"];
        let ends = is_separator(next) || next.kind == TokenKind::End;
        before.is("}") && !ends && !cannot_begin.iter().any(|word| next.is(word))
    }

    /// One token by the rules of SPIN's `lex`: a line's end is a semicolon where a statement may end.
    fn scan(&mut self) -> Token {
        let inside = matches!(self.place, Place::Inside(_));
        if inside && self.parens == 0 && self.ends_statement && self.take_newline() && !self.before_unless() {
            self.ends_statement = false;
            self.after_brace = false;
            return self.semicolon();
        }
        let token = self.take();
        self.track(&token);
        token
    }

    /// Whether a line ended before the next token; asked once for each.
    fn take_newline(&mut self) -> bool {
        self.drop_read_frames();
        let Some(frame) = self.frames.last_mut() else { return false };
        frame.tokens.get_mut(frame.at).is_some_and(|token| std::mem::take(&mut token.newline))
    }

    /// After a `}`, SPIN looks at one letter only; words other than `unless` get their semicolon from the brace.
    fn before_unless(&self) -> bool {
        let next = self.frames.last().and_then(|frame| frame.tokens.get(frame.at));
        self.after_brace && next.is_some_and(|token| token.text.starts_with('u'))
    }

    fn drop_read_frames(&mut self) {
        while self.frames.last().is_some_and(|frame| frame.at >= frame.tokens.len()) {
            self.frames.pop();
        }
    }

    fn take(&mut self) -> Token {
        self.drop_read_frames();
        let Some(frame) = self.frames.last_mut() else { return self.end.clone() };
        let token = frame.tokens[frame.at].clone();
        frame.at += 1;
        token
    }

    fn semicolon(&self) -> Token {
        let at = self.delivered.as_ref().map_or(self.last.span, |token| token.span);
        Token { kind: TokenKind::Punct, text: ";".into(), span: at.after(), ..self.end.clone() }
    }

    /// Follows parentheses and bodies.
    fn track(&mut self, token: &Token) {
        self.ends_statement = self.may_end_statement(token);
        self.after_brace = token.is("}");
        match (&*token.text, self.place) {
            _ if !matches!(token.kind, TokenKind::Word | TokenKind::Punct) => {}
            ("(", _) => self.parens += 1,
            (")", _) => self.parens = self.parens.saturating_sub(1),
            ("proctype" | "D_proctype" | "init" | "never" | "trace" | "notrace" | "typedef", Place::Outside) => {
                self.place = Place::BeforeBody;
            }
            ("{", Place::BeforeBody) => self.place = Place::Inside(1),
            ("{", Place::Inside(depth)) => self.place = Place::Inside(depth + 1),
            ("}", Place::Inside(1)) => self.place = Place::Outside,
            ("}", Place::Inside(depth)) => self.place = Place::Inside(depth - 1),
            _ => {}
        }
    }

    fn may_end_statement(&self, token: &Token) -> bool {
        const ENDS: [&str; 16] = [
            "}", ")", "]", "od", "fi", "else", "break", "c_code", "c_expr", "c_decl", "++", "--", "skip", "true",
            "false", "timeout",
        ];
        match token.kind {
            TokenKind::Number | TokenKind::Char => true,
            TokenKind::Word | TokenKind::Punct if ENDS.iter().any(|text| token.is(text)) => true,
            _ => matches!(self.name_class(token), Some(NameClass::Plain | NameClass::Mtype)),
        }
    }
}

/// `;` and `->` mean the same between statements.
pub(super) fn is_separator(token: &Token) -> bool {
    token.is(";") || token.is("->")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lex::scan;
    use crate::source::FileId;

    fn read(text: &str) -> String {
        let mut tokens = Tokens::new(scan(text, FileId(0)).expect("scans"));
        let mut out = Vec::new();
        while tokens.peek().kind != TokenKind::End {
            out.push(tokens.next().text.to_string());
        }
        out.join(" ")
    }

    #[test]
    fn lines_end_statements_only_in_bodies_and_outside_of_parentheses() {
        for (text, expected) in [
            ("init {\nx = 1\ny = 2\n}", "init { x = 1 ; y = 2 }"),
            ("byte x\nbyte y", "byte x byte y"),
            ("init { f(a\n,b)\ng }", "init { f ( a , b ) ; g }"),
            ("init { q?<x>\ny }", "init { q ? < x > y }"),
            ("init { if\n:: a\n:: else\n-> b\nfi\n}", "init { if :: a ; :: else -> b ; fi }"),
            ("init { else x }", "init { else ; x }"),
            ("init { { a } b }", "init { { a } ; b }"),
            ("init { { a }\nunless b }", "init { { a } unless b }"),
            ("init { x;}", "init { x }"),
            ("init { x;;}", "init { x ; }"),
            ("typedef T { byte a\nbyte b\n}\nT x", "typedef T { byte a ; byte b } ; T x"),
            ("chan q = [1] of { byte }, r", "chan q = [ 1 ] of { byte } ; , r"),
            ("init { timeout\nx }", "init { timeout ; x }"),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
