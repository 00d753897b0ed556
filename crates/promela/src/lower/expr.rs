//! Expressions.
//!
//! Types are C's, as in SPIN's verifier: every value is an `int` of 32 bits while it is computed,
//! and is cut to the width of its variable only when it is stored. So nothing here needs the type
//! of an operand; comparisons of an `mtype` with a number, or of a `chan` with 0, mean what the
//! generated C would mean.

use super::lowering::{Lowering, Within};
use super::names::{Symbol, Ty};
use crate::ast::{self, BinaryOp, ExprKind, Ident, Probe, UnaryOp, VarPart, VarRef};
use crate::diagnostic::Diagnostic;
use crate::ir::{Binary, ChannelQuery, Expr, Run, Shown, Space, Unary};
use crate::source::Span;
use trace::similar::closest;

impl Lowering<'_> {
    /// Lowers an expression. After an error the value is 0 and goes nowhere.
    ///
    /// Features that an expression uses are noted on the way: `timeout`, `enabled`, `_last` and
    /// priorities make steps depend on other processes, and what searches may leave out depends on
    /// the features of the whole model.
    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Expr {
        match &expr.kind {
            ExprKind::Int(value, _) => Expr::Constant(*value),
            ExprKind::Var(var) => self.variable(var),
            ExprKind::Unary(operator, inner) => self.unary(*operator, inner),
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right),
            ExprKind::Conditional(condition, yes, no) => {
                Expr::If(Box::new(self.expr(condition)), Box::new(self.expr(yes)), Box::new(self.expr(no)))
            }
            ExprKind::Run { proctype, args, priority } => self.run(proctype, args, priority.as_deref(), expr.span),
            ExprKind::Len(channel) => self.query(ChannelQuery::Length, channel),
            ExprKind::Probe(probe, channel) => self.query(probe_query(*probe), channel),
            ExprKind::Poll { channel, random, args } => {
                Expr::Poll(Box::new(self.receive(channel, *random, true, args)))
            }
            ExprKind::Timeout => {
                self.features.timeout = true;
                Expr::Timeout
            }
            ExprKind::NonProgress => self.non_progress(expr.span),
            ExprKind::Enabled(pid) => {
                self.features.enabled = true;
                Expr::Enabled(Box::new(self.expr(pid)))
            }
            ExprKind::PcValue(pid) => Expr::PcValue(Box::new(self.expr(pid))),
            ExprKind::GetPriority(pid) => {
                self.features.priority = true;
                Expr::Priority(Box::new(self.expr(pid)))
            }
            ExprKind::RemoteLabel { proctype, pid, label } => self.remote_label(proctype, pid.as_deref(), label),
            ExprKind::RemoteVar { proctype, pid, var } => self.remote_variable(proctype, pid.as_deref(), var),
        }
    }

    fn variable(&mut self, var: &VarRef) -> Expr {
        if let Some(name) = var.as_name()
            && let Some(value) = self.predefined(name)
        {
            return value;
        }
        let Some(target) = self.target(var) else { return Expr::Constant(0) };
        if let Some(channel) = target.channel {
            return channel;
        }
        match target.scalar() {
            Some((place, _)) => Expr::Load(place),
            None => {
                let told = Diagnostic::error("type", var.span, "a structure cannot be used as a value");
                self.report.push(told.help("name one of its fields"));
                Expr::Constant(0)
            }
        }
    }

    fn predefined(&mut self, name: &Ident) -> Option<Expr> {
        if let Some(constant) = self.names.mtypes.get(&name.name) {
            return Some(Expr::Constant(constant.value));
        }
        match &*name.name {
            "_pid" => Some(Expr::Pid),
            "_nr_pr" => Some(Expr::Processes),
            "_last" => {
                self.features.last = true;
                Some(Expr::Last)
            }
            "_priority" => {
                self.features.priority = true;
                Some(Expr::Priority(Box::new(Expr::Pid)))
            }
            "_" => {
                self.error("type", name.span, "`_` can only be written to");
                Some(Expr::Constant(0))
            }
            _ => None,
        }
    }

    fn unary(&mut self, operator: UnaryOp, inner: &ast::Expr) -> Expr {
        let operator = match operator {
            UnaryOp::Not => Unary::Not,
            UnaryOp::Minus => Unary::Negate,
            UnaryOp::Complement => Unary::Complement,
        };
        match (operator, self.expr(inner)) {
            (Unary::Negate, Expr::Constant(value)) => Expr::Constant(value.wrapping_neg()),
            (operator, inner) => Expr::Unary(operator, Box::new(inner)),
        }
    }

    /// `&&` and `||` are nodes of their own, since only they evaluate their right side under a
    /// condition (a division by zero there may not happen).
    fn binary(&mut self, operator: BinaryOp, left: &ast::Expr, right: &ast::Expr) -> Expr {
        let (left, right) = (Box::new(self.expr(left)), Box::new(self.expr(right)));
        let operator = match operator {
            BinaryOp::Or => return Expr::Or(left, right),
            BinaryOp::And => return Expr::And(left, right),
            BinaryOp::BitOr => Binary::BitOr,
            BinaryOp::BitXor => Binary::BitXor,
            BinaryOp::BitAnd => Binary::BitAnd,
            BinaryOp::Equal => Binary::Equal,
            BinaryOp::NotEqual => Binary::NotEqual,
            BinaryOp::Less => Binary::Less,
            BinaryOp::Greater => Binary::Greater,
            BinaryOp::LessEqual => Binary::LessEqual,
            BinaryOp::GreaterEqual => Binary::GreaterEqual,
            BinaryOp::ShiftLeft => Binary::ShiftLeft,
            BinaryOp::ShiftRight => Binary::ShiftRight,
            BinaryOp::Add => Binary::Add,
            BinaryOp::Subtract => Binary::Subtract,
            BinaryOp::Multiply => Binary::Multiply,
            BinaryOp::Divide => Binary::Divide,
            BinaryOp::Remainder => Binary::Remainder,
        };
        Expr::Binary(operator, left, right)
    }

    fn query(&mut self, query: ChannelQuery, channel: &VarRef) -> Expr {
        Expr::Channel(query, Box::new(self.channel(channel)))
    }

    /// The id of a channel.
    pub(super) fn channel(&mut self, var: &VarRef) -> Expr {
        let Some(target) = self.target(var) else { return Expr::Constant(0) };
        if !target.ty.is_channel() {
            self.error("type", var.span, "this is no channel");
            return Expr::Constant(0);
        }
        match (target.channel.clone(), target.scalar()) {
            (Some(channel), _) => channel,
            (None, Some((place, _))) => Expr::Load(place),
            (None, None) => Expr::Constant(0),
        }
    }

    fn non_progress(&mut self, span: Span) -> Expr {
        if self.within != Within::Claim {
            self.error("np_", span, "`np_` can be used in claims only");
        }
        self.features.np = true;
        Expr::NonProgress
    }

    /// `run` is an expression in Promela, with a side effect: at most one in a statement, never
    /// where it might not be evaluated (`check_runs`), so that a statement is executable or not
    /// before anything happens.
    fn run(&mut self, proctype: &Ident, args: &[ast::Expr], priority: Option<&ast::Expr>, span: Span) -> Expr {
        self.features.run = true;
        match self.within {
            Within::Process => {}
            Within::DStep => self.error("run", span, "`run` inside a d_step; use atomic"),
            Within::Claim | Within::Trace | Within::Other => {
                self.error("run", span, "`run` is a statement of processes only");
            }
        }
        let arguments: Vec<Expr> = args.iter().flat_map(|arg| self.flattened(arg)).collect();
        let priority = priority.map(|priority| {
            self.features.priority = true;
            Expr::Constant(super::declare::constant_in(self.names, self.report, priority, 1..=255, "a priority"))
        });
        let names = self.names;
        let Some(number) = names.proctype(&proctype.name) else {
            let told =
                Diagnostic::error("undeclared", proctype.span, format!("there is no proctype `{}`", proctype.name));
            let near = closest(&proctype.name, names.proctypes.iter().map(|known| &*known.name));
            self.report.push(near.into_iter().fold(told, |told, near| told.help(format!("did you mean `{near}`?"))));
            return Expr::Constant(0);
        };
        let parameters = &names.proctypes[number].parameters;
        let expected: usize = parameters.iter().map(|&symbol| names.leaves(&names.symbols[symbol].ty).len()).sum();
        if expected != arguments.len() {
            let message =
                format!("`{}` has {expected} parameters, but {} arguments are given", proctype.name, arguments.len());
            self.error("run", span, message);
        }
        Expr::Run(Box::new(Run { proctype: number, arguments, priority }))
    }

    /// An argument or message field: one value, or all scalars of a structure.
    pub(super) fn flattened(&mut self, expr: &ast::Expr) -> Vec<Expr> {
        let ExprKind::Var(var) = &expr.kind else { return vec![self.expr(expr)] };
        match super::place::type_of(self.names, var, self.place) {
            Some((ty @ Ty::Record(_), None)) => {
                let Some(target) = self.target(var) else { return Vec::new() };
                self.names.leaves(&ty).iter().map(|leaf| Expr::Load(target.leaf(leaf))).collect()
            }
            _ => vec![self.expr(expr)],
        }
    }

    fn remote_proctype(&mut self, proctype: &Ident) -> Option<usize> {
        let found = self.names.proctype(&proctype.name);
        if found.is_none() {
            self.error("undeclared", proctype.span, format!("there is no proctype `{}`", proctype.name));
        }
        found
    }

    /// `P[pid]@L`: whether the process is in the state that L marks.
    fn remote_label(&mut self, proctype: &Ident, pid: Option<&ast::Expr>, label: &Ident) -> Expr {
        let pid = pid.map(|pid| Box::new(self.expr(pid)));
        let Some(number) = self.remote_proctype(proctype) else { return Expr::Constant(0) };
        let names = self.names;
        let labels = &names.proctypes[number].labels;
        let meant: Vec<_> = labels.iter().filter(|(name, _)| *name == label.name).collect();
        if meant.is_empty() {
            let told =
                Diagnostic::error("label", label.span, format!("`{}` has no label `{}`", proctype.name, label.name));
            let near = closest(&label.name, labels.iter().map(|(name, _)| &**name));
            self.report.push(near.into_iter().fold(told, |told, near| told.help(format!("did you mean `{near}`?"))));
        }
        // SPIN compares with one state: the label that was defined last.
        let states = meant.last().and_then(|(_, state)| *state).into_iter().collect();
        Expr::At { proctype: number, pid, states }
    }

    /// `P[pid]:x` reads a local variable of another process: locals are placed before any
    /// expression is lowered for its sake.
    fn remote_variable(&mut self, proctype: &Ident, pid: Option<&ast::Expr>, var: &VarPart) -> Expr {
        let pid = pid.map(|pid| Box::new(self.expr(pid)));
        let Some(number) = self.remote_proctype(proctype) else { return Expr::Constant(0) };
        let names = self.names;
        let locals = &names.proctypes[number].locals;
        let symbols = locals.iter().map(|&symbol| &names.symbols[symbol]);
        let Some(symbol) = symbols.clone().find(|symbol| symbol.name == var.name.name) else {
            let told = Diagnostic::error(
                "undeclared",
                var.name.span,
                format!("`{}` has no variable `{}`", proctype.name, var.name.name),
            );
            let near = closest(&var.name.name, symbols.map(|symbol: &Symbol| &*symbol.name));
            self.report.push(near.into_iter().fold(told, |told, near| told.help(format!("did you mean `{near}`?"))));
            return Expr::Constant(0);
        };
        let space = Space::Remote(number, pid);
        let target = self.target_of(symbol, var, &[], Some(space), var.name.span);
        match target.as_ref().and_then(super::place::Target::scalar) {
            Some((place, _)) => Expr::Load(place),
            None => {
                self.error("type", var.name.span, "a remote reference must name a scalar");
                Expr::Constant(0)
            }
        }
    }

    /// The mtype set whose names a value should be printed with.
    pub(super) fn mtype_set(&self, expr: &ast::Expr) -> String {
        let ExprKind::Var(var) = &expr.kind else { return String::new() };
        if let Some(constant) = var.as_name().and_then(|name| self.names.mtypes.get(&name.name)) {
            return constant.set.clone();
        }
        match super::place::type_of(self.names, var, self.place) {
            Some((Ty::Scalar(_, Shown::Mtype(set)), _)) => set,
            _ => String::new(),
        }
    }
}

fn probe_query(probe: Probe) -> ChannelQuery {
    match probe {
        Probe::Full => ChannelQuery::Full,
        Probe::NotFull => ChannelQuery::NotFull,
        Probe::Empty => ChannelQuery::Empty,
        Probe::NotEmpty => ChannelQuery::NotEmpty,
    }
}
