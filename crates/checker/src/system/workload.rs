//! What is checked: the services, the variables that users name, the propositions, the options.

use crate::faults::PlacedFaults;
use crate::options::Options;
use crate::system::formula::Formula;
use crate::system::never::Forbidden;
use crate::system::points::Points;
use crate::system::service::{Expected, Service, Started};
use debuginfo::DebugInfo;
use kernel::Pid;
use kernel::host::Host;
use peer::{Outside, Shape};
use std::sync::Arc;
use world::{StartError, World};

pub(crate) struct Workload {
    /// The processes that were started, with their names.
    pub started: Vec<(Pid, String)>,
    /// Their gates, and how they are expected to end.
    pub services: Vec<Started>,
    /// Variables that users name.
    pub points: Points,
    /// Propositions that must never be true.
    pub forbidden: Forbidden,
    /// Formulas that every run has to satisfy.
    pub formulas: Vec<Formula>,
    /// Programs outside of the search that answer it.
    pub peers: Vec<Arc<dyn Outside>>,
    /// Where they are, in the same order.
    pub shapes: Vec<Shape>,
    /// Faults that may happen.
    pub faults: PlacedFaults,
    pub options: Options,
}

impl Workload {
    /// Loads services into a world.
    pub fn start(world: &mut World, all: &[Service], options: Options) -> Result<Self, StartError> {
        let (mut started, mut services) = (Vec::new(), Vec::new());
        for service in all {
            let tid = world.start(&service.command)?;
            let pid = world.kernel.threads.get(&tid).expect("just started").pid;
            let own = world.kernel.processes.get(&pid).map_or_else(String::new, |process| process.name.clone());
            started.push((pid, if service.name.is_empty() { own } else { service.name.clone() }));
            let (command, after) = (service.command.clone(), service.after.clone());
            services.push(Started { pid, command, after, expected: service.expected });
        }
        number_replicas(&mut started);
        let directory = all.first().map_or_else(Vec::new, |service| service.command.directory.clone());
        let forbidden = Forbidden::new(DebugInfo::new(world.kernel.host.clone()), directory);
        let faults = PlacedFaults::new(&options.faults, &started);
        Ok(Self {
            started,
            services,
            points: Points::default(),
            forbidden,
            formulas: Vec::new(),
            peers: Vec::new(),
            shapes: Vec::new(),
            faults,
            options,
        })
    }

    /// The same for another worker.
    pub fn for_worker(&self, host: Host) -> Self {
        Self {
            started: self.started.clone(),
            services: self.services.clone(),
            points: self.points.clone(),
            forbidden: self.forbidden.for_worker(host),
            formulas: self.formulas.clone(),
            peers: self.peers.clone(),
            shapes: self.shapes.clone(),
            faults: self.faults.clone(),
            options: self.options.clone(),
        }
    }

    /// How a started program is expected to end; nothing for its children.
    pub(crate) fn expected(&self, pid: Pid) -> Option<Expected> {
        self.services.iter().find(|service| service.pid == pid).map(|service| service.expected)
    }
}

/// Numbers programs of the same name: `name.1`, `name.2`.
fn number_replicas(started: &mut [(Pid, String)]) {
    let names: Vec<String> = started.iter().map(|(_, name)| name.clone()).collect();
    for (index, (_, name)) in started.iter_mut().enumerate() {
        if names.iter().filter(|other| **other == *name).count() > 1 {
            let before = names[..index].iter().filter(|other| **other == *name).count();
            *name = format!("{name}.{}", before + 1);
        }
    }
}
