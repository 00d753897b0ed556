//! Messages: from the event that sends to the one that receives.
//!
//! A trace says what goes into a channel and what comes out of it; which of the messages comes out follows from the order. What
//! is still under way at the end has no receiver, and an event that takes nothing out (a poll) receives nothing.
//!
//! **Invariant:** nothing is guessed. Where a fault has changed what is in a channel nobody can tell its messages apart any more:
//! until the channel is empty, what is sent and received there is not paired.

use crate::fold::is_fault;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use trace::{Argument, Call, Direction, Event, EventKind, FaultEvent, Message, Passage, Trace};

/// A message that was sent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Sent {
    /// The event that sends it, counted over all events of the trace, and who does.
    pub from: Place,
    /// The event that receives it, if there is one.
    pub to: Option<Place>,
    /// Where it travels.
    pub channel: String,
    /// What it says, as far as that is known.
    pub text: String,
}

/// An event, counted over all events of a trace, and its actor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub event: usize,
    pub actor: u32,
}

/// What is in the channels.
#[derive(Default)]
struct Channels<'t> {
    /// Messages that are still under way, with what they carry, by channel.
    under_way: BTreeMap<&'t str, VecDeque<(usize, Load<'t>)>>,
    /// Channels whose messages cannot be told apart.
    disturbed: BTreeSet<&'t str>,
    /// Messages of which nobody knows whether they were received.
    unknown: BTreeSet<usize>,
    sent: Vec<Sent>,
}

/// Faults that take a datagram out of its channel and leave the others as they are.
const TAKEN_OUT: [&str; 2] = ["loss", "delay"];

/// The value of a channel of a model in which nothing is.
const EMPTY: &str = "[]";

/// What is under way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Load<'t> {
    /// A message of a model, by its fields.
    Fields(&'t [String]),
    /// A datagram of so many bytes.
    Datagram(u64),
    /// So many bytes of a stream that nobody has read yet.
    Bytes(u64),
}

/// All messages of a trace of which it is known what became of them.
pub(crate) fn messages(trace: &Trace) -> Vec<Sent> {
    let mut channels = Channels::default();
    let mut first = 0;
    for step in &trace.steps {
        for (index, event) in step.events.iter().enumerate() {
            let at = Place { event: first + index, actor: event.actor };
            channels.meet(trace, event, step.events.get(index + 1), at);
        }
        first += step.events.len();
    }
    let Channels { unknown, sent, .. } = channels;
    sent.into_iter().enumerate().filter(|(index, _)| !unknown.contains(index)).map(|(_, sent)| sent).collect()
}

impl<'t> Channels<'t> {
    /// Goes over one event. A fault comes first: it changes what later messages are paired with.
    fn meet(&mut self, trace: &Trace, event: &'t Event, next: Option<&Event>, at: Place) {
        if is_fault(trace, event.actor) {
            self.change(event);
        }
        if matches!(event.kind, EventKind::Fault(FaultEvent::Arrival(_))) {
            self.disturb_datagrams();
        }
        if let Some(message) = &event.message {
            self.pass(event, message, next, at);
        }
        if let Some((call, passage)) = event.kind.call().and_then(|call| Some((call, call.passage.as_ref()?))) {
            self.transfer(call, passage, at);
        }
    }

    /// A fault has changed channels of a model. One that it has emptied has lost all that was in it.
    fn change(&mut self, event: &'t Event) {
        for change in &event.changes {
            match change.after == EMPTY {
                true => self.empty(&change.name),
                false => self.disturb(&change.name),
            }
        }
    }

    /// Nothing is in a channel: what comes next can be told apart again.
    fn empty(&mut self, channel: &str) {
        self.disturbed.remove(channel);
        self.under_way.remove(channel);
    }

    /// Something happened in a channel, nobody says to which message: none of those in it can be paired any more.
    fn disturb(&mut self, channel: &'t str) {
        let Some(waiting) = self.under_way.remove(channel) else { return };
        self.unknown.extend(waiting.into_iter().map(|(index, _)| index));
        self.disturbed.insert(channel);
    }

    /// A datagram has come late, nobody says to whom.
    fn disturb_datagrams(&mut self) {
        let may_have = |waiting: &VecDeque<(usize, Load<'_>)>| {
            waiting.front().is_none_or(|(_, load)| matches!(load, Load::Datagram(_)))
        };
        let channels: Vec<&str> =
            self.under_way.iter().filter(|(_, waiting)| may_have(waiting)).map(|(channel, _)| *channel).collect();
        channels.into_iter().for_each(|channel| self.disturb(channel));
    }

    /// A message of a model. A rendezvous is told from the sender's side.
    fn pass(&mut self, event: &'t Event, message: &'t Message, next: Option<&Event>, at: Place) {
        let text = message.fields.join(",");
        let channel = message.channel.as_str();
        match (message.direction, message.partner) {
            (Direction::Send, Some(partner)) => {
                let follows = next.is_some_and(|next| next.actor == partner);
                let to = Some(Place { event: at.event + usize::from(follows), actor: partner });
                self.sent.push(Sent { from: at, to, channel: channel.to_owned(), text });
            }
            (Direction::Send, None) => self.send(channel, Load::Fields(&message.fields), text, at),
            (Direction::Receive, None) if takes(event, message) => {
                self.receive(channel, Load::Fields(&message.fields), at);
            }
            (Direction::Receive, _) => {}
        }
        if event.changes.iter().any(|change| change.name == channel && change.after == EMPTY) {
            self.empty(channel);
        }
    }

    /// What a call puts into a channel, or takes out.
    fn transfer(&mut self, call: &Call, passage: &'t Passage, at: Place) {
        if let Some(fault) = call.fault.as_deref().filter(|_| passage.is_message) {
            if !TAKEN_OUT.contains(&fault) {
                self.under_way.entry(&passage.channel).or_default();
                self.disturb(&passage.channel);
            }
            return;
        }
        let load = if passage.is_message { Load::Datagram(passage.bytes) } else { Load::Bytes(passage.bytes) };
        match (passage.direction, passage.is_message) {
            (Direction::Send, _) => self.send(&passage.channel, load, sent_text(call, passage), at),
            (Direction::Receive, true) => self.receive(&passage.channel, load, at),
            (Direction::Receive, false) => self.read(&passage.channel, passage.bytes, at),
        }
    }

    /// A message enters a channel. In one that was disturbed it could not be told from others.
    fn send(&mut self, channel: &'t str, load: Load<'t>, text: String, from: Place) {
        if self.disturbed.contains(channel) {
            return;
        }
        self.under_way.entry(channel).or_default().push_back((self.sent.len(), load));
        self.sent.push(Sent { from, to: None, channel: channel.to_owned(), text });
    }

    /// The oldest message like that leaves the channel: a random receive may take one from the middle.
    fn receive(&mut self, channel: &str, load: Load<'t>, at: Place) {
        let Some(waiting) = self.under_way.get_mut(channel) else { return };
        let found = waiting.iter().position(|(_, other)| *other == load);
        if let Some((index, _)) = found.and_then(|found| waiting.remove(found)) {
            self.sent[index].to = Some(at);
        }
    }

    /// Bytes leave a stream: each write of which one is read was received there.
    fn read(&mut self, channel: &str, mut bytes: u64, at: Place) {
        let Some(waiting) = self.under_way.get_mut(channel) else { return };
        while let Some((index, Load::Bytes(left))) = waiting.front_mut().filter(|_| bytes > 0) {
            let taken = bytes.min(*left);
            (*left, bytes) = (*left - taken, bytes - taken);
            match self.sent[*index].to {
                None => self.sent[*index].to = Some(at),
                // Another part of it was read before.
                Some(_) => self.sent.push(Sent { to: Some(at), ..self.sent[*index].clone() }),
            }
            if *left == 0 {
                waiting.pop_front();
            }
        }
    }
}

/// Whether a receive takes the message out: then the channel has changed.
fn takes(event: &Event, message: &Message) -> bool {
    event.changes.iter().any(|change| change.name == message.channel)
}

/// What a call sends, as far as it is known.
fn sent_text(call: &Call, passage: &Passage) -> String {
    let text = call.arguments.iter().find_map(|argument| match argument {
        Argument::Bytes(bytes) => bytes.start.clone(),
        _ => None,
    });
    text.unwrap_or_else(|| format!("{} bytes", passage.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{ActorName, Bytes, Choice, TraceStep};

    const FAULTS: u32 = 9;

    /// A call of an actor that sends or receives so many bytes.
    fn call(actor: u32, direction: Direction, bytes: u64, is_message: bool) -> Event {
        let passage = Passage { channel: "c".to_owned(), direction, bytes, is_message };
        let arguments = vec![Argument::Bytes(Bytes::unreadable(bytes))];
        let call = Call { arguments, passage: Some(passage), ..Call::named("write".to_owned()) };
        Event { kind: EventKind::Call(call), ..plain(actor) }
    }

    fn plain(actor: u32) -> Event {
        Event {
            actor,
            kind: EventKind::Statement,
            text: String::new(),
            location: None,
            changes: Vec::new(),
            message: None,
            output: None,
            failure: None,
            uninterrupted: false,
            created: None,
            is_local: false,
        }
    }

    /// The events that send, and those that receive.
    fn rows(events: Vec<Event>) -> Vec<(usize, Option<usize>)> {
        let actors = (0..3).map(|actor| ActorName { actor, name: format!("p{actor}") });
        let actors = actors.chain([ActorName { actor: FAULTS, name: "faults".to_owned() }]).collect();
        let step = |event: Event| TraceStep {
            choice: Choice { actor: event.actor, index: 0 },
            events: vec![event],
            is_local: None,
        };
        let trace = Trace { actors, steps: events.into_iter().map(step).collect(), cycle_start: None };
        let sent = messages(&trace).into_iter();
        sent.map(|sent| (sent.from.event, sent.to.map(|to| to.event))).collect()
    }

    #[test]
    fn each_write_of_which_a_byte_is_read_is_received_there() {
        let (send, receive) = (Direction::Send, Direction::Receive);
        let events =
            [call(0, send, 3, false), call(0, send, 2, false), call(1, receive, 4, false), call(1, receive, 1, false)];
        assert_eq!(rows(events.to_vec()), [(0, Some(2)), (1, Some(2)), (1, Some(3))]);
        assert_eq!(rows(events[..2].to_vec()), [(0, None), (1, None)], "nobody has read them");
        assert_eq!(rows(events[2..].to_vec()), [], "what came from outside has no sender");
    }

    #[test]
    fn a_datagram_is_received_whole_be_it_out_of_order() {
        let (send, receive) = (Direction::Send, Direction::Receive);
        let events = vec![call(0, send, 3, true), call(0, send, 2, true), call(1, receive, 2, true)];
        assert_eq!(rows(events), [(0, None), (1, Some(2))]);
    }

    #[test]
    fn datagrams_that_a_fault_may_have_mixed_are_not_paired() {
        let faulty = |fault: &str| {
            let mut event = call(0, Direction::Send, 3, true);
            if let EventKind::Call(call) = &mut event.kind {
                call.fault = Some(fault.to_owned());
            }
            event
        };
        let (send, receive) = (call(0, Direction::Send, 3, true), call(1, Direction::Receive, 3, true));
        let with = |fault: &str| rows(vec![send.clone(), faulty(fault), receive.clone(), receive.clone()]);
        assert_eq!(with("loss"), [(0, Some(2))]);
        assert_eq!(with("reorder"), []);
        let arrival = Event { kind: EventKind::Fault(FaultEvent::Arrival(Bytes::unreadable(3))), ..plain(0) };
        assert_eq!(rows(vec![send, faulty("delay"), arrival, receive]), []);
    }

    #[test]
    fn a_receive_that_leaves_the_message_in_its_channel_receives_nothing() {
        let message =
            |direction| Message { channel: "ch".to_owned(), direction, fields: vec!["1".to_owned()], partner: None };
        let change = trace::Change { name: "ch".to_owned(), before: "[]".to_owned(), after: "[1]".to_owned() };
        let send = Event { message: Some(message(Direction::Send)), changes: vec![change.clone()], ..plain(0) };
        let look = Event { message: Some(message(Direction::Receive)), ..plain(1) };
        let take = Event { changes: vec![change], ..look.clone() };
        assert_eq!(rows(vec![send, look, take]), [(0, Some(2))]);
    }

    #[test]
    fn messages_of_a_model_that_a_fault_may_have_changed_are_not_paired() {
        let message =
            |direction| Message { channel: "ch".to_owned(), direction, fields: vec!["1".to_owned()], partner: None };
        let change =
            |after: &str| trace::Change { name: "ch".to_owned(), before: String::new(), after: after.to_owned() };
        let event = |actor, after, direction| Event {
            message: Some(message(direction)),
            changes: vec![change(after)],
            ..plain(actor)
        };
        let (send, receive) = (event(0, "[1]", Direction::Send), event(1, "[]", Direction::Receive));
        let fault = |after| Event { changes: vec![change(after)], ..plain(FAULTS) };
        let lost = vec![send.clone(), fault("[]"), send.clone(), receive.clone()];
        assert_eq!(rows(lost), [(0, None), (2, Some(3))], "the first one is lost for certain");
        let doubled =
            vec![send.clone(), fault("[1,1]"), event(1, "[1]", Direction::Receive), receive.clone(), send, receive];
        assert_eq!(rows(doubled), [(4, Some(5))], "what is sent once the channel is empty can be told again");
    }

    #[test]
    fn a_rendezvous_goes_from_the_sender_to_the_receiver() {
        let message = |direction, partner| Message {
            channel: "ch".to_owned(),
            direction,
            fields: Vec::new(),
            partner: Some(partner),
        };
        let send = Event { message: Some(message(Direction::Send, 1)), ..plain(0) };
        let receive = Event { message: Some(message(Direction::Receive, 0)), ..plain(1) };
        assert_eq!(rows(vec![send, receive]), [(0, Some(0))], "two steps: it ends where it begins");
    }
}
