//! Clocks and timers, call by call.

use crate::guest::Guest;
use kernel::{signal, time};

const SECOND: u64 = 1_000_000_000;
const SIGALRM: u64 = 14;
const SIGXCPU: u64 = 24;

fn pass(guest: &mut Guest, nanoseconds: u64) {
    let now = guest.kernel.clock.now();
    guest.kernel.clock.advance_to(now + nanoseconds);
    time::expire(&mut guest.kernel, &mut guest.memory);
}

fn block_all(guest: &mut Guest) {
    let set = guest.put(&u64::MAX.to_le_bytes());
    guest.call("rt_sigprocmask", &[0, set, 0, 8]);
}

fn pending(guest: &Guest) -> u64 {
    signal::pending(&guest.kernel, guest.tid)
}

/// Two pairs of numbers, as `struct itimerval` and `struct itimerspec` are.
fn times(guest: &mut Guest, words: [u64; 4]) -> u64 {
    guest.put(&words.map(u64::to_le_bytes).concat())
}

#[test]
fn a_periodic_timer_rests_until_its_signal_is_taken() {
    let mut guest = Guest::new();
    block_all(&mut guest);
    let start = guest.kernel.clock.now();
    let timer = times(&mut guest, [1, 0, 1, 0]);
    assert_eq!(guest.call("setitimer", &[0, timer, 0]), 0);
    assert_eq!(time::next_deadline(&guest.kernel), Some(start + SECOND));
    pass(&mut guest, SECOND);
    assert_eq!(time::next_deadline(&guest.kernel), None, "nothing moves until somebody looks");
    pass(&mut guest, 3 * SECOND / 2);
    let set = guest.put(&(1u64 << (SIGALRM - 1)).to_le_bytes());
    assert_eq!(guest.call("rt_sigtimedwait", &[set, 0, 0, 8]), SIGALRM as i64);
    assert_eq!(time::next_deadline(&guest.kernel), Some(start + 3 * SECOND));
}

#[test]
fn expirations_that_nobody_took_are_counted() {
    let mut guest = Guest::new();
    block_all(&mut guest);
    let id = guest.room(4);
    let event = guest.put(&[99u64.to_le_bytes(), 40u64.to_le_bytes(), 0u64.to_le_bytes()].concat());
    assert_eq!(guest.call("timer_create", &[1, event, id]), 0);
    let timer = times(&mut guest, [0, 1000, 0, 1000]);
    assert_eq!(guest.call("timer_settime", &[0, 0, timer, 0]), 0);
    pass(&mut guest, 1000);
    pass(&mut guest, 4500);
    let (set, info) = (guest.put(&(1u64 << 39).to_le_bytes()), guest.room(128));
    assert_eq!(guest.call("rt_sigtimedwait", &[set, info, 0, 8]), 40);
    assert_eq!(guest.get_u32(info + 20), 4, "si_overrun");
    assert_eq!(guest.get_u32(info + 24), 99, "si_value");
    assert_eq!(guest.call("timer_getoverrun", &[0]), 4);
}

#[test]
fn a_disarmed_timer_leaves_nothing_behind() {
    let mut guest = Guest::new();
    let before = guest.kernel.timers.clone();
    guest.call("alarm", &[10]);
    assert_eq!(guest.call("alarm", &[0]), 10);
    assert_eq!(guest.kernel.timers, before);
}

#[test]
fn waiting_costs_no_processor_time() {
    let mut guest = Guest::new();
    let (request, clock) = (guest.put(&[7u64.to_le_bytes(), 0u64.to_le_bytes()].concat()), guest.room(16));
    pass(&mut guest, 2 * SECOND);
    guest.wait("nanosleep", &[request, 0]);
    pass(&mut guest, 7 * SECOND);
    assert_eq!(guest.redo(), 0);
    guest.call("clock_gettime", &[2, clock]);
    assert_eq!(guest.get(clock, 16), [2u64.to_le_bytes(), 0u64.to_le_bytes()].concat());
}

#[test]
fn a_limit_of_processor_time_is_told_every_second_and_ends_in_death() {
    let mut guest = Guest::new();
    block_all(&mut guest);
    let limit = guest.put(&[1u64.to_le_bytes(), 3u64.to_le_bytes()].concat());
    assert_eq!(guest.call("prlimit64", &[0, 0, limit, 0]), 0);
    pass(&mut guest, SECOND);
    assert_eq!(pending(&guest), 1 << (SIGXCPU - 1));
    pass(&mut guest, 2 * SECOND);
    assert!(signal::take(&mut guest.kernel, &mut guest.memory, guest.tid).is_none());
    assert!(guest.kernel.threads.is_empty());
}

#[test]
fn real_time_can_be_set_and_monotonic_time_does_not_care() {
    let mut guest = Guest::new();
    let before = guest.kernel.clock.now();
    let value = guest.put(&[2_000_000_000u64.to_le_bytes(), 5u64.to_le_bytes()].concat());
    assert_eq!(guest.call("clock_settime", &[0, value]), 0);
    assert_eq!(guest.call("time", &[0]), 2_000_000_000);
    assert_eq!(guest.kernel.clock.now(), before);
}

/// When the wait of a process ends, from now on; in it, another process sets the real-time clock ten seconds forward.
fn left_when_the_clock_is_set(name: &str, args: impl Fn(&mut Guest, u64) -> Vec<u64>) -> u64 {
    let mut guest = Guest::new();
    let real = guest.kernel.clock.real() / SECOND;
    let args = args(&mut guest, real);
    guest.wait(name, &args);
    let waits = guest.another();
    let value = guest.put(&[(real + 10).to_le_bytes(), 0u64.to_le_bytes()].concat());
    assert_eq!(guest.call("clock_settime", &[0, value]), 0);
    guest.switch(waits);
    let thread = guest.kernel.threads.get(&guest.tid).expect("it waits");
    let deadline = thread.wait.as_ref().and_then(|wait| wait.deadline).expect("it has one");
    (deadline - guest.kernel.clock.now()).div_ceil(SECOND)
}

fn at(guest: &mut Guest, seconds: u64) -> u64 {
    guest.put(&[seconds.to_le_bytes(), 0u64.to_le_bytes()].concat())
}

#[test]
fn a_wait_until_a_time_of_the_real_time_clock_ends_earlier_when_that_is_set_forward() {
    const ABSOLUTE: u64 = 1;
    const FUTEX_WAIT_BITSET: u64 = 9;
    const FUTEX_CLOCK_REALTIME: u64 = 256;
    let slept = |clock: u64, flags: u64, from_now: bool| {
        left_when_the_clock_is_set("clock_nanosleep", |guest, real| {
            vec![clock, flags, at(guest, if from_now { 30 } else { real + 30 }), 0]
        })
    };
    assert_eq!(slept(0, ABSOLUTE, false), 20);
    assert_eq!(slept(0, 0, true), 30, "a length is no time of a clock");
    let waited = |flags: u64, from_now: bool| {
        left_when_the_clock_is_set("futex", |guest, real| {
            let word = guest.room(4);
            let until = at(guest, if from_now { guest.kernel.clock.now() / SECOND + 30 } else { real + 30 });
            vec![word, FUTEX_WAIT_BITSET | flags, 0, until, 0, u64::from(u32::MAX)]
        })
    };
    assert_eq!(waited(FUTEX_CLOCK_REALTIME, false), 20);
    assert_eq!(waited(0, true), 30, "the monotonic clock is not set");
    let received = left_when_the_clock_is_set("mq_timedreceive", |guest, real| {
        let name = guest.put(b"queue\0");
        let queue = guest.call("mq_open", &[name, 0o100, 0o600, 0]);
        vec![queue as u64, guest.room(8192), 8192, 0, at(guest, real + 30)]
    });
    assert_eq!(received, 20);
}
