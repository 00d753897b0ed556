//! What a state means: names of threads, variables and locks, where threads are, and what they wait for.

use super::files::Use;
use super::heard::HeardEvent;
use super::listener::Listener;
use super::place::{self, PlaceInSource};
use crate::faults::is_fault;
use crate::store_buffer::is_drain;
use crate::system::choice::TIME;
use crate::system::peer_flows::in_flight;
use crate::system::peers::{delivery, is_delivery};
use crate::system::state::Snapshot;
use crate::system::view::View;
use explore::graph::Reached;
use kernel::{Pid, Tid};
use peer::{Datagram, End};
use std::collections::{BTreeMap, HashMap};
use trace::{Bytes, Call, Choice, ConnectionEnd, Event, EventKind, FaultEvent, Location, Progress, Purpose, Waiting};

/// A state, and what narration knows at this point of the schedule.
pub(crate) struct Narrator<'a> {
    pub view: View<'a>,
    pub listener: &'a mut Listener,
}

impl Narrator<'_> {
    /// What was heard in a step as events, with the files that they used; something is always told.
    pub(super) fn events(&self, choice: Choice, heard: Vec<HeardEvent>) -> Vec<(Event, Vec<Use>)> {
        let mut events: Vec<(Event, Vec<Use>)> = Vec::new();
        for heard in heard {
            // What is printed piece by piece is told once.
            let is_more = events.last().is_some_and(|(last, _)| last.actor == heard.tid.0 && goes_on(last, &heard));
            if !is_more {
                events.push((event(heard.tid, heard.kind, heard.location), heard.uses));
            }
        }
        let tid = Tid(choice.actor);
        if let Some(waits) = self.listener.waits_in(tid).filter(|_| self.view.state.is_waiting(tid)) {
            let kind = waits.kind.clone().at(Progress::Waits);
            events.push((event(tid, kind, waits.location.clone()), Vec::new()));
        }
        if is_thread(choice.actor) && !self.view.state.world.kernel.threads.contains_key(&tid) {
            events.retain(|(event, _)| !matches!(event.kind, EventKind::ExitProcess { .. }));
            events.push((event(tid, EventKind::End(self.ending(tid)), None), Vec::new()));
        }
        if events.is_empty() && is_thread(choice.actor) {
            events.push((event(tid, EventKind::Local, None), Vec::new()));
        }
        events
    }

    /// Who was started in a step: a thread by what was told already, a process by a line of its own.
    pub(super) fn tell_births(&self, events: &mut Vec<Event>, choice: Choice, started: &[Tid]) {
        for tid in started {
            let is_process = self.view.state.world.kernel.threads.get(tid).is_some_and(|thread| thread.pid.0 == tid.0);
            let is_told = events.last().is_some_and(|last| last.kind.forks() && last.created.is_none());
            if is_process && !is_told {
                events.retain(|event| event.kind != EventKind::Local);
                let fork = Call { purpose: Purpose::Forks, ..Call::named("fork".to_owned()) };
                events.push(event(Tid(choice.actor), EventKind::Call(fork), None));
            }
            let birth = if is_process { None } else { events.iter().position(is_birth_of_thread) };
            let birth = birth.unwrap_or(events.len() - 1);
            events[birth].created = Some(tid.0);
        }
    }

    /// A delivery, before it happens: the name of the peer, and its answer.
    pub(super) fn delivery_event(&self, choice: Choice) -> Option<(String, Event)> {
        let end = self.view.connection_of(choice.actor).filter(|_| is_delivery(choice.actor))?;
        let (kernel, peers) = (&self.view.state.world.kernel, &self.view.workload.peers);
        if let Some(knock) = self.view.knock_of(choice.actor) {
            let name = peers[knock.peer.0 as usize].name().to_owned();
            return Some((name, event(Tid(choice.actor), EventKind::Connection { port: knock.port }, None)));
        }
        let peer = kernel.net.far.peer_of(end)?;
        let name = peers[peer.0 as usize].name().to_owned();
        if kernel.net.far.flows.contains_key(&end) {
            let (_, answer) = in_flight(kernel, peers, end).ok()?.into_iter().nth(choice.index as usize)?;
            let kind =
                EventKind::Delivery { answer: answer.bytes().map(whole), end: unreachable(&answer), is_client: false };
            return Some((name, event(Tid(choice.actor), kind, None)));
        }
        let is_client = kernel.net.far.clients.contains_key(&peer);
        let delivery = delivery(kernel, peers, end).ok()??;
        let answer = Some(delivery.answer(choice.index)).filter(|news| !news.is_empty());
        let answer = answer.map(whole);
        let end = delivery.end.map(|end| match end {
            End::Finished | End::Closed => ConnectionEnd::Closed,
            End::Reset => ConnectionEnd::Reset,
        });
        Some((name, event(Tid(choice.actor), EventKind::Delivery { answer, end, is_client }, None)))
    }

    /// A fault, before it happens.
    pub(super) fn fault_event(&self, choice: Choice) -> Option<Event> {
        let found = || self.disk_event(choice).map(FaultEvent::Disk);
        let happens = self.view.fault_event(choice).or_else(found)?;
        Some(event(Tid(choice.actor), EventKind::Fault(happens), None))
    }

    /// Time passes; whoever could have moved is slow.
    pub(super) fn time_event(&self, before: &Reached<Snapshot>, since: u64) -> Event {
        let nanoseconds = self.view.state.world.kernel.clock.now() - since;
        let able = before.actors.iter().filter(|actor| actor.choices > 0 && is_thread(actor.number));
        let slow = able.map(|actor| self.listener.thread_ref(Tid(actor.number))).collect();
        event(self.first_woken(), EventKind::Time { nanoseconds, slow }, None)
    }

    /// Whose wait has ended because time has passed.
    pub(super) fn first_woken(&self) -> Tid {
        let kernel = &self.view.state.world.kernel;
        let is_over = |thread: &kernel::Thread| {
            thread
                .wait
                .as_ref()
                .is_some_and(|wait| wait.deadline.is_some_and(|deadline| deadline <= kernel.clock.now()))
        };
        let woken = kernel.threads.iter().find(|(_, thread)| is_over(thread));
        woken.map_or(Tid(TIME), |(tid, _)| *tid)
    }

    /// Where every thread is and what it waits for; and who waits for whom, if they wait in a circle.
    pub(super) fn waiting(&mut self) -> (Vec<Waiting>, Vec<Tid>) {
        let tids: Vec<Tid> = self.view.state.world.kernel.threads.keys().copied().collect();
        let (mut behind, mut waiting) = (HashMap::new(), Vec::new());
        let held = self.listener.context.held.clone();
        for tid in &tids {
            let (reason, holder) = self.wait_reason(*tid, &|object| held.get(&object).copied());
            behind.extend(holder.map(|holder| (*tid, holder)));
            let location = self.place(*tid).location;
            waiting.push(Waiting { actor: tid.0, reason, text: String::new(), location });
        }
        let circle = circle(&tids, &behind);
        // Whoever waits in the circle is what a reader wants to see first.
        waiting.sort_by_key(|waiting| !circle.contains(&Tid(waiting.actor)));
        (waiting, circle)
    }

    pub(super) fn place(&mut self, tid: Tid) -> PlaceInSource {
        let (world, folder) = (&self.view.state.world, self.listener.folder.clone());
        match &mut self.listener.info {
            Some(info) => place::place_of(info, world, tid, &folder),
            None => PlaceInSource::default(),
        }
    }

    /// What programs wrote to standard error; of several, with who did.
    pub(super) fn complaints(&self, errors: &BTreeMap<Pid, Vec<u8>>) -> Vec<String> {
        let lines = errors.iter().flat_map(|(pid, bytes)| {
            let who = if self.view.workload.started.len() > 1 {
                format!("{}: ", self.listener.thread(Tid(pid.0)))
            } else {
                String::new()
            };
            let text = String::from_utf8_lossy(bytes).into_owned();
            text.lines().map(|line| format!("{who}{line}")).collect::<Vec<_>>()
        });
        lines.collect()
    }
}

/// Whether an event made a thread that nobody has been told to be yet.
fn is_birth_of_thread(event: &Event) -> bool {
    event.created.is_none() && matches!(event.kind, EventKind::CreateThread { .. })
}

/// Whether what was heard goes on with what the last event printed.
fn goes_on(last: &Event, heard: &HeardEvent) -> bool {
    last.kind.call().zip(heard.kind.call()).is_some_and(|(last, call)| call.prints_like(last))
}

/// Those who wait for each other in a circle, each for the next.
fn circle(tids: &[Tid], behind: &HashMap<Tid, Tid>) -> Vec<Tid> {
    for start in tids {
        let mut way = vec![*start];
        while let Some(next) = way.last().and_then(|last| behind.get(last)) {
            if let Some(at) = way.iter().position(|tid| tid == next) {
                return way.split_off(at);
            }
            way.push(*next);
        }
    }
    Vec::new()
}

fn event(tid: Tid, kind: EventKind, location: Option<Location>) -> Event {
    Event {
        actor: tid.0,
        kind,
        text: String::new(),
        location,
        changes: Vec::new(),
        message: None,
        output: None,
        failure: None,
        uninterrupted: false,
        created: None,
        is_local: false,
    }
}

/// All of some bytes.
fn whole(bytes: &[u8]) -> Bytes {
    Bytes::beginning_with(bytes, bytes.len() as u64)
}

/// What becomes of datagrams if nobody receives them.
fn unreachable(answer: &Datagram) -> Option<ConnectionEnd> {
    (*answer == Datagram::Unreachable).then_some(ConnectionEnd::Unreachable)
}

/// Whether an actor is a thread.
fn is_thread(actor: u32) -> bool {
    actor != TIME && !is_delivery(actor) && !is_fault(actor) && !is_drain(actor)
}
