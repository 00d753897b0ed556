//! Taking a choice: a step of a thread, a fault, a delivery, a drain, or time that passes.

use crate::system::choice::Alternative;
use crate::system::programs::Programs;
use crate::system::state::Snapshot;
use crate::system::step;
use explore::graph::Access;
use kernel::Tid;
use trace::Choice;
use world::refusal::Cause;

/// The result of taking a choice.
#[derive(Default)]
pub(super) struct ChoiceResult {
    pub accesses: Vec<Access>,
    pub wrong: Wrong,
}

/// What is wrong with a step, beside how processes end.
#[derive(Default)]
pub(super) struct Wrong {
    pub misuse: Option<&'static str>,
    pub assertion: Option<String>,
    pub contradiction: Option<String>,
}

impl Wrong {
    fn of(step: &mut step::Step) -> Self {
        let step::Step { misuse, assertion, contradiction, .. } = step;
        Self { misuse: *misuse, assertion: assertion.take(), contradiction: contradiction.take() }
    }
}

impl Programs {
    /// Takes a choice from the loaded state; nothing if it is not enabled, or if the step does not end: the budget is spent, or it
    /// does what is not modelled. What would follow is not guessed.
    ///
    /// The stores of a thread that the step ends by force reach memory before it: which threads those are, only the step can
    /// tell.
    pub(super) fn take_choice(&mut self, state: &Snapshot, choice: Choice) -> Option<ChoiceResult> {
        let heard = self.listener.heard.len();
        let result = self.take_choice_at_once(state, choice);
        let ended = match self.executor.refinement.triangular.buffers_stores {
            true => self.state.ended_with_stores(state),
            false => Vec::new(),
        };
        if ended.is_empty() {
            return result;
        }
        self.load(state);
        self.listener.heard.truncate(heard);
        let drained = self.stepper().drain_threads(&ended);
        let result = self.take_choice_at_once(state, choice)?;
        Some(ChoiceResult { accesses: drained.into_iter().chain(result.accesses).collect(), ..result })
    }

    /// A fault happens. A program that is killed says to its peers what one says that ends.
    fn take_fault(&mut self, fault: u16, index: u32) -> ChoiceResult {
        let accesses = self.stepper().take_fault(fault, index);
        let said = self.stepper().say();
        self.count_fault(fault);
        // A program that is started again has another address space.
        self.watch_variables();
        ChoiceResult {
            wrong: Wrong { contradiction: said.contradiction, ..Wrong::default() },
            accesses: [accesses, said.accesses].concat(),
        }
    }

    fn take_choice_at_once(&mut self, state: &Snapshot, choice: Choice) -> Option<ChoiceResult> {
        let alternative = self.view().alternative(choice)?;
        if alternative == Alternative::TimePasses {
            return Some(ChoiceResult { accesses: self.stepper().pass_time(), ..ChoiceResult::default() });
        }
        if let Alternative::Fault(fault, index) = alternative {
            return Some(self.take_fault(fault, index));
        }
        if let Alternative::Heal(healing) = alternative {
            return Some(ChoiceResult { accesses: self.stepper().heal(healing), ..ChoiceResult::default() });
        }
        if let Alternative::Drain(tid) = alternative {
            return Some(ChoiceResult { accesses: self.stepper().drain(tid), ..ChoiceResult::default() });
        }
        if let Alternative::Deliver(end, index) = alternative {
            let accesses = self.stepper().deliver(end, index)?;
            return Some(ChoiceResult { accesses, ..ChoiceResult::default() });
        }
        let tid = Tid(choice.actor);
        if !self.state.world.can_move(tid) || self.state.is_paused(tid) || self.view().waits_for_disk(tid) {
            return None;
        }
        self.listener.fault = alternative.fault();
        match self.stepper().advance(tid, alternative) {
            Ok(mut step) => {
                if self.workload.options.awaits {
                    self.stepper().follow_spin(&step, state);
                }
                if let Alternative::Fail(fault) = alternative {
                    self.count_fault(fault.fault);
                    step.accesses.extend(fault.accesses());
                }
                Some(ChoiceResult { wrong: Wrong::of(&mut step), accesses: step.accesses })
            }
            // The effects of an incomplete step are discarded: the next load restores the state.
            Err(refusal) if refusal.cause == Cause::Spent => None,
            Err(refusal) => {
                self.refuse(refusal);
                None
            }
        }
    }
}
