//! What native peers need of the system, and what follows where it is missing.
//!
//! By trying and not by version: containers and hardened kernels take things away that the version
//! promises. Each row says what is lost, since native peers work with less: only `sock_diag` and
//! `schedstat` cannot be done without.

use crate::host::diag::Diagnosis;
use crate::host::supervisor::{ANSWERS, OWN_NETWORK};
use crate::host::sys;
use crate::{Instance, Probe};
use std::process::{Command, Stdio};

/// Tries what native peers need.
#[must_use]
pub fn probes() -> Vec<Probe> {
    let kept = Instance::kept_here();
    let start = kept.as_ref().err().map(|problem| format!("no native peer can be started: it {problem}"));
    let has = |bit: i32| kept.as_ref().is_ok_and(|kept| kept & bit != 0);
    let (is_seen, is_traced) = sleeper();
    let table = [
        ("namespaces", has(OWN_NETWORK), "peers share the ports of this machine, and there is one instance of each"),
        ("seccomp notification", has(ANSWERS), "peers see the real time and real randomness: answers may differ"),
        ("ptrace at exec", is_traced, "peers see the real time, which the vDSO tells: answers may differ"),
        ("sock_diag", has_diagnosis(), "whether a message has arrived is not known: native peers cannot be used"),
        ("/proc/PID/schedstat", has_turns(), "whether a thread has run is not known: native peers cannot be used"),
        ("/proc/PID/syscall", is_seen, "a thread that only sleeps for a while counts as waiting for input"),
    ];
    let probe =
        |(name, is_there, follows): (_, bool, &str)| Probe { name, missing: (!is_there).then(|| follows.to_owned()) };
    let start = Probe { name: "start", missing: start };
    [start].into_iter().chain(table.map(probe)).collect()
}

fn has_diagnosis() -> bool {
    let socket = sys::socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_SOCK_DIAG);
    socket.is_ok_and(|socket| Diagnosis::new(socket).look_up((1, 1)).is_ok())
}

fn has_turns() -> bool {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().nth(2).is_some_and(|turns| turns != "0")
}

/// Whether a child can be looked into, and traced.
fn sleeper() -> (bool, bool) {
    let child = Command::new("/bin/sleep").arg("60").stdin(Stdio::null()).stdout(Stdio::null()).spawn();
    let Ok(mut child) = child else { return (false, false) };
    let is_seen = std::fs::read_to_string(format!("/proc/{}/syscall", child.id())).is_ok();
    // SAFETY: numbers only; it ends below.
    let is_traced =
        unsafe { libc::ptrace(libc::PTRACE_SEIZE, child.id() as libc::pid_t, 0, libc::PTRACE_O_TRACEEXEC) } == 0;
    let _ = child.kill();
    let _ = child.wait();
    (is_seen, is_traced)
}
