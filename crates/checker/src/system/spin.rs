//! Loops that wait for words to change, taken as one operation that waits.
//!
//! A round of a loop that only reads and leaves its thread as it was might as well not have been gone: a schedule without it
//! leads to the same. For counting schedules such a loop is therefore an operation that happens when it can end. Whoever has
//! gone round waits. As soon as somebody writes what it has read, it could look again, but that is in vain: another schedule,
//! in which it had not looked yet, stands for whatever it would do. It stays where it is, and the others go on to their ends:
//! only by what they do is that other schedule found.
//!
//! Time passes only when nobody can move: for that a round had to be gone, and it is not in vain.

use explore::graph::Access;

/// How many steps are remembered, to be compared with where a thread is.
const TRAIL_MAX: usize = 32;

/// What a thread has read lately, and whether it waits for that to change.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Spin {
    /// Its steps since it last did anything but read; the first one is where it began.
    trail: Vec<Look>,
    /// What it has read in the round that it has gone.
    round: Vec<u64>,
    turn: Turn,
}

/// A step that only read.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Look {
    spot: Spot,
    /// What was read.
    reads: Vec<u64>,
    /// Whether somebody has written that since.
    is_stale: bool,
}

/// Where a thread is behind a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Spot {
    place: Place,
    /// How it has changed memory since it began: its stack, and whatever nobody else can reach.
    drift: u128,
}

/// The next instruction, and all that decides how a thread goes on beside memory.
pub(super) type Place = (u64, u128);

/// Whether a thread has gone round.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum Turn {
    /// It has not, as far as is known.
    #[default]
    Looks,
    /// It has, and what it has read is as it was.
    Waits,
    /// The same, and time has passed since.
    Excused,
    /// It has, and what it has read was written since.
    Vain,
}

impl Spin {
    /// Whether a thread has gone round and waits.
    pub fn waits(&self) -> bool {
        matches!(self.turn, Turn::Waits | Turn::Excused)
    }

    /// Whether its last step only read.
    pub(super) fn has_looked(&self) -> bool {
        !self.trail.is_empty()
    }

    /// What it has read in the round that it has gone.
    pub(super) fn awaits(&self) -> &[u64] {
        &self.round
    }

    /// Whether its next round is redundant.
    pub(super) fn is_redundant(&self) -> bool {
        self.turn == Turn::Vain
    }

    /// Time has passed: a round that was complete before need not be gone again.
    pub(super) fn excuse(&mut self) {
        match self.turn {
            Turn::Looks => self.begin_here(),
            Turn::Waits => self.turn = Turn::Excused,
            Turn::Excused | Turn::Vain => {}
        }
    }

    /// Forgets what was looked at.
    pub(super) fn begin(&mut self, place: Place) {
        let first = Look { spot: Spot { place, drift: 0 }, reads: Vec::new(), is_stale: false };
        *self = Self { trail: vec![first], ..Self::default() };
    }

    /// The same where it is.
    pub(super) fn begin_here(&mut self) {
        match self.trail.last() {
            Some(last) => self.begin(last.spot.place),
            None => *self = Self::default(),
        }
    }

    /// Adds a step that only read, and finds out whether a round is complete.
    pub(super) fn look(&mut self, place: Place, drift: u128, reads: Vec<u64>) {
        if self.turn != Turn::Looks {
            self.begin_here();
        }
        let so_far = self.trail.last().map_or(0, |last| last.spot.drift);
        let spot = Spot { place, drift: so_far.wrapping_add(drift) };
        let back = self.back(spot);
        self.trail.push(Look { spot, reads, is_stale: false });
        if let Some(back) = back {
            let round = &self.trail[back + 1..];
            self.turn = if round.iter().any(|look| look.is_stale) { Turn::Vain } else { Turn::Waits };
            self.round = round.iter().flat_map(|look| look.reads.iter().copied()).collect();
        }
        let surplus = self.trail.len().saturating_sub(TRAIL_MAX);
        self.trail.drain(..surplus);
    }

    /// Where a round began that ends at a spot. Where somebody has written meanwhile what it read, only one round counts as
    /// such: who does something else in each, and comes back to where it was by what others do, does not wait.
    fn back(&self, spot: Spot) -> Option<usize> {
        let last = self.trail.iter().rposition(|earlier| earlier.spot.place.0 == spot.place.0)?;
        if self.trail[last].spot == spot {
            return Some(last);
        }
        let back = self.trail.iter().rposition(|earlier| earlier.spot == spot)?;
        self.trail[back + 1..].iter().all(|look| !look.is_stale).then_some(back)
    }

    /// Whether a step that touches this writes what was looked at.
    pub fn concerns(&self, accesses: &[Access]) -> bool {
        self.trail.iter().any(|look| !look.is_stale && look.is_written_by(accesses))
    }

    /// Notes that what it has read is written.
    pub(super) fn disturb(&mut self, accesses: &[Access]) {
        self.trail.iter_mut().filter(|look| look.is_written_by(accesses)).for_each(|look| look.is_stale = true);
        match self.turn {
            Turn::Looks | Turn::Vain => {}
            _ if !self.round.iter().any(|object| writes(accesses, *object)) => {}
            Turn::Waits => self.turn = Turn::Vain,
            Turn::Excused => self.begin_here(),
        }
    }
}

impl Look {
    fn is_written_by(&self, accesses: &[Access]) -> bool {
        self.reads.iter().any(|object| writes(accesses, *object))
    }
}

fn writes(accesses: &[Access], object: u64) -> bool {
    accesses.iter().any(|access| access.write && access.object == object)
}
