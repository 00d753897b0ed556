//! Footprints of memory accesses: those that are visible to other threads or processes.
//!
//! The log of the memory crate has every load and store; this decides which of them another thread
//! could notice. Own stacks are not logged as accesses unless somebody was seen to access them
//! (`expose`), and constant memory never is. What is left out here must be unobservable: it is not
//! re-checked anywhere.

use crate::footprint::access::{self, Kind};
use crate::libc::{Operation, Whole};
use crate::options::Depth;
use crate::system::overlay::{Phase, ThreadOverlay};
use crate::system::state::State;
use crate::system::step::Step;
use crate::system::stepper::Stepper;
use crate::system::syscalls::CONTROL_BLOCK;
use crate::system::view::View;
use explore::graph::Access;
use kernel::Tid;
use memory::{Logged, Name, Protection, Sharing, SpaceId};
use std::ops::Range;
use x86::cpu::{R8, R11, RAX, RSP};

/// Bytes below the stack pointer that a function may use without moving it.
const RED_ZONE: u64 = 128;

/// Whether accesses of a thread are visible.
///
/// Decided once for each batch of logged accesses: it depends on threads and mappings, not on
/// addresses.
#[derive(Clone, Copy)]
enum Visibility {
    /// No other thread can reach the memory.
    Local,
    /// Only to programs that access the same words of the library themselves.
    IfUsedOutside,
    Visible,
}

/// The content below the stack pointer after a step.
static ZEROS: [u8; 4096] = [0; 4096];

/// How far the first stack of a process grows.
const STACK_MAX: u64 = 8 << 20;

impl Stepper<'_> {
    /// Adds logged accesses to the footprint: those to memory that another thread or process can access.
    pub(crate) fn note_accesses(&mut self, step: &mut Step) {
        let mut log = std::mem::take(&mut self.executor.log);
        self.state.world.memory.take_log_into(&mut log);
        self.executor.show_log(&log);
        if !log.is_empty() && self.state.world.kernel.threads.contains_key(&step.tid) {
            self.note_handlers(step.tid, &log);
            self.note_logged(step, &log);
        }
        self.note_jumps(step.tid);
        self.executor.log = log;
    }

    /// Words of four bytes are the unit; a word that is accessed byte by byte is refined to bytes
    /// (`is_bytewise`), because two threads that use neighbouring bytes do not conflict.
    pub(crate) fn note_logged(&mut self, step: &mut Step, log: &[Logged]) {
        let space = self.state.world.space(step.tid);
        let overlay = self.state.overlay.thread(step.tid);
        let stack = overlay.and_then(|overlay| overlay.stack).unwrap_or_default();
        let plain = self.state.is_plain(step.tid);
        let is_stdio = overlay.and_then(|overlay| overlay.within).is_some_and(|within| within.whole == Whole::Stdio);
        let is_exposed = self.executor.refinement.exposed.contains(&step.tid);
        let has_remapped = self.executor.refinement.has_remapped();
        // Computed on demand: most accesses are to the thread's own stack.
        let mut visibility = None;
        self.executor.recent.begin();
        for &logged in log {
            let is_own = (stack.0..stack.1).contains(&logged.addr);
            if is_own && logged.write {
                step.lowest = step.lowest.min(logged.addr);
                step.clean_below = step.clean_below.min(logged.addr);
            }
            if is_own && !is_exposed && !has_remapped || !self.executor.recent.insert(logged) {
                continue;
            }
            let visibility = *visibility.get_or_insert_with(|| self.state.visibility(step.tid));
            if matches!(visibility, Visibility::Visible) {
                self.executor.note_mapping(step, space, logged.addr, logged.size);
            }
            if is_own && !is_exposed {
                continue;
            }
            match visibility {
                Visibility::Local => {}
                Visibility::IfUsedOutside => self.note_life(step, space, logged),
                Visibility::Visible if is_stdio => self.note_stdio(step, space, logged),
                Visibility::Visible => self.note(step, space, logged, plain),
            }
        }
    }

    /// Records an access that creates or ends a thread, if programs access the same word.
    fn note_life(&mut self, step: &mut Step, space: SpaceId, logged: Logged) {
        let end = logged.addr + u64::from(logged.size.max(1));
        for start in (logged.addr & !3..end).step_by(4) {
            let word = access::word(&self.state.world.memory, space, start, false, Kind::Word).object;
            if self.executor.refinement.is_used_outside(word) {
                let (addr, size) = (logged.addr.max(start), end.min(start + 4) - logged.addr.max(start));
                self.note(step, space, Logged { addr, size: size as u32, write: logged.write }, false);
            }
        }
    }

    /// Records an access of a stdio function. To the program's own data it is plain. If those race, the function is not
    /// one step.
    fn note_stdio(&mut self, step: &mut Step, space: SpaceId, logged: Logged) {
        let end = logged.addr + u64::from(logged.size.max(1));
        let mut plain = false;
        for start in (logged.addr & !3..end).step_by(4) {
            let word = access::word(&self.state.world.memory, space, start, false, Kind::Word).object;
            plain |= self.executor.refinement.is_used_outside(word);
        }
        if plain && self.executor.refinement.is_visible(space, logged.addr, logged.size) {
            self.executor.refinement.split_stdio();
        }
        self.note(step, space, logged, plain);
    }

    /// The same for accesses that are not plain: those of the kernel in a syscall, and of instructions with `lock`.
    pub(crate) fn note_kernel(&mut self, step: &mut Step) {
        let first = step.accesses.len();
        self.note_accesses(step);
        step.accesses[first..].iter_mut().for_each(|access| access.plain = false);
    }

    /// Records the end of a block of memory: a write that conflicts with all accesses to it. It does not refine how the
    /// words are accessed, since the next owner of the memory may access them otherwise.
    ///
    /// `free(3)` and the end of a stack: whoever still uses the block conflicts with this,
    /// whichever comes first. So use after free is found as a race.
    pub(crate) fn note_loss(&mut self, step: &mut Step, space: SpaceId, range: Range<u64>, plain: bool) {
        if !self.state.is_shared(space, range.start) {
            return;
        }
        self.note_write(space, range.clone());
        for start in (range.start & !3..range.end).step_by(4) {
            let word = access::word(&self.state.world.memory, space, start, false, Kind::Word).object;
            let (is_word, is_bytes) = self.executor.refinement.uses(word);
            if is_word {
                self.note_part(step, (space, start), (word, true, plain));
            }
            for address in (start..start + 4).filter(|_| is_bytes) {
                let byte = access::object(Kind::Byte, word, address & 3);
                self.note_part(step, (space, address), (byte, true, plain));
            }
        }
    }

    /// Records accesses of a function to the words of its lock.
    pub(crate) fn note_lock(&mut self, step: &mut Step, operation: &Operation) {
        if self.workload.options.holes.locks {
            return;
        }
        let lock = operation.lock(self.state.seen());
        for (addr, write) in operation.words(self.state.seen()) {
            self.note_access(step, operation.space, Logged { addr, size: operation.word_size(), write }, false);
            if let Some(lock) = lock {
                let word = access::word(&self.state.world.memory, operation.space, addr, false, Kind::Word).object;
                self.executor.refinement.lock_words.insert(word, lock);
            }
        }
    }

    /// Records that a step has looked at the words of a lock, and stops because it is not free.
    pub(crate) fn note_look(&mut self, step: &mut Step, operation: &Operation) {
        for (addr, _) in operation.words(self.state.seen()) {
            self.note_access(step, operation.space, Logged { addr, size: operation.word_size(), write: false }, false);
        }
    }

    /// A write that is no lock operation, to a word of a held lock, breaks the lock.
    ///
    /// Decision 14, "locks in memory": `memset(3)` over a held mutex breaks the assumption that
    /// only its holder gives it back.
    fn note_write(&mut self, space: SpaceId, range: Range<u64>) {
        if self.executor.refinement.lock_words.is_empty() {
            return;
        }
        for start in (range.start & !3..range.end).step_by(4) {
            let word = access::word(&self.state.world.memory, space, start, false, Kind::Word).object;
            if let Some(lock) = self.executor.refinement.lock_words.get(&word).copied()
                && self.state.overlay.holder(lock).is_some()
            {
                self.executor.refinement.break_lock(lock);
            }
        }
    }

    /// Records an access that is no lock operation.
    pub(crate) fn note(&mut self, step: &mut Step, space: SpaceId, logged: Logged, plain: bool) {
        if logged.write {
            self.note_write(space, logged.addr..logged.addr + u64::from(logged.size.max(1)));
        }
        self.note_access(step, space, logged, plain);
    }

    /// Records an access, if the memory is shared.
    fn note_access(&mut self, step: &mut Step, space: SpaceId, logged: Logged, plain: bool) {
        if !self.state.is_shared(space, logged.addr) {
            return;
        }
        self.expose(step.tid, space, logged.addr);
        let end = logged.addr + u64::from(logged.size.max(1));
        for start in (logged.addr & !3..end).step_by(4) {
            let range = logged.addr.max(start)..end.min(start + 4);
            let word = access::word(&self.state.world.memory, space, start, false, Kind::Word).object;
            if plain {
                self.executor.refinement.use_outside(word);
            }
            if logged.write {
                self.executor.refinement.note_store(word, step.tid);
            }
            match self.executor.refinement.is_bytewise(word, range.end - range.start < 4) {
                false => self.note_part(step, (space, start), (word, logged.write, plain)),
                true => range.for_each(|address| {
                    let byte = access::object(Kind::Byte, word, address & 3);
                    self.note_part(step, (space, address), (byte, logged.write, plain));
                }),
            }
        }
    }

    fn note_part(&mut self, step: &mut Step, place: (SpaceId, u64), (object, write, plain): (u64, bool, bool)) {
        if self.executor.refinement.matters(object, write) {
            self.place_word(object, place);
            // A step between two breakpoints may lock and unlock: what it accesses inside is no race.
            step.accesses.push(Access { object, write, plain: plain && !self.workload.options.only_breaks });
        }
    }

    /// Records an address of an object. A shared word may have several.
    pub(crate) fn place_word(&mut self, object: u64, place: (SpaceId, u64)) {
        let places = self.executor.words.entry(object).or_default();
        if !places.contains(&place) {
            let is_promoted = places.iter().any(|place| self.executor.refinement.is_promoted(*place));
            places.push(place);
            // Whoever looks behind the end of a program may find half of what it has written, where that outlives it.
            let outlives = self.workload.faults.may_stop_programs() && self.state.is_in_shared_mapping(place);
            self.executor.refinement.promote((is_promoted || self.workload.options.fine || outlives).then_some(place));
        }
    }

    /// Records an access to the stack of another thread: accesses of its owner are visible from now on.
    ///
    /// A pointer to a local variable that another thread follows: from then on, by refinement,
    /// accesses of the owner to its stack count as well.
    fn expose(&mut self, tid: Tid, space: SpaceId, address: u64) {
        if let Some(owner) = self.state.overlay.stack_of(address, tid)
            && self.state.world.kernel.threads.contains_key(&owner)
            && self.state.world.space(owner) == space
        {
            self.executor.refinement.expose(owner);
        }
    }

    /// Finds the stack of a thread, at its first step. For a thread that no library has created its bounds are unknown:
    /// it may lie anywhere in shared memory.
    pub(crate) fn place_stack(&mut self, tid: Tid) {
        let overlay = self.state.overlay.thread(tid);
        let knows = overlay.is_some_and(|overlay| overlay.stack.is_some());
        let is_made = overlay.is_some_and(|overlay| overlay.phase == Phase::Starting);
        if knows || !self.state.is_first(tid) && (self.workload.options.depth == Depth::Real || !is_made) {
            return;
        }
        let (space, pointer) = (self.state.world.space(tid), self.state.world.cpus[&tid].gpr[RSP]);
        let Some(mapping) = self.state.world.memory.mapping_at(space, pointer) else { return };
        let end = mapping.start + mapping.len;
        let range = match mapping.name {
            Name::Stack => (end.saturating_sub(STACK_MAX), end),
            _ => (mapping.start, end.min(self.state.world.cpus[&tid].fs_base.saturating_add(CONTROL_BLOCK))),
        };
        if self.state.is_first(tid) == (mapping.name == Name::Stack) {
            self.state.overlay.thread_mut(tid).stack = Some(range);
        }
    }

    /// Zeroes the dead part of the stack, so that states that differ only there have the same fingerprint.
    ///
    /// Done wherever a step could end, even if it continues because no other actor exists: the content that the next
    /// function finds must not depend on that. A racing word is no such place in the prefix: what that leads to must not
    /// depend on the refinement.
    ///
    /// What lies below the stack pointer and its red zone (System V ABI, 128 bytes) is garbage of
    /// returned functions. It would make nearly all states different.
    pub(crate) fn clear_dead_stack(&mut self, step: &mut Step) {
        let Some(stack) = self.state.overlay.thread(step.tid).and_then(|overlay| overlay.stack) else { return };
        let end = self.state.dead_end(step.tid);
        if !(stack.0..stack.1).contains(&end) {
            return;
        }
        self.note_accesses(step);
        if (stack.0..end).contains(&step.clean_below) {
            let space = self.state.world.space(step.tid);
            for start in (step.clean_below..end).step_by(ZEROS.len()) {
                let zeros = &ZEROS[..ZEROS.len().min((end - start) as usize)];
                let _ = self.state.world.memory.write(space, start, zeros);
            }
            self.state.world.memory.forget_log();
        }
        step.clean_below = end;
    }

    /// Zeroes what is dead where the closure of a Rust thread begins: the red zone, and registers beyond those of its
    /// arguments (a place for the result, and two words). What the library does before may depend on who comes first, and
    /// so may what it leaves there.
    pub(crate) fn clear_leftovers(&mut self, step: &mut Step) {
        self.note_accesses(step);
        let (space, start) = (self.state.world.space(step.tid), self.state.dead_end(step.tid));
        let _ = self.state.world.memory.write(space, start, &ZEROS[..RED_ZONE as usize]);
        self.state.world.memory.forget_log();
        let cpu = self.state.world.cpus.get_mut(&step.tid).expect("it runs");
        cpu.gpr[RAX] = 0;
        cpu.gpr[R8..=R11].fill(0);
    }

    /// Creates the overlay of threads that a step created, and removes that of threads it ended.
    pub(crate) fn follow_births(&mut self, by: Tid, space: SpaceId) {
        // Most steps create and end no thread.
        let is_same = self.state.overlay.tids().eq(self.state.world.kernel.threads.keys().copied());
        if !is_same && self.state.enter_and_forget(by, space) {
            self.executor.look_for_schedulers(&self.state.world.memory, space);
        }
        let memory = &self.state.world.memory;
        self.state.overlay.forget_spaces(|space| memory.space_exists(space));
        if self.state.world.kernel.threads.contains_key(&by) && self.state.world.space(by) != space {
            *self.state.overlay.thread_mut(by) =
                ThreadOverlay { phase: self.first_phase(by), ..ThreadOverlay::default() };
        }
    }

    /// The first phase of a program that was just loaded.
    pub(crate) fn first_phase(&mut self, tid: Tid) -> Phase {
        let space = self.state.world.space(tid);
        let is_known = self.workload.options.depth == Depth::Summary && self.knows_library(space);
        if is_known { Phase::Starting } else { Phase::Running }
    }

    /// Whether a program reaches `main` through a recognised library: its interpreter will map one, or it has one.
    fn knows_library(&mut self, space: SpaceId) -> bool {
        if self.executor.hooks.look(&self.state.world.memory, space) {
            self.executor.refresh_stops();
        }
        self.executor.hooks.begins(&self.state.world.memory, space)
    }
}

impl State {
    /// Whether accesses of a thread to memory are visible.
    fn visibility(&self, tid: Tid) -> Visibility {
        match () {
            () if self.has_private_memory(tid) => Visibility::Local,
            () if self.is_life(tid) => Visibility::IfUsedOutside,
            () => Visibility::Visible,
        }
    }

    /// Whether an address is in a shared mapping, or is writable in a space that several threads use.
    fn is_shared(&self, space: SpaceId, address: u64) -> bool {
        let Some(mapping) = self.world.memory.mapping_at(space, address) else { return false };
        let is_writable = mapping.protection.contains(Protection::WRITE);
        mapping.sharing == Sharing::Shared || is_writable && !self.shares_nothing(space)
    }

    /// Whether an address is in a shared mapping.
    fn is_in_shared_mapping(&self, (space, address): (SpaceId, u64)) -> bool {
        self.world.memory.mapping_at(space, address).is_some_and(|mapping| mapping.sharing == Sharing::Shared)
    }

    /// A word of memory and its bytes, as objects: a wait for a word ends with a write of any part of it.
    pub(crate) fn parts_of(&self, space: SpaceId, address: u64) -> impl Iterator<Item = u64> + use<> {
        let word = access::word(&self.world.memory, space, address, false, Kind::Word).object;
        std::iter::once(word).chain((0..4).map(move |byte| access::object(Kind::Byte, word, byte)))
    }

    /// Whether no other thread or process shares memory with a thread.
    pub(crate) fn has_private_memory(&self, tid: Tid) -> bool {
        let space = self.world.space(tid);
        let is_shared = |mapping: &memory::Mapping| mapping.sharing == Sharing::Shared;
        self.shares_nothing(space) && !self.world.memory.mappings(space).any(is_shared)
    }

    /// Whether an address space has one thread, and no thread ended there without being joined.
    pub(crate) fn shares_nothing(&self, space: SpaceId) -> bool {
        let users = self.world.kernel.processes.values().filter(|process| process.space == space);
        users.map(|process| process.threads.len()).sum::<usize>() <= 1 && !self.overlay.has_unjoined(space)
    }

    /// Whether a thread is the first one of its process.
    pub(crate) fn is_first(&self, tid: Tid) -> bool {
        self.world.kernel.threads.get(&tid).is_some_and(|thread| thread.pid.0 == tid.0)
    }

    /// Where the dead part of a thread's stack ends: below the red zone.
    pub(crate) fn dead_end(&self, tid: Tid) -> u64 {
        self.world.cpus.get(&tid).map_or(0, |cpu| cpu.gpr[RSP].saturating_sub(RED_ZONE))
    }

    /// Whether a process has got another thread.
    fn enter_and_forget(&mut self, by: Tid, space: SpaceId) -> bool {
        let overlays: Vec<Tid> = self.overlay.tids().collect();
        for tid in overlays.into_iter().filter(|tid| !self.world.kernel.threads.contains_key(tid)) {
            self.overlay.forget(tid);
            if tid == by {
                self.overlay.end_unjoined(space);
            }
        }
        let tids = self.world.kernel.threads.keys().copied();
        let new: Vec<Tid> = tids.filter(|tid| !self.overlay.knows(*tid)).collect();
        for tid in &new {
            *self.overlay.thread_mut(*tid) = self.born(by, *tid);
        }
        self.overlay.end_prefix();
        new.iter().any(|tid| !self.is_first(*tid))
    }

    /// The overlay of a new thread: it begins in the library if that created it, and where its parent is after
    /// `fork(2)`.
    fn born(&self, by: Tid, tid: Tid) -> ThreadOverlay {
        let mut parent = self.overlay.thread(by).cloned().unwrap_or_default();
        let is_made = parent.within.is_some_and(|within| within.whole == Whole::Create);
        if self.is_first(tid) {
            parent.copies.push(by);
            return ThreadOverlay {
                asleep: None,
                holds: Vec::new(),
                shares: Vec::new(),
                partial: None,
                buried: Vec::new(),
                cancelled: false,
                cancels: None,
                creator: Some(by),
                ..parent
            };
        }
        let phase = if is_made { Phase::Starting } else { Phase::Running };
        ThreadOverlay { phase, creator: Some(by), ..ThreadOverlay::default() }
    }
}

impl View<'_> {
    /// Whether the caller's objects may be shared with steps that are not ordered with it by happens-before: those of
    /// threads that ended without being joined, or of a process that sets limits.
    pub(crate) fn was_shared(&self, tid: Tid) -> bool {
        self.executor.refinement.sets_limits || self.state.overlay.has_unjoined(self.state.world.space(tid))
    }
}
