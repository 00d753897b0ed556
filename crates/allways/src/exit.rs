//! Exit codes: what a script learns.
//!
//! Codes 0 to 4 are ours and documented; 70 and 74 are `EX_SOFTWARE` and `EX_IOERR` of sysexits(3),
//! 130 is what shells give for an interrupt (128 + SIGINT). A script that treats all but 0 as
//! failure is right: nothing unfinished and nothing unsupported ends with 0.

use report::{Outcome, Verdict};
use std::panic::PanicHookInfo;
use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exit {
    /// All properties hold, exhaustively or within a bound that was asked for; or no violation was found with the effort that
    /// was asked for; or the verb did what it should.
    Fine,
    /// There is a counterexample.
    Violated,
    /// Wrong usage, wrong input.
    Usage,
    /// No answer, for a reason nobody asked for.
    Inconclusive,
    /// Nothing was there to be checked.
    Nothing,
    /// Stopped by Ctrl-C.
    Interrupted,
    /// Standard output could not be written: the disk is full.
    Unwritten,
    /// A violation was met that could not be shown again: a bug of ours.
    Bug,
}

/// The code of our own bugs.
const OUR_BUG: i32 = 70;

impl Exit {
    /// The number.
    pub fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Violated => 1,
            Self::Usage => 2,
            Self::Inconclusive => 3,
            Self::Nothing => 4,
            Self::Interrupted => 130,
            Self::Unwritten => 74,
            Self::Bug => OUR_BUG as u8,
        }
    }

    /// What several checks come to: a counterexample is the answer whatever else there was, and only if all is fine it is fine.
    #[must_use]
    pub fn max_of(self, other: Self) -> Self {
        const WORST: [Exit; 7] = [
            Exit::Violated,
            Exit::Interrupted,
            Exit::Bug,
            Exit::Usage,
            Exit::Unwritten,
            Exit::Inconclusive,
            Exit::Nothing,
        ];
        WORST.into_iter().find(|worst| self == *worst || other == *worst).unwrap_or(Self::Fine)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

impl From<Outcome> for Exit {
    /// `NotFound` is fine, since it is the answer to an effort that the user chose (`--time`,
    /// samples); the report says that it is no proof.
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Verdict(Verdict::Holds | Verdict::NotFound) => Self::Fine,
            Outcome::Verdict(Verdict::Violated) => Self::Violated,
            Outcome::Verdict(Verdict::Unsupported | Verdict::Inconclusive) => Self::Inconclusive,
            Outcome::Nothing => Self::Nothing,
            Outcome::Interrupted => Self::Interrupted,
        }
    }
}

/// Ends the program after a panic, wherever it happened: a worker's panic must not leave the others running.
#[allow(clippy::print_stderr)]
pub fn our_bug(panic: &PanicHookInfo<'_>) {
    let arguments: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    eprintln!("\nallways: internal error: {panic}");
    eprintln!("  = this is a bug in allways {}, not in what you check", env!("CARGO_PKG_VERSION"));
    eprintln!("  = please report it with the model and this command: {}", arguments.join(" "));
    eprintln!("  = {}/issues", env!("CARGO_PKG_REPOSITORY"));
    std::process::exit(OUR_BUG);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_that_scripts_rely_on() {
        use Exit::*;
        let codes = [Fine, Violated, Usage, Inconclusive, Nothing, Interrupted, Unwritten].map(Exit::code);
        assert_eq!(codes, [0, 1, 2, 3, 4, 130, 74]);
    }

    #[test]
    fn unsupported_is_inconclusive_and_never_a_pass() {
        assert_eq!(Exit::from(Outcome::Verdict(Verdict::Unsupported)), Exit::Inconclusive);
        assert_eq!(Exit::from(Outcome::Nothing), Exit::Nothing);
    }
}
