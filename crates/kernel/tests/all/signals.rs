//! Signals, call by call.

use crate::guest::Guest;
use kernel::process::SignalInfo;
use kernel::signal::{self, Delivery, Interrupted, Target, bit};

const EINTR: u64 = -4i64 as u64;
const EAGAIN: i64 = -11;

const SIGUSR1: u8 = 10;
const SIGSEGV: u8 = 11;
const SIGUSR2: u8 = 12;
const SIGALRM: u8 = 14;
const SIGTERM: u8 = 15;
const REAL_TIME: u8 = 40;

const HANDLER: u64 = 0x40_0000;
const RESTART: u64 = 0x1000_0000;

fn handle(guest: &mut Guest, number: u8, flags: u64) {
    let words = [HANDLER, flags, 0, 0];
    let action = guest.put(&words.map(u64::to_le_bytes).concat());
    assert_eq!(guest.call("rt_sigaction", &[u64::from(number), action, 0, 8]), 0);
}

fn block(guest: &mut Guest, set: u64) {
    let set = guest.put(&set.to_le_bytes());
    assert_eq!(guest.call("rt_sigprocmask", &[2, set, 0, 8]), 0);
}

fn send(guest: &mut Guest, number: u8, value: u64) {
    let info = SignalInfo { number, code: -1, value, ..SignalInfo::default() };
    let pid = guest.pid;
    signal::send(&mut guest.kernel, Target::Process(pid), info);
}

/// Takes the next signal and enters its handler.
fn take(guest: &mut Guest) -> Option<Delivery> {
    let delivery = signal::take(&mut guest.kernel, &mut guest.memory, guest.tid)?;
    signal::entered(&mut guest.kernel, guest.tid, &delivery);
    Some(delivery)
}

#[test]
fn standard_signals_are_counted_once_and_real_time_signals_are_queued() {
    let mut guest = Guest::new();
    handle(&mut guest, SIGUSR1, 0);
    handle(&mut guest, REAL_TIME, 0);
    for value in 0..3 {
        send(&mut guest, REAL_TIME, value);
        send(&mut guest, SIGUSR1, value);
    }
    let mut taken = Vec::new();
    while let Some(delivery) = take(&mut guest) {
        taken.push((delivery.info.number, delivery.info.value));
        signal::returned(&mut guest.kernel, guest.tid, delivery.mask_saved, delivery.alternate_stack);
    }
    assert_eq!(taken, [(SIGUSR1, 0), (REAL_TIME, 0), (REAL_TIME, 1), (REAL_TIME, 2)]);
}

#[test]
fn a_handler_blocks_its_own_signal_until_it_returns() {
    let mut guest = Guest::new();
    handle(&mut guest, SIGUSR1, 0);
    send(&mut guest, SIGUSR1, 0);
    let delivery = take(&mut guest).expect("it is pending");
    assert_eq!((delivery.mask_saved, delivery.mask_after), (0, bit(SIGUSR1)));
    send(&mut guest, SIGUSR1, 0);
    assert!(!signal::is_deliverable(&guest.kernel, guest.tid));
    signal::returned(&mut guest.kernel, guest.tid, delivery.mask_saved, delivery.alternate_stack);
    assert!(signal::is_deliverable(&guest.kernel, guest.tid));
}

#[test]
fn a_waiting_call_fails_or_is_made_again_as_the_handler_asks() {
    let mut guest = Guest::new();
    let pipes = guest.room(8);
    guest.call("pipe2", &[pipes, 0]);
    let reader = u64::from(guest.get_u32(pipes));
    let buffer = guest.room(8);
    for (flags, expected) in [(0, Interrupted::Result(EINTR)), (RESTART, Interrupted::Restart(0))] {
        handle(&mut guest, SIGUSR1, flags);
        guest.wait("read", &[reader, buffer, 8]);
        send(&mut guest, SIGUSR1, 0);
        let delivery = take(&mut guest).expect("it interrupts");
        assert_eq!(delivery.interrupted, expected);
        assert_eq!(guest.kernel.threads.get(&guest.tid).expect("it lives").wait, None);
        signal::returned(&mut guest.kernel, guest.tid, 0, delivery.alternate_stack);
    }
}

#[test]
fn an_ignored_signal_interrupts_nothing() {
    let mut guest = Guest::new();
    guest.wait("pause", &[]);
    send(&mut guest, 17, 0);
    assert!(!signal::is_deliverable(&guest.kernel, guest.tid));
    assert!(!guest.may_go_on());
}

#[test]
fn an_interrupted_sleep_tells_what_is_left() {
    let mut guest = Guest::new();
    handle(&mut guest, SIGALRM, RESTART);
    let (request, left) = (guest.put(&[5u64.to_le_bytes(), 0u64.to_le_bytes()].concat()), guest.room(16));
    guest.wait("nanosleep", &[request, left]);
    let now = guest.kernel.clock.now();
    guest.kernel.clock.advance_to(now + 1_750_000_000);
    send(&mut guest, SIGALRM, 0);
    assert_eq!(take(&mut guest).map(|delivery| delivery.interrupted), Some(Interrupted::Result(EINTR)));
    assert_eq!(guest.get(left, 16), [3u64.to_le_bytes(), 250_000_000u64.to_le_bytes()].concat());
}

#[test]
fn sigsuspend_gives_the_old_mask_to_the_frame() {
    let mut guest = Guest::new();
    handle(&mut guest, SIGUSR1, 0);
    block(&mut guest, bit(SIGUSR1) | bit(SIGUSR2));
    send(&mut guest, SIGUSR1, 0);
    let empty = guest.put(&bit(SIGTERM).to_le_bytes());
    guest.wait("rt_sigsuspend", &[empty, 8]);
    let delivery = take(&mut guest).expect("it is not blocked meanwhile");
    assert_eq!(delivery.mask_saved, bit(SIGUSR1) | bit(SIGUSR2));
    assert_eq!(delivery.mask_after, bit(SIGUSR1) | bit(SIGTERM));
}

#[test]
fn a_mask_for_one_call_ends_with_the_call() {
    let mut guest = Guest::new();
    block(&mut guest, bit(SIGUSR1));
    let (mask, zero) = (guest.put(&0u64.to_le_bytes()), guest.room(16));
    assert_eq!(guest.call("ppoll", &[0, 0, zero, mask, 8]), 0);
    assert_eq!(guest.kernel.threads.get(&guest.tid).expect("it lives").blocked, bit(SIGUSR1));
}

#[test]
fn a_process_signal_goes_to_a_thread_that_does_not_block_it() {
    let mut guest = Guest::new();
    handle(&mut guest, SIGUSR1, 0);
    let first = guest.spawn();
    let second = guest.tid;
    send(&mut guest, SIGUSR1, 0);
    assert!(signal::is_deliverable(&guest.kernel, first), "the first thread comes first");
    assert!(!signal::is_deliverable(&guest.kernel, second));
    guest.tid = first;
    block(&mut guest, bit(SIGUSR1));
    assert!(signal::is_deliverable(&guest.kernel, second));
    assert!(!signal::is_deliverable(&guest.kernel, first));
}

#[test]
fn a_fault_that_is_blocked_ends_the_process() {
    let mut guest = Guest::new();
    handle(&mut guest, SIGSEGV, 0);
    let info = SignalInfo::fault(SIGSEGV, 1, 0x1234);
    let delivery = signal::fault(&mut guest.kernel, &mut guest.memory, guest.tid, info).expect("it is handled");
    assert_eq!(delivery.info.to_bytes()[16..24], 0x1234u64.to_le_bytes());
    signal::entered(&mut guest.kernel, guest.tid, &delivery);
    assert_eq!(signal::fault(&mut guest.kernel, &mut guest.memory, guest.tid, info), None);
    assert!(guest.kernel.threads.is_empty());
}

#[test]
fn a_frame_that_cannot_be_written_ends_the_process_if_it_was_for_a_fault() {
    let mut guest = Guest::new();
    handle(&mut guest, SIGSEGV, 0);
    let info = SignalInfo::fault(SIGSEGV, 1, 0);
    let delivery = signal::fault(&mut guest.kernel, &mut guest.memory, guest.tid, info).expect("it is handled");
    signal::frame_failed(&mut guest.kernel, guest.tid, &delivery);
    assert_eq!(signal::take(&mut guest.kernel, &mut guest.memory, guest.tid), None);
    assert!(guest.kernel.threads.is_empty());
}

#[test]
fn the_queue_of_real_time_signals_has_an_end() {
    let mut guest = Guest::new();
    block(&mut guest, u64::MAX);
    let limit = guest.put(&[5u64.to_le_bytes(), 5u64.to_le_bytes()].concat());
    assert_eq!(guest.call("prlimit64", &[0, 11, limit, 0]), 0);
    let info = guest.put(&SignalInfo { code: -1, ..SignalInfo::default() }.to_bytes());
    let pid = u64::from(guest.pid.0);
    let results: Vec<i64> = (0..7).map(|_| guest.call("rt_sigqueueinfo", &[pid, u64::from(REAL_TIME), info])).collect();
    assert_eq!(results, [0, 0, 0, 0, 0, EAGAIN, EAGAIN]);
}
