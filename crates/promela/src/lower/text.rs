//! Expressions as SPIN spells them in its messages and trails.

use crate::ast::{Expr, ExprKind, Literal, Probe, RecvArg, VarRef};

/// An expression with all its parentheses: `(x==1)`, `((a<b)&&q?[m])`.
pub(super) fn expr(expr: &Expr) -> String {
    match &expr.kind {
        ExprKind::Int(value, Literal::Number | Literal::Char | Literal::True | Literal::False | Literal::Skip) => {
            value.to_string()
        }
        ExprKind::Var(var) => reference(var),
        ExprKind::Unary(operator, inner) => format!("{}({})", operator.sign(), self::expr(inner)),
        ExprKind::Binary(operator, left, right) => {
            format!("({}{}{})", self::expr(left), operator.sign(), self::expr(right))
        }
        ExprKind::Conditional(condition, yes, no) => {
            format!("( ({}) -> ({}) : ({}) )", self::expr(condition), self::expr(yes), self::expr(no))
        }
        ExprKind::Run { proctype, args, .. } => format!("run {}({})", proctype.name, list(args)),
        ExprKind::Len(channel) => format!("len({})", reference(channel)),
        ExprKind::Probe(probe, channel) => format!("{}({})", probe_name(*probe), reference(channel)),
        ExprKind::Poll { channel, random, args } => {
            let mark = if *random { "??" } else { "?" };
            let args: Vec<String> = args.iter().map(argument).collect();
            format!("{}{mark}[{}]", reference(channel), args.join(","))
        }
        ExprKind::Timeout => "timeout".into(),
        ExprKind::NonProgress => "np_".into(),
        ExprKind::Enabled(pid) => format!("enabled({})", self::expr(pid)),
        ExprKind::PcValue(pid) => format!("pc_value({})", self::expr(pid)),
        ExprKind::GetPriority(pid) => format!("get_priority({})", self::expr(pid)),
        ExprKind::RemoteLabel { proctype, pid, label } => {
            format!("{}{}@{}", proctype.name, index(pid.as_deref()), label.name)
        }
        ExprKind::RemoteVar { proctype, pid, var } => {
            format!("{}{}:{}{}", proctype.name, index(pid.as_deref()), var.name.name, index(var.index.as_ref()))
        }
    }
}

/// A reference: `a[i].b`.
pub(super) fn reference(var: &VarRef) -> String {
    let parts: Vec<String> =
        var.parts.iter().map(|part| format!("{}{}", part.name.name, index(part.index.as_ref()))).collect();
    parts.join(".")
}

fn index(index: Option<&Expr>) -> String {
    index.map_or(String::new(), |index| format!("[{}]", expr(index)))
}

fn list(args: &[Expr]) -> String {
    let args: Vec<String> = args.iter().map(expr).collect();
    args.join(",")
}

fn argument(arg: &RecvArg) -> String {
    match arg {
        RecvArg::Var(var) => reference(var),
        RecvArg::Const(value) => expr(value),
        RecvArg::Eval(value) => format!("eval({})", expr(value)),
    }
}

fn probe_name(probe: Probe) -> &'static str {
    match probe {
        Probe::Full => "full",
        Probe::NotFull => "nfull",
        Probe::Empty => "empty",
        Probe::NotEmpty => "nempty",
    }
}
