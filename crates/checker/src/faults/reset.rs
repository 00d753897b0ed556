//! TCP connections that are reset: one actor for each such fault, with an alternative for each connection.
//!
//! Something between the two ends has lost the connection: both get a reset. It conflicts with everything. Steps that open or
//! close connections write an object for which the actor waits while there is none.

use super::actors::connections_object;
use super::placed::PlacedFault;
use crate::footprint::access;
use crate::system::stepper::Stepper;
use crate::system::view::View;
use crate::system::workload::Workload;
use explore::graph::Access;
use kernel::{Id, Kernel, net};

impl Workload {
    /// The connections that a fault may reset: those of its programs.
    pub(super) fn connections(&self, fault: &PlacedFault, kernel: &Kernel) -> impl Iterator<Item = (Id, Id)> {
        let owner = |id: Id| kernel.net.sockets.get(&id).map(|socket| self.root(kernel, socket.identity.pid));
        kernel.net.connections().filter(move |(one, other)| fault.is_of(owner(*one)) || fault.is_of(owner(*other)))
    }
}

impl View<'_> {
    /// The connections that exist, where one may be reset.
    pub(crate) fn resettable(self) -> Vec<(Id, Id)> {
        let kernel = &self.state.world.kernel;
        if self.workload.faults.may_reset() { kernel.net.connections().collect() } else { Vec::new() }
    }

    /// The ends of the connection that a fault resets.
    pub(crate) fn connection_to_reset(self, fault: u16, index: u32) -> Option<(Id, Id)> {
        let fault = self.workload.faults.all.get(usize::from(fault))?;
        self.workload.connections(fault, &self.state.world.kernel).nth(index as usize)
    }
}

impl Stepper<'_> {
    /// Resets a connection; its accesses.
    pub(super) fn reset(&mut self, fault: u16, index: u32) -> Vec<Access> {
        if let Some((end, _)) = self.view().connection_to_reset(fault, index) {
            net::reset_connection(&mut self.state.world.kernel, end);
        }
        access::everything()
    }

    /// The access of a step that has opened or closed connections.
    pub(crate) fn connection_access(&mut self, before: &[(Id, Id)]) -> Option<Access> {
        let write = Access { object: connections_object(), write: true, plain: false };
        (self.view().resettable() != before).then_some(write)
    }
}
