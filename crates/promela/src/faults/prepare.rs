//! Makes room in a model for faults: twins of control states for processes that stand still, bytes for what happened.
//!
//! Nothing that the model does changes: without a fault its steps, its states and their order are what they were.
//!
//! Twins of control states cost nothing in the vector, where a flag for each process would cost a
//! byte: a process that stands still is one whose program counter is `pc + n` (stopped) or `pc +
//! 2n` (paused), without edges.

use super::catalogue::asks_for_timeout;
use super::class::Class;
use super::fault::{Fault, Owner, Target};
use super::plan::{Plan, Unfit};
use super::record::{Record, SLOT};
use super::values::{Values, covers, variables};
use super::walk::{self, Part};
use super::{Alternatives, Faults, Limbo};
use crate::ir::{
    Action, Assign, Claim, ControlState, Expr, Field, Index, Model, Pc, Place, ProctypeId, Scalar, Shown, Space,
};
use std::sync::atomic::AtomicBool;
use trace::similar::closest;

/// Makes a model ready for the faults of a plan; `claims` are further claims over it.
///
/// # Errors
/// If the plan does not fit the model.
pub fn prepare(model: &mut Model, claims: &mut [Claim], mut plan: Plan) -> Result<Faults, Unfit> {
    let faults = plan.select(model)?;
    let reset = reset_places(model, &plan)?;
    let alternatives = alternatives(model, &faults);
    let timeouts = timeouts(model);
    let states: Vec<usize> = model.proctypes.iter().map(|proctype| proctype.states.len()).collect();
    let after = plan.after.take();
    let mut after: Vec<Expr> = after.into_iter().collect();
    add_twins(model, claims, &mut after);
    let record = add_record(model, &plan, !after.is_empty());
    let limbo = add_limbo(model, &faults);
    let stuck = add_flags(model, &faults);
    let met = faults.iter().map(|_| AtomicBool::new(false)).collect();
    let budget = plan.budget;
    Ok(Faults {
        budget,
        plan,
        record,
        limbo,
        stuck,
        states,
        alternatives,
        timeouts,
        reset,
        met,
        after: after.pop(),
        faults,
    })
}

/// Where the globals are that a restart resets: offset and size.
fn reset_places(model: &Model, plan: &Plan) -> Result<Vec<(usize, usize)>, Unfit> {
    let find = |name: &String| {
        let found = model.globals.iter().find(|variable| variable.name == *name);
        let place = found.map(|variable| {
            let size = variable.length.unwrap_or(1).saturating_sub(1) * variable.stride + variable.scalar.size();
            (variable.offset as usize, size as usize)
        });
        place.ok_or_else(|| {
            let near = closest(name, model.globals.iter().map(|variable| variable.name.as_str()));
            let help = near.map(|near| format!("did you mean `{near}`?"));
            Unfit { problem: format!("--reset {name}: there is no such global variable"), help }
        })
    };
    plan.reset.iter().map(find).collect()
}

/// For each fault: the values that it may put in place of the right ones.
fn alternatives(model: &Model, faults: &[Fault]) -> Vec<Alternatives> {
    let values = Values::new(model);
    let of = |fault: &Fault| match (fault.class, &fault.target) {
        (Class::Corrupt, Target::Channel(owner, index)) => {
            let channel = channel(model, *owner, *index);
            let known = |field: usize| match owner {
                Owner::Model => values.field(*index, field),
                Owner::Proctype(_) => Vec::new(),
            };
            let fields = channel.fields.iter().enumerate();
            Alternatives::Fields(fields.map(|(field, (_, shown))| field_values(model, shown, known(field))).collect())
        }
        (Class::Wrong, Target::Channel(_, index)) => Alternatives::Messages(values.sent(*index)),
        (Class::Irregular, Target::Variable(owner, index)) => {
            let named = |value: &i32| *value != 0 || !matches!(variables(model, *owner)[*index].shown, Shown::Mtype(_));
            Alternatives::Values(values.known((*owner, *index)).into_iter().filter(named).collect())
        }
        _ => Alternatives::None,
    };
    faults.iter().map(of).collect()
}

/// What may stand in a field instead: any constant of its mtype; for numbers those that the model itself uses there.
/// Flipping the last bit comes on top of them.
fn field_values(model: &Model, shown: &Shown, known: Vec<i32>) -> Option<Vec<i32>> {
    match shown {
        Shown::Channel => None,
        Shown::Mtype(set) => {
            let mut all: Vec<i32> =
                model.mtypes.iter().filter(|(of, ..)| of == set).map(|(.., value)| *value).collect();
            all.sort_unstable();
            Some(all)
        }
        Shown::Number | Shown::Bool => Some(known),
    }
}

/// A channel as it was declared.
pub fn channel(model: &Model, owner: Owner, index: usize) -> &crate::ir::Channel {
    match owner {
        Owner::Model => &model.channels[index],
        Owner::Proctype(number) => &model.proctypes[number].channels[index],
    }
}

fn timeouts(model: &Model) -> Vec<Vec<bool>> {
    let of = |(number, proctype): (ProctypeId, &crate::ir::Proctype)| {
        (0..proctype.states.len()).map(|pc| asks_for_timeout(model, number, pc)).collect()
    };
    model.proctypes.iter().enumerate().map(of).collect()
}

/// Gives each control state two twins without edges: one for a process that has stopped there for good, one for a
/// process that stands still there for a while. A process that stands still is still where its label is, but it
/// makes no progress, and nobody waits for it to end.
fn add_twins(model: &mut Model, claims: &mut [Claim], further: &mut [Expr]) {
    let counts: Vec<usize> = model.proctypes.iter().map(|proctype| proctype.states.len()).collect();
    let wider: Vec<bool> =
        model.proctypes.iter().map(|proctype| proctype.pc_size == 1 && 3 * proctype.states.len() > 256).collect();
    for proctype in &mut model.proctypes {
        let twin = |end: bool| {
            move |state: &ControlState| ControlState {
                edges: Vec::new(),
                end,
                progress: false,
                // It is there for ever, which is what the label forbids.
                accept: state.accept,
                dead: Vec::new(),
                spin_state: state.spin_state,
                span: state.span,
            }
        };
        let stopped: Vec<ControlState> = proctype.states.iter().map(twin(true)).collect();
        let paused: Vec<ControlState> = proctype.states.iter().map(twin(false)).collect();
        proctype.states.extend(stopped);
        proctype.states.extend(paused);
    }
    let mut see = |home: Option<ProctypeId>, part: Part<'_>| match part {
        Part::Expr(Expr::At { proctype, states, .. }) => {
            let count = counts[*proctype];
            let twins = |pc: &Pc| [*pc, *pc + count, *pc + 2 * count];
            *states = states.iter().flat_map(twins).collect();
        }
        Part::Place(place) => widen(place, home, &wider),
        Part::Expr(_) => {}
    };
    walk::model(model, &mut see);
    claims.iter_mut().for_each(|claim| walk::claim(claim, &mut see));
    further.iter_mut().for_each(|expr| walk::expr(expr, None, &mut see));
    for proctype in model.proctypes.iter_mut().zip(&wider).filter(|(_, wider)| **wider).map(|(proctype, _)| proctype) {
        proctype.pc_size = 2;
        proctype.frame_size += 1;
        proctype.locals.iter_mut().for_each(|local| local.offset += 1);
        proctype.channels.iter_mut().for_each(|channel| channel.offset += 1);
    }
}

/// Moves a local by the byte that a larger program counter needs.
fn widen(place: &mut Place, home: Option<ProctypeId>, wider: &[bool]) {
    let frame = match place.space {
        Space::Global => None,
        Space::Local => home,
        Space::Remote(number, _) => Some(number),
    };
    if frame.is_some_and(|number| wider[number]) {
        place.offset += 1;
    }
}

fn add_record(model: &mut Model, plan: &Plan, armed: bool) -> Record {
    let slots_at = model.globals_size as usize;
    let slots = plan.budget as usize;
    model.globals_size += (slots * SLOT) as u32;
    let armed_at = armed.then_some(model.globals_size as usize);
    model.globals_size += u32::from(armed);
    Record { slots_at, slots, armed_at }
}

fn add_limbo(model: &mut Model, faults: &[Fault]) -> Vec<Limbo> {
    let mut limbo = Vec::new();
    for fault in faults.iter().filter(|fault| fault.class == Class::Delay) {
        if let Target::Channel(Owner::Model, index) = fault.target {
            let at = model.globals_size as usize;
            model.globals_size += 1 + model.channels[index].message_size();
            limbo.push(Limbo { channel: index, at });
        }
    }
    limbo
}

/// Gives each variable that may be stuck a flag; a store looks at it first. Where the flags are, in order.
///
/// A store to a stuck variable goes to a shadow instead: through an index that is the flag itself,
/// so that the interpreter and the compiled code need no new statement.
fn add_flags(model: &mut Model, faults: &[Fault]) -> Vec<(usize, u32)> {
    let mut flags = Vec::new();
    for (number, fault) in faults.iter().enumerate().filter(|(_, fault)| fault.class == Class::Stuck) {
        let Target::Variable(owner, index) = fault.target else { continue };
        let variable = variables(model, owner)[index].clone();
        let size = match owner {
            Owner::Model => &mut model.globals_size,
            Owner::Proctype(number) => &mut model.proctypes[number].frame_size,
        };
        // The flag, and as much room as the variable has for what is received and must not be stored.
        let (flag, shadow) = (*size, *size + 1);
        *size += 1 + variable.length.unwrap_or(1).saturating_sub(1) * variable.stride + variable.scalar.size();
        let space = if owner == Owner::Model { Space::Global } else { Space::Local };
        let sticky = Sticky { flag: Place { space, offset: flag, indices: Vec::new(), scalar: Scalar::Byte }, shadow };
        for (home, proctype) in model.proctypes.iter_mut().enumerate() {
            if owner == Owner::Model || owner == Owner::Proctype(home) {
                let covered = |place: &Place| is_of(place, owner) && covers(&variable, place.offset);
                sticky.guard(&mut proctype.states, &covered);
            }
        }
        flags.push((number, flag));
    }
    flags
}

fn is_of(place: &Place, owner: Owner) -> bool {
    matches!((&place.space, owner), (Space::Global, Owner::Model) | (Space::Local, Owner::Proctype(_)))
}

/// A flag before which stores stop.
struct Sticky {
    flag: Place,
    /// Where goes what must not be stored.
    shadow: u32,
}

impl Sticky {
    fn guard(&self, states: &mut [ControlState], covered: &dyn Fn(&Place) -> bool) {
        for edge in states.iter_mut().flat_map(|state| &mut state.edges) {
            match &mut edge.action {
                // The process is started, whatever becomes of its number.
                Action::Assign(Assign { place, value }) if covered(place) && starts(value) => self.divert(place),
                Action::Assign(Assign { place, value }) if covered(place) => {
                    let (kept, new) = (Expr::Load(place.clone()), value.clone());
                    *value = Expr::If(Box::new(Expr::Load(self.flag.clone())), Box::new(kept), Box::new(new));
                }
                Action::Receive(receive) => {
                    for field in &mut receive.fields {
                        if let Field::Store(place) = field
                            && covered(place)
                        {
                            self.divert(place);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Makes a store go elsewhere while the variable is stuck.
    fn divert(&self, place: &mut Place) {
        let stride = self.shadow - place.offset;
        place.indices.push(Index { value: Expr::Load(self.flag.clone()), stride, bound: 2 });
    }
}

/// Whether an expression starts a process.
fn starts(value: &Expr) -> bool {
    let mut found = false;
    walk::expr(&mut value.clone(), None, &mut |_, part| found |= matches!(part, Part::Expr(Expr::Run(_))));
    found
}
