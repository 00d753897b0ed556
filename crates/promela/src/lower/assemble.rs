//! Puts the parts of a model together, once control graphs are known.
//!
//! The last pass: graphs with SPIN's numbers become control states with dense ones, expressions get
//! their places, and what only people need (names, labels, spans) is kept beside.
//!
//! **Invariant:** the order of passes. Features that change the layout (priorities, input) are
//! found first; global channels and variables are placed before locals, for remote references need
//! both; expressions are lowered last, when every name has its place. Diagnostics are gathered
//! through all of it and stop the model at the end, so that one run tells all errors.

use super::element::{Element, Flow, Node};
use super::graph::{self, Graph, pcs};
use super::layout;
use super::lowering::{Lowering, Within};
use super::names::{GLOBAL, SymbolId, Use};
use super::statement::skip;
use super::{Body, BodyKind, Collected, Lowered, constant, visit};
use crate::ast::{self, Access, ExprKind, Program, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::ir::{self, Action, ControlState, Edge, Expr, Model, Pc, Proctype};
use crate::source::Span;
use std::collections::{BTreeMap, HashSet};

/// Lays out, lowers and assembles.
pub(super) fn assemble<'a>(mut collected: Collected<'a>, program: &'a Program) -> Result<Lowered, Vec<Diagnostic>> {
    collected.scan_priorities(program);
    collected.scan_input();
    collected.number_states();
    let mut channels = collected.global_channels();
    let start = collected.place_globals();
    let globals_size = layout::place_channels(&mut channels, start, &mut collected.report);
    collected.names.channels.clone_from(&channels);
    collected.features.rendezvous = channels.iter().any(|channel| channel.capacity == 0);
    let initialisers = collected.global_initialisers();
    collected.place_locals();
    let proctypes = collected.proctypes();
    let (claims, event_trace) = collected.claims(program);
    let active = collected.active(program);
    collected.warn_about_labels(program);
    let names = &collected.names;
    let globals =
        collected.globals.iter().flat_map(|&symbol| layout::variables(names, &names.symbols[symbol])).collect();
    collected.stop_on_error()?;
    let features = collected.features;
    collected.names.features = features;
    let mtypes = collected.mtypes;
    let model = Model {
        proctypes,
        active,
        globals,
        channels,
        globals_size,
        initialisers,
        mtypes,
        claims,
        event_trace,
        features,
        input: None,
    };
    Ok(Lowered { model, names: collected.names, warnings: collected.report })
}

impl<'a> Collected<'a> {
    pub(super) fn lowering(&mut self, place: Use, within: Within) -> Lowering<'_> {
        Lowering { names: &self.names, report: &mut self.report, features: &mut self.features, place, within }
    }

    /// Where a declaration at the outermost level stands: after all globals.
    fn globally(&self) -> Use {
        Use { scope: GLOBAL, order: self.names.symbols.len() }
    }

    /// Frames hold a priority if anything asks for it, which must be known before variables get their places.
    fn scan_priorities(&mut self, program: &Program) {
        let mut found = false;
        let mut see = |expr: &ast::Expr| {
            found |= match &expr.kind {
                ExprKind::Run { priority, .. } => priority.is_some(),
                ExprKind::GetPriority(_) => true,
                ExprKind::Var(var) => &*var.base().name == "_priority",
                _ => false,
            };
        };
        let mut set = false;
        for body in &self.bodies {
            for element in &body.flow.elements {
                if let Some(kind) = element.node.statement() {
                    visit::statement(kind, &mut see);
                    set |= matches!(kind, StmtKind::SetPriority { .. });
                    set |= matches!(kind, StmtKind::Assign { target, .. } if &*target.base().name == "_priority");
                }
            }
            set |= match body.kind {
                BodyKind::Proctype(proctype, _) => proctype.priority.is_some(),
                BodyKind::Init(init, _) => init.priority.is_some(),
                BodyKind::Never | BodyKind::Trace => false,
            };
        }
        visit::atoms(program, &mut |atom| visit::expressions(atom, &mut see));
        self.features.priority = found || set;
    }

    /// The vector holds how much of the input was read, which must be known before variables get their places.
    fn scan_input(&mut self) {
        let mut elements = self.bodies.iter().flat_map(|body| &body.flow.elements);
        self.features.input = elements.any(|element| match element.node.statement() {
            Some(StmtKind::Receive { channel, .. }) => channel.as_name().is_some_and(|name| &*name.name == "STDIN"),
            _ => false,
        });
    }

    /// Tells remote references which control state a label is.
    fn number_states(&mut self) {
        for body in &self.bodies {
            let (Some(number), Some(graph)) = (body.kind.proctype(), &body.graph) else { continue };
            let pcs = pcs(graph);
            let state = |label: &super::element::Label| pcs.get(&body.flow.elements[label.element].number).copied();
            let labels = body.flow.labels.iter().map(|label| (label.name.clone(), state(label)));
            self.names.proctypes[number].labels = labels.collect();
        }
    }

    fn proctypes(&mut self) -> Vec<Proctype> {
        let bodies = std::mem::take(&mut self.bodies);
        let found = bodies.iter().filter(|body| body.kind.proctype().is_some());
        let found = found.map(|body| self.assemble_proctype(body)).collect();
        self.bodies = bodies;
        found
    }

    /// A proctype without `active` that nothing runs is assembled all the same: errors in it are
    /// errors.
    fn assemble_proctype(&mut self, body: &Body<'a>) -> Proctype {
        let graph = body.graph.as_ref().expect("graphs are built before assembly");
        let (pc_size, _) = self.frame_start(body);
        let (channels, frame_size, initialisers) = self.frame(body);
        let states = self.states(&body.flow, graph, Within::Process);
        super::check::own_messages(&channels, &states, &mut self.report);
        let number = body.kind.proctype().unwrap_or_default();
        let parameters = self.names.proctypes[number].parameters.clone();
        let describe = |symbols: &[SymbolId]| -> Vec<ir::Variable> {
            symbols.iter().flat_map(|&symbol| layout::variables(&self.names, &self.names.symbols[symbol])).collect()
        };
        let (locals, parameters) = (describe(&body.locals), describe(&parameters).len());
        let labels = self.names.proctypes[number].labels.iter();
        let labels = labels.filter_map(|(name, pc)| pc.map(|pc| (name.to_string(), pc))).collect();
        let (exclusive_receive, exclusive_send) = self.exclusive(body);
        let (priority, provided, deterministic) = self.head(body);
        Proctype {
            name: self.names.proctypes[number].name.to_string(),
            deterministic,
            locals,
            parameters,
            channels,
            frame_size,
            pc_size,
            initialisers,
            states,
            entry: pcs(graph).get(&graph.entry).copied().unwrap_or_default(),
            priority,
            provided,
            labels,
            exclusive_receive,
            exclusive_send,
            span: body.span,
        }
    }

    fn head(&mut self, body: &Body<'a>) -> (i32, Option<Expr>, bool) {
        let (priority, provided, deterministic) = match body.kind {
            BodyKind::Proctype(proctype, _) => (&proctype.priority, proctype.provided.as_ref(), proctype.deterministic),
            BodyKind::Init(init, _) => (&init.priority, None, false),
            BodyKind::Never | BodyKind::Trace => (&None, None, false),
        };
        let priority = priority.as_ref().map_or(1, |priority| {
            super::declare::constant_in(&self.names, &mut self.report, priority, 1..=255, "a priority")
        });
        let number = body.kind.proctype().unwrap_or_default();
        let place = Use { scope: self.names.proctypes[number].scope, order: self.first_local(body) };
        self.features.provided |= provided.is_some();
        (priority, provided.map(|provided| self.lowering(place, Within::Other).expr(provided)), deterministic)
    }

    /// A `provided` clause sees the parameters, but no locals.
    fn first_local(&self, body: &Body<'_>) -> usize {
        let number = body.kind.proctype().unwrap_or_default();
        let parameters = &self.names.proctypes[number].parameters;
        let first = body.locals.get(parameters.len());
        first.map_or(self.names.symbols.len(), |&symbol| self.names.symbols[symbol].order)
    }

    fn exclusive(&mut self, body: &Body<'a>) -> (Vec<Expr>, Vec<Expr>) {
        let (mut receive, mut send) = (Vec::new(), Vec::new());
        for &(access, channel, place) in &body.exclusive {
            let promised = match super::place::type_of(&self.names, channel, place) {
                // A whole array of channels: every one of them.
                Some((_, Some(length))) => self.every_channel(channel, length, place),
                _ => vec![self.lowering(place, Within::Other).channel(channel)],
            };
            self.refuse_rendezvous(access, channel, &promised);
            match access {
                Access::Receive => receive.extend(promised),
                Access::Send => send.extend(promised),
            }
        }
        (receive, send)
    }

    /// On a rendezvous channel two processes move at once: SPIN refuses promises about it.
    fn refuse_rendezvous(&mut self, access: Access, channel: &ast::VarRef, promised: &[Expr]) {
        let rendezvous = promised.iter().any(|promised| {
            let index = match promised {
                Expr::Constant(id) | Expr::ChannelOf { first: id, .. } => usize::try_from(id - 1).ok(),
                _ => None,
            };
            index.and_then(|index| self.names.channels.get(index)).is_some_and(|channel| channel.capacity == 0)
        });
        if rendezvous {
            let word = if access == Access::Receive { "xr" } else { "xs" };
            let message = format!("`{word}` on a rendezvous channel");
            self.report.push(
                Diagnostic::error(word, channel.span, message).note("two processes take part in each of its steps"),
            );
        }
    }

    fn every_channel(&mut self, channel: &ast::VarRef, length: u32, place: Use) -> Vec<Expr> {
        let element = |index: u32| {
            let mut channel = channel.clone();
            let index = ast::Expr { kind: ExprKind::Int(index as i32, ast::Literal::Number), span: channel.span };
            if let Some(last) = channel.parts.last_mut() {
                last.index = Some(index);
            }
            channel
        };
        (0..length).map(|index| self.lowering(place, Within::Other).channel(&element(index))).collect()
    }

    /// Lowers every statement of a body and puts the control states together.
    ///
    /// Control states are numbered densely, in the order of SPIN's numbers; `spin_state` keeps
    /// those for trails and for the list of unreached statements.
    pub(super) fn states(&mut self, flow: &Flow<'a>, graph: &Graph, within: Within) -> Vec<ControlState> {
        let pcs = pcs(graph);
        let actions: Vec<Action> = flow.elements.iter().map(|element| self.action(element, within)).collect();
        let spans: BTreeMap<u32, Span> = flow.elements.iter().map(|element| (element.number, element.span)).collect();
        let mut states = Vec::new();
        for (&number, state) in &graph.states {
            let mut edges = Vec::new();
            for step in &state.steps {
                let element = &flow.elements[step.element];
                let action = match graph::d_step_sequence(flow, step.element) {
                    Some(inner) => d_step(flow, inner, &pcs),
                    None => actions[step.element].clone(),
                };
                self.features.unless |= step.escape != 0;
                edges.push(Edge {
                    action,
                    target: pcs.get(&step.target).copied().unwrap_or_default(),
                    atomic: step.atomic,
                    escape: step.escape,
                    span: element.span,
                    spin_id: element.id,
                    spin_state: element.number,
                });
            }
            let span = spans.get(&number).copied().unwrap_or_default();
            let graph::Flags { end, accept, progress } = state.flags;
            states.push(ControlState { edges, end, progress, accept, dead: Vec::new(), spin_state: number, span });
        }
        else_last(&mut states);
        states
    }

    fn action(&mut self, element: &Element<'a>, within: Within) -> Action {
        let span = element.span;
        let within = if element.d_step.is_some() { Within::DStep } else { within };
        if let Some(kind) = element.node.statement() {
            return self.lowering(element.place, within).action(kind, span);
        }
        match &element.node {
            Node::Declare(symbol) => {
                let init = self.initial[*symbol];
                self.lowering(element.place, within).declaration(*symbol, init)
            }
            Node::Else => Action::Else,
            Node::End => Action::Die,
            _ => skip(),
        }
    }

    /// What is started before the first step.
    ///
    /// In source order: pids are given in this order, as SPIN gives them.
    fn active(&mut self, program: &Program) -> Vec<usize> {
        let mut active = Vec::new();
        let mut number = 0;
        for item in &program.items {
            match item {
                ast::Item::Proctype(proctype) => {
                    let count = self.active_count(proctype);
                    active.extend(std::iter::repeat_n(number, count));
                    number += 1;
                }
                ast::Item::Init(_) => {
                    active.push(number);
                    number += 1;
                }
                _ => {}
            }
        }
        if active.is_empty() {
            let told = Diagnostic::error(
                "process",
                Span::default(),
                "nothing runs: there is no `init` and no `active` proctype",
            );
            self.report.push(told.help("write `active` before a proctype, or an `init` that runs one"));
        }
        if active.len() > 255 {
            self.report.push(Diagnostic::error(
                "process",
                Span::default(),
                "more than 255 processes are active at the start",
            ));
        }
        active
    }

    fn active_count(&mut self, proctype: &ast::Proctype) -> usize {
        let Some(active) = &proctype.active else { return 0 };
        let Some(count) = &active.count else { return 1 };
        match constant::value_or_initial(&self.names, &self.initial, count, self.globally()) {
            Some((count @ 0..=255, _)) => count as usize,
            _ => {
                self.report.push(Diagnostic::error(
                    "process",
                    count.span,
                    "the number of processes must be a constant from 0 to 255",
                ));
                1
            }
        }
    }

    fn warn_about_labels(&mut self, program: &Program) {
        let mut remote = HashSet::new();
        let mut see = |expr: &ast::Expr| {
            if let ExprKind::RemoteLabel { label, .. } = &expr.kind {
                remote.insert(label.name.clone());
            }
        };
        let elements = self.bodies.iter().flat_map(|body| &body.flow.elements);
        elements.filter_map(|element| element.node.statement()).for_each(|kind| visit::statement(kind, &mut see));
        visit::atoms(program, &mut |atom| visit::expressions(atom, &mut see));
        for body in self.bodies.iter().filter(|body| body.kind.proctype().is_some()) {
            for label in &body.flow.labels {
                let used = label.used || super::element::is_special(&label.name) || remote.contains(&label.name);
                if !used {
                    let message = format!("label `{}` is never used", label.name);
                    let told = Diagnostic::warning("unused", label.span, message);
                    self.report.push(told.note(
                        "no `goto` and no `P@label` names it, and it does not begin with `end`, `progress` or `accept`",
                    ));
                }
            }
        }
    }
}

/// Puts the edges for the case that nothing else is executable behind the others that they compete with: an option may
/// begin with a block that begins with `else`.
fn else_last(states: &mut [ControlState]) {
    for state in 0..states.len() {
        let mut edges = std::mem::take(&mut states[state].edges);
        for competing in edges.chunk_by_mut(|one, other| one.escape == other.escape) {
            competing.sort_by_key(|edge| edge.is_else(states));
        }
        states[state].edges = edges;
    }
}

/// A `d_step` with the control states that belong to it.
fn d_step(flow: &Flow<'_>, inner: super::element::SequenceId, pcs: &BTreeMap<u32, Pc>) -> Action {
    let number = flow.sequences[inner].first.and_then(|first| flow.elements[first].d_step);
    let mut inside: Vec<Pc> = flow
        .elements
        .iter()
        .filter(|element| element.d_step == number && number.is_some())
        .filter_map(|element| pcs.get(&element.number).copied())
        .collect();
    inside.sort_unstable();
    let entry = graph::d_step_entry(flow, inner).and_then(|entry| pcs.get(&entry).copied()).unwrap_or_default();
    Action::DStep { entry, inside }
}
