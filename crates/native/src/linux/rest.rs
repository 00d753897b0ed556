//! When a program has come to rest: all of its threads are blocked, everything that we sent has arrived, and everything that it
//! sent has been received.
//!
//! Why that is enough: `threads.rs` shows a moment at which all threads were blocked, the supervisor among them, so that no question
//! of the program is open. The kernel's counts of each connection are looked at before that moment. Whoever waits for a packet
//! that is counted has been woken, and would not be blocked.

use crate::address::Address;
use crate::host::channel::Channel;
use crate::host::diag::Diagnosis;
use crate::host::ports;
use crate::host::threads::{Doing, Site, Thread, collect};
use crate::problem::Problem;
use std::collections::BTreeSet;
use std::time::Duration;

/// What is looked at.
pub(crate) struct Group<'a> {
    pub supervisor: u32,
    /// Where it is reached.
    pub address: &'a Address,
    pub connections: &'a [Box<dyn Channel>],
    pub diagnosis: &'a Diagnosis,
    /// Where threads may sleep and still be at rest; nothing if that is anywhere.
    pub idle: Option<&'a BTreeSet<Site>>,
}

/// The outcome of a look.
pub(crate) enum Look {
    /// Nothing moves but time.
    Rest(Rest),
    /// What does.
    Moves(String),
}

/// A moment at which nothing moved but time.
pub(crate) struct Rest {
    /// Threads that sleep.
    pub sleeps: Vec<Sleep>,
    /// Where threads wait for others, until a time.
    pub timed: BTreeSet<Site>,
    /// Whether something that we sent was not read, or a connection not accepted.
    pub is_unread: bool,
}

/// A thread that sleeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sleep {
    pub thread: Thread,
    pub site: Site,
    /// Its number in texts.
    pub index: usize,
}

impl Rest {
    /// Where threads wait until a time.
    pub fn sites(&self) -> BTreeSet<Site> {
        self.sleeps.iter().map(|sleep| sleep.site).chain(self.timed.iter().copied()).collect()
    }
}

impl Group<'_> {
    /// Looks once.
    pub fn look(&self) -> Result<Look, Problem> {
        let Some(before) = collect(self.supervisor) else { return Ok(moves("threads come and go")) };
        if let Some(index) = before.iter().position(|thread| !thread.seems_blocked()) {
            return Ok(Look::Moves(told(index, before[index].state_told())));
        }
        let is_unread = match self.connections_at_rest()? {
            Ok(is_unread) => is_unread,
            Err(why) => return Ok(Look::Moves(why)),
        };
        let mut rest = Rest { sleeps: Vec::new(), timed: BTreeSet::new(), is_unread };
        if let Err(why) = self.note_sleeps(&before, &mut rest) {
            return Ok(Look::Moves(why));
        }
        Ok(match collect(self.supervisor) {
            Some(after) if after == before => Look::Rest(rest),
            _ => moves("threads run now and then"),
        })
    }

    /// Whether something is unread; or on which connection something is on its way.
    fn connections_at_rest(&self) -> Result<Result<bool, String>, Problem> {
        let mut is_unread = match ports::waiting(&self.supervisor.to_string(), self.address)? {
            Ok(is_unread) => is_unread,
            Err(why) => return Ok(Err(why.to_owned())),
        };
        for (index, connection) in self.connections.iter().enumerate().filter(|(_, one)| !one.is_over()) {
            match connection.transit(self.diagnosis)? {
                Err(why) => return Ok(Err(format!("connection {} {why}", index + 1))),
                Ok(is_left) => is_unread |= is_left,
            }
        }
        Ok(Ok(is_unread))
    }

    /// Notes where threads sleep; or says who is not blocked, or waits until a time where it was never seen to at rest.
    fn note_sleeps(&self, threads: &[Thread], rest: &mut Rest) -> Result<(), String> {
        for (index, thread) in threads.iter().enumerate() {
            match thread.doing() {
                Doing::Waits => {}
                Doing::Runs => return Err(told(index, "runs")),
                Doing::Sleeps(site) => rest.sleeps.push(Sleep { thread: *thread, site, index }),
                Doing::WaitsFor(site) if self.idle.is_some_and(|idle| !idle.contains(&site)) => {
                    return Err(told(index, "sleeps"));
                }
                Doing::WaitsFor(site) => drop(rest.timed.insert(site)),
            }
        }
        Ok(())
    }
}

fn moves(what: &str) -> Look {
    Look::Moves(what.to_owned())
}

/// Threads are numbered from 1; the supervisor comes before them.
pub(crate) fn told(index: usize, what: &str) -> String {
    match index {
        0 => "it is being looked after".to_owned(),
        _ => format!("thread {index} {what}"),
    }
}

/// Shorter and then longer pauses between looks. Nothing but their cost depends on them.
#[derive(Default)]
pub(crate) struct Pause {
    taken: u32,
}

impl Pause {
    pub fn take(&mut self) {
        self.taken += 1;
        match self.taken {
            ..=8 => std::thread::yield_now(),
            taken => std::thread::sleep(Duration::from_micros(20 << (taken - 9).min(7))),
        }
    }
}
