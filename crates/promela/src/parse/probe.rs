//! Where `full`, `empty` and their kin may stand: alone, or joined by `&&` and `||`. SPIN forbids the rest to keep its
//! partial order reduction sound, and so do we, so that models mean the same here and there.
//!
//! `full(q)` and its kin look like calls but are keywords: their argument is a channel, not an
//! expression.

use super::parser::Parse;
use crate::ast::{BinaryOp, Expr, ExprKind, Probe, UnaryOp};
use crate::diagnostic::Diagnostic;

/// Allows probes at the top and under `&&` and `||`.
pub(super) fn check(expr: &Expr) -> Parse<()> {
    match &expr.kind {
        ExprKind::Probe(..) => Ok(()),
        ExprKind::Binary(BinaryOp::And | BinaryOp::Or, a, b) => {
            check(a)?;
            check(b)
        }
        _ => refuse(expr),
    }
}

/// Allows no probe.
pub(super) fn refuse(expr: &Expr) -> Parse<()> {
    match &expr.kind {
        ExprKind::Probe(probe, _) => Err(Box::new(misplaced(expr, *probe))),
        ExprKind::Unary(UnaryOp::Not, inner) => match inner.kind {
            ExprKind::Probe(probe, _) => Err(Box::new(negated(expr, probe))),
            _ => refuse(inner),
        },
        _ => operands(expr).into_iter().try_for_each(refuse),
    }
}

/// The parts of an expression that belong to the same `full_expr`.
fn operands(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Unary(_, a) => vec![a],
        ExprKind::Binary(_, a, b) => vec![a, b],
        ExprKind::Conditional(a, b, c) => vec![a, b, c],
        _ => Vec::new(),
    }
}

fn misplaced(expr: &Expr, probe: Probe) -> Diagnostic {
    let name = spelling(probe);
    Diagnostic::error("probe", expr.span, format!("`{name}(..)` cannot be part of an expression"))
        .note("SPIN allows it alone or joined by && and ||, not in arithmetic, comparisons or ltl formulas")
        .help(match probe {
            Probe::Empty | Probe::NotEmpty => "compare `len(q)` with 0",
            Probe::Full | Probe::NotFull => "compare `len(q)` with the channel's capacity",
        })
}

fn negated(expr: &Expr, probe: Probe) -> Diagnostic {
    let (name, other) = (spelling(probe), spelling(opposite(probe)));
    Diagnostic::error("probe", expr.span, format!("`{name}(..)` cannot be negated"))
        .help(format!("write `{other}(..)`, which is its opposite"))
}

fn spelling(probe: Probe) -> &'static str {
    match probe {
        Probe::Full => "full",
        Probe::NotFull => "nfull",
        Probe::Empty => "empty",
        Probe::NotEmpty => "nempty",
    }
}

fn opposite(probe: Probe) -> Probe {
    match probe {
        Probe::Full => Probe::NotFull,
        Probe::NotFull => Probe::Full,
        Probe::Empty => Probe::NotEmpty,
        Probe::NotEmpty => Probe::Empty,
    }
}
