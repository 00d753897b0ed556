//! Formulas as text: SPIN's syntax, and `G F R` as other tools write them.
//!
//! Binding, loosest first: `->` and `<->`; `||`; `&&`; `U V W`; the unary `! [] <> X`. All binary operators group to the left.
//! This is what SPIN 6.5 does inside an `ltl` block: `[] a U b` is `([] a) U b`.
//!
//! Where SPIN and the other tools differ, a warning says how it was read, rather than silently
//! choosing.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::atom::{AtomEnd, Shape};
use crate::formula::{DEPTH_MAX, Formula};
use crate::lexer::{Kind, Token, tokens};
use crate::parse_error::ParseError;

/// A formula read from text, with the atoms that its indices refer to.
///
/// Equal texts are one atom; `x==1` and `x == 1` are two, which costs a bit of the valuation and
/// nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The formula; `Formula::Atom(i)` means `atoms[i]`.
    pub formula: Formula,
    /// Each different atom once, in order of first appearance.
    pub atoms: Vec<AtomText>,
    /// Ambiguous places.
    pub warnings: Vec<Warning>,
}

/// The source text of an atom and where it first stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtomText {
    /// The text as written.
    pub text: String,
    /// Byte range in the formula's text.
    pub span: Range<usize>,
}

/// Something that is read differently elsewhere, or that is rarely meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Byte offset in the formula's text.
    pub offset: usize,
    /// The place and how it was read.
    pub message: String,
}

/// Reads a formula.
pub fn parse(text: &str) -> Result<Parsed, ParseError> {
    let shape = Shape::new(text, tokens(text)?)?;
    let mut parser =
        Parser { text, shape, at: 0, nesting: 0, atoms: Vec::new(), seen: HashMap::new(), warnings: Vec::new() };
    let part = parser.binary(0)?;
    parser.expect_end()?;
    Ok(Parsed { formula: part.formula, atoms: parser.atoms, warnings: parser.warnings })
}

/// A formula with its depth, so that long chains are refused before they grow too deep to drop.
struct Part {
    formula: Formula,
    depth: usize,
}

struct Parser<'t> {
    text: &'t str,
    shape: Shape,
    at: usize,
    nesting: usize,
    atoms: Vec<AtomText>,
    seen: HashMap<String, u32>,
    warnings: Vec<Warning>,
}

type Binary = fn(Arc<Formula>, Arc<Formula>) -> Formula;

/// Strength and constructor of a binary operator.
fn binary_operator(kind: Kind) -> Option<(u8, Binary)> {
    Some(match kind {
        Kind::Implies => (1, Formula::Implies),
        Kind::Equiv => (1, Formula::Equiv),
        Kind::Or | Kind::BitOr => (2, Formula::Or),
        Kind::And | Kind::BitAnd => (3, Formula::And),
        Kind::Until => (4, Formula::Until),
        Kind::Release => (4, Formula::Release),
        Kind::WeakUntil => (4, Formula::WeakUntil),
        _ => return None,
    })
}

impl Parser<'_> {
    fn token(&self) -> Token {
        self.shape.tokens[self.at]
    }

    fn source(&self, token: Token) -> &str {
        &self.text[token.start..token.end]
    }

    /// Operands joined by operators of at least this strength.
    fn binary(&mut self, strength_min: u8) -> Result<Part, ParseError> {
        let mut left = self.unary(None)?;
        while let Some((strength, build)) = binary_operator(self.token().kind) {
            if strength < strength_min {
                break;
            }
            let operator = self.token();
            self.warn_of_bitwise(operator);
            self.at += 1;
            let right = self.nested(|parser| parser.binary(strength + 1))?;
            let depth = left.depth.max(right.depth);
            left = self.grow(operator, depth, build(Arc::new(left.formula), Arc::new(right.formula)))?;
        }
        Ok(left)
    }

    /// A prefix operator with its operand, or an operand. `temporal` is the temporal operator right before it, if any.
    fn unary(&mut self, temporal: Option<Token>) -> Result<Part, ParseError> {
        let operator = self.token();
        let build = match operator.kind {
            Kind::Not => return self.negation(temporal),
            Kind::Always => Formula::Globally,
            Kind::Eventually => Formula::Finally,
            Kind::Next => Formula::Next,
            _ => return self.operand(temporal),
        };
        self.at += 1;
        let part = self.nested(|parser| parser.unary(Some(operator)))?;
        self.grow(operator, part.depth, build(Arc::new(part.formula)))
    }

    /// `!x == 2` is one atom, as in Promela and C; any other `!` negates what follows it.
    fn negation(&mut self, temporal: Option<Token>) -> Result<Part, ParseError> {
        let operator = self.token();
        let end = self.shape.atom_end(self.at, temporal.is_none())?;
        if let Some(AtomEnd { end, compound: true }) = end {
            let atom = self.atom(end);
            let source = self.text[operator.start..self.shape.tokens[end - 1].end].to_string();
            let message = format!("`{source}` applies `!` first, as Promela does; use parentheses to negate the whole");
            self.warnings.push(Warning { offset: operator.start, message });
            return Ok(atom);
        }
        self.at += 1;
        let part = self.nested(|parser| parser.unary(temporal))?;
        self.grow(operator, part.depth, Formula::Not(Arc::new(part.formula)))
    }

    fn operand(&mut self, temporal: Option<Token>) -> Result<Part, ParseError> {
        let first = self.token();
        let atom = self.shape.atom_end(self.at, temporal.is_none())?;
        match (first.kind, atom) {
            (Kind::Open, None | Some(AtomEnd { compound: false, .. })) => self.parenthesised(),
            (Kind::True, Some(AtomEnd { compound: false, .. })) => Ok(self.constant(Formula::True)),
            (Kind::False, Some(AtomEnd { compound: false, .. })) => Ok(self.constant(Formula::False)),
            (_, Some(AtomEnd { end, compound })) => {
                let part = self.atom(end);
                if compound {
                    self.warn_of_spin(temporal, first, end);
                }
                Ok(part)
            }
            (_, None) => Err(self.operand_expected()),
        }
    }

    fn parenthesised(&mut self) -> Result<Part, ParseError> {
        self.at += 1;
        let part = self.nested(|parser| parser.binary(0))?;
        if self.token().kind != Kind::Close {
            return Err(self.operator_expected());
        }
        self.at += 1;
        Ok(part)
    }

    fn constant(&mut self, formula: Formula) -> Part {
        self.at += 1;
        Part { formula, depth: 1 }
    }

    /// The tokens up to `end` as an atom; equal texts get equal indices.
    fn atom(&mut self, end: usize) -> Part {
        let span = self.token().start..self.shape.tokens[end - 1].end;
        self.at = end;
        let text = self.text[span.clone()].to_string();
        let fresh = self.atoms.len() as u32;
        let index = *self.seen.entry(text.clone()).or_insert(fresh);
        if index == fresh {
            self.atoms.push(AtomText { text, span });
        }
        Part { formula: Formula::Atom(index), depth: 1 }
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Result<Part, ParseError>) -> Result<Part, ParseError> {
        self.nesting += 1;
        if self.nesting > DEPTH_MAX {
            return Err(too_deep(self.token()));
        }
        let part = read(self);
        self.nesting -= 1;
        part
    }

    fn grow(&self, operator: Token, depth: usize, formula: Formula) -> Result<Part, ParseError> {
        if depth >= DEPTH_MAX { Err(too_deep(operator)) } else { Ok(Part { formula, depth: depth + 1 }) }
    }

    /// SPIN reads `<> x == 2` as `(<> x) == 2`, a comparison of nonsense, and says nothing.
    fn warn_of_spin(&mut self, temporal: Option<Token>, first: Token, end: usize) {
        let Some(operator) = temporal.filter(|token| !["G", "F"].contains(&self.source(*token))) else { return };
        let atom = &self.text[first.start..self.shape.tokens[end - 1].end];
        let name = self.source(operator);
        let message = format!("read as `{name} ({atom})`; SPIN would apply `{name}` first: add the parentheses");
        self.warnings.push(Warning { offset: operator.start, message });
    }

    fn warn_of_bitwise(&mut self, operator: Token) {
        if matches!(operator.kind, Kind::BitAnd | Kind::BitOr) {
            let name = self.source(operator);
            let message = format!("`{name}` beside a formula is read as `{name}{name}`");
            self.warnings.push(Warning { offset: operator.start, message });
        }
    }

    fn expect_end(&self) -> Result<(), ParseError> {
        if self.token().kind == Kind::End { Ok(()) } else { Err(self.operator_expected()) }
    }

    fn operator_expected(&self) -> ParseError {
        let token = self.token();
        let name = self.source(token);
        let before = self.at.checked_sub(1).map_or("", |at| self.source(self.shape.tokens[at]));
        let hint = match (name, before) {
            ("and", _) => "write `&&`",
            ("or", _) => "write `||`",
            (_, "not") => "write `!`",
            (_, "GF" | "FG" | "XX" | "GX" | "XG" | "FX" | "XF") => "write the operators apart: `G F p` or `[] <> p`",
            _ if matches!(token.kind, Kind::Arithmetic | Kind::Minus) => {
                "only plain expressions can be compared: write `[] (x == 2)`"
            }
            _ => "",
        };
        let message = if token.kind == Kind::End {
            "the formula ends too early".to_string()
        } else {
            format!("expected an operator before `{name}`")
        };
        ParseError::new(token.start, message, hint)
    }

    fn operand_expected(&self) -> ParseError {
        let token = self.token();
        let name = self.source(token);
        let hint = match token.kind {
            Kind::Until | Kind::Release | Kind::WeakUntil => "it is an operator and cannot name a variable",
            Kind::OpenIndex => "write `[]` without a blank inside",
            _ => "",
        };
        match token.kind {
            Kind::End => ParseError::new(token.start, "expected a formula, found the end of the text", hint),
            _ => ParseError::new(token.start, format!("expected a formula, found `{name}`"), hint),
        }
    }
}

fn too_deep(token: Token) -> ParseError {
    ParseError::new(token.start, format!("the formula is nested more than {DEPTH_MAX} deep"), "split the property")
}
