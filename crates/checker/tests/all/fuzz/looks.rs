//! The ways of looking at a random program: engines, options, faults, and what of their answers is the same.

use crate::fuzz::compare::{Missing, Seen, answer, without_memory};
use crate::fuzz::generate::Program;
use crate::fuzz::mix::Mix;
use checker::{BUFFERED_MAX, Depth, Engine, Fault, FaultPlan, MemoryModel, Options, Programs, Timeouts};
use explore::graph::{Bound, Mode};

/// Another look at a program, and how it is compared with the plain one.
pub struct Look {
    pub name: &'static str,
    pub see: fn(&mut Programs) -> Result<Seen, Missing>,
    pub options: fn() -> Options,
    /// What it is compared with: the full search with these options.
    pub plain: fn() -> Options,
    /// What must never be true, in both.
    pub never: &'static [&'static str],
    /// What has been true before any fault.
    pub after: Option<&'static str>,
    pub is_same: fn(&Seen, &Seen) -> bool,
    pub applies: fn(&Mix) -> bool,
    /// One of so many programs is looked at like that.
    pub every: u64,
}

pub const fn graph(mode: Mode, workers: usize) -> Engine {
    Engine::Graph { mode, workers, alone: 0 }
}

pub fn full(programs: &mut Programs) -> Result<Seen, Missing> {
    answer(&graph(Mode::Full, 1), programs)
}

pub fn reduced(programs: &mut Programs) -> Result<Seen, Missing> {
    answer(&graph(Mode::Reduced, 1), programs)
}

fn early() -> Options {
    Options { timeouts: Timeouts::Any(1), audit: Some(2), ..Options::default() }
}

/// Memory is as on x86.
pub fn buffered() -> Options {
    Options { memory: MemoryModel::Tso { buffered_max: BUFFERED_MAX }, audit: Some(2), ..Options::default() }
}

/// The same, and the program is killed.
fn killed_buffered() -> Options {
    Options { memory: MemoryModel::Tso { buffered_max: BUFFERED_MAX }, ..deadly() }
}

/// One of some faults happens.
fn with_faults(texts: &[&str]) -> Options {
    let faults = texts.iter().map(|text| Fault::parse(text).expect("it is known")).collect();
    Options { faults: FaultPlan { budget: 1, faults, as_listed: false }, audit: Some(2), ..Options::default() }
}

/// The program is killed, be it one of several processes.
fn deadly() -> Options {
    with_faults(&["kill"])
}

/// It is killed and started again.
fn restarting() -> Options {
    with_faults(&["restart"])
}

/// It stands still for a while.
fn pausing() -> Options {
    with_faults(&["pause"])
}

/// Something becomes of its datagrams and connections.
fn unreliable() -> Options {
    with_faults(&["loss", "duplicate", "reorder", "delay", "reset", "refuse"])
}

/// A timed wait ends although somebody could move, or the real-time clock is set.
fn mistimed() -> Options {
    with_faults(&["early", "clock:-3s"])
}

/// Power fails, and the file system leaves what a journal orders.
fn crashing() -> Options {
    with_faults(&["crash"])
}

/// The same with a disk that orders nothing.
fn crashing_unordered() -> Options {
    with_faults(&["crash:posix"])
}

/// It is sent a signal that it may handle.
pub fn signalled() -> Options {
    with_faults(&["signal:USR1"])
}

/// The same, where each access is a step whatever handlers do.
fn signalled_finely() -> Options {
    Options { fine: true, ..signalled() }
}

/// It is killed, sent a signal, or cannot write any more.
fn late() -> Options {
    with_faults(&["kill", "signal:USR1", "write:error=EIO:when=1+"])
}

/// Calls that programs of the fuzz make fail, once or for good; reads and writes are short.
fn faulty() -> Options {
    with_faults(&[
        "write:error=EIO:when=1+",
        "read:error=EINTR",
        "read:short",
        "write:short",
        "open:error=EMFILE",
        "openat:error=ENFILE",
        "write:error=ENOSPC:path=shared",
    ])
}

fn is_wrong_alike(one: &Seen, other: &Seen) -> bool {
    one.is_misused() || one.wrong() == other.wrong()
}

/// Where the stack of a thread lies depends on whose stacks are free: of detached threads, whoever has ended.
pub fn is_same_elsewhere(one: &Seen, other: &Seen) -> bool {
    (&one.failures, &one.raced) == (&other.failures, &other.raced)
}

pub fn moves_stacks(program: &Program) -> bool {
    program.row.contains("DETACHED")
}

/// Which words raced depends on how far steps go; whether something did cannot.
fn ends_alike(one: &Seen, other: &Seen) -> bool {
    (&one.failures, &one.ends) == (&other.failures, &other.ends) && one.raced.is_empty() == other.raced.is_empty()
}

/// The reduced search of every program.
const REDUCED: Look = Look {
    name: "reduced",
    see: reduced,
    options: Options::default,
    plain: Options::default,
    never: &[],
    after: None,
    is_same: PartialEq::eq,
    applies: |_| true,
    every: 1,
};

/// The search of trace classes.
const CLASSES: Look = Look {
    name: "classes",
    see: |programs| answer(&Engine::Classes { depth: 300 }, programs),
    // Where loops wait, ends are other states.
    is_same: |one, other| one.failures == other.failures,
    applies: |mix| !mix.traits.loops,
    ..REDUCED
};

pub const LOOKS: &[Look] = &[
    REDUCED,
    CLASSES,
    Look {
        name: "without memory",
        see: |programs| without_memory(programs).ok_or(Missing::Large),
        is_same: ends_alike,
        applies: |mix| !mix.traits.loops,
        every: 2,
        ..REDUCED
    },
    Look { name: "two workers", see: |programs| answer(&graph(Mode::Reduced, 2), programs), every: 4, ..REDUCED },
    Look {
        name: "bounded",
        see: |programs| answer(&graph(Mode::Bounded(Bound::Preemptions(1000)), 1), programs),
        every: 4,
        ..REDUCED
    },
    // Whatever is memoized or inherited is executed again: a difference is a panic.
    Look { name: "audited", options: || Options { audit: Some(1), ..Options::default() }, every: 3, ..REDUCED },
    Look {
        name: "real library",
        options: || Options { depth: Depth::Real, ..Options::default() },
        is_same: is_wrong_alike,
        applies: |mix| !mix.traits.loops && !mix.traits.undefined && !signals_threads(mix) && !renews_semaphores(mix),
        every: 6,
        ..REDUCED
    },
    Look {
        name: "fine steps",
        see: full,
        options: || Options { fine: true, ..Options::default() },
        is_same: is_wrong_alike,
        every: 6,
        ..REDUCED
    },
    Look { name: "store buffers", options: buffered, plain: buffered, every: 3, ..REDUCED },
    Look { name: "store buffers, classes", options: buffered, plain: buffered, every: 6, ..CLASSES },
    // Here every word is one that stores to are buffered.
    Look {
        name: "store buffers, fine steps",
        see: full,
        options: || Options { fine: true, ..buffered() },
        plain: buffered,
        is_same: is_wrong_alike,
        every: 12,
        ..REDUCED
    },
    Look { name: "store buffers, kills", options: killed_buffered, plain: killed_buffered, every: 40, ..REDUCED },
    Look { name: "faults", options: faulty, plain: faulty, every: 9, ..REDUCED },
    Look { name: "faults, classes", options: faulty, plain: faulty, every: 18, ..CLASSES },
    Look { name: "kills", options: deadly, plain: deadly, every: 25, ..REDUCED },
    Look { name: "kills, classes", options: deadly, plain: deadly, every: 50, ..CLASSES },
    Look { name: "restarts", options: restarting, plain: restarting, every: 45, ..REDUCED },
    Look { name: "pauses", options: pausing, plain: pausing, every: 35, ..REDUCED },
    Look { name: "pauses, classes", options: pausing, plain: pausing, every: 70, ..CLASSES },
    Look { name: "signals", options: signalled, plain: signalled, applies: handles_signals, every: 2, ..REDUCED },
    Look {
        name: "signals, classes",
        options: signalled,
        plain: signalled,
        applies: |mix| handles_signals(mix) && !mix.traits.loops,
        every: 4,
        ..CLASSES
    },
    Look {
        name: "signals, fine steps",
        see: full,
        options: signalled_finely,
        plain: signalled,
        is_same: is_wrong_alike,
        applies: handles_signals,
        every: 4,
        ..REDUCED
    },
    // Only programs with files have something to lose.
    Look { name: "crashes", options: crashing, plain: crashing, applies: writes_files, every: 6, ..REDUCED },
    Look {
        name: "crashes, unordered",
        options: crashing_unordered,
        plain: crashing_unordered,
        applies: writes_files,
        every: 12,
        ..REDUCED
    },
    Look { name: "net", options: unreliable, plain: unreliable, applies: talks, ..REDUCED },
    Look {
        name: "net, classes",
        options: unreliable,
        plain: unreliable,
        applies: |mix| talks(mix) && !mix.traits.loops,
        ..CLASSES
    },
    Look {
        name: "propositions",
        options: || Options { audit: Some(2), ..Options::default() },
        never: NEVER,
        applies: has_plain_memory,
        every: 8,
        ..REDUCED
    },
    Look {
        name: "propositions, classes",
        never: NEVER,
        applies: |mix| has_plain_memory(mix) && !mix.traits.loops,
        every: 16,
        ..CLASSES
    },
    Look {
        name: "late faults",
        options: late,
        plain: late,
        after: Some(AFTER),
        applies: has_plain_memory,
        every: 12,
        ..REDUCED
    },
    Look {
        name: "late faults, classes",
        options: late,
        plain: late,
        after: Some(AFTER),
        applies: |mix| has_plain_memory(mix) && !mix.traits.loops,
        every: 24,
        ..CLASSES
    },
    Look { name: "early timeouts", options: early, plain: early, applies: |mix| mix.traits.times, ..REDUCED },
    Look { name: "times", options: mistimed, plain: mistimed, applies: |mix| mix.traits.times, ..REDUCED },
    Look {
        name: "times, classes",
        options: mistimed,
        plain: mistimed,
        applies: |mix| mix.traits.times && !mix.traits.loops,
        every: 2,
        ..CLASSES
    },
    // An alarm that rings early finds whatever an instruction has left.
    Look {
        name: "early timeouts, fine steps",
        see: full,
        options: || Options { fine: true, ..early() },
        plain: early,
        is_same: is_wrong_alike,
        applies: |mix| mix.needs.contains("ALARM"),
        ..REDUCED
    },
];

/// What several threads of some programs make true together.
const AFTER: &str = "plain.w[1] > plain.w[0]";

/// What is true of some programs now and then: of variables that are written in one run of plain accesses, too.
const NEVER: &[&str] = &["plain.w[0] == 2", "plain.w[1] > plain.w[0] && plain.flag == 0"];

/// Whether its memory is the global variable: that of processes is mapped.
fn has_plain_memory(mix: &Mix) -> bool {
    !mix.needs.contains("PROCESSES")
}

/// Whether it makes files, or changes some.
fn writes_files(mix: &Mix) -> bool {
    ["open(", "rename(", "unlink(", "link("].iter().any(|call| mix.says(call))
}

/// Whether it has a handler.
fn handles_signals(mix: &Mix) -> bool {
    mix.needs.contains("SIGNAL")
}

/// Whether there is something that a network can do to it.
fn talks(mix: &Mix) -> bool {
    mix.needs.contains("UDP") || mix.needs.contains("TCP")
}

/// Whether a semaphore is initialised again: POSIX leaves open what becomes of those who wait at it (decision 14).
fn renews_semaphores(mix: &Mix) -> bool {
    mix.says("sem_init(")
}

/// Whether threads of one process send each other signals: one that ends blocks them for a moment, in glibc.
pub fn signals_threads(mix: &Mix) -> bool {
    mix.says("hit(") && !mix.needs.contains("PROCESSES")
}
