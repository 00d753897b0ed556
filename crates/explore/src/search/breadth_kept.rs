//! A breadth-first search on its way to a journal and back: between two levels.
//!
//! A level that was not finished is begun anew, so what its states have led to is left out. Those states are known by their
//! parents: the parent of a state that was there before is in an earlier level.

use super::breadth::Run;
use super::frontier::{Counts, Frontier, Sighting};
use super::kept::NO_STATE;
use super::origin::Origin;
use super::shared::Shared;
use super::values_kept;
use crate::journal::{Broken, Reader, Writer};
use crate::store::{LeftOut, Visited};
use crate::system::TransitionSystem;
use std::io;
use std::sync::atomic::Ordering::Relaxed;

/// Levels on which the estimate of the rest is based.
const SIZES: usize = 8;

/// Levels of a search that takes years.
const DEPTH_MAX: u32 = 1 << 30;

/// A set of numbers of states.
fn set_of(ids_end: u32, ids: impl Iterator<Item = u32>) -> LeftOut {
    let mut bits = vec![0; ids_end as usize / 64 + 1];
    for id in ids.filter(|id| *id < ids_end) {
        bits[id as usize / 64] |= 1 << (id % 64);
    }
    LeftOut::These(bits)
}

impl<S: TransitionSystem, V: Visited> Shared<'_, S, V> {
    /// States that a level has led to, however far it was expanded.
    pub fn behind(&self, level: &[u32]) -> LeftOut {
        let end = self.slot.read().ids_end();
        let level = set_of(end, level.iter().copied());
        let is_behind = |id: &u32| {
            let parent = self.parent_word(*id);
            // The initial state is its own parent.
            parent == 0 || Origin(parent).is_index() || parent != *id && level.has(parent)
        };
        set_of(end, (0..end).filter(is_behind))
    }

    /// What is noted as the parent of a state: its number, or a place in the level that is being expanded; 0 for nothing.
    fn parent_word(&self, id: u32) -> u32 {
        self.parents.as_ref().and_then(|parents| parents.try_word(id, 0)).map_or(0, |word| word.load(Relaxed))
    }

    /// Writes the search as it is before a level is expanded.
    pub fn write_level(
        &self,
        to: &mut Writer<'_>,
        (run, level): (&Run, &Frontier<S::State>),
        counts: Counts,
        left_out: &LeftOut,
    ) -> io::Result<()> {
        self.write(to, counts, left_out)?;
        let end = self.slot.read().ids_end();
        to.u32(end)?;
        (0..end).try_for_each(|id| to.u32(if left_out.has(id) { 0 } else { self.parent_word(id) }))?;
        write_run(to, run)?;
        to.u64(level.len() as u64)?;
        level.ids.iter().try_for_each(|id| to.u32(*id))?;
        level.states.iter().try_for_each(|state| self.write_state(to, state))
    }

    /// Reads the search as it was before a level is expanded.
    pub fn read_level(&self, from: &mut Reader) -> Result<(Run, Frontier<S::State>, Counts), Broken> {
        let counts = self.read(from)?;
        self.read_parents(from)?;
        let run = read_run(from)?;
        if run.depth.max(run.depth_max) > DEPTH_MAX || run.states_at_failure > counts.states {
            return Err(Broken::Contradictory("it is further than it can have come"));
        }
        let ids = from.count(4)?;
        let ids: Vec<u32> = (0..ids).map(|_| from.u32()).collect::<Result<_, _>>()?;
        let mut level = Frontier { ids, ..Frontier::default() };
        let spare = self.system.initial(&mut self.system.scratch());
        if !V::RESTORES {
            level.states = level.ids.iter().map(|_| self.read_state(from, &spare)).collect::<Result<_, _>>()?;
        }
        let known = |id: &u32| self.slot.read().has(*id);
        if !level.ids.iter().chain(run.sightings.iter().map(|(_, sighting)| &sighting.id)).all(known) {
            return Err(Broken::Contradictory("states that are not stored"));
        }
        self.are_states(&level).then_some((run, level, counts)).ok_or(NO_STATE)
    }

    /// Reads who was reached from whom. Circles are not looked for: whoever follows parents stops after as many as there are states.
    fn read_parents(&self, from: &mut Reader) -> Result<(), Broken> {
        let (end, Some(parents)) = (from.u32()?, &self.parents) else { return Ok(()) };
        let store = self.slot.read();
        for id in 0..end {
            let parent = from.u32()?;
            if parent == 0 {
                continue;
            }
            if !store.has(id) || !store.has(parent) {
                return Err(Broken::Contradictory("parents that are not stored"));
            }
            if !parents.provide(id) {
                return Err(Broken::Memory);
            }
            parents.word(id, 0).store(parent, Relaxed);
        }
        Ok(())
    }

    /// Whether the system takes the states of a level for its own, where the store gives them back.
    fn are_states(&self, level: &Frontier<S::State>) -> bool {
        let (store, mut cursor) = (self.slot.read(), V::Cursor::default());
        !V::RESTORES || level.ids.iter().all(|id| self.system.is_state(store.load(&mut cursor, *id)))
    }
}

/// Writes what is known of the levels so far. Probes that were stopped count as none: they are made again, from the beginning.
fn write_run(to: &mut Writer<'_>, run: &Run) -> io::Result<()> {
    to.u32(run.depth)?;
    to.u32(run.depth_max)?;
    to.u64(run.frontier_max)?;
    to.u64(run.frontier_bytes_max)?;
    // The last one is of the level that is to be expanded: it is counted again.
    let (_, sizes) = run.sizes.split_last().unwrap_or((&0, &[]));
    let sizes = &sizes[sizes.len().saturating_sub(SIZES)..];
    to.u64(sizes.len() as u64)?;
    sizes.iter().try_for_each(|size| to.u64(*size))?;
    to.bool(run.cut)?;
    to.u64(run.states_at_failure)?;
    to.u64(run.sightings.len() as u64)?;
    run.sightings.iter().try_for_each(|sighting| write_sighting(to, sighting))?;
    let probed = run.probed.as_deref().filter(|_| !run.is_probe_cut);
    to.bool(probed.is_some())?;
    let probed = probed.unwrap_or_default();
    to.u64(probed.len() as u64)?;
    probed.iter().try_for_each(|violation| values_kept::write_violation(to, violation))
}

fn read_run(from: &mut Reader) -> Result<Run, Broken> {
    let mut run = Run { depth: from.u32()?, depth_max: from.u32()?, is_resumed: true, ..Run::default() };
    (run.frontier_max, run.frontier_bytes_max) = (from.small()?, from.small()?);
    let sizes = from.count(8)?;
    run.sizes = (0..sizes).map(|_| from.small()).collect::<Result<_, _>>()?;
    (run.cut, run.states_at_failure) = (from.bool()?, from.small()?);
    let sightings = from.count(32)?;
    run.sightings = (0..sightings).map(|_| read_sighting(from)).collect::<Result<_, _>>()?;
    let has_probed = from.bool()?;
    let probed = from.count(32)?;
    let probed: Vec<_> = (0..probed).map(|_| values_kept::violation(from)).collect::<Result<_, _>>()?;
    run.probed = has_probed.then_some(probed);
    Ok(run)
}

fn write_sighting(to: &mut Writer<'_>, (length, sighting): &(u32, Sighting)) -> io::Result<()> {
    to.u32(*length)?;
    values_kept::write_failure(to, &sighting.failure)?;
    to.u128(sighting.part)?;
    to.u32(sighting.id)?;
    to.u64(sighting.index as u64)?;
    // None, or one.
    values_kept::write_schedule(to, sighting.choice.as_slice())
}

fn read_sighting(from: &mut Reader) -> Result<(u32, Sighting), Broken> {
    let (length, failure) = (from.u32()?, values_kept::failure(from)?);
    let (part, id, index) = (from.u128()?, from.u32()?, from.u64()? as usize);
    let choices = values_kept::schedule(from)?;
    Ok((length, Sighting { failure, part, id, choice: choices.first().copied(), index }))
}
