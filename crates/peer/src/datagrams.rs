//! Datagrams of a server in a world of its own.

use crate::{Address, Datagram, Heard, Shape, Trouble};
use kernel::net::far::PeerId;
use kernel::net::far_flows;
use kernel::{Id, Kernel};

/// The first port that datagrams of the search come from.
const FIRST_PORT: u16 = 20_000;

/// A datagram of the search comes to a server; each flow has a port of its own.
pub(crate) fn receive(kernel: &mut Kernel, end: Id, (flow, bytes): (Id, &[u8]), shape: &Shape, heard: &mut Heard) {
    let Shape::Listens(Address::Udp(_, port)) = shape else { return };
    let source = FIRST_PORT + heard.datagrams.len() as u16;
    let answers = heard.datagrams.entry(flow).or_default();
    if !kernel.net.far.ends.contains_key(&end) {
        far_flows::open(kernel, (end, PeerId(0)), source);
    }
    if !far_flows::arrive(kernel, end, *port, bytes) {
        answers.push(Datagram::Unreachable);
    }
}

/// Adds a datagram to what was heard. One that comes from elsewhere than where its sender listens is not modelled.
pub(crate) fn hear(heard: &mut Heard, flow: Id, (from, bytes): (u16, Vec<u8>), shape: &Shape) -> Result<(), Trouble> {
    if let Shape::Listens(Address::Udp(_, port)) = shape
        && *port != from
    {
        return Err(Trouble::Fails(format!(
            "it listens on UDP port {port} and answers from {from}: answers from another port are not modelled"
        )));
    }
    heard.datagrams.entry(flow).or_default().push(Datagram::Bytes(bytes.into()));
    Ok(())
}
