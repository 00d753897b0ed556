//! The threads of a supervisor and of all that it started, and whether they are blocked.
//!
//! The kernel counts how often a thread was given a processor. A thread that was blocked, and had the same count before and
//! after, has not run in between. So one look at the counts, one at whether each is blocked, and another at the counts shows
//! that there was a moment at which all were blocked.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

/// Calls that wait for nothing but time.
const SLEEPS: [i64; 2] = [libc::SYS_nanosleep, libc::SYS_clock_nanosleep];
/// Calls that wait for files, and for nothing but time if the argument with this number says that there are none.
const WAITS_FOR_FILES: [(i64, usize); 4] =
    [(libc::SYS_poll, 1), (libc::SYS_ppoll, 1), (libc::SYS_select, 0), (libc::SYS_pselect6, 0)];

/// A thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Thread {
    pub pid: u32,
    pub tid: u32,
    /// How often it was given a processor.
    pub turns: u64,
    /// How long it had one, and for how long it could have run and did not; the latter is counted when it is given one.
    pub ran: Duration,
    pub queued: Duration,
    /// Its state, as `proc(5)` has it.
    pub state: char,
}

/// Where a thread sleeps: its stack pointer and its program counter.
pub(crate) type Site = (u64, u64);

/// What a thread does.
pub(crate) enum Doing {
    /// It waits for somebody, or is no more.
    Waits,
    /// It waits for nothing but time.
    Sleeps(Site),
    /// It waits for another thread, or until a time.
    WaitsFor(Site),
    Runs,
}

/// All threads; nothing if some came or went meanwhile.
pub(crate) fn collect(supervisor: u32) -> Option<Vec<Thread>> {
    let (mut threads, mut processes) = (Vec::new(), vec![supervisor]);
    let mut next = 0;
    while let Some(pid) = processes.get(next).copied() {
        next += 1;
        for tid in tasks(pid)? {
            threads.push(thread(pid, tid)?);
            let children = fs::read_to_string(format!("/proc/{pid}/task/{tid}/children")).ok()?;
            processes.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
    }
    Some(threads)
}

fn tasks(pid: u32) -> Option<BTreeSet<u32>> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    entries.map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

/// A thread. Its turns are read before its state: otherwise it could run in between and seem never to have.
fn thread(pid: u32, tid: u32) -> Option<Thread> {
    let times = fs::read_to_string(format!("/proc/{pid}/task/{tid}/schedstat")).ok()?;
    let mut times = times.split_whitespace().map_while(|word| word.parse().ok());
    let (ran, queued) = (Duration::from_nanos(times.next()?), Duration::from_nanos(times.next()?));
    let turns = times.next()?;
    let stat = fs::read_to_string(format!("/proc/{pid}/task/{tid}/stat")).ok()?;
    let state = stat.rsplit_once(") ")?.1.chars().next()?;
    Some(Thread { pid, tid, turns, ran, queued, state })
}

impl Thread {
    /// Whether it has ended, and only its parent has not noticed.
    fn is_over(self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }

    /// Whether it runs, or could.
    pub fn is_runnable(self) -> bool {
        self.state == 'R'
    }

    /// Whether it seems to be blocked, until somebody does something for it. Who is signalled while the supervisor lets it sleep seems to
    /// wait for a device (`SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV`).
    pub fn seems_blocked(self) -> bool {
        self.state == 'S' || self.is_over() || self.state == 'D' && matches!(self.doing(), Doing::Sleeps(_))
    }

    /// Its number as the supervisor knows it.
    pub fn number_to(self, supervisor: u32) -> Option<i32> {
        let level = numbers(supervisor)?.len();
        numbers(self.tid)?.get(level.checked_sub(1)?).copied()
    }

    /// What it does, in words.
    pub fn state_told(self) -> &'static str {
        match self.state {
            'R' => "runs",
            'D' => "waits for a device",
            'T' => "was stopped by a signal",
            't' => "is traced",
            _ => "moves",
        }
    }

    /// What it does. The kernel answers only once a thread that is blocked has really left its processor.
    pub fn doing(self) -> Doing {
        if self.is_over() {
            return Doing::Waits;
        }
        let Ok(text) = fs::read_to_string(format!("/proc/{}/task/{}/syscall", self.pid, self.tid)) else {
            // Not allowed: its state has to do.
            return Doing::Waits;
        };
        if text.starts_with("running") {
            return Doing::Runs;
        }
        doing_in(&text).unwrap_or(Doing::Waits)
    }
}

/// What a thread does in a call: its number, six arguments, stack pointer and program counter.
fn doing_in(text: &str) -> Option<Doing> {
    let mut words = text.split_whitespace();
    let call: i64 = words.next()?.parse().ok()?;
    let rest: Option<Vec<u64>> =
        words.map(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok()).collect();
    let rest = rest.filter(|rest| rest.len() == 8)?;
    let is_for_none = |(number, count): (i64, usize)| number == call && rest[count] == 0;
    let site = (rest[6], rest[7]);
    Some(match call {
        _ if SLEEPS.contains(&call) || WAITS_FOR_FILES.into_iter().any(is_for_none) => Doing::Sleeps(site),
        libc::SYS_futex if is_timed_wait(&rest) => Doing::WaitsFor(site),
        _ => Doing::Waits,
    })
}

/// Whether `futex(2)` waits until a time.
fn is_timed_wait(arguments: &[u64]) -> bool {
    let operation = arguments[1] as i32 & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME);
    matches!(operation, libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET) && arguments[3] != 0
}

/// The numbers of a thread in its pid namespace and in all around it, ours first.
fn numbers(thread: u32) -> Option<Vec<i32>> {
    let text = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let words = text.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    words.split_whitespace().map(|word| word.parse().ok()).collect()
}
