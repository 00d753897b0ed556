//! Futexes, call by call.

use crate::guest::Guest;
use kernel::Tid;

const WAIT: u64 = PRIVATE;
const WAKE: u64 = 1 | PRIVATE;
const REQUEUE: u64 = 3 | PRIVATE;
const LOCK: u64 = 6 | PRIVATE;
const UNLOCK: u64 = 7 | PRIVATE;
const TRY_LOCK: u64 = 8 | PRIVATE;
const PRIVATE: u64 = 128;

const EPERM: i64 = -1;
const ESRCH: i64 = -3;
const EAGAIN: i64 = -11;
const EDEADLK: i64 = -35;
const ETIMEDOUT: i64 = -110;

/// Waiting threads on a word, in order; the test goes on as the first thread.
fn waiters(guest: &mut Guest, word: u64, operation: u64, count: usize) -> Vec<Tid> {
    let first = guest.tid;
    let threads = (0..count).map(|_| {
        guest.tid = first;
        guest.spawn();
        guest.wait("futex", &[word, operation, 0]);
        guest.tid
    });
    let threads = threads.collect();
    guest.tid = first;
    threads
}

fn is_awake(guest: &mut Guest, tid: Tid) -> bool {
    let own = std::mem::replace(&mut guest.tid, tid);
    let awake = guest.may_go_on();
    guest.tid = own;
    awake
}

fn as_thread(guest: &mut Guest, tid: Tid, name: &str, args: &[u64]) -> i64 {
    let own = std::mem::replace(&mut guest.tid, tid);
    let result = guest.call(name, args);
    guest.tid = own;
    result
}

fn redo_as(guest: &mut Guest, tid: Tid) -> i64 {
    let own = std::mem::replace(&mut guest.tid, tid);
    let result = guest.redo();
    guest.tid = own;
    result
}

#[test]
fn waiters_are_woken_in_the_order_of_their_arrival() {
    let mut guest = Guest::new();
    let word = guest.room(4);
    let threads = waiters(&mut guest, word, WAIT, 4);
    assert_eq!(guest.call("futex", &[word, WAKE, 2]), 2);
    let awake: Vec<bool> = threads.iter().map(|tid| is_awake(&mut guest, *tid)).collect();
    assert_eq!(awake, [true, true, false, false]);
    assert_eq!(redo_as(&mut guest, threads[0]), 0);
}

#[test]
fn a_waiter_whose_time_is_up_is_not_woken_any_more() {
    let mut guest = Guest::new();
    let word = guest.room(4);
    let time = guest.put(&[1u64.to_le_bytes(), 0u64.to_le_bytes()].concat());
    let first = guest.spawn();
    guest.wait("futex", &[word, WAIT, 0, time]);
    let now = guest.kernel.clock.now();
    assert_eq!(kernel::time::next_deadline(&guest.kernel), Some(now + 1_000_000_000));
    guest.kernel.clock.advance_to(now + 1_000_000_000);
    assert_eq!(guest.redo(), ETIMEDOUT);
    guest.tid = first;
    assert_eq!(guest.call("futex", &[word, WAKE, 1]), 0);
}

#[test]
fn waiters_that_were_moved_are_woken_at_their_new_place() {
    let mut guest = Guest::new();
    let (one, two) = (guest.room(4), guest.room(4));
    let threads = waiters(&mut guest, one, WAIT, 3);
    assert_eq!(guest.call("futex", &[one, REQUEUE, 1, 1, two]), 2);
    assert_eq!(guest.call("futex", &[two, WAKE, 9]), 1);
    assert_eq!(guest.call("futex", &[one, WAKE, 9]), 1);
    assert!(threads.into_iter().all(|tid| is_awake(&mut guest, tid)));
}

#[test]
fn a_thread_that_ends_waits_no_longer_and_wakes_whoever_joins_it() {
    let mut guest = Guest::new();
    let word = guest.put(&7u32.to_le_bytes());
    let first = guest.spawn();
    let second = guest.tid;
    guest.call("set_tid_address", &[word]);
    guest.tid = first;
    // Joining uses the shared form, as the kernel wakes.
    guest.wait("futex", &[word, 0, 7]);
    guest.tid = second;
    assert!(matches!(guest.attempt("exit", &[0]), kernel::Outcome::Control(kernel::Control::Ended)));
    guest.tid = first;
    assert_eq!(guest.redo(), 0);
    assert_eq!(guest.get_u32(word), 0);
}

#[test]
fn a_lock_that_inherits_priority_is_handed_to_the_first_waiter() {
    let mut guest = Guest::new();
    let word = guest.room(4);
    let own = guest.tid;
    assert_eq!(guest.call("futex", &[word, LOCK, 0]), 0);
    assert_eq!(guest.get_u32(word), own.0);
    assert_eq!(guest.call("futex", &[word, LOCK, 0]), EDEADLK);
    let threads = waiters(&mut guest, word, LOCK, 2);
    assert_eq!(guest.get_u32(word), own.0 | 0x8000_0000);
    assert_eq!(as_thread(&mut guest, threads[0], "futex", &[word, TRY_LOCK, 0]), EAGAIN);
    assert_eq!(guest.call("futex", &[word, UNLOCK, 0]), 0);
    assert_eq!(guest.get_u32(word), threads[0].0 | 0x8000_0000);
    assert!(!is_awake(&mut guest, threads[1]));
    assert_eq!(guest.call("futex", &[word, UNLOCK, 0]), EPERM);
}

#[test]
fn a_lock_of_nobody_is_an_error() {
    let mut guest = Guest::new();
    let word = guest.put(&12_345u32.to_le_bytes());
    assert_eq!(guest.call("futex", &[word, LOCK, 0]), ESRCH);
}

#[test]
fn a_robust_lock_of_a_dead_thread_says_so() {
    let mut guest = Guest::new();
    let first = guest.spawn();
    let second = guest.tid;
    // struct robust_list_head: next, offset of the word from an entry, pending; then one entry and its word.
    let head = guest.room(64);
    let (entry, word) = (head + 32, head + 40);
    let words = [entry, 8, 0, 0, head];
    let space = guest.kernel.processes.get(&guest.pid).expect("it lives").space;
    guest.memory.write(space, head, &words.map(u64::to_le_bytes).concat()).expect("it is mapped");
    guest.memory.write_u32(space, word, second.0 | 0x8000_0000).expect("it is mapped");
    assert_eq!(guest.call("set_robust_list", &[head, 24]), 0);
    guest.tid = first;
    guest.wait("futex", &[word, 0, u64::from(second.0 | 0x8000_0000)]);
    guest.tid = second;
    let _ = guest.attempt("exit", &[0]);
    guest.tid = first;
    assert_eq!(guest.redo(), 0, "one waiter is woken");
    assert_eq!(guest.get_u32(word), 0xc000_0000);
}
