//! Local variables that nobody reads any more before they are written again: SPIN's dataflow optimisation (`spin -o1`
//! turns it off).
//!
//! A loop counter that is left over tells states apart that behave alike. Where a process comes to stand, the bytes of its
//! dead variables are noted, and a step that ends there makes them zero. No choice, no failure and no proposition depends
//! on them, so a schedule found in such a model is one of the model as written.
//!
//! **Why it is sound.** A byte is dead in a control state if on every path from there it is written
//! before it is read, by any statement, claim, `provided` clause or remote reference. Making it
//! zero is then a function of the state that commutes with every step up to the next write: states
//! that differ only in dead bytes are bisimilar, and the search keeps one of each class.
//! Counterexamples are replayed on the model as written, where the bytes have their values.
//!
//! Example, with `i` a local loop counter:
//!
//! ```text
//! do :: i < N -> i++ :: else -> break od;     i is live here: the guard reads it
//! c ! done;                                   i is dead here, and made zero by the step that arrives
//! ```

use crate::ir::{Action, Claim, ControlState, Edge, Expr, Field, Model, Pc, Place, Proctype, Shown, Space};
use crate::read::Read;
use std::ops::Range;

/// Bytes times control states of a proctype beyond which it is left as it is.
///
/// The sets are plain booleans: at 2^22 they are some megabytes and a second's work. Larger
/// proctypes are generated, and keep their variables.
const SIZE_MAX: usize = 1 << 22;

/// Notes in every control state which bytes are dead there, whatever further claims look at; whether there are any.
///
/// Claims that the caller adds (`--ltl`) count like the model's own: what they read is live
/// everywhere.
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
///
/// Channel variables are left out: a frame's channels are found through them, and the numbers
/// decide who may send to whom (`xr`, `xs`).
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
///
/// Backwards dataflow in the textbook form, `live(s) = union over edges of read + (live(target) -
/// written)`, to the least fixpoint. O(states * bytes * depth of loops).
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

    /// A self-loop contributes nothing new: its target is this state.
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
///
/// Only whole scalars at a fixed place count as written. An indexed store may leave the byte alone,
/// and a receive that does not happen stores nothing, which is no path either.
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
