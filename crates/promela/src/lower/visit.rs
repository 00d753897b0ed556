//! Walks over expressions of the tree.
//!
//! One walk over expressions for all questions of the form "does this contain ...", so that a new
//! kind of expression is added once.

use crate::ast::{Expr, ExprKind, Item, Ltl, LtlKind, Program, RecvArg, StmtKind, VarRef};

/// Calls `see` on an expression and everything inside it.
pub(super) fn expressions(expr: &Expr, see: &mut dyn FnMut(&Expr)) {
    see(expr);
    match &expr.kind {
        ExprKind::Int(..) | ExprKind::Timeout | ExprKind::NonProgress => {}
        ExprKind::Var(var) | ExprKind::Len(var) | ExprKind::Probe(_, var) => indices(var, see),
        ExprKind::Unary(_, inner)
        | ExprKind::Enabled(inner)
        | ExprKind::PcValue(inner)
        | ExprKind::GetPriority(inner) => {
            expressions(inner, see);
        }
        ExprKind::Binary(_, left, right) => {
            expressions(left, see);
            expressions(right, see);
        }
        ExprKind::Conditional(condition, yes, no) => {
            expressions(condition, see);
            expressions(yes, see);
            expressions(no, see);
        }
        ExprKind::Run { args, .. } => args.iter().for_each(|arg| expressions(arg, see)),
        ExprKind::Poll { channel, args, .. } => {
            indices(channel, see);
            args.iter().for_each(|arg| receive_argument(arg, see));
        }
        ExprKind::RemoteLabel { pid, .. } => pid.iter().for_each(|pid| expressions(pid, see)),
        ExprKind::RemoteVar { pid, var, .. } => {
            pid.iter().for_each(|pid| expressions(pid, see));
            var.index.iter().for_each(|index| expressions(index, see));
        }
    }
}

fn indices(var: &VarRef, see: &mut dyn FnMut(&Expr)) {
    var.parts.iter().filter_map(|part| part.index.as_ref()).for_each(|index| expressions(index, see));
}

fn receive_argument(arg: &RecvArg, see: &mut dyn FnMut(&Expr)) {
    match arg {
        RecvArg::Var(var) => indices(var, see),
        RecvArg::Const(inner) | RecvArg::Eval(inner) => expressions(inner, see),
    }
}

/// Calls `see` on every expression of a basic statement, in source order.
pub(super) fn statement(kind: &StmtKind, see: &mut dyn FnMut(&Expr)) {
    match kind {
        StmtKind::Expr(expr) | StmtKind::Assert(expr) | StmtKind::Printm(expr) => expressions(expr, see),
        StmtKind::Assign { target, value } => {
            indices(target, see);
            expressions(value, see);
        }
        StmtKind::Increment(target) | StmtKind::Decrement(target) => indices(target, see),
        StmtKind::Printf { args, .. } => args.iter().for_each(|arg| expressions(arg, see)),
        StmtKind::Send { channel, args, .. } => {
            indices(channel, see);
            args.iter().for_each(|arg| expressions(arg, see));
        }
        StmtKind::Receive { channel, args, .. } => {
            indices(channel, see);
            args.iter().for_each(|arg| receive_argument(arg, see));
        }
        StmtKind::SetPriority { pid, priority } => {
            expressions(pid, see);
            expressions(priority, see);
        }
        _ => {}
    }
}

/// Whether a statement sends, receives or asks whether it could.
pub(super) fn uses_channel(kind: &StmtKind) -> bool {
    let mut found = matches!(kind, StmtKind::Send { .. } | StmtKind::Receive { .. });
    statement(kind, &mut |expr| found |= matches!(expr.kind, ExprKind::Probe(..)));
    found
}

/// How many `run` there are in an expression, and whether one stands where it may not be evaluated.
pub(super) fn runs(expr: &Expr) -> (usize, bool) {
    let mut count = 0;
    let mut conditional = false;
    expressions(expr, &mut |inner| match &inner.kind {
        ExprKind::Run { .. } => count += 1,
        ExprKind::Binary(crate::ast::BinaryOp::And | crate::ast::BinaryOp::Or, left, right) => {
            conditional |= has_run(left) || has_run(right);
        }
        ExprKind::Conditional(..) => conditional |= has_run(inner),
        _ => {}
    });
    (count, conditional)
}

fn has_run(expr: &Expr) -> bool {
    let mut found = false;
    expressions(expr, &mut |inner| found |= matches!(inner.kind, ExprKind::Run { .. }));
    found
}

/// Calls `see` on every atom of every `ltl` block.
pub(super) fn atoms(program: &Program, see: &mut dyn FnMut(&Expr)) {
    for item in &program.items {
        if let Item::Ltl(block) = item {
            formula_atoms(&block.formula, see);
        }
    }
}

fn formula_atoms(formula: &Ltl, see: &mut dyn FnMut(&Expr)) {
    match &formula.kind {
        LtlKind::Atom(expr) => see(expr),
        LtlKind::Not(inner) | LtlKind::Next(inner) | LtlKind::Always(inner) | LtlKind::Eventually(inner) => {
            formula_atoms(inner, see);
        }
        LtlKind::And(left, right)
        | LtlKind::Or(left, right)
        | LtlKind::Implies(left, right)
        | LtlKind::Equivalent(left, right)
        | LtlKind::Until(left, right)
        | LtlKind::WeakUntil(left, right)
        | LtlKind::Release(left, right) => {
            formula_atoms(left, see);
            formula_atoms(right, see);
        }
    }
}
