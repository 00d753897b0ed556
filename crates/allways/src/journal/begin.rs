//! How a journal begins, or is gone on from: what the command line says against what the file says.

use super::head::{Head, START, fingerprint, read_start};
use super::{EVERY, Journal, Progress, decided, opened};
use crate::args::{CheckArgs, Cli, Verb};
use crate::careful;
use crate::model::Model;
use crate::options::Options;
use crate::report_files::VERSION;
use clap::Parser;
use explore::journal::{Broken, Reader};
use std::ffi::OsString;
use std::io::{Seek, SeekFrom};
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

/// The journal that the command line wants, if any; what is checked and how comes from the file of a check that goes on.
///
/// # Errors
/// If there is none to go on from, or it is of something else, or it cannot be written.
pub fn begin(args: &mut CheckArgs) -> Result<Option<Journal>, String> {
    let journal = match (&args.journal, &args.resume) {
        (None, None) if args.journal_every.is_some() => {
            return Err("`--journal-every` goes with `--journal` or `--resume`".to_owned());
        }
        (None, None) => return Ok(None),
        (Some(path), _) => new(path, args)?,
        (None, Some(path)) => {
            let path = path.clone();
            read(&path, args).map_err(|why| format!("cannot go on from {}: {why}", path.display()))?
        }
    };
    Ok(Some(journal))
}

/// A journal that is not there yet. Nothing is written before the model was read: a mistake in it leaves no file.
fn new(path: &Path, args: &CheckArgs) -> Result<Journal, String> {
    let shown = path.display();
    match careful::may_be_replaced(path) {
        Err(why) => return Err(format!("cannot write the journal {shown}: {why}")),
        Ok(true) => {
            return Err(format!(
                "there is {shown} already, and it may be a journal of days\n  = help: `allways check --resume {shown}` goes on with it; or remove it"
            ));
        }
        Ok(false) => {}
    }
    Ok(journal(path, args, Head::new(std::env::args_os().skip(1).collect())))
}

fn journal(path: &Path, args: &CheckArgs, head: Head) -> Journal {
    let progress = Progress {
        written: Instant::now(),
        decided: Vec::new(),
        is_searching: false,
        has_warned: false,
        refused: None,
    };
    let (path, every) = (path.to_owned(), args.journal_every.unwrap_or(EVERY));
    Journal { path, every, head, progress: Mutex::new(progress), kept: Mutex::default(), writing: Mutex::default() }
}

/// Reads a journal: first whether it is whole, then what is in it. How far the search had come stays in the file until it goes on.
fn read(path: &Path, args: &mut CheckArgs) -> Result<Journal, String> {
    let broken = |why: Broken| why.to_string();
    careful::may_be_replaced(path)?;
    let mut file = opened(path)?;
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    read_start(&mut file)?;
    let reader = |mut file: std::fs::File| {
        file.seek(SeekFrom::Start(START)).map_err(|error| error.to_string())?;
        Ok::<_, String>(Reader::new(Box::new(std::io::BufReader::with_capacity(1 << 17, file)), length - START))
    };
    // What it says of itself comes before what may be damaged: that another version wrote it is known anyway.
    let head = Head::read(&mut reader(opened(path)?)?).map_err(broken)?;
    if head.tool != VERSION {
        return Err(format!("{} wrote it, and this is {VERSION}\n  = help: only the same version goes on", head.tool));
    }
    reader(opened(path)?)?.end().map_err(broken)?;
    take_over(args, &head)?;
    let mut from = reader(file)?;
    let head = Head::read(&mut from).map_err(broken)?;
    let journal = journal(path, args, head);
    let decided = decided::read(&mut from).map_err(broken)?;
    let is_searching = from.bool().map_err(broken)?;
    super::locked(&journal.progress).decided = decided;
    *super::locked(&journal.kept) = is_searching.then_some(from);
    Ok(journal)
}

/// Makes the command line say what the journal's did, except how long to search and what to print. It may repeat what that said,
/// and contradict nothing.
fn take_over(args: &mut CheckArgs, head: &Head) -> Result<(), String> {
    let words = std::iter::once(OsString::from("allways")).chain(head.command.iter().cloned());
    let Ok(Cli { verb: Verb::Check(before), .. }) = Cli::try_parse_from(words) else {
        return Err(format!("it is of a command that this version does not know: {}", head.told()));
    };
    if deciding(args) == deciding(&before) {
        return Ok(());
    }
    if deciding(args) != deciding(&CheckArgs::default()) {
        return Err(format!(
            "it is of another check: {}\n  = help: what decides a search is in its journal; leave it out here",
            head.told()
        ));
    }
    let CheckArgs { file, world, model, options, ltl, fair, order, store, faults, scope, profile, .. } = *before;
    let limits = std::mem::take(&mut args.options);
    args.options = limits.over(&unlimited(&options));
    (args.file, args.world, args.model, args.ltl, args.fair) = (file, world, model, ltl, fair);
    (args.order, args.store, args.faults, args.scope, args.profile) = (order, store, faults, scope, profile);
    Ok(())
}

/// What decides how a search goes, in words: all but its limits, and what is printed.
fn deciding(args: &CheckArgs) -> String {
    let CheckArgs { file, world, model, options, ltl, fair, order, store, faults, scope, profile, .. } = args;
    let (model, options) = ((&model.define, &model.undefine, &model.include), unlimited(options));
    format!("{:?}", (file, world, model, options, ltl, fair, order, store, (faults, scope, profile)))
}

/// Options without the limits: a search may go on with more of them, and with other workers.
fn unlimited(options: &Options) -> Options {
    let mut options = options.clone();
    (options.search.jobs, options.search.time, options.search.mem) = (None, None, None);
    options
}

/// Holds a journal against the model that was read; writes it for the first time, so that there is one to go on from.
///
/// # Errors
/// If the journal is of another model, or cannot be written.
pub fn settle(journal: &mut Journal, model: &Model, args: &CheckArgs) -> Result<(), String> {
    let place = &model.system_ref;
    let subject = fingerprint(&[&place.fingerprint, &deciding(args)]);
    let path = journal.path.display().to_string();
    careful::remove_left_behind(&journal.path);
    if journal.head.subject.is_empty() {
        journal.head.subject = subject;
        return journal.try_write(None).map_err(|error| format!("cannot write the journal {path}: {error}"));
    }
    match journal.head.subject == subject {
        true => Ok(()),
        false => Err(format!(
            "cannot go on from {path}: {} has changed since it was written\n  = help: check it from the beginning, with another journal",
            place.file
        )),
    }
}
