//! One process, as a debugger sees it where we are: threads, registers, memory, files; and its breakpoints.

use crate::links::resolved;
use crate::past::{Past, Position};
use crate::script::Script;
use crate::travel::{Direction, Journey, Points, Stopped, Why, space_of};
use kernel::process::State;
use kernel::{Pid, Process, Tid};
use memory::{Name, PAGE_SIZE};
use std::collections::BTreeSet;
use std::sync::Arc;
use x86::Cpu;

/// `SIGTRAP`.
pub const TRAP: u8 = 5;

/// Steps of a thread that never moves again are over at the end of time, this often; then there is no more history.
///
/// gdb steps over a breakpoint before it continues, and waits for ever if there is no history for that; a line that is
/// stepped over must end all the same.
const STALLS_MAX: u32 = 1000;

/// A process in its past.
pub struct Target<'p> {
    past: Past<'p>,
    pid: Pid,
    /// What the counterexample says.
    pub script: Script,
    /// What to stop at.
    pub points: Points,
    /// Why time stands still.
    pub stopped: Stopped,
    /// The thread that is shown where no packet names one.
    pub selected: Option<Tid>,
    /// How often threads that never move again were asked to step, one time after the other.
    stalls: u32,
}

impl<'p> Target<'p> {
    /// A process at its last position; nothing if it never had a thread.
    #[must_use]
    pub fn new(past: Past<'p>, pid: Pid, script: Script) -> Option<Self> {
        let (_, last) = past.span(pid)?;
        let stopped = Stopped { tid: None, why: Why::Stepped };
        let mut target = Self { past, pid, script, points: Points::default(), stopped, selected: None, stalls: 0 };
        target.go_to(last);
        Some(target)
    }

    /// The process.
    #[must_use]
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// The past.
    #[must_use]
    pub fn past(&self) -> &Past<'p> {
        &self.past
    }

    /// Where the process can be looked at.
    #[must_use]
    pub fn span(&self) -> (Position, Position) {
        self.past.span(self.pid).unwrap_or_default()
    }

    /// Goes to a position, at which the process must live.
    pub fn go_to(&mut self, position: Position) {
        self.past.go_to(position);
        self.stopped = Stopped { tid: self.event_thread(), why: Why::Stepped };
        // gdb does not notice: the thread that it shows stays the one that it asks for.
        self.selected = self.selected.filter(|tid| self.threads().contains(tid)).or(self.stopped.tid);
    }

    /// Goes to where a step is about to be taken; the first one is 1, as in reports.
    ///
    /// # Errors
    /// In the user's words, if the process does not live there.
    pub fn go_to_step(&mut self, step: usize) -> Result<(), String> {
        let ((first, last), len) = (self.span(), self.past.len());
        if step == 0 || step > len {
            return Err(format!("step {step} does not exist: there are steps 1 to {len}"));
        }
        if step <= first.step || step > last.step + 1 {
            let (name, from, to) = (&self.script.process, first.step + 1, (last.step + 1).min(len));
            return Err(format!("`{name}` does not exist at step {step}: it lives from step {from} to {to}"));
        }
        self.go_to(Position { step: step - 1, tick: 0 });
        Ok(())
    }

    /// Goes on until something happens.
    pub fn travel(&mut self, direction: Direction, single: Option<Tid>, is_interrupted: &mut dyn FnMut() -> bool) {
        let Self { past, pid, points, .. } = self;
        let mut stopped = Journey { past, pid: *pid, points, single, is_interrupted }.go(direction);
        self.stalls = if stopped.why == Why::End && single.is_some() { self.stalls + 1 } else { 0 };
        if (1..STALLS_MAX).contains(&self.stalls) {
            stopped = Stopped { tid: single, why: Why::Stepped };
        }
        // Whoever has ended meanwhile cannot be shown.
        stopped.tid = stopped.tid.filter(|tid| self.threads().contains(tid)).or_else(|| self.event_thread());
        self.selected = stopped.tid;
        self.stopped = stopped;
    }

    /// The thread to show: who moves next, or moved last, or any.
    fn event_thread(&self) -> Option<Tid> {
        let (step, threads) = (self.past.here().step, self.threads());
        let next = self.past.mover(step).map(|(tid, _)| tid);
        let earlier = (0..step).rev().filter_map(|step| self.past.mover(step)).map(|(tid, _)| tid);
        let mut all = next.into_iter().chain(earlier).filter(|tid| threads.contains(tid));
        all.next().or_else(|| threads.first().copied())
    }

    fn process(&self) -> Option<&Process> {
        self.past.world().kernel.processes.get(&self.pid)
    }

    /// The threads, in order.
    #[must_use]
    pub fn threads(&self) -> BTreeSet<Tid> {
        self.process().map(|process| process.threads.clone()).unwrap_or_default()
    }

    /// The registers of a thread.
    #[must_use]
    pub fn registers(&self, tid: Tid) -> Option<&Cpu> {
        self.past.world().cpus.get(&tid).filter(|_| self.threads().contains(&tid))
    }

    /// As many bytes from an address on as can be read.
    #[must_use]
    pub fn memory(&self, address: u64, len: usize) -> Vec<u8> {
        let Some(space) = space_of(&self.past, self.pid) else { return Vec::new() };
        let memory = &self.past.world().memory;
        let mut bytes = Vec::new();
        while bytes.len() < len {
            let Some(at) = address.checked_add(bytes.len() as u64) else { break };
            let piece = ((PAGE_SIZE - at % PAGE_SIZE) as usize).min(len - bytes.len());
            let mut page = vec![0; piece];
            if memory.mapping_at(space, at).is_none() || memory.peek(space, at, &mut page).is_err() {
                break;
            }
            bytes.extend(page);
        }
        bytes
    }

    /// The path of the executable.
    #[must_use]
    pub fn executable(&self) -> Vec<u8> {
        self.process().map(|process| process.image.path.clone()).unwrap_or_default()
    }

    /// The auxiliary vector.
    #[must_use]
    pub fn auxiliary(&self) -> Vec<u8> {
        self.process().map(|process| process.image.auxiliary.clone()).unwrap_or_default()
    }

    /// A file that the process has mapped, as it sees it: others are nobody's business.
    #[must_use]
    pub fn mapped_file(&self, path: &[u8]) -> Option<Arc<[u8]>> {
        let space = space_of(&self.past, self.pid)?;
        let world = self.past.world();
        let host = &*world.kernel.host.0;
        let path = resolved(host, path)?;
        let is_mapped = |name: &Name| matches!(name, Name::Path(mapped) if mapped.as_bytes() == path);
        let mut mappings = world.memory.mappings(space);
        let is_own = mappings.any(|mapping| is_mapped(&mapping.name)) || self.executable() == path;
        is_own.then(|| host.content(&path)).flatten()
    }

    /// The signal to report: the one that ends the process, where it is about to.
    #[must_use]
    pub fn signal(&mut self) -> u8 {
        let (_, last) = self.span();
        if self.past.here() != last || last.step == self.past.len() {
            return TRAP;
        }
        let here = self.past.here();
        self.past.go_to(Position { step: last.step + 1, tick: 0 });
        let state = self.process().map(|process| process.state);
        self.past.go_to(here);
        match state {
            Some(State::Zombie(status)) if status & 0x7f != 0 => (status & 0x7f) as u8,
            _ => TRAP,
        }
    }
}
