//! Places and first values of globals and of the frames of processes.
//!
//! A frame is what a process adds to the vector: its proctype, its control state in one byte or
//! two, a priority if the model has any, variables, channel bodies. One byte for the control state
//! is worth a case distinction: it is in every process of every state.

use super::layout::{self, From};
use super::lowering::Within;
use super::names::{GLOBAL, Use};
use super::{Body, BodyKind, Collected};
use crate::ast::{self, RecvArg, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::ir::{self, Channel};
use std::collections::HashSet;

impl<'a> Collected<'a> {
    /// Names that are assigned to or received into somewhere.
    fn assigned(&self) -> HashSet<ast::Name> {
        let mut found = HashSet::new();
        let elements = self.bodies.iter().flat_map(|body| &body.flow.elements);
        for kind in elements.filter_map(|element| element.node.statement()) {
            match kind {
                StmtKind::Assign { target, .. } | StmtKind::Increment(target) | StmtKind::Decrement(target) => {
                    found.insert(target.base().name.clone());
                }
                StmtKind::Receive { args, .. } => {
                    for arg in args {
                        if let RecvArg::Var(var) = arg {
                            found.insert(var.base().name.clone());
                        }
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Creates the channels of global variables. A channel variable that never changes is only a name for its id.
    ///
    /// Ids count from 1, since 0 is the `chan` that was never initialised.
    pub(super) fn global_channels(&mut self) -> Vec<Channel> {
        let assigned = self.assigned();
        let mut channels = Vec::new();
        for &symbol in &self.globals {
            let first = channels.len() as i32 + 1;
            let entry = &self.names.symbols[symbol];
            for start in layout::starts(&self.names, &self.fields, entry, self.initial[symbol]) {
                if let From::Channel(ty) = start.from {
                    let name = format!("{}{}", entry.name, start.path);
                    channels.push(layout::channel(&self.names, &mut self.report, name, ty));
                }
            }
            let constant = entry.ty.is_channel() && !assigned.contains(&entry.name);
            if constant && channels.len() as i32 >= first {
                self.names.symbols[symbol].channel = Some(first);
            }
        }
        if channels.len() > 255 {
            self.report.push(Diagnostic::error("size", channels[255].span, "more than 255 channels"));
        }
        channels
    }

    pub(super) fn place_globals(&mut self) -> u32 {
        let traced = self.bodies.iter().any(|body| matches!(body.kind, BodyKind::Trace));
        let events = if traced { 2 } else { 0 };
        let input = if self.features.input { ir::Scalar::Int.size() } else { 0 };
        self.names.input_position = ir::VECTOR_EVENT + events;
        let start = self.names.input_position + input;
        layout::place_symbols(&mut self.names, &self.globals, start, &mut self.report)
    }

    pub(super) fn global_initialisers(&mut self) -> Vec<ir::Assign> {
        let mut found = Vec::new();
        let mut id = 0;
        for symbol in self.globals.clone() {
            let entry = self.names.symbols[symbol].clone();
            for start in layout::starts(&self.names, &self.fields, &entry, self.initial[symbol]) {
                let place = layout::symbol_place(&entry, start.distance, start.scalar);
                match start.from {
                    From::Value(value) => {
                        let here = Use { scope: GLOBAL, order: entry.order };
                        let assign = self.lowering(here, Within::Other).start(place, value);
                        found.push(assign);
                    }
                    From::Channel(_) => {
                        id += 1;
                        found.extend(entry.channel.is_none().then(|| layout::channel_id(place, id)));
                    }
                }
            }
        }
        found
    }

    pub(super) fn frame_start(&self, body: &Body<'_>) -> (u32, u32) {
        let states = body.graph.as_ref().map_or(0, |graph| graph.states.len());
        let pc_size = if states > 256 { 2 } else { 1 };
        (pc_size, ir::FRAME_PC + pc_size + u32::from(self.features.priority))
    }

    /// Variables of proctypes get their places before any expression is lowered: remote references need them.
    pub(super) fn place_locals(&mut self) {
        for index in 0..self.bodies.len() {
            let (_, start) = self.frame_start(&self.bodies[index]);
            let end = layout::place_symbols(&mut self.names, &self.bodies[index].locals, start, &mut self.report);
            self.bodies[index].locals_end = end;
        }
    }

    /// Channels, size and initial values of a frame.
    pub(super) fn frame(&mut self, body: &Body<'a>) -> (Vec<Channel>, u32, Vec<ir::Assign>) {
        let (mut channels, mut initialisers) = (Vec::new(), Vec::new());
        let number = body.kind.proctype().unwrap_or_default();
        let parameters = self.names.proctypes.get(number).map_or(0, |proctype| proctype.parameters.len());
        // Parameters get everything from `run`.
        for &symbol in &body.locals[parameters..] {
            let entry = self.names.symbols[symbol].clone();
            // Of a variable declared further down only the channels in its structure exist from the start.
            let started = body.initialised.contains(&symbol);
            let init = if started { self.initial[symbol] } else { None };
            for start in layout::starts(&self.names, &self.fields, &entry, init) {
                let place = layout::symbol_place(&entry, start.distance, start.scalar);
                match start.from {
                    From::Channel(ty) => {
                        let name = format!("{}{}", entry.name, start.path);
                        let channel = layout::channel(&self.names, &mut self.report, name, ty);
                        channels.push(Channel { variable: Some(place), ..channel });
                    }
                    From::Value(value) => {
                        let here = Use { scope: self.names.proctypes[number].scope, order: entry.order };
                        let assign = self.lowering(here, Within::Other).start(place, value);
                        initialisers.push(assign);
                    }
                }
            }
        }
        let size = layout::place_channels(&mut channels, body.locals_end, &mut self.report);
        self.features.rendezvous |= channels.iter().any(|channel| channel.capacity == 0);
        (channels, size, initialisers)
    }
}
