//! Local variables that nobody reads any more before they are written again: SPIN's dataflow optimisation (`spin -o1`
//! turns it off).
//!
//! A loop counter that is left over tells states apart that behave alike. Where a process comes to stand, the bytes of its
//! dead variables are noted, and a step that ends there makes them zero. No choice, no failure and no proposition depends
//! on them, so a schedule found in such a model is one of the model as written.

use crate::ir::{Action, Claim, ControlState, Edge, Expr, Field, Model, Pc, Place, Proctype, Shown, Space};
use crate::read::Read;
use std::ops::Range;

/// Bytes times control states of a proctype beyond which it is left as it is.
const SIZE_MAX: usize = 1 << 22;

/// Notes in every control state which bytes are dead there, whatever further claims look at; whether there are any.
pub fn mark_dead(model: &mut Model, claims: &[Claim]) -> bool {
    let everywhere = Read::from_outside(model, claims);
    let mut any = false;
    for (number, everywhere) in everywhere.iter().enumerate() {
        let proctype = &model.proctypes[number];
        if proctype.frame_size as usize * proctype.states.len() > SIZE_MAX {
            continue;
        }
        let live = Liveness::new(model, number).solve();
        let may_die = candidates(proctype, everywhere);
        for (state, live) in model.proctypes[number].states.iter_mut().zip(&live) {
            state.dead = ranges(&may_die, live);
            any |= !state.dead.is_empty();
        }
    }
    any
}

/// Bytes of variables whose value is a number and that only their own process looks at.
fn candidates(proctype: &Proctype, everywhere: &[bool]) -> Vec<bool> {
    let mut may_die = vec![false; proctype.frame_size as usize];
    for variable in proctype.locals.iter().filter(|variable| !matches!(variable.shown, Shown::Channel)) {
        for element in 0..variable.length.unwrap_or(1) {
            let at = (variable.offset + element * variable.stride) as usize;
            may_die[at..at + variable.scalar.size() as usize].fill(true);
        }
    }
    may_die.iter().zip(everywhere).map(|(may, seen)| *may && !seen).collect()
}

/// The bytes that may die and are not live.
fn ranges(may_die: &[bool], live: &[bool]) -> Vec<Range<u32>> {
    let mut ranges: Vec<Range<u32>> = Vec::new();
    for at in (0..may_die.len()).filter(|at| may_die[*at] && !live[*at]) {
        match ranges.last_mut() {
            Some(last) if last.end == at as u32 => last.end += 1,
            _ => ranges.push(at as u32..at as u32 + 1),
        }
    }
    ranges
}

/// Which bytes of a frame are read before they are written, from each control state on.
struct Liveness<'m> {
    states: &'m [ControlState],
    /// For each edge of each control state: bytes that it reads, bytes that it writes as a whole.
    edges: Vec<Vec<(Vec<bool>, Vec<bool>)>>,
    live: Vec<Vec<bool>>,
}

impl<'m> Liveness<'m> {
    fn new(model: &'m Model, number: usize) -> Self {
        let proctype = &model.proctypes[number];
        let size = proctype.frame_size as usize;
        let access = |edge: &Edge| (Read::by_action(model, number, &edge.action), writes(&edge.action, size));
        let edges = proctype.states.iter().map(|state| state.edges.iter().map(access).collect()).collect();
        Self { states: &proctype.states, edges, live: vec![vec![false; size]; proctype.states.len()] }
    }

    /// Repeats until nothing changes; control states mostly lead forwards, so from the last to the first.
    fn solve(mut self) -> Vec<Vec<bool>> {
        loop {
            let mut changed = false;
            for pc in (0..self.states.len()).rev() {
                changed |= self.visit(pc);
            }
            if !changed {
                return self.live;
            }
        }
    }

    fn visit(&mut self, pc: Pc) -> bool {
        let mut live = std::mem::take(&mut self.live[pc]);
        let mut changed = false;
        for (edge, (reads, writes)) in self.states[pc].edges.iter().zip(&self.edges[pc]) {
            let nobody = vec![false; live.len()];
            let after = |to: Pc| if to == pc { None } else { self.live.get(to) };
            let [after, inside] = match &edge.action {
                Action::Die => [&nobody; 2],
                // A d_step goes through its own control states.
                Action::DStep { entry, .. } => {
                    [after(edge.target).unwrap_or(&nobody), after(*entry).unwrap_or(&nobody)]
                }
                _ => [after(edge.target).unwrap_or(&nobody), &nobody],
            };
            for at in 0..live.len() {
                let is_live = reads[at] || (after[at] || inside[at]) && !writes[at];
                changed |= is_live && !live[at];
                live[at] |= is_live;
            }
        }
        self.live[pc] = live;
        changed
    }
}

/// The bytes of its frame that a statement writes whatever was there.
fn writes(action: &Action, size: usize) -> Vec<bool> {
    let mut bytes = vec![false; size];
    let mut write = |place: &Place| {
        if matches!(place.space, Space::Local) && place.indices.is_empty() {
            let at = place.offset as usize;
            bytes[at..at + place.scalar.size() as usize].fill(true);
        }
    };
    match action {
        // What starts a process may fail, and then stores what it does.
        Action::Assign(assign) if !matches!(assign.value, Expr::Run(_)) => write(&assign.place),
        Action::Receive(receive) => {
            for field in &receive.fields {
                if let Field::Store(place) = field {
                    write(place);
                }
            }
        }
        _ => {}
    }
    bytes
}
