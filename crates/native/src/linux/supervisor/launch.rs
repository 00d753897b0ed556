//! From a fork of the supervisor to the program.
//!
//! Order matters after the fork: death with the parent first, so that no crash leaves a program
//! behind; an ordinary environment next; the seccomp filter last, since calls behind it may have to
//! wait for the supervisor. The listener goes to the supervisor before `execve(2)`: the filter survives it
//! (seccomp(2)), the descriptor need not.

use super::{Order, die_with_parent, filter, fork};
use crate::host::sys::socket_pair;
use crate::host::wire::{self, Tag};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// Starts the program: its process, and where its questions come from. It waits for the first answer before it is executed.
pub(super) fn launch(order: &Order, wire: &OwnedFd) -> io::Result<(libc::pid_t, Option<OwnedFd>)> {
    let (ours, theirs) = socket_pair(libc::SOCK_SEQPACKET)?;
    match fork()? {
        0 => become_program(order, wire, &theirs),
        program => {
            drop(theirs);
            let listener = wire::hear(&ours, 0)?.and_then(|message| message.fd);
            Ok((program, listener))
        }
    }
}

fn become_program(order: &Order, wire: &OwnedFd, supervisor: &OwnedFd) -> ! {
    die_with_parent();
    become_ordinary();
    let listener = filter::install(order.clock);
    let _ = wire::say(supervisor.as_raw_fd(), Tag::Listener, 0, "", listener.as_ref().map(OwnedFd::as_raw_fd));
    let error = execute(order);
    let _ = wire::say(wire.as_raw_fd(), Tag::Failed, 0, &error.to_string(), None);
    // SAFETY: ends the process, and runs nothing of the supervisor's.
    unsafe { libc::_exit(127) }
}

/// Signals as in a new process, a session of its own, and addresses that are the same each time.
///
/// Without address randomisation two instances have the same addresses, so what depends on them
/// (hash orders, printed pointers) is the same too.
fn become_ordinary() {
    // SAFETY: a signal set is plain data; all else is numbers.
    unsafe {
        libc::setsid();
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
    }
}

/// Executes the program; why that failed.
fn execute(order: &Order) -> io::Error {
    let pointers = |words: &[CString]| {
        let words = words.iter().map(|word| word.as_ptr());
        words.chain([std::ptr::null()]).collect::<Vec<_>>()
    };
    let (arguments, environment) = (pointers(&order.arguments), pointers(&order.environment));
    // SAFETY: lists of strings that end with nothing, and live as long as the call.
    unsafe { libc::execve(order.program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    io::Error::last_os_error()
}
