//! Native peers of a run: bytes pass between them and the programs. Nothing is searched, so nothing is remembered, and nobody has
//! to come to rest.

use crate::native::on_host;
use crate::terms::Terms;
use crate::{Address, End, Stop, Trouble};
use ::native::{Clock, Instance, Link, Network, Problem, Received, Role, Spec, Wanted};
use kernel::errno::Errno;
use kernel::net::far::{PeerId, Said, Saying, Site};
use kernel::net::{Transport, far_ends, far_live, far_log};
use kernel::{Id, Kernel, files};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::time::{Duration, Instant};
use world::Command;
use world::run::Exchange;

/// Bytes that are received at once.
const PIECE: usize = 1 << 18;
/// How long is waited without asking whether to stop.
const MOMENT: Duration = Duration::from_millis(50);

/// For so many turns of the programs a peer that was silent is not asked: to ask costs as much as ten calls of a program.
const UNASKED: u32 = 16;

/// Native peers of a run, and the connections to them.
pub struct PassThrough {
    peers: Vec<Instance>,
    links: BTreeMap<Id, Passed>,
    room: Vec<u8>,
    stop: Stop,
}

/// A connection.
struct Passed {
    link: Link,
    /// The program has no more to say, or the peer has not.
    program_finished: bool,
    is_finish_passed: bool,
    peer_finished: bool,
    /// How often the peer is not asked any more.
    unasked: u32,
}

impl PassThrough {
    /// No peer yet.
    #[must_use]
    pub fn new(stop: Stop) -> Self {
        Self { peers: Vec::new(), links: BTreeMap::new(), room: vec![0; PIECE], stop }
    }

    /// Starts a peer that sees the time of this machine, and waits until it listens; connections to its address lead to it.
    ///
    /// # Errors
    /// If it cannot be started, does not listen, or the run has to stop.
    pub fn start(
        &mut self,
        name: &str,
        address: &Address,
        command: &Command,
        terms: &Terms,
        kernel: &mut Kernel,
    ) -> Result<(), Trouble> {
        let Command { arguments, environment, directory, user: _ } = command.clone();
        let directory = OsString::from_vec(directory).into();
        let (role, clock, network, patience) = (Role::Server, Clock::Real, Network::Own, terms.patience);
        let at = on_host(address);
        let spec = Spec { command: arguments, environment, directory, address: at, role, clock, network, patience };
        let instance = Instance::start(&spec, &*self.stop).map_err(|problem| match problem {
            Problem::Stopped => Trouble::Stopped,
            problem => Trouble::Inconclusive(format!("peer `{name}` {problem}")),
        });
        self.peers.push(instance?);
        kernel.net.far.is_live = true;
        let site = site(kernel, address)
            .map_err(|errno| Trouble::Fails(format!("there can be no socket `{address}`: {errno}")))?;
        kernel.net.far.declared.insert(site, PeerId(self.peers.len() as u32 - 1));
        Ok(())
    }

    /// Passes bytes; whether there were any.
    pub fn pass(&mut self, kernel: &mut Kernel, how: Exchange) -> bool {
        let begun = now();
        loop {
            let moved = self.pass_at_once(kernel, how);
            let left = match how {
                Exchange::AtOnce => return moved,
                Exchange::Awaits(_) if moved => return true,
                Exchange::Awaits(Some(time)) => Duration::from_nanos(time).saturating_sub(begun.elapsed()),
                Exchange::Awaits(None) | Exchange::ToTheEnd => MOMENT,
            };
            let wanted = self.wanted(kernel, how);
            if left.is_zero() || wanted.is_empty() || (self.stop)() {
                return false;
            }
            Link::wait(&wanted, left.min(MOMENT));
        }
    }

    /// What can be waited for.
    fn wanted(&self, kernel: &Kernel, how: Exchange) -> Vec<(&Link, Wanted)> {
        let wanted = |(end, passed): (&Id, &Passed)| {
            let input = how != Exchange::ToTheEnd && !passed.peer_finished && room(kernel, *end) > 0;
            Wanted { input, room: !far_live::waiting(kernel, *end).is_empty() }
        };
        let all = self.links.iter().map(|entry| (&entry.1.link, wanted(entry)));
        all.filter(|(_, wanted)| wanted.input || wanted.room).collect()
    }

    fn pass_at_once(&mut self, kernel: &mut Kernel, how: Exchange) -> bool {
        let said = if kernel.net.far.said.is_empty() { Vec::new() } else { far_log::take_said(kernel) };
        let mut moved = !said.is_empty();
        for said in said {
            self.carry_out(kernel, &said);
        }
        let Self { links, room, .. } = self;
        for (end, passed) in links.iter_mut() {
            moved |= passed.send(kernel, *end) | (passed.is_asked(how) && passed.receive(kernel, *end, room));
        }
        links.retain(|end, passed| !passed.is_over(kernel, *end));
        moved
    }

    fn carry_out(&mut self, kernel: &mut Kernel, said: &Said) {
        match said.what {
            Saying::Open => {
                let peer = kernel.net.far.ends.get(&said.end).map_or(0, |far| far.peer.0);
                match self.peers[peer as usize].link() {
                    Ok(link) => drop(self.links.insert(said.end, Passed::new(link))),
                    Err(_) => far_ends::deliver_end(kernel, said.end, End::Reset),
                }
            }
            Saying::Reset => drop(self.links.remove(&said.end).map(|passed| passed.link.reset())),
            Saying::Finish | Saying::Close => {
                if let Some(passed) = self.links.get_mut(&said.end) {
                    passed.program_finished = true;
                }
            }
            // Bytes are taken from where they wait; a run has no native peers on UDP ports.
            Saying::Bytes(_) | Saying::Datagram { .. } => {}
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "native peers take the time of the host")]
fn now() -> Instant {
    Instant::now()
}

/// Where programs find a peer: all names lead to the local machine.
fn site(kernel: &mut Kernel, address: &Address) -> Result<Site, Errno> {
    Ok(match address {
        Address::Port(port) | Address::Machine(_, port) => Site::Local(Transport::Tcp, *port),
        Address::Udp(_, port) => Site::Local(Transport::Udp, *port),
        Address::Path(path) => Site::Socket(files::create_socket(kernel, path.as_bytes())?),
    })
}

/// How much a program can be delivered.
fn room(kernel: &Kernel, end: Id) -> usize {
    let near = far_ends::near(kernel, end).filter(|near| kernel.net.sockets.contains_key(near));
    near.map_or(0, |near| kernel.net.receive_limit(near).saturating_sub(kernel.net.received(near)))
}

impl Passed {
    fn new(link: Link) -> Self {
        Self { link, program_finished: false, is_finish_passed: false, peer_finished: false, unasked: 0 }
    }

    /// Sends what waits, and after it the end; whether there was anything.
    fn send(&mut self, kernel: &mut Kernel, end: Id) -> bool {
        let before = far_live::waiting(kernel, end).len();
        let sent = if before > 0 { self.link.send(far_live::waiting(kernel, end)) } else { 0 };
        if sent > 0 {
            far_live::take(kernel, end, sent);
        }
        if self.program_finished && !self.is_finish_passed && sent == before {
            self.link.finish();
            self.is_finish_passed = true;
        }
        sent > 0
    }

    /// Whether the peer is asked if it has said something: always when the programs wait, and seldom while they go on and it is silent.
    fn is_asked(&mut self, how: Exchange) -> bool {
        let left = if how == Exchange::AtOnce { self.unasked } else { 0 };
        self.unasked = left.saturating_sub(1);
        left == 0
    }

    /// Delivers what there is, as far as the program has room; whether there was anything.
    fn receive(&mut self, kernel: &mut Kernel, end: Id, buffer: &mut [u8]) -> bool {
        let room = room(kernel, end).min(buffer.len());
        if self.peer_finished || room == 0 {
            return false;
        }
        match self.link.receive(&mut buffer[..room]) {
            Received::Nothing => {
                self.unasked = UNASKED;
                return false;
            }
            Received::Bytes(count) => far_ends::deliver(kernel, end, &buffer[..count]),
            Received::Finished => far_ends::deliver_end(kernel, end, End::Finished),
            Received::Closed => far_ends::deliver_end(kernel, end, End::Closed),
            Received::Reset => far_ends::deliver_end(kernel, end, End::Reset),
        }
        self.peer_finished = kernel.net.far.ends.get(&end).is_some_and(|far| far.ended.is_some());
        true
    }

    /// Whether nothing can pass any more: the program has closed its side, and all was sent.
    fn is_over(&self, kernel: &Kernel, end: Id) -> bool {
        let is_passed = !self.program_finished || self.is_finish_passed;
        far_ends::is_closed(kernel, end) && is_passed && far_live::waiting(kernel, end).is_empty()
    }
}
