//! How a call goes through the kernel: found in the table, attempted, and redone when its wait is over.
//!
//! **Invariant:** a function that ends with `Stop::Wait` can be called again with the same arguments. What it has done already is
//! in the wait (`progress`, a deadline) or in the state, and the redone call takes it from there: nothing is done twice.
//! **Invariant:** a thread with a wait is in exactly one call; the two come and go together.
//! **Invariant:** what a waiting call was given stays open until it has ended (`Wait::held`), and is what it is redone with.
//! **Invariant:** a call that is unsupported ends the run, so what it has changed before does not matter.
//!
//! An example of a wait, `read(2)` from an empty pipe:
//!
//! ```text
//! call(read)   -> Stop::Wait(until Poll(description, POLLIN | POLLHUP))   thread.wait, thread.call are set
//! ...             another thread writes: the condition holds, nothing is woken, nobody is called back
//! redo(read)   -> the same function with the same arguments, `resumed` = the old wait -> Returned(n)
//! ```
//!
//! The alternative, a queue of callbacks as in Linux's `wait_queue_head`, could neither be cloned
//! nor hashed. The price is that a condition is evaluated whenever somebody asks who can move, so
//! each is O(1) or close to it.

use super::Kernel;
use crate::call::{Call, Control, Deviation, Outcome, Stop};
use crate::descriptor::Fd;
use crate::files::disk;
use crate::id::{Id, Pid, Tid};
use crate::table::{Argument, Row};
use crate::wait::Wait;
use crate::{short_transfer, signal, table};
use memory::Memory;

/// `close(2)`: the descriptor is closed whatever it returns.
const CLOSE: u64 = 3;

impl Kernel {
    /// Carries out a syscall of a thread.
    pub fn call(&mut self, memory: &mut Memory, tid: Tid, number: u64, args: [u64; 6]) -> Outcome {
        self.call_as(memory, tid, (number, args), Deviation::default())
    }

    /// Carries out a syscall of a thread, differently than usual.
    ///
    /// # Panics If `tid` is no thread of this kernel, or waits already: both are mistakes of the
    /// caller, never of the guest.
    pub fn call_as(&mut self, memory: &mut Memory, tid: Tid, call: (u64, [u64; 6]), deviation: Deviation) -> Outcome {
        self.attempt(memory, tid, call, deviation, None)
    }

    /// Carries out again the call that a thread waits in.
    pub fn redo(&mut self, memory: &mut Memory, tid: Tid) -> Outcome {
        self.redo_as(memory, tid, Deviation::default())
    }

    /// Carries out again the call that a thread waits in, differently than usual.
    pub fn redo_as(&mut self, memory: &mut Memory, tid: Tid, deviation: Deviation) -> Outcome {
        let now = self.clock.now();
        let thread = self.threads.get_mut(&tid).expect("a waiting thread exists");
        let call = thread.call.expect("a waiting thread is in a call");
        let resumed = thread.stop_waiting(now);
        assert!(resumed.is_some(), "a thread whose call is redone has waited in it");
        self.attempt(memory, tid, call, deviation, resumed)
    }

    /// Carries out for the last time the call that a thread waits in: a signal handler ends the wait, and the call says with
    /// what result ([`Interruption::Finish`](crate::wait::Interruption::Finish)).
    ///
    /// # Panics
    /// If the call waits on: one that asks for this does not.
    pub fn finish(&mut self, memory: &mut Memory, tid: Tid) -> u64 {
        let now = self.clock.now();
        let thread = self.threads.get_mut(&tid).expect("a waiting thread exists");
        let call = thread.call.expect("a waiting thread is in a call");
        let wait = thread.stop_waiting(now).expect("a thread whose call is finished has waited in it");
        // The handler's frame keeps the mask of the call's beginning: it is restored when the handler returns.
        let mask = thread.saved_mask.take();
        let outcome = self.attempt(memory, tid, call, Deviation::default(), Some(Wait { interrupted: true, ..wait }));
        self.threads.get_mut(&tid).expect("it is in no call that ends it").saved_mask = mask;
        match outcome {
            Outcome::Returned(result) => result,
            other => panic!("an interrupted call returns: {other:?}"),
        }
    }

    /// One level of `match` turns what a function returned into what the world does; this is the
    /// only place where `Stop` is taken apart.
    fn attempt(
        &mut self,
        memory: &mut Memory,
        tid: Tid,
        (number, args): (u64, [u64; 6]),
        deviation: Deviation,
        resumed: Option<Wait>,
    ) -> Outcome {
        let Some(row) = table::row(number) else {
            return Outcome::Unsupported(format!("syscall {number}"));
        };
        if let Some(errno) = deviation.error {
            assert!(resumed.is_none(), "a call that waits has begun: it is too late to fail it");
            if number == CLOSE {
                self.attempt(memory, tid, (number, args), Deviation::default(), None);
            }
            return Outcome::Returned(errno.result());
        }
        let pid = self.threads.get(&tid).expect("a caller is a thread").pid;
        // The wait keeps the arguments as the guest gave them: whether a read is short is chosen anew each time.
        let mut asked = args;
        if let Some(most) = deviation.most.filter(|_| short_transfer::is_transfer(number, &args)) {
            asked[2] = asked[2].min(most);
        }
        let mut call =
            Call { kernel: self, memory, tid, pid, number, args: asked, resumed, datagram: deviation.datagram };
        disk::begin_call(call.kernel, number);
        let result = (row.function)(&mut call);
        let resumed = call.resumed;
        disk::end_call(self);
        let outcome = match result {
            Ok(value) => Outcome::Returned(value),
            Err(Stop::Errno(errno)) => Outcome::Returned(errno.result()),
            Err(Stop::Control(control)) => return self.control(tid, number, args, control),
            Err(Stop::Unsupported(what)) => Outcome::Unsupported(format!("{}: {what}", row.name)),
            Err(Stop::Wait(wait)) => {
                let first = || self.named(pid, row, &args).chain(wait.held.clone()).collect();
                let held = resumed.map_or_else(first, |before| before.held);
                self.wait(tid, wait.holding(held), number, args);
                return Outcome::Waiting;
            }
        };
        if let Some(wait) = resumed {
            self.let_go(memory, &wait);
        }
        // Masks that hold only during a call (`pselect(2)`) end with it, and not with a wait.
        signal::restore_mask(self, tid);
        outcome
    }

    /// The descriptors among the arguments of a call, and what they refer to.
    fn named(&self, pid: Pid, row: &Row, args: &[u64; 6]) -> impl Iterator<Item = (Fd, Id)> {
        let fds = row.arguments.iter().zip(args).filter(|(kind, _)| matches!(kind, Argument::Fd | Argument::Dir));
        let descriptors = self.processes.get(&pid).map(|process| &process.descriptors);
        let refer = move |fd| Some((fd, descriptors?.get(fd).ok()?.description));
        fds.map(|(_, value)| *value as Fd).filter_map(refer)
    }

    /// A caller of `vfork(2)` waits from the very moment that its child exists.
    fn control(&mut self, tid: Tid, number: u64, args: [u64; 6], control: Control) -> Outcome {
        if let Control::Spawned { wait: Some(wait), .. } = &control {
            self.wait(tid, Wait::clone(wait), number, args);
        }
        Outcome::Control(control)
    }

    /// Makes a thread wait in a call.
    pub fn wait(&mut self, tid: Tid, wait: Wait, number: u64, args: [u64; 6]) {
        let thread = self.threads.get_mut(&tid).expect("a caller is a thread");
        assert!(thread.wait.is_none(), "a thread waits in one call at a time");
        thread.wait = Some(wait);
        thread.call = Some((number, args));
        thread.processor.waits_since = self.clock.now();
    }
}
