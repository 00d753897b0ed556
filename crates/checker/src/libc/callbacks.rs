//! Callbacks: functions of the program that the library calls, in `pthread_once(3)` and when a thread ends. Operations
//! of the library before and after a callback are local; those of the callback are steps of the program.

use crate::footprint::access::{self, Kind};
use crate::libc::{Function, Hook, Whole};
use crate::system::overlay::{Once, Phase, Return, ThreadOverlay, Within};
use crate::system::state::State;
use crate::system::step::Step;
use crate::system::stepper::Stepper;
use kernel::Tid;
use world::refusal::Refusal;
use x86::cpu::{RDI, RDX, RSI, RSP};

impl Stepper<'_> {
    /// The first call of `pthread_once(3)`: the library's code is executed as a whole, without the callback.
    pub(crate) fn enter_once(&mut self, step: &mut Step, hook: Hook) -> Result<bool, Refusal> {
        let tid = step.tid;
        let cpu = &self.state.world.cpus[&tid];
        let (control, routine, stack_pointer) = (cpu.gpr[RDI], cpu.gpr[RSI], cpu.gpr[RSP]);
        let Some(address) = self.state.return_address(tid).filter(|_| !self.state.is_quiet(tid)) else {
            return self.step_past(step);
        };
        let is_seen = self.watch_for(tid, routine, Hook { function: Function::Callback, ..hook })
            && self.watch_for(tid, address, Hook { function: Function::Back, ..hook });
        if is_seen {
            let end = Return { address, stack_pointer: stack_pointer.wrapping_add(8) };
            let overlay = self.state.overlay.thread_mut(tid);
            // Calls that were left by an exception have ended.
            overlay.onces.retain(|once| once.end.stack_pointer > stack_pointer);
            overlay.onces.push(Once { control, end, inside: None });
            overlay.within = Some(Within { return_to: address, whole: Whole::Once });
        }
        self.step_past(step)
    }

    /// Executes the library's own code, instruction by instruction. It synchronises internally: none of its accesses is
    /// plain.
    pub(crate) fn enter_real(&mut self, step: &mut Step, hook: Hook) -> Result<bool, Refusal> {
        let (tid, here) = (step.tid, self.state.standing(step.tid));
        if let Some(address) = self.state.return_address(tid).filter(|_| !self.state.is_quiet(tid))
            && self.watch_for(tid, address, Hook { function: Function::Back, ..hook })
        {
            let stack_pointer = here.stack_pointer.wrapping_add(8);
            self.state.overlay.thread_mut(tid).real = Some(Return { address, stack_pointer });
        }
        self.step_past(step)
    }

    /// Sets a hook at an address; whether it is in effect.
    fn watch_for(&mut self, tid: Tid, address: u64, hook: Hook) -> bool {
        self.add_hook(tid, address, hook);
        self.executor.hooks.at(&self.state.world.memory, self.state.world.space(tid), address).is_some()
    }

    /// A callback begins: what it executes is the program's own code.
    pub(crate) fn at_callback(&mut self, step: &mut Step, hook: Hook) -> Result<bool, Refusal> {
        let tid = step.tid;
        let Some(address) = self.state.return_address(tid).filter(|_| self.state.is_called_back(tid)) else {
            return self.go_on(step);
        };
        let back = Return { address, stack_pointer: self.state.standing(tid).stack_pointer.wrapping_add(8) };
        if !self.watch_for(tid, address, Hook { function: Function::Back, ..hook }) {
            return self.go_on(step);
        }
        let overlay = self.state.overlay.thread_mut(tid);
        match overlay.within.take() {
            Some(_) => overlay.onces.iter_mut().last().expect("it is called back").inside = Some(back),
            None => (overlay.phase, overlay.cleans_up) = (Phase::Running, Some(back)),
        }
        Ok(self.operated(step))
    }

    /// A callback may have returned, or the library function that called it.
    pub(crate) fn at_back(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        let (tid, here) = (step.tid, Some(self.state.standing(step.tid)));
        let Some(overlay) = self.state.overlay.thread(tid) else { return self.go_on(step) };
        let once = overlay.onces.last().copied();
        let has_called = once.is_some_and(|once| once.inside == here);
        let is_over = once.is_some_and(|once| Some(once.end) == here)
            && overlay.within.is_some_and(|within| within.whole == Whole::Once);
        let has_cleaned = overlay.cleans_up == here;
        let is_real_over = overlay.real == here;
        if (has_called || has_cleaned) && !self.view().may_operate(step) {
            return Ok(false);
        }
        if is_real_over {
            self.state.overlay.thread_mut(tid).real = None;
            // What it has seen (a lock that was held) may be over when the program goes on.
            self.operated(step);
        }
        match once {
            Some(once) if has_called => self.finish_once(step, once),
            _ if is_over => {
                let overlay = self.state.overlay.thread_mut(tid);
                overlay.onces.pop();
                overlay.within = None;
                Ok(self.operated(step))
            }
            _ if has_cleaned => {
                self.state.overlay.thread_mut(tid).cleans_up = None;
                self.state.end(step, Phase::Ending);
                self.step_past(step)
            }
            _ => self.go_on(step),
        }
    }

    /// The callback of `pthread_once(3)` has returned: the control word changes.
    fn finish_once(&mut self, step: &mut Step, once: Once) -> Result<bool, Refusal> {
        let space = self.state.world.space(step.tid);
        step.accesses.push(access::word(&self.state.world.memory, space, once.control, true, Kind::Lock));
        let overlay = self.state.overlay.thread_mut(step.tid);
        overlay.onces.iter_mut().last().expect("it is in one").inside = None;
        overlay.within = Some(Within { return_to: once.end.address, whole: Whole::Once });
        // The library does not call the callback again in this call.
        self.step_past(step)
    }

    /// A function registers a callback.
    pub(crate) fn at_registers(&mut self, step: &mut Step, hook: Hook, number: u8) -> Result<bool, Refusal> {
        let register = [RDI, RSI, RDX][usize::from(number)];
        let address = self.state.world.cpus[&step.tid].gpr[register];
        self.add_hook(step.tid, address, Hook { function: Function::Callback, ..hook });
        self.go_on(step)
    }

    /// `__sigsetjmp` is called: the library may return to its caller when the thread ends.
    pub(crate) fn at_landing(&mut self, step: &mut Step, hook: Hook) -> Result<bool, Refusal> {
        let (space, here) = (self.state.world.space(step.tid), self.state.world.cpus[&step.tid].rip);
        let is_own =
            |address: &u64| self.executor.hooks.is_one_library(&self.state.world.memory, space, here, *address);
        let caller = self.state.return_address(step.tid).filter(|address| !is_own(address));
        if let Some(address) = caller.filter(|_| !self.state.is_quiet(step.tid)) {
            self.add_hook(step.tid, address, Hook { function: Function::Landed, ..hook });
        }
        self.go_on(step)
    }

    /// A thread may have returned from the library, to clean up before it ends.
    pub(crate) fn at_landed(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        let ends = |overlay: &ThreadOverlay| overlay.phase == Phase::Ending && overlay.within.is_none();
        if self.state.overlay.thread(step.tid).is_some_and(ends) {
            self.state.overlay.thread_mut(step.tid).phase = Phase::Running;
            return Ok(self.operated(step));
        }
        self.go_on(step)
    }

    /// A thread disables or enables its cancellation.
    pub(crate) fn at_cancel_state(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        const DISABLE: u64 = 1;
        let wanted = self.state.world.cpus[&step.tid].gpr[RDI] & 0xffff_ffff;
        if wanted <= DISABLE {
            self.state.overlay.thread_mut(step.tid).is_shielded = wanted == DISABLE;
        }
        self.go_on(step)
    }

    /// `pthread_testcancel(3)`: the thread ends if it was cancelled.
    pub(crate) fn at_test_cancel(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        let is_cancelled = self.state.overlay.thread(step.tid).is_some_and(ThreadOverlay::is_cancelled);
        if !is_cancelled || self.state.is_quiet(step.tid) {
            return self.go_on(step);
        }
        if !self.view().may_operate(step) {
            return Ok(false);
        }
        self.state.end(step, Phase::Ending);
        self.step_past(step)
    }

    /// A thread was cancelled while it waited: it continues in `pthread_testcancel(3)`, which does not return.
    pub(crate) fn cancelled(&mut self, step: &mut Step, hook: Hook) -> Result<bool, Refusal> {
        let Some(address) = self.view().sibling(step.tid, Function::TestCancel) else {
            return Err(self
                .state
                .world
                .refuse(step.tid, format!("a thread is cancelled in {}", hook.function.name())));
        };
        self.state.end(step, Phase::Ending);
        self.state.world.cpus.get_mut(&step.tid).expect("it runs").rip = address;
        self.step_past(step)
    }

    /// Executes an instruction at a hook that does not apply to this thread.
    pub(crate) fn go_on(&mut self, step: &mut Step) -> Result<bool, Refusal> {
        if self.state.is_quiet(step.tid) { self.step_past(step) } else { self.first_instruction(step) }
    }
}

impl State {
    /// Whether a thread's accesses are plain: those of the program's own code.
    pub(crate) fn is_plain(&self, tid: Tid) -> bool {
        let is_real = |overlay: &ThreadOverlay| overlay.is_in_library() || overlay.real.is_some();
        !self.overlay.thread(tid).is_some_and(is_real)
    }

    /// `pthread_cancel(3)` has returned: the other thread is cancelled.
    pub(crate) fn has_cancelled(&mut self, step: &mut Step) {
        if let Some(other) = self.overlay.thread_mut(step.tid).cancels.take()
            && self.overlay.thread(other).is_some()
        {
            self.overlay.thread_mut(other).cancelled = true;
            step.accesses.extend(access::everything());
        }
    }

    /// The position of a thread, as a point that a function returns to.
    fn standing(&self, tid: Tid) -> Return {
        let cpu = &self.world.cpus[&tid];
        Return { address: cpu.rip, stack_pointer: cpu.gpr[RSP] }
    }

    /// Whether a thread is inside the library where that may call a callback.
    pub(crate) fn is_called_back(&self, tid: Tid) -> bool {
        let is_first = |overlay: &ThreadOverlay| match overlay.within {
            Some(within) => {
                within.whole == Whole::Once && overlay.onces.last().is_some_and(|once| once.inside.is_none())
            }
            None => overlay.phase == Phase::Ending,
        };
        self.overlay.thread(tid).is_some_and(is_first)
    }
}
