//! Sleeps of the program take no time: whoever sleeps waits for the supervisor's answer, which it is given when we say so.

use super::time::{Moment, read_time};
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

const IS_VALID: u64 = 0x4008_2102;
/// Sleepers that are told at once: a message has no room for more.
const TOLD_MAX: usize = 100;

/// A thread that sleeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sleeper {
    /// Its question.
    question: u64,
    thread: libc::pid_t,
    /// When it has slept enough.
    until: Moment,
    /// Where it wants to be told what is left when it is interrupted; 0 if it does not.
    left_at: u64,
}

/// The threads that sleep.
#[derive(Default)]
pub(super) struct Sleepers(Vec<Sleeper>);

/// Whom a sleep is answered, and how.
pub(super) struct Awakened {
    pub question: u64,
    pub thread: libc::pid_t,
    pub until: Moment,
    pub left_at: u64,
    /// A signal ends the sleep.
    pub is_interrupted: bool,
}

impl Sleepers {
    /// Notes who sleeps.
    pub fn add(&mut self, question: &libc::seccomp_notif, until: Moment) {
        let (thread, left_at) = (question.pid as libc::pid_t, left_at(question));
        self.0.push(Sleeper { question: question.id, thread, until, left_at });
    }

    /// Those who sleep, as a text: thread, nanoseconds still to sleep, and whether a signal waits for it.
    pub fn told(&mut self, now: Moment, listener: &OwnedFd) -> String {
        self.0.retain(|sleeper| is_valid(listener.as_raw_fd(), sleeper.question));
        self.0.sort_by_key(|sleeper| (sleeper.until, sleeper.thread));
        let word = |sleeper: &Sleeper| {
            let (left, signal) = (sleeper.until.saturating_sub(now), u8::from(has_signal(sleeper.thread)));
            format!("{}:{left}:{signal}", sleeper.thread)
        };
        self.0.iter().take(TOLD_MAX).map(word).collect::<Vec<_>>().join(" ")
    }

    /// Takes a thread from those who sleep.
    pub fn take(&mut self, thread: libc::pid_t) -> Option<Awakened> {
        let index = self.0.iter().position(|sleeper| sleeper.thread == thread)?;
        let Sleeper { question, until, left_at, .. } = self.0.remove(index);
        Some(Awakened { question, thread, until, left_at, is_interrupted: has_signal(thread) })
    }
}

/// Whether whoever asked is still there.
fn is_valid(listener: RawFd, question: u64) -> bool {
    // SAFETY: the number lives as long as the call.
    unsafe { libc::ioctl(listener, IS_VALID, &raw const question) == 0 }
}

/// Whether a signal waits for a thread that would end its sleep. Questions that were read are not interrupted by signals.
fn has_signal(thread: libc::pid_t) -> bool {
    let text = fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default();
    let set = |name: &str| {
        let word = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":\t"));
        word.and_then(|word| u64::from_str_radix(word, 16).ok()).unwrap_or_default()
    };
    (set("SigPnd") | set("ShdPnd")) & !set("SigBlk") & set("SigCgt") != 0
}

/// For how long a call sleeps; nothing if it waits for something else, for ever, or is wrong: then the kernel answers.
pub(super) fn duration(question: &libc::seccomp_notif, now: Moment) -> Option<Moment> {
    let (thread, arguments) = (question.pid as libc::pid_t, question.data.args);
    let at = |address: u64, unit: u64| (address != 0).then(|| read_time(thread, address, unit)).flatten();
    match i64::from(question.data.nr) {
        libc::SYS_nanosleep => at(arguments[0], 1),
        libc::SYS_clock_nanosleep => {
            let clock = arguments[0] as i32;
            let base = super::time::since_start(clock)?;
            let time = at(arguments[2], 1)?;
            let is_absolute = arguments[1] as i32 & libc::TIMER_ABSTIME != 0;
            Some(if is_absolute { time.saturating_sub(base + now) } else { time })
        }
        libc::SYS_poll => u64::try_from(arguments[2] as i32).ok().map(|milliseconds| milliseconds * 1_000_000),
        libc::SYS_ppoll => at(arguments[2], 1),
        libc::SYS_select => at(arguments[4], 1000),
        libc::SYS_pselect6 => at(arguments[4], 1),
        _ => None,
    }
}

/// Where a sleep that is interrupted tells what is left of it, `nanosleep(2)`; 0 for nowhere.
fn left_at(question: &libc::seccomp_notif) -> u64 {
    let arguments = question.data.args;
    match i64::from(question.data.nr) {
        libc::SYS_nanosleep => arguments[1],
        libc::SYS_clock_nanosleep if arguments[1] as i32 & libc::TIMER_ABSTIME == 0 => arguments[3],
        _ => 0,
    }
}
