//! Allocation as a part of steps: it is local to its thread, but whoever frees a block takes it from all others.

use crate::footprint::access::{self, Kind};
use crate::libc::{Allocation, Buried, Flavour, Function, Heap, Hook, Problem, Whole};
use crate::system::executor::Executor;
use crate::system::state::State;
use crate::system::step::Step;
use crate::system::stepper::Stepper;
use crate::system::view::View;
use explore::graph::Access;
use kernel::Tid;
use kernel::process::limit;
use memory::{Logged, PAGE_SIZE, SpaceId};
use world::refusal::Refusal;
use x86::cpu::{RDI, RDX, RSI};

/// Blocks with more bytes than this are looked at page by page: only what is in use can be noticed.
const LARGE: u64 = 128 << 10;
const EINVAL: u64 = 22;
const ENOMEM: u64 = 12;

/// What a call wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wish {
    /// A block of so many bytes, at a multiple of a number.
    New(u64, u64),
    /// The same, with its address stored.
    Stored(u64, u64, u64),
    /// Another size for a block.
    Resize(u64, u64),
    /// The end of a block.
    Free(u64),
    /// A block's size.
    Size(u64),
    /// This value, at once.
    Value(u64),
    /// Something that only the library itself could tell.
    Unknown,
}

/// What came of it.
struct Granted {
    value: u64,
    buried: Option<Buried>,
    /// It was put where other mappings are.
    is_elsewhere: bool,
}

impl Granted {
    fn value(value: u64) -> Self {
        Self { value, buried: None, is_elsewhere: false }
    }
}

impl Stepper<'_> {
    /// A function that allocates or frees: done at once, and no operation of its own unless others can notice it.
    pub(crate) fn at_allocation(&mut self, step: &mut Step, hook: Hook, asked: Allocation) -> Result<bool, Refusal> {
        let wish = self.state.wish(step.tid, hook, asked);
        let (heap, space) = (self.state.heap(step.tid), self.state.world.space(step.tid));
        let lost = self.state.lost(&heap, wish);
        let is_visible = lost.is_some_and(|range| self.executor.has_promoted(space, range));
        if is_visible && !self.view().may_operate(step) {
            return Ok(false);
        }
        if is_visible {
            self.hear_operation(step.tid, hook);
        }
        if let Some(range) = lost {
            self.note_freed(step, space, range);
        }
        step.is_fresh = false;
        let granted = self.state.grant(&heap, wish);
        self.state.world.memory.forget_log();
        match granted {
            Ok(granted) => {
                self.granted(step, (space, wish), granted);
                Ok(!is_visible || self.operated(step))
            }
            Err(problem) => self.not_granted(step, hook, (wish, problem)),
        }
    }

    fn granted(&mut self, step: &mut Step, (space, wish): (SpaceId, Wish), granted: Granted) {
        let Granted { value, buried, is_elsewhere } = granted;
        if let Some(buried) = buried {
            self.state.overlay.bury(step.tid, buried);
        }
        if is_elsewhere && !self.state.has_private_memory(step.tid) {
            step.accesses.push(access::writes(Kind::Space, space.0));
        }
        if let Wish::Stored(pointer, ..) = wish {
            let _ = self.state.world.memory.write(space, pointer, &value.to_le_bytes());
            self.note_accesses(step);
            return self.state.return_with(step.tid, 0);
        }
        self.state.return_with(step.tid, value);
    }

    /// Freeing a block is writing all of it: whoever uses it at the same time races.
    fn note_freed(&mut self, step: &mut Step, space: SpaceId, (start, length): (u64, u64)) {
        if self.state.is_life(step.tid) || self.state.has_private_memory(step.tid) {
            return;
        }
        let plain = self.state.is_plain(step.tid);
        // What others wrote in front of a block decides whether it can be freed.
        if start.is_multiple_of(16) {
            self.note(step, space, Logged { addr: start - 8, size: 8, write: false }, false);
        }
        if length <= LARGE {
            return self.note_loss(step, space, start..start + length, plain);
        }
        let mut content = vec![0; PAGE_SIZE as usize];
        for page in (start..start + length).step_by(PAGE_SIZE as usize) {
            let size = PAGE_SIZE.min(start + length - page);
            let is_used = self.state.world.memory.peek(space, page, &mut content[..size as usize]).is_ok();
            if is_used && content[..size as usize].iter().any(|byte| *byte != 0) {
                self.note_loss(step, space, page..page + size, plain);
            }
        }
    }

    fn not_granted(&mut self, step: &mut Step, hook: Hook, (wish, problem): (Wish, Problem)) -> Result<bool, Refusal> {
        let name = hook.function.name();
        let refused = |what: String| format!("{name}: {what}, where allocation is summarised (--libc real may help)");
        match problem {
            Problem::Full if matches!(wish, Wish::Stored(..)) => {
                self.state.return_with(step.tid, ENOMEM);
                Ok(true)
            }
            Problem::Full => self.fail_for_real(step, hook),
            Problem::Limit => Err(Refusal::memory(&self.state.world, step.tid)),
            Problem::Occupied => {
                let what = refused("the program has mapped something at its own wish where blocks should be".into());
                Err(self.state.world.refuse(step.tid, what))
            }
            Problem::Unknown => {
                let [first, second] = [RDI, RSI].map(|register| self.state.world.cpus[&step.tid].gpr[register]);
                Err(self.state.world.refuse(step.tid, refused(format!("with {first:#x}, {second:#x}"))))
            }
            Problem::Wrong(what) => {
                let address = self.state.world.cpus[&step.tid].gpr[RDI];
                self.abort(step, hook, format!("{name}({address:#x}): {what}"))
            }
        }
    }

    /// Only the library knows where `errno` is: it is asked for what nobody can give.
    fn fail_for_real(&mut self, step: &mut Step, hook: Hook) -> Result<bool, Refusal> {
        let malloc = self.view().sibling(step.tid, Function::Allocate(Allocation::Malloc));
        let Some(address) = malloc else {
            let what = format!("{} without memory left", hook.function.name());
            return Err(self.state.world.refuse(step.tid, what));
        };
        let cpu = self.state.world.cpus.get_mut(&step.tid).expect("it runs");
        (cpu.rip, cpu.gpr[RDI]) = (address, u64::MAX);
        match self.state.is_quiet(step.tid) {
            true => self.step_past(step),
            false => self.enter_whole(step, Whole::Allocate),
        }
    }

    /// The library ends the program: glibc by `abort(3)`, musl by an instruction that is not allowed.
    fn abort(&mut self, step: &mut Step, hook: Hook, what: String) -> Result<bool, Refusal> {
        self.hear_operation(step.tid, hook);
        let abort = self.view().sibling(step.tid, Function::Abort).filter(|_| hook.flavour == Flavour::Glibc);
        if hook.flavour == Flavour::Glibc && self.workload.options.checks.assert {
            step.assertion = Some(what);
            return Ok(false);
        }
        self.state.world.cpus.get_mut(&step.tid).expect("it runs").rip = abort.unwrap_or(0);
        Ok(true)
    }
}

impl State {
    /// The arena of a thread, and what it may do there.
    fn heap(&self, tid: Tid) -> Heap {
        let space = self.world.space(tid);
        let thread = self.world.kernel.threads.get(&tid);
        let process = thread.and_then(|thread| self.world.kernel.processes.get(&thread.pid));
        let most = process.map_or(u64::MAX, |process| process.limits[limit::SPACE].0);
        let room = match most {
            u64::MAX => u64::MAX,
            most => most.saturating_sub(self.world.memory.mappings(space).map(|mapping| mapping.len).sum()),
        };
        Heap { space, tid, is_alone: self.shares_nothing(space), room }
    }

    fn wish(&self, tid: Tid, hook: Hook, asked: Allocation) -> Wish {
        use Allocation as A;
        const USUAL: u64 = 16;
        let gpr = &self.world.cpus[&tid].gpr;
        let (first, second, third) = (gpr[RDI], gpr[RSI], gpr[RDX]);
        let is_glibc = hook.flavour == Flavour::Glibc;
        match asked {
            A::Malloc => Wish::New(first, USUAL),
            // What does not fit into a number does not fit into memory.
            A::Calloc => Wish::New(first.saturating_mul(second), USUAL),
            A::Realloc if first == 0 => Wish::New(second, USUAL),
            A::Realloc if second == 0 && is_glibc => Wish::Free(first),
            A::Realloc => Wish::Resize(first, second),
            A::Free | A::UsableSize if first == 0 => Wish::Value(0),
            A::Free => Wish::Free(first),
            A::UsableSize => Wish::Size(first),
            A::PosixMemalign if !second.is_power_of_two() || second < 8 => Wish::Value(EINVAL),
            A::PosixMemalign => Wish::Stored(first, third, second.max(USUAL)),
            A::Memalign if is_glibc && first < 1 << 62 => Wish::New(second, first.next_power_of_two().max(USUAL)),
            A::Memalign | A::AlignedAlloc if first.is_power_of_two() && first < 1 << 62 => {
                Wish::New(second, first.max(USUAL))
            }
            A::Valloc => Wish::New(first, PAGE_SIZE),
            A::Pvalloc => Wish::New(first.checked_next_multiple_of(PAGE_SIZE).unwrap_or(u64::MAX), PAGE_SIZE),
            A::Memalign | A::AlignedAlloc | A::Statistics => Wish::Unknown,
        }
    }

    /// The memory that a call takes from everybody.
    fn lost(&self, heap: &Heap, wish: Wish) -> Option<(u64, u64)> {
        let (address, size) = match wish {
            Wish::Free(address) => (address, None),
            Wish::Resize(address, size) => (address, Some(size)),
            _ => return None,
        };
        let memory = &self.world.memory;
        let block = heap.block(memory, address).ok()?;
        Some(heap.given_up(memory, &block, size)).filter(|(_, length)| *length > 0)
    }

    fn grant(&mut self, heap: &Heap, wish: Wish) -> Result<Granted, Problem> {
        let memory = &mut self.world.memory;
        match wish {
            Wish::New(size, align) | Wish::Stored(_, size, align) => {
                let (value, is_elsewhere) = heap.allocate(memory, size, align)?;
                Ok(Granted { value, buried: None, is_elsewhere })
            }
            Wish::Resize(address, size) => {
                let block = heap.block(memory, address)?;
                let (value, buried, is_elsewhere) = heap.resize(memory, &block, size)?;
                Ok(Granted { value, buried, is_elsewhere })
            }
            Wish::Free(address) => {
                let block = heap.block(memory, address)?;
                Ok(Granted { buried: heap.release(memory, &block)?, ..Granted::value(0) })
            }
            Wish::Size(address) => Ok(Granted::value(heap.block(memory, address)?.usable)),
            Wish::Value(value) => Ok(Granted::value(value)),
            Wish::Unknown => Err(Problem::Unknown),
        }
    }

    /// Blocks that others have freed find their way back to their owners along what synchronises them: whoever has freed
    /// leaves them at an object that its step has written, and the owner takes them when it comes there. So when a block
    /// can be used again follows from the order of steps that depend on each other anyway. Called behind every operation:
    /// who is alone does several in one step, and leaves nothing at what it wrote before.
    pub(crate) fn hand_over(&mut self, step: &mut Step) {
        let accesses = &step.accesses[step.handed..];
        step.handed = step.accesses.len();
        if !self.overlay.has_buried() || !self.world.kernel.threads.contains_key(&step.tid) {
            return;
        }
        let heap = self.heap(step.tid);
        let meets = |access: &&Access| access.write && !access.plain || access::kind(access.object) == Kind::Thread;
        for access in accesses.iter().filter(meets) {
            for buried in self.overlay.collect(access.object, heap.space, step.tid) {
                // It is there: it was taken all the time.
                let _ = heap.unearth(&mut self.world.memory, &buried);
            }
        }
        if let Some(first) = accesses.iter().find(|access| access.write && !access.plain) {
            self.overlay.leave(step.tid, first.object);
        }
        self.world.memory.forget_log();
    }
}

impl Executor {
    fn has_promoted(&self, space: SpaceId, (start, length): (u64, u64)) -> bool {
        self.refinement.promoted.range((space, start & !3)..(space, start + length)).next().is_some()
    }
}

impl View<'_> {
    /// Where another function is of the library in which a thread is.
    pub(crate) fn sibling(&self, tid: Tid, function: Function) -> Option<u64> {
        self.executor.hooks.sibling(
            &self.state.world.memory,
            self.state.world.space(tid),
            self.state.world.cpus[&tid].rip,
            function,
        )
    }
}
