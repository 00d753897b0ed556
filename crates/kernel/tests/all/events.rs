//! Waiting for events, call by call.

use crate::guest::Guest;

const EAGAIN: i64 = -11;
const EEXIST: i64 = -17;
const EINVAL: i64 = -22;
const ELOOP: i64 = -40;

const ADD: u64 = 1;
const DELETE: u64 = 2;
const MODIFY: u64 = 3;

const IN: u32 = 1;
const OUT: u32 = 4;
const ET: u32 = 1 << 31;
const ONESHOT: u32 = 1 << 30;

const STREAM: u64 = 1;

/// `epoll_ctl(2)`; the data is the descriptor.
fn control(guest: &mut Guest, set: i64, operation: u64, fd: i64, events: u32) -> i64 {
    let event = guest.put(&[&events.to_le_bytes()[..], &(fd as u64).to_le_bytes()].concat());
    guest.call("epoll_ctl", &[set as u64, operation, fd as u64, event])
}

/// `epoll_wait(2)` without waiting: events and descriptors.
fn events(guest: &mut Guest, set: i64, max: usize) -> Vec<(u32, i64)> {
    let buffer = guest.room(12 * max);
    let count = guest.call("epoll_wait", &[set as u64, buffer, max as u64, 0]);
    (0..count as u64)
        .map(|index| (guest.get_u32(buffer + 12 * index), i64::from(guest.get_u32(buffer + 12 * index + 4))))
        .collect()
}

fn set(guest: &mut Guest) -> i64 {
    guest.call("epoll_create1", &[0])
}

#[test]
fn a_level_is_reported_until_it_is_gone() {
    let mut guest = Guest::new();
    let set = set(&mut guest);
    let (one, other) = guest.pair(STREAM);
    assert_eq!(control(&mut guest, set, ADD, other, IN), 0);
    assert_eq!(control(&mut guest, set, ADD, other, IN), EEXIST);
    assert_eq!(events(&mut guest, set, 8), []);
    guest.write(one, b"ab");
    assert_eq!(events(&mut guest, set, 8), [(IN, other)]);
    assert_eq!(events(&mut guest, set, 8), [(IN, other)]);
    guest.read(other, 2).expect("it is there");
    assert_eq!(events(&mut guest, set, 8), []);
}

#[test]
fn an_edge_is_reported_once_for_each_arrival() {
    let mut guest = Guest::new();
    let set = set(&mut guest);
    let (one, other) = guest.connection();
    control(&mut guest, set, ADD, other, IN | ET);
    guest.write(one, b"a");
    assert_eq!(events(&mut guest, set, 8), [(IN, other)]);
    assert_eq!(events(&mut guest, set, 8), []);
    guest.write(one, b"b");
    assert_eq!(events(&mut guest, set, 8), [(IN, other)]);
    guest.read(other, 1).expect("it is there");
    assert_eq!(events(&mut guest, set, 8), []);
    assert_eq!(control(&mut guest, set, MODIFY, other, IN | ET), 0);
    assert_eq!(events(&mut guest, set, 8), [(IN, other)]);
}

#[test]
fn one_shot_is_reported_once_until_asked_again() {
    let mut guest = Guest::new();
    let set = set(&mut guest);
    let (one, other) = guest.pair(STREAM);
    control(&mut guest, set, ADD, other, IN | ONESHOT);
    guest.write(one, b"a");
    assert_eq!(events(&mut guest, set, 8), [(IN, other)]);
    guest.write(one, b"b");
    assert_eq!(events(&mut guest, set, 8), []);
    control(&mut guest, set, MODIFY, other, IN | ONESHOT);
    assert_eq!(events(&mut guest, set, 8), [(IN, other)]);
}

#[test]
fn all_get_their_turn_when_not_all_fit() {
    let mut guest = Guest::new();
    let set = set(&mut guest);
    let counters: Vec<i64> = (0..3).map(|_| guest.call("eventfd2", &[1, 0])).collect();
    for fd in &counters {
        control(&mut guest, set, ADD, *fd, IN);
    }
    let turns: Vec<i64> = (0..6).map(|_| events(&mut guest, set, 1)[0].1).collect();
    assert_eq!(turns, [counters.clone(), counters].concat());
}

#[test]
fn a_closed_file_is_watched_no_more() {
    let mut guest = Guest::new();
    let set = set(&mut guest);
    let counter = guest.call("eventfd2", &[1, 0]);
    control(&mut guest, set, ADD, counter, IN);
    let copy = guest.call("dup", &[counter as u64]);
    guest.call("close", &[counter as u64]);
    assert_eq!(events(&mut guest, set, 8), [(IN, counter)], "a duplicate keeps it alive");
    guest.call("close", &[copy as u64]);
    assert_eq!(events(&mut guest, set, 8), []);
    guest.call("close", &[set as u64]);
    assert_eq!(guest.kernel.events, kernel::event::Events::default());
}

#[test]
fn sets_can_be_nested_but_not_in_circles() {
    let mut guest = Guest::new();
    let (outer, inner) = (set(&mut guest), set(&mut guest));
    let counter = guest.call("eventfd2", &[0, 0]);
    control(&mut guest, inner, ADD, counter, IN);
    assert_eq!(control(&mut guest, outer, ADD, inner, IN | ET), 0);
    assert_eq!(control(&mut guest, inner, ADD, outer, IN), ELOOP);
    assert_eq!(control(&mut guest, inner, ADD, inner, IN), EINVAL);
    assert_eq!(events(&mut guest, outer, 8), []);
    guest.write(counter, &1u64.to_le_bytes());
    assert_eq!(events(&mut guest, outer, 8), [(IN, inner)]);
    assert_eq!(events(&mut guest, inner, 8), [(IN, counter)]);
    assert_eq!(control(&mut guest, outer, DELETE, inner, 0), 0);
}

#[test]
fn a_waiting_thread_goes_on_when_something_happens() {
    let mut guest = Guest::new();
    let set = set(&mut guest);
    let counter = guest.call("eventfd2", &[0, 0]);
    control(&mut guest, set, ADD, counter, IN | OUT);
    assert_eq!(events(&mut guest, set, 8), [(OUT, counter)]);
    control(&mut guest, set, MODIFY, counter, IN);
    let buffer = guest.room(12);
    guest.wait("epoll_wait", &[set as u64, buffer, 1, u64::MAX]);
    let waiting = guest.tid;
    guest.spawn();
    guest.write(counter, &3u64.to_le_bytes());
    guest.tid = waiting;
    assert_eq!(guest.redo(), 1);
}

#[test]
fn a_timeout_ends_a_wait_with_nothing() {
    let mut guest = Guest::new();
    let counter = guest.call("eventfd2", &[0, 0]);
    let entry = guest.put(&[&(counter as i32).to_le_bytes()[..], &[1, 0, 0, 0]].concat());
    guest.wait("poll", &[entry, 1, 250]);
    let deadline = kernel::time::next_deadline(&guest.kernel).expect("there is one");
    assert_eq!(deadline - guest.kernel.clock.now(), 250_000_000);
    guest.kernel.clock.advance_to(deadline);
    assert_eq!(guest.redo(), 0);
}

#[test]
fn a_counter_gives_all_or_one() {
    let mut guest = Guest::new();
    let counter = guest.call("eventfd2", &[5, 0o4000]);
    assert_eq!(guest.read(counter, 8), Ok(5u64.to_le_bytes().to_vec()));
    assert_eq!(guest.read(counter, 8), Err(EAGAIN));
    let semaphore = guest.call("eventfd2", &[2, 0o4001]);
    for _ in 0..2 {
        assert_eq!(guest.read(semaphore, 8), Ok(1u64.to_le_bytes().to_vec()));
    }
    assert_eq!(guest.read(semaphore, 8), Err(EAGAIN));
    assert_eq!(guest.write(counter, &u64::MAX.to_le_bytes()), EINVAL);
}

#[test]
fn a_periodic_timer_counts_the_turns_that_were_missed() {
    let mut guest = Guest::new();
    let timer = guest.call("timerfd_create", &[1, 0o4000]);
    let setting = guest.put(&[0, 1_000_000u64, 0, 5_000_000].map(u64::to_le_bytes).concat());
    assert_eq!(guest.call("timerfd_settime", &[timer as u64, 0, setting, 0]), 0);
    assert_eq!(guest.read(timer, 8), Err(EAGAIN));
    let first = kernel::time::next_deadline(&guest.kernel).expect("it is armed");
    guest.kernel.clock.advance_to(first + 3_500_000);
    kernel::time::expire(&mut guest.kernel, &mut guest.memory);
    assert_eq!(kernel::time::next_deadline(&guest.kernel), None, "nobody has read it");
    assert_eq!(guest.read(timer, 8), Ok(4u64.to_le_bytes().to_vec()));
    assert_eq!(kernel::time::next_deadline(&guest.kernel), Some(first + 4_000_000));
}
