//! Which system calls of the program become questions to the supervisor (`seccomp_unotify(2)`).

use crate::spec::Clock;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// The calls that tell the time.
const TIME: [i64; 3] = [libc::SYS_clock_gettime, libc::SYS_gettimeofday, libc::SYS_time];
/// Randomness, and opening files, which may be random devices; the ways to another process, which has its own, and its end; and those to another program, whose first stack has more of both.
const ALWAYS: [i64; 10] = [
    libc::SYS_getrandom,
    libc::SYS_open,
    libc::SYS_openat,
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_exit_group,
    libc::SYS_execve,
    libc::SYS_execveat,
];
/// The calls that sleep.
const SLEEP: [i64; 2] = [libc::SYS_nanosleep, libc::SYS_clock_nanosleep];
/// The calls that sleep if the argument with this number says that they wait for no file.
const SLEEP_WITHOUT_FILES: [(i64, u32); 4] =
    [(libc::SYS_poll, 1), (libc::SYS_ppoll, 1), (libc::SYS_select, 0), (libc::SYS_pselect6, 0)];

const ARCHITECTURE: u32 = 0xc000_003e;
const NEW_LISTENER: libc::c_ulong = 1 << 3;
/// A signal does not interrupt a question that was read.
const WAIT_KILLABLE: libc::c_ulong = 1 << 5;

/// Makes these calls of this process, and of all that it starts, questions; where they are read. Nothing if the system cannot.
pub(super) fn install(clock: Clock) -> Option<OwnedFd> {
    let is_virtual = |_: &i64| clock == Clock::Virtual;
    let calls: Vec<i64> = ALWAYS.into_iter().chain(TIME.into_iter().chain(SLEEP).filter(is_virtual)).collect();
    let by_argument = if clock == Clock::Virtual { &SLEEP_WITHOUT_FILES[..] } else { &[] };
    let code = program(&calls, by_argument);
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

/// Calls with these numbers ask, and those whose argument is 0; all others pass.
fn program(calls: &[i64], by_argument: &[(i64, u32)]) -> Vec<libc::sock_filter> {
    let load = |offset| libc::sock_filter { code: 0x20, jt: 0, jf: 0, k: offset };
    let jump_if = |value, jt, jf| libc::sock_filter { code: 0x15, jt, jf, k: value };
    let answer = |value| libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: value };
    let (ask, pass) = (answer(libc::SECCOMP_RET_USER_NOTIF), answer(libc::SECCOMP_RET_ALLOW));
    let mut code = vec![load(4), jump_if(ARCHITECTURE, 1, 0), pass, load(0)];
    for call in calls {
        code.extend([jump_if(*call as u32, 0, 1), ask]);
    }
    for (call, argument) in by_argument {
        code.extend([jump_if(*call as u32, 0, 4), load(16 + 8 * argument), jump_if(0, 0, 1), ask, pass]);
    }
    code.push(pass);
    code
}
