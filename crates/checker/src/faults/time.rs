//! Faults of time: a timed wait ends early, although somebody could still move, or somebody sets the real-time clock.
//!
//! Waits end in the order of their deadlines. So where one ends early, others are late: whoever could move is slow.

use super::actors::{fault_actor_of, world_object};
use super::placed::PlacedFaults;
use super::plan::Effect;
use crate::footprint::access;
use crate::system::choice_kind::ChoiceKind;
use crate::system::stepper::Stepper;
use crate::system::view::View;
use explore::graph::{Access, Actor};
use kernel::time;

impl PlacedFaults {
    /// Whether time may pass early as a fault.
    pub fn may_hasten(&self) -> bool {
        self.early().is_some()
    }

    /// Whether the real-time clock may be set.
    pub fn may_set_clock(&self) -> bool {
        self.all.iter().any(|fault| matches!(fault.effect, Effect::Clock(_)))
    }

    /// The number of the fault that lets time pass early.
    fn early(&self) -> Option<u16> {
        (0..).zip(&self.all).find(|(_, fault)| fault.effect == Effect::Early).map(|(number, _)| number)
    }
}

impl View<'_> {
    /// Time as an actor that passes early. It waits for a deadline, or for the moment from which on faults may happen.
    pub(super) fn early_actor(self) -> Option<Actor> {
        let (faults, history) = (&self.workload.faults, &self.state.history);
        let fault = faults.early().filter(|fault| !faults.is_spent(history) && faults.may_happen(*fault, history))?;
        let may_pass = !faults.are_deferred(history) && self.next_moment().is_some();
        let awaits = if may_pass { Vec::new() } else { vec![access::deadlines(), world_object()] };
        let (number, choice_kind) = (fault_actor_of(fault), ChoiceKind::Faults as u8);
        let choices = u32::from(may_pass);
        let actor = Actor { number, creator: number, choices, choice_kind, awaits, ..Actor::default() };
        Some(Actor { is_fault: true, conflicts_with_all: true, ..actor })
    }
}

impl Stepper<'_> {
    /// The real-time clock is set forward or back, by so many nanoseconds; the accesses.
    pub(super) fn step_clock(&mut self, by: i64) -> Vec<Access> {
        let pending = self.pending_signals();
        let world = &mut self.state.world;
        let clock = world.kernel.clock;
        // There is no time before boot.
        let real = clock.real().saturating_add_signed(by).max(clock.now());
        time::set_clock(&mut world.kernel, &mut world.memory, real);
        // Timers may have sent signals.
        self.note_sent(None, &pending);
        access::everything()
    }
}
