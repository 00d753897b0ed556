//! The overlay as steps read it: what a step reads of other threads is recorded, where its read set is wanted.
//!
//! Interior mutability, against the rule of the project, because reads are recorded where `&self`
//! is at hand everywhere; it is no part of the state, never cloned or hashed, and empty between
//! steps.

use super::dependency::Dependency;
use super::overlay::{Overlay, Phase, ThreadOverlay, insert};
use crate::libc::Buried;
use kernel::Tid;
use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};

/// The overlay of the loaded state. The read set of a step is complete only if it reads other threads by the methods of
/// this type: reads by those of [`Overlay`] are not recorded.
#[derive(Default)]
pub struct LiveOverlay {
    overlay: Overlay,
    /// The thread whose reads are recorded; 0 for none.
    reader: Cell<u32>,
    reads: RefCell<Vec<Dependency>>,
}

impl Deref for LiveOverlay {
    type Target = Overlay;

    fn deref(&self) -> &Overlay {
        &self.overlay
    }
}

impl DerefMut for LiveOverlay {
    fn deref_mut(&mut self) -> &mut Overlay {
        &mut self.overlay
    }
}

impl LiveOverlay {
    /// Records from now on what a thread reads of others.
    pub fn begin_notes(&mut self, reader: Tid) {
        self.reader.set(reader.0);
        self.reads.get_mut().clear();
    }

    /// Ends the recording; returns what was read.
    pub fn end_notes(&mut self) -> Vec<Dependency> {
        self.reader.set(0);
        self.reads.take()
    }

    /// Records a read.
    #[inline]
    pub fn note(&self, read: Dependency) {
        if self.reader.get() != 0 && read != Dependency::Thread(Tid(self.reader.get())) {
            self.reads.borrow_mut().push(read);
        }
    }

    /// Restores an overlay.
    pub fn restore(&mut self, overlay: &Overlay) {
        self.overlay = overlay.clone();
    }

    /// A thread's entry.
    #[must_use]
    pub fn thread(&self, tid: Tid) -> Option<&ThreadOverlay> {
        self.note(Dependency::Thread(tid));
        self.overlay.threads.get(&tid)
    }

    /// A thread's entry, created if there is none.
    pub fn thread_mut(&mut self, tid: Tid) -> &mut ThreadOverlay {
        self.note(Dependency::Thread(tid));
        if !self.overlay.threads.contains_key(&tid) {
            self.overlay.threads.insert(tid, ThreadOverlay::default());
        }
        self.overlay.threads.get_mut(&tid).expect("just made")
    }

    /// All threads with an entry.
    pub fn threads(&self) -> impl Iterator<Item = (Tid, &ThreadOverlay)> {
        self.note(Dependency::AllThreads);
        self.overlay.threads.iter().map(|(tid, overlay)| (*tid, overlay))
    }

    /// Sets the stack of the threads that a thread has just created in the library.
    pub fn place_stacks(&mut self, by: Tid, stack: Option<(u64, u64)>) {
        let Some(stack) = stack else { return };
        let is_new = |(_, overlay): &(&Tid, &ThreadOverlay)| {
            overlay.creator == Some(by) && overlay.phase == Phase::Starting && overlay.stack.is_none()
        };
        let new: Vec<Tid> = self.overlay.threads.iter().filter(is_new).map(|(tid, _)| *tid).collect();
        new.into_iter().for_each(|tid| self.thread_mut(tid).stack = Some(stack));
    }

    /// The thread other than the given one on whose stack an address lies.
    #[must_use]
    pub fn stack_of(&self, address: u64, but: Tid) -> Option<Tid> {
        self.note(Dependency::StackOf(address, but));
        self.on_stack(address, but)
    }

    /// Records that a thread has freed a block of another thread.
    pub fn bury(&mut self, tid: Tid, buried: Buried) {
        insert(&mut self.thread_mut(tid).buried, buried);
    }

    /// Whether freed blocks wait to be reclaimed by their owners.
    #[must_use]
    pub fn has_buried(&self) -> bool {
        self.note(Dependency::Buried);
        self.is_burying()
    }

    /// A thread leaves the blocks that it has freed at an object, to be reclaimed by their owners.
    pub fn leave(&mut self, tid: Tid, object: u64) {
        if self.thread(tid).is_none_or(|overlay| overlay.buried.is_empty()) {
            return;
        }
        let own = std::mem::take(&mut self.thread_mut(tid).buried);
        let mut all = self.overlay.buried.get(&object).cloned().unwrap_or_default();
        own.into_iter().for_each(|buried| insert(&mut all, buried));
        self.overlay.buried.insert(object, all);
    }

    /// The threads that sleep at an object and were not yet woken.
    pub fn sleepers(&self, object: u64) -> Vec<Tid> {
        self.note(Dependency::Sleepers(object));
        self.sleeping(object)
    }

    /// The holder of an exclusive lock.
    pub fn holder(&self, object: u64) -> Option<Tid> {
        self.note(Dependency::Holder(object));
        self.holding(object)
    }
}
