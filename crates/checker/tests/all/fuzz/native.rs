//! What a program does on the host: some schedule, and our search must know what comes of it.

use crate::fuzz::batch::Case;
use crate::fuzz::compare::Seen;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Ending {
    Code(i32),
    Signal(i32),
    Waits,
}

/// How many times a program runs.
const RUNS: usize = 6;

/// How long a program may wait of which a search has told that it does.
const KNOWN: Duration = Duration::from_millis(200);

/// So many times longer is waited for one that could go on if the host let it.
const BUSY: u32 = 10;

/// Ends that a search did not tell of.
pub fn unknown(case: &Case<'_>, times: bool, seen: &Seen) -> Vec<Ending> {
    // What a broken promise or the end of a child leads to is not followed.
    if seen.is_misused() || has_failing_child(case, seen) {
        return Vec::new();
    }
    let patience = match (is_known(Ending::Waits, seen), times) {
        (true, _) => KNOWN,
        (false, false) => Duration::from_secs(3),
        (false, true) => Duration::from_secs(10),
    };
    let mut ends: Vec<Ending> = Vec::new();
    for run in 0..RUNS {
        ends.push(once(case, run, patience));
        if ends.last() == Some(&Ending::Waits) {
            break;
        }
    }
    ends.sort_unstable();
    ends.dedup();
    ends.retain(|end| !is_known(*end, seen));
    ends
}

fn has_failing_child(case: &Case<'_>, seen: &Seen) -> bool {
    let fails = |failure: &String| failure.starts_with("crash") || failure.starts_with("assert");
    let is_forked = case.program.row.contains("PROCESSES") || case.program.source.contains("fork");
    is_forked && seen.failures.iter().any(fails)
}

/// Whether a search told of an end.
pub fn is_known(end: Ending, seen: &Seen) -> bool {
    let starts = |start: &str| seen.failures.iter().any(|failure| failure.starts_with(start));
    match end {
        Ending::Code(0) | Ending::Signal(9) => !seen.ends.is_empty(),
        Ending::Code(code) => seen.failures.contains(&format!("exit: program ends with exit code {code}")),
        Ending::Signal(6) => starts("assert"),
        Ending::Signal(_) => starts("crash"),
        Ending::Waits => starts("deadlock") || starts("livelock"),
    }
}

/// One run; every other one has only one processor, so that threads are interrupted at other places.
fn once(case: &Case<'_>, run: usize, patience: Duration) -> Ending {
    let (place, number) = case.place();
    let folder = place.join(format!("native-{number}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder takes folders");
    std::fs::hard_link(place.join("program"), folder.join("program")).expect("it is one file system");
    // Programs count names.
    std::fs::write(folder.join("program.c"), "").expect("the folder takes files");
    let end = ending(&folder, number, run.is_multiple_of(2), patience);
    let _ = std::fs::remove_dir_all(&folder);
    end
}

fn ending(folder: &Path, number: usize, alone: bool, patience: Duration) -> Ending {
    let processors = if alone { "0" } else { "0-1" };
    let mut native = Command::new("taskset");
    native.args(["-c", processors, "./program", &number.to_string()]).current_dir(folder).process_group(0);
    native.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = native.spawn().expect("it starts");
    let started = Instant::now();
    let status = loop {
        match child.try_wait().expect("it is a child") {
            Some(status) => break Some(status),
            None if started.elapsed() > patience && (patience <= KNOWN || is_asleep(child.id())) => break None,
            None if started.elapsed() > patience * BUSY => break None,
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    // Whoever is left belongs to nobody.
    let group = format!("-{}", child.id());
    let _ = Command::new("kill").args(["-9", "--", &group]).stderr(Stdio::null()).status();
    let _ = child.wait();
    match status {
        Some(status) => status.code().map_or_else(|| Ending::Signal(status.signal().unwrap_or(0)), Ending::Code),
        None => Ending::Waits,
    }
}

/// Whether all threads of a process group wait for something.
fn is_asleep(group: u32) -> bool {
    let entries = |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    // The state and the group are the first and the third field behind the name.
    let fields = |of: &Path| -> Option<(String, String)> {
        let stat = std::fs::read_to_string(of.join("stat")).ok()?;
        let (_, fields) = stat.rsplit_once(") ")?;
        let mut fields = fields.split(' ').map(str::to_owned);
        Some((fields.next()?, fields.nth(1)?))
    };
    let is_of_group = |process: &Path| fields(process).is_some_and(|(_, of)| of == group.to_string());
    let runs = |thread: &Path| fields(thread).is_some_and(|(state, _)| matches!(&state[..], "R" | "D"));
    let processes = entries(Path::new("/proc")).filter(|process| is_of_group(process));
    !processes.flat_map(|process| entries(&process.join("task"))).any(|thread| runs(&thread))
}
