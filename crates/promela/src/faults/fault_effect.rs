//! What may happen to a state, and doing it.
//!
//! A deed is computed from a state and then done to it, in two functions, so that choices can be
//! counted and described without being taken. **Invariant:** a deed that is offered changes the
//! state; otherwise a fault would be spent on nothing and cut sets would not be minimal.

use super::class::Class;
use super::fault::{Fault, Owner, Target, Who};
use super::values::variables;
use super::{Alternatives, Faults, Stance, messages};
use crate::ir::{Action, Assign, Expr, Model, Pc, Scalar, Shown};
use crate::run::act::{Act, insert, take};
use crate::run::vector::{Work, load, store};

/// Something that happens to a state, all but faults of rendezvous and of time, which are steps of processes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Deed {
    /// A message is lost.
    Lose {
        /// The channel.
        id: i32,
        /// Which message.
        slot: usize,
    },
    /// A message is doubled.
    Double {
        /// The channel.
        id: i32,
        /// Which message.
        slot: usize,
    },
    /// A message overtakes the one before it.
    Overtake {
        /// The channel.
        id: i32,
        /// Which message.
        slot: usize,
    },
    /// A message becomes another.
    Become {
        /// The channel.
        id: i32,
        /// Which message.
        slot: usize,
        /// The other.
        message: Vec<i32>,
    },
    /// A message is held back.
    Hold {
        /// The channel.
        id: i32,
        /// Which message.
        slot: usize,
        /// Where it waits.
        at: usize,
    },
    /// A message that was held back arrives.
    Arrive {
        /// The channel.
        id: i32,
        /// Where it waited.
        at: usize,
    },
    /// A process is put somewhere: it stops, goes on, or jumps.
    Put {
        /// The process.
        pid: u32,
        /// Where.
        pc: Pc,
        /// How it stands there.
        stance: Stance,
    },
    /// A process starts again.
    Restart {
        /// The process.
        pid: u32,
    },
    /// A variable gets a value.
    Store {
        /// Where it is.
        at: usize,
        /// Its type.
        scalar: Scalar,
        /// The value.
        value: i32,
        /// Its name.
        name: String,
        /// How its value is shown.
        shown: Shown,
    },
    /// A variable sticks, or is loosened.
    Stick {
        /// Where its flag is.
        at: usize,
        /// Whether it sticks.
        sticks: bool,
        /// Its name.
        name: String,
    },
}

impl Faults {
    /// What a fault may do to a state: nothing that changes nothing.
    ///
    /// The number of deeds is the number of outcomes of the injector's step in this state, and
    /// their order numbers the choices.
    #[must_use]
    pub fn deeds(&self, model: &Model, work: &Work, number: usize) -> Vec<Deed> {
        let fault = &self.faults[number];
        match &fault.target {
            Target::Channel(owner, index) => self.to_channels(model, work, number, (*owner, *index)),
            Target::Process(who) => self.to_processes(model, work, fault, *who),
            Target::Label(who, label) => self.jumps(model, work, *who, *label),
            Target::Variable(owner, index) => self.to_variables(model, work, number, (*owner, *index)),
        }
    }

    fn to_channels(&self, model: &Model, work: &Work, number: usize, target: (Owner, usize)) -> Vec<Deed> {
        let mut found = Vec::new();
        for id in ids(model, work, target) {
            let Some((channel, at)) = work.channel(model, id) else { continue };
            if channel.capacity == 0 {
                continue;
            }
            let all = messages::all(&work.bytes, at, channel);
            let full = all.len() == channel.capacity as usize;
            for (slot, message) in all.iter().enumerate() {
                match self.faults[number].class {
                    Class::Loss => found.push(Deed::Lose { id, slot }),
                    Class::Duplicate if !full => found.push(Deed::Double { id, slot }),
                    Class::Reorder if slot > 0 && all[slot - 1] != *message => found.push(Deed::Overtake { id, slot }),
                    Class::Corrupt | Class::Wrong => {
                        let others = messages::others(&self.alternatives[number], channel, message);
                        found.extend(others.into_iter().map(|message| Deed::Become { id, slot, message }));
                    }
                    Class::Delay => found.extend(self.hold(work, id, slot)),
                    _ => {}
                }
            }
        }
        found
    }

    /// One message of a channel may be late at a time.
    fn hold(&self, work: &Work, id: i32, slot: usize) -> Option<Deed> {
        let limbo = self.limbo.iter().find(|limbo| limbo.channel + 1 == id as usize)?;
        (work.bytes[limbo.at] == 0).then_some(Deed::Hold { id, slot, at: limbo.at })
    }

    fn to_processes(&self, model: &Model, work: &Work, fault: &Fault, who: Who) -> Vec<Deed> {
        let mut found = Vec::new();
        for pid in pids(work, who, model) {
            let (stance, pc) = self.stance(model, work, pid);
            match fault.class {
                Class::Stop | Class::Pause if stance == Stance::Up && !is_over(model, work, pid, pc) => {
                    let stance = if fault.class == Class::Stop { Stance::Stopped } else { Stance::Paused };
                    found.push(Deed::Put { pid, pc, stance });
                }
                Class::Restart if !is_over(model, work, pid, pc) => {
                    let mut after = work.clone();
                    self.restart(model, &mut after, pid);
                    if after != *work {
                        found.push(Deed::Restart { pid });
                    }
                }
                _ => {}
            }
        }
        found
    }

    fn jumps(&self, model: &Model, work: &Work, who: Who, label: Pc) -> Vec<Deed> {
        let elsewhere = |pid: &u32| {
            let (stance, pc) = self.stance(model, work, *pid);
            stance == Stance::Up && pc != label && !is_over(model, work, *pid, pc)
        };
        let put = |pid| Deed::Put { pid, pc: label, stance: Stance::Up };
        pids(work, who, model).into_iter().filter(elsewhere).map(put).collect()
    }

    fn to_variables(&self, model: &Model, work: &Work, number: usize, (owner, index): (Owner, usize)) -> Vec<Deed> {
        let variable = &variables(model, owner)[index];
        let mut found = Vec::new();
        for (prefix, base) in bases(model, work, owner) {
            if self.faults[number].class == Class::Stuck {
                found.extend(self.stick(work, number, base, format!("{prefix}{}", variable.name)));
                continue;
            }
            for element in 0..variable.length.unwrap_or(1) {
                let at = base + (variable.offset + element * variable.stride) as usize;
                let name = match variable.length {
                    Some(_) => format!("{prefix}{}[{element}]", variable.name),
                    None => format!("{prefix}{}", variable.name),
                };
                let now = load(&work.bytes, at, variable.scalar);
                for value in self.values(number, variable.scalar, now) {
                    let (name, shown) = (name.clone(), variable.shown.clone());
                    found.push(Deed::Store { at, scalar: variable.scalar, value, name, shown });
                }
            }
        }
        found
    }

    /// The other values that a fault may give a variable.
    fn values(&self, number: usize, scalar: Scalar, now: i32) -> Vec<i32> {
        match &self.alternatives[number] {
            Alternatives::Values(values) => values.iter().copied().filter(|value| *value != now).collect(),
            _ => (0..bits(scalar)).map(|bit| scalar.cut(now ^ 1 << bit)).collect(),
        }
    }

    fn stick(&self, work: &Work, number: usize, base: usize, name: String) -> Option<Deed> {
        let (_, offset) = self.stuck.iter().find(|(of, _)| *of == number)?;
        let at = base + *offset as usize;
        (work.bytes[at] == 0).then_some(Deed::Stick { at, sticks: true, name })
    }

    /// What is repaired by and by.
    ///
    /// Not faults: they spend no budget. A process that is paused goes on, a held message arrives;
    /// with `heals`, what lasts is repaired as well, for properties like "in the end it recovers".
    #[must_use]
    pub fn healing(&self, model: &Model, work: &Work) -> Vec<Deed> {
        let mut found = Vec::new();
        for limbo in self.limbo.iter().filter(|limbo| work.bytes[limbo.at] != 0) {
            let id = limbo.channel as i32 + 1;
            let channel = &model.channels[limbo.channel];
            if u32::from(work.bytes[channel.offset as usize]) < channel.capacity {
                found.push(Deed::Arrive { id, at: limbo.at });
            }
        }
        for pid in 0..work.processes() {
            let (stance, pc) = self.stance(model, work, pid);
            if stance == Stance::Paused || stance == Stance::Stopped && self.plan.heals {
                found.push(Deed::Put { pid, pc, stance: Stance::Up });
            }
        }
        if self.plan.heals {
            found.extend(self.loosening(model, work));
        }
        found
    }

    fn loosening(&self, model: &Model, work: &Work) -> Vec<Deed> {
        let mut found = Vec::new();
        for (number, offset) in &self.stuck {
            let Target::Variable(owner, index) = self.faults[*number].target else { continue };
            for (prefix, base) in bases(model, work, owner) {
                let at = base + *offset as usize;
                if work.bytes[at] != 0 {
                    let name = format!("{prefix}{}", variables(model, owner)[index].name);
                    found.push(Deed::Stick { at, sticks: false, name });
                }
            }
        }
        found
    }

    /// Whether something is still to be repaired.
    #[must_use]
    pub fn is_healing(&self, model: &Model, work: &Work) -> bool {
        !self.healing(model, work).is_empty() || self.limbo.iter().any(|limbo| work.bytes[limbo.at] != 0)
    }

    /// Does it.
    pub fn perform(&self, model: &Model, work: &mut Work, deed: &Deed) {
        match deed {
            Deed::Lose { id, slot } => {
                take_out(model, work, *id, *slot);
            }
            Deed::Double { id, slot } => {
                let message = peek(model, work, *id, *slot);
                put_in(model, work, *id, *slot, &message);
            }
            Deed::Overtake { id, slot } => {
                let message = take_out(model, work, *id, *slot);
                put_in(model, work, *id, *slot - 1, &message);
            }
            Deed::Become { id, slot, message } => {
                take_out(model, work, *id, *slot);
                put_in(model, work, *id, *slot, message);
            }
            Deed::Hold { id, slot, at } => self.hold_back(model, work, (*id, *slot), *at),
            Deed::Arrive { id, at } => self.let_arrive(model, work, *id, *at),
            Deed::Put { pid, pc, stance } => {
                let pc = self.standing(work.proctype(*pid), *pc, *stance);
                work.set_pc(model, *pid, pc);
            }
            Deed::Restart { pid } => self.restart(model, work, *pid),
            Deed::Store { at, scalar, value, .. } => store(&mut work.bytes, *at, *scalar, *value),
            Deed::Stick { at, sticks, .. } => work.bytes[*at] = u8::from(*sticks),
        }
    }

    fn hold_back(&self, model: &Model, work: &mut Work, (id, slot): (i32, usize), at: usize) {
        let message = take_out(model, work, id, slot);
        let Some((channel, _)) = work.channel(model, id) else { return };
        insert(&mut work.bytes, at, channel, 0, &message);
    }

    fn let_arrive(&self, model: &Model, work: &mut Work, id: i32, at: usize) {
        let Some((channel, body)) = work.channel(model, id) else { return };
        let mut message = Vec::new();
        take(work, at, channel, 0, false, &mut message);
        let end = usize::from(work.bytes[body]);
        insert(&mut work.bytes, body, channel, end, &message);
    }

    /// Puts a process where it began: its variables and channels as they were, its parameters and what sticks kept.
    ///
    /// Volatile state is lost, parameters are kept (they are the program's arguments), as is what
    /// is stuck: that is a fault of the hardware.
    fn restart(&self, model: &Model, work: &mut Work, pid: u32) {
        let number = work.proctype(pid);
        let (proctype, frame) = (&model.proctypes[number], work.frame(pid));
        let body = 1 + proctype.pc_size as usize + usize::from(model.features.priority);
        let mut kept: Vec<(usize, Vec<u8>)> = proctype.locals[..proctype.parameters]
            .iter()
            .map(|parameter| (parameter.offset as usize, parameter.scalar.size() as usize))
            .map(|(offset, size)| (offset, work.bytes[frame + offset..frame + offset + size].to_vec()))
            .collect();
        for (_, flag) in self.stuck.iter().filter(
            |(fault, _)| matches!(self.faults[*fault].target, Target::Variable(Owner::Proctype(of), _) if of == number),
        ) {
            kept.push((*flag as usize, vec![work.bytes[frame + *flag as usize]]));
        }
        work.bytes[frame + body..frame + proctype.frame_size as usize].fill(0);
        for (offset, bytes) in kept {
            work.bytes[frame + offset..frame + offset + bytes.len()].copy_from_slice(&bytes);
        }
        work.set_pc(model, pid, proctype.entry);
        self.first_values(model, work, pid);
    }

    fn first_values(&self, model: &Model, work: &mut Work, pid: u32) {
        let proctype = &model.proctypes[work.proctype(pid)];
        let first = work.first_channel(model, pid);
        let (mut failures, mut message) = (Vec::new(), Vec::new());
        let mut act = Act { model, timeout: false, depth: 0, failures: &mut failures, message: &mut message };
        for (index, channel) in proctype.channels.iter().enumerate() {
            if let Some(place) = &channel.variable {
                let value = Expr::Constant(first + index as i32);
                act.assign(work, pid, &Assign { place: place.clone(), value }, 0);
            }
        }
        proctype.initialisers.iter().for_each(|initialiser| act.assign(work, pid, initialiser, 0));
        if self.reset.is_empty() {
            return;
        }
        let mut fresh = Work { bytes: vec![0; model.globals_size as usize], ..Work::default() };
        model.initialisers.iter().for_each(|initialiser| act.assign(&mut fresh, 0, initialiser, 0));
        for (offset, size) in &self.reset {
            work.bytes[*offset..offset + size].copy_from_slice(&fresh.bytes[*offset..offset + size]);
        }
    }
}

/// The ids of the channels that a fault happens to.
pub fn ids(model: &Model, work: &Work, (owner, index): (Owner, usize)) -> Vec<i32> {
    match owner {
        Owner::Model => vec![index as i32 + 1],
        Owner::Proctype(number) => (0..work.processes())
            .filter(|pid| work.proctype(*pid) == number)
            .map(|pid| work.first_channel(model, pid) + index as i32)
            .collect(),
    }
}

/// The processes that a fault happens to.
pub fn pids(work: &Work, who: Who, model: &Model) -> Vec<u32> {
    let meant = |pid: &u32| match who.pid {
        Some(only) => *pid == only,
        // Those that exist from the start have names of their own.
        None => *pid as usize >= model.active.len(),
    };
    (0..work.processes()).filter(|pid| work.proctype(*pid) == who.proctype && meant(pid)).collect()
}

/// Where an owner's variables start, with what stands before their names.
fn bases(model: &Model, work: &Work, owner: Owner) -> Vec<(String, usize)> {
    match owner {
        Owner::Model => vec![(String::new(), 0)],
        Owner::Proctype(number) => (0..work.processes())
            .filter(|pid| work.proctype(*pid) == number)
            .map(|pid| (format!("{}:", crate::run::named::process_name(model, work, pid)), work.frame(pid)))
            .collect(),
    }
}

/// Whether a process has nothing left to do but to disappear.
fn is_over(model: &Model, work: &Work, pid: u32, pc: Pc) -> bool {
    let edges = &model.proctypes[work.proctype(pid)].states[pc].edges;
    edges.iter().all(|edge| matches!(edge.action, Action::Die))
}

fn bits(scalar: Scalar) -> u32 {
    match scalar {
        Scalar::Bit => 1,
        Scalar::Unsigned(bits) => u32::from(bits),
        other => other.size() * 8,
    }
}

fn take_out(model: &Model, work: &mut Work, id: i32, slot: usize) -> Vec<i32> {
    let mut message = Vec::new();
    if let Some((channel, at)) = work.channel(model, id) {
        take(work, at, channel, slot, false, &mut message);
    }
    message
}

/// A message of a channel.
pub fn peek(model: &Model, work: &Work, id: i32, slot: usize) -> Vec<i32> {
    let found = work.channel(model, id);
    found.map_or_else(Vec::new, |(channel, at)| messages::all(&work.bytes, at, channel).swap_remove(slot))
}

fn put_in(model: &Model, work: &mut Work, id: i32, slot: usize, message: &[i32]) {
    if let Some((channel, at)) = work.channel(model, id) {
        insert(&mut work.bytes, at, channel, slot, message);
    }
}
