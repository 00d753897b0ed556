//! Answers to datagrams: they come one by one, in any order.

use crate::system::choice_kind::ChoiceKind;
use crate::system::peers::{delivery_actor, said_object};
use explore::graph::Actor;
use kernel::net::far::Flow;
use kernel::{Id, Kernel};
use peer::{Datagram, Outside, Trouble};
use std::sync::Arc;

/// Answers to a flow that were not delivered yet, with their numbers; of equal ones the first.
pub(crate) fn in_flight(
    kernel: &Kernel,
    peers: &[Arc<dyn Outside>],
    id: Id,
) -> Result<Vec<(usize, Datagram)>, Trouble> {
    let Some(flow) = kernel.net.far.flows.get(&id) else { return Ok(Vec::new()) };
    let heard = peers[flow.peer.0 as usize].heard(kernel.net.far.place_of(id))?;
    let answers = heard.datagrams.get(&id).map_or(&[][..], |answers| answers);
    let mut left: Vec<(usize, Datagram)> = Vec::new();
    for (index, answer) in answers.iter().enumerate() {
        if !flow.taken.contains(index) && left.iter().all(|(_, other)| other != answer) {
            left.push((index, answer.clone()));
        }
    }
    Ok(left)
}

/// The actors that deliver answers to datagrams: one for each flow, with a choice for each answer.
pub(crate) fn flows(kernel: &Kernel, peers: &[Arc<dyn Outside>]) -> Result<Vec<Actor>, Trouble> {
    let actor = |(id, flow): (&Id, &Flow)| {
        let choices = in_flight(kernel, peers, *id)?.len() as u32;
        let awaits = if choices == 0 { vec![said_object(&kernel.net.far, flow.peer, *id)] } else { Vec::new() };
        let choice_kind = if choices > 1 { ChoiceKind::Answers as u8 } else { 0 };
        let number = delivery_actor(*id);
        Ok(Actor { number, creator: number, choices, choice_kind, awaits, ..Actor::default() })
    };
    kernel.net.far.flows.iter().map(actor).collect()
}
