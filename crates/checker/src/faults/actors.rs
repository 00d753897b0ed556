//! Actors of faults: programs that are killed, restarted, paused, sent a signal or cut off, connections that are reset; and what such a fault
//! leaves to come: a paused program goes on, the network is up again, a delayed datagram arrives.
//!
//! A fault is an actor of its own where it happens to whoever waits, too. What comes to an end by itself is no fault: it needs no
//! budget, and no state in which it can happen is an end. Time passes before it: so these actors do not count as enabled where
//! time is asked whether somebody can move, and time is no actor of low priority where they may exist.

use super::placed::{PlacedFault, PlacedFaults};
use super::plan::Effect;
use crate::footprint::access::{self, Kind};
use crate::system::choice::Alternative;
use crate::system::choice_kind::ChoiceKind;
use crate::system::state::History;
use crate::system::stepper::Stepper;
use crate::system::view::View;
use crate::system::workload::Workload;
use explore::graph::{Access, Actor};
use kernel::net::datagram_fault::DatagramFault;
use kernel::signal::number;
use kernel::{Kernel, Pid, net};
use std::ops::Range;
use trace::{Bytes, Choice, FaultEvent};

/// Actors of faults, by the number of the fault. No thread has such a number: threads' numbers have five digits.
const FAULTS: Range<u32> = 1..4_000;

/// Actors by which paused programs go on, by the place of the program among those that were started.
const RESUMES: Range<u32> = 4_000..5_500;

/// Actors by which the network of programs comes up again, by the same place.
const RECONNECTS: Range<u32> = 5_500..7_000;

/// Actors by which delayed datagrams arrive, by the number of the datagram.
const ARRIVALS: Range<u32> = 7_000..9_999;

/// The actor that says what is on the disk after power has failed.
const DISK: u32 = 9_999;

/// Whether an actor is one whose steps are faults, or the end of one.
#[must_use]
pub fn is_fault(actor: u32) -> bool {
    (FAULTS.start..=DISK).contains(&actor)
}

/// What comes to an end by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Healing {
    /// A paused program goes on.
    Resume(Pid),
    /// The network between a program and the others is up again.
    Reconnect(Pid),
    /// A delayed datagram arrives.
    Arrive(u16),
    /// A question about the disk is answered so.
    Disk(u32),
}

impl PlacedFaults {
    fn includes(&self, effect: Effect) -> bool {
        self.all.iter().any(|fault| fault.effect == effect)
    }

    /// Whether a program may be stopped between any two of its operations: others see it there. A signal may end it.
    pub fn may_stop_programs(&self) -> bool {
        self.all.iter().any(|fault| fault.effect.is_of_program())
    }

    /// Whether faults have actors: they may move between any two operations of a thread, be it the only one.
    pub fn have_actors(&self) -> bool {
        let of_time = self.may_hasten() || self.may_set_clock();
        of_time || self.may_stop_programs() || self.may_reset() || self.may_heal() || self.disk().is_some()
    }

    /// Whether a fault may come to an end by itself.
    pub fn may_heal(&self) -> bool {
        self.includes(Effect::Pause) || self.includes(Effect::Partition) || self.may_delay()
    }

    fn may_delay(&self) -> bool {
        self.includes(Effect::Datagram(DatagramFault::Delay))
    }

    /// Whether connections may be reset.
    pub fn may_reset(&self) -> bool {
        self.includes(Effect::Reset)
    }

    /// The process to which a fault happens.
    pub(super) fn victim(&self, fault: u16) -> Option<Pid> {
        let fault = self.all.get(usize::from(fault)).filter(|fault| fault.effect.has_victim())?;
        fault.programs.as_ref()?.first().copied()
    }
}

impl Workload {
    /// Actors of the faults that may happen, and of what comes to an end.
    pub(crate) fn fault_actors(&self, kernel: &Kernel, history: &History) -> Vec<Actor> {
        let mut actors = self.healing_actors(kernel, history);
        if !self.faults.is_spent(history) {
            let faults = (0..).zip(&self.faults.all).filter(|(number, _)| self.faults.may_happen(*number, history));
            let faults = faults.filter_map(|(number, fault)| self.fault_actor(number, fault, kernel, history));
            // The step that makes the condition true writes the world.
            let waits = |actor| Actor { choices: 0, awaits: vec![world_object()], ..actor };
            let may = !self.faults.are_deferred(history);
            actors.extend(faults.map(|actor| if may { actor } else { waits(actor) }));
        }
        actors
    }

    fn fault_actor(&self, number: u16, fault: &PlacedFault, kernel: &Kernel, history: &History) -> Option<Actor> {
        let actor = fault_actor_of(number);
        let (choices, creator) = match fault.effect {
            Effect::Reset => (self.connections(fault, kernel).count() as u32, actor),
            Effect::Crash(_) | Effect::Clock(_) => (1, actor),
            _ => {
                let pid = self.faults.victim(number).filter(|pid| self.can_be_stopped(*pid, kernel, history))?;
                if fault.effect == Effect::Partition && kernel.net.cut_off.contains(&pid) {
                    return None;
                }
                // Who waits for others first can be stopped once it has begun.
                (1, if self.awaits_others(pid) { pid.0 } else { actor })
            }
        };
        let awaits = if choices == 0 { vec![connections_object()] } else { Vec::new() };
        let choice_kind = ChoiceKind::Faults as u8;
        Some(Actor { number: actor, creator, choices, choice_kind, awaits, is_fault: true, ..Actor::default() })
    }

    fn awaits_others(&self, pid: Pid) -> bool {
        self.services.iter().any(|service| service.pid == pid && !service.after.is_empty())
    }

    fn can_be_stopped(&self, pid: Pid, kernel: &Kernel, history: &History) -> bool {
        let lives = kernel.processes.get(&pid).is_some_and(|process| !process.threads.is_empty());
        let has_begun = !self.awaits_others(pid) || history.begun.contains_key(&pid);
        lives && has_begun && !history.paused.contains(&pid)
    }

    /// They exist in all states, and wait for the fault that they end: it writes the world.
    fn healing_actors(&self, kernel: &Kernel, history: &History) -> Vec<Actor> {
        let heals = |number: u32, is_enabled: bool| {
            let awaits = if is_enabled { Vec::new() } else { vec![world_object()] };
            let choices = u32::from(is_enabled);
            Actor { number, creator: number, choices, awaits, conflicts_with_all: true, ..Actor::default() }
        };
        let started = |effect| if self.faults.includes(effect) { &self.started[..] } else { &[] };
        let resumes = RESUMES.zip(started(Effect::Pause));
        let resumes = resumes.map(|(number, (pid, _))| heals(number, history.paused.contains(pid)));
        let reconnects = RECONNECTS.zip(started(Effect::Partition));
        let reconnects = reconnects.map(|(number, (pid, _))| heals(number, kernel.net.cut_off.contains(pid)));
        let most = if self.faults.may_delay() { self.faults.budget } else { 0 };
        let arrivals =
            ARRIVALS.zip(0..most).map(|(number, at)| heals(number, kernel.net.delayed.contains_key(&(at as u16))));
        resumes.chain(reconnects).chain(arrivals).collect()
    }
}

/// The world as an object: every step reads it.
pub(super) fn world_object() -> u64 {
    access::object(Kind::World, 0, 0)
}

/// The actor of a fault.
pub(super) fn fault_actor_of(fault: u16) -> u32 {
    FAULTS.start + u32::from(fault)
}

/// Which connections there are, as an object: steps that open or close one write it.
pub(super) fn connections_object() -> u64 {
    access::object(Kind::World, 4, 0)
}

impl View<'_> {
    /// Actors of the faults that may happen, of what comes to an end, and of what is asked about the disk.
    pub(crate) fn fault_actors(self) -> Vec<Actor> {
        let mut actors = self.workload.fault_actors(&self.state.world.kernel, &self.state.history);
        actors.extend(self.early_actor());
        actors.extend(self.workload.faults.disk().map(|_| {
            let choices = self.disk_question().map_or(0, |question| question.answers());
            let awaits = if choices == 0 { vec![world_object()] } else { Vec::new() };
            Actor { number: DISK, creator: DISK, choices, awaits, conflicts_with_all: true, ..Actor::default() }
        }));
        actors
    }

    /// What a choice of an actor of faults means; nothing if it is not enabled.
    pub(crate) fn fault_alternative(self, Choice { actor, index }: Choice) -> Option<Alternative> {
        let actors = self.fault_actors();
        actors.iter().find(|known| known.number == actor && index < known.choices)?;
        Some(match actor {
            _ if RESUMES.contains(&actor) => {
                let (pid, _) = self.workload.started[(actor - RESUMES.start) as usize];
                Alternative::Heal(Healing::Resume(pid))
            }
            _ if RECONNECTS.contains(&actor) => {
                let (pid, _) = self.workload.started[(actor - RECONNECTS.start) as usize];
                Alternative::Heal(Healing::Reconnect(pid))
            }
            DISK => Alternative::Heal(Healing::Disk(index)),
            _ if ARRIVALS.contains(&actor) => Alternative::Heal(Healing::Arrive((actor - ARRIVALS.start) as u16)),
            _ => Alternative::Fault((actor - FAULTS.start) as u16, index),
        })
    }

    /// What a choice of an actor of faults is told as.
    pub(crate) fn fault_event(self, choice: Choice) -> Option<FaultEvent> {
        let kernel = &self.state.world.kernel;
        let name = |pid: Pid| {
            let started = self.workload.started.iter().find(|(started, _)| *started == self.workload.root(kernel, pid));
            started.map_or_else(String::new, |(_, name)| name.clone())
        };
        match self.alternative(choice).filter(|_| is_fault(choice.actor))? {
            Alternative::Heal(Healing::Resume(pid)) => Some(FaultEvent::Resume(name(pid))),
            Alternative::Heal(Healing::Reconnect(pid)) => Some(FaultEvent::Reconnect(name(pid))),
            Alternative::Heal(Healing::Arrive(number)) => {
                let said = kernel.net.delayed.get(&number)?.bytes();
                Some(FaultEvent::Arrival(Bytes::beginning_with(said, said.len() as u64)))
            }
            Alternative::Fault(fault, index) => {
                let victim = self.workload.faults.victim(fault).map(name);
                match (self.workload.faults.all[usize::from(fault)].effect, victim) {
                    (Effect::Kill, Some(program)) => Some(FaultEvent::Kill(program)),
                    (Effect::Restart, Some(program)) => Some(FaultEvent::Restart(program)),
                    (Effect::Pause, Some(program)) => Some(FaultEvent::Pause(program)),
                    (Effect::Partition, Some(program)) => Some(FaultEvent::Partition(program)),
                    (Effect::Signal(signal), Some(program)) => {
                        Some(FaultEvent::Signal { signal: number::name(signal), program })
                    }
                    (Effect::Crash(_), _) => Some(FaultEvent::PowerLoss),
                    (Effect::Clock(by), _) => Some(FaultEvent::Clock(by)),
                    (Effect::Early, _) => {
                        let then = self.next_moment()?;
                        Some(FaultEvent::Early(then.saturating_sub(kernel.clock.now())))
                    }
                    _ => {
                        let (one, other) = self.connection_to_reset(fault, index)?;
                        let owner = |id| kernel.net.sockets.get(&id).map(|socket| name(socket.identity.pid));
                        Some(FaultEvent::Reset([owner(one)?, owner(other)?]))
                    }
                }
            }
            _ => None,
        }
    }

    /// Whether a fault has ended a program for good.
    pub(crate) fn has_killed(self) -> bool {
        let faults = &self.workload.faults;
        let kills = |fault: &u16| match faults.all[usize::from(*fault)].effect {
            Effect::Kill => true,
            Effect::Signal(signal) => faults.victim(*fault).is_some_and(|pid| self.has_died_of(pid, signal)),
            _ => false,
        };
        self.state.history.faults.iter().any(kills)
    }
}

impl Stepper<'_> {
    /// A fault happens; its accesses.
    pub(crate) fn take_fault(&mut self, fault: u16, index: u32) -> Vec<Access> {
        let faults = &self.workload.faults;
        match (faults.all[usize::from(fault)].effect, faults.victim(fault)) {
            (Effect::Kill, Some(pid)) => self.kill(pid),
            (Effect::Restart, Some(pid)) => self.restart(pid),
            (Effect::Pause, Some(pid)) => {
                self.state.history.pause(pid);
                access::everything()
            }
            (Effect::Partition, Some(pid)) => {
                net::cut_off(&mut self.state.world.kernel, pid);
                access::everything()
            }
            (Effect::Signal(signal), Some(pid)) => self.send(signal, pid),
            (Effect::Reset, _) => self.reset(fault, index),
            (Effect::Crash(_), _) => self.lose_power(),
            (Effect::Early, _) => self.let_time_pass(),
            (Effect::Clock(by), _) => self.step_clock(by),
            _ => access::everything(),
        }
    }

    /// What a fault has left to come happens; its accesses.
    pub(crate) fn heal(&mut self, healing: Healing) -> Vec<Access> {
        match healing {
            Healing::Resume(pid) => self.state.history.paused.retain(|paused| *paused != pid),
            Healing::Reconnect(pid) => net::reconnect(&mut self.state.world.kernel, pid),
            Healing::Arrive(number) => net::arrive(&mut self.state.world.kernel, number),
            Healing::Disk(index) => self.answer_disk(index as usize),
        }
        access::everything()
    }
}
