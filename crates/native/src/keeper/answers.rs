//! Answers to the program's questions: the time stands still, and random bytes are the same in every instance.

use super::exec;
use crate::spec::Clock;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// The date: 2035-01-01. Waits until an absolute time are the kernel's, who knows another one: in the future they do not end at
/// once, again and again.
const DATE: i64 = 2_051_222_400;
/// Time since the machine was started: more than any machine has been up.
const UPTIME: i64 = 100_000_000;
/// Processor time used.
const USED: i64 = 0;

/// Makes the kernel carry the call out.
const CONTINUE: u32 = 1;
const RECEIVE: u64 = 0xc050_2100;
const SEND: u64 = 0xc018_2101;
const SET_FLAGS: u64 = 0x4008_2104;
/// Whoever answers wakes whoever asked on the same processor.
const SYNC_WAKE_UP: u64 = 1;

/// Where questions come from, and the state of the answers.
pub(super) struct Answers {
    listener: OwnedFd,
    clock: Clock,
    random: u64,
}

/// What the kernel is to say to whoever asked.
enum Answer {
    Value(i64),
    Error(i32),
    Pass,
}

impl Answers {
    pub fn new(listener: OwnedFd, clock: Clock) -> Self {
        // SAFETY: numbers only. Kernels that do not know it are slower.
        unsafe { libc::ioctl(listener.as_raw_fd(), SET_FLAGS, SYNC_WAKE_UP) };
        Self { listener, clock, random: 1 }
    }

    pub fn fd(&self) -> RawFd {
        self.listener.as_raw_fd()
    }

    /// Whether the time is ours.
    pub fn is_virtual(&self) -> bool {
        self.clock == Clock::Virtual
    }

    /// Answers one question. Whoever asked may be gone meanwhile: then nobody hears it.
    pub fn answer(&mut self) {
        // SAFETY: plain data.
        let mut question: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: room for a question.
        if unsafe { libc::ioctl(self.fd(), RECEIVE, &raw mut question) } != 0 {
            return;
        }
        let answer = self.answer_to(&question);
        let (val, error, flags) = match answer {
            Answer::Value(value) => (value, 0, 0),
            Answer::Error(errno) => (0, -errno, 0),
            Answer::Pass => (0, 0, CONTINUE),
        };
        let answer = libc::seccomp_notif_resp { id: question.id, val, error, flags };
        // SAFETY: the answer lives as long as the call.
        unsafe { libc::ioctl(self.fd(), SEND, &raw const answer) };
    }

    fn answer_to(&mut self, question: &libc::seccomp_notif) -> Answer {
        let (asker, arguments) = (question.pid as libc::pid_t, question.data.args);
        match i64::from(question.data.nr) {
            libc::SYS_clock_gettime => stored(asker, arguments[1], &words(seconds_of(arguments[0] as i32), 0)),
            libc::SYS_gettimeofday if arguments[0] == 0 => Answer::Value(0),
            libc::SYS_gettimeofday => stored(asker, arguments[0], &words(DATE, 0)),
            libc::SYS_time if arguments[0] == 0 => Answer::Value(DATE),
            libc::SYS_time => match stored(asker, arguments[0], &DATE.to_le_bytes()) {
                Answer::Value(_) => Answer::Value(DATE),
                other => other,
            },
            libc::SYS_getrandom => self.random(asker, arguments[0], arguments[1]),
            _ => {
                exec::follow(asker);
                Answer::Pass
            }
        }
    }

    /// As `getrandom(2)`, which may give less than was asked for.
    fn random(&mut self, asker: libc::pid_t, address: u64, length: u64) -> Answer {
        let words = (length.min(1 << 20) as usize).div_ceil(8);
        let mut bytes: Vec<u8> = (0..words).flat_map(|_| self.next_random().to_le_bytes()).collect();
        bytes.truncate(length as usize);
        match stored(asker, address, &bytes) {
            Answer::Value(_) => Answer::Value(bytes.len() as i64),
            other => other,
        }
    }

    /// SplitMix64.
    fn next_random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.random;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }
}

/// What a clock says, in seconds.
fn seconds_of(clock: i32) -> i64 {
    match clock {
        libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE | libc::CLOCK_REALTIME_ALARM | libc::CLOCK_TAI => DATE,
        libc::CLOCK_PROCESS_CPUTIME_ID | libc::CLOCK_THREAD_CPUTIME_ID | ..0 => USED,
        _ => UPTIME,
    }
}

fn words(first: i64, second: i64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&first.to_le_bytes());
    bytes[8..].copy_from_slice(&second.to_le_bytes());
    bytes
}

/// Stores bytes in a process; the answer of a call that does only that.
fn stored(process: libc::pid_t, address: u64, bytes: &[u8]) -> Answer {
    let own = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    let other = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: bytes.len() };
    // SAFETY: our side is only read; the other side is memory of another process.
    let written = unsafe { libc::process_vm_writev(process, &own, 1, &other, 1, 0) };
    match std::io::Error::last_os_error().raw_os_error() {
        _ if written == bytes.len() as isize => Answer::Value(0),
        Some(libc::EPERM) if written < 0 => Answer::Pass,
        _ => Answer::Error(libc::EFAULT),
    }
}
