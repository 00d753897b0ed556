//! What a guest sends to a peer that takes bytes as it has room, call by call.

use crate::guest::Guest;
use kernel::errno::EFAULT;
use kernel::net::far::{PeerId, Site};
use kernel::net::{Transport, far_live};
use kernel::{Id, Outcome};

const STREAM: u64 = 1;
const NONBLOCK: u64 = 0o4000;
const EAGAIN: i64 = -11;
const PAGE: u64 = 4096;
/// More than both buffers hold.
const MUCH: u64 = 300_000;
/// Where the memory of a guest ends.
const END: u64 = 0x50_0000;

/// A guest with a connection to a peer, and the far end.
fn connected(flags: u64) -> (Guest, u64, Id) {
    let mut guest = Guest::new();
    guest.kernel.net.far.is_live = true;
    guest.kernel.net.far.declared.insert(Site::Local(Transport::Tcp, 7000), PeerId(0));
    let fd = guest.call("socket", &[2, STREAM, 0]) as u64;
    let name = guest.loopback(7000);
    assert_eq!(guest.call("connect", &[fd, name, 16]), 0);
    let set = 4;
    guest.call("fcntl", &[fd, set, flags]);
    let end = *guest.kernel.net.far.ends.keys().next().expect("a far end");
    (guest, fd, end)
}

/// Bytes that differ from page to page, not at the beginning of one.
fn text(guest: &mut Guest) -> u64 {
    let bytes: Vec<u8> = (0..MUCH).map(|at| (at / 7 % 251) as u8).collect();
    let start = guest.put(&[0; 100]);
    assert!(start < guest.put(&bytes));
    start + 112
}

/// All that the peer is sent while it takes so much at once, and what the call returned.
fn sent(call: &str, count: usize) -> (Vec<u8>, i64) {
    let (mut guest, fd, end) = connected(0);
    let from = text(&mut guest);
    let pieces: Vec<u8> =
        [from, 5000, from + 5000, 0, from + 5000, MUCH - 5000].iter().flat_map(|word| word.to_le_bytes()).collect();
    let pieces = guest.put(&pieces);
    let mut outcome = match call {
        "writev" => guest.attempt("writev", &[fd, pieces, 3]),
        call => guest.attempt(call, &[fd, from, MUCH]),
    };
    let mut bytes = Vec::new();
    loop {
        let waiting = far_live::waiting(&guest.kernel, end);
        let now = &waiting[..waiting.len().min(count)];
        bytes.extend_from_slice(now);
        let taken = now.len();
        far_live::take(&mut guest.kernel, end, taken);
        match outcome {
            Outcome::Waiting if guest.may_go_on() => outcome = guest.kernel.redo(&mut guest.memory, guest.tid),
            Outcome::Returned(value) if taken == 0 => return (bytes, value as i64),
            _ => {}
        }
    }
}

#[test]
fn a_peer_gets_what_was_sent_whatever_the_call_and_however_much_it_takes() {
    let expected = sent("sendto", 1 << 20);
    assert_eq!((expected.0.len() as u64, expected.1 as u64), (MUCH, MUCH));
    for call in ["write", "writev", "sendto"] {
        for count in [999, 70_000, 1 << 20] {
            assert!(sent(call, count) == expected, "{call}, {count} at once");
        }
    }
}

#[test]
fn who_does_not_wait_sends_what_there_is_room_for() {
    let ends = ["write", "sendto"].map(|call| {
        let (mut guest, fd, end) = connected(NONBLOCK);
        let from = text(&mut guest);
        let first = guest.call(call, &[fd, from, MUCH]);
        assert_eq!(guest.call(call, &[fd, from, MUCH]), EAGAIN);
        (first, far_live::waiting(&guest.kernel, end).to_vec())
    });
    assert!(ends[0].0 > 0 && ends[0].0 < MUCH as i64);
    assert_eq!(ends[0], ends[1]);
}

#[test]
fn of_memory_that_is_not_there_nothing_is_sent() {
    let (mut guest, fd, end) = connected(0);
    assert_eq!(guest.call("write", &[fd, END, 10]), -i64::from(EFAULT.0));
    assert_eq!(guest.call("write", &[fd, END - PAGE - 3, 2 * PAGE]), PAGE as i64 + 3, "what is there is sent");
    assert_eq!(far_live::waiting(&guest.kernel, end).len() as u64, PAGE + 3);
    assert_eq!(guest.call("write", &[fd, END - 3, 0]), 0);
}
