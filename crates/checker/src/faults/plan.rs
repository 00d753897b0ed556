//! Which faults may happen, and how users write them: in the words of strace's `inject`, and of netem.
//!
//! `write:error=ENOSPC` is one call of `write(2)` that fails, `write:error=ENOSPC:when=1+` that one and all after it,
//! `read:short` one that returns less than it could. `in=PROGRAM` restricts a fault to a program and its children, `path=NAME` to
//! calls on a file, `on=socket` to calls on a kind of descriptor.
//! `loss`, `duplicate`, `reorder` and `delay` happen to a UDP datagram, `reset` and `refuse` to a TCP connection, `partition` to the network of
//! a program; `kill`, `restart` and `pause` to a program. `loss:PROGRAM` is about what a program sends, `kill:PROGRAM` about that program.
//! `signal:TERM:PROGRAM` sends it a signal. `early` ends a timed wait although somebody could move, `clock:+1h` sets the real-time clock. `crash` is power loss, for all programs at once: `crash:posix` on a disk that guarantees no more than POSIX does, `crash:block=512` where it writes in such pieces.

use super::descriptor_kind::DescriptorKind;
use super::path_pattern::PathPattern;
use kernel::errno::Errno;
use kernel::files::disk::{Model, Order};
use kernel::net::connect::CONNECT;
use kernel::net::datagram_fault::DatagramFault;
use kernel::signal::number::{self, SIGABRT, SIGKILL, SIGSTOP, SYNCHRONOUS, bit};
use kernel::table::Argument;
use kernel::{short_transfer, table};
use trace::similar;

/// Which faults may happen, and how many in a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FaultPlan {
    /// How many may happen in a run, all together.
    pub budget: u32,
    /// Which may happen.
    pub faults: Vec<Fault>,
    /// Each of them at most as often as it is listed.
    pub as_listed: bool,
}

/// A fault that may happen.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// As the user wrote it.
    pub name: String,
    /// What it does.
    pub effect: Effect,
    /// The program to which it happens; any, if none.
    pub program: Option<String>,
    /// The files on which a call must be; any, if none.
    pub path: Option<PathPattern>,
    /// On what kind of descriptor a call must be; any, if none.
    pub on: Option<DescriptorKind>,
}

/// What a fault does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// A syscall is not made, and returns an error.
    Error {
        /// Its number.
        call: u64,
        /// The error.
        errno: Errno,
        /// All later ones fail, too.
        is_permanent: bool,
    },
    /// A syscall reads or writes less than it could.
    Short {
        /// Its number.
        call: u64,
    },
    /// Something becomes of a UDP datagram.
    Datagram(DatagramFault),
    /// A TCP connection is reset, at both ends.
    Reset,
    /// A TCP connection is refused, although somebody listens.
    Refuse,
    /// The network between a program and all others is down, for a while.
    Partition,
    /// A program ends at once, by `SIGKILL`.
    Kill,
    /// The same, and its command is started again.
    Restart,
    /// A program stands still, and goes on later.
    Pause,
    /// A program is sent a signal, by its number.
    Signal(u8),
    /// Time passes although somebody could move.
    Early,
    /// The real-time clock is set forward or back: by so many nanoseconds.
    Clock(i64),
    /// Power fails: all programs end, and what such a disk guarantees is left of their files.
    Crash(Model),
}

impl Effect {
    /// The syscall that it happens to, if it happens to one.
    #[must_use]
    pub fn call(self) -> Option<u64> {
        match self {
            Self::Error { call, .. } | Self::Short { call } => Some(call),
            Self::Refuse => Some(CONNECT),
            _ => None,
        }
    }

    /// Its word; empty where what it does is seen by what a call returns.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Crash(_) => return CRASH,
            Self::Signal(_) => return SIGNAL,
            Self::Clock(_) => return CLOCK,
            _ => {}
        }
        WORDS.iter().find(|(_, effect)| *effect == self).map_or("", |(word, _)| word)
    }

    /// Whether it happens to a program, whatever that does: the program may end, or stand still.
    #[must_use]
    pub fn is_of_program(self) -> bool {
        matches!(self, Self::Kill | Self::Restart | Self::Pause | Self::Signal(_))
    }

    /// Whether it happens to one of the programs, so that it is a fault of its own for each.
    pub(crate) fn has_victim(self) -> bool {
        self.is_of_program() || self == Self::Partition
    }

    /// The disk that is left when power fails, if it does.
    #[must_use]
    pub fn disk(self) -> Option<Model> {
        if let Self::Crash(model) = self { Some(model) } else { None }
    }

    /// Whether it happens to time.
    #[must_use]
    pub fn is_of_time(self) -> bool {
        matches!(self, Self::Early | Self::Clock(_))
    }

    /// Whether it happens to messages or connections.
    #[must_use]
    pub fn is_of_network(self) -> bool {
        matches!(self, Self::Datagram(_) | Self::Reset | Self::Refuse | Self::Partition)
    }
}

/// Faults that have a word of their own: `kill:server`, or `kill` for any program.
const WORDS: [(&str, Effect); 11] = [
    ("loss", Effect::Datagram(DatagramFault::Loss)),
    ("duplicate", Effect::Datagram(DatagramFault::Duplicate)),
    ("reorder", Effect::Datagram(DatagramFault::Reorder)),
    ("delay", Effect::Datagram(DatagramFault::Delay)),
    ("reset", Effect::Reset),
    ("refuse", Effect::Refuse),
    ("partition", Effect::Partition),
    ("kill", Effect::Kill),
    ("restart", Effect::Restart),
    ("pause", Effect::Pause),
    ("early", Effect::Early),
];

/// The word of power loss.
const CRASH: &str = "crash";

/// The word of a signal.
const SIGNAL: &str = "signal";

/// The word of a clock that is set.
const CLOCK: &str = "clock";

/// Units of time, in nanoseconds.
const UNITS: [(&str, i64); 5] = [
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

/// Sizes of blocks that disks write at once.
const BLOCKS: std::ops::RangeInclusive<u32> = 1..=1 << 20;

/// How faults are written.
const HELP: &str = "a fault is CALL:error=ERRNO[:when=1+][:in=PROGRAM][:path=NAME][:on=KIND], CALL:short, or one of loss, duplicate, reorder, delay, reset, refuse, partition, kill, restart, pause, signal:NAME, alone or with :PROGRAM, or early, clock:+TIME, clock:-TIME, or crash[:posix][:block=BYTES]";

/// What follows the name of a syscall.
#[derive(Default)]
struct Terms<'a> {
    errno: Option<Errno>,
    is_short: bool,
    is_permanent: bool,
    program: Option<&'a str>,
    path: Option<&'a str>,
    on: Option<DescriptorKind>,
}

impl Fault {
    /// Reads a fault.
    ///
    /// # Errors
    /// If there is no such syscall or error, or something else is not known.
    pub fn parse(name: &str) -> Result<Self, String> {
        let (call, terms) = name.split_once(':').unwrap_or((name, ""));
        // Calls of the same name (`kill(2)`, `pause(2)`) fail with an error.
        let word = WORDS.iter().find(|(word, _)| *word == call && !terms.contains('='));
        Ok(match (call, word) {
            (CRASH, _) => Self::of(name, Effect::Crash(disk(name, terms)?), ""),
            (CLOCK, _) => Self::of(name, Effect::Clock(clock_step(name, terms)?), ""),
            (SIGNAL, _) => {
                let (signal, program) = terms.split_once(':').unwrap_or((terms, ""));
                Self::of(name, Effect::Signal(signal_number(name, signal)?), program)
            }
            (_, Some((_, Effect::Early))) if !terms.is_empty() => {
                return Err(format!("`{name}`: time passes for all programs\n  = help: early"));
            }
            (_, Some((_, effect))) => Self::of(name, *effect, terms),
            _ => return Self::of_call(name, call, terms),
        })
    }

    /// A fault of a program, if one is named.
    fn of(name: &str, effect: Effect, program: &str) -> Self {
        let program = Some(program).filter(|program| !program.is_empty()).map(str::to_owned);
        Self { name: name.to_owned(), effect, program, path: None, on: None }
    }

    /// A fault of a syscall.
    fn of_call(name: &str, call: &str, terms: &str) -> Result<Self, String> {
        let row = table::rows().find(|row| row.name == call);
        let row = row.ok_or_else(|| unknown_call(name, call))?;
        let terms = Terms::parse(name, terms)?;
        let effect = match terms {
            Terms { is_short: true, errno: None, is_permanent: false, .. }
                if short_transfer::rows().any(|other| other.number == row.number) =>
            {
                Effect::Short { call: row.number }
            }
            Terms { is_short: true, errno: None, is_permanent: false, .. } => {
                return Err(format!(
                    "`{name}`: {call}(2) returns no number of bytes that could be less\n  = help: short is for {}",
                    short_transfer::rows().map(|row| row.name).collect::<Vec<_>>().join(", ")
                ));
            }
            Terms { is_short: false, errno: Some(errno), is_permanent, .. } => {
                Effect::Error { call: row.number, errno, is_permanent }
            }
            _ => {
                return Err(format!(
                    "`{name}` does not say what happens\n  = help: {call}:error=EIO, or {call}:error=EIO:when=1+ for all calls from one on"
                ));
            }
        };
        if terms.path.is_some()
            && !row.arguments.iter().any(|argument| matches!(argument, Argument::Path | Argument::Fd))
        {
            return Err(format!("`{name}`: {call}(2) is on no file"));
        }
        if terms.on.is_some() && !row.arguments.contains(&Argument::Fd) {
            return Err(format!("`{name}`: {call}(2) takes no descriptor"));
        }
        let (program, path) = (terms.program.map(str::to_owned), terms.path.map(PathPattern::new));
        Ok(Self { name: name.to_owned(), effect, program, path, on: terms.on })
    }
}

impl<'a> Terms<'a> {
    fn parse(name: &str, text: &'a str) -> Result<Self, String> {
        let mut terms = Self::default();
        for term in text.split(':').filter(|term| !term.is_empty()) {
            match term.split_once('=') {
                None if term == "short" => terms.is_short = true,
                Some(("error", error)) => terms.errno = Some(errno(name, error)?),
                Some(("when", "1+")) => terms.is_permanent = true,
                Some(("when", _)) => {
                    return Err(format!(
                        "`{name}`: which of the calls fails is a choice of the search\n  = help: when=1+ lets all calls fail from that one on"
                    ));
                }
                Some(("in", program)) => terms.program = Some(program),
                Some(("path", path)) if !path.is_empty() => terms.path = Some(path),
                Some(("on", kind)) => terms.on = Some(descriptor_kind(name, kind)?),
                _ => {
                    let word = term.split('=').next().unwrap_or(term);
                    let hint = similar::hint(word, ["error", "short", "when", "in", "path", "on"]);
                    return Err(format!("`{name}`: `{term}` is not known{hint}\n  = help: {HELP}"));
                }
            }
        }
        Ok(terms)
    }
}

/// The disk that power loss is about.
fn disk(name: &str, terms: &str) -> Result<Model, String> {
    let mut model = Model::default();
    for term in terms.split(':').filter(|term| !term.is_empty()) {
        match term.split_once('=') {
            None if term == "ext4" => model.order = Order::Ext4,
            None if term == "posix" => model.order = Order::Posix,
            Some(("block", size)) => {
                let size = size.parse().ok().filter(|size| BLOCKS.contains(size));
                model.block = size.ok_or_else(|| format!("`{name}`: a block has 1 to {} bytes", BLOCKS.end()))?;
            }
            _ => {
                let word = term.split('=').next().unwrap_or(term);
                let hint = similar::hint(word, ["ext4", "posix", "block"]);
                return Err(format!(
                    "`{name}`: `{term}` is not known{hint}\n  = help: power fails for all programs; crash:posix or crash:ext4 says what the disk guarantees, crash:block=512 what it writes at once"
                ));
            }
        }
    }
    Ok(model)
}

/// By how many nanoseconds a clock is set: `+1h`, `-500ms`.
fn clock_step(name: &str, terms: &str) -> Result<i64, String> {
    /// Ten years.
    const MOST: i64 = 3_650 * 86_400_000_000_000;
    let number_end = terms.rfind(|c: char| c.is_ascii_digit()).map_or(0, |at| at + 1);
    let (number, unit) = terms.split_at(number_end);
    let unit = UNITS.iter().find(|(known, _)| *known == unit).map(|(_, length)| *length);
    let step = number.parse::<i64>().ok().zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    let is_possible = |step: &i64| *step != 0 && step.unsigned_abs() <= MOST.unsigned_abs();
    step.filter(is_possible).ok_or_else(|| {
        format!(
            "`{name}` does not say how far the clock is set\n  = help: clock:+1h, clock:-90s; units are ms, s, m, h, d, and ten years the most"
        )
    })
}

/// The signal that a fault sends.
fn signal_number(name: &str, signal: &str) -> Result<u8, String> {
    if signal.is_empty() {
        return Err(format!("`{name}` does not say which signal\n  = help: signal:TERM, or signal:TERM:PROGRAM"));
    }
    let unknown = || format!("`{name}`: there is no signal `{signal}`{}", similar::hint(signal, number::names()));
    match number::named(signal).ok_or_else(unknown)? {
        SIGKILL => Err(format!("`{name}`: no program can handle SIGKILL\n  = help: the fault `kill` ends a program")),
        SIGSTOP => Err(format!(
            "`{name}`: nobody would let the program go on\n  = help: the fault `pause` stops one for a while"
        )),
        known if known == SIGABRT || SYNCHRONOUS & bit(known) != 0 => Err(format!(
            "`{name}`: a program that dies of {} has crashed, whoever has sent it\n  = help: signal:TERM, signal:HUP, signal:CHLD, ...",
            number::name(known)
        )),
        known => Ok(known),
    }
}

fn descriptor_kind(name: &str, word: &str) -> Result<DescriptorKind, String> {
    let known: Vec<&str> = DescriptorKind::words().collect();
    DescriptorKind::named(word).ok_or_else(|| {
        let hint = similar::hint(word, known.iter().copied());
        format!("`{name}`: there is no kind of descriptor `{word}`{hint}\n  = help: kinds are {}", known.join(", "))
    })
}

fn errno(name: &str, error: &str) -> Result<Errno, String> {
    Errno::named(error)
        .ok_or_else(|| format!("`{name}`: there is no error `{error}`{}", similar::hint(error, Errno::names())))
}

fn unknown_call(name: &str, call: &str) -> String {
    let words = WORDS.iter().map(|(word, _)| *word).chain([CRASH, SIGNAL, CLOCK]);
    let hint = similar::hint(call, words.chain(table::rows().map(|row| row.name)));
    format!("`{name}`: there is no syscall or fault `{call}`{hint}\n  = help: {HELP}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::errno::{EIO, ENOSPC};
    use kernel::signal::number::SIGTERM;

    const WRITE: u64 = 1;

    #[test]
    fn faults_are_written_as_strace_writes_them() {
        let effect = |text| Fault::parse(text).map(|fault| (fault.effect, fault.program));
        let error = |errno, is_permanent| Effect::Error { call: WRITE, errno, is_permanent };
        assert_eq!(effect("write:error=ENOSPC"), Ok((error(ENOSPC, false), None)));
        assert_eq!(effect("write:error=EIO:when=1+:in=server"), Ok((error(EIO, true), Some("server".to_owned()))));
        assert_eq!(effect("write:short"), Ok((Effect::Short { call: WRITE }, None)));
        assert_eq!(effect("kill:server"), Ok((Effect::Kill, Some("server".to_owned()))));
        assert_eq!(effect("kill"), Ok((Effect::Kill, None)));
        assert_eq!(effect("signal:TERM"), Ok((Effect::Signal(SIGTERM), None)));
        assert_eq!(effect("signal:SIGTERM:server"), Ok((Effect::Signal(SIGTERM), Some("server".to_owned()))));
        assert_eq!(effect("partition:server"), Ok((Effect::Partition, Some("server".to_owned()))));
        assert_eq!(effect("early"), Ok((Effect::Early, None)));
        assert_eq!(effect("clock:+2s"), Ok((Effect::Clock(2_000_000_000), None)));
        assert_eq!(effect("clock:-1h"), Ok((Effect::Clock(-3_600_000_000_000), None)));
        assert_eq!(effect("loss:client"), Ok((Effect::Datagram(DatagramFault::Loss), Some("client".to_owned()))));
        assert!(matches!(effect("pause:error=EINTR"), Ok((Effect::Error { .. }, None))));
    }

    #[test]
    fn slips_are_told_with_what_was_meant() {
        let table = [
            ("wirte:error=EIO", "did you mean `write`?"),
            ("los:client", "did you mean `loss`?"),
            ("write:error=ENOSPACE", "did you mean `ENOSPC`?"),
            ("write", "does not say what happens"),
            ("signal:TREM:server", "did you mean `TERM`?"),
            ("signal", "does not say which signal"),
            ("signal:KILL", "the fault `kill`"),
            ("early:server", "time passes for all programs"),
            ("clock", "does not say how far"),
            ("clock:+1y", "does not say how far"),
            ("clock:0s", "does not say how far"),
            ("clock:+99999999d", "does not say how far"),
            ("signal:STOP:server", "the fault `pause`"),
            ("signal:SEGV", "has crashed, whoever has sent it"),
            ("signal:ABRT", "has crashed, whoever has sent it"),
            ("write:eror=EIO", "did you mean `error`?"),
            ("write:error=EIO:when=3", "when=1+"),
            ("close:short", "returns no number of bytes"),
            ("getpid:error=EIO:path=log", "is on no file"),
            ("openat:error=EIO:pth=log", "did you mean `path`?"),
            ("write:error=EIO:on=sockets", "did you mean `socket`?"),
            ("getpid:error=EIO:on=pipe", "takes no descriptor"),
            ("write:short:error=EIO", "does not say what happens"),
        ];
        for (text, meant) in table {
            let told = Fault::parse(text).expect_err("it is wrong");
            assert!(told.contains(meant), "{text}: {told}");
        }
    }
}
