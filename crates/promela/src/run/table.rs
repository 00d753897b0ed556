//! Control graphs flattened: what the stepper looks at for every edge, without the trees of the statements.
//!
//! A `Row` is a few bytes and an edge of the tree many times that: the stepper looks at rows, and
//! at a tree only when a statement is interpreted.

use super::vector::Work;
use crate::ir::{Action, Edge, FRAME_PC, Model, Pc, Proctype};
use explore::Bits;
use std::ops::Range;

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
    /// See [`Edge::is_else`].
    pub is_else: bool,
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
    pub proctype: u32,
    /// Its control state.
    pub pc: u32,
    /// Where the vector keeps that.
    pc_at: u32,
    /// The number of its first edge.
    first: u32,
    /// One past the last number.
    end: u32,
    /// Whether the control state takes two bytes.
    wide: bool,
    /// Whether something besides its statements decides whether it may run.
    pub restricted: bool,
    /// Its number, all control states of the model counted in order.
    pub state: u32,
}

impl Spot {
    /// The numbers of its edges.
    #[inline]
    pub fn edges(&self) -> Range<usize> {
        self.first as usize..self.end as usize
    }

    /// Where its frame starts.
    #[inline]
    pub fn frame(&self) -> usize {
        (self.pc_at - FRAME_PC) as usize
    }

    /// The number of one of its edges, which are counted from 0 here.
    #[inline]
    pub fn number(&self, edge: u32) -> usize {
        (self.first + edge) as usize
    }

    /// An edge by proctype, control state and place among its edges.
    #[inline]
    pub fn at(&self, number: usize) -> (usize, Pc, usize) {
        (self.proctype as usize, self.pc as usize, number - self.first as usize)
    }
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
    /// See [`crate::ir::ControlState::dead`], by the number of the control state; empty if there are none in the model.
    dead: Vec<Vec<Range<u32>>>,
}

impl Table {
    /// The table of a model.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let mut table = Self { proctypes: Vec::new(), firsts: Vec::new(), rows: Vec::new(), dead: Vec::new() };
        for proctype in &model.proctypes {
            let restricted = proctype.provided.is_some() || model.features.priority;
            let states = table.firsts.len() as u32;
            table.proctypes.push(Kept { wide: proctype.pc_size > 1, restricted, states });
            table.add(proctype, model);
        }
        table.firsts.push(table.rows.len() as u32);
        let states = || model.proctypes.iter().flat_map(|proctype| &proctype.states);
        if states().any(|state| !state.dead.is_empty()) {
            table.dead = states().map(|state| state.dead.clone()).collect();
        }
        table
    }

    /// Whether dead variables are made zero.
    #[inline]
    #[must_use]
    pub fn tidies(&self) -> bool {
        !self.dead.is_empty()
    }

    /// Makes the dead variables of the processes that moved zero.
    ///
    /// Only processes that moved: the others were tidied when they came to where they stand.
    pub fn tidy(&self, work: &mut Work, moved: &Bits) {
        let processes = work.processes();
        for pid in moved.iter().take_while(|pid| *pid < processes) {
            let frame = work.frame(pid);
            for dead in &self.dead[self.state_number(&work.bytes, frame)] {
                work.bytes[frame + dead.start as usize..frame + dead.end as usize].fill(0);
            }
        }
    }

    fn add(&mut self, proctype: &Proctype, model: &Model) {
        for state in &proctype.states {
            self.firsts.push(self.rows.len() as u32);
            self.rows.extend(state.edges.iter().map(|edge| row(edge, proctype, model)));
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

    /// The number of the control state of the process whose frame starts here.
    #[inline]
    #[must_use]
    pub fn state_number(&self, bytes: &[u8], frame: usize) -> usize {
        let header = &bytes[frame..];
        let kept = &self.proctypes[usize::from(header[0])];
        let pc = u32::from(header[1]) | if kept.wide { u32::from(header[2]) << 8 } else { 0 };
        (kept.states + pc) as usize
    }

    /// Where a process stands.
    #[inline(always)]
    #[must_use]
    pub fn spot(&self, work: &Work, pid: u32) -> Spot {
        let frame = work.frame(pid);
        let header = &work.bytes[frame..];
        let kept = &self.proctypes[usize::from(header[0])];
        let pc = u32::from(header[1]) | if kept.wide { u32::from(header[2]) << 8 } else { 0 };
        self.state_of(kept, u32::from(header[0]), frame, pc)
    }

    /// A control state of a process.
    #[inline]
    #[must_use]
    pub fn state(&self, work: &Work, pid: u32, pc: Pc) -> Spot {
        let proctype = work.proctype(pid);
        self.state_of(&self.proctypes[proctype], proctype as u32, work.frame(pid), pc as u32)
    }

    #[inline]
    fn state_of(&self, kept: &Kept, proctype: u32, frame: usize, pc: u32) -> Spot {
        let state = (kept.states + pc) as usize;
        let around = &self.firsts[state..state + 2];
        let pc_at = frame as u32 + FRAME_PC;
        Spot {
            proctype,
            pc,
            pc_at,
            first: around[0],
            end: around[1],
            wide: kept.wide,
            restricted: kept.restricted,
            state: state as u32,
        }
    }

    /// Moves the process that stood in `spot` to another control state.
    #[inline]
    pub fn set_pc(&self, work: &mut Work, spot: &Spot, pc: Pc) {
        let at = spot.pc_at as usize;
        work.bytes[at] = pc as u8;
        if spot.wide {
            work.bytes[at + 1] = (pc >> 8) as u8;
        }
    }
}

fn row(edge: &Edge, proctype: &Proctype, model: &Model) -> Row {
    let kind = match &edge.action {
        Action::Condition(condition) if super::act::find_run(model, condition).is_some() => Kind::Change,
        Action::Condition(_) | Action::Print(_) | Action::Assert { .. } => Kind::Look,
        Action::Else => Kind::Else,
        Action::DStep { .. } => Kind::DStep,
        Action::Die => Kind::Die,
        _ => Kind::Change,
    };
    let is_else = edge.is_else(&proctype.states);
    Row { kind, is_else, atomic: edge.atomic, escape: edge.escape, target: edge.target as u32 }
}
