//! Answers to the program's questions: time passes only while it sleeps, and random bytes are the same in every instance.

use super::devices::{RandomDevices, is_random};
use super::exec;
use super::processes::Processes;
use super::sleepers::{Awakened, Sleepers, duration};
use super::time::{self, Moment, words};
use crate::spec::Clock;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

/// Makes the kernel carry the call out.
const CONTINUE: u32 = 1;
const RECEIVE: u64 = 0xc050_2100;
const SEND: u64 = 0xc018_2101;
const SET_FLAGS: u64 = 0x4008_2104;
const GIVE: u64 = 0x4018_2103;
/// A descriptor that is given is the answer.
const AND_SEND: u32 = 2;
/// Whoever answers wakes whoever asked on the same processor.
const SYNC_WAKE_UP: u64 = 1;

/// Where questions come from, and the state of the answers.
pub(super) struct Answers {
    listener: OwnedFd,
    clock: Clock,
    processes: Processes,
    /// What the program's clocks have passed.
    now: Moment,
    sleepers: Sleepers,
    devices: RandomDevices,
}

/// A descriptor for whoever asked, `struct seccomp_notif_addfd`.
#[repr(C)]
struct GivenFile {
    id: u64,
    flags: u32,
    source: u32,
    target: u32,
    newfd_flags: u32,
}

/// What the kernel is to say to whoever asked.
enum Answer {
    Value(i64),
    Error(i32),
    Pass,
    /// Nothing, or nothing yet.
    Later,
}

impl Answers {
    pub fn new(listener: OwnedFd, clock: Clock) -> Self {
        // SAFETY: numbers only. Kernels that do not know it are slower.
        unsafe { libc::ioctl(listener.as_raw_fd(), SET_FLAGS, SYNC_WAKE_UP) };
        let (sleepers, devices) = (Sleepers::default(), RandomDevices::default());
        Self { listener, clock, processes: Processes::new(), now: 0, sleepers, devices }
    }

    pub fn fd(&self) -> RawFd {
        self.listener.as_raw_fd()
    }

    /// Where random devices say that they have room.
    pub fn devices_fd(&self) -> RawFd {
        self.devices.fd()
    }

    /// Refills random devices.
    pub fn refill(&mut self) {
        self.devices.refill();
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
        self.send(question.id, answer);
    }

    fn send(&self, question: u64, answer: Answer) {
        let (val, error, flags) = match answer {
            Answer::Value(value) => (value, 0, 0),
            Answer::Error(errno) => (0, -errno, 0),
            Answer::Pass => (0, 0, CONTINUE),
            Answer::Later => return,
        };
        let answer = libc::seccomp_notif_resp { id: question, val, error, flags };
        // SAFETY: the answer lives as long as the call.
        unsafe { libc::ioctl(self.fd(), SEND, &raw const answer) };
    }

    fn answer_to(&mut self, question: &libc::seccomp_notif) -> Answer {
        let (asker, arguments) = (question.pid as libc::pid_t, question.data.args);
        match i64::from(question.data.nr) {
            libc::SYS_clock_gettime => self.tell_time(asker, arguments[1], arguments[0] as i32, 1),
            libc::SYS_gettimeofday if arguments[0] == 0 => Answer::Value(0),
            libc::SYS_gettimeofday => self.tell_time(asker, arguments[0], libc::CLOCK_REALTIME, 1000),
            libc::SYS_time => self.tell_date(asker, arguments[0]),
            libc::SYS_getrandom => self.random(asker, arguments[0], arguments[1]),
            libc::SYS_open => self.open(question, arguments[0], arguments[1] as i32),
            libc::SYS_openat => self.open(question, arguments[1], arguments[2] as i32),
            libc::SYS_execve | libc::SYS_execveat => {
                exec::follow(asker);
                Answer::Pass
            }
            libc::SYS_fork | libc::SYS_vfork | libc::SYS_clone | libc::SYS_clone3 => {
                self.processes.note_fork(question);
                Answer::Pass
            }
            libc::SYS_exit_group => {
                self.processes.note_exit(asker);
                Answer::Pass
            }
            _ => self.sleep(question),
        }
    }

    /// Stores what a clock says: seconds and a smaller unit, of so many nanoseconds.
    fn tell_time(&self, asker: libc::pid_t, address: u64, clock: i32, unit: i64) -> Answer {
        let (seconds, nanoseconds) = time::clock(clock, self.now);
        stored(asker, address, &words(seconds, nanoseconds / unit))
    }

    /// As `time(2)`.
    fn tell_date(&self, asker: libc::pid_t, address: u64) -> Answer {
        let (date, _) = time::clock(libc::CLOCK_REALTIME, self.now);
        match address {
            0 => Answer::Value(date),
            _ => match stored(asker, address, &date.to_le_bytes()) {
                Answer::Value(_) => Answer::Value(date),
                other => other,
            },
        }
    }

    /// Whoever sleeps is answered when we say so.
    fn sleep(&mut self, question: &libc::seccomp_notif) -> Answer {
        match duration(question, self.now) {
            None => Answer::Pass,
            Some(0) => Answer::Value(0),
            Some(time) => {
                self.sleepers.add(question, self.now.saturating_add(time));
                Answer::Later
            }
        }
    }

    /// Who sleeps, in words.
    pub fn sleepers(&mut self) -> String {
        self.sleepers.told(self.now, &self.listener)
    }

    /// Ends the sleep of a thread; its clocks may pass meanwhile, or not.
    pub fn wake(&mut self, thread: libc::pid_t, passes: bool) {
        let Some(awakened) = self.sleepers.take(thread) else { return };
        if awakened.is_interrupted {
            return self.interrupt(&awakened);
        }
        if passes {
            self.now = self.now.max(awakened.until);
        }
        self.send(awakened.question, Answer::Value(0));
    }

    /// A signal ends a sleep.
    fn interrupt(&self, awakened: &Awakened) {
        if awakened.left_at != 0 {
            let left = awakened.until.saturating_sub(self.now) as i64;
            stored(awakened.thread, awakened.left_at, &words(left / 1_000_000_000, left % 1_000_000_000));
        }
        self.send(awakened.question, Answer::Error(libc::EINTR));
    }

    /// As `open(2)`: random devices are ours.
    fn open(&mut self, question: &libc::seccomp_notif, path: u64, flags: i32) -> Answer {
        let asker = question.pid as libc::pid_t;
        if flags & libc::O_ACCMODE != libc::O_RDONLY || !is_random(asker, path) {
            return Answer::Pass;
        }
        let seed = self.processes.random(asker).next();
        let Ok(device) = self.devices.open(seed) else { return Answer::Error(libc::ENFILE) };
        self.give(question.id, &device, flags & libc::O_CLOEXEC)
    }

    /// Answers with a descriptor; where the system cannot, the kernel opens what was asked for.
    fn give(&self, question: u64, file: &OwnedFd, flags: i32) -> Answer {
        let (source, newfd_flags) = (file.as_raw_fd() as u32, flags as u32);
        let given = GivenFile { id: question, flags: AND_SEND, source, target: 0, newfd_flags };
        // SAFETY: what is given lives as long as the call.
        match unsafe { libc::ioctl(self.fd(), GIVE, &raw const given) } {
            0.. => Answer::Later,
            _ => Answer::Pass,
        }
    }

    /// As `getrandom(2)`, which may give less than was asked for. Each process has its own bytes: who asks first does not matter.
    fn random(&mut self, asker: libc::pid_t, address: u64, length: u64) -> Answer {
        let bytes = self.processes.random(asker).bytes(length.min(1 << 20) as usize);
        match stored(asker, address, &bytes) {
            Answer::Value(_) => Answer::Value(bytes.len() as i64),
            other => other,
        }
    }
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
