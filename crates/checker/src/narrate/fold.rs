//! What of a story is worth telling: what others could notice, and how it came that a file was not what it was taken for.

use super::Narration;
use super::files::{Noted, Use};
use super::narrator::Narrator;
use crate::system::choice::TIME;
use kernel::{Id, Tid};
use trace::{Call, Change, Event, EventKind, FileDeed, MistakenFile, Purpose, Trace};

/// Events of whoever moved last that are always told: what went wrong is often the last thing that it tried.
const LAST_TOLD: usize = 3;
/// Events of somebody who is alone that are told.
const ALONE_TOLD: usize = 12;
/// Calls that failed, of whoever moved last, that are always told.
const LAST_FAILED: usize = 2;

/// Marks events that nobody else could notice, and steps without any other event. Of somebody who is alone, all are but the
/// last ones.
fn mark_local(story: &mut Narration) {
    let trace = &mut story.told.trace;
    let mut actors: Vec<u32> =
        trace.steps.iter().map(|step| step.choice.actor).filter(|actor| *actor != TIME).collect();
    let last = actors.last().copied();
    actors.sort_unstable();
    actors.dedup();
    let is_alone = actors.len() < 2;
    let kept = last_events(trace, last, if is_alone { ALONE_TOLD } else { LAST_TOLD });
    for (index, step) in trace.steps.iter_mut().enumerate() {
        for (number, event) in step.events.iter_mut().enumerate() {
            let is_silent = event.changes.is_empty() && event.output.is_none() && event.created.is_none();
            let is_private = || is_alone || story.uses.are_private(index + 1, number) == Some(true);
            event.is_local = is_silent && !kept.contains(&(index, number)) && is_private();
        }
        if step.events.iter().all(|event| event.is_local) {
            step.is_local = Some(true);
        }
    }
    mark_repeated(trace);
}

/// Marks what a thread does again right after it did the same to no effect: a spin loop is told once.
fn mark_repeated(trace: &mut Trace) {
    let mut last: Option<Event> = None;
    for step in &mut trace.steps {
        let [event] = step.events.as_mut_slice() else {
            last = None;
            continue;
        };
        let is_read = matches!(event.kind, EventKind::Access { is_write: false, .. }) && event.changes.is_empty();
        if is_read && last.as_ref().is_some_and(|last| is_again(last, event)) {
            (event.is_local, step.is_local) = (true, Some(true));
        } else if step.is_local != Some(true) {
            last = Some(event.clone());
        }
    }
}

fn is_again(one: &Event, other: &Event) -> bool {
    (one.actor, &one.kind, &one.location) == (other.actor, &other.kind, &other.location)
}

/// The last events of an actor, and the last ones that it failed with.
fn last_events(trace: &Trace, actor: Option<u32>, count: usize) -> Vec<(usize, usize)> {
    let places = trace.steps.iter().enumerate().flat_map(|(index, step)| {
        let own = step.events.iter().enumerate().filter(|(_, event)| Some(event.actor) == actor);
        own.map(move |(number, _)| (index, number))
    });
    let places: Vec<(usize, usize)> = places.collect();
    let failed = |(index, number): &&(usize, usize)| has_failed(&trace.steps[*index].events[*number]);
    let failures = places.iter().rev().filter(failed).take(LAST_FAILED);
    places.iter().rev().take(count).chain(failures).copied().collect()
}

/// Whether a call came to an error; that files of the system are not there is nothing special.
fn has_failed(event: &Event) -> bool {
    let is_of_system = |path: &str| ["/usr/", "/lib", "/proc/"].iter().any(|folder| path.starts_with(folder));
    let is_plain = |call: &Call| matches!(call.purpose, Purpose::Plain | Purpose::Locks(_));
    let has_failed = |call: &Call| call.error().is_some() && !call.path().is_some_and(is_of_system);
    event.kind.call().is_some_and(|call| is_plain(call) && has_failed(call))
}

impl Narrator<'_> {
    /// Tells what names of files went through, and marks what nobody else could notice.
    pub(super) fn tell_files(&self, story: &mut Narration) {
        for (noted, named) in story.uses.changes() {
            let (before, after) = (self.meaning(story, named.before), self.meaning(story, named.after));
            let change = Change { name: self.below(&named.path), before, after };
            story.told.trace.steps[noted.step - 1].events[noted.event].changes.push(change);
        }
        story.told.mistaken = self.mistaken(story);
        story.told.missing = story.uses.missing().map(str::to_owned).collect();
        mark_local(story);
    }

    /// What a name stands for, by who made it.
    fn meaning(&self, story: &Narration, inode: Option<Id>) -> String {
        match inode.map(|inode| story.uses.maker(inode)) {
            None => "none".to_owned(),
            Some(None) => "the old one".to_owned(),
            Some(Some(actor)) => format!("{}'s", self.listener.thread(Tid(actor))),
        }
    }

    /// A path as its user would write it.
    pub(super) fn below(&self, path: &str) -> String {
        let rest = path.strip_prefix(&self.listener.folder).and_then(|rest| rest.strip_prefix('/'));
        rest.unwrap_or(path).to_owned()
    }

    /// Who acted upon another file than it had looked at, and why.
    fn mistaken(&self, story: &Narration) -> Option<MistakenFile> {
        let (look, deed, between) = story.uses.mistaken()?;
        let Use::Name(named) = &deed.used else { return None };
        let between = between.into_iter().map(|noted| self.file_deed(noted)).collect();
        let (look, deed) = (self.file_deed(look), self.file_deed(deed));
        Some(MistakenFile { name: self.below(&named.path), look, deed, between })
    }

    fn file_deed(&self, noted: &Noted) -> FileDeed {
        FileDeed { who: self.listener.thread_ref(Tid(noted.actor)), verb: noted.used.verb(), step: noted.step }
    }
}
