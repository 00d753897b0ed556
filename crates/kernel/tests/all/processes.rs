//! How processes and threads begin and end, call by call.

use crate::guest::Guest;
use kernel::lifecycle;
use kernel::process::State;
use kernel::{Control, Outcome, Pid, Tid};

const ECHILD: i64 = -10;
const EINVAL: i64 = -22;

const SIGCHLD: u64 = 17;
const SIGKILL: u64 = 9;
const NOHANG: u64 = 1;
const ANYBODY: u64 = u64::MAX;

/// Forks; the test goes on as the parent.
fn fork(guest: &mut Guest) -> Pid {
    match guest.attempt("fork", &[]) {
        Outcome::Control(Control::Spawned { child, result, wait: None, .. }) => {
            assert_eq!(u64::from(child.0), result);
            Pid(child.0)
        }
        other => panic!("fork: {other:?}"),
    }
}

/// Makes a call as another process.
fn call_as(guest: &mut Guest, pid: Pid, name: &str, args: &[u64]) -> Outcome {
    let (own_pid, own_tid) = (guest.pid, guest.tid);
    (guest.pid, guest.tid) = (pid, Tid(pid.0));
    let outcome = guest.attempt(name, args);
    (guest.pid, guest.tid) = (own_pid, own_tid);
    outcome
}

fn exit(guest: &mut Guest, pid: Pid, code: u64) {
    assert_eq!(call_as(guest, pid, "exit_group", &[code]), Outcome::Control(Control::Ended));
}

fn wait_any(guest: &mut Guest, options: u64) -> i64 {
    guest.call("wait4", &[ANYBODY, 0, options])
}

#[test]
fn children_are_reported_oldest_first_whatever_their_numbers() {
    let mut guest = Guest::new();
    let children: Vec<Pid> = (0..5).map(|_| fork(&mut guest)).collect();
    for child in children.iter().rev() {
        exit(&mut guest, *child, 0);
    }
    let reported: Vec<i64> = (0..5).map(|_| wait_any(&mut guest, 0)).collect();
    assert_eq!(reported, children.iter().map(|child| i64::from(child.0)).collect::<Vec<_>>());
    assert_eq!(wait_any(&mut guest, 0), ECHILD);
}

#[test]
fn a_wait_is_over_exactly_when_a_child_can_be_reported() {
    let mut guest = Guest::new();
    let (one, two) = (fork(&mut guest), fork(&mut guest));
    let status = guest.room(4);
    assert_eq!(wait_any(&mut guest, NOHANG), 0);
    guest.wait("wait4", &[u64::from(two.0), status, 0]);
    exit(&mut guest, one, 1);
    assert!(!guest.may_go_on(), "the other child ended");
    exit(&mut guest, two, 7);
    assert_eq!(guest.redo(), i64::from(two.0));
    assert_eq!(guest.get_u32(status), 7 << 8);
}

#[test]
fn independent_forks_and_exits_commute_bit_for_bit() {
    let mut base = Guest::new();
    let (one, two) = (fork(&mut base), fork(&mut base));
    let run = |first: Pid, second: Pid| {
        let mut guest = Guest::new();
        (guest.kernel, guest.memory) = (base.kernel.clone(), base.memory.clone());
        for pid in [first, second] {
            assert!(matches!(call_as(&mut guest, pid, "fork", &[]), Outcome::Control(_)));
            assert!(matches!(call_as(&mut guest, pid, "pipe2", &[0x10_0000, 0]), Outcome::Returned(0)));
        }
        (guest.kernel.clone(), guest.memory.fingerprint())
    };
    let (forth, back) = (run(one, two), run(two, one));
    assert_eq!(forth.1, back.1, "memory");
    assert_eq!(forth.0, back.0, "kernel");
}

#[test]
fn a_parent_of_vfork_waits_until_the_child_executes_or_ends() {
    let mut guest = Guest::new();
    let Outcome::Control(Control::Spawned { child, wait: Some(_), .. }) = guest.attempt("vfork", &[]) else {
        panic!("vfork makes the parent wait");
    };
    assert!(!guest.may_go_on());
    let process = guest.kernel.processes.get(&Pid(child.0)).expect("it was created");
    assert_eq!(process.space, guest.kernel.processes.get(&guest.pid).expect("it lives").space);
    exit(&mut guest, Pid(child.0), 0);
    assert_eq!(guest.redo(), i64::from(child.0));
    assert!(guest.memory.space_exists(guest.kernel.processes.get(&guest.pid).expect("it lives").space));
}

#[test]
fn executing_leaves_one_thread_with_the_process_number() {
    let mut guest = Guest::new();
    let first = guest.spawn();
    let second = guest.tid;
    let space = lifecycle::fresh_space(&mut guest.kernel, second);
    guest.memory.create_space(space);
    let old = guest.kernel.processes.get(&guest.pid).expect("it lives").space;
    let image = kernel::process::Image { path: b"/bin/a-rather-long-name".to_vec(), ..Default::default() };
    let left = lifecycle::executed(&mut guest.kernel, &mut guest.memory, second, space, 0x1000, image);
    assert_eq!(left, first);
    assert!(!guest.kernel.threads.contains_key(&second));
    assert_eq!(guest.kernel.threads.get(&first).expect("it is left").name, b"a-rather-long-n");
    assert!(!guest.memory.space_exists(old), "nobody uses the old memory");
}

#[test]
fn a_first_process_stays_until_its_status_was_read() {
    let mut guest = Guest::new();
    let pid = guest.pid;
    exit(&mut guest, pid, 3);
    assert_eq!(guest.kernel.processes.get(&pid).map(|process| process.state), Some(State::Zombie(3 << 8)));
    assert!(guest.kernel.threads.is_empty());
}

#[test]
fn orphans_are_reaped_by_nobody_and_leave_nothing() {
    let mut guest = Guest::new();
    let child = fork(&mut guest);
    let Outcome::Control(Control::Spawned { child: grandchild, .. }) = call_as(&mut guest, child, "fork", &[]) else {
        panic!("fork makes a process");
    };
    exit(&mut guest, child, 0);
    wait_any(&mut guest, 0);
    assert_eq!(guest.kernel.processes.get(&Pid(grandchild.0)).map(|process| process.parent), Some(Pid(1)));
    exit(&mut guest, Pid(grandchild.0), 0);
    assert_eq!(guest.kernel.processes.len(), 1);
    assert_eq!(guest.memory.spaces().count(), 1);
}

#[test]
fn descriptors_are_counted_over_fork_and_exit() {
    let mut guest = Guest::new();
    let pipes = guest.room(8);
    guest.call("pipe2", &[pipes, 0]);
    let (reader, writer) = (i64::from(guest.get_u32(pipes)), u64::from(guest.get_u32(pipes + 4)));
    let child = fork(&mut guest);
    guest.call("close", &[writer]);
    let buffer = guest.room(1);
    guest.wait("read", &[reader as u64, buffer, 1]);
    exit(&mut guest, child, 0);
    assert_eq!(guest.redo(), 0, "the last writer is gone");
}

#[test]
fn what_is_not_modelled_is_refused_by_name() {
    let mut guest = Guest::new();
    const NEW_PID: u64 = 0x2000_0000;
    const FILES: u64 = 0x400;
    for flags in [NEW_PID, FILES] {
        let outcome = guest.attempt("clone", &[flags | SIGCHLD]);
        assert!(matches!(outcome, Outcome::Unsupported(what) if what.starts_with("clone: ")));
    }
    assert!(matches!(guest.attempt("ptrace", &[0]), Outcome::Unsupported(what) if what.starts_with("ptrace")));
    assert_eq!(guest.call("wait4", &[ANYBODY, 0, 0x100]), EINVAL);
}

#[test]
fn a_stopped_process_handles_nothing_until_it_goes_on() {
    let mut guest = Guest::new();
    let child = fork(&mut guest);
    let tid = Tid(child.0);
    guest.call("kill", &[u64::from(child.0), 19]);
    kernel::signal::take(&mut guest.kernel, &mut guest.memory, tid);
    guest.call("kill", &[u64::from(child.0), 15]);
    assert!(!kernel::signal::is_deliverable(&guest.kernel, tid));
    guest.call("kill", &[u64::from(child.0), 18]);
    assert!(kernel::signal::is_deliverable(&guest.kernel, tid));
    kernel::signal::take(&mut guest.kernel, &mut guest.memory, tid);
    assert_eq!(wait_any(&mut guest, 0), i64::from(child.0));
}

#[test]
fn a_killed_process_ends_at_the_next_look_even_while_stopped() {
    let mut guest = Guest::new();
    let child = fork(&mut guest);
    guest.call("kill", &[u64::from(child.0), 19]);
    assert!(kernel::signal::take(&mut guest.kernel, &mut guest.memory, Tid(child.0)).is_none());
    assert!(!kernel::signal::may_run(&guest.kernel, Tid(child.0)));
    guest.call("kill", &[u64::from(child.0), SIGKILL]);
    assert!(kernel::signal::is_deliverable(&guest.kernel, Tid(child.0)));
    assert!(kernel::signal::take(&mut guest.kernel, &mut guest.memory, Tid(child.0)).is_none());
    assert_eq!(wait_any(&mut guest, 0), i64::from(child.0));
}

#[test]
fn a_clone_that_cannot_store_its_descriptor_makes_no_child() {
    const CLONE_PIDFD: u64 = 0x1000;
    const EFAULT: i64 = -14;
    let mut guest = Guest::new();
    let threads = guest.kernel.threads.len();
    assert_eq!(guest.call("clone", &[CLONE_PIDFD | SIGCHLD, 0, 1, 0, 0]), EFAULT);
    assert_eq!((guest.kernel.threads.len(), wait_any(&mut guest, NOHANG)), (threads, ECHILD));
}
