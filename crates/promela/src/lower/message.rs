//! Sending and receiving.
//!
//! Messages are checked against the channel's declaration where that is known; a channel variable
//! may hold any channel, and then the check is made at run time.

use super::lowering::{Lowering, Within};
use super::names::Ty;
use crate::ast::{self, ExprKind, RecvArg, VarRef};
use crate::diagnostic::{Diagnostic, Severity};
use crate::ir::{Action, Expr, Field, Receive, Send};
use crate::source::Span;

impl Lowering<'_> {
    pub(super) fn send(&mut self, channel: &VarRef, sorted: bool, args: &[ast::Expr], span: Span) -> Action {
        if self.within == Within::Trace {
            return self.send_pattern(channel, args, span);
        }
        let values: Vec<Expr> = args.iter().flat_map(|arg| self.flattened(arg)).collect();
        if args.iter().any(|arg| super::visit::runs(arg).0 > 0) {
            self.error("run", span, "`run` cannot be part of a message");
        }
        let channel = self.channel(channel);
        self.check_message(&channel, values.len(), "sent", span);
        Action::Send(Send { channel, values, sorted })
    }

    /// A send in an event claim: constants must match, anything else stands for any value.
    fn send_pattern(&mut self, channel: &VarRef, args: &[ast::Expr], span: Span) -> Action {
        let pattern = |value| {
            super::constant::value(self.names, value).map_or(Field::Ignore, |value| Field::Match(Expr::Constant(value)))
        };
        let mut fields: Vec<Field> = args.iter().map(pattern).collect();
        let channel = self.channel(channel);
        if let Some(expected) = self.check_message(&channel, fields.len(), "received", span) {
            fields.resize(expected.max(fields.len()), Field::Ignore);
        }
        Action::Receive(Receive { channel, fields, anywhere: false, keep: true })
    }

    pub(super) fn receive(&mut self, channel: &VarRef, anywhere: bool, keep: bool, args: &[RecvArg]) -> Receive {
        let known = self.report.len();
        let mut fields = Vec::new();
        for arg in args {
            match arg {
                RecvArg::Const(value) | RecvArg::Eval(value) => fields.push(Field::Match(self.expr(value))),
                RecvArg::Var(var) => self.receive_variable(var, &mut fields),
            }
        }
        let span = channel.span;
        let channel = self.channel(channel);
        // What could not be understood is not counted.
        if self.report[known..].iter().any(|told| told.severity == Severity::Error) {
            return Receive { channel, fields, anywhere, keep };
        }
        if let Some(expected) = self.check_message(&channel, fields.len(), "received", span) {
            // Fields that are not named are thrown away.
            fields.resize(expected.max(fields.len()), Field::Ignore);
        }
        Receive { channel, fields, anywhere, keep }
    }

    fn receive_variable(&mut self, var: &VarRef, fields: &mut Vec<Field>) {
        if let Some(name) = var.as_name() {
            if &*name.name == "_" {
                fields.push(Field::Ignore);
                return;
            }
            if let Some(constant) = self.names.mtypes.get(&name.name) {
                fields.push(Field::Match(Expr::Constant(constant.value)));
                return;
            }
            if super::declare::PREDEFINED.contains(&&*name.name) {
                // SPIN takes `q?_pid` as a value to compare with.
                let expr = ast::Expr { kind: ExprKind::Var(var.clone()), span: var.span };
                fields.push(Field::Match(self.expr(&expr)));
                return;
            }
        }
        let Some(target) = self.target(var) else { return };
        match &target.ty {
            Ty::Scalar(..) => fields.extend(target.scalar().map(|(place, _)| Field::Store(place))),
            ty @ Ty::Record(_) => {
                fields.extend(self.names.leaves(ty).iter().map(|leaf| Field::Store(target.leaf(leaf))));
            }
        }
    }

    /// Compares a message with the type of its channel, where that is known; gives the number of fields back.
    fn check_message(&mut self, channel: &Expr, given: usize, what: &str, span: Span) -> Option<usize> {
        let id = match channel {
            Expr::Constant(id) | Expr::ChannelOf { first: id, .. } => *id,
            _ => return None,
        };
        let channel = self.names.channels.get(usize::try_from(id - 1).ok()?)?;
        let expected = channel.fields.len();
        let fields = if given == 1 { "field is" } else { "fields are" };
        let message = format!("{given} {fields} {what}, but `{}` has messages of {expected}", channel.name);
        if given > expected {
            self.error("message", span, message);
        } else if given < expected {
            let told = Diagnostic::warning("message", span, message);
            let note = if what == "sent" { "the step fails when it is taken" } else { "the others are thrown away" };
            self.report.push(told.note(note));
        }
        Some(expected)
    }
}
