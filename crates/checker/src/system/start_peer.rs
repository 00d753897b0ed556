//! How peers of a check are started.

use crate::system::programs::Programs;
use kernel::host::Host;
use peer::{Native, Outside, OwnWorld, Recorded, Runs, Shape, Stop, Strict, Terms, Trouble, recorded_shape};
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
    /// Starts a peer; connections lead to it, or come from it.
    ///
    /// # Errors
    /// If it cannot be started, or neither listens nor connects.
    pub fn start_peer(&mut self, start: &PeerStart) -> Result<(), PeerProblem> {
        let peer: Arc<dyn Outside> = match start.runs {
            Runs::World => Arc::new(self.in_own_world(start)?),
            Runs::Native => Arc::new(self.on_host(start)?),
        };
        let shape = start.shape.clone();
        match start.terms.is_strict {
            true => self.add_peer(Arc::new(Strict::new(peer)), shape),
            false => self.add_peer(peer, shape),
        }
        Ok(())
    }

    fn in_own_world(&self, start: &PeerStart) -> Result<OwnWorld, PeerProblem> {
        let PeerStart { name, shape, command, host, terms, .. } = start;
        let mut world = World::new(host.clone(), 1, self.state.world.memory.limit());
        world.start(command).map_err(PeerProblem::NotStarted)?;
        let peer = OwnWorld::start(name, world, shape.clone(), terms.clone(), self.stop());
        peer.map_err(|trouble| PeerProblem::of(&trouble))
    }

    fn on_host(&self, start: &PeerStart) -> Result<Native, PeerProblem> {
        let PeerStart { name, shape, command, terms, .. } = start;
        let Shape::Listens(address) = shape else {
            return Err(PeerProblem::Trouble("a native peer can listen, not connect".to_owned()));
        };
        let peer = Native::of(name, address.port(), command, terms.clone(), self.stop());
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
            self.add_peer(Arc::new(peer), shape);
        }
        Ok(())
    }
}

/// Why a peer does not answer from the start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PeerProblem {
    /// It cannot be started.
    NotStarted(StartError),
    /// It does not listen, or does something that is not modelled.
    Trouble(String),
}

impl PeerProblem {
    fn of(trouble: &Trouble) -> Self {
        Self::Trouble(trouble.to_string())
    }
}
