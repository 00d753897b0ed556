//! Where an atom ends: the longest run of plain expression text, with no temporal operator inside.
//!
//! Propositions are Promela expressions, which share operators with the logic (`!`, `&&`, `||`,
//! parentheses). An atom is made as long as it can be without containing a temporal operator; that
//! keeps `x == 2` together without a grammar of Promela in this crate.

use crate::lexer::{Kind, Token};
use crate::parse_error::ParseError;

/// The tokens of a formula with their brackets matched and one-letter operators distinguished from names.
///
/// Brackets are matched before parsing, so "is there a temporal operator inside" is O(1) for each.
pub(crate) struct Shape {
    pub tokens: Vec<Token>,
    /// For each opening bracket, the index of the closing one.
    partner: Vec<usize>,
    /// For each opening bracket, a temporal operator inside, if any.
    temporal: Vec<Option<usize>>,
}

/// The end of an atom (one past its last token).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AtomEnd {
    pub end: usize,
    /// Whether operators join several operands at the top of the atom.
    pub compound: bool,
}

impl Shape {
    pub(crate) fn new(text: &str, mut tokens: Vec<Token>) -> Result<Shape, ParseError> {
        for at in 0..tokens.len() {
            tokens[at].kind = resolve(text, &tokens, at);
        }
        let (partner, temporal) = brackets(&tokens)?;
        Ok(Shape { tokens, partner, temporal })
    }

    fn kind(&self, at: usize) -> Kind {
        self.tokens.get(at).map_or(Kind::End, |token| token.kind)
    }

    /// The atom that starts here, or `None` if something else does. With `bitwise`, `&` and `|` may join operands.
    ///
    /// `a & b` is bitwise inside an expression and conjunction beside a formula; the caller knows
    /// which it can be.
    pub(crate) fn atom_end(&self, start: usize, bitwise: bool) -> Result<Option<AtomEnd>, ParseError> {
        let Some(mut end) = self.operand_end(start)? else { return Ok(None) };
        let mut compound = false;
        while self.joins(end, bitwise) {
            match self.operand_end(end + 1)? {
                Some(next) => end = next,
                None if matches!(self.kind(end), Kind::BitAnd | Kind::BitOr) => break,
                None => return Err(self.operand_missing(end)),
            }
            compound = true;
        }
        Ok(Some(AtomEnd { end, compound }))
    }

    fn joins(&self, at: usize, bitwise: bool) -> bool {
        match self.kind(at) {
            Kind::Arithmetic | Kind::Minus => true,
            Kind::BitAnd | Kind::BitOr => bitwise,
            _ => false,
        }
    }

    fn operand_missing(&self, operator: usize) -> ParseError {
        ParseError::new(self.tokens[operator].start, "this operator lacks a plain expression to its right", "")
    }

    /// End of one operand: prefixes, then a name, number or bracket, then indices, calls and selections.
    fn operand_end(&self, start: usize) -> Result<Option<usize>, ParseError> {
        let mut at = start;
        while matches!(self.kind(at), Kind::Complement | Kind::Not | Kind::Minus) {
            at += 1;
        }
        match self.kind(at) {
            Kind::Name => self.postfix_end(at + 1).map(Some),
            Kind::Number | Kind::True | Kind::False => Ok(Some(at + 1)),
            Kind::Open if self.temporal[at].is_none() => Ok(Some(self.partner[at] + 1)),
            _ => Ok(None),
        }
    }

    fn postfix_end(&self, start: usize) -> Result<usize, ParseError> {
        let mut at = start;
        loop {
            at = match (self.kind(at), self.kind(at + 1)) {
                (Kind::OpenIndex | Kind::Open, _) => self.plain_group(at)?,
                (Kind::Poll, Kind::OpenIndex) => self.plain_group(at + 1)?,
                (Kind::Select, Kind::Name) => at + 2,
                _ => return Ok(at),
            };
        }
    }

    /// Past the bracket at `open`, which belongs to an atom.
    fn plain_group(&self, open: usize) -> Result<usize, ParseError> {
        match self.temporal[open] {
            None => Ok(self.partner[open] + 1),
            Some(inside) => {
                let offset = self.tokens[inside].start;
                Err(ParseError::new(offset, "a temporal operator cannot stand inside an expression", ""))
            }
        }
    }
}

/// Letters are operators where an operator can stand. SPIN reserves `U V W X`; `R G F` stay usable as names.
///
/// By position, so that a model with a variable `G` can still be spoken about.
fn resolve(text: &str, tokens: &[Token], at: usize) -> Kind {
    let token = tokens[at];
    let before = at.checked_sub(1).map(|before| tokens[before].kind);
    if token.kind != Kind::Name || before == Some(Kind::Select) {
        return token.kind;
    }
    let infix = before.is_some_and(ends_operand);
    let prefix = !infix && tokens.get(at + 1).is_some_and(|next| starts_operand(next.kind));
    match &text[token.start..token.end] {
        "U" => Kind::Until,
        "V" => Kind::Release,
        "W" => Kind::WeakUntil,
        "X" => Kind::Next,
        "R" if infix => Kind::Release,
        "G" if prefix => Kind::Always,
        "F" if prefix => Kind::Eventually,
        _ => Kind::Name,
    }
}

fn ends_operand(kind: Kind) -> bool {
    matches!(kind, Kind::Name | Kind::Number | Kind::True | Kind::False | Kind::Close | Kind::CloseIndex)
}

fn starts_operand(kind: Kind) -> bool {
    use Kind::{Always, Eventually, False, Name, Next, Not, Number, Open, True};
    matches!(kind, Name | Number | True | False | Open | Not | Always | Eventually | Next)
}

fn is_temporal(kind: Kind) -> bool {
    use Kind::{Always, Eventually, Next, Release, Until, WeakUntil};
    matches!(kind, Always | Eventually | Next | Until | WeakUntil | Release)
}

type Brackets = (Vec<usize>, Vec<Option<usize>>);

/// Matches brackets and notes a temporal operator inside each pair.
fn brackets(tokens: &[Token]) -> Result<Brackets, ParseError> {
    let mut partner = vec![0; tokens.len()];
    let mut temporal = vec![None; tokens.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Open | Kind::OpenIndex => open.push(at),
            Kind::Close | Kind::CloseIndex => {
                let start = close(tokens, &mut open, at)?;
                partner[start] = at;
                if let (Some(inside), Some(outer)) = (temporal[start], open.last()) {
                    temporal[*outer] = Some(inside);
                }
            }
            kind if is_temporal(kind) => {
                if let Some(outer) = open.last() {
                    temporal[*outer] = Some(at);
                }
            }
            _ => {}
        }
    }
    match open.last() {
        Some(at) => Err(ParseError::new(tokens[*at].start, "this bracket is never closed", "")),
        None => Ok((partner, temporal)),
    }
}

fn close(tokens: &[Token], open: &mut Vec<usize>, at: usize) -> Result<usize, ParseError> {
    let wanted = if tokens[at].kind == Kind::Close { Kind::Open } else { Kind::OpenIndex };
    match open.pop() {
        Some(start) if tokens[start].kind == wanted => Ok(start),
        _ => Err(ParseError::new(tokens[at].start, "this bracket closes nothing", "")),
    }
}
