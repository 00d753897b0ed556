//! Text to tokens. Knows the temporal operators and just enough of Promela's expressions to find where an atom ends.
//!
//! Positions are byte offsets and stay with every token, because the text often comes from the
//! middle of a model and messages point into it.

use crate::parse_error::ParseError;

/// One token and where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    True,
    False,
    /// A name; single letters such as `U` are names too, the parser decides by position.
    Name,
    Number,
    Always,
    Eventually,
    Next,
    Until,
    WeakUntil,
    Release,
    Implies,
    Equiv,
    And,
    Or,
    Not,
    /// `&` or `|`: bitwise between plain expressions, logical beside temporal formulas.
    BitAnd,
    BitOr,
    /// Any other binary operator of Promela's expressions.
    Arithmetic,
    /// `-`, which may also stand before an operand.
    Minus,
    /// `~`
    Complement,
    Open,
    Close,
    OpenIndex,
    CloseIndex,
    /// `.`, `@` or `:`, followed by a name.
    Select,
    /// `?` or `??`, followed by an index bracket: a poll of a channel.
    Poll,
    Comma,
    End,
}

/// Longest first: `<->` must win over `<`.
const SYMBOLS: &[(&str, Kind)] = &[
    ("<->", Kind::Equiv),
    ("->", Kind::Implies),
    ("[]", Kind::Always),
    ("<>", Kind::Eventually),
    ("&&", Kind::And),
    ("||", Kind::Or),
    ("/\\", Kind::And),
    ("\\/", Kind::Or),
    ("==", Kind::Arithmetic),
    ("=~", Kind::Arithmetic),
    ("!=", Kind::Arithmetic),
    ("<=", Kind::Arithmetic),
    (">=", Kind::Arithmetic),
    ("<<", Kind::Arithmetic),
    (">>", Kind::Arithmetic),
    ("??", Kind::Poll),
    ("?", Kind::Poll),
    ("!", Kind::Not),
    ("&", Kind::BitAnd),
    ("|", Kind::BitOr),
    ("^", Kind::Arithmetic),
    ("<", Kind::Arithmetic),
    (">", Kind::Arithmetic),
    ("+", Kind::Arithmetic),
    ("-", Kind::Minus),
    ("*", Kind::Arithmetic),
    ("/", Kind::Arithmetic),
    ("%", Kind::Arithmetic),
    ("~", Kind::Complement),
    ("(", Kind::Open),
    (")", Kind::Close),
    ("[", Kind::OpenIndex),
    ("]", Kind::CloseIndex),
    (".", Kind::Select),
    ("@", Kind::Select),
    (":", Kind::Select),
    (",", Kind::Comma),
];

/// Spellings of other tools, each with ours.
///
/// What people from other tools type; the hint is the answer.
const MISTAKES: &[(&str, &str)] = &[
    ("<=>", "write `<->` for equivalence"),
    ("=>", "write `->` for implication"),
    ("=", "write `==` to compare"),
    ("++", "an atom may not change anything: increments are not allowed"),
    ("--", "an atom may not change anything: decrements are not allowed"),
];

const WORDS: &[(&str, Kind)] = &[
    ("true", Kind::True),
    ("false", Kind::False),
    ("always", Kind::Always),
    ("eventually", Kind::Eventually),
    ("next", Kind::Next),
    ("until", Kind::Until),
    ("stronguntil", Kind::Until),
    ("weakuntil", Kind::WeakUntil),
    ("release", Kind::Release),
    ("implies", Kind::Implies),
    ("equivalent", Kind::Equiv),
];

/// All tokens, ending in one `End`.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, ParseError> {
    let mut found = Vec::new();
    let mut start = skip_space(text, 0);
    while start < text.len() {
        let (kind, length) = token(&text[start..]).map_err(|error| error.moved(start))?;
        found.push(Token { kind, start, end: start + length });
        start = skip_space(text, start + length);
    }
    found.push(Token { kind: Kind::End, start: text.len(), end: text.len() });
    Ok(found)
}

fn skip_space(text: &str, start: usize) -> usize {
    text.len() - text[start..].trim_start().len()
}

/// The token at the very start of a text that is not empty: kind and length.
fn token(text: &str) -> Result<(Kind, usize), ParseError> {
    if let Some(length) = run(text, |c| c.is_ascii_digit()) {
        return Ok((Kind::Number, length));
    }
    if let Some(length) = run(text, |c| c.is_ascii_alphanumeric() || c == '_') {
        let word = WORDS.iter().find(|(word, _)| *word == &text[..length]);
        return Ok((word.map_or(Kind::Name, |(_, kind)| *kind), length));
    }
    if let Some(length) = character_constant(text).or_else(|| string_constant(text)) {
        return Ok((Kind::Number, length));
    }
    symbol(text)
}

fn symbol(text: &str) -> Result<(Kind, usize), ParseError> {
    let found = SYMBOLS.iter().find(|(symbol, _)| text.starts_with(symbol));
    let mistake = MISTAKES.iter().find(|(wrong, _)| text.starts_with(wrong));
    match (found, mistake) {
        // `x--1` is x minus minus one in no language we know of; a longer mistake wins over a shorter symbol.
        (Some((symbol, kind)), mistake) if mistake.is_none_or(|(wrong, _)| wrong.len() <= symbol.len()) => {
            Ok((*kind, symbol.len()))
        }
        (_, Some((wrong, hint))) => Err(ParseError::new(0, format!("`{wrong}` is not an operator here"), hint)),
        _ => {
            let character = text.chars().next().unwrap_or(' ');
            Err(ParseError::new(0, format!("unexpected character {character:?}"), ""))
        }
    }
}

/// Length of the longest prefix whose characters are all `wanted`, if there is any.
fn run(text: &str, wanted: impl Fn(char) -> bool) -> Option<usize> {
    let length = text.find(|c| !wanted(c)).unwrap_or(text.len());
    (length > 0).then_some(length)
}

/// `"x"`: what programs print is compared with patterns.
fn string_constant(text: &str) -> Option<usize> {
    text.strip_prefix('"')?.find('"').map(|length| length + 2)
}

/// `'x'` or `'\n'`
fn character_constant(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('\'')?;
    let rest = rest.strip_prefix('\\').unwrap_or(rest);
    let inside = rest.chars().next()?;
    let rest = rest[inside.len_utf8()..].strip_prefix('\'')?;
    Some(text.len() - rest.len())
}
