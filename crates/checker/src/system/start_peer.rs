//! How peers of a check are started.

use crate::system::programs::Programs;
use kernel::errno::Errno;
use kernel::files;
use kernel::host::Host;
use kernel::net::Transport;
use kernel::net::far::{PeerId, Site};
use peer::{
    Address, Framed, Independent, Native, Outside, OwnWorld, Recorded, Runs, Shape, Stop, Strict, Terms, Trouble,
    recorded_shape,
};
use std::sync::Arc;
use trace::PeerRef;
use world::{Command, StartError, World};

/// A peer that is to be started.
pub struct PeerStart {
    /// Its name, for reports.
    pub name: String,
    /// Where it listens, or connects to.
    pub shape: Shape,
    /// Where it runs.
    pub runs: Runs,
    /// What is started.
    pub command: Command,
    /// What it sees of the host, in a world of its own.
    pub host: Host,
    /// How it is driven.
    pub terms: Terms,
}

impl Programs {
    /// Adds a peer: connections to its address, where no process listens, lead to it; or it connects to a port.
    ///
    /// # Errors
    /// If there can be no Unix socket at its path.
    pub fn add_peer(&mut self, peer: Arc<dyn Outside>, shape: Shape) -> Result<(), Errno> {
        self.become_state(&self.initial.clone());
        let id = PeerId(self.workload.peers.len() as u32);
        let kernel = &mut self.state.world.kernel;
        let site = match &shape {
            Shape::Listens(Address::Port(port)) => Some(Site::Local(Transport::Tcp, *port)),
            Shape::Listens(Address::Machine(machine, port)) => Some(Site::Machine(Transport::Tcp, *machine, *port)),
            Shape::Listens(Address::Udp(machine, port)) if machine.is_loopback() => {
                Some(Site::Local(Transport::Udp, *port))
            }
            Shape::Listens(Address::Udp(machine, port)) => Some(Site::Machine(Transport::Udp, *machine, *port)),
            Shape::Listens(Address::Path(path)) => Some(Site::Socket(files::create_socket(kernel, path.as_bytes())?)),
            Shape::Connects(port) => {
                kernel.net.far.clients.insert(id, *port);
                None
            }
        };
        if peer.is_independent() {
            kernel.net.far.independent.push(id);
        }
        site.into_iter().for_each(|site| drop(kernel.net.far.declared.insert(site, id)));
        self.workload.peers.push(peer);
        self.workload.shapes.push(shape);
        self.initial = self.save();
        Ok(())
    }

    /// The peers.
    #[must_use]
    pub fn peers(&self) -> &[Arc<dyn Outside>] {
        &self.workload.peers
    }

    /// Starts a peer; connections lead to it, or come from it.
    ///
    /// # Errors
    /// If it cannot be started, or neither listens nor connects.
    pub fn start_peer(&mut self, start: &PeerStart) -> Result<(), PeerProblem> {
        let peer: Arc<dyn Outside> = match &start.runs {
            Runs::World => Arc::new(self.in_own_world(start)?),
            Runs::Native => Arc::new(self.on_host(start)?),
            Runs::Remote(host, port) => {
                let peer = Native::remote(&start.name, &(host.clone(), *port), start.terms.clone(), self.stop());
                Arc::new(peer.map_err(|trouble| PeerProblem::of(&trouble))?)
            }
        };
        let Terms { is_independent, ignore, framing, is_unordered, .. } = start.terms.clone();
        let peer = match framing {
            Some(framing) => Arc::new(Framed::new(peer, framing, is_unordered)),
            None => peer,
        };
        let peer = if is_independent { Arc::new(Independent::new(peer, ignore)) } else { peer };
        let peer = if start.terms.is_strict { Arc::new(Strict::new(peer)) } else { peer };
        self.add_peer(peer, start.shape.clone()).map_err(|errno| no_socket(&start.shape, errno))
    }

    fn in_own_world(&self, start: &PeerStart) -> Result<OwnWorld, PeerProblem> {
        let PeerStart { name, shape, command, host, terms, .. } = start;
        let mut world = World::new(host.clone(), 1, self.state.world.memory.limit());
        if let Shape::Listens(Address::Path(path)) = shape {
            let owner = command.user.as_ref().map_or((0, 0), |user| (user.uid, user.gid));
            let made = files::create_folders(&mut world.kernel, path.as_bytes(), owner);
            made.map_err(|errno| no_socket(shape, errno))?;
        }
        world.start(command).map_err(PeerProblem::NotStarted)?;
        let peer = OwnWorld::start(name, world, shape.clone(), terms.clone(), self.stop());
        peer.map_err(|trouble| PeerProblem::of(&trouble))
    }

    fn on_host(&self, start: &PeerStart) -> Result<Native, PeerProblem> {
        let PeerStart { name, shape, command, terms, .. } = start;
        if !Native::finds(command) {
            let name = command.arguments.first().cloned().unwrap_or_default();
            return Err(PeerProblem::NotStarted(StartError::NotFound(name)));
        }
        let peer = Native::of(name, shape, command, terms.clone(), self.stop());
        peer.map_err(|trouble| PeerProblem::of(&trouble))
    }

    /// Whether peers have to stop.
    fn stop(&self) -> Stop {
        let budget = self.workload.options.budget.clone();
        Arc::new(move || budget.is_spent())
    }

    /// Adds peers that answer as a record says.
    ///
    /// # Errors
    /// If the record contradicts itself.
    pub fn add_recorded(&mut self, records: &[PeerRef]) -> Result<(), String> {
        for record in records {
            let peer = Recorded::new(record).map_err(|trouble| trouble.to_string())?;
            let shape = recorded_shape(record).map_err(|trouble| trouble.to_string())?;
            self.add_peer(Arc::new(peer), shape)
                .map_err(|errno| format!("the record of peer `{}`: {errno}", record.name))?;
        }
        Ok(())
    }
}

/// There can be no Unix socket where a peer is to listen.
fn no_socket(shape: &Shape, errno: Errno) -> PeerProblem {
    let path = if let Shape::Listens(Address::Path(path)) = shape { path } else { "" };
    PeerProblem::Trouble(format!("there can be no socket `{path}`: {errno}"))
}

/// Why a peer does not answer from the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PeerProblem {
    /// It cannot be started.
    NotStarted(StartError),
    /// It does not listen, or does something that is not modelled.
    Trouble(String),
    /// The search has to stop.
    Stopped,
}

impl PeerProblem {
    fn of(trouble: &Trouble) -> Self {
        match trouble {
            Trouble::Stopped => Self::Stopped,
            trouble => Self::Trouble(trouble.to_string()),
        }
    }
}
