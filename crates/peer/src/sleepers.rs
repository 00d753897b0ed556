//! Threads of a peer that wait for nothing but time, and where.
//!
//! A peer that sleeps between a question and its answer has not answered yet. One that sleeps where it did when it first came to
//! rest goes about its own business: its housekeeping answers nobody.

use kernel::wait::{Condition, Wait};
use kernel::{Kernel, Tid};
use std::collections::BTreeSet;
use world::World;
use x86::cpu::RSP;

/// Where a thread sleeps: its stack pointer and its program counter.
pub(crate) type Sleep = (u64, u64);

/// Whether a thread waits for nothing but time.
pub(crate) fn is_asleep(kernel: &Kernel) -> bool {
    kernel.threads.values().any(|thread| thread.wait.as_ref().is_some_and(is_sleep))
}

fn is_sleep(wait: &Wait) -> bool {
    wait.until.is_empty() && wait.deadline.is_some()
}

/// Whether it also is a wait for another thread that ends by itself: a lock, a condition variable.
fn is_timed(wait: &Wait) -> bool {
    let is_for_threads = wait.until.iter().all(|condition| matches!(condition, Condition::Woken(_)));
    is_for_threads && wait.deadline.is_some()
}

/// Where the threads of a world wait until a time, and for no input.
pub(crate) fn sites(world: &World) -> BTreeSet<Sleep> {
    let waits = |tid: &Tid| world.kernel.threads.get(tid).and_then(|thread| thread.wait.as_ref());
    let sleepers = world.cpus.iter().filter(|(tid, _)| waits(tid).is_some_and(is_timed));
    sleepers.map(|(_, cpu)| (cpu.gpr[RSP], cpu.rip)).collect()
}
