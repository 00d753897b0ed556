//! When a program has come to rest: all of its threads are blocked, everything that we sent has arrived, and everything that it
//! sent has been received.
//!
//! Why that is enough: `threads.rs` shows a moment at which all threads were blocked, the keeper among them, so that no question
//! of the program is open. The kernel's counts of each connection are looked at before that moment. Whoever waits for a packet
//! that is counted has been woken, and would not be blocked.

use crate::connection::Connection;
use crate::diag::Diagnosis;
use crate::problem::Problem;
use crate::sys::await_packet_handlers;
use crate::threads::{Doing, Site, Thread, collect};
use std::collections::BTreeSet;
use std::time::Duration;

/// What is looked at.
pub(crate) struct Group<'a> {
    pub keeper: u32,
    pub connections: &'a [Connection],
    pub diagnosis: &'a Diagnosis,
    /// Where threads may sleep and still be at rest; nothing if that is anywhere.
    pub idle: Option<&'a BTreeSet<Site>>,
}

/// The outcome of a look.
pub(crate) enum Look {
    /// All is at rest. Where threads sleep.
    Rest(BTreeSet<Site>),
    /// What is not.
    Moves(String),
}

impl Group<'_> {
    /// Looks once.
    pub fn look(&self) -> Result<Look, Problem> {
        let Some(before) = collect(self.keeper) else { return Ok(moves("threads come and go")) };
        if let Some(index) = before.iter().position(|thread| !thread.seems_blocked()) {
            return Ok(Look::Moves(told(index, before[index].state_told())));
        }
        if let Some(why) = self.unsettled()? {
            return Ok(Look::Moves(why));
        }
        let sites = match self.sites(&before) {
            Ok(sites) => sites,
            Err(why) => return Ok(Look::Moves(why)),
        };
        Ok(match collect(self.keeper) {
            Some(after) if after == before => Look::Rest(sites),
            _ => moves("threads run now and then"),
        })
    }

    /// A connection on which something is on its way.
    fn unsettled(&self) -> Result<Option<String>, Problem> {
        let mut is_broken = false;
        for (index, connection) in self.connections.iter().enumerate().filter(|(_, one)| !one.is_over()) {
            let far = self.diagnosis.look_up(connection.ports());
            let far = far.map_err(|error| Problem::system("asking for its connections", &error))?;
            if let Some(why) = connection.unsettled(far.as_ref()) {
                return Ok(Some(format!("connection {} {why}", index + 1)));
            }
            is_broken |= connection.is_broken_off();
        }
        // An end that is gone cannot be locked: whoever handles the packet that ended it may not have woken all yet.
        if is_broken {
            await_packet_handlers();
        }
        Ok(None)
    }

    /// Where threads sleep; or who is not blocked, or sleeps where it was never seen to at rest.
    fn sites(&self, threads: &[Thread]) -> Result<BTreeSet<Site>, String> {
        let mut sites = BTreeSet::new();
        for (index, thread) in threads.iter().enumerate() {
            match thread.doing() {
                Doing::Waits => {}
                Doing::Runs => return Err(told(index, "runs")),
                Doing::Sleeps(site) if self.idle.is_some_and(|idle| !idle.contains(&site)) => {
                    return Err(told(index, "sleeps"));
                }
                Doing::Sleeps(site) => drop(sites.insert(site)),
            }
        }
        Ok(sites)
    }
}

fn moves(what: &str) -> Look {
    Look::Moves(what.to_owned())
}

/// Threads are numbered from 1; the keeper comes before them.
fn told(index: usize, what: &str) -> String {
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
