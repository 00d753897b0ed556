//! What a check of programs was asked for.

use super::KINDS;
use crate::args::{CheckArgs, LibcName};
use crate::request::Request;
use trace::FailureKind;
use world::check::{Checks, Depth, Options, Timeouts};

/// What to look for, and how.
pub struct Wanted {
    /// What every check knows.
    pub request: Request,
    /// How to look at the C library.
    pub depth: Depth,
    /// How often a timed wait may end while somebody can move.
    pub timeouts: u32,
    /// Propositions that must never be true.
    pub never: Vec<String>,
}

impl Wanted {
    /// From the command line.
    pub fn new(args: &CheckArgs) -> Self {
        Self {
            request: Request::new(args),
            depth: if args.libc == Some(LibcName::Real) { Depth::Real } else { Depth::Summary },
            timeouts: args.timeouts.unwrap_or(0),
            never: args.never.clone(),
        }
    }

    /// Whether a kind of failure is looked for.
    ///
    /// Livelocks only on request, because they need assumptions; exit codes not if the user's own proposition says what must
    /// not happen.
    pub fn wants(&self, kind: FailureKind) -> bool {
        match kind {
            FailureKind::Livelock => self.request.asks_for(kind),
            FailureKind::Exit if !self.never.is_empty() => self.request.asks_for(kind),
            _ => self.request.wants(kind),
        }
    }

    /// All kinds that are looked for.
    pub fn kinds(&self) -> Vec<FailureKind> {
        KINDS.into_iter().filter(|kind| self.wants(*kind)).collect()
    }

    /// How programs are looked at.
    pub fn options(&self, stdin: &[u8]) -> Options {
        options(&self.kinds(), self.depth, self.timeouts, stdin)
    }
}

/// How programs are looked at.
pub fn options(kinds: &[FailureKind], depth: Depth, timeouts: u32, stdin: &[u8]) -> Options {
    let wants = |kind| kinds.contains(&kind);
    let checks = Checks {
        deadlock: wants(FailureKind::Deadlock),
        crash: wants(FailureKind::Crash),
        assert: wants(FailureKind::Assert),
        exit: wants(FailureKind::Exit),
        misuse: wants(FailureKind::Misuse),
    };
    let timeouts = if timeouts == 0 { Timeouts::Quiet } else { Timeouts::Any(timeouts) };
    Options { checks, depth, timeouts, input: stdin.into(), ..Options::default() }
}
