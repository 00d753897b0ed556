//! What lowering needs to know at one place.

use super::names::{Names, Use};
use crate::ast::Ident;
use crate::diagnostic::Diagnostic;
use crate::ir::Features;
use crate::source::Span;

/// Where an expression stands, as far as it decides what may be in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Within {
    Process,
    DStep,
    Claim,
    /// An event claim: messages are patterns.
    Trace,
    /// Initial values, `provided` clauses.
    Other,
}

/// Lowers expressions and statements that stand at one place.
pub(super) struct Lowering<'l> {
    pub names: &'l Names,
    pub report: &'l mut Vec<Diagnostic>,
    pub features: &'l mut Features,
    pub place: Use,
    pub within: Within,
}

impl Lowering<'_> {
    pub(super) fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.report.push(Diagnostic::error(code, span, message));
    }

    pub(super) fn warning(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.report.push(Diagnostic::warning(code, span, message));
    }

    pub(super) fn undeclared(&mut self, ident: &Ident) {
        let told = Diagnostic::error("undeclared", ident.span, format!("`{}` is not declared", ident.name));
        let later = Use { order: usize::MAX, ..self.place };
        let told = if self.names.find(&ident.name, later).is_some() {
            told.note("it is declared further down; a declaration must come before its use")
        } else if self.names.proctype(&ident.name).is_some() {
            told.note("it is a proctype")
        } else {
            let near = self.names.similar(&ident.name, self.place);
            near.into_iter().fold(told, |told, near| told.help(format!("did you mean `{near}`?")))
        };
        // `for` uses its variable in three places.
        let again = |known: &Diagnostic| known.span == told.span && known.message == told.message;
        if !self.report.iter().any(again) {
            self.report.push(told);
        }
    }
}
