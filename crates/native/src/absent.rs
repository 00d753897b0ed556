//! Other systems than x86-64 Linux: there are no native peers, and whoever asks for one is told so.

use crate::{Datagram, Probe, Problem, Received, Spec, Status, Stream, Wanted};
use std::time::Duration;

const WHY: &str = "native peers need x86-64 Linux; leave out `outside`: then it runs in a world of its own";

/// No instance: none can be started.
pub struct Instance(Nothing);

/// No connection: there is no instance to have one.
pub struct Link(Nothing);

/// What there is none of.
enum Nothing {}

/// What native peers need: another system.
#[must_use]
pub fn probes() -> Vec<Probe> {
    vec![Probe { name: "x86-64 Linux", missing: Some(WHY.to_owned()) }]
}

/// Runs nothing.
///
/// # Errors
/// In any case.
pub fn run(_: &[Vec<u8>], _: &Spec, _: &dyn Fn() -> bool) -> Result<(), Problem> {
    Err(Problem::NotStarted(WHY.to_owned()))
}

/// Nobody is asked.
pub fn supervise_if_asked() {}

#[allow(missing_docs, clippy::missing_errors_doc, reason = "as on Linux; only the first can be called")]
impl Instance {
    pub fn start(_: &Spec, _: &dyn Fn() -> bool) -> Result<Self, Problem> {
        Err(Problem::NotStarted(WHY.to_owned()))
    }

    pub fn has_own_network(&self) -> bool {
        match self.0 {}
    }

    pub fn is_alone(&self) -> bool {
        match self.0 {}
    }

    pub fn has_own_clock(&self) -> bool {
        match self.0 {}
    }

    pub fn open(&mut self) -> Result<usize, Problem> {
        match self.0 {}
    }

    pub fn link(&mut self) -> Result<Link, Problem> {
        match self.0 {}
    }

    pub fn send(&mut self, _: usize, _: &[u8]) {
        match self.0 {}
    }

    pub fn finish(&mut self, _: usize) {
        match self.0 {}
    }

    pub fn close(&mut self, _: usize) {
        match self.0 {}
    }

    pub fn reset(&mut self, _: usize) {
        match self.0 {}
    }

    pub fn datagrams(&self, _: usize) -> &[Datagram] {
        match self.0 {}
    }

    pub fn stream(&self, _: usize) -> &Stream {
        match self.0 {}
    }

    pub fn status(&self) -> Option<Status> {
        match self.0 {}
    }

    pub fn last_words(&self) -> String {
        match self.0 {}
    }

    pub fn has_spoken(&mut self) -> bool {
        match self.0 {}
    }

    pub fn is_free(&self) -> bool {
        match self.0 {}
    }

    pub fn is_client(&self) -> bool {
        match self.0 {}
    }

    pub fn connections(&self) -> usize {
        match self.0 {}
    }

    pub fn rest(&mut self, _: &dyn Fn() -> bool) -> Result<(), Problem> {
        match self.0 {}
    }
}

#[allow(missing_docs, reason = "as on Linux; none can be called")]
impl Link {
    pub fn send(&mut self, _: &[u8]) -> usize {
        match self.0 {}
    }

    pub fn receive(&mut self, _: &mut [u8]) -> Received {
        match self.0 {}
    }

    pub fn finish(&self) {
        match self.0 {}
    }

    pub fn reset(self) {
        match self.0 {}
    }

    pub fn wait(_: &[(&Self, Wanted)], _: Duration) {}
}
