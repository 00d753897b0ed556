//! Elements of selections and `unless`, and labels.
//!
//! Selections and `unless` need elements of their own behind their parts (joins, ends of loops),
//! which SPIN also numbers.

use super::element::{ElementId, Flow, Label, Node, SequenceId, is_special};
use super::flow::Builder;
use super::names::Use;
use crate::ast::Ident;
use crate::diagnostic::Diagnostic;
use crate::source::Span;

impl<'a> Builder<'a, '_> {
    /// A labelled `goto` would vanish, and its special label with it: a skip keeps the state.
    pub(super) fn append(&mut self, element: ElementId) {
        let jumps = matches!(self.flow.elements[element].node, Node::Jump(_));
        if jumps && self.flow.labels_of(element).any(|label| is_special(&label.name)) {
            let (place, span) = (self.flow.elements[element].place, self.flow.elements[element].span);
            let skip = self.make_at(Node::Skip, place, span);
            if let Some(label) = self.flow.labels.iter_mut().rev().find(|label| label.element == element) {
                label.element = skip;
            }
            self.append_plain(skip);
        }
        self.append_plain(element);
    }

    pub(super) fn append_plain(&mut self, element: ElementId) {
        self.flow.append(element, self.current);
    }

    pub(super) fn set_label(&mut self, label: &Ident, element: ElementId) {
        let scope = self.scope;
        let twice = self.flow.labels.iter().any(|known| known.name == label.name && known.scope == scope);
        if twice {
            self.report.push(Diagnostic::error(
                "label",
                label.span,
                format!("label `{}` is defined twice", label.name),
            ));
        }
        let clash = self.names.find(&label.name, self.here()).is_some() || self.names.mtypes.contains_key(&label.name);
        if clash {
            let told = Diagnostic::error(
                "label",
                label.span,
                format!("label `{}` has the name of a variable or constant", label.name),
            );
            self.report.push(told);
        }
        self.flow.labels.push(Label { name: label.name.clone(), element, scope, span: label.span, used: false });
    }

    /// The order of making and appending decides the numbers of elements, and those are what `spin
    /// -t` and trails refer to: a `do` has its join before the selection and its end after it, an
    /// `if` its join after it.
    pub(super) fn add_selection(
        &mut self,
        options: Vec<SequenceId>,
        number: Option<usize>,
        place: Use,
        span: Span,
    ) -> ElementId {
        let element = self.make_at(Node::Selection, place, span);
        let join = self.make_at(Node::Join, place, span);
        let options = self.else_last(options);
        for &option in &options {
            self.flow.append(join, option);
        }
        self.flow.elements[element].parts = options;
        match number {
            Some(number) => {
                self.append_plain(join);
                let end = self.make_at(Node::LoopEnd, place, span);
                self.flow.loops[number] = Some(end);
                self.append_plain(element);
                self.append_plain(end);
            }
            None => {
                self.append_plain(element);
                self.append_plain(join);
            }
        }
        element
    }

    /// Moves the `else` option to the end.
    ///
    /// SPIN moves it too. Executability does not depend on the order, but the numbers of choices
    /// do.
    fn else_last(&mut self, options: Vec<SequenceId>) -> Vec<SequenceId> {
        let starts_with_else = |flow: &Flow<'a>, &option: &SequenceId| {
            let first = flow.sequences[option].first;
            first.is_some_and(|first| matches!(flow.elements[first].node, Node::Else))
        };
        let (otherwise, mut rest): (Vec<_>, Vec<_>) =
            options.into_iter().partition(|option| starts_with_else(&self.flow, option));
        if let Some(second) = otherwise.get(1) {
            let span =
                self.flow.sequences[*second].first.map_or(Span::default(), |first| self.flow.elements[first].span);
            self.report.push(Diagnostic::error("else", span, "two `else` in one selection"));
        }
        if let Some(&option) = otherwise.first() {
            self.warn_else_with_channels(option, &rest);
        }
        rest.extend(otherwise);
        rest
    }

    fn warn_else_with_channels(&mut self, otherwise: SequenceId, rest: &[SequenceId]) {
        let mentions = |option: &SequenceId| {
            let first = self.flow.sequences[*option].first;
            first.and_then(|first| self.flow.elements[first].node.statement()).is_some_and(super::visit::uses_channel)
        };
        if rest.iter().any(mentions) {
            let Some(first) = self.flow.sequences[otherwise].first else { return };
            let told = Diagnostic::warning(
                "else",
                self.flow.elements[first].span,
                "`else` beside channel operations is dubious",
            );
            let told = told.note(
                "it is taken whenever no message can be sent or received just now; for a rendezvous receive that is always",
            );
            let told = told.note("SPIN refuses such a model");
            self.report.push(told.help("ask `nempty(q)` or `nfull(q)` instead, or wait with `timeout`"));
        }
    }

    pub(super) fn add_unless(&mut self, main: SequenceId, escape: SequenceId, place: Use, span: Span) -> ElementId {
        let element = self.make_at(Node::Unless, place, span);
        let join = self.make_at(Node::Join, place, span);
        self.flow.elements[element].parts = vec![main, escape];
        self.flow.append(join, main);
        self.flow.append(join, escape);
        self.flow.attach_escape(main, escape);
        self.append_plain(element);
        self.append_plain(join);
        element
    }
}
