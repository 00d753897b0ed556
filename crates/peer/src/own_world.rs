//! A peer in a world of its own, server or client: any program that Allways runs, on one schedule. It is deterministic, its snapshots take
//! microseconds, and nothing of it is left behind.
//!
//! One schedule, round robin, with virtual time: the same conversation gives the same answers on
//! every machine. That schedule stands for the peer; bugs that only other schedules of the peer
//! show are not found, which the report says.

use crate::checkpoint::Strategy;
use crate::conversation::Conversation;
use crate::costs::{Costs, Deed};
use crate::datagrams;
use crate::kept::Checkpoints;
use crate::names::Names;
use crate::sleepers::{Sleep, is_asleep, sites};
use crate::start_log::PeerAudience;
use crate::terms::Terms;
use crate::{Address, End, Heard, Outside, Shape, Stop, Stream, Traffic, Trouble};
use ::native::{Status, in_words};
use kernel::map::Map;
use kernel::net::address::Name;
use kernel::net::far::{PeerId, Place, Said, Saying, Site};
use kernel::net::{Transport, far_ends, far_flows, far_log};
use kernel::process::State;
use kernel::shared::Shared;
use kernel::{Id, Kernel, Pid, Tid};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use world::World;
use world::run::{Round, Run};
use x86::{Code, Cpu};

/// How much of its patience a round takes in which somebody moves: each thread has a turn of 20,000 instructions, which half a
/// gigahertz takes so long for. The host's speed decides nothing.
const ROUND_NS: u128 = 40_000;
/// Bytes that the checkpoints of an adaptive strategy may take.
const CHECKPOINT_BYTES_MAX: u64 = 256 << 20;
/// Bytes that a checkpoint takes beside pages, about.
const KERNEL_BYTES: u64 = 32 << 10;
/// The first port that connections of the search come from.
const FIRST_PORT: u16 = 20_000;

/// A program in a world of its own.
pub struct OwnWorld {
    name: String,
    inner: Mutex<Inner>,
}

struct Inner {
    name: String,
    world: World,
    /// The place of the conversation at which the world is; none in the midst of a message, and after trouble.
    at: Option<Place>,
    code: Code,
    audience: PeerAudience,
    /// Its first process.
    pid: Option<Pid>,
    shape: Shape,
    names: Names,
    /// Where threads slept when it first came to rest; nothing before that.
    idle: Option<BTreeSet<Sleep>>,
    /// How it has ended so far, in all orders.
    statuses: BTreeSet<i32>,
    /// The signal that ended it after the fewest messages, and how many.
    crashed: Option<(u64, i32)>,
    /// Why it is not asked any more: the check cannot be decided, and patience is not spent twice.
    given_up: Option<Trouble>,
    conversation: Conversation,
    /// What was answered, by place.
    heard: FxHashMap<Place, Arc<Heard>>,
    terms: Terms,
    checkpoints: Checkpoints<Checkpoint>,
    costs: Costs,
}

/// How a peer was left that ran for as long as it may.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    /// All threads wait.
    Quiet,
    /// A thread still runs; its number, from 1.
    Runs(usize),
}

/// The world of a peer at a place of its conversation.
#[derive(Clone)]
struct Checkpoint {
    kernel: Shared<Kernel>,
    memory: memory::Snapshot,
    cpus: Map<Tid, Cpu>,
}

impl OwnWorld {
    /// Lets a program that was started in a world run until it listens, or has connected.
    ///
    /// # Errors
    /// If it does something that is not modelled, or neither listens nor connects, or the search has to stop.
    pub fn start(name: &str, world: World, shape: Shape, terms: Terms, stop: Stop) -> Result<Self, Trouble> {
        let room = if terms.strategy == Strategy::Adaptive { CHECKPOINT_BYTES_MAX } else { u64::MAX };
        let pid = world.kernel.processes.keys().next().copied();
        let mut inner = Inner {
            name: name.to_owned(),
            world,
            at: None,
            code: Code::default(),
            audience: PeerAudience::new(stop),
            pid,
            shape: shape.clone(),
            names: Names::of(name),
            idle: None,
            statuses: BTreeSet::new(),
            crashed: None,
            given_up: None,
            conversation: Conversation::default(),
            heard: FxHashMap::default(),
            terms,
            checkpoints: Checkpoints::new(room),
            costs: Costs::default(),
        };
        let heard = match shape {
            Shape::Listens(address) => inner.listen(&address),
            Shape::Connects(port) => inner.connect(port),
        };
        let heard = heard.map_err(|trouble| trouble.of(name))?;
        if let Some(status) = heard.ended {
            inner.note_end(Place::default(), status);
        }
        inner.audience.end_of_start();
        inner.heard.insert(Place::default(), Arc::new(heard));
        inner.at = Some(Place::default());
        inner.keep(Place::default());
        Ok(Self { name: name.to_owned(), inner: Mutex::new(inner) })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outside for OwnWorld {
    fn name(&self) -> &str {
        &self.name
    }

    fn after(&self, place: Place, said: &Said) -> Place {
        self.lock().conversation.note(place, said)
    }

    fn heard(&self, place: Place) -> Result<Arc<Heard>, Trouble> {
        let mut inner = self.lock();
        if let Some(heard) = inner.heard.get(&place) {
            return Ok(Arc::clone(heard));
        }
        if let Some(trouble) = &inner.given_up {
            return Err(trouble.clone());
        }
        let heard = inner.ask(place).map_err(|trouble| trouble.of(&self.name));
        if let Err(trouble @ Trouble::Inconclusive(_)) = &heard {
            inner.given_up = Some(trouble.clone());
        }
        heard
    }

    fn traffic(&self) -> Traffic {
        self.lock().costs.traffic
    }

    fn statuses(&self) -> Vec<i32> {
        self.lock().statuses.iter().copied().collect()
    }

    fn told(&self) -> String {
        let inner = self.lock();
        let crashed = inner
            .crashed
            .map(|(messages, status)| format!("; it {} after {messages} messages (recorded)", Status::of(status)));
        format!("a world of its own, {} messages{}", inner.costs.traffic.messages, crashed.unwrap_or_default())
    }
}

impl Inner {
    /// Lets a server run until it listens.
    fn listen(&mut self, address: &Address) -> Result<Heard, Trouble> {
        self.run_until(|world| is_listening(&world.kernel, address))?;
        self.idle = Some(sites(&self.world));
        match is_listening(&self.world.kernel, address) {
            true => Ok(Heard::default()),
            false => Err(self.not_ready(&format!("listen on {address}"))),
        }
    }

    /// Lets a client run until it has connected, and waits for something.
    fn connect(&mut self, port: u16) -> Result<Heard, Trouble> {
        self.world.kernel.net.far.declared.insert(Site::Local(Transport::Tcp, port), PeerId(0));
        let left = self.run_until(|world| !world.kernel.net.far.said.is_empty() && !is_asleep(&world.kernel))?;
        let heard = self.hear_all(Heard::default())?;
        match heard.opens.is_empty() {
            true => Err(self.not_ready(&format!("connect to port {port}"))),
            false if left != Left::Quiet => {
                Err(Trouble::Fails("it does not come to rest after it has connected".to_owned()))
            }
            false => Ok(heard),
        }
    }

    /// Why it cannot be asked: how it ended or how long it had, and what it printed and was not shown.
    fn not_ready(&self, what: &str) -> Trouble {
        let how = match self.status() {
            Some(status) => format!("and {}", Status::of(status)),
            None => format!("in {}", in_words(self.terms.patience)),
        };
        Trouble::Fails(format!("it did not {what} {how}{}", self.audience.told()))
    }

    /// How its first process has ended, if it has: a `wait4(2)` status.
    fn status(&self) -> Option<i32> {
        match self.world.kernel.processes.get(&self.pid?)?.state {
            State::Zombie(status) => Some(status),
            State::Running | State::Stopped { .. } => None,
        }
    }

    /// Goes to a place of the conversation: from where the world is, or from the nearest checkpoint on the way.
    fn ask(&mut self, place: Place) -> Result<Arc<Heard>, Trouble> {
        let is_begin = |place| self.at == Some(place) || self.checkpoints.has(place);
        let way = self.conversation.way_to(place, is_begin);
        let (from, way) = way.ok_or_else(|| Trouble::Fails("it was never told this".to_owned()))?;
        if self.at != Some(from) {
            self.restore(from);
        }
        let mut heard = self.heard.get(&from).cloned().expect("the world was there");
        let mut distance = self.conversation.distance(from, |place| self.checkpoints.has(place));
        self.at = None;
        for (place, said) in way {
            heard = self.tell(place, &said, &heard)?;
            distance += 1;
            if !self.checkpoints.has(place) && self.terms.strategy.keeps(&said.what, false, &self.costs.price(distance))
            {
                self.keep(place);
                distance = 0;
            }
        }
        self.at = Some(place);
        Ok(heard)
    }

    /// Says what leads to a place; all that was answered there. What was said before is answered as before.
    fn tell(&mut self, place: Place, said: &Said, before: &Heard) -> Result<Arc<Heard>, Trouble> {
        let known = self.heard.get(&place).cloned();
        let deed = if known.is_some() { Deed::Replay } else { Deed::Message };
        let mut costs = std::mem::take(&mut self.costs);
        let told = costs.measured(deed, || self.say(said, before));
        self.costs = costs;
        let heard = told?;
        if let Some(status) = heard.ended {
            self.note_end(place, status);
        }
        if known.is_some_and(|known| known != heard) {
            return Err(Trouble::Fails("it answered differently when it was told the same again".to_owned()));
        }
        self.heard.insert(place, Arc::clone(&heard));
        Ok(heard)
    }

    fn keep(&mut self, place: Place) {
        let World { kernel, memory, cpus, .. } = &mut self.world;
        let checkpoint = self.costs.measured(Deed::Save, || Checkpoint {
            kernel: kernel.clone(),
            memory: memory.snapshot(),
            cpus: cpus.clone(),
        });
        let bytes = KERNEL_BYTES + checkpoint.memory.delta_pages() * memory::PAGE_SIZE;
        self.checkpoints.keep(place, checkpoint, bytes);
    }

    fn restore(&mut self, place: Place) {
        let kept = self.checkpoints.get(place).expect("a way begins at a checkpoint");
        let deed = if place == Place::default() { Deed::Restart } else { Deed::Restore };
        let world = &mut self.world;
        self.costs.measured(deed, || {
            world.kernel = kept.kernel.clone();
            world.memory.restore(&kept.memory);
            world.cpus = kept.cpus.clone();
        });
    }

    /// Says something and lets the peer come to rest; all that it has answered then.
    fn say(&mut self, said: &Said, before: &Heard) -> Result<Arc<Heard>, Trouble> {
        let mut heard = before.clone();
        let end = self.names.inside(said.end);
        let kernel = &mut *self.world.kernel;
        match &said.what {
            Saying::Open => {
                let source = FIRST_PORT + heard.streams.len() as u16;
                let refused = (!open(kernel, end, source, &self.shape)).then_some(End::Reset);
                heard.streams.insert(said.end, Stream { end: refused, ..Stream::default() });
            }
            Saying::Bytes(_) if far_ends::is_closed(kernel, end) => {
                heard.streams.entry(said.end).or_default().end = Some(End::Reset);
            }
            Saying::Bytes(bytes) => far_ends::deliver(kernel, end, bytes),
            Saying::Datagram { bytes, .. } => {
                datagrams::receive(kernel, end, (said.end, bytes), &self.shape, &mut heard);
            }
            Saying::Finish => far_ends::deliver_end(kernel, end, End::Finished),
            Saying::Close => far_ends::deliver_end(kernel, end, End::Closed),
            Saying::Reset => far_ends::deliver_end(kernel, end, End::Reset),
        }
        self.rest()?;
        Ok(Arc::new(self.hear_all(heard)?))
    }

    /// Lets the peer run until it has answered. A client that sleeps goes on afterwards; a server may sleep where it did when it
    /// was told nothing.
    fn rest(&mut self) -> Result<(), Trouble> {
        let idle = self.idle.take();
        let rests = |world: &World| match &idle {
            Some(idle) => sites(world).is_subset(idle),
            None => !is_asleep(&world.kernel),
        };
        let left = self.run_until(rests);
        let is_at_rest = rests(&self.world);
        self.idle = idle;
        match left? {
            Left::Quiet if is_at_rest => Ok(()),
            Left::Quiet => Err(self.restless("a thread sleeps")),
            Left::Runs(number) => Err(self.restless(&format!("thread {number} runs"))),
        }
    }

    /// It has not come to rest in the time that it has.
    fn restless(&self, why: &str) -> Trouble {
        let (name, patience) = (&self.name, in_words(self.terms.patience));
        Trouble::Inconclusive(format!("peer `{name}` neither answered nor came to rest in {patience}: {why}"))
    }

    /// Adds all that the peer has said since it was last asked.
    fn hear_all(&mut self, mut heard: Heard) -> Result<Heard, Trouble> {
        let mut news: BTreeMap<Id, Vec<u8>> = BTreeMap::new();
        for answer in far_log::take_said(&mut self.world.kernel) {
            let end = self.names.outside(answer.end);
            match answer.what {
                Saying::Bytes(bytes) => news.entry(end).or_default().extend(bytes),
                what => hear(&mut heard, Said { end, what }, &self.shape)?,
            }
        }
        // Once for all pieces: a long answer would be copied for each of them otherwise.
        for (end, bytes) in news {
            let stream: &mut Stream = heard.streams.entry(end).or_default();
            stream.bytes = [&stream.bytes[..], &bytes].concat().into();
        }
        heard.ended = self.status();
        Ok(heard)
    }

    /// It has ended by this place: with an exit code, of which all are told, or by a signal, of which the earliest is.
    fn note_end(&mut self, place: Place, status: i32) {
        if let Status::Exit(_) = Status::of(status) {
            self.statuses.insert(status);
            return;
        }
        let messages = self.conversation.distance(place, |place| place == Place::default());
        self.crashed = self.crashed.into_iter().chain([(messages, status)]).min();
    }

    /// Runs until no thread can move, `is_done`, and all that was sent is read; or until nothing more will happen, or it had as much
    /// time as it may take.
    fn run_until(&mut self, is_done: impl Fn(&World) -> bool) -> Result<Left, Trouble> {
        let patience = self.terms.patience.as_nanos();
        let until = self.world.kernel.clock.now().saturating_add(patience as u64);
        let mut rounds = 0;
        loop {
            while self.run().round().map_err(trouble)? == Round::Moved {
                rounds += 1;
                if rounds * ROUND_NS > patience {
                    return Ok(Left::Runs(self.running()));
                }
            }
            let kernel = &self.world.kernel;
            let is_unread = is_unread(kernel, &self.shape);
            let is_over = kernel.clock.now() >= until;
            if is_done(&self.world) && !is_unread || is_over || !self.run().pass_time() {
                return Ok(Left::Quiet);
            }
        }
    }

    /// The number of the first thread that can move.
    fn running(&self) -> usize {
        let mut threads = self.world.kernel.threads.keys();
        threads.position(|tid| self.world.can_move(*tid)).map_or(1, |index| index + 1)
    }

    fn run(&mut self) -> Run<'_, PeerAudience> {
        Run::new(&mut self.world, &mut self.code, &mut self.audience)
    }
}

/// Opens a connection of the search to a server; whether it takes it.
fn open(kernel: &mut Kernel, end: Id, source: u16, shape: &Shape) -> bool {
    match shape {
        Shape::Listens(Address::Port(port) | Address::Machine(_, port)) => {
            far_ends::open(kernel, (end, PeerId(0)), source, *port).is_some()
        }
        Shape::Listens(Address::Path(path)) => far_ends::open_unix(kernel, (end, PeerId(0)), path.as_bytes()).is_some(),
        Shape::Listens(Address::Udp(..)) | Shape::Connects(_) => false,
    }
}

/// Whether a peer has not read all that was sent to it.
fn is_unread(kernel: &Kernel, shape: &Shape) -> bool {
    match shape {
        Shape::Listens(Address::Udp(_, port)) => far_flows::is_unread(kernel, *port),
        _ => kernel.net.far.ends.keys().any(|end| far_ends::is_unread(kernel, *end)),
    }
}

/// Why a peer did not go on.
fn trouble(end: world::run::End) -> Trouble {
    match end {
        world::run::End::Refused(refusal) => {
            Trouble::Fails(format!("something that it does is not modelled: {}", refusal.what))
        }
        _ => Trouble::Stopped,
    }
}

/// Adds an answer to what was heard; bytes are added by `hear_all`.
fn hear(heard: &mut Heard, answer: Said, shape: &Shape) -> Result<(), Trouble> {
    if let Saying::Datagram { from, bytes } = answer.what {
        return datagrams::hear(heard, answer.end, (from, bytes), shape);
    }
    let stream = heard.streams.entry(answer.end).or_default();
    match answer.what {
        // Datagrams were heard above.
        Saying::Datagram { .. } | Saying::Bytes(_) => {}
        Saying::Open => heard.opens.push(answer.end),
        Saying::Finish => stream.end = stream.end.or(Some(End::Finished)),
        Saying::Close => stream.end = stream.end.filter(|end| *end == End::Reset).or(Some(End::Closed)),
        Saying::Reset => stream.end = Some(End::Reset),
    }
    Ok(())
}

/// Whether a process listens at an address.
fn is_listening(kernel: &Kernel, address: &Address) -> bool {
    let port = match address {
        Address::Port(port) | Address::Machine(_, port) => *port,
        Address::Udp(_, port) => return far_flows::is_bound(kernel, *port),
        Address::Path(path) => return far_ends::unix_listener(kernel, path.as_bytes()).is_some(),
    };
    let is_there = |id: Id| {
        let local = kernel.net.sockets.get(&id).and_then(|socket| socket.local.as_ref());
        matches!(local, Some(Name::Inet(endpoint)) if endpoint.port == port)
    };
    kernel.net.listening().any(is_there)
}
