//! Expressions that keep their value as long as a process lives: its pid, constants, variables that are never assigned.
//!
//! They determine array elements and channels that a process may access in the future, and so distinguish processes of the same
//! proctype: `flag[_pid]`, or a channel that was a parameter.

use crate::ir::{Action, Expr, Field, Model, Place, ProctypeId, Space};
use std::collections::BTreeSet;

/// Byte offsets of locals that are assigned to, for each proctype.
#[derive(Clone, Debug, Default)]
pub struct Assigned(Vec<BTreeSet<u32>>);

impl Assigned {
    /// Collects them from all statements.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let mut assigned = Self(vec![BTreeSet::new(); model.proctypes.len()]);
        for (proctype, declared) in model.proctypes.iter().enumerate() {
            for edge in declared.states.iter().flat_map(|state| &state.edges) {
                assigned.statement(proctype, &edge.action);
            }
        }
        assigned
    }

    fn statement(&mut self, proctype: ProctypeId, action: &Action) {
        match action {
            Action::Assign(assign) => self.place(proctype, &assign.place),
            Action::ReadInput(read) => read.places.iter().for_each(|place| self.place(proctype, place)),
            Action::Receive(receive) => receive.fields.iter().for_each(|field| {
                if let Field::Store(place) = field {
                    self.place(proctype, place);
                }
            }),
            _ => {}
        }
    }

    fn place(&mut self, proctype: ProctypeId, place: &Place) {
        if matches!(place.space, Space::Local) {
            self.0[proctype].extend(place.offset..place.offset + extent(place));
        }
    }

    /// Whether the local at an offset is assigned to.
    #[must_use]
    pub fn contains(&self, proctype: ProctypeId, offset: u32) -> bool {
        self.0[proctype].contains(&offset)
    }

    /// Whether an expression keeps its value as long as a process of this type lives.
    #[must_use]
    pub fn stable(&self, proctype: ProctypeId, expr: &Expr) -> bool {
        match expr {
            Expr::Constant(_) | Expr::Pid => true,
            Expr::Load(place) => {
                matches!(place.space, Space::Local)
                    && place.indices.is_empty()
                    && !self.0[proctype].contains(&place.offset)
            }
            Expr::ChannelOf { index, .. } => self.stable(proctype, index),
            Expr::Unary(_, a) => self.stable(proctype, a),
            Expr::Binary(_, a, b) => self.stable(proctype, a) && self.stable(proctype, b),
            _ => false,
        }
    }
}

/// Bytes from a place's offset to the end of what its indices can reach.
#[must_use]
pub fn extent(place: &Place) -> u32 {
    place.indices.iter().map(|index| index.bound.saturating_sub(1) * index.stride).sum::<u32>() + place.scalar.size()
}
