//! Allocation as a part of steps: allocating is local, freeing a block writes all of it.
//!
//! Why it is summarised: a real allocator's free lists are shared by all threads, so any two calls
//! would conflict, and an address would depend on the order of unrelated allocations. Here each
//! thread has an arena of its own, addresses depend only on what that thread did, and blocks freed
//! by others come back along happens-before (`State::hand_over`).

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

/// Blocks with more bytes than this are recorded page by page: only pages with content.
const LARGE: u64 = 128 << 10;
const EINVAL: u64 = 22;
const ENOMEM: u64 = 12;

/// A request to the allocator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Request {
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
    /// A request that is not summarised.
    Unknown,
}

/// The result of a request.
struct Granted {
    value: u64,
    buried: Option<Buried>,
    /// The block was placed outside of the arena, among other mappings.
    is_elsewhere: bool,
}

impl Granted {
    fn value(value: u64) -> Self {
        Self { value, buried: None, is_elsewhere: false }
    }
}

impl Stepper<'_> {
    /// Performs a function that allocates or frees. It is visible only if it frees a racing word.
    pub(crate) fn at_allocation(&mut self, step: &mut Step, hook: Hook, asked: Allocation) -> Result<bool, Refusal> {
        let request = self.state.request(step.tid, hook, asked);
        let (heap, space) = (self.state.heap(step.tid), self.state.world.space(step.tid));
        let lost = self.state.lost(&heap, request);
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
        let granted = self.state.grant(&heap, request);
        self.state.world.memory.forget_log();
        match granted {
            Ok(granted) => {
                self.granted(step, (space, request), granted);
                Ok(!is_visible || self.operated(step))
            }
            Err(problem) => self.not_granted(step, hook, (request, problem)),
        }
    }

    fn granted(&mut self, step: &mut Step, (space, request): (SpaceId, Request), granted: Granted) {
        let Granted { value, buried, is_elsewhere } = granted;
        if let Some(buried) = buried {
            self.state.overlay.bury(step.tid, buried);
        }
        if is_elsewhere && !self.state.has_private_memory(step.tid) {
            step.accesses.push(access::writes(Kind::Space, space.0));
        }
        if let Request::Stored(pointer, ..) = request {
            let _ = self.state.world.memory.write(space, pointer, &value.to_le_bytes());
            self.note_accesses(step);
            return self.state.return_with(step.tid, 0);
        }
        self.state.return_with(step.tid, value);
    }

    /// Freeing a block writes all of it: a concurrent access is a race.
    fn note_freed(&mut self, step: &mut Step, space: SpaceId, (start, length): (u64, u64)) {
        if self.state.is_life(step.tid) || self.state.has_private_memory(step.tid) {
            return;
        }
        let plain = self.state.is_plain(step.tid);
        // The size in front of a block decides whether it can be freed, and other threads may have overwritten it.
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

    fn not_granted(
        &mut self,
        step: &mut Step,
        hook: Hook,
        (request, problem): (Request, Problem),
    ) -> Result<bool, Refusal> {
        let name = hook.function.name();
        let refused = |what: String| format!("{name}: {what}, where allocation is summarised (--libc real may help)");
        match problem {
            Problem::Full if matches!(request, Request::Stored(..)) => {
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

    /// Only the library can set `errno`: its own `malloc(3)` is called with a size that always fails.
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

    /// The library ends the program: glibc by `abort(3)`, musl by an illegal instruction.
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

    fn request(&self, tid: Tid, hook: Hook, asked: Allocation) -> Request {
        use Allocation as A;
        const USUAL: u64 = 16;
        let gpr = &self.world.cpus[&tid].gpr;
        let (first, second, third) = (gpr[RDI], gpr[RSI], gpr[RDX]);
        let is_glibc = hook.flavour == Flavour::Glibc;
        match asked {
            A::Malloc => Request::New(first, USUAL),
            // A product that overflows cannot be allocated.
            A::Calloc => Request::New(first.saturating_mul(second), USUAL),
            A::Realloc if first == 0 => Request::New(second, USUAL),
            A::Realloc if second == 0 && is_glibc => Request::Free(first),
            A::Realloc => Request::Resize(first, second),
            A::Free | A::UsableSize if first == 0 => Request::Value(0),
            A::Free => Request::Free(first),
            A::UsableSize => Request::Size(first),
            A::PosixMemalign if !second.is_power_of_two() || second < 8 => Request::Value(EINVAL),
            A::PosixMemalign => Request::Stored(first, third, second.max(USUAL)),
            A::Memalign if is_glibc && first < 1 << 62 => Request::New(second, first.next_power_of_two().max(USUAL)),
            A::Memalign | A::AlignedAlloc if first.is_power_of_two() && first < 1 << 62 => {
                Request::New(second, first.max(USUAL))
            }
            A::Valloc => Request::New(first, PAGE_SIZE),
            A::Pvalloc => Request::New(first.checked_next_multiple_of(PAGE_SIZE).unwrap_or(u64::MAX), PAGE_SIZE),
            A::Memalign | A::AlignedAlloc | A::Statistics => Request::Unknown,
        }
    }

    /// The memory that a request frees.
    fn lost(&self, heap: &Heap, request: Request) -> Option<(u64, u64)> {
        let (address, size) = match request {
            Request::Free(address) => (address, None),
            Request::Resize(address, size) => (address, Some(size)),
            _ => return None,
        };
        let memory = &self.world.memory;
        let block = heap.block(memory, address).ok()?;
        Some(heap.given_up(memory, &block, size)).filter(|(_, length)| *length > 0)
    }

    fn grant(&mut self, heap: &Heap, request: Request) -> Result<Granted, Problem> {
        let memory = &mut self.world.memory;
        match request {
            Request::New(size, align) | Request::Stored(_, size, align) => {
                let (value, is_elsewhere) = heap.allocate(memory, size, align)?;
                Ok(Granted { value, buried: None, is_elsewhere })
            }
            Request::Resize(address, size) => {
                let block = heap.block(memory, address)?;
                let (value, buried, is_elsewhere) = heap.resize(memory, &block, size)?;
                Ok(Granted { value, buried, is_elsewhere })
            }
            Request::Free(address) => {
                let block = heap.block(memory, address)?;
                Ok(Granted { buried: heap.release(memory, &block)?, ..Granted::value(0) })
            }
            Request::Size(address) => Ok(Granted::value(heap.block(memory, address)?.usable)),
            Request::Value(value) => Ok(Granted::value(value)),
            Request::Unknown => Err(Problem::Unknown),
        }
    }

    /// Hands freed blocks over to their owners along happens-before. A thread that has freed blocks of others leaves
    /// them at an object that its step writes, and the owner reclaims them when its step accesses that object. So the
    /// order of dependent steps alone decides when a block can be reused. Called after every operation: a step may have
    /// several where no other actor exists, and leaves nothing at objects that it wrote before the free.
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
                // It cannot fail: the block stayed allocated until now.
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
    /// The address of another function of the library that a thread is in.
    pub(crate) fn sibling(&self, tid: Tid, function: Function) -> Option<u64> {
        self.executor.hooks.sibling(
            &self.state.world.memory,
            self.state.world.space(tid),
            self.state.world.cpus[&tid].rip,
            function,
        )
    }
}
