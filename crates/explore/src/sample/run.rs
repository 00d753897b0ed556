//! One run: an execution whose scheduler draws the actor of each step.

use super::novelty::Novelties;
use super::profile::Profile;
use super::strategy::{EnabledActor, Scheduler};
use crate::actor_ids::ActorIds;
use crate::footprint::{Access, conflict, normalise};
use crate::footprint_system::{Actor, FootprintSystem, Reached, Taken};
use crate::found::ChoiceCounts;
use crate::happens_before::{DenseSchedule, Execution, Races, races_of_step};
use crate::random::Random;
use crate::system::Failure;
use std::collections::{BTreeMap, HashSet};
use trace::Choice;

/// What all runs share.
pub struct Memory<S> {
    /// Dense numbers of actors.
    pub actors: ActorIds,
    /// Footprints of earlier runs.
    pub profile: Profile,
    /// Snapshots to continue from.
    pub novelties: Novelties<S>,
    /// Fingerprints of distinct states.
    pub states: HashSet<u128>,
    /// Bound on them.
    pub states_max: usize,
    /// Races.
    pub races: Races,
    /// Steps executed.
    pub executed: u64,
    /// Choices by kind.
    pub choices: ChoiceCounts,
    /// Whether there are more actors than a set can hold.
    pub too_many_actors: bool,
}

/// How a run ended.
pub enum Ending {
    /// No actor is enabled; the failure if that is one.
    End(Option<Failure>),
    /// With a fatal failure.
    Failed(Failure),
    /// At the bound on its length.
    Cut,
    /// The caller stopped it.
    GivenUp,
}

/// A run that is over.
pub struct Done {
    /// How it ended.
    pub ending: Ending,
    /// Failures that are not fatal, with the number of steps so far and the fingerprint of the state.
    pub passed: Vec<(Failure, usize, u128)>,
    /// Choices from the initial state.
    pub schedule: Vec<Choice>,
    /// Fingerprint of the last state.
    pub fingerprint: u128,
    /// Fingerprint of the trace class of this run, without the schedule to where it began.
    pub class: u128,
    /// Natural logarithm of the product of the numbers of choices.
    pub ln_weight: f64,
}

/// Steps tried in the last state.
type Tried<S> = BTreeMap<(u32, u32), Taken<S>>;

/// A run under way.
pub struct Walker<'a, T: FootprintSystem> {
    /// The system.
    pub system: &'a mut T,
    /// What all runs share.
    pub memory: &'a mut Memory<T::State>,
    /// Draws the next actor.
    pub scheduler: Box<dyn Scheduler>,
    /// The generator of the run.
    pub random: Random,
    /// Bound on the steps.
    pub depth: usize,
    /// The schedule to where the run begins.
    pub prefix: DenseSchedule,
    /// Asked now and then with the steps of all runs; true abandons the run.
    pub stop: &'a mut dyn FnMut(u64) -> bool,
}

/// Steps between two questions whether to stop. Most runs are shorter and are never abandoned: otherwise the estimates would
/// be biased to short schedules.
const ASKED_EVERY: usize = 1024;

impl<T: FootprintSystem> Walker<'_, T> {
    /// Runs from a state until the end.
    pub fn run(mut self, from: Reached<T::State>, schedule: Vec<Choice>) -> Done {
        let (mut run, mut before) = (Execution::default(), Vec::new());
        let dense = |choice: &Choice| self.memory.actors.dense(choice.actor).map(|actor| (actor, choice.index));
        self.prefix = schedule.iter().filter_map(dense).collect();
        let mut done = Done {
            ending: Ending::Cut,
            passed: Vec::new(),
            schedule,
            fingerprint: from.fingerprint,
            class: 0,
            ln_weight: 0.0,
        };
        let mut pending = BTreeMap::new();
        let mut reached = from;
        self.memory.profile.begin();
        done.ending = loop {
            done.fingerprint = reached.fingerprint;
            self.arrive(&reached, &done.schedule);
            let now = self.dense(&reached);
            run.reach(&before, &now);
            let enabled: Vec<&(u32, Actor)> = now.iter().filter(|(_, actor)| actor.choices > 0).collect();
            if enabled.is_empty() || reached.is_end() && reached.stuck.is_some() {
                break Ending::End(reached.stuck);
            }
            if done.schedule.len() >= self.depth {
                break Ending::Cut;
            }
            if done.schedule.len() % ASKED_EVERY == ASKED_EVERY - 1 && (self.stop)(self.memory.executed) {
                break Ending::GivenUp;
            }
            let mut tried = self.try_enabled(&reached.state, &enabled, &mut pending);
            let (dense, choice) = self.pick(&enabled, &pending);
            done.ln_weight += f64::from(enabled.iter().map(|(_, actor)| actor.choices).sum::<u32>()).ln();
            let taken = tried.remove(&(dense, choice.index)).or_else(|| self.step(&reached.state, choice));
            let Some(taken) = taken else { break Ending::GivenUp };
            done.schedule.push(choice);
            let accesses = self.took(&mut run, (dense, choice.index), taken.accesses, &enabled, &mut pending);
            self.memory.profile.note(dense, &accesses, done.schedule.len());
            reached = taken.reached;
            match taken.failure {
                Some(failure) if failure.fatal => {
                    done.fingerprint = reached.fingerprint;
                    break Ending::Failed(failure);
                }
                Some(failure) => done.passed.push((failure, done.schedule.len(), reached.fingerprint)),
                None => {}
            }
            before = now;
        };
        done.class = run.class();
        done
    }

    fn arrive(&mut self, reached: &Reached<T::State>, schedule: &[Choice]) {
        let has_room = self.memory.states.len() < self.memory.states_max;
        if has_room && self.memory.states.insert(reached.fingerprint) {
            let enabled = reached.actors.iter().filter(|actor| actor.choices > 0);
            self.memory.choices.count_state(enabled.map(|actor| actor.choice_kind));
        }
        self.memory.novelties.visit(reached, schedule);
    }

    fn dense(&mut self, reached: &Reached<T::State>) -> Vec<(u32, Actor)> {
        let mut all = Vec::new();
        for actor in &reached.actors {
            match self.memory.actors.dense(actor.number) {
                Some(dense) => all.push((dense, actor.clone())),
                None => self.memory.too_many_actors = true,
            }
        }
        all
    }

    fn step(&mut self, state: &T::State, choice: Choice) -> Option<Taken<T::State>> {
        self.memory.executed += 1;
        self.system.step(state, choice)
    }

    /// Tries the next steps of enabled actors whose pending footprint is not known.
    fn try_enabled(
        &mut self,
        state: &T::State,
        enabled: &[&(u32, Actor)],
        pending: &mut BTreeMap<u32, Vec<Access>>,
    ) -> Tried<T::State> {
        let mut tried = BTreeMap::new();
        if !self.scheduler.asks() {
            return tried;
        }
        for (dense, actor) in enabled {
            if pending.contains_key(dense) {
                continue;
            }
            let mut accesses = Vec::new();
            for index in 0..actor.choices {
                if let Some(taken) = self.step(state, Choice { actor: actor.number, index }) {
                    accesses.extend_from_slice(&taken.accesses);
                    tried.insert((*dense, index), taken);
                }
            }
            normalise(&mut accesses);
            pending.insert(*dense, accesses);
        }
        tried
    }

    fn pick(&mut self, enabled: &[&(u32, Actor)], pending: &BTreeMap<u32, Vec<Access>>) -> (u32, Choice) {
        let place = self.scheduler.pick(&views(enabled, pending), &mut self.random);
        let (dense, actor) = enabled[place];
        self.memory.choices.count_step(actor.choice_kind);
        (*dense, Choice { actor: actor.number, index: self.random.below(actor.choices as usize) as u32 })
    }

    /// Adds a step, and forgets the pending footprints that depend on it.
    fn took(
        &mut self,
        run: &mut Execution,
        (dense, index): (u32, u32),
        mut accesses: Vec<Access>,
        enabled: &[&(u32, Actor)],
        pending: &mut BTreeMap<u32, Vec<Access>>,
    ) -> Vec<Access> {
        normalise(&mut accesses);
        races_of_step(run, (dense, &accesses), &self.prefix, &mut self.memory.races);
        run.take(dense, index, accesses.clone());
        let others: Vec<&(u32, Actor)> = enabled.iter().copied().filter(|(other, _)| *other != dense).collect();
        self.scheduler.took(dense, &accesses, &views(&others, pending));
        pending.retain(|other, pending| *other != dense && !conflict(pending, &accesses));
        accesses
    }
}

fn views<'a>(enabled: &[&(u32, Actor)], pending: &'a BTreeMap<u32, Vec<Access>>) -> Vec<EnabledActor<'a>> {
    let view = |(dense, _): &&(u32, Actor)| EnabledActor {
        actor: *dense,
        accesses: pending.get(dense).map_or(&[], |all| all),
    };
    enabled.iter().map(view).collect()
}
