//! A trace: a schedule together with what happened on it.

use crate::{Choice, Event};
use serde::{Deserialize, Serialize};

/// A schedule with its events.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Trace {
    /// Everyone who ever existed on the way, in the order of appearance.
    pub actors: Vec<ActorName>,
    /// What happened, one entry for each choice.
    pub steps: Vec<TraceStep>,
    /// For a lasso: the step (counted from 0) at which the cycle starts.
    pub cycle_start: Option<usize>,
}

/// How people call an actor.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ActorName {
    /// The actor.
    pub actor: u32,
    /// Its name, such as `client:2`.
    pub name: String,
}

/// One step of a trace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TraceStep {
    /// The choice taken.
    pub choice: Choice,
    /// What happened: an atomic sequence has one event for each statement.
    pub events: Vec<Event>,
    /// Whether nobody else can notice it; where nobody says, the events tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_local: Option<bool>,
}

impl Trace {
    /// The name of an actor, or its number if it was never introduced.
    #[must_use]
    pub fn name(&self, actor: u32) -> String {
        // The latest wins: a model may use a number again after its owner has died.
        let named = self.actors.iter().rev().find(|known| known.actor == actor);
        named.map_or_else(|| format!("actor {actor}"), |known| known.name.clone())
    }
}
