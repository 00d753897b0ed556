//! From the tree to the intermediate representation.
//!
//! Bodies become elements in the order and with the numbers that SPIN gives them (`flow`), elements become tables of
//! transitions (`table`), tables become control graphs (`graph`). Only then is the size of a program counter known, so
//! variables get their places (`layout`) and expressions are lowered (`expr`, `statement`) after that.
//!
//! The passes in order: `names` and `declare` (what is there), `flow` (statements to SPIN's
//! elements), `table` (elements to transitions), `graph` (transitions to control graphs), `layout`
//! (places in the vector), `expr`, `place`, `message`, `statement` (trees to IR), `assemble`.
//! Errors are collected, not thrown: one run reports all that can be told apart.

mod assemble;
mod atomic;
mod attach;
mod check;
mod claim;
mod constant;
mod declare;
mod element;
mod expr;
mod flow;
mod frame;
mod graph;
mod labelled_jump;
mod layout;
mod loops;
mod lowering;
mod message;
mod names;
mod place;
mod print;
mod size_limit;
mod statement;
mod table;
mod text;
mod visit;

#[cfg(test)]
mod tests;

pub use claim::lower_ltl;
pub use names::Names;

use crate::ast::{self, Item, Program};
use crate::diagnostic::{Diagnostic, Severity};
use crate::ir::{Features, Model};
use crate::source::{SourceMap, Span};
use element::Flow;
use graph::Graph;
use names::{GLOBAL, ProctypeNames, ScopeId, SymbolId, Use};
use std::collections::HashMap;
use std::sync::Arc;

/// A model in its last form, with what is needed to lower further properties.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The model.
    pub model: Model,
    /// Its names.
    pub names: Names,
    /// What looks wrong but is legal.
    pub warnings: Vec<Diagnostic>,
}

/// Lowers a program.
///
/// # Errors
/// All errors that were found, and the warnings.
pub fn lower(program: &Program, sources: &SourceMap) -> Result<(Model, Vec<Diagnostic>), Vec<Diagnostic>> {
    lower_with_names(program, sources).map(|lowered| (lowered.model, lowered.warnings))
}

/// As [`lower`], and keeps the names for properties that are given later.
///
/// # Errors
/// All errors that were found, and the warnings.
pub fn lower_with_names(program: &Program, _sources: &SourceMap) -> Result<Lowered, Vec<Diagnostic>> {
    let mut collected = Collected::default();
    collected.items(program);
    collected.stop_on_error()?;
    collected.fix_jumps_named_by_formulas(program);
    collected.graphs();
    collected.stop_on_error()?;
    assemble::assemble(collected, program)
}

/// What the first pass over a program finds.
#[derive(Default)]
struct Collected<'a> {
    names: Names,
    report: Vec<Diagnostic>,
    /// What each symbol starts with.
    initial: Vec<Option<&'a ast::Initializer>>,
    /// What each field of each record starts with.
    fields: layout::FieldStarts<'a>,
    mtypes: Vec<(String, String, i32)>,
    mtype_counts: HashMap<String, i32>,
    globals: Vec<SymbolId>,
    bodies: Vec<Body<'a>>,
    unique: u32,
    features: Features,
}

/// A proctype, `init`, a never claim or an event claim.
struct Body<'a> {
    kind: BodyKind<'a>,
    flow: Flow<'a>,
    graph: Option<Graph>,
    /// Locals that start with something.
    initialised: Vec<SymbolId>,
    locals: Vec<SymbolId>,
    /// Where the variables of a frame end.
    locals_end: u32,
    exclusive: Vec<(ast::Access, &'a ast::VarRef, Use)>,
    span: Span,
}

/// What a body belongs to.
#[derive(Clone, Copy)]
enum BodyKind<'a> {
    /// With its number among the proctypes.
    Proctype(&'a ast::Proctype, usize),
    Init(&'a ast::Init, usize),
    Never,
    Trace,
}

impl BodyKind<'_> {
    fn proctype(&self) -> Option<usize> {
        match self {
            BodyKind::Proctype(_, number) | BodyKind::Init(_, number) => Some(*number),
            BodyKind::Never | BodyKind::Trace => None,
        }
    }
}

impl<'a> Collected<'a> {
    fn stop_on_error(&mut self) -> Result<(), Vec<Diagnostic>> {
        let failed = self.report.iter().any(|told| told.severity == Severity::Error);
        if failed { Err(std::mem::take(&mut self.report)) } else { Ok(()) }
    }

    fn items(&mut self, program: &'a Program) {
        self.register_proctypes(program);
        let mut number = 0;
        for item in &program.items {
            match item {
                Item::Mtype(list) => {
                    let entered = declare::mtype(&mut self.names, &mut self.mtype_counts, &mut self.report, list);
                    self.mtypes.extend(entered);
                }
                Item::Typedef(definition) => {
                    declare::typedef(&mut self.names, &mut self.report, definition);
                    let starts = definition.fields.iter().flat_map(|field| &field.vars).map(|var| var.init.as_ref());
                    self.fields.push(starts.collect());
                }
                Item::Variables(declaration) => self.globals(declaration),
                Item::Proctype(proctype) => {
                    self.proctype(proctype, number);
                    number += 1;
                }
                Item::Init(init) => {
                    self.init(init, number);
                    number += 1;
                }
                Item::Never(never) => self.body(BodyKind::Never, &never.body, never.span, GLOBAL, Vec::new()),
                Item::Trace(trace) => self.body(BodyKind::Trace, &trace.body, trace.span, GLOBAL, Vec::new()),
                Item::Ltl(_) => {}
            }
        }
    }

    /// Proctypes may be named before they are declared.
    fn register_proctypes(&mut self, program: &'a Program) {
        for item in &program.items {
            let (name, span): (ast::Name, Span) = match item {
                Item::Proctype(proctype) => (proctype.name.name.clone(), proctype.name.span),
                Item::Init(init) => (Arc::from(":init:"), init.span),
                _ => continue,
            };
            if self.names.proctype(&name).is_some() {
                self.report.push(Diagnostic::error("redeclared", span, format!("`{name}` is declared already")));
            }
            let (parameters, locals, labels) = (Vec::new(), Vec::new(), Vec::new());
            self.names.proctypes.push(ProctypeNames { name, parameters, scope: GLOBAL, locals, labels });
        }
        if self.names.proctypes.len() > 255 {
            self.report.push(Diagnostic::error("size", Span::default(), "more than 255 proctypes"));
        }
    }

    fn globals(&mut self, declaration: &'a ast::VarDecl) {
        for var in &declaration.vars {
            let found = declare::variable(&mut self.names, &mut self.initial, &mut self.report, declaration, var, None);
            self.globals.extend(found);
        }
    }

    fn proctype(&mut self, proctype: &'a ast::Proctype, number: usize) {
        let scope = self.names.open(GLOBAL);
        let mut parameters = Vec::new();
        for declaration in &proctype.params {
            for var in &declaration.vars {
                if var.bound.is_some() || var.init.is_some() {
                    let message = "a parameter is neither an array nor initialised";
                    self.report.push(Diagnostic::error("parameter", var.span, message));
                }
                let (names, report) = (&mut self.names, &mut self.report);
                let found = declare::variable(names, &mut self.initial, report, declaration, var, Some(scope));
                if found.is_some_and(|symbol| names.has_array(&names.symbols[symbol].ty)) {
                    report.push(Diagnostic::error("parameter", var.span, "a parameter cannot have an array in it"));
                }
                parameters.extend(found);
            }
        }
        self.names.proctypes[number].parameters = parameters.clone();
        self.body(BodyKind::Proctype(proctype, number), &proctype.body, proctype.span, scope, parameters);
    }

    fn init(&mut self, init: &'a ast::Init, number: usize) {
        let scope = self.names.open(GLOBAL);
        self.body(BodyKind::Init(init, number), &init.body, init.span, scope, Vec::new());
    }

    fn body(
        &mut self,
        kind: BodyKind<'a>,
        block: &'a ast::Block,
        span: Span,
        scope: ScopeId,
        parameters: Vec<SymbolId>,
    ) {
        // Claims have a scope of their own too, in which they may declare nothing that lasts.
        let scope = if scope == GLOBAL { self.names.open(GLOBAL) } else { scope };
        let (names, initial) = (&mut self.names, &mut self.initial);
        let mut builder =
            flow::Builder::new(names, &mut self.unique, &mut self.report, initial, &mut self.bodies, scope);
        builder.prune = !matches!(kind, BodyKind::Never);
        builder.body(block);
        let flow::Builder { flow, exclusive, initialised, mut locals, .. } = builder;
        locals.splice(0..0, parameters);
        if let Some(number) = kind.proctype() {
            self.names.proctypes[number].scope = scope;
            self.names.proctypes[number].locals = locals.clone();
        } else if let Some(&local) = locals.first() {
            let told =
                Diagnostic::error("claim", self.names.symbols[local].span, "a claim cannot have variables of its own");
            self.report.push(told.help("declare it globally"));
        }
        self.bodies.push(Body { kind, flow, graph: None, initialised, locals, locals_end: 0, exclusive, span });
    }

    fn graphs(&mut self) {
        let scopes = &self.names.scopes;
        let parents = |scope: ScopeId| scopes[scope].parent;
        for body in &mut self.bodies {
            let mut table = table::Table::build(&mut body.flow, &parents, &mut self.report);
            let entry = table.entry();
            let rows = std::mem::take(&mut table.rows);
            let end = body.flow.elements.iter().find(|element| matches!(element.node, element::Node::End));
            let closing = end.map(|end| end.number).filter(|_| body.kind.proctype().is_none());
            let graph = graph::graph(&body.flow, rows, entry, closing);
            check::twice_else(&body.flow, &graph, &mut self.report);
            if body.kind.proctype().is_some() {
                check::process(&body.flow, &graph, &mut self.report);
            }
            body.graph = Some(graph);
        }
    }
}
