//! The states within a depth bound, found level by level.
//!
//! A depth-first search that bounds the length of its path would miss states within the bound: successors of a state that it
//! first reached on a long path. So the states are computed beforehand, and the search for cycles enters only them.

use super::graph::{Graph, Stop};
use crate::search::Incomplete;
use crate::search::watch::{Rhythm, Watch};
use crate::store::{Exhausted, Visited};
use crate::system::TransitionSystem;
use std::collections::HashSet;

/// Memory of a state beside the store, roughly.
const SEEN_BYTES: u64 = 16;

/// The states within a depth bound.
pub struct Within(HashSet<u32>);

impl Within {
    /// The states that can be reached in at most `depth` steps; `None` if `watch` stops the search.
    pub fn new<S: TransitionSystem, V: Visited>(
        graph: &mut Graph<'_, S, V>,
        depth: u32,
        watch: &Watch<'_>,
    ) -> Option<Self> {
        let state = graph.initial_state();
        let id = graph.initial().map_err(|exhausted| end(watch, exhausted)).ok()?;
        let (mut seen, mut level) = (HashSet::from([id]), vec![state]);
        let (mut edges, mut rhythm) = (Vec::new(), Rhythm::default());
        for _ in 0..depth {
            let mut next = Vec::new();
            for state in &level {
                if rhythm.is_due() && !watch.poll(graph.session.bytes() + seen.len() as u64 * SEEN_BYTES) {
                    return None;
                }
                match graph.edges_of(state, &mut edges) {
                    Ok(()) => {}
                    // A violating prefix ends here; the search for cycles reports it.
                    Err(Stop::Failure(_)) => continue,
                    Err(Stop::Exhausted(exhausted)) => {
                        end(watch, exhausted);
                        return None;
                    }
                    Err(Stop::Cut) => {
                        watch.cut(0);
                        return None;
                    }
                }
                for edge in edges.iter().filter(|edge| seen.insert(edge.to)) {
                    let state = graph.follow(edge);
                    graph.keep(edge.to, &state);
                    next.push(state);
                }
            }
            level = next;
        }
        Some(Self(seen))
    }

    /// Whether a state is one of them.
    pub fn has(&self, id: u32) -> bool {
        self.0.contains(&id)
    }
}

fn end(watch: &Watch<'_>, exhausted: Exhausted) {
    watch.stop(match exhausted {
        Exhausted::Memory => Incomplete::Memory,
        Exhausted::Numbers => Incomplete::StoreFull,
    });
}
