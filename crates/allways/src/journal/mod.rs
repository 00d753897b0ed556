//! `--journal` and `--resume`: a check that outlives its process.
//!
//! A journal says what is checked (the command, and a fingerprint of what it reads), which searches have been decided, with what
//! they have found, and how far the one has come that is under way. What comes after a search (shortening, executing again,
//! telling) is done anew by who goes on, so a journal of a check that has ended gives its report again.
//!
//! **Invariant:** the file under the name of the journal is whole at any time: a new one is written beside it, and takes its place
//! once it is on the disk.
//! **Invariant:** what cannot be written changes no verdict, and what cannot be read is never gone on from.

mod begin;
mod decided;
mod head;

pub use begin::{begin, settle};

use crate::careful;
use decided::Decided;
use explore::journal::{Broken, Reader, Writer};
use explore::{Incomplete, Outcome};
use head::Head;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Time between two writes, if the user does not say: what is lost at most, while writing gigabytes takes a minute.
pub const EVERY: Duration = Duration::from_secs(300);

/// What a search writes.
type WriteSearch<'w> = &'w mut dyn FnMut(&mut Writer<'_>) -> io::Result<()>;

/// A journal.
pub struct Journal {
    path: PathBuf,
    every: Duration,
    head: Head,
    progress: Mutex<Progress>,
    /// How far an earlier process had come with a search.
    kept: Mutex<Option<Reader>>,
    /// Held while the file is written: several searches may be decided at once.
    writing: Mutex<()>,
}

/// How far a check has come.
struct Progress {
    /// When the journal was written last.
    written: Instant,
    decided: Vec<Decided>,
    /// Whether a search is under way that writes how far it has come: nobody else writes then, for the file has all or nothing.
    is_searching: bool,
    /// Whether the user knows that it could not be written.
    has_warned: bool,
    /// Why what was kept is of no use.
    refused: Option<String>,
}

impl Journal {
    /// What an earlier process has decided under a name; marks that it left on the system are `set` again.
    pub fn decided(&self, name: &str, set: impl FnOnce(&[u8]) -> bool) -> Option<Outcome> {
        let progress = self.progress();
        let decided = progress.decided.iter().find(|decided| decided.name == name)?;
        set(&decided.marks).then(|| decided.outcome.clone())
    }

    /// Keeps what a search has found, unless it was ended before it was done; whether it was done.
    pub fn decide(&self, name: &str, outcome: &Outcome, marks: Vec<u8>) -> bool {
        if !outcome.incomplete.iter().all(|reason| is_final(*reason)) {
            return false;
        }
        let (name, outcome) = (name.to_owned(), outcome.clone());
        self.progress().decided.push(Decided { name, outcome, marks });
        self.write_if_free();
        true
    }

    /// The only search that says how far it has come begins, or is done. One that was ended early is never done: what it has
    /// written stays in the file, whatever others decide.
    pub fn searching(&self, is_searching: bool) {
        self.progress().is_searching = is_searching;
        self.write_if_free();
    }

    /// Writes what is decided, unless that would take the place of how far a search has come.
    fn write_if_free(&self) {
        if !self.progress().is_searching {
            self.write(None);
        }
    }

    /// Why what was kept is of no use, if a search has found that out.
    pub fn refused(&self) -> Option<String> {
        self.progress().refused.clone()
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        locked(&self.progress)
    }

    /// Writes all of it; tells once that this is impossible.
    fn write(&self, search: Option<WriteSearch<'_>>) {
        let written = self.try_write(search);
        let mut progress = self.progress();
        progress.written = Instant::now();
        if let Err(error) = written
            && !std::mem::replace(&mut progress.has_warned, true)
        {
            crate::output::stderr(&format!(
                "warning: cannot write the journal {}: {error}; the search goes on, and what was written before stays\n",
                self.path.display()
            ));
        }
    }

    /// Writes the file: what it is, what it is of, what is decided, and how far a search has come.
    fn try_write(&self, mut search: Option<WriteSearch<'_>>) -> io::Result<()> {
        let _turn = locked(&self.writing);
        careful::replace_by(&self.path, &mut |file| {
            let progress = self.progress();
            file.write_all(&head::start())?;
            let mut to = Writer::new(file);
            self.head.write(&mut to)?;
            decided::write(&mut to, &progress.decided)?;
            // A search asks for nothing of this while it writes.
            drop(progress);
            to.bool(search.is_some())?;
            search.as_mut().map_or(Ok(()), |write| write(&mut to))?;
            to.finish()
        })
    }
}

/// Whether a search that ended for this reason is done with.
fn is_final(reason: Incomplete) -> bool {
    !reason.may_go_on() && reason != Incomplete::Journal
}

impl explore::journal::Journal for Journal {
    fn is_due(&self) -> bool {
        self.progress().written.elapsed() >= self.every
    }

    fn keep(&self, write: &mut dyn FnMut(&mut Writer<'_>) -> io::Result<()>) {
        self.write(Some(write));
    }

    fn take_kept(&self) -> Option<Reader> {
        locked(&self.kept).take()
    }

    fn refuse(&self, why: &Broken) {
        self.progress().refused = Some(why.to_string());
    }
}

/// Opens a journal that is there: a regular file.
fn opened(path: &Path) -> Result<File, String> {
    careful::open_regular(path).map_err(|error| error.to_string())
}

/// A thread that panicked ends the whole program, so nobody sees what it left half done.
fn locked<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}
