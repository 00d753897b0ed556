//! How programs are looked at. Counterexamples keep it, because it decides where steps begin and end and what tells states
//! apart.

use crate::programs::setup::{base_environment, not_started};
use checker::{Checks, Depth, PeerProblem, Timeouts};
use clap::{Args, ValueEnum};
use peer::Runs;
use serde::{Deserialize, Serialize};
use std::os::unix::ffi::OsStringExt;
use trace::FailureKind;
use world::Command;

/// How programs are looked at.
#[derive(Args, Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
#[command(next_help_heading = "Programs")]
#[serde(default)]
pub struct ViewOptions {
    /// How to look at the C library of programs
    #[arg(long, value_enum, value_name = "DEPTH")]
    pub libc: Option<Libc>,
    /// What must never be true of programs: 'exited(a) == 0 && exited(b) == 0'
    #[arg(long, value_name = "PROPOSITION")]
    pub never: Vec<String>,
    /// Let timed waits end while others can move, so often in a run [default: 0, when nobody can move]
    #[arg(long, value_name = "N")]
    pub timeouts: Option<u32>,
    /// How much a read of a pipe or connection returns [default: whole]
    #[arg(long, value_enum)]
    pub reads: Option<Reads>,
    /// Whom a signal wakes if several wait [default: any]
    #[arg(long, value_enum)]
    pub wakes: Option<Wakes>,
    /// Let threads take turns here, too: FILE:LINE, or where a function begins
    #[arg(long = "break", value_name = "POINT")]
    #[serde(rename = "break")]
    pub breaks: Vec<String>,
    /// Let threads take turns only at the points of --break, and where they wait
    #[arg(long, requires = "breaks")]
    pub only_breaks: bool,
    /// Take every access to shared memory as a step of its own
    #[arg(long, conflicts_with = "only_breaks")]
    pub fine: bool,
    /// A program that answers, and is not searched itself: 'db:6379=redis-server --port 6379'
    #[arg(long, value_name = "NAME:PORT=COMMAND")]
    pub peer: Vec<String>,
    /// Where peers run [default: world]
    #[arg(long, value_enum, value_name = "WHERE")]
    pub outside: Option<Outside>,
    /// Tell how these global variables change
    #[arg(long, value_name = "VARIABLE", value_delimiter = ',')]
    pub watch: Vec<String>,
    /// Take states for one in which these global variables agree, and the places of all threads
    #[arg(long = "match", value_name = "VARIABLE", value_delimiter = ',')]
    #[serde(rename = "match")]
    pub matched: Vec<String>,
}

/// How to look at a C library.
#[derive(ValueEnum, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Libc {
    /// Recognised functions are one step with their specified meaning
    Summary,
    /// Every instruction is executed as it stands
    Real,
}

/// How much a read returns.
#[derive(ValueEnum, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Reads {
    /// All that there is
    Whole,
    /// All, all but one byte, one byte, or what was sent first
    Short,
}

/// Where peers run.
#[derive(ValueEnum, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Outside {
    /// In a world of their own, on one schedule
    World,
    /// On this machine, as processes that are started anew and told the same again
    Native,
}

/// Whom a signal wakes.
#[derive(ValueEnum, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Wakes {
    /// Any of them
    Any,
    /// The one who waits longest
    Longest,
    /// Any of them, and threads may wake although nobody signals
    Spurious,
}

impl ViewOptions {
    /// How often a timed wait may end while somebody can move.
    pub fn timeouts(&self) -> u32 {
        self.timeouts.unwrap_or(0)
    }

    /// Whether reads may return less than there is.
    pub fn short_reads(&self) -> bool {
        self.reads == Some(Reads::Short)
    }

    /// Whether a signal wakes the one who waits longest, not any of them.
    pub fn longest_sleeper(&self) -> bool {
        self.wakes == Some(Wakes::Longest)
    }

    /// Whether waits at condition variables may end although nobody has signalled.
    pub fn spurious_wakes(&self) -> bool {
        self.wakes == Some(Wakes::Spurious)
    }

    /// What it means to the checker, which looks for these kinds of failure. `awaits` is what the engine needs.
    pub fn checker_options(&self, kinds: &[FailureKind], awaits: bool) -> checker::Options {
        checker::Options {
            checks: checks(kinds),
            depth: if self.libc == Some(Libc::Real) { Depth::Real } else { Depth::Summary },
            timeouts: if self.timeouts() == 0 { Timeouts::Quiet } else { Timeouts::Any(self.timeouts()) },
            any_sleeper: !self.longest_sleeper(),
            spurious: self.spurious_wakes(),
            short_reads: self.short_reads(),
            fine: self.fine,
            only_breaks: self.only_breaks,
            awaits,
            ..checker::Options::default()
        }
    }

    /// Starts peers.
    pub fn start_peers(&self, programs: &mut checker::Programs) -> Result<(), String> {
        let runs = if self.outside == Some(Outside::Native) { Runs::Native } else { Runs::World };
        for text in &self.peer {
            let (name, port, command) = peer(text, runs).ok_or_else(|| not_a_peer(text))?;
            programs.start_peer(name, port, &command, runs).map_err(|problem| match problem {
                PeerProblem::NotStarted(error) => format!("`--peer`: {}", not_started(&error)),
                PeerProblem::Trouble(why) => format!("`--peer`: {why}"),
            })?;
        }
        Ok(())
    }

    /// Places the user's points.
    pub fn place(&self, programs: &mut checker::Programs) -> Result<(), String> {
        let told = |flag: &'static str| move |why: String| format!("`{flag}`: {why}");
        self.breaks.iter().try_for_each(|point| programs.break_at(point)).map_err(told("--break"))?;
        self.watch.iter().try_for_each(|name| programs.watch(name)).map_err(told("--watch"))?;
        self.matched.iter().try_for_each(|name| programs.match_by(name)).map_err(told("--match"))
    }
}

fn checks(kinds: &[FailureKind]) -> Checks {
    let wants = |kind| kinds.contains(&kind);
    Checks {
        deadlock: wants(FailureKind::Deadlock),
        livelock: wants(FailureKind::Livelock),
        crash: wants(FailureKind::Crash),
        assert: wants(FailureKind::Assert),
        exit: wants(FailureKind::Exit),
        misuse: wants(FailureKind::Misuse),
    }
}

/// Name, port and command of a peer.
fn peer(text: &str, runs: Runs) -> Option<(&str, u16, Command)> {
    let (address, command) = text.split_once('=')?;
    let (name, port) = address.split_once(':')?;
    let arguments: Vec<Vec<u8>> = command.split_whitespace().map(|word| word.as_bytes().to_vec()).collect();
    let is_whole = !name.is_empty() && !arguments.is_empty();
    let (environment, directory) = match runs {
        Runs::World => (vec![b"LD_BIND_NOW=1".to_vec()], b"/".to_vec()),
        Runs::Native => (base_environment([].into_iter()), here()),
    };
    let command = Command { arguments, environment, directory };
    is_whole.then_some((name, port.parse().ok()?, command))
}

/// The folder that the check runs in.
fn here() -> Vec<u8> {
    std::env::current_dir().map_or_else(|_| b"/".to_vec(), |here| here.into_os_string().into_vec())
}

fn not_a_peer(text: &str) -> String {
    format!(
        "`--peer`: `{text}` is no peer\n  = help: a name, the port on which it listens, and how it is started: --peer 'db:6379=redis-server --port 6379'"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_has_a_name_a_port_and_a_command() {
        let read = |text| peer(text, Runs::World);
        let (name, port, command) = read("db:6379=redis-server --port 6379").expect("a peer");
        assert_eq!((name, port, command.arguments.len()), ("db", 6379, 3));
        assert!(
            ["db", "db:6379", "db=redis", "db:x=redis", ":1=redis", "db:1= "].iter().all(|text| read(text).is_none())
        );
    }
}
