//! Peers: programs outside of the search that answer it.
//!
//! A peer is a function, not a connection: from all that was said to it, in order, to all that it has answered. The search asks
//! for the answers at a place of the conversation; whoever plays the peer goes back to the nearest place that it kept, and says
//! the rest again.
//!
//! **Invariant:** the same conversation has the same answers, however often and in whatever order they are asked for.
//!
//! Why not put the peer into the search: its own interleavings multiply the states, although one
//! schedule of a server that answers deterministically shows all that a client can see of it. Why
//! not replay recorded answers: requests differ between schedules, and a recording has no answer to
//! a request that was never made.
//!
//! Answers are cumulative streams (all bytes since the connection was opened), never increments:
//! what a search reads is a window into them, by how much was delivered so far.

mod checkpoint;
mod commands;
mod conversation;
mod costs;
mod datagrams;
mod difference;
mod endpoint;
mod framed;
mod framing;
mod hex;
mod ignore;
mod independent;
mod kept;
mod names;
mod native;
mod own_world;
mod pass_through;
mod recorded;
mod recorded_datagrams;
mod remote;
mod runs;
mod shape;
mod sleepers;
mod start_log;
mod strict;
mod terms;

pub use self::native::Native;
pub use ::native::{Clock, Role};
pub use checkpoint::{Price, Strategy};
pub use commands::{Commands, PLACE};
pub use framed::Framed;
pub use framing::{Framing, NAMES as FRAMINGS};
pub use ignore::Ignore;
pub use independent::Independent;
pub use kernel::net::far::End;
pub use own_world::OwnWorld;
pub use pass_through::PassThrough;
pub use recorded::{Recorded, record, recorded_shape};
pub use runs::Runs;
pub use shape::{Address, Shape};
pub use strict::Strict;
pub use terms::Terms;

use kernel::Id;
use kernel::net::far::{Place, Said};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Whether the search has to stop: a peer stops with it.
pub type Stop = Arc<dyn Fn() -> bool + Send + Sync>;

/// A peer, as the search asks it.
///
/// `after` is called for every step that says something and must be pure and cheap; `heard` may
/// start processes and wait, and is called only when a delivery is possible at all.
pub trait Outside: Send + Sync {
    /// Its name, for reports.
    fn name(&self) -> &str;

    /// Something is said at a place of the conversation; where that leads. Nothing is carried out.
    fn after(&self, place: Place, said: &Said) -> Place;

    /// All that the peer has answered at a place.
    ///
    /// # Errors
    /// If it cannot be asked: it does something that is not modelled, or never comes to rest.
    fn heard(&self, place: Place) -> Result<Arc<Heard>, Trouble>;

    /// What was carried out so far.
    fn traffic(&self) -> Traffic;

    /// Where it runs and what was carried out, in words.
    fn told(&self) -> String;

    /// How something that was said, and that leads to a place, contradicts what another schedule has said; nothing where that is
    /// no mistake.
    fn contradiction(&self, _place: Place) -> Option<String> {
        None
    }

    /// Makes all that schedules say where they were seen to differ a contradiction, what was said first too; or not any more.
    fn refuse_all_variants(&self, _is_all: bool) {}

    /// The contradictions of the two least texts at each position where schedules were seen to differ first.
    fn variants(&self) -> Vec<[String; 2]> {
        Vec::new()
    }

    /// How its answers are told apart, if they may come in any order.
    fn unordered(&self) -> Option<Framing> {
        None
    }

    /// Whether each connection has a conversation of its own.
    fn is_independent(&self) -> bool {
        false
    }

    /// Whether connections with conversations of their own are answered alike when they come together.
    ///
    /// # Errors
    /// If one of them is answered differently, or the peer cannot be asked.
    fn agree(&self, _places: &[(Id, Place)]) -> Result<(), Trouble> {
        Ok(())
    }

    /// Removes what it keeps on the host: it is not asked any more. A search that ends gives nothing else back.
    fn close(&self) {}

    /// How it has ended, in all orders that were asked for: `wait4(2)` statuses.
    fn statuses(&self) -> Vec<i32> {
        Vec::new()
    }
}

/// All that a peer has answered at a place, by connection.
///
/// **Invariant:** along a conversation streams only grow. A peer that takes something back has
/// answered differently.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Heard {
    /// Connections that it has opened itself, in order.
    pub opens: Vec<Id>,
    /// How it has ended, if it has: a `wait4(2)` status.
    pub ended: Option<i32>,
    /// Answers from the beginning of each connection.
    pub streams: BTreeMap<Id, Stream>,
    /// Answers to each flow of datagrams, in the order in which they were sent.
    pub datagrams: BTreeMap<Id, Vec<Datagram>>,
}

/// An answer to datagrams.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Datagram {
    /// A datagram.
    Bytes(Arc<[u8]>),
    /// Nobody was there to receive one (ICMP, port unreachable).
    Unreachable,
}

impl Datagram {
    /// What a program on the host has sent.
    fn of(answer: &::native::Datagram) -> Self {
        match answer {
            ::native::Datagram::Bytes(bytes) => Self::Bytes(bytes.as_slice().into()),
            ::native::Datagram::Unreachable => Self::Unreachable,
        }
    }

    /// What it carries.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Unreachable => None,
        }
    }
}

/// What a peer has sent on a connection since it was opened.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stream {
    /// The bytes.
    pub bytes: Arc<[u8]>,
    /// How it ended, if it did.
    pub end: Option<End>,
}

/// Why a peer cannot be asked.
///
/// `Fails` means that the peer does what is not modelled, `Inconclusive` that it is not a function:
/// both end the check without a verdict, with different advice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// The search has to stop.
    Stopped,
    /// It does something that is not modelled, never comes to rest, or was never told this.
    Fails(String),
    /// What it answers cannot be relied on, or does not come: nothing follows from it. The text names the peer.
    Inconclusive(String),
}

impl Trouble {
    /// The same, with the name of the peer.
    fn of(self, name: &str) -> Self {
        match self {
            Self::Stopped | Self::Inconclusive(_) => self,
            Self::Fails(why) => Self::Fails(format!("peer `{name}`: {why}")),
        }
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stopped => f.write_str("the search was stopped before its peer had answered"),
            Self::Fails(why) | Self::Inconclusive(why) => f.write_str(why),
        }
    }
}

/// What was carried out with a peer, and how long it took on the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traffic {
    /// Messages that were said to it, each counted once.
    pub messages: u64,
    /// Messages that were said again.
    pub replays: u64,
    /// States of it that were kept.
    pub saves: u64,
    /// Times that it went back to a state that was kept.
    pub restores: u64,
    /// Times that it began again.
    pub restarts: u64,
    /// Time for messages.
    pub message_time: Duration,
    /// Time for messages that were said again.
    pub replay_time: Duration,
    /// Time to keep states.
    pub save_time: Duration,
    /// Time to go back.
    pub restore_time: Duration,
}
