//! A native peer: a program on the host. It cannot be brought back to where it was, so it is started again, and told again what it
//! was told. One that somebody else has started (`remote.rs`) goes on, and only its connections begin again.
//!
//! Answers are kept for every place, processes only for a few (*seats*). What a peer answers on its way to a place is compared
//! with what it answered there before: a difference ends the check.
//!
//! **Why seats.** A process on the host has one history. If the search asks for a place that is no
//! continuation of it, another instance has to be told everything from the beginning. A few
//! instances at different places serve a depth-first search well, because it goes back mostly to
//! recent places.
//!
//! **Locks:** seats before book, always; the book alone for questions that need no process. So
//! cached answers are given while another worker waits for the peer.

use crate::checkpoint::{Price, Strategy};
use crate::commands::{self, Commands, Folders};
use crate::conversation::Conversation;
use crate::costs::{Costs, Deed};
use crate::difference::Again;
use crate::endpoint::Endpoint;
use crate::ignore::Ignore;
use crate::remote::{Remote, Target};
use crate::terms::Terms;
use crate::{Address, Datagram, End, Heard, Outside, Shape, Stop, Stream, Traffic, Trouble};
use ::native::{Instance, Network, Problem, Role, Spec, Status};
use kernel::Id;
use kernel::net::far::{Place, Said, Saying};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use world::Command;

/// Instances at most: each sits somewhere else.
///
/// Each is a process with namespaces and a supervisor beside it.
const SEATS_MAX: usize = 4;

/// A native peer.
pub struct Native {
    name: String,
    spec: Spec,
    /// Where it is, if somebody else has started it.
    target: Option<Target>,
    ignore: Ignore,
    stop: Stop,
    strategy: Strategy,
    commands: Option<Commands>,
    book: Mutex<Book>,
    /// Locked before the book by whoever needs both, and for as long as a peer is asked.
    seats: Mutex<Vec<Seat>>,
}

/// What is known of a peer.
#[derive(Default)]
struct Book {
    /// States that are kept, by place.
    kept: FxHashMap<Place, Kept>,
    folders: Folders,
    conversation: Conversation,
    answers: FxHashMap<Place, Arc<Heard>>,
    costs: Costs,
    /// After how many messages it ended at the earliest, and how.
    ended: Option<(u64, Status)>,
    /// How a client has ended so far, in all orders: `wait4(2)` statuses.
    statuses: BTreeSet<i32>,
    /// Why it is not asked any more: the check has no answer, whatever else it would say.
    given_up: Option<Trouble>,
}

/// A state that is kept.
#[derive(Clone)]
struct Kept {
    folder: PathBuf,
    /// What was said before.
    messages: u64,
}

/// An instance at a place of its conversation.
struct Seat {
    instance: Box<dyn Endpoint>,
    place: Place,
    /// What was answered there when that was first asked for.
    heard: Arc<Heard>,
    /// How much this instance has sent on each connection (bytes, or datagrams): as much, unless some of it is ignored.
    received: BTreeMap<Id, usize>,
    /// Connections, with their numbers in the order of opening.
    connections: BTreeMap<Id, usize>,
    /// Flows of datagrams, numbered likewise.
    flows: BTreeMap<Id, usize>,
    /// What was said to it.
    messages: u64,
}

impl Native {
    /// Starts a first instance, and waits until it listens, or has connected.
    ///
    /// # Errors
    /// If it cannot be started, does neither, or the search has to stop.
    pub fn start(name: &str, spec: Spec, terms: Terms, stop: Stop) -> Result<Self, Trouble> {
        let (book, seats) = (Mutex::default(), Mutex::default());
        let Terms { ignore, strategy, commands, .. } = terms;
        let peer = Self { name: name.to_owned(), spec, target: None, ignore, stop, strategy, commands, book, seats };
        let seat = peer.new_seat()?;
        lock(&peer.book).answers.insert(Place::default(), Arc::clone(&seat.heard));
        if peer.commands.is_some() {
            peer.save(&seat)?;
        }
        lock(&peer.seats).push(seat);
        Ok(peer)
    }

    /// Starts a command as it stands, in its folder.
    ///
    /// # Errors
    /// As [`Native::start`].
    pub fn of(name: &str, shape: &Shape, command: &Command, terms: Terms, stop: Stop) -> Result<Self, Trouble> {
        let (role, address) = match shape {
            Shape::Listens(address) => (Role::Server, on_host(address)),
            Shape::Connects(port) => (Role::Client, ::native::Address::Tcp(*port)),
        };
        let Command { arguments, environment, directory, user: _ } = command.clone();
        let Terms { clock, patience, .. } = terms;
        let (directory, network) = (OsString::from_vec(directory).into(), Network::Own);
        let spec = Spec { command: arguments, environment, directory, address, role, clock, network, patience };
        Self::start(name, spec, terms, stop)
    }

    /// Connects to a program that somebody else has started.
    ///
    /// # Errors
    /// If it cannot be reached, or the search has to stop.
    pub fn remote(name: &str, machine: &(String, u16), terms: Terms, stop: Stop) -> Result<Self, Trouble> {
        let Terms { ignore, strategy, patience, framing, clock, .. } = terms;
        let framing = framing.ok_or_else(|| Trouble::Fails("it has no framing".to_owned()).of(name))?;
        let found = Target::find(machine, (framing, patience), Arc::clone(&stop));
        let first = found.map_err(|problem| trouble(name, &problem))?;
        let (role, network, directory) = (Role::Server, Network::Host, PathBuf::new());
        let (command, environment, address) = (Vec::new(), Vec::new(), ::native::Address::Tcp(machine.1));
        let spec = Spec { command, environment, directory, address, role, clock, network, patience };
        let (target, seat) = (Some(first.target()), Seat::new(Box::new(first)));
        let (commands, book, seats) = (None, Mutex::default(), Mutex::default());
        let peer = Self { name: name.to_owned(), spec, target, ignore, stop, strategy, commands, book, seats };
        lock(&peer.book).answers.insert(Place::default(), Arc::clone(&seat.heard));
        lock(&peer.seats).push(seat);
        Ok(peer)
    }

    /// Whether there is the program of a command: as a path, or in its `PATH`.
    #[must_use]
    pub fn finds(command: &Command) -> bool {
        let Command { arguments, environment, directory, .. } = command;
        let directory = OsString::from_vec(directory.clone());
        ::native::find_program(arguments, environment, directory.as_ref()).is_some()
    }

    fn new_seat(&self) -> Result<Seat, Trouble> {
        if let Some(target) = &self.target {
            return Ok(Seat::new(Box::new(Remote::again(target))));
        }
        let instance = Instance::start(&self.spec, &*self.stop).map_err(|problem| self.trouble(&problem))?;
        let mut seat = Seat::new(Box::new(instance));
        if self.spec.role == Role::Client {
            seat.heard = self.compared(seat.place, &seat.hear(&self.name), &seat)?;
        }
        Ok(seat)
    }

    /// What was first answered at a place, if that is the same as now.
    fn compared(&self, place: Place, heard: &Arc<Heard>, seat: &Seat) -> Result<Arc<Heard>, Trouble> {
        let mut book = lock(&self.book);
        book.statuses.extend(heard.ended);
        let known = Arc::clone(book.answers.entry(place).or_insert_with(|| Arc::clone(heard)));
        if self.ignore.are_same(&known, heard) {
            return Ok(known);
        }
        let clock = self.target.is_none().then_some(self.spec.clock);
        let Seat { connections, flows, messages, .. } = seat;
        let again = Again { name: &self.name, connections, flows, messages: *messages };
        Err(Trouble::Inconclusive(again.difference(&known, heard, &self.ignore, clock)))
    }

    fn trouble(&self, problem: &Problem) -> Trouble {
        trouble(&self.name, problem)
    }

    /// Goes to a place of the conversation.
    fn ask(&self, place: Place) -> Result<Arc<Heard>, Trouble> {
        let mut seats = lock(&self.seats);
        if let Some(known) = lock(&self.book).known(place) {
            return known;
        }
        let way = {
            let book = lock(&self.book);
            let is_kept = |place| place == Place::default() || book.kept.contains_key(&place);
            book.conversation
                .way_to(place, |place| is_kept(place) || seats.iter().any(|seat: &Seat| seat.place == place))
        };
        let (from, way) = way.ok_or_else(|| Trouble::Fails("it was never told this".to_owned()).of(&self.name))?;
        let mut seat = self.take_seat(&mut seats, from)?;
        for (place, said) in way {
            self.say(&mut seat, place, &said)?;
            if self.is_worth_keeping(&seat, &said.what) {
                self.save(&seat)?;
            }
        }
        let heard = Arc::clone(&seat.heard);
        seats.push(seat);
        if self.target.is_some() {
            self.tell_again(&mut seats, place)?;
        }
        Ok(heard)
    }

    /// Tells a peer that goes on with what it remembers all again, over new connections. It was not started again: that what was
    /// said before changes nothing has to be seen where something is said for the first time, and not only where it is needed again.
    fn tell_again(&self, seats: &mut Vec<Seat>, place: Place) -> Result<(), Trouble> {
        let way = lock(&self.book).conversation.way_to(place, |place| place == Place::default());
        let mut seat = self.take_seat(seats, Place::default())?;
        for (place, said) in way.into_iter().flat_map(|(_, way)| way) {
            self.say(&mut seat, place, &said)?;
        }
        seats.push(seat);
        Ok(())
    }

    /// An instance at a place at which one is, or a new one. An instance that was taken and not put back has ended.
    fn take_seat(&self, seats: &mut Vec<Seat>, place: Place) -> Result<Seat, Trouble> {
        if let Some(index) = seats.iter().position(|seat| seat.place == place) {
            return Ok(seats.remove(index));
        }
        let is_shared = seats.iter().any(|seat| seat.instance.is_alone());
        if self.commands.is_some() {
            // All would work on the state that is brought back.
            seats.clear();
        } else if is_shared || seats.len() >= SEATS_MAX {
            // The one that was not asked for longest.
            seats.remove(0);
        }
        let (mut costs, is_first) = (Costs::default(), place == Place::default());
        let deed = if is_first { Deed::Restart } else { Deed::Restore };
        let seat = costs.measured(deed, || self.restored(place));
        lock(&self.book).costs.add(&costs);
        seat
    }

    /// A new instance at a place whose state is kept, or at the first one.
    fn restored(&self, place: Place) -> Result<Seat, Trouble> {
        let kept = lock(&self.book).kept.get(&place).cloned();
        if let (Some(commands), Some(kept)) = (&self.commands, &kept) {
            let restored = commands::run(&commands.restore, &kept.folder, &self.spec, &*self.stop);
            restored.map_err(|problem| self.trouble(&problem))?;
        }
        let mut seat = self.new_seat()?;
        if let Some(Kept { messages, .. }) = kept.filter(|_| place != Place::default()) {
            let heard = lock(&self.book).answers.get(&place).cloned().unwrap_or_default();
            (seat.place, seat.heard, seat.messages) = (place, heard, messages);
        }
        Ok(seat)
    }

    /// Whether the state of an instance is to be kept. No connection can be: there must be none.
    fn is_worth_keeping(&self, seat: &Seat, said: &Saying) -> bool {
        let book = lock(&self.book);
        if self.commands.is_none() || !seat.instance.is_free() || book.kept.contains_key(&seat.place) {
            return false;
        }
        let distance = book.conversation.distance(seat.place, |place| book.kept.contains_key(&place));
        // It is started again in any case.
        self.strategy.keeps(said, false, &Price { restore: 0, ..book.costs.price(distance) })
    }

    /// Keeps the state of an instance.
    fn save(&self, seat: &Seat) -> Result<(), Trouble> {
        let Some(commands) = &self.commands else { return Ok(()) };
        let folder = lock(&self.book).folders.next();
        let failed = |error| self.trouble(&Problem::Command("mkdir".to_owned(), format!("{error}")));
        let kept = Kept { folder: folder.map_err(failed)?, messages: seat.messages };
        let mut costs = Costs::default();
        let saved = costs.measured(Deed::Save, || commands::run(&commands.save, &kept.folder, &self.spec, &*self.stop));
        saved.map_err(|problem| self.trouble(&problem))?;
        let mut book = lock(&self.book);
        book.costs.add(&costs);
        book.kept.insert(seat.place, kept);
        Ok(())
    }

    /// Says something that leads to a place, and notes what is answered there.
    ///
    /// Every answer on the way is compared with the one that was recorded at that place:
    /// nondeterminism of a peer is noticed at its first symptom.
    fn say(&self, seat: &mut Seat, place: Place, said: &Said) -> Result<(), Trouble> {
        if seat.instance.has_spoken() {
            return Err(self.spoke_without_cause(seat));
        }
        let mut costs = Costs::default();
        let deed = if lock(&self.book).answers.contains_key(&place) { Deed::Replay } else { Deed::Message };
        let said = costs.measured(deed, || seat.say(said).and_then(|()| seat.instance.rest(&*self.stop)));
        said.map_err(|problem| self.trouble(&problem))?;
        let heard = seat.hear(&self.name);
        let mut book = lock(&self.book);
        book.costs.add(&costs);
        if let Some(status) = seat.instance.status().filter(|_| self.spec.role == Role::Server) {
            book.note_end(seat.messages, status);
        }
        drop(book);
        (seat.place, seat.heard) = (place, self.compared(place, &heard, seat)?);
        Ok(())
    }

    /// The peer's rest was observed, not guessed: if more comes without cause, it has a clock or a
    /// thread that we do not control, and no place has *the* answer.
    fn spoke_without_cause(&self, seat: &Seat) -> Trouble {
        Trouble::Inconclusive(format!(
            "peer `{}` spoke without cause: after {} messages it had come to rest, and then it said more without being told anything",
            self.name, seat.messages
        ))
    }
}

fn trouble(name: &str, problem: &Problem) -> Trouble {
    match problem {
        Problem::Stopped => Trouble::Stopped,
        problem => Trouble::Inconclusive(format!("peer `{name}` {problem}")),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Book {
    /// What is answered at a place without asking the peer.
    fn known(&self, place: Place) -> Option<Result<Arc<Heard>, Trouble>> {
        let answer = self.answers.get(&place).map(|heard| Ok(Arc::clone(heard)));
        answer.or_else(|| self.given_up.clone().map(Err))
    }

    fn note_end(&mut self, messages: u64, status: Status) {
        if self.ended.is_none_or(|(earliest, _)| messages < earliest) {
            self.ended = Some((messages, status));
        }
    }
}

impl Seat {
    /// An instance to which nothing was said.
    fn new(instance: Box<dyn Endpoint>) -> Self {
        let (place, heard) = (Place::default(), Arc::default());
        let (received, connections, flows) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Self { instance, place, heard, received, connections, flows, messages: 0 }
    }

    fn say(&mut self, said: &Said) -> Result<(), Problem> {
        self.messages += 1;
        match said.what {
            Saying::Open => drop(self.connections.insert(said.end, self.instance.open()?)),
            Saying::Datagram { .. } if !self.flows.contains_key(&said.end) => {
                self.flows.insert(said.end, self.instance.open()?);
            }
            _ => {}
        }
        let found = self.connections.get(&said.end).or_else(|| self.flows.get(&said.end));
        let Some(connection) = found.copied() else { return Ok(()) };
        match &said.what {
            Saying::Open => {}
            Saying::Bytes(bytes) | Saying::Datagram { bytes, .. } => self.instance.send(connection, bytes),
            Saying::Finish => self.instance.finish(connection),
            Saying::Close => self.instance.close(connection),
            Saying::Reset => self.instance.reset(connection),
        }
        Ok(())
    }

    /// All that it has answered: what was answered first, and what has come since. Streams that did not grow are shared.
    fn hear(&mut self, name: &str) -> Arc<Heard> {
        let (opens, ended) = self.hear_client(name);
        let datagrams = self.hear_datagrams();
        let Self { instance, heard, received, connections, .. } = self;
        let stream = |(id, number): (&Id, &usize)| {
            let now = instance.stream(*number);
            let news = &now.bytes[received.insert(*id, now.bytes.len()).unwrap_or(0)..];
            let before = heard.streams.get(id).map(|stream| Arc::clone(&stream.bytes)).unwrap_or_default();
            let bytes = if news.is_empty() { before } else { [&before[..], news].concat().into() };
            (*id, Stream { bytes, end: now.end.map(in_kernel_words) })
        };
        // Connections that were over before the state was kept are as they were.
        let mut streams = heard.streams.clone();
        streams.extend(connections.iter().map(stream).collect::<Vec<_>>());
        Arc::new(Heard { streams, datagrams, opens, ended })
    }

    /// All datagrams that it has sent: those that were sent first, and what has come since.
    fn hear_datagrams(&mut self) -> BTreeMap<Id, Vec<Datagram>> {
        let Self { instance, heard, received, flows, .. } = self;
        let mut datagrams = heard.datagrams.clone();
        for (id, number) in flows {
            let now = instance.datagrams(*number);
            let news = &now[received.insert(*id, now.len()).unwrap_or(0)..];
            datagrams.entry(*id).or_default().extend(news.iter().map(Datagram::of));
        }
        datagrams
    }

    /// The connections that a client has opened, each by its number, and how it has ended.
    fn hear_client(&mut self, name: &str) -> (Vec<Id>, Option<i32>) {
        if !self.instance.is_client() {
            return (Vec::new(), None);
        }
        let id = |number: usize| Id::named(&format!("{name} opens connection {number}"));
        let opens: Vec<Id> = (0..self.instance.connections()).map(id).collect();
        self.connections.extend(opens.iter().copied().zip(0..));
        (opens, self.instance.status().map(Status::wait_status))
    }
}

/// How a connection has ended, in the kernel's words.
fn in_kernel_words(end: ::native::End) -> End {
    match end {
        ::native::End::Finished => End::Finished,
        ::native::End::Closed => End::Closed,
        ::native::End::Reset => End::Reset,
    }
}

/// Where a server listens, as it sees it: to itself it is on the local machine.
pub(crate) fn on_host(address: &Address) -> ::native::Address {
    match address {
        Address::Port(port) | Address::Machine(_, port) => ::native::Address::Tcp(*port),
        Address::Udp(_, port) => ::native::Address::Udp(*port),
        Address::Path(path) => ::native::Address::Unix(path.into()),
    }
}

impl Outside for Native {
    fn name(&self) -> &str {
        &self.name
    }

    fn after(&self, place: Place, said: &Said) -> Place {
        lock(&self.book).conversation.note(place, said)
    }

    fn heard(&self, place: Place) -> Result<Arc<Heard>, Trouble> {
        let known = lock(&self.book).known(place);
        let heard = known.unwrap_or_else(|| self.ask(place));
        if let Err(trouble @ Trouble::Inconclusive(_)) = &heard {
            lock(&self.book).given_up.get_or_insert_with(|| trouble.clone());
        }
        heard
    }

    fn close(&self) {
        // Processes end before their folders go.
        lock(&self.seats).clear();
        lock(&self.book).folders = Folders::default();
    }

    fn traffic(&self) -> Traffic {
        lock(&self.book).costs.traffic
    }

    fn statuses(&self) -> Vec<i32> {
        lock(&self.book).statuses.iter().copied().collect()
    }

    fn told(&self) -> String {
        let book = lock(&self.book);
        let Traffic { messages, restarts, .. } = book.costs.traffic;
        let ended = book.ended.map(|(messages, status)| format!("; it {status} after {messages} messages (recorded)"));
        let (kind, assumed) = match self.target {
            Some(_) => ("remote", "; assumed to remember nothing of earlier connections"),
            None => ("native", ""),
        };
        format!("{kind}, {messages} messages, {restarts} restarts{assumed}{}", ended.unwrap_or_default())
    }
}
