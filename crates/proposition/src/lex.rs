//! Text to tokens.
//!
//! Columns count characters, since users count them; ranges count bytes, since they cut the text.
//! Tokens keep where they end, for the parser must know what is written without space between:
//! `head->count` is a path, `head -> count` an implication.

use super::problem::Problem;
use std::fmt;
use std::ops::Range;

/// A token and where it was written.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Lexeme {
    pub(super) token: Token,
    /// In characters from 1.
    pub(super) column: usize,
    /// In bytes from 0.
    pub(super) range: Range<usize>,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    Word(String),
    Number(i128),
    Float(f64),
    /// Between quotes, as it was written but for `\"`.
    Text(String),
    Sign(&'static str),
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => write!(f, "`{word}`"),
            Self::Number(number) => write!(f, "`{number}`"),
            Self::Float(number) => write!(f, "`{number:?}`"),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Sign(sign) => write!(f, "`{sign}`"),
            Self::End => f.write_str("the end"),
        }
    }
}

/// All signs, longer ones before those that they begin with.
const SIGNS: &[&str] = &[
    "->", "||", "&&", "==", "!=", "<=", ">=", "=~", "!~", "::", "<", ">", "!", "(", ")", "[", "]", ".", ",", ":", "*",
    "-",
];

/// Signs of other languages, and what they are here.
///
/// Looked up only if no sign of ours begins here, so `=` is not taken out of `==`.
const FOREIGN: &[(&str, &str)] = &[
    ("=", "`=` does not compare: write `==`"),
    ("&", "write `&&`"),
    ("|", "write `||`"),
    ("+", "there is no arithmetic: compare with a number"),
];

/// All tokens of a text, with the end as the last.
pub(super) fn lex(text: &str) -> Result<Vec<Lexeme>, Problem> {
    let mut lexer = Lexer { text, at: 0, column: 1 };
    let mut lexemes = Vec::new();
    loop {
        lexer.skip_blanks();
        let (start, column) = (lexer.at, lexer.column);
        let token = lexer.token()?;
        let is_end = token == Token::End;
        lexemes.push(Lexeme { token, column, range: start..lexer.at });
        if is_end {
            return Ok(lexemes);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    column: usize,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let taken = &self.rest()[..bytes];
        self.at += bytes;
        self.column += taken.chars().count();
        taken
    }

    fn take_while(&mut self, accepts: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        self.take(rest.find(|letter| !accepts(letter)).unwrap_or(rest.len()))
    }

    fn skip_blanks(&mut self) {
        self.take_while(char::is_whitespace);
    }

    fn problem(&self, message: impl Into<String>) -> Problem {
        Problem::new(self.column, message)
    }

    fn token(&mut self) -> Result<Token, Problem> {
        let Some(letter) = self.rest().chars().next() else { return Ok(Token::End) };
        match letter {
            '0'..='9' => self.number(),
            '"' => self.quoted('"').map(Token::Text),
            '\'' => self.letter(),
            letter if is_word(letter) => Ok(Token::Word(self.take_while(is_word).to_owned())),
            _ => self.sign(letter),
        }
    }

    fn sign(&mut self, letter: char) -> Result<Token, Problem> {
        let rest = self.rest();
        if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            self.take(sign.len());
            return Ok(Token::Sign(sign));
        }
        let foreign = FOREIGN.iter().find(|(sign, _)| rest.starts_with(sign));
        Err(self
            .problem(foreign.map_or_else(|| format!("`{letter}` means nothing here"), |(_, hint)| (*hint).to_owned())))
    }

    /// With `_` between digits and `0x`, as in Rust. Octal is not known: `010` is ten here and
    /// eight in C, so neither reading would be safe for everyone; decimal is the plain one.
    fn number(&mut self) -> Result<Token, Problem> {
        let start = self.problem("");
        let digits = self.take_while(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        let wrong = |what: &str| Problem::new(start.column, format!("`{digits}` is not a number{what}"));
        let plain = digits.replace('_', "");
        if let Some(hex) = plain.strip_prefix("0x").or_else(|| plain.strip_prefix("0X")) {
            return i128::from_str_radix(hex, 16).map(Token::Number).map_err(|_| wrong(""));
        }
        if let Some(fraction) = self.fraction() {
            let number = format!("{plain}.{fraction}").parse().ok().filter(|number: &f64| number.is_finite());
            return number.map(Token::Float).ok_or_else(|| wrong(" that fits"));
        }
        plain.parse().map(Token::Number).map_err(|_| wrong(if plain.len() > 38 { " that fits" } else { "" }))
    }

    /// Digits behind a point, with the point taken.
    fn fraction(&mut self) -> Option<&'a str> {
        let behind = self.rest().strip_prefix('.')?;
        behind.starts_with(|letter: char| letter.is_ascii_digit()).then(|| {
            self.take(1);
            self.take_while(|letter| letter.is_ascii_digit())
        })
    }

    /// A backslash stays, except before the quote: what it means is decided by whoever wants a
    /// plain text (`unescaped`) or a pattern (as written).
    fn quoted(&mut self, quote: char) -> Result<String, Problem> {
        let start = self.problem(format!("this {quote} has no end"));
        self.take(1);
        let mut text = String::new();
        loop {
            let mut letters = self.rest().chars();
            match (letters.next(), letters.next()) {
                (None, _) => return Err(start),
                (Some(letter), _) if letter == quote => {
                    self.take(1);
                    return Ok(text);
                }
                (Some('\\'), Some(letter)) => {
                    if letter != quote {
                        text.push('\\');
                    }
                    text.push(letter);
                    self.take(1 + letter.len_utf8());
                }
                (Some(letter), _) => {
                    text.push(letter);
                    self.take(letter.len_utf8());
                }
            }
        }
    }

    /// `'x'` is the number of a character.
    fn letter(&mut self) -> Result<Token, Problem> {
        let start = self.problem("one character belongs between these; texts have double quotes");
        let text = unescaped(&self.quoted('\'')?);
        let mut letters = text.chars();
        match (letters.next(), letters.next()) {
            (Some(letter), None) => Ok(Token::Number(u32::from(letter).into())),
            _ => Err(start),
        }
    }
}

pub(super) fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

/// A text with `\n`, `\t`, `\0` and `\\` replaced by what they stand for. Patterns have a meaning of their own for these.
pub(super) fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let stands_for = match (letter, letter == '\\') {
            (_, false) => Some(letter),
            _ => match letters.next() {
                Some('n') => Some('\n'),
                Some('t') => Some('\t'),
                Some('0') => Some('\0'),
                other => other.or(Some('\\')),
            },
        };
        plain.extend(stands_for);
    }
    plain
}
