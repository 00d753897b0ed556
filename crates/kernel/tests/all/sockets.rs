//! Sockets, call by call.

use crate::guest::Guest;
use kernel::Outcome;

const EPIPE: i64 = -32;
const EAGAIN: i64 = -11;
const EADDRINUSE: i64 = -98;
const ECONNRESET: i64 = -104;
const ECONNREFUSED: i64 = -111;
const EINPROGRESS: i64 = -115;
const ENETUNREACH: i64 = -101;

const STREAM: u64 = 1;
const DATAGRAM: u64 = 2;
const PACKETS: u64 = 5;
const NONBLOCK: u64 = 0o4000;
const NOSIGNAL: u64 = 0x4000;

const IN: u16 = 1;
const OUT: u16 = 4;
const ERR: u16 = 8;
const HUP: u16 = 16;
const RDHUP: u16 = 0x2000;

#[test]
fn bytes_written_at_one_end_are_read_at_the_other() {
    for make in [|guest: &mut Guest| guest.pair(STREAM), |guest: &mut Guest| guest.connection()] {
        let mut guest = Guest::new();
        let (one, other) = make(&mut guest);
        assert_eq!(guest.write(one, b"hello "), 6);
        assert_eq!(guest.write(one, b"world"), 5);
        assert_eq!(guest.read(other, 100), Ok(b"hello world".to_vec()));
        assert_eq!(guest.write(other, b"back"), 4);
        assert_eq!(guest.read(one, 2), Ok(b"ba".to_vec()));
        assert_eq!(guest.read(one, 2), Ok(b"ck".to_vec()));
        assert_eq!(guest.call("close", &[one as u64]), 0);
        assert_eq!(guest.read(other, 1), Ok(Vec::new()));
    }
}

#[test]
fn messages_keep_their_borders() {
    for kind in [DATAGRAM, PACKETS] {
        let mut guest = Guest::new();
        let (one, other) = guest.pair(kind);
        guest.write(one, b"one");
        guest.write(one, b"three");
        assert_eq!(guest.read(other, 2), Ok(b"on".to_vec()));
        assert_eq!(guest.read(other, 100), Ok(b"three".to_vec()));
    }
}

#[test]
fn a_reader_waits_until_something_comes() {
    let mut guest = Guest::new();
    let (one, other) = guest.connection();
    let buffer = guest.room(10);
    guest.wait("read", &[other as u64, buffer, 10]);
    let reader = guest.tid;
    guest.spawn();
    assert_eq!(guest.write(one, b"x"), 1);
    guest.tid = reader;
    assert_eq!(guest.redo(), 1);
    assert_eq!(guest.get(buffer, 1), b"x");
}

#[test]
fn a_writer_waits_until_there_is_room_and_then_goes_on() {
    let mut guest = Guest::new();
    let (one, other) = guest.connection();
    let much = guest.room(1 << 20);
    guest.wait("write", &[one as u64, much, 1 << 20]);
    let writer = guest.tid;
    guest.spawn();
    let mut total = 0;
    let place = guest.room(1 << 16);
    loop {
        let count = guest.call("recvfrom", &[other as u64, place, 1 << 16, 0x40]);
        if count == EAGAIN {
            let reader = std::mem::replace(&mut guest.tid, writer);
            if guest.kernel.threads.get(&writer).unwrap().wait.is_none() {
                break;
            }
            assert!(guest.may_go_on(), "there is room");
            let outcome = guest.kernel.redo(&mut guest.memory, writer);
            assert!(matches!(outcome, Outcome::Waiting | Outcome::Returned(0x10_0000)), "{outcome:?}");
            guest.tid = reader;
        } else {
            total += count;
        }
    }
    assert_eq!(total, 1 << 20);
}

#[test]
fn nobody_listens_means_refused() {
    let mut guest = Guest::new();
    let fd = guest.call("socket", &[2, STREAM, 0]) as u64;
    let name = guest.loopback(9);
    assert_eq!(guest.call("connect", &[fd, name, 16]), ECONNREFUSED);
    let fd = guest.call("socket", &[2, STREAM | NONBLOCK, 0]);
    assert_eq!(guest.call("connect", &[fd as u64, name, 16]), EINPROGRESS);
    assert_eq!(guest.poll(fd) & (IN | OUT | ERR | HUP), IN | OUT | ERR | HUP);
    assert_eq!(guest.call("connect", &[fd as u64, name, 16]), ECONNREFUSED);
}

#[test]
fn another_network_cannot_be_reached() {
    let mut guest = Guest::new();
    for kind in [STREAM, DATAGRAM] {
        let fd = guest.call("socket", &[2, kind, 0]) as u64;
        let name = guest.put(&[2, 0, 0, 80, 8, 8, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(guest.call("connect", &[fd, name, 16]), ENETUNREACH);
    }
}

#[test]
fn a_port_belongs_to_one_listener() {
    let mut guest = Guest::new();
    let (first, port) = guest.listener(1);
    let second = guest.call("socket", &[2, STREAM, 0]) as u64;
    let name = guest.loopback(port);
    assert_eq!(guest.call("bind", &[second, name, 16]), EADDRINUSE);
    guest.call("close", &[first as u64]);
    assert_eq!(guest.call("bind", &[second, name, 16]), 0);
}

#[test]
fn unread_data_resets_the_connection() {
    let mut guest = Guest::new();
    let (one, other) = guest.connection();
    guest.write(one, b"never read");
    guest.call("close", &[other as u64]);
    assert_eq!(guest.read(one, 1), Err(ECONNRESET));
    assert_eq!(guest.read(one, 1), Ok(Vec::new()));
    let buffer = guest.put(b"x");
    assert_eq!(guest.call("sendto", &[one as u64, buffer, 1, NOSIGNAL]), EPIPE);
}

#[test]
fn writing_to_a_closed_end_succeeds_once() {
    let mut guest = Guest::new();
    let (one, other) = guest.connection();
    guest.call("close", &[other as u64]);
    assert_eq!(guest.poll(one), IN | OUT | RDHUP | 0x140);
    let buffer = guest.put(b"x");
    assert_eq!(guest.call("sendto", &[one as u64, buffer, 1, NOSIGNAL]), 1);
    assert_eq!(guest.poll(one) & (ERR | HUP), ERR | HUP);
    assert_eq!(guest.call("sendto", &[one as u64, buffer, 1, NOSIGNAL]), EPIPE);
}

#[test]
fn half_a_connection_can_be_closed() {
    let mut guest = Guest::new();
    let (one, other) = guest.connection();
    guest.write(one, b"last");
    assert_eq!(guest.call("shutdown", &[one as u64, 1]), 0);
    assert_eq!(guest.read(other, 10), Ok(b"last".to_vec()));
    assert_eq!(guest.read(other, 10), Ok(Vec::new()));
    assert_eq!(guest.write(other, b"still"), 5);
    assert_eq!(guest.read(one, 10), Ok(b"still".to_vec()));
}

#[test]
fn a_request_without_room_waits_for_the_next_accept() {
    let mut guest = Guest::new();
    let (listener, port) = guest.listener(0);
    let name = guest.loopback(port);
    let first = guest.call("socket", &[2, STREAM, 0]) as u64;
    assert_eq!(guest.call("connect", &[first, name, 16]), 0);
    let second = guest.call("socket", &[2, STREAM, 0]) as u64;
    guest.wait("connect", &[second, name, 16]);
    let waiting = guest.tid;
    guest.spawn();
    assert!(guest.call("accept", &[listener as u64, 0, 0]) > 0);
    guest.tid = waiting;
    assert_eq!(guest.redo(), 0);
}

#[test]
fn an_unanswered_request_is_given_up_after_two_minutes() {
    let mut guest = Guest::new();
    let (_, port) = guest.listener(0);
    let name = guest.loopback(port);
    let first = guest.call("socket", &[2, STREAM, 0]) as u64;
    guest.call("connect", &[first, name, 16]);
    let second = guest.call("socket", &[2, STREAM, 0]) as u64;
    guest.wait("connect", &[second, name, 16]);
    let deadline = kernel::time::next_deadline(&guest.kernel).expect("it is given up");
    guest.kernel.clock.advance_to(deadline);
    kernel::time::expire(&mut guest.kernel, &mut guest.memory);
    assert_eq!(guest.redo(), -110);
}

#[test]
fn an_open_file_travels_through_a_socket() {
    let mut guest = Guest::new();
    let (one, other) = guest.pair(STREAM);
    let (inner, outer) = guest.pair(STREAM);
    let control =
        [&20u64.to_le_bytes()[..], &1u32.to_le_bytes(), &1u32.to_le_bytes(), &(inner as i32).to_le_bytes(), &[0; 4]];
    let control = guest.put(&control.concat());
    let send = message(&mut guest, b"f", control, 24);
    assert_eq!(guest.call("sendmsg", &[one as u64, send, 0]), 1);
    guest.call("close", &[inner as u64]);
    let space = guest.room(24);
    let receive = message(&mut guest, b" ", space, 24);
    assert_eq!(guest.call("recvmsg", &[other as u64, receive, 0]), 1);
    let fd = i64::from(guest.get_u32(space + 16));
    guest.write(fd, b"through");
    assert_eq!(guest.read(outer, 10), Ok(b"through".to_vec()));
    guest.call("close", &[fd as u64]);
    assert_eq!(guest.read(outer, 10), Ok(Vec::new()));
}

fn message(guest: &mut Guest, bytes: &[u8], control: u64, length: u64) -> u64 {
    let buffer = guest.put(bytes);
    let vector = guest.put(&[buffer.to_le_bytes(), (bytes.len() as u64).to_le_bytes()].concat());
    guest.put(&[0, 0, vector, 1, control, length, 0].map(u64::to_le_bytes).concat())
}

#[test]
fn open_files_in_an_unread_message_are_closed_with_it() {
    let mut guest = Guest::new();
    let (one, other) = guest.pair(STREAM);
    let (inner, outer) = guest.pair(STREAM);
    let control =
        [&20u64.to_le_bytes()[..], &1u32.to_le_bytes(), &1u32.to_le_bytes(), &(inner as i32).to_le_bytes(), &[0; 4]];
    let control = guest.put(&control.concat());
    let send = message(&mut guest, b"f", control, 24);
    guest.call("sendmsg", &[one as u64, send, 0]);
    guest.call("close", &[inner as u64]);
    guest.call("close", &[one as u64]);
    guest.call("close", &[other as u64]);
    assert_eq!(guest.read(outer, 10), Ok(Vec::new()));
}

#[test]
fn a_full_buffer_makes_a_datagram_sender_wait_until_most_of_it_is_read() {
    let mut guest = Guest::new();
    let (one, other) = guest.pair(DATAGRAM);
    let buffer = guest.put(b"x");
    let mut count = 0;
    while guest.call("sendto", &[one as u64, buffer, 1, 0x40]) == 1 {
        count += 1;
    }
    assert_eq!(count, 278, "Linux counts 768 bytes for each");
    assert_eq!(guest.poll(one) & OUT, 0);
    guest.wait("sendto", &[one as u64, buffer, 1, 0]);
    let sender = guest.tid;
    guest.spawn();
    for left in (0..count).rev() {
        assert_eq!(guest.read(other, 1), Ok(b"x".to_vec()));
        let reader = std::mem::replace(&mut guest.tid, sender);
        assert_eq!(guest.may_go_on(), left <= 69, "a quarter of the buffer");
        if left == 69 {
            break;
        }
        guest.tid = reader;
    }
    assert_eq!(guest.redo(), 1);
}

#[test]
fn closing_everything_leaves_no_trace() {
    let mut guest = Guest::new();
    let before = guest.kernel.net.clone();
    let (one, other) = guest.connection();
    guest.write(one, b"something");
    guest.read(other, 100).expect("it is there");
    for fd in [one, other] {
        guest.call("close", &[fd as u64]);
    }
    let (one, other) = guest.pair(PACKETS);
    guest.write(one, b"unread");
    for fd in [other, one] {
        guest.call("close", &[fd as u64]);
    }
    assert_eq!(guest.kernel.net, before);
}

/// What one process does with sockets of its own.
fn use_sockets(guest: &mut Guest) {
    let (one, other) = guest.connection();
    guest.write(one, b"something");
    guest.read(other, 4).expect("it is there");
    let (first, _) = guest.pair(DATAGRAM);
    guest.write(first, b"unread");
    let mailbox = guest.call("socket", &[2, DATAGRAM, 0]);
    let name = guest.loopback(0);
    guest.call("bind", &[mailbox as u64, name, 16]);
    let port = guest.port(mailbox);
    let name = guest.loopback(port);
    guest.call("sendto", &[mailbox as u64, name, 3, 0, name, 16]);
}

#[test]
fn what_two_processes_do_apart_comes_to_the_same_in_either_order() {
    let run = |swapped: bool| {
        let mut guest = Guest::new();
        let first = guest.another();
        let second = (guest.pid, guest.tid);
        let order = if swapped { [second, first] } else { [first, second] };
        for process in order {
            guest.switch(process);
            use_sockets(&mut guest);
        }
        guest.kernel
    };
    assert!(run(false).net == run(true).net, "ports, queues and names depend on who came first");
}
