//! What the page is told: where the user is, and the states that are known.
//!
//! The whole position each time, not what changed: a page that was reloaded, or is a second one, is right at once, and a
//! trace that people drive by hand is short.

use crate::position::Position;
use crate::session::{Node, Session};
use replay::Replayable;
use report::{event_text, waiting_text};
use serde::Serialize;
use serde_json::{Value, json};
use trace::{Choice, Event};

/// Variables that are told of a state.
const VARIABLES_MAX: usize = 2_000;

/// A choice that can be taken.
#[derive(Serialize)]
struct Offer {
    actor: u32,
    index: u32,
    name: String,
    text: String,
    /// The state that it leads to.
    node: usize,
    is_violation: bool,
}

/// Where the user is: the trace up to there, the state, and what can be done.
pub(crate) fn position<R: Replayable>(session: &mut Session<'_, R>, position: &Position<R::State>) -> Value {
    let (node, state) = (position.node(), position.state().clone());
    session.expand(node);
    let failure = position.failure().or(session.nodes[node].failure.as_ref()).cloned();
    let offers =
        if position.failure().is_some_and(|failure| failure.fatal) { Vec::new() } else { offers(session, &state) };
    let trace = position.trace();
    let title = match (&failure, offers.is_empty()) {
        (Some(failure), _) => format!("{}: {}", failure.kind, failure.message),
        (None, true) => "the run has ended as it may".to_owned(),
        (None, false) => "nothing has gone wrong so far".to_owned(),
    };
    json!({
        "told": report::trace_json(&title, failure.is_some(), &trace),
        "nodes": position.nodes(),
        "variables": variables(session, &state),
        "waiting": waiting(session, &state),
        "groups": report::inventory_groups(&(session.describe.inventory)(session.system, &state)),
        "offers": offers,
        "states": session.len(),
    })
}

fn variables<R: Replayable>(session: &mut Session<'_, R>, state: &R::State) -> Vec<(String, String)> {
    let known = (session.describe.variables)(session.system, state);
    known.into_iter().take(VARIABLES_MAX).map(|known| (known.name, known.value)).collect()
}

fn waiting<R: Replayable>(session: &mut Session<'_, R>, state: &R::State) -> Vec<Value> {
    let told = (session.describe.waiting)(session.system, state);
    let lines = told.into_iter().map(|waiting| {
        let place = waiting.location.as_ref().map(|place| format!("{}:{}", place.file, place.line));
        json!({
            "who": session.system.actor_name(state, waiting.actor),
            "text": waiting_text(&waiting),
            "place": place,
        })
    });
    lines.collect()
}

/// Every choice, with what would happen: each is executed. A choice is named by what it does; its number says nothing to people.
fn offers<R: Replayable>(session: &mut Session<'_, R>, state: &R::State) -> Vec<Offer> {
    let choices = session.choices(state);
    choices.into_iter().filter_map(|choice| offer(session, state, choice)).collect()
}

fn offer<R: Replayable>(session: &mut Session<'_, R>, state: &R::State, choice: Choice) -> Option<Offer> {
    let explained = session.system.explain(state, choice)?;
    let name = session.system.actor_name(state, choice.actor);
    let known = session.known(&explained.state);
    Some(Offer {
        actor: choice.actor,
        index: choice.index,
        name,
        text: text(&explained.events),
        node: known.unwrap_or_default(),
        is_violation: explained.failure.is_some(),
    })
}

/// What a step does, in a line: its first events that others can notice.
fn text(events: &[Event]) -> String {
    let loud = events.iter().filter(|event| !event.is_local);
    let texts: Vec<String> = loud.take(3).map(|event| event_text(event).into_owned()).collect();
    match (texts.is_empty(), events.first()) {
        (true, Some(event)) => event_text(event).into_owned(),
        _ => texts.join("; "),
    }
}

/// The states that are known, and their steps.
pub(crate) fn graph<R: Replayable>(session: &Session<'_, R>) -> Value {
    let nodes: Vec<(usize, u8)> = session.nodes.iter().map(|node| (node.depth, kind(node))).collect();
    let steps = session.nodes.iter().enumerate().flat_map(|(from, node)| {
        let edges = node.steps.iter().flatten();
        edges.map(move |to| (from, *to))
    });
    json!({ "nodes": nodes, "edges": steps.collect::<Vec<_>>(), "is_complete": session.is_complete() })
}

/// What a state is drawn as. The numbers are the page's: 0 a state like others, 1 a violation, 2 nobody has looked into it yet,
/// 3 an end as it may be.
fn kind<S>(node: &Node<S>) -> u8 {
    match (&node.failure, &node.steps) {
        (Some(_), _) => 1,
        (None, None) => 2,
        (None, Some(steps)) => {
            if steps.is_empty() {
                3
            } else {
                0
            }
        }
    }
}
