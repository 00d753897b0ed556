//! Tokens to a tree.
//!
//! Recursive descent, one function for each level of binding:
//! ```text
//! implication := or [ "->" implication ]          to the right: a -> b -> c is a -> (b -> c)
//! or          := and { "||" and }
//! and         := negation { "&&" negation }
//! negation    := { "!" } comparison
//! comparison  := operand [ ("==" | "!=" | "<" | "<=" | ">" | ">=") operand | ("=~" | "!~") pattern ]
//! operand     := number | text | "true" | "false" | question | variable | "(" implication ")"
//! variable    := [ process ":" ] name { "." name | "::" name | "->" name | "[" number "]" }
//! ```
//! `!` binds looser than a comparison, unlike in C: `!exited(a) == 0` is `!(exited(a) == 0)`, for a
//! negated exit code is never meant.

use super::facts::Stream;
use super::lex::{Lexeme, Token, lex, unescaped};
use super::pattern::{Pattern, Processes};
use super::problem::Problem;
use super::tree::{Comparison, Expression, Join, Kind};
use debuginfo::similar;

/// How deep parts may be inside each other, and how many words there may be: whoever needs more has not written this by hand.
///
/// Parsing, printing and evaluating recurse, so the depth bounds the stack of each.
const DEPTH_MAX: usize = 128;
const WORDS_MAX: usize = 4096;

pub(super) fn parse(text: &str) -> Result<Expression, Problem> {
    let lexemes = lex(text)?;
    if lexemes.len() > WORDS_MAX {
        return Err(Problem::new(lexemes[WORDS_MAX].column, format!("more than {WORDS_MAX} words")));
    }
    let mut parser = Parser { text, lexemes, at: 0, depth: 0 };
    let expression = parser.implication()?;
    match parser.token() {
        Token::End => Ok(expression),
        _ => Err(parser.expected("`&&`, `||`, `->` or the end")),
    }
}

struct Parser<'a> {
    text: &'a str,
    lexemes: Vec<Lexeme>,
    at: usize,
    depth: usize,
}

const COMPARISONS: &[(&str, Comparison)] = &[
    ("==", Comparison::Equal),
    ("!=", Comparison::Different),
    ("<", Comparison::Less),
    ("<=", Comparison::LessOrEqual),
    (">", Comparison::Greater),
    (">=", Comparison::GreaterOrEqual),
];

/// Reads what is between the parentheses of a question.
type Question = fn(&mut Parser<'_>) -> Result<Kind, Problem>;

/// What can be asked, by name.
const QUESTIONS: &[(&str, Question)] = &[
    ("exited", |parser| parser.processes().map(Kind::Exited)),
    ("crashed", |parser| parser.processes().map(Kind::Crashed)),
    ("blocked", |parser| parser.processes().map(Kind::Blocked)),
    ("running", |parser| parser.processes().map(Kind::Running)),
    ("stdout", |parser| parser.processes().map(|processes| Kind::Output(Stream::Output, processes))),
    ("stderr", |parser| parser.processes().map(|processes| Kind::Output(Stream::Error, processes))),
    ("syscall", |parser| {
        let processes = parser.processes()?;
        parser.sign(",")?;
        Ok(Kind::Called(processes, parser.quoted("the name of a call in quotes")?))
    }),
    ("exists", |parser| parser.quoted("a path in quotes").map(Kind::Exists)),
    ("content", |parser| parser.quoted("a path in quotes").map(Kind::Content)),
    ("size", |parser| parser.quoted("a path in quotes").map(Kind::Size)),
    ("lines", |parser| parser.lines()),
];

impl Parser<'_> {
    fn token(&self) -> &Token {
        &self.lexemes[self.at].token
    }

    fn column(&self) -> usize {
        self.lexemes[self.at].column
    }

    /// Goes on to the next token; the last one stays.
    ///
    /// So `token` needs no bounds check, and a parser at the end stays there.
    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.lexemes.len() - 1);
    }

    fn expected(&self, what: &str) -> Problem {
        Problem::new(self.column(), format!("expected {what}, found {}", self.token()))
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.token(), Token::Sign(found) if *found == sign)
    }

    fn accepts(&mut self, sign: &str) -> bool {
        let is_there = self.is_sign(sign);
        if is_there {
            self.advance();
        }
        is_there
    }

    fn sign(&mut self, sign: &str) -> Result<(), Problem> {
        if self.accepts(sign) { Ok(()) } else { Err(self.expected(&format!("`{sign}`"))) }
    }

    /// Whether a token follows the one before it without space.
    fn is_glued(&self, at: usize) -> bool {
        let before = at.checked_sub(1).map(|before| &self.lexemes[before]);
        let here = self.lexemes.get(at);
        before.zip(here).is_some_and(|(before, here)| before.range.end == here.range.start && here.token != Token::End)
    }

    /// Reads a part of what is being read.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Problem>) -> Result<T, Problem> {
        if self.depth == DEPTH_MAX {
            return Err(self.too_deep(self.column()));
        }
        self.depth += 1;
        let part = read(self);
        self.depth -= 1;
        part
    }

    fn too_deep(&self, column: usize) -> Problem {
        Problem::new(column, format!("more than {DEPTH_MAX} parts inside each other"))
    }

    fn implication(&mut self) -> Result<Expression, Problem> {
        let left = self.joined(Join::Or, "||")?;
        let (column, implies) = (self.column(), self.accepts("->"));
        Ok(if implies { join(Join::Implies, column, left, self.deeper(Self::implication)?) } else { left })
    }

    /// Parts with `||` between them, or parts of those with `&&` between them.
    fn joined(&mut self, join_by: Join, sign: &str) -> Result<Expression, Problem> {
        let mut left = self.part_of(join_by)?;
        loop {
            let column = self.column();
            if !self.accepts(sign) {
                return Ok(left);
            }
            left = join(join_by, column, left, self.part_of(join_by)?);
        }
    }

    fn part_of(&mut self, join_by: Join) -> Result<Expression, Problem> {
        if join_by == Join::Or { self.joined(Join::And, "&&") } else { self.negation() }
    }

    /// In a loop: thousands of `!` must not take thousands of frames.
    fn negation(&mut self) -> Result<Expression, Problem> {
        let mut signs = Vec::new();
        while self.is_sign("!") {
            signs.push(self.column());
            self.advance();
        }
        if signs.len() > DEPTH_MAX {
            return Err(self.too_deep(signs[0]));
        }
        let inner = self.comparison()?;
        let not = |inner, column| Expression { kind: Kind::Not(Box::new(inner)), column };
        Ok(signs.into_iter().rev().fold(inner, not))
    }

    fn comparison(&mut self) -> Result<Expression, Problem> {
        let left = self.operand()?;
        let column = self.column();
        let Token::Sign(sign) = *self.token() else { return Ok(left) };
        if let Some((_, comparison)) = COMPARISONS.iter().find(|(known, _)| *known == sign) {
            self.advance();
            let right = self.operand()?;
            self.refuse_chain()?;
            return Ok(Expression { kind: Kind::Compared(*comparison, Box::new(left), Box::new(right)), column });
        }
        if sign == "=~" || sign == "!~" {
            self.advance();
            let pattern = self.pattern()?;
            let kind = Kind::Matches { text: Box::new(left), pattern, is_negated: sign == "!~" };
            return Ok(Expression { kind, column });
        }
        Ok(left)
    }

    /// `a < b < c` would compare a truth with `c`, as C does to everyone's surprise.
    fn refuse_chain(&self) -> Result<(), Problem> {
        let is_comparison = COMPARISONS.iter().any(|(sign, _)| self.is_sign(sign));
        let message = "comparisons do not follow each other: join them with `&&`";
        if is_comparison { Err(Problem::new(self.column(), message)) } else { Ok(()) }
    }

    fn operand(&mut self) -> Result<Expression, Problem> {
        let column = self.column();
        let kind = match self.token().clone() {
            Token::Number(number) => self.literal(Kind::Number(number)),
            Token::Float(number) => self.literal(Kind::Float(number)),
            Token::Sign("-") => self.negative()?,
            Token::Sign("(") => return self.parenthesised(),
            Token::Text(text) => {
                self.advance();
                if self.accepts(":") { self.variable_of(unescaped(&text))? } else { Kind::Text(unescaped(&text)) }
            }
            Token::Word(word) if word == "true" || word == "false" => self.literal(Kind::Truth(word == "true")),
            Token::Word(word) if self.lexemes[self.at + 1].token == Token::Sign("(") => self.question(&word)?,
            Token::Word(_) | Token::Sign("*") => self.name()?,
            _ => return Err(self.expected("a question like `exited(a)`, a variable, a number or a text")),
        };
        Ok(Expression { kind, column })
    }

    fn literal(&mut self, kind: Kind) -> Kind {
        self.advance();
        kind
    }

    fn negative(&mut self) -> Result<Kind, Problem> {
        self.advance();
        match *self.token() {
            Token::Number(number) => Ok(self.literal(Kind::Number(-number))),
            Token::Float(number) => Ok(self.literal(Kind::Float(-number))),
            _ => Err(self.expected("a number")),
        }
    }

    fn parenthesised(&mut self) -> Result<Expression, Problem> {
        self.sign("(")?;
        let inner = self.deeper(Self::implication)?;
        self.sign(")")?;
        Ok(inner)
    }

    fn question(&mut self, word: &str) -> Result<Kind, Problem> {
        let known = QUESTIONS.iter().find(|(name, _)| *name == word);
        let (_, read) = known.ok_or_else(|| {
            let names: Vec<&str> = QUESTIONS.iter().map(|(name, _)| *name).collect();
            let hint = match similar::hint(word, names.iter().copied()) {
                hint if hint.is_empty() => format!(": there are {}", names.join(", ")),
                hint => hint,
            };
            Problem::new(self.column(), format!("nothing is called `{word}`{hint}"))
        })?;
        self.advance();
        self.sign("(")?;
        let kind = read(self)?;
        self.sign(")")?;
        Ok(kind)
    }

    fn lines(&mut self) -> Result<Kind, Problem> {
        let text = self.deeper(Self::operand)?;
        let pattern = if self.accepts(",") { Some(self.pattern()?) } else { None };
        Ok(Kind::Lines(Box::new(text), pattern))
    }

    fn quoted(&mut self, what: &str) -> Result<String, Problem> {
        match self.token().clone() {
            Token::Text(text) => {
                self.advance();
                Ok(unescaped(&text))
            }
            _ => Err(self.expected(what)),
        }
    }

    fn pattern(&mut self) -> Result<Pattern, Problem> {
        let Token::Text(text) = self.token().clone() else { return Err(self.expected("a pattern in quotes")) };
        let pattern = Pattern::new(&text).map_err(|why| Problem::new(self.column(), why))?;
        self.advance();
        Ok(pattern)
    }

    /// Which processes are meant: `client`, `client.2`, `client.*`, `every client`, `"my-server"`.
    ///
    /// `every` and `some` are words only where a name follows: a service may be called `every`.
    fn processes(&mut self) -> Result<Processes, Problem> {
        let ends = |token: &Token| matches!(token, Token::Sign(")" | ",") | Token::End);
        let quantifier = match self.token() {
            Token::Word(word) if !ends(&self.lexemes[self.at + 1].token) && !self.is_glued(self.at + 1) => word.clone(),
            _ => String::new(),
        };
        let every = quantifier == "every";
        if every || quantifier == "some" {
            self.advance();
        }
        if let Token::Text(text) = self.token().clone() {
            self.advance();
            return Ok(Processes { pattern: unescaped(&text), every });
        }
        let start = self.at;
        while matches!(self.token(), Token::Word(_) | Token::Number(_) | Token::Sign("." | "*" | "-"))
            && (self.at == start || self.is_glued(self.at))
        {
            self.advance();
        }
        if start == self.at {
            return Err(self.expected("the name of a process"));
        }
        Ok(Processes { pattern: self.written(start), every })
    }

    /// The text from a token up to the present one.
    fn written(&self, start: usize) -> String {
        self.text[self.lexemes[start].range.start..self.lexemes[self.at - 1].range.end].to_owned()
    }

    /// A variable, perhaps of a process: `count`, `server:state.role`, `client.*:slots[1].id`.
    ///
    /// Tries to read a process up to `:`, and goes back if there is none: `a.b` is a member until a
    /// colon makes it a replica's name.
    fn name(&mut self) -> Result<Kind, Problem> {
        let start = self.at;
        while self.continues_process() && (self.at == start || self.is_glued(self.at)) {
            self.advance();
        }
        if self.at > start && self.is_sign(":") {
            let process = self.written(start);
            self.advance();
            return self.variable_of(process);
        }
        self.at = start;
        let path = self.path()?;
        Ok(Kind::Variable { process: None, path })
    }

    fn continues_process(&self) -> bool {
        matches!(self.token(), Token::Word(_) | Token::Number(_) | Token::Sign("." | "*"))
    }

    fn variable_of(&mut self, process: String) -> Result<Kind, Problem> {
        let path = self.path()?;
        Ok(Kind::Variable { process: Some(process), path })
    }

    /// A variable and the way into it, without spaces.
    fn path(&mut self) -> Result<String, Problem> {
        let start = self.at;
        self.word()?;
        while self.is_glued(self.at) {
            match self.token() {
                Token::Sign("." | "::") => {
                    self.advance();
                    self.word()?;
                }
                // With space before or behind it, it means "implies".
                Token::Sign("->") if self.is_glued(self.at + 1) && self.is_word_at(self.at + 1) => {
                    self.advance();
                    self.word()?;
                }
                Token::Sign("[") => self.index()?,
                _ => break,
            }
        }
        let path = self.written(start);
        Ok(path.chars().filter(|letter| !letter.is_whitespace()).collect())
    }

    fn is_word_at(&self, at: usize) -> bool {
        matches!(self.lexemes.get(at).map(|lexeme| &lexeme.token), Some(Token::Word(_)))
    }

    fn word(&mut self) -> Result<(), Problem> {
        if !self.is_word_at(self.at) {
            return Err(self.expected("a name"));
        }
        self.advance();
        Ok(())
    }

    fn index(&mut self) -> Result<(), Problem> {
        self.sign("[")?;
        if !matches!(self.token(), Token::Number(_)) {
            return Err(self.expected("a number"));
        }
        self.advance();
        self.sign("]")
    }
}

fn join(by: Join, column: usize, left: Expression, right: Expression) -> Expression {
    Expression { kind: Kind::Joined(by, Box::new(left), Box::new(right)), column }
}
