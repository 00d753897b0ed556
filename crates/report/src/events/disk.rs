//! What is on a disk when power has failed, in words: what was lost, by which call, and which call was missing.

use trace::{DiskChange, DiskEvent, DiskWhat, EventKind, FaultEvent, Trace};

/// Changes that were lost and are told one by one.
const NOTES_MAX: usize = 8;

/// What has reached the disk, and what has not.
pub fn found(DiskEvent { reached, lost }: &DiskEvent) -> String {
    let told: Vec<String> = [list("lost", lost), list("on the disk", reached)].into_iter().flatten().collect();
    if told.is_empty() { "nothing was lost".to_owned() } else { told.join("; ") }
}

/// What was lost in a story, and which calls would have kept it.
#[must_use]
pub fn disk_notes(trace: &Trace) -> Vec<String> {
    let events = trace.steps.iter().flat_map(|step| &step.events);
    let found = events.filter_map(|event| match &event.kind {
        EventKind::Fault(FaultEvent::Disk(found)) => Some(found),
        _ => None,
    });
    let lost: Vec<&DiskChange> = found.flat_map(|found| &found.lost).collect();
    let first = lost.iter().take(NOTES_MAX).map(|lost| format!("lost: {}", change(lost)));
    let mut notes: Vec<String> = first.collect();
    if lost.len() > NOTES_MAX {
        notes.push(format!("... and {} more", lost.len() - NOTES_MAX));
    }
    // Of all that one fsync would have kept, the last call: behind it the fsync belongs.
    let is_last = |(at, lost_change): &(usize, &&DiskChange)| {
        lost[at + 1..].iter().all(|later| later.by_sync_of != lost_change.by_sync_of)
    };
    notes.extend(lost.iter().enumerate().filter(is_last).map(|(_, lost)| missing(lost)));
    notes
}

fn list(title: &str, changes: &[DiskChange]) -> Option<String> {
    let told: Vec<String> = changes.iter().map(change).collect();
    (!told.is_empty()).then(|| format!("{title}: {}", told.join(", ")))
}

fn change(DiskChange { what, call, location, .. }: &DiskChange) -> String {
    let what = match what {
        DiskWhat::Made(name) => format!("the name {name}"),
        DiskWhat::Removed(name) => format!("the removal of {name}"),
        DiskWhat::Renamed([from, to]) => format!("the renaming of {from} to {to}"),
        DiskWhat::Size { file, from, to } => format!("the length {to} of {file} (it was {from})"),
        DiskWhat::Bytes { file, offset, count } => format!("bytes {offset} to {} of {file}", offset + count),
    };
    let line = location.as_ref().map(|at| format!("{}:{}", at.file, at.line));
    let by: Vec<String> = call.iter().cloned().chain(line).collect();
    if by.is_empty() { what } else { format!("{what} ({})", by.join(", ")) }
}

/// The call that would have kept what was lost.
fn missing(DiskChange { call, location, by_sync_of, .. }: &DiskChange) -> String {
    let call = call.as_deref().unwrap_or("that");
    let line = location.as_ref().map(|at| format!(" at {}:{}", at.file, at.line)).unwrap_or_default();
    format!("no fsync of {by_sync_of} came behind the {call}{line}")
}
