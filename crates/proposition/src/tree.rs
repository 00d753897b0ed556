//! A proposition as a tree.
//!
//! **Invariant:** what [`std::fmt::Display`] prints is read as an equal tree; columns are not
//! compared, so a printed proposition may be checked against the one it came from.

use super::facts::Stream;
use super::pattern::{Pattern, Processes};

/// A part of a proposition, and where it was written.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    pub(super) kind: Kind,
    /// In characters from 1.
    pub(super) column: usize,
}

/// Two are the same wherever they were written.
impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// What a part says.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Kind {
    Not(Box<Expression>),
    Joined(Join, Box<Expression>, Box<Expression>),
    Compared(Comparison, Box<Expression>, Box<Expression>),
    /// `=~`, or `!~` if the answer is turned round.
    Matches {
        text: Box<Expression>,
        pattern: Pattern,
        is_negated: bool,
    },
    Number(i128),
    Float(f64),
    Truth(bool),
    Text(String),
    /// The exit code; alone, whether there is one.
    Exited(Processes),
    /// The signal; alone, whether there was one.
    Crashed(Processes),
    Blocked(Processes),
    Running(Processes),
    Output(Stream, Processes),
    Called(Processes, String),
    Exists(String),
    Content(String),
    Size(String),
    Lines(Box<Expression>, Option<Pattern>),
    /// A variable, or the name of an enumerator: what it is compared with decides.
    Variable {
        process: Option<String>,
        path: String,
    },
}

/// How two truths become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Join {
    And,
    Or,
    Implies,
}

/// How two values are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Comparison {
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// Whether an order of two values is what was asked for.
    pub(super) fn accepts(self, order: std::cmp::Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Different => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

impl Expression {
    /// Visits every part.
    pub(super) fn visit(&self, visitor: &mut impl FnMut(&Self)) {
        visitor(self);
        match &self.kind {
            Kind::Not(inner) | Kind::Matches { text: inner, .. } | Kind::Lines(inner, _) => inner.visit(visitor),
            Kind::Joined(_, left, right) | Kind::Compared(_, left, right) => {
                left.visit(visitor);
                right.visit(visitor);
            }
            _ => {}
        }
    }
}
