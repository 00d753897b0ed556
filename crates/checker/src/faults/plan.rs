//! Which faults may happen, and how users write them: in the words of strace's `inject`.
//!
//! `write:error=ENOSPC` is one call of `write(2)` that fails, `write:error=ENOSPC:when=1+` that one and all after it,
//! `read:short` one that returns less than it could. `in=PROGRAM` restricts a fault to a program and its children.
//! `kill:PROGRAM` is a program that ends at once, wherever it is; `kill` any of those that were started. (The call `kill(2)`
//! cannot fail by a fault.)

use kernel::errno::Errno;
use kernel::{short_transfer, table};
use trace::similar;

/// Which faults may happen, and how many in a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FaultPlan {
    /// How many may happen in a run, all together.
    pub budget: u32,
    /// Which may happen.
    pub faults: Vec<Fault>,
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
    /// A program ends at once, by `SIGKILL`.
    Kill,
}

impl Effect {
    /// The syscall that it happens to, if it happens to one.
    #[must_use]
    pub fn call(self) -> Option<u64> {
        match self {
            Self::Error { call, .. } | Self::Short { call } => Some(call),
            Self::Kill => None,
        }
    }
}

/// The fault that ends a program: `kill:server`, or `kill` for any.
const KILL: &str = "kill";

/// How faults are written.
const HELP: &str = "a fault is CALL:error=ERRNO[:when=1+][:in=PROGRAM], CALL:short, or kill:PROGRAM";

/// What follows the name of a syscall.
#[derive(Default)]
struct Terms<'a> {
    errno: Option<Errno>,
    is_short: bool,
    is_permanent: bool,
    program: Option<&'a str>,
}

impl Fault {
    /// Reads a fault.
    ///
    /// # Errors
    /// If there is no such syscall or error, or something else is not known.
    pub fn parse(name: &str) -> Result<Self, String> {
        let (call, terms) = name.split_once(':').unwrap_or((name, ""));
        if call == KILL {
            let program = Some(terms).filter(|program| !program.is_empty()).map(str::to_owned);
            return Ok(Self { name: name.to_owned(), effect: Effect::Kill, program });
        }
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
        Ok(Self { name: name.to_owned(), effect, program: terms.program.map(str::to_owned) })
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
                _ => {
                    let word = term.split('=').next().unwrap_or(term);
                    let hint = similar::hint(word, ["error", "short", "when", "in"]);
                    return Err(format!("`{name}`: `{term}` is not known{hint}\n  = help: {HELP}"));
                }
            }
        }
        Ok(terms)
    }
}

fn errno(name: &str, error: &str) -> Result<Errno, String> {
    Errno::named(error)
        .ok_or_else(|| format!("`{name}`: there is no error `{error}`{}", similar::hint(error, Errno::names())))
}

fn unknown_call(name: &str, call: &str) -> String {
    let hint = similar::hint(call, table::rows().map(|row| row.name));
    format!("`{name}`: there is no syscall `{call}`{hint}\n  = help: {HELP}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::errno::{EIO, ENOSPC};

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
    }

    #[test]
    fn slips_are_told_with_what_was_meant() {
        let table = [
            ("wirte:error=EIO", "did you mean `write`?"),
            ("write:error=ENOSPACE", "did you mean `ENOSPC`?"),
            ("write", "does not say what happens"),
            ("write:eror=EIO", "did you mean `error`?"),
            ("write:error=EIO:when=3", "when=1+"),
            ("close:short", "returns no number of bytes"),
            ("write:short:error=EIO", "does not say what happens"),
        ];
        for (text, meant) in table {
            let told = Fault::parse(text).expect_err("it is wrong");
            assert!(told.contains(meant), "{text}: {told}");
        }
    }
}
