//! Futexes: threads that wait for a word of memory, in order of arrival (`futex(2)`).
//!
//! A waiter stays in its queue until somebody wakes it by name, its time is up, or a signal interrupts it; so a wait is
//! over exactly when [`crate::Wait::woken`] is set or its deadline has passed.
//!
//! **Wait and wake are one step each.** The comparison of the word and the queueing cannot be
//! separated by a wake of another thread, which is what `futex(2)` promises ("this load, the
//! comparison with the expected value, and starting to sleep are performed atomically"). Lost
//! wake-ups are therefore the program's mistakes, and are found.
//!
//! **Order.** Linux wakes in order of arrival among equal priorities; this kernel does the same,
//! and schedules explore which thread arrives first. Spurious wake-ups, which `futex(2)` allows,
//! are not injected.

mod inherit;
mod operate;
pub(crate) mod queue;

pub use inherit::hand_over;
pub use queue::{Futexes, Key};

use crate::call::{Call, Stop};
use crate::errno::{EAGAIN, EFAULT, EINVAL, ENOSYS, ETIMEDOUT};
use crate::id::{Id, Tid};
use crate::table::footprint::FootprintRule::Futex;
use crate::table::syscall::{Argument::*, Row};
use crate::wait::{Condition, Interruption, Wait};
use crate::{Kernel, time};
use memory::{AccessKind, Memory, Sharing, SpaceId};
use queue::Waiter;

/// The calls of this family.
pub const ROWS: &[Row] = &[
    Row::full(202, "futex", futex, &[Hex, Int, Int, Time, Hex, Int], Futex)
        .partial("no FUTEX_WAIT_REQUEUE_PI; locks that inherit priority go to the first waiter in order of arrival")
        .silent(),
    Row::absent(449, "futex_waitv", "ENOSYS: as before Linux 5.16; programs fall back to futex"),
];

/// A lock word: somebody waits.
pub const WAITERS: u32 = 0x8000_0000;
/// A lock word: its owner died.
pub const OWNER_DIED: u32 = 0x4000_0000;
/// A lock word: the owner's number.
pub const TID_MASK: u32 = 0x3fff_ffff;

const FUTEX_PRIVATE: u32 = 128;
const FUTEX_CLOCK_REALTIME: u32 = 256;

/// `FUTEX_BITSET_MATCH_ANY`.
const ANY: u32 = u32::MAX;

/// `futex(2)`.
fn futex(call: &mut Call<'_>) -> Result<u64, Stop> {
    let [address, operation, value, fourth, second, last] = call.args;
    let (operation, value, last) = (operation as u32, value as u32, last as u32);
    let is_private = operation & FUTEX_PRIVATE != 0;
    let is_real = operation & FUTEX_CLOCK_REALTIME != 0;
    let command = operation & !(FUTEX_PRIVATE | FUTEX_CLOCK_REALTIME);
    // Only waits have a clock.
    if is_real && !matches!(command, 0 | 9 | 11 | 13) {
        return Err(ENOSYS.into());
    }
    let clock = if is_real { Clock::Real } else { Clock::Monotonic };
    let wait = |bits, timeout| Waiting { address, is_private, value, bits, timeout, clock };
    match command {
        0 => wait_for(call, wait(ANY, Timeout::Relative(fourth))),
        1 => wake(call, address, is_private, value, ANY),
        3 | 4 => {
            let expected = (command == 4).then_some(last);
            requeue(call, Move { from: address, to: second, is_private, wake: value, more: fourth as u32, expected })
        }
        5 => operate::wake_op(call, address, second, is_private, [value, fourth as u32], last),
        9 => wait_for(call, wait(last, Timeout::Absolute(fourth))),
        10 => wake(call, address, is_private, value, last),
        // The older one always had the real-time clock.
        6 => inherit::lock(call, Waiting { clock: Clock::Real, ..wait(ANY, Timeout::Absolute(fourth)) }),
        7 => inherit::unlock(call, address, is_private),
        8 => inherit::try_lock(call, address, is_private),
        13 => inherit::lock(call, wait(ANY, Timeout::Absolute(fourth))),
        11 | 12 => call.unsupported("moving waiters to a lock that inherits priority"),
        // FUTEX_FD is gone since Linux 2.6.26; the others never were.
        _ => Err(ENOSYS.into()),
    }
}

/// The futex that an address means; checks what Linux checks.
///
/// Private futexes are cheap on Linux because no mapping is looked up: an address that is not
/// mapped is no error until the word is read.
fn key(call: &Call<'_>, address: u64, is_private: bool) -> Result<Key, Stop> {
    if !address.is_multiple_of(4) {
        return Err(EINVAL.into());
    }
    let space = call.space();
    if is_private {
        let fits = address < memory::USER_END;
        return if fits { Ok(Key::Private(space, address)) } else { Err(EFAULT.into()) };
    }
    let mapping = call.memory.mapping_at(space, address).ok_or(EFAULT)?;
    // Linux pins the page to write; of what can only be read it takes pages of files.
    let may = |access| mapping.protection.allows(access);
    let is_usable = may(AccessKind::Write) || may(AccessKind::Read) && mapping.object_at(address).is_some();
    if !is_usable {
        return Err(EFAULT.into());
    }
    shared_key(call.memory, space, address).ok_or(EFAULT.into())
}

fn shared_key(memory: &Memory, space: SpaceId, address: u64) -> Option<Key> {
    let mapping = memory.mapping_at(space, address)?;
    match mapping.object_at(address) {
        Some((object, offset)) if mapping.sharing == Sharing::Shared => Some(Key::Shared(object, offset)),
        _ => Some(Key::Alone(space, address)),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Clock {
    Monotonic,
    Real,
}

/// Where a timeout is, and how it counts.
#[derive(Clone, Copy)]
enum Timeout {
    Relative(u64),
    Absolute(u64),
}

/// What a thread wants to wait for.
struct Waiting {
    address: u64,
    is_private: bool,
    value: u32,
    bits: u32,
    timeout: Timeout,
    clock: Clock,
}

/// When redone, the word is not compared again: a woken waiter returns 0 whatever the word is by
/// now, as on Linux.
fn wait_for(call: &mut Call<'_>, waiting: Waiting) -> Result<u64, Stop> {
    if waiting.bits == 0 {
        return Err(EINVAL.into());
    }
    if let Some(wait) = &call.resumed {
        if wait.woken {
            return Ok(0);
        }
        leave(call.kernel, call.tid);
        return Err(ETIMEDOUT.into());
    }
    let deadline = load_deadline(call, &waiting)?;
    let key = key(call, waiting.address, waiting.is_private)?;
    if call.load_u32(waiting.address)? != waiting.value {
        return Err(EAGAIN.into());
    }
    if deadline.is_some_and(|deadline| call.kernel.clock.now() >= deadline) {
        return Err(ETIMEDOUT.into());
    }
    // A wait with a timeout is never restarted (`signal(7)`).
    let interruption = if deadline.is_some() { Interruption::Fail } else { Interruption::Restart };
    Err(enqueue(call, key, &waiting).deadline(deadline).interruption(interruption).into())
}

/// Lets the caller wait at the end of a queue.
fn enqueue(call: &mut Call<'_>, key: Key, waiting: &Waiting) -> Wait {
    let waiter = Waiter { tid: call.tid, bits: waiting.bits };
    call.kernel.futexes.queues.entry(key).or_default().push(waiter);
    let is_absolute = matches!(waiting.timeout, Timeout::Absolute(_));
    Wait::until(Condition::Woken(Id(waiting.address))).real(is_absolute && waiting.clock == Clock::Real)
}

fn load_deadline(call: &mut Call<'_>, waiting: &Waiting) -> Result<Option<u64>, Stop> {
    let (Timeout::Relative(address) | Timeout::Absolute(address)) = waiting.timeout;
    if address == 0 {
        return Ok(None);
    }
    let given = call.load_timespec(address)?;
    let now = call.kernel.clock.now();
    Ok(Some(match (waiting.timeout, waiting.clock) {
        (Timeout::Relative(_), _) => now.saturating_add(given),
        (Timeout::Absolute(_), Clock::Monotonic) => given,
        (Timeout::Absolute(_), Clock::Real) => time::monotonic_of(call.kernel, given),
    }))
}

fn wake(call: &mut Call<'_>, address: u64, is_private: bool, count: u32, bits: u32) -> Result<u64, Stop> {
    if bits == 0 {
        return Err(EINVAL.into());
    }
    let key = key(call, address, is_private)?;
    Ok(wake_queue(call.kernel, key, count, bits))
}

/// Wakes waiters as the kernel itself does for threads that end: as if without `FUTEX_PRIVATE_FLAG`.
pub fn wake_shared(kernel: &mut Kernel, memory: &Memory, space: SpaceId, address: u64, count: u32) {
    if let Some(key) = shared_key(memory, space, address) {
        wake_queue(kernel, key, count, ANY);
    }
}

/// Wakes the oldest waiters whose bits match; a count of none still wakes one, as Linux always did.
///
/// O(waiters of the queue). The queue goes with its last waiter, so that equal states have equal
/// maps.
fn wake_queue(kernel: &mut Kernel, key: Key, count: u32, bits: u32) -> u64 {
    let limit = (count as i32).max(1) as usize;
    let Some(queue) = kernel.futexes.queues.get_mut(&key) else { return 0 };
    let chosen: Vec<Tid> = queue.iter().filter(|w| w.bits & bits != 0).map(|w| w.tid).take(limit).collect();
    queue.retain(|waiter| !chosen.contains(&waiter.tid));
    if queue.is_empty() {
        kernel.futexes.queues.remove(&key);
    }
    for tid in &chosen {
        rouse(kernel, *tid);
    }
    chosen.len() as u64
}

/// Ends the wait of a thread that was taken out of its queue.
///
/// # Panics If the thread does not wait: a waiter is in a queue exactly as long as it waits in
/// `futex(2)` and was not woken.
fn rouse(kernel: &mut Kernel, tid: Tid) {
    let thread = kernel.threads.get_mut(&tid).expect("a waiter exists");
    thread.wait.as_mut().expect("a waiter waits").woken = true;
}

/// Takes a thread out of the queue it is in: its wait has ended otherwise.
///
/// O(all waiters); called when a wait times out, is interrupted, or its thread ends, all of which
/// are rare.
pub fn leave(kernel: &mut Kernel, tid: Tid) {
    kernel.futexes.queues.retain(|_, queue| {
        queue.retain(|waiter| waiter.tid != tid);
        !queue.is_empty()
    });
}

/// The futex that a thread waits at, which `FUTEX_REQUEUE` may have changed since its call.
#[must_use]
pub fn queue_of(kernel: &Kernel, tid: Tid) -> Option<Key> {
    let waits = |queue: &Vec<Waiter>| queue.iter().any(|waiter| waiter.tid == tid);
    kernel.futexes.queues.iter().find(|(_, queue)| waits(queue)).map(|(key, _)| *key)
}

/// `FUTEX_REQUEUE`, `FUTEX_CMP_REQUEUE`: wake some, and let some others wait elsewhere.
struct Move {
    from: u64,
    to: u64,
    is_private: bool,
    wake: u32,
    more: u32,
    expected: Option<u32>,
}

/// The condition variables of old C libraries: wake one waiter, let the others wait for the mutex
/// instead of stampeding to it.
fn requeue(call: &mut Call<'_>, request: Move) -> Result<u64, Stop> {
    if (request.wake as i32) < 0 || (request.more as i32) < 0 {
        return Err(EINVAL.into());
    }
    let from = key(call, request.from, request.is_private)?;
    let to = key(call, request.to, request.is_private)?;
    if let Some(expected) = request.expected
        && call.load_u32(request.from)? != expected
    {
        return Err(EAGAIN.into());
    }
    // Unlike FUTEX_WAKE, none means none.
    let woken = if request.wake == 0 { 0 } else { wake_queue(call.kernel, from, request.wake, ANY) };
    let moved = move_waiters(call.kernel, from, to, request.more as usize);
    Ok(woken + moved)
}

fn move_waiters(kernel: &mut Kernel, from: Key, to: Key, count: usize) -> u64 {
    let queues = &mut kernel.futexes.queues;
    if from == to {
        return queues.get(&from).map_or(0, |queue| queue.len().min(count) as u64);
    }
    let Some(mut waiting) = queues.remove(&from) else { return 0 };
    let rest = waiting.split_off(waiting.len().min(count));
    let moved = waiting.len() as u64;
    if !rest.is_empty() {
        queues.insert(from, rest);
    }
    if moved > 0 {
        queues.entry(to).or_default().extend(waiting);
    }
    moved
}
