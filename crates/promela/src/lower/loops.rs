//! `for` and `select`, spelt out as the loops they stand for.
//!
//! `for` and `select` are macros in SPIN's grammar; they are expanded to the same loops here, with
//! the same element numbers. The range's end is evaluated in every round, as there.

use super::element::{Destination, Node, SequenceId};
use super::flow::{Builder, Closed, Shape};
use crate::ast::{self, Block, Expr, ExprKind, ForRange, Ident, Literal, StmtKind, VarRef};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use std::ops::RangeInclusive;

impl<'a> Builder<'a, '_> {
    pub(super) fn for_loop(&mut self, var: &'a VarRef, range: &'a ForRange, body: &'a Block, span: Span) -> Shape<'a> {
        let number = self.open_loop();
        // The statements that a loop is made of are all said by its head.
        let header = Span { end: body.span.start.max(span.start), ..span };
        let shape = match range {
            ForRange::Range { from, to } => self.counted_loop(number, var, from.clone(), to.clone(), body, header),
            ForRange::In(over) => self.for_in(number, var, over, body, header),
        };
        self.loops.pop();
        shape
    }

    fn for_in(&mut self, number: usize, var: &'a VarRef, over: &'a VarRef, body: &'a Block, span: Span) -> Shape<'a> {
        let place = self.here();
        match super::place::type_of(self.names, over, place) {
            Some((_, Some(length))) => {
                let to = number_expr(i64::from(length) - 1, over.span);
                self.counted_loop(number, var, number_expr(0, over.span), to, body, span)
            }
            Some((ty, None)) if ty.is_channel() => self.channel_loop(number, var, over, body, span),
            Some(_) => {
                let told = Diagnostic::error("for", over.span, "`for .. in` needs an array or a channel");
                self.report.push(told);
                Shape::Node(Node::Skip)
            }
            // Reported where the expression is lowered.
            None => Shape::Node(Node::Made(Box::new(StmtKind::Expr(var_expr(over))))),
        }
    }

    fn counted_loop(
        &mut self,
        number: usize,
        var: &'a VarRef,
        from: Expr,
        to: Expr,
        body: &'a Block,
        span: Span,
    ) -> Shape<'a> {
        self.add_basic(StmtKind::Assign { target: var.clone(), value: from }, span);
        let round = self.nested(Closed::Other, |this| {
            this.add_basic(StmtKind::Expr(compare(ast::BinaryOp::LessEqual, var, to)), span);
            this.scoped(|this| this.statements(body));
            this.add_basic(StmtKind::Increment(var.clone()), span);
        });
        let end = self.loop_exit(number, true, span);
        Shape::Selection(vec![end, round], Some(number))
    }

    /// `for (m in q)`: every message is received and sent back, as many times as there are messages.
    ///
    /// The channel is rotated once, so it is unchanged at the end unless others use it meanwhile:
    /// the loop is not atomic, in SPIN neither.
    fn channel_loop(
        &mut self,
        number: usize,
        var: &'a VarRef,
        over: &'a VarRef,
        body: &'a Block,
        span: Span,
    ) -> Shape<'a> {
        let counter = super::declare::temporary(self.names, self.initial, self.scope, over.span);
        self.locals.push(counter);
        let name = Ident { name: self.names.symbols[counter].name.clone(), span: over.span };
        let counter = VarRef { parts: vec![ast::VarPart { name, index: None }], span: over.span };
        self.add_basic(StmtKind::Assign { target: counter.clone(), value: number_expr(0, span) }, span);
        let round = self.nested(Closed::Other, |this| {
            let length = Expr { kind: ExprKind::Len(over.clone()), span };
            this.add_basic(StmtKind::Expr(compare(ast::BinaryOp::Less, &counter, length)), span);
            let args = vec![ast::RecvArg::Var(var.clone())];
            this.add_basic(StmtKind::Receive { channel: over.clone(), random: false, keep: false, args }, span);
            this.add_basic(StmtKind::Send { channel: over.clone(), sorted: false, args: vec![var_expr(var)] }, span);
            this.scoped(|this| this.statements(body));
            this.add_basic(StmtKind::Increment(counter.clone()), span);
        });
        let end = self.loop_exit(number, true, span);
        Shape::Selection(vec![end, round], Some(number))
    }

    /// `select (x : a .. b)`. Between two numbers that are near it is a choice of assignments, else a loop that counts up.
    pub(super) fn select(&mut self, var: &'a VarRef, from: &'a Expr, to: &'a Expr, span: Span) -> Shape<'a> {
        const CHOICES_MAX: i64 = 33;
        let numbers = var.as_name().and(plain_number(from).zip(plain_number(to)));
        if let Some((low, high)) = numbers {
            if low > high {
                self.report.push(Diagnostic::error("select", span, format!("there is no number from {low} to {high}")));
            }
            if high - low < CHOICES_MAX {
                return self.choice_of_values(var, low..=high, span);
            }
        }
        let number = self.open_loop();
        self.add_basic(StmtKind::Assign { target: var.clone(), value: from.clone() }, span);
        let round = self.nested(Closed::Other, |this| {
            this.add_basic(StmtKind::Expr(compare(ast::BinaryOp::Less, var, to.clone())), span);
            this.add_basic(StmtKind::Increment(var.clone()), span);
        });
        let end = self.loop_exit(number, false, span);
        self.loops.pop();
        // SPIN rewrites the text of a select between numbers, which puts the way out last.
        let options = if numbers.is_some() { vec![round, end] } else { vec![end, round] };
        Shape::Selection(options, Some(number))
    }

    fn choice_of_values(&mut self, var: &'a VarRef, values: RangeInclusive<i64>, span: Span) -> Shape<'a> {
        let options = values.map(|value| {
            self.nested(Closed::Other, |this| {
                this.add_basic(StmtKind::Assign { target: var.clone(), value: number_expr(value, span) }, span);
            })
        });
        Shape::Selection(options.collect(), None)
    }

    /// The option that leaves a `for` (after `else`) or a `select`.
    fn loop_exit(&mut self, number: usize, otherwise: bool, span: Span) -> SequenceId {
        self.nested(Closed::Other, |this| {
            if otherwise {
                let element = this.make(Node::Else, span);
                this.flow.append(element, this.current);
            }
            let element = this.make(Node::Jump(Destination::Loop(number)), span);
            this.flow.append(element, this.current);
        })
    }

    fn add_basic(&mut self, kind: StmtKind, span: Span) {
        let element = self.make(Node::Made(Box::new(kind)), span);
        self.flow.append(element, self.current);
    }
}

/// A number as written, without a sign.
fn plain_number(expr: &Expr) -> Option<i64> {
    match expr.kind {
        ExprKind::Int(value, Literal::Number) => Some(i64::from(value)),
        _ => None,
    }
}

fn number_expr(value: i64, span: Span) -> Expr {
    Expr { kind: ExprKind::Int(value as i32, Literal::Number), span }
}

fn var_expr(var: &VarRef) -> Expr {
    Expr { kind: ExprKind::Var(var.clone()), span: var.span }
}

fn compare(operator: ast::BinaryOp, var: &VarRef, with: Expr) -> Expr {
    let span = var.span;
    Expr { kind: ExprKind::Binary(operator, Box::new(var_expr(var)), Box::new(with)), span }
}
