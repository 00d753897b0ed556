//! One run before the search, to see which programs listen, or have a UDP port of their choice: those are services.
//!
//! A client that connects before its server listens is refused, and a server that waits for requests at the end seems
//! stuck. Nobody means either by `./server 7000 + ./client`. So programs after one that listens start when it does, and
//! it may wait for requests at the end, unless it ended by itself in the trial. The others start at once and must end.

use super::setup::{Listener, Setup};
use checker::{Expected, Gate, Service};
use explore::Budget;
use kernel::host::Host;
use kernel::net::address::Name;
use memory::Limit;
use std::sync::Arc;
use world::host::DeclaredRoots;
use world::trial::Place;
use world::{Command, World, trial};

/// Finds the programs that listen, and lets those after each start when it does.
pub fn find_services(setup: &mut Setup, host: &Arc<DeclaredRoots>, limit: Limit, budget: &Budget) {
    let starting = setup.services.iter().filter(|service| starts(service)).count();
    if !setup.has_trial || starting < 2 || !setup.peers.is_empty() {
        return;
    }
    setup.listeners = listeners(setup, host, limit, budget);
    for Listener { index, at, ends } in &setup.listeners {
        if !ends {
            setup.services[*index].expected = Expected::Idle;
        }
        for service in setup.services[index + 1..].iter_mut().filter(|service| starts(service)) {
            service.after.extend(at.iter().cloned());
        }
    }
}

/// Whether a program starts while there is power.
fn starts(service: &Service) -> bool {
    !service.after.contains(&Gate::PowerLoss)
}

fn listeners(setup: &Setup, host: &Arc<DeclaredRoots>, limit: Limit, budget: &Budget) -> Vec<Listener> {
    let mut world = World::new(Host(host.clone()), 1, limit);
    world.kernel.input.bytes = setup.stdin.clone().into();
    // Those that start when power has failed come last.
    let commands: Vec<Command> =
        setup.services.iter().filter(|service| starts(service)).map(|service| service.command.clone()).collect();
    let found = trial::listeners(&mut world, &commands, &mut || budget.is_spent());
    let places: Vec<Place> = found.iter().flat_map(|listener| listener.at.clone()).collect();
    let gates = |at: &[Place]| at.iter().map(|place| gate(place, &places)).collect();
    found
        .iter()
        .map(|trial::Listener { index, at, ends }| Listener { index: *index, at: gates(at), ends: *ends })
        .collect()
}

/// The gate that a listener opens: its port, unless others listen on that port at other addresses.
fn gate(place: &Place, all: &[Place]) -> Gate {
    let name = match place {
        Place::Bound(port) => return Gate::Bound(*port),
        Place::Listening(name) => name,
    };
    match port(place) {
        Some(own) if all.iter().all(|other| other == place || port(other) != Some(own)) => Gate::Listening(own),
        _ => Gate::listening(name),
    }
}

/// The TCP port of a place.
fn port(place: &Place) -> Option<u16> {
    match place {
        Place::Listening(Name::Inet(endpoint)) => Some(endpoint.port),
        Place::Listening(Name::Path(..) | Name::Abstract(_)) | Place::Bound(_) => None,
    }
}
