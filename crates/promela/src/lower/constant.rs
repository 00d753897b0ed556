//! Constant expressions: array bounds, channel capacities, priorities, numbers of processes.

use super::names::{Names, Use};
use crate::ast::{BinaryOp, Expr, ExprKind, Initializer, UnaryOp};

/// The value of a constant expression; `None` if it is not constant.
pub(super) fn value(names: &Names, expr: &Expr) -> Option<i32> {
    match &expr.kind {
        ExprKind::Int(value, _) => Some(*value),
        ExprKind::Var(var) => names.mtypes.get(&var.as_name()?.name).map(|constant| constant.value),
        ExprKind::Unary(UnaryOp::Minus, inner) => Some(value(names, inner)?.wrapping_neg()),
        ExprKind::Unary(UnaryOp::Not, inner) => Some(i32::from(value(names, inner)? == 0)),
        ExprKind::Unary(UnaryOp::Complement, inner) => Some(!value(names, inner)?),
        ExprKind::Binary(operator, left, right) => binary(*operator, value(names, left)?, value(names, right)?),
        _ => None,
    }
}

fn binary(operator: BinaryOp, left: i32, right: i32) -> Option<i32> {
    Some(match operator {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Subtract => left.wrapping_sub(right),
        BinaryOp::Multiply => left.wrapping_mul(right),
        BinaryOp::Divide => left.checked_div(right)?,
        BinaryOp::Remainder => left.checked_rem(right)?,
        BinaryOp::ShiftLeft => left.wrapping_shl(right as u32),
        BinaryOp::ShiftRight => left.wrapping_shr(right as u32),
        BinaryOp::BitAnd => left & right,
        BinaryOp::BitOr => left | right,
        BinaryOp::BitXor => left ^ right,
        _ => return None,
    })
}

/// As [`value`], or the initial value of the scalar that the expression names; the flag says that it was one.
pub(super) fn value_or_initial(
    names: &Names,
    initial: &[Option<&Initializer>],
    expr: &Expr,
    place: Use,
) -> Option<(i32, bool)> {
    if let Some(value) = value(names, expr) {
        return Some((value, false));
    }
    let ExprKind::Var(var) = &expr.kind else { return None };
    let symbol = names.find(&var.as_name()?.name, place)?;
    match initial[symbol] {
        Some(Initializer::Value(start)) => value(names, start).map(|value| (value, true)),
        _ => None,
    }
}
