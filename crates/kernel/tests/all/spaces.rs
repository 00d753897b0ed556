//! Address spaces, identities and limits, call by call.

use crate::guest::Guest;
use kernel::Outcome;

const EPERM: i64 = -1;
const EACCES: i64 = -13;
const EINVAL: i64 = -22;

const PAGE: u64 = 4096;
const READ: u64 = 1;
const READ_WRITE: u64 = 3;
const SHARED: u64 = 1;
const ANONYMOUS: u64 = 0x20;

fn map(guest: &mut Guest, length: u64, protection: u64, flags: u64, fd: i64) -> i64 {
    guest.call("mmap", &[0, length, protection, flags, fd as u64, 0])
}

#[test]
fn shared_anonymous_memory_lives_as_long_as_it_is_mapped() {
    let mut guest = Guest::new();
    let objects = guest.memory.objects().count();
    let address = map(&mut guest, PAGE, READ_WRITE, SHARED | ANONYMOUS, -1);
    assert!(address > 0);
    assert_eq!(guest.memory.objects().count(), objects + 1);
    assert_eq!(guest.call("munmap", &[address as u64, PAGE]), 0);
    assert_eq!(guest.memory.objects().count(), objects);
}

#[test]
fn a_file_opened_for_reading_cannot_be_made_writable_through_its_mapping() {
    let mut guest = Guest::new();
    let path = guest.put(b"/tmp/file\0");
    let writer = guest.call("open", &[path, 0o102, 0o644]);
    guest.write(writer, b"content");
    let reader = guest.call("open", &[path, 0]);
    let closed = map(&mut guest, PAGE, READ, SHARED, reader) as u64;
    assert_eq!(guest.call("mprotect", &[closed, PAGE, READ_WRITE]), EACCES);
    assert_eq!(guest.call("mprotect", &[closed, PAGE, READ]), 0);
    let private = map(&mut guest, PAGE, READ, 2, reader) as u64;
    assert_eq!(guest.call("mprotect", &[private, PAGE, READ_WRITE]), 0);
}

/// glibc loads `libgcc_s.so.1` in whichever thread first calls `pthread_exit(3)`: the address must not tell which that was.
#[test]
fn a_library_lies_where_its_path_says_whichever_thread_loads_it() {
    const LIBRARY: u64 = 0x800 | 2;
    let addresses = |of_second: bool| {
        let mut guest = Guest::new();
        let path = guest.put(b"/tmp/library.so\0");
        let library = guest.call("open", &[path, 0o102, 0o755]);
        guest.write(library, b"code");
        let first = guest.spawn();
        guest.tid = if of_second { guest.tid } else { first };
        [LIBRARY, 2].map(|flags| map(&mut guest, PAGE, READ, flags, library))
    };
    let ([library, file], [library_again, file_again]) = (addresses(false), addresses(true));
    assert_eq!(library, library_again);
    assert_ne!(file, file_again, "what is no library lies in the zone of its thread");
}

#[test]
fn memory_of_another_process_is_copied_page_by_page_up_to_the_first_hole() {
    let mut guest = Guest::new();
    let area = map(&mut guest, 3 * PAGE, READ_WRITE, ANONYMOUS | 2, -1) as u64;
    guest.call("munmap", &[area + 2 * PAGE, PAGE]);
    let target = map(&mut guest, 4 * PAGE, READ_WRITE, ANONYMOUS | 2, -1) as u64;
    let local = guest.put(&[target.to_le_bytes(), (3 * PAGE).to_le_bytes()].concat());
    let remote = guest.put(&[(area + 100).to_le_bytes(), (3 * PAGE).to_le_bytes()].concat());
    let pid = u64::from(guest.pid.0);
    assert_eq!(guest.call("process_vm_readv", &[pid, local, 1, remote, 1, 0]), (2 * PAGE - 100) as i64);
    assert_eq!(guest.call("process_vm_readv", &[pid, local, 1, remote, 1, 7]), EINVAL);
}

#[test]
fn random_numbers_follow_from_the_seed_and_the_thread() {
    let bytes = |seed: u64| {
        let mut guest = Guest::new();
        guest.kernel.seed = seed;
        let buffer = guest.room(32);
        guest.call("getrandom", &[buffer, 32, 0]);
        guest.get(buffer, 32)
    };
    assert_eq!(bytes(1), bytes(1));
    assert_ne!(bytes(1), bytes(2));
}

#[test]
fn a_saved_user_can_be_taken_up_again() {
    let mut guest = Guest::new();
    assert_eq!(guest.call("setresuid", &[1000, 1000, 0]), 0);
    assert_eq!(guest.call("setuid", &[1001]), EPERM);
    assert_eq!(guest.call("setresuid", &[u64::MAX, 0, u64::MAX]), 0);
    assert_eq!(guest.call("geteuid", &[]), 0);
    assert_eq!(guest.call("setuid", &[1000]), 0);
    assert_eq!(guest.call("setresuid", &[u64::MAX, 0, u64::MAX]), EPERM);
}

#[test]
fn hostile_lengths_cost_nothing() {
    let mut guest = Guest::new();
    assert_eq!(guest.call("mmap", &[0, u64::MAX, READ, ANONYMOUS | 2, 0, 0]), -12);
    assert_eq!(guest.call("mincore", &[0, u64::MAX - 5, 0]), -12);
    assert_eq!(guest.call("mlock", &[u64::MAX, u64::MAX]), EINVAL);
    assert_eq!(guest.call("setgroups", &[0xffff_ffff, 0]), EINVAL);
    assert!(matches!(guest.attempt("getrandom", &[0, u64::MAX, 0]), Outcome::Returned(_)));
}
