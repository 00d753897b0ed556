//! One run.

use super::novelty::Novelties;
use super::profile::Profile;
use super::strategy::{Able, Scheduler};
use crate::graph::{Access, Actor, Actors, FootprintSystem, Reached, Sorts, Taken};
use crate::random::Random;
use crate::stateless::{Races, Run, conflict, normalise, note_races};
use crate::system::Failure;
use std::collections::{BTreeMap, HashSet};
use trace::Choice;

/// What all runs share.
pub struct Memory<S> {
    /// Dense numbers of actors.
    pub actors: Actors,
    /// What earlier runs have shown.
    pub profile: Profile,
    /// States to go on from.
    pub novelties: Novelties<S>,
    /// Fingerprints of states.
    pub states: HashSet<u128>,
    /// As many are remembered.
    pub states_max: usize,
    /// Races that were met.
    pub races: Races,
    /// Steps executed.
    pub executed: u64,
    /// Choices of the system's sorts.
    pub sorts: Sorts,
    /// More actors than can be told apart.
    pub too_many_actors: bool,
}

/// How a run ended.
pub enum Ending {
    /// Nobody can move; what is wrong with that, if anything.
    End(Option<Failure>),
    /// A failure ended it.
    Failed(Failure),
    /// It was too long.
    Cut,
    /// Somebody wanted to stop.
    GivenUp,
}

/// A run that is over.
pub struct Done {
    /// How it ended.
    pub ending: Ending,
    /// Failures that did not end it, with how many steps had been taken.
    pub passed: Vec<(Failure, usize, u128)>,
    /// What was done.
    pub schedule: Vec<Choice>,
    /// Where it led.
    pub fingerprint: u128,
    /// The class of what was done here; not of what led to where it began.
    pub class: u128,
    /// The logarithm of how many choices there were, all multiplied.
    pub ln_weight: f64,
}

/// A step that was tried in the state that the run is in.
type Tried<S> = BTreeMap<(u32, u32), Taken<S>>;

/// A run under way.
pub struct Walker<'a, T: FootprintSystem> {
    /// What runs.
    pub system: &'a mut T,
    /// What all runs share.
    pub memory: &'a mut Memory<T::State>,
    /// Who decides.
    pub scheduler: Box<dyn Scheduler>,
    /// Where chance comes from.
    pub random: Random,
    /// Steps at most.
    pub depth: usize,
    /// Steps that led to where the run begins: who, by its dense number, and which of its choices.
    pub led: Vec<(u32, u32)>,
    /// Asked now and then with the steps of all runs; true gives the run up.
    pub stop: &'a mut dyn FnMut(u64) -> bool,
}

/// Steps between two questions whether to stop. Most runs are shorter, and are not given up: what is said about all
/// schedules would be about short ones.
const ASKED_EVERY: usize = 1024;

impl<T: FootprintSystem> Walker<'_, T> {
    /// Runs from a state until the end.
    pub fn run(mut self, from: Reached<T::State>, schedule: Vec<Choice>) -> Done {
        let (mut run, mut before) = (Run::default(), Vec::new());
        let dense = |choice: &Choice| self.memory.actors.dense(choice.actor).map(|actor| (actor, choice.index));
        self.led = schedule.iter().filter_map(dense).collect();
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
            run.meet(&before, &now);
            let able: Vec<&(u32, Actor)> = now.iter().filter(|(_, actor)| actor.choices > 0).collect();
            if able.is_empty() {
                break Ending::End(reached.stuck);
            }
            if done.schedule.len() >= self.depth {
                break Ending::Cut;
            }
            if done.schedule.len() % ASKED_EVERY == ASKED_EVERY - 1 && (self.stop)(self.memory.executed) {
                break Ending::GivenUp;
            }
            let mut tried = self.look_ahead(&reached.state, &able, &mut pending);
            let (dense, choice) = self.pick(&able, &pending);
            done.ln_weight += f64::from(able.iter().map(|(_, actor)| actor.choices).sum::<u32>()).ln();
            let taken = tried.remove(&(dense, choice.index)).or_else(|| self.step(&reached.state, choice));
            let Some(taken) = taken else { break Ending::GivenUp };
            done.schedule.push(choice);
            let accesses = self.took(&mut run, (dense, choice.index), taken.accesses, &able, &mut pending);
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
            let choosing = reached.actors.iter().filter(|actor| actor.choices > 0);
            self.memory.sorts.meet(choosing.map(|actor| actor.choice_kind));
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

    /// Tries the next steps of those of whom it is not known what they touch.
    fn look_ahead(
        &mut self,
        state: &T::State,
        able: &[&(u32, Actor)],
        pending: &mut BTreeMap<u32, Vec<Access>>,
    ) -> Tried<T::State> {
        let mut tried = BTreeMap::new();
        if !self.scheduler.asks() {
            return tried;
        }
        for (dense, actor) in able {
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

    fn pick(&mut self, able: &[&(u32, Actor)], pending: &BTreeMap<u32, Vec<Access>>) -> (u32, Choice) {
        let place = self.scheduler.pick(&views(able, pending), &mut self.random);
        let (dense, actor) = able[place];
        self.memory.sorts.take(actor.choice_kind);
        (*dense, Choice { actor: actor.number, index: self.random.below(actor.choices as usize) as u32 })
    }

    /// Notes a step, and forgets what may have changed by it.
    fn took(
        &mut self,
        run: &mut Run,
        (dense, index): (u32, u32),
        mut accesses: Vec<Access>,
        able: &[&(u32, Actor)],
        pending: &mut BTreeMap<u32, Vec<Access>>,
    ) -> Vec<Access> {
        normalise(&mut accesses);
        note_races(run, (dense, &accesses), &self.led, &mut self.memory.races);
        run.take(dense, index, accesses.clone());
        let others: Vec<&(u32, Actor)> = able.iter().copied().filter(|(other, _)| *other != dense).collect();
        self.scheduler.took(dense, &accesses, &views(&others, pending));
        pending.retain(|other, pending| *other != dense && !conflict(pending, &accesses));
        accesses
    }
}

fn views<'a>(able: &[&(u32, Actor)], pending: &'a BTreeMap<u32, Vec<Access>>) -> Vec<Able<'a>> {
    let view = |(dense, _): &&(u32, Actor)| Able { actor: *dense, accesses: pending.get(dense).map_or(&[], |all| all) };
    able.iter().map(view).collect()
}
