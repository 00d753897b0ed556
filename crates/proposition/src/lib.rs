//! Propositions about programs: what `--never` and `[check.NAME.let]` are written in.
//!
//! ```text
//! exited(a) == 0 && exited(b) == 0        exit codes; `exited(a)` alone: it has ended by itself
//! crashed(server) == 11                   ended by this signal; `crashed(server)` alone: by any
//! running(server) -> blocked(client.*)    it lives; all its threads wait
//! stdout(client.*) =~ "^ACK"              text; `^` and `$` are the ends of lines; also stderr
//! lines(stdout(client.1), "ACK") > 2      how many lines match; all lines without a pattern
//! exists("x.lock") || content("mbox") =~ "From " || size("mbox") > 0
//! server:state.role == LEADER             a global variable of a process, by its debug name; enumerators by name
//! head->count >= 3                        of the only process; `->` without space goes through a pointer
//! syscall(client.*, "write")              the last step made this call
//! ```
//!
//! From loose to tight: `->` (implies), `||`, `&&`, `!`, comparisons (`==` `!=` `<` `<=` `>` `>=` `=~` `!~`). A process is a
//! service's name, one replica of it (`client.2`), or a pattern with `*`. What matches several processes is meant of *some* of
//! them; `exited(every client.*) == 0` of every one. A value that is not there (the exit code of a process that runs, a
//! variable behind a null pointer) is neither equal to, nor different from, nor less than anything: every comparison with it
//! is false, `!=` and `!~` too.

mod evaluate;
mod facts;
mod lex;
mod parse;
mod pattern;
mod print;
mod problem;
mod support;
mod tree;
mod world_facts;

pub use facts::{Datum, Facts, Stream};
pub use pattern::processes;
pub use problem::Problem;
pub use world_facts::WorldFacts;

use tree::Expression;

/// A statement about one state of some programs.
#[derive(Clone, PartialEq, Debug)]
pub struct Proposition {
    tree: Expression,
}

impl Proposition {
    /// Reads a proposition.
    ///
    /// # Errors
    /// If it is not one: where, and what was expected there.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        parse::parse(text).map(|tree| Self { tree })
    }

    /// Files whose content it asks for, as they are written there.
    #[must_use]
    pub fn contents(&self) -> Vec<String> {
        support::contents(&self.tree)
    }

    /// Whether it holds.
    ///
    /// # Errors
    /// If it names a process or variable that is not there, or compares what cannot be compared.
    pub fn holds(&self, facts: &mut dyn Facts) -> Result<bool, Problem> {
        evaluate::Evaluation { facts, is_complete: false }.truth(&self.tree)
    }

    /// Looks at every part of it, also at those that do not matter now: are all names known?
    ///
    /// # Errors
    /// As [`Self::holds`].
    pub fn verify(&self, facts: &mut dyn Facts) -> Result<(), Problem> {
        evaluate::Evaluation { facts, is_complete: true }.truth(&self.tree).map(|_| ())
    }

    /// A fingerprint of all facts that it asks for: a step that leaves it as it was cannot change the proposition, whatever
    /// independent steps come before.
    #[must_use]
    pub fn support(&self, facts: &mut dyn Facts) -> u64 {
        support::fingerprint(&self.tree, facts)
    }

    /// Whether it asks for files.
    #[must_use]
    pub fn reads_files(&self) -> bool {
        support::reads_files(&self.tree)
    }

    /// Whether any step may matter to it: it asks who is blocked, for the last step, or for what a pointer leads to.
    #[must_use]
    pub fn depends_on_all(&self) -> bool {
        support::depends_on_all(&self.tree)
    }

    /// Whether it asks what programs have written.
    #[must_use]
    pub fn reads_output(&self) -> bool {
        let mut reads = false;
        self.tree.visit(&mut |expression| reads |= matches!(expression.kind, tree::Kind::Output(..)));
        reads
    }

    /// The variables that it reads, as they are written: with the process, if one is named.
    #[must_use]
    pub fn variables(&self) -> Vec<(Option<String>, String)> {
        let mut variables = Vec::new();
        self.tree.visit(&mut |expression| {
            if let tree::Kind::Variable { process, path } = &expression.kind {
                variables.push((process.clone(), path.clone()));
            }
        });
        variables
    }
}

impl std::fmt::Display for Proposition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.tree.fmt(f)
    }
}
