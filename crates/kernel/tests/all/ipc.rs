//! System V and POSIX communication, call by call.

use crate::guest::Guest;
use kernel::lifecycle;

const EAGAIN: i64 = -11;
const EIDRM: i64 = -43;
const EINVAL: i64 = -22;
const ENOMSG: i64 = -42;
const EMSGSIZE: i64 = -90;
const ETIMEDOUT: i64 = -110;

const CREATE: u64 = 0o1600;
const RMID: u64 = 0;
const STAT: u64 = 2;
const GETVAL: u64 = 12;
const SETVAL: u64 = 16;
const GETNCNT: u64 = 14;
const UNDO: u16 = 0x1000;
const NO_WAIT: u16 = 0o4000;

fn operations(guest: &mut Guest, operations: &[(u16, i16, u16)]) -> u64 {
    let bytes: Vec<u8> = operations
        .iter()
        .flat_map(|(semaphore, add, flags)| [*semaphore, *add as u16, *flags])
        .flat_map(u16::to_le_bytes)
        .collect();
    guest.put(&bytes)
}

#[test]
fn semaphore_operations_happen_all_or_none() {
    let mut guest = Guest::new();
    let set = guest.call("semget", &[0, 2, CREATE]) as u64;
    guest.call("semctl", &[set, 0, SETVAL, 1]);
    let both = operations(&mut guest, &[(0, -1, 0), (1, -1, NO_WAIT)]);
    assert_eq!(guest.call("semop", &[set, both, 2]), EAGAIN);
    assert_eq!(guest.call("semctl", &[set, 0, GETVAL]), 1);
    guest.call("semctl", &[set, 1, SETVAL, 1]);
    assert_eq!(guest.call("semop", &[set, both, 2]), 0);
    assert_eq!(guest.call("semctl", &[set, 0, GETVAL]), 0);
}

#[test]
fn a_semaphore_waits_until_it_is_raised_or_removed() {
    let mut guest = Guest::new();
    let set = guest.call("semget", &[0, 1, CREATE]) as u64;
    let down = operations(&mut guest, &[(0, -1, 0)]);
    let up = operations(&mut guest, &[(0, 1, 0)]);
    guest.wait("semop", &[set, down, 1]);
    let waiting = guest.tid;
    guest.spawn();
    let other = guest.tid;
    assert_eq!(guest.call("semctl", &[set, 0, GETNCNT]), 1);
    assert_eq!(guest.call("semop", &[set, up, 1]), 0);
    guest.tid = waiting;
    assert_eq!(guest.redo(), 0);
    guest.wait("semop", &[set, down, 1]);
    guest.tid = other;
    assert_eq!(guest.call("semctl", &[set, 0, RMID]), 0);
    guest.tid = waiting;
    assert_eq!(guest.redo(), EIDRM);
}

#[test]
fn what_a_process_took_comes_back_when_it_ends() {
    let mut guest = Guest::new();
    let set = guest.call("semget", &[7, 1, CREATE | 0o1000]) as u64;
    guest.call("semctl", &[set, 0, SETVAL, 1]);
    let down = operations(&mut guest, &[(0, -1, UNDO)]);
    assert_eq!(guest.call("semop", &[set, down, 1]), 0);
    let start = lifecycle::Start { name: "other".to_string() };
    let (pid, tid) = lifecycle::start(&mut guest.kernel, &mut guest.memory, start);
    lifecycle::end_process(&mut guest.kernel, &mut guest.memory, guest.pid, 0);
    (guest.pid, guest.tid) = (pid, tid);
    assert_eq!(guest.call("semget", &[7, 1, 0]) as u64, set);
    assert_eq!(guest.call("semctl", &[set, 0, GETVAL]), 1);
}

#[test]
fn two_attachments_show_the_same_bytes_and_the_last_one_ends_a_removed_segment() {
    let mut guest = Guest::new();
    let segment = guest.call("shmget", &[0, 5000, CREATE]) as u64;
    let one = guest.call("shmat", &[segment, 0, 0]) as u64;
    let other = guest.call("shmat", &[segment, 0, 0o10000]) as u64;
    assert_ne!(one, other);
    let space = guest.kernel.processes.get(&guest.pid).unwrap().space;
    guest.memory.write(space, one + 4096, b"shared").unwrap();
    assert_eq!(guest.get(other + 4096, 6), b"shared");
    assert!(guest.memory.write(space, other, b"x").is_err(), "attached for reading only");
    let status = guest.room(112);
    assert_eq!(guest.call("shmctl", &[segment, RMID]), 0);
    assert_eq!(guest.call("shmctl", &[segment, STAT, status]), 0);
    assert_eq!(guest.get_u32(status + 88), 2);
    assert_eq!(guest.call("shmdt", &[one]), 0);
    assert_eq!(guest.call("shmdt", &[one]), EINVAL);
    assert_eq!(guest.call("shmdt", &[other]), 0);
    assert_eq!(guest.call("shmctl", &[segment, STAT, status]), EINVAL);
}

fn message(guest: &mut Guest, kind: u64, text: &[u8]) -> u64 {
    guest.put(&[&kind.to_le_bytes()[..], text].concat())
}

#[test]
fn messages_are_found_by_their_type() {
    let mut guest = Guest::new();
    let queue = guest.call("msgget", &[0, CREATE]) as u64;
    for (kind, text) in [(3, b"three"), (1, b"one  "), (2, b"two  ")] {
        let message = message(&mut guest, kind, text);
        assert_eq!(guest.call("msgsnd", &[queue, message, 5, 0]), 0);
    }
    let buffer = guest.room(64);
    let mut receive = |kind: i64, flags: u64| match guest.call("msgrcv", &[queue, buffer, 50, kind as u64, flags]) {
        count if count < 0 => Err(count),
        count => Ok(guest.get(buffer + 8, count as usize)),
    };
    assert_eq!(receive(2, 0), Ok(b"two  ".to_vec()));
    assert_eq!(receive(-3, 0), Ok(b"one  ".to_vec()));
    assert_eq!(receive(9, 0o4000), Err(ENOMSG));
    assert_eq!(receive(0, 0), Ok(b"three".to_vec()));
}

#[test]
fn a_full_queue_makes_the_sender_wait() {
    let mut guest = Guest::new();
    let queue = guest.call("msgget", &[0, CREATE]) as u64;
    let big = message(&mut guest, 1, &[7; 8192]);
    assert_eq!(guest.call("msgsnd", &[queue, big, 8192, 0]), 0);
    assert_eq!(guest.call("msgsnd", &[queue, big, 8192, 0]), 0);
    assert_eq!(guest.call("msgsnd", &[queue, big, 1, 0o4000]), EAGAIN);
    guest.wait("msgsnd", &[queue, big, 1, 0]);
    let waiting = guest.tid;
    guest.spawn();
    let buffer = guest.room(8200);
    assert_eq!(guest.call("msgrcv", &[queue, buffer, 8192, 0, 0]), 8192);
    guest.tid = waiting;
    assert_eq!(guest.redo(), 0);
}

#[test]
fn a_posix_queue_gives_the_most_urgent_message_first() {
    let mut guest = Guest::new();
    let name = guest.put(b"queue\0");
    let attributes = guest.put(&[0u64, 3, 16, 0].map(u64::to_le_bytes).concat());
    let queue = guest.call("mq_open", &[name, 0o102, 0o600, attributes]) as u64;
    for (text, priority) in [(b"low 1", 1), (b"high!", 9), (b"low 2", 1)] {
        let text = guest.put(text);
        assert_eq!(guest.call("mq_timedsend", &[queue, text, 5, priority, 0]), 0);
    }
    let past = guest.put(&[0u64, 0].map(u64::to_le_bytes).concat());
    assert_eq!(guest.call("mq_timedsend", &[queue, name, 1, 0, past]), ETIMEDOUT);
    assert_eq!(guest.call("mq_timedsend", &[queue, name, 17, 0, 0]), EMSGSIZE);
    let buffer = guest.room(16);
    assert_eq!(guest.call("mq_timedreceive", &[queue, buffer, 15, 0, 0]), EMSGSIZE);
    let mut texts = Vec::new();
    for _ in 0..3 {
        assert_eq!(guest.call("mq_timedreceive", &[queue, buffer, 16, 0, 0]), 5);
        texts.push(guest.get(buffer, 5));
    }
    assert_eq!(texts, [b"high!", b"low 1", b"low 2"]);
    guest.wait("mq_timedreceive", &[queue, buffer, 16, 0, 0]);
}

#[test]
fn an_unlinked_posix_queue_ends_with_its_last_user() {
    let mut guest = Guest::new();
    let name = guest.put(b"queue\0");
    let queue = guest.call("mq_open", &[name, 0o102, 0o600, 0]) as u64;
    assert_eq!(guest.call("mq_unlink", &[name]), 0);
    assert_eq!(guest.call("mq_unlink", &[name]), -2);
    guest.call("close", &[queue]);
    assert_eq!(guest.kernel.ipc, kernel::ipc::Ipc::default());
}
