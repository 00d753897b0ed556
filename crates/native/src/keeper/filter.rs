//! Which system calls of the program become questions to the keeper (`seccomp_unotify(2)`).

use crate::spec::Clock;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// The calls that tell the time.
const TIME: [i64; 3] = [libc::SYS_clock_gettime, libc::SYS_gettimeofday, libc::SYS_time];
/// Randomness, and the way to another program, whose first stack has more of both.
const ALWAYS: [i64; 3] = [libc::SYS_getrandom, libc::SYS_execve, libc::SYS_execveat];

const ARCHITECTURE: u32 = 0xc000_003e;
const NEW_LISTENER: libc::c_ulong = 1 << 3;
/// A signal does not interrupt a question that was read.
const WAIT_KILLABLE: libc::c_ulong = 1 << 5;

/// Makes these calls of this process, and of all that it starts, questions; where they are read. Nothing if the system cannot.
pub(super) fn install(clock: Clock) -> Option<OwnedFd> {
    let time = TIME.into_iter().filter(|_| clock == Clock::Virtual);
    let calls: Vec<i64> = ALWAYS.into_iter().chain(time).collect();
    let code = program(&calls);
    let program = libc::sock_fprog { len: code.len() as u16, filter: code.as_ptr().cast_mut() };
    let set = |flags: libc::c_ulong| {
        // SAFETY: the program lives as long as the call.
        let fd = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program) };
        // SAFETY: the kernel gave this number to us just now.
        (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
    };
    let set = || set(NEW_LISTENER | WAIT_KILLABLE).or_else(|| set(NEW_LISTENER));
    set().or_else(|| {
        // Who has no privileges must give up gaining any.
        // SAFETY: numbers only.
        unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
        set()
    })
}

/// Calls with these numbers ask; all others pass.
fn program(calls: &[i64]) -> Vec<libc::sock_filter> {
    let load = |offset| libc::sock_filter { code: 0x20, jt: 0, jf: 0, k: offset };
    let jump_if = |value, jt, jf| libc::sock_filter { code: 0x15, jt, jf, k: value };
    let answer = |value| libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: value };
    let count = calls.len() as u8;
    let mut code = vec![load(4), jump_if(ARCHITECTURE, 0, count + 1), load(0)];
    code.extend(calls.iter().zip((1..=count).rev()).map(|(call, ahead)| jump_if(*call as u32, ahead, 0)));
    code.extend([answer(libc::SECCOMP_RET_ALLOW), answer(libc::SECCOMP_RET_USER_NOTIF)]);
    code
}
