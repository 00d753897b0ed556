//! Waiting for locks and pipes: a wait ends exactly when the redone call makes progress.

use crate::guest::Guest;
use kernel::{Outcome, Tid};

const AT_FDCWD: u64 = -100i64 as u64;
const F_SETLK: u64 = 6;
const F_SETLKW: u64 = 7;
const F_OFD_SETLKW: u64 = 38;
const F_WRLCK: u16 = 1;
const F_UNLCK: u16 = 2;
const LOCK_EX: u64 = 2;
const LOCK_UN: u64 = 8;
const EAGAIN: i64 = -11;
const EDEADLK: i64 = -35;
const EPIPE: i64 = -32;
const ENXIO: i64 = -6;

fn open(guest: &mut Guest) -> i64 {
    let name = guest.put(b"/tmp/file\0");
    guest.call("openat", &[AT_FDCWD, name, 0o102, 0o644])
}

fn flock(guest: &mut Guest, kind: u16, start: u64, length: u64) -> u64 {
    let words = [u64::from(kind), start, length, 0];
    guest.put(&words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())
}

/// A child process with the same descriptors; gives back (parent, child).
fn fork(guest: &mut Guest) -> (Tid, Tid) {
    let parent = guest.tid;
    match guest.attempt("fork", &[]) {
        Outcome::Control(kernel::Control::Spawned { child, .. }) => (parent, child),
        other => panic!("fork: {other:?}"),
    }
}

#[test]
fn a_record_lock_is_waited_for_until_it_can_be_had() {
    let mut guest = Guest::new();
    let fd = open(&mut guest) as u64;
    let (parent, child) = fork(&mut guest);
    let (all, none) = (flock(&mut guest, F_WRLCK, 0, 10), flock(&mut guest, F_UNLCK, 0, 5));
    let rest = flock(&mut guest, F_UNLCK, 0, 0);
    assert_eq!(guest.call("fcntl", &[fd, F_SETLK, all]), 0);
    // The child's memory is a copy made before; it gets its own.
    guest.tid = child;
    guest.pid = kernel::Pid(child.0);
    let wanted = flock(&mut guest, F_WRLCK, 5, 10);
    assert_eq!(guest.call("fcntl", &[fd, F_SETLK, wanted]), EAGAIN);
    guest.wait("fcntl", &[fd, F_SETLKW, wanted]);
    guest.tid = parent;
    assert_eq!(guest.call("fcntl", &[fd, F_SETLK, none]), 0);
    guest.tid = child;
    assert!(!guest.may_go_on(), "bytes 5 to 9 are still held");
    guest.tid = parent;
    assert_eq!(guest.call("fcntl", &[fd, F_SETLK, rest]), 0);
    guest.tid = child;
    assert_eq!(guest.redo(), 0);
}

#[test]
fn a_circle_of_waiting_processes_is_refused() {
    let mut guest = Guest::new();
    let fd = open(&mut guest) as u64;
    let (parent, child) = fork(&mut guest);
    let (first, second) = (flock(&mut guest, F_WRLCK, 0, 1), flock(&mut guest, F_WRLCK, 1, 1));
    assert_eq!(guest.call("fcntl", &[fd, F_SETLK, first]), 0);
    let parent_pid = guest.pid;
    guest.tid = child;
    guest.pid = kernel::Pid(child.0);
    let (own, wanted) = (flock(&mut guest, F_WRLCK, 1, 1), flock(&mut guest, F_WRLCK, 0, 1));
    assert_eq!(guest.call("fcntl", &[fd, F_SETLK, own]), 0);
    guest.wait("fcntl", &[fd, F_SETLKW, wanted]);
    (guest.tid, guest.pid) = (parent, parent_pid);
    assert_eq!(guest.call("fcntl", &[fd, F_SETLKW, second]), EDEADLK);
}

#[test]
fn locks_of_two_descriptions_wait_for_each_other_in_one_process() {
    let mut guest = Guest::new();
    let (one, other) = (open(&mut guest) as u64, open(&mut guest) as u64);
    let lock = flock(&mut guest, F_WRLCK, 0, 0);
    assert_eq!(guest.call("fcntl", &[one, F_OFD_SETLKW, lock]), 0);
    let first = guest.spawn();
    guest.wait("fcntl", &[other, F_OFD_SETLKW, lock]);
    let second = std::mem::replace(&mut guest.tid, first);
    assert_eq!(guest.call("close", &[one]), 0);
    guest.tid = second;
    assert_eq!(guest.redo(), 0);
}

#[test]
fn a_whole_lock_is_waited_for_until_it_can_be_had() {
    let mut guest = Guest::new();
    let (one, other) = (open(&mut guest) as u64, open(&mut guest) as u64);
    assert_eq!(guest.call("flock", &[one, LOCK_EX]), 0);
    let first = guest.spawn();
    guest.wait("flock", &[other, LOCK_EX]);
    let second = std::mem::replace(&mut guest.tid, first);
    assert_eq!(guest.call("flock", &[one, LOCK_UN]), 0);
    guest.tid = second;
    assert_eq!(guest.redo(), 0);
}

fn pipe(guest: &mut Guest) -> (u64, u64) {
    let result = guest.room(8);
    assert_eq!(guest.call("pipe", &[result]), 0);
    (guest.get_u32(result).into(), guest.get_u32(result + 4).into())
}

#[test]
fn a_reader_waits_for_bytes_or_the_end() {
    let mut guest = Guest::new();
    let (reader, writer) = pipe(&mut guest);
    let buffer = guest.room(16);
    let first = guest.spawn();
    guest.wait("read", &[reader, buffer, 16]);
    let second = std::mem::replace(&mut guest.tid, first);
    guest.write(writer as i64, b"abc");
    guest.tid = second;
    assert_eq!(guest.redo(), 3);
    guest.wait("read", &[reader, buffer, 16]);
    guest.tid = first;
    guest.call("close", &[writer]);
    guest.tid = second;
    assert_eq!(guest.redo(), 0);
}

#[test]
fn a_long_write_goes_on_where_it_waited() {
    let mut guest = Guest::new();
    let (reader, writer) = pipe(&mut guest);
    let long: Vec<u8> = (0..100_000u32).map(|number| number as u8).collect();
    let (bytes, buffer) = (guest.put(&long), guest.room(100_000));
    let first = guest.spawn();
    guest.wait("write", &[writer, bytes, 100_000]);
    let second = std::mem::replace(&mut guest.tid, first);
    assert_eq!(guest.call("read", &[reader, buffer, 40_000]), 40_000);
    guest.tid = second;
    assert_eq!(guest.redo(), 100_000);
    guest.tid = first;
    assert_eq!(guest.call("read", &[reader, buffer + 40_000, 60_000]), 60_000);
    assert_eq!(guest.get(buffer, 100_000), long);
}

#[test]
fn a_writer_without_readers_is_told() {
    let mut guest = Guest::new();
    let (reader, writer) = pipe(&mut guest);
    guest.call("close", &[reader]);
    assert_eq!(guest.write(writer as i64, b"x"), EPIPE);
    let pending = &guest.kernel.threads.get(&guest.tid).expect("it lives").pending;
    assert_eq!(pending.iter().map(|info| info.number).collect::<Vec<_>>(), [13]);
}

#[test]
fn both_sides_of_a_fifo_wait_for_each_other() {
    let mut guest = Guest::new();
    let name = guest.put(b"/tmp/fifo\0");
    assert_eq!(guest.call("mknod", &[name, 0o010_644, 0]), 0);
    assert_eq!(guest.call("open", &[name, 0o4001, 0]), ENXIO);
    let first = guest.spawn();
    guest.wait("open", &[name, 0, 0]);
    let second = std::mem::replace(&mut guest.tid, first);
    let writer = guest.call("open", &[name, 1, 0]);
    assert!(writer >= 0);
    // The reader counts from when it began to wait, so what is written now reaches it, even if the writer has gone.
    assert_eq!(guest.write(writer, b"early"), 5);
    guest.call("close", &[writer as u64]);
    guest.tid = second;
    let reader = guest.redo();
    assert_eq!(guest.read(reader, 16), Ok(b"early".to_vec()));
    assert_eq!(guest.read(reader, 16), Ok(Vec::new()));
}

#[test]
fn a_file_without_names_lives_until_it_is_closed() {
    let mut guest = Guest::new();
    let fd = open(&mut guest);
    guest.write(fd, b"content");
    let name = guest.put(b"/tmp/file\0");
    let objects = guest.memory.objects().count();
    assert_eq!(guest.call("unlink", &[name]), 0);
    guest.call("lseek", &[fd as u64, 0, 0]);
    assert_eq!(guest.read(fd, 16), Ok(b"content".to_vec()));
    guest.call("close", &[fd as u64]);
    assert_eq!(guest.memory.objects().count(), objects - 1);
    assert!(guest.kernel.files.inodes.values().all(|inode| inode.links > 0));
}
