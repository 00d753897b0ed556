//! Control graphs flattened: what the stepper looks at for every edge, without the trees of the statements.

use super::vector::Work;
use crate::ir::{Action, Edge, FRAME_PC, Model, Pc, Proctype};

/// What an edge is to the stepper.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A statement that changes nothing but where the process stands.
    Look,
    /// Any other basic statement.
    Change,
    /// [`Action::Else`].
    Else,
    /// [`Action::DStep`].
    DStep,
    /// [`Action::Die`].
    Die,
}

/// One edge.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// What it is.
    pub kind: Kind,
    /// See [`Edge::atomic`].
    pub atomic: bool,
    /// See [`Edge::escape`].
    pub escape: u32,
    /// See [`Edge::target`].
    pub target: u32,
}

/// Where a process stands.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// Its proctype.
    pub proctype: usize,
    /// Its control state.
    pub pc: Pc,
    /// Where its frame keeps that.
    pub pc_at: usize,
    /// The numbers of its edges.
    pub first: usize,
    /// One past the last number.
    pub end: usize,
    /// Whether something besides its statements decides whether it may run.
    pub restricted: bool,
}

#[derive(Clone, Copy, Debug)]
struct Kept {
    wide: bool,
    restricted: bool,
    /// Index of its first control state in [`Table::firsts`].
    states: u32,
}

/// All edges of a model, numbered in order.
#[derive(Debug)]
pub struct Table {
    proctypes: Vec<Kept>,
    /// The number of the first edge of each control state, and at the end how many edges there are.
    firsts: Vec<u32>,
    rows: Vec<Row>,
}

impl Table {
    /// The table of a model.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let mut table = Self { proctypes: Vec::new(), firsts: Vec::new(), rows: Vec::new() };
        for proctype in &model.proctypes {
            let restricted = proctype.provided.is_some() || model.features.priority;
            let states = table.firsts.len() as u32;
            table.proctypes.push(Kept { wide: proctype.pc_size > 1, restricted, states });
            table.add(proctype, model);
        }
        table.firsts.push(table.rows.len() as u32);
        table
    }

    fn add(&mut self, proctype: &Proctype, model: &Model) {
        for state in &proctype.states {
            self.firsts.push(self.rows.len() as u32);
            self.rows.extend(state.edges.iter().map(|edge| row(edge, model)));
        }
    }

    /// The number of the first edge of a control state; its other edges follow.
    #[inline]
    #[must_use]
    pub fn number(&self, proctype: usize, pc: Pc) -> usize {
        self.firsts[self.proctypes[proctype].states as usize + pc] as usize
    }

    /// The edge with a number.
    #[inline]
    #[must_use]
    pub fn row(&self, number: usize) -> Row {
        self.rows[number]
    }

    /// Where a process stands.
    #[inline]
    #[must_use]
    pub fn spot(&self, work: &Work, pid: u32) -> Spot {
        let pc_at = work.frame(pid) + FRAME_PC as usize;
        let wide = self.proctypes[work.proctype(pid)].wide;
        let pc = usize::from(work.bytes[pc_at]) | if wide { usize::from(work.bytes[pc_at + 1]) << 8 } else { 0 };
        self.state(work, pid, pc)
    }

    /// A control state of a process.
    #[inline]
    #[must_use]
    pub fn state(&self, work: &Work, pid: u32, pc: Pc) -> Spot {
        let (proctype, pc_at) = (work.proctype(pid), work.frame(pid) + FRAME_PC as usize);
        let kept = self.proctypes[proctype];
        let state = kept.states as usize + pc;
        let (first, end) = (self.firsts[state] as usize, self.firsts[state + 1] as usize);
        Spot { proctype, pc, pc_at, first, end, restricted: kept.restricted }
    }

    /// Moves the process that stood in `spot` to another control state.
    #[inline]
    pub fn set_pc(&self, work: &mut Work, spot: &Spot, pc: Pc) {
        work.bytes[spot.pc_at] = pc as u8;
        if self.proctypes[spot.proctype].wide {
            work.bytes[spot.pc_at + 1] = (pc >> 8) as u8;
        }
    }
}

fn row(edge: &Edge, model: &Model) -> Row {
    let kind = match &edge.action {
        Action::Condition(condition) if super::act::find_run(model, condition).is_some() => Kind::Change,
        Action::Condition(_) | Action::Print(_) | Action::Assert { .. } => Kind::Look,
        Action::Else => Kind::Else,
        Action::DStep { .. } => Kind::DStep,
        Action::Die => Kind::Die,
        _ => Kind::Change,
    };
    Row { kind, atomic: edge.atomic, escape: edge.escape, target: edge.target as u32 }
}
