//! Basic statements.

use super::lowering::{Lowering, Within};
use super::names::{SymbolId, Ty};
use super::text;
use crate::ast::{self, ExprKind, Initializer, RecvArg, StmtKind, VarRef};
use crate::diagnostic::Diagnostic;
use crate::ir::{Action, Assign, Binary, Expr, Format, Place, Print, ReadInput, Scalar, Shown, Space};
use crate::source::Span;

impl Lowering<'_> {
    /// Lowers a basic statement.
    pub(super) fn action(&mut self, kind: &StmtKind, span: Span) -> Action {
        self.check_runs(kind, span);
        match kind {
            StmtKind::Expr(expr) => Action::Condition(self.expr(expr)),
            StmtKind::Assign { target, value } => self.assign(target, value, span),
            StmtKind::Increment(target) => self.add(target, Binary::Add),
            StmtKind::Decrement(target) => self.add(target, Binary::Subtract),
            StmtKind::Assert(expr) => Action::Assert { condition: self.expr(expr), text: text::expr(expr) },
            StmtKind::Printf { format, args } => self.printf(format, args, span),
            StmtKind::Printm(value) => {
                let format = Format::Mtype(self.mtype_set(value));
                let value = self.expr(value);
                Action::Print(Print { pieces: vec![String::new(), String::new()], values: vec![(format, value)] })
            }
            StmtKind::Send { channel, sorted, args } => self.send(channel, *sorted, args, span),
            StmtKind::Receive { channel, random, keep, args } => self.receive_statement(channel, *random, *keep, args),
            StmtKind::SetPriority { pid, priority } => {
                self.features.priority = true;
                Action::SetPriority { pid: self.expr(pid), value: self.expr(priority) }
            }
            _ => {
                self.error("statement", span, "this statement cannot stand here");
                skip()
            }
        }
    }

    fn check_runs(&mut self, kind: &StmtKind, span: Span) {
        let (mut count, mut conditional) = (0, false);
        let mut top = |expr: &ast::Expr| {
            let (found, hidden) = super::visit::runs(expr);
            count += found;
            conditional |= hidden;
        };
        match kind {
            StmtKind::Expr(expr) | StmtKind::Assert(expr) => top(expr),
            StmtKind::Assign { value, .. } => top(value),
            StmtKind::Printf { args, .. } => args.iter().for_each(top),
            _ => {}
        }
        if count > 1 {
            self.error("run", span, "more than one `run` in a statement");
        }
        if conditional {
            self.error("run", span, "`run` inside `&&`, `||` or a conditional expression");
        }
    }

    fn assign(&mut self, target: &VarRef, value: &ast::Expr, span: Span) -> Action {
        match target.as_name().map(|name| &*name.name) {
            Some("_priority") => {
                self.features.priority = true;
                return Action::SetPriority { pid: Expr::Pid, value: self.expr(value) };
            }
            // Writing to `_` throws the value away, but a `run` in it happens.
            Some("_") => {
                let value = self.expr(value);
                return if matches!(value, Expr::Run(_)) { Action::Condition(value) } else { skip() };
            }
            Some(name) if super::declare::PREDEFINED.contains(&name) || self.names.mtypes.contains_key(name) => {
                self.error("type", span, format!("`{name}` cannot be assigned to"));
                return skip();
            }
            _ => {}
        }
        let Some((place, shown)) = self.assignable(target) else {
            self.expr(value);
            return skip();
        };
        self.check_channel_value(&shown, value);
        self.check_constant(&place, value);
        Action::Assign(Assign { place, value: self.expr(value) })
    }

    /// The scalar that an assignment changes.
    fn assignable(&mut self, target: &VarRef) -> Option<(Place, Shown)> {
        let found = self.target(target)?;
        match found.scalar() {
            Some((place, shown)) => Some((place, shown.clone())),
            None => {
                self.error("type", target.span, "a structure cannot be assigned as a whole");
                None
            }
        }
    }

    fn check_channel_value(&mut self, shown: &Shown, value: &ast::Expr) {
        if *shown != Shown::Channel {
            return;
        }
        let is_channel = match &value.kind {
            ExprKind::Var(var) => {
                super::place::type_of(self.names, var, self.place).is_none_or(|(ty, _)| ty.is_channel())
            }
            _ => false,
        };
        if !is_channel {
            self.warning("type", value.span, "a channel variable is given something that is no channel");
        }
    }

    fn check_constant(&mut self, place: &Place, value: &ast::Expr) {
        if let Some(given) = super::constant::value(self.names, value)
            && place.scalar.cut(given) != given
        {
            let kept = place.scalar.cut(given);
            self.warning("truncated", value.span, format!("{given} does not fit: {kept} is stored"));
        }
    }

    fn add(&mut self, target: &VarRef, operator: Binary) -> Action {
        let Some((place, shown)) = self.assignable(target) else { return skip() };
        if shown == Shown::Channel {
            self.error("type", target.span, "arithmetic on a channel");
        }
        let value = Expr::Binary(operator, Box::new(Expr::Load(place.clone())), Box::new(Expr::Constant(1)));
        Action::Assign(Assign { place, value })
    }

    fn receive_statement(&mut self, channel: &VarRef, random: bool, keep: bool, args: &[RecvArg]) -> Action {
        if self.is_input(channel) {
            return self.read_input(args);
        }
        // In an event claim `keep` tells a send from a receive.
        let keep = keep && self.within != Within::Trace;
        Action::Receive(self.receive(channel, random, keep, args))
    }

    /// `STDIN` is the user's input, unless the model makes a channel of that name.
    fn is_input(&self, channel: &VarRef) -> bool {
        let Some(name) = channel.as_name().filter(|name| &*name.name == "STDIN") else { return false };
        let symbol = self.names.find(&name.name, self.place).map(|symbol| &self.names.symbols[symbol]);
        symbol.is_some_and(|symbol| symbol.ty.is_channel() && !symbol.local && symbol.channel.is_none())
    }

    fn read_input(&mut self, args: &[RecvArg]) -> Action {
        let mut places = Vec::new();
        for arg in args {
            match arg {
                RecvArg::Var(var) => places.extend(self.assignable(var).map(|(place, _)| place)),
                RecvArg::Const(value) | RecvArg::Eval(value) => {
                    let told = Diagnostic::error("input", value.span, "`STDIN` gives characters to variables only");
                    self.report.push(told.help("read into a variable and compare that"));
                }
            }
        }
        let offset = self.names.input_position;
        let position = Place { space: Space::Global, offset, indices: Vec::new(), scalar: Scalar::Int };
        Action::ReadInput(ReadInput { places, position })
    }

    /// The step of a declaration inside a body. Of an array SPIN sets the first element only; of a structure nothing.
    ///
    /// A declaration in the middle of a body is a step, as in SPIN 6: a loop that passes it sets
    /// the variable again.
    pub(super) fn declaration(&mut self, symbol: SymbolId, init: Option<&Initializer>) -> Action {
        let names = self.names;
        let symbol = &names.symbols[symbol];
        let value = match init {
            Some(Initializer::Value(value)) => {
                self.refuse_run(value);
                self.expr(value)
            }
            _ => Expr::Constant(0),
        };
        let Ty::Scalar(scalar, _) = symbol.ty else { return skip() };
        if symbol.length.is_some() && init.is_some() {
            let message = format!("only the first element of `{}` is set", symbol.name);
            self.warning("initialiser", symbol.span, message);
        }
        if let Some(Initializer::Value(value)) = init {
            self.check_constant(&super::layout::symbol_place(symbol, 0, scalar), value);
        }
        Action::Assign(Assign { place: super::layout::symbol_place(symbol, 0, scalar), value })
    }

    pub(super) fn refuse_run(&mut self, value: &ast::Expr) {
        if super::visit::runs(value).0 > 0 {
            self.error("run", value.span, "`run` cannot give a variable its initial value");
        }
    }

    fn printf(&mut self, format: &str, args: &[ast::Expr], span: Span) -> Action {
        let (pieces, wanted) = super::print::split(format);
        if wanted.len() > args.len() {
            let message = format!("{} values are printed, but {} are given", wanted.len(), args.len());
            self.report.push(Diagnostic::warning("printf", span, message).note("nothing is printed from there on"));
        } else if wanted.len() < args.len() {
            self.warning("printf", span, "more values are given than printed");
        }
        let mut values = Vec::new();
        for (format, arg) in wanted.into_iter().zip(args) {
            let format = if matches!(format, Format::Mtype(_)) { Format::Mtype(self.mtype_set(arg)) } else { format };
            values.push((format, self.expr(arg)));
        }
        let pieces = pieces.into_iter().take(values.len() + 1).collect();
        Action::Print(Print { pieces, values })
    }
}

/// A step that does nothing.
pub(super) fn skip() -> Action {
    Action::Condition(Expr::Constant(1))
}
