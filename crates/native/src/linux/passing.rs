//! How time passes for a program that is told something: whoever sleeps is woken, until all sleep where they did when the program
//! first came to rest, and say no more when they are woken there.
//!
//! A thread at such a place goes about its own business, or looks from time to time whether there is something to do. So after
//! each message it is woken there as often as there are threads of its kind: what one hands over, the others find. While
//! something is unread it is woken for as long as patience allows.

use crate::host::rest::{Rest, Sleep};
use crate::host::threads::Site;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A thread that the supervisor lets sleep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sleeper {
    /// The thread's number, as the supervisor knows it.
    pub number: i32,
    /// How long it has still to sleep.
    left: Duration,
    /// A signal waits for it.
    has_signal: bool,
}

impl Sleeper {
    /// All that the supervisor has told.
    pub fn all(text: &str) -> Vec<Self> {
        text.split_whitespace().filter_map(Self::read).collect()
    }

    fn read(word: &str) -> Option<Self> {
        let mut parts = word.split(':');
        let (number, left) = (parts.next()?.parse().ok()?, Duration::from_nanos(parts.next()?.parse().ok()?));
        Some(Self { number, left, has_signal: parts.next()? == "1" })
    }
}

/// What is to be done with a program at which nothing moves but time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    /// Nothing: it is at rest.
    Rest,
    /// A thread is woken; whether its clocks have passed meanwhile.
    Wake(i32, bool),
    /// A thread sleeps on its own; its number in texts.
    Await(usize),
    /// It has slept for too long.
    TooLong(usize),
}

/// The time that has passed since something was said to a program.
pub(crate) struct Passing {
    patience: Duration,
    passed: Duration,
    /// How long threads have slept in all where they may.
    idle: Duration,
    /// Whether the program has said something after it was idle for longer than patience.
    spoke_too_late: bool,
    /// How often each idle thread was woken since the program last said something, and how long it has slept since.
    idle_wakeups: BTreeMap<i32, (usize, Duration)>,
}

impl Passing {
    pub fn new(patience: Duration) -> Self {
        let (passed, idle) = (Duration::ZERO, Duration::ZERO);
        Self { patience, passed, idle, spoke_too_late: false, idle_wakeups: BTreeMap::new() }
    }

    /// The program has said something: idle threads are woken again.
    pub fn note_output(&mut self) {
        self.idle_wakeups.clear();
        self.spoke_too_late = self.idle > self.patience;
    }

    /// What is to be done; threads are numbered by `number`, and may sleep at `idle` places.
    pub fn next(
        &mut self,
        rest: &Rest,
        sleepers: &[Sleeper],
        idle: Option<&BTreeSet<Site>>,
        number: impl Fn(&Sleep) -> Option<i32>,
    ) -> Next {
        let known = |sleep: &Sleep| {
            let number = number(sleep)?;
            sleepers.iter().copied().find(|sleeper| sleeper.number == number)
        };
        let is_idle = |sleep: &Sleep| idle.is_some_and(|idle| idle.contains(&sleep.site));
        let all: Vec<(Sleep, Option<Sleeper>)> = rest.sleeps.iter().map(|sleep| (*sleep, known(sleep))).collect();
        if let Some((sleep, _)) = all.iter().find(|(sleep, sleeper)| sleeper.is_none() && !is_idle(sleep)) {
            return Next::Await(sleep.index);
        }
        let kept = || all.iter().filter_map(|(sleep, sleeper)| Some((sleep, (*sleeper)?)));
        if let Some((_, sleeper)) = kept().find(|(_, sleeper)| sleeper.has_signal) {
            return Next::Wake(sleeper.number, false);
        }
        let busy =
            kept().filter(|(sleep, _)| !is_idle(sleep)).min_by_key(|(_, sleeper)| (sleeper.left, sleeper.number));
        match busy {
            Some((sleep, sleeper)) => self.pass(sleep, sleeper),
            None if self.spoke_too_late => Next::TooLong(all.first().map_or(0, |(sleep, _)| sleep.index)),
            None => self.wake_idle(kept().map(|(_, sleeper)| sleeper).collect(), rest.is_unread),
        }
    }

    /// It is later by the sleep of a thread.
    fn pass(&mut self, sleep: &Sleep, sleeper: Sleeper) -> Next {
        self.passed = self.passed.saturating_add(sleeper.left);
        match self.passed > self.patience {
            true => Next::TooLong(sleep.index),
            false => Next::Wake(sleeper.number, true),
        }
    }

    /// Wakes the idle thread that has slept least, if one was not woken often enough.
    fn wake_idle(&mut self, idle: Vec<Sleeper>, is_unread: bool) -> Next {
        let rounds = idle.len();
        let is_due = |(times, slept): (usize, Duration), left: Duration| {
            slept.saturating_add(left) <= self.patience && (is_unread || times < rounds)
        };
        let so_far = |sleeper: &Sleeper| self.idle_wakeups.get(&sleeper.number).copied().unwrap_or_default();
        let due = idle.into_iter().filter(|sleeper| is_due(so_far(sleeper), sleeper.left));
        let Some(next) = due.min_by_key(|sleeper| (so_far(sleeper).1, sleeper.number)) else { return Next::Rest };
        self.idle = self.idle.saturating_add(next.left);
        let (times, slept) = self.idle_wakeups.entry(next.number).or_default();
        (*times, *slept) = (*times + 1, *slept + next.left);
        Next::Wake(next.number, false)
    }
}
