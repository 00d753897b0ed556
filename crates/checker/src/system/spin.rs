//! Spin loops as blocking operations.
//!
//! An iteration that only reads and leaves its thread as it was is redundant: an equivalent execution without it leads
//! to the same state. Searches that count trace classes therefore take a spin loop as one operation, enabled when the
//! loop can end. A thread that has completed an iteration waits. Once another thread writes what the iteration has
//! read, re-reading is redundant: an execution in which this thread had not read before that write covers it. The
//! thread stays disabled while the others run to their ends, because only their steps add the backtrack points that
//! lead to that execution.
//!
//! Time passes only at quiescence. An iteration that leads there is not redundant.
//!
//! Only for the stateless engine: there, each iteration of `while (!flag);` would be another
//! execution. The stateful one meets the same state again and needs none of this. The idea is known
//! as spin-assume (Nidhugg, GenMC); here it is found by comparing positions at run time instead of
//! by a compiler pass.

use explore::graph::Access;

/// Steps of a thread that its current position is compared with, at most.
///
/// Longer loops are not recognised, and cost executions.
const TRAIL_MAX: usize = 32;

/// The recent reads of a thread, and whether it waits for one of them to change.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Spin {
    /// Its steps since its last write; the first one is where they began.
    trail: Vec<ReadStep>,
    /// The objects that the completed iteration has read.
    iteration: Vec<u64>,
    status: Status,
}

/// A step that only read.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct ReadStep {
    position: Position,
    /// The objects that it read.
    reads: Vec<u64>,
    /// Whether one of them was written since.
    is_stale: bool,
}

/// The state of a thread after a step.
///
/// `drift` is the sum of what the thread's own steps changed in memory: zero if an iteration leaves
/// its stack as it was.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Position {
    place: Place,
    /// The change of the memory's fingerprint since the first step of the trail: of its stack and of other unshared
    /// memory.
    drift: u128,
}

/// The next instruction of a thread, and the fingerprint of all else that decides its next step, without memory.
pub(super) type Place = (u64, u128);

/// Whether a thread has completed an iteration.
///
/// `Reading` to `Waiting` when an iteration is complete, to `Redundant` when somebody writes what
/// it read; back to `Reading` by a write of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
enum Status {
    /// It has not, as far as is known.
    #[default]
    Reading,
    /// It has, and nothing that it read was written since.
    Waiting,
    /// The same, and time has passed since.
    WaitingAcrossTime,
    /// It has, and something that it read was written since.
    Redundant,
}

impl Spin {
    /// Whether a thread has completed an iteration and waits.
    pub fn waits(&self) -> bool {
        matches!(self.status, Status::Waiting | Status::WaitingAcrossTime)
    }

    /// Whether its last step only read.
    pub(super) fn has_read(&self) -> bool {
        !self.trail.is_empty()
    }

    /// The objects that the completed iteration has read: one of them must be written before the loop can end.
    pub(super) fn awaits(&self) -> &[u64] {
        &self.iteration
    }

    /// Whether its next iteration is redundant.
    pub(super) fn is_redundant(&self) -> bool {
        self.status == Status::Redundant
    }

    /// Time has passed: a completed iteration is not redundant any more.
    pub(super) fn note_time_passed(&mut self) {
        match self.status {
            Status::Reading => self.restart_here(),
            Status::Waiting => self.status = Status::WaitingAcrossTime,
            Status::WaitingAcrossTime | Status::Redundant => {}
        }
    }

    /// Discards all recorded reads.
    pub(super) fn restart(&mut self, place: Place) {
        let first = ReadStep { position: Position { place, drift: 0 }, reads: Vec::new(), is_stale: false };
        *self = Self { trail: vec![first], ..Self::default() };
    }

    /// The same, at the current place.
    pub(super) fn restart_here(&mut self) {
        match self.trail.last() {
            Some(last) => self.restart(last.position.place),
            None => *self = Self::default(),
        }
    }

    /// Adds a step that only read, and detects whether it completes an iteration.
    pub(super) fn read(&mut self, place: Place, drift: u128, reads: Vec<u64>) {
        if self.status != Status::Reading {
            self.restart_here();
        }
        let so_far = self.trail.last().map_or(0, |last| last.position.drift);
        let position = Position { place, drift: so_far.wrapping_add(drift) };
        let start = self.iteration_start(position);
        self.trail.push(ReadStep { position, reads, is_stale: false });
        if let Some(start) = start {
            let steps = &self.trail[start + 1..];
            let is_stale = steps.iter().any(|step| step.is_stale);
            self.status = if is_stale { Status::Redundant } else { Status::Waiting };
            self.iteration = steps.iter().flat_map(|step| step.reads.iter().copied()).collect();
        }
        let surplus = self.trail.len().saturating_sub(TRAIL_MAX);
        self.trail.drain(..surplus);
    }

    /// Where an iteration began that ends at a position. If its reads were written meanwhile, it must be a single pass
    /// through the loop: a thread whose passes differ, and that returns to an earlier position by writes of others,
    /// does not wait.
    fn iteration_start(&self, position: Position) -> Option<usize> {
        let last = self.trail.iter().rposition(|earlier| earlier.position.place.0 == position.place.0)?;
        if self.trail[last].position == position {
            return Some(last);
        }
        let start = self.trail.iter().rposition(|earlier| earlier.position == position)?;
        self.trail[start + 1..].iter().all(|step| !step.is_stale).then_some(start)
    }

    /// Whether a step with these accesses writes what was read.
    pub fn concerns(&self, accesses: &[Access]) -> bool {
        self.trail.iter().any(|step| !step.is_stale && step.is_written_by(accesses))
    }

    /// Records the writes of another thread's step.
    pub(super) fn disturb(&mut self, accesses: &[Access]) {
        self.trail.iter_mut().filter(|step| step.is_written_by(accesses)).for_each(|step| step.is_stale = true);
        match self.status {
            Status::Reading | Status::Redundant => {}
            _ if !self.iteration.iter().any(|object| writes(accesses, *object)) => {}
            Status::Waiting => self.status = Status::Redundant,
            Status::WaitingAcrossTime => self.restart_here(),
        }
    }
}

impl ReadStep {
    fn is_written_by(&self, accesses: &[Access]) -> bool {
        self.reads.iter().any(|object| writes(accesses, *object))
    }
}

fn writes(accesses: &[Access], object: u64) -> bool {
    accesses.iter().any(|access| access.write && access.object == object)
}
