//! What was said to peers along a schedule, and what they answered: a replay needs no peer.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A peer, as it behaved along a schedule.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PeerRef {
    /// Its name.
    pub name: String,
    /// The port behind which it was, or to which it connected.
    pub port: u16,
    /// Whether it connected to the port.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub connects: bool,
    /// The machine that it stood for, by its address; empty for the local machine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub machine: String,
    /// Whether it is a UDP port.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub udp: bool,
    /// Whether each connection had a conversation of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub independent: bool,
    /// How its answers are told apart, if they came in any order; empty if they have one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unordered: String,
    /// The path at which it listened, if that is a Unix socket.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// As its user wrote it, by key; it decides nothing when a schedule is executed again.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub spec: Map<String, Value>,
    /// Answers on each connection, as far as the schedule got.
    pub streams: Vec<StreamRef>,
    /// Answers to each flow of datagrams, as far as the schedule got.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub datagrams: Vec<DatagramsRef>,
    /// Places of the conversation that the schedule came to.
    pub places: Vec<PlaceRef>,
}

/// A machine that a peer stands for.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct HostRef {
    /// Its name.
    pub name: String,
    /// Its address.
    pub address: String,
}

/// All that a peer answered on a connection.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct StreamRef {
    /// The connection.
    pub connection: u64,
    /// The bytes, in hexadecimal.
    pub bytes: String,
}

/// All that a peer answered to a flow of datagrams.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DatagramsRef {
    /// The flow.
    pub flow: u64,
    /// Each answer in hexadecimal; nothing where nobody was there to receive.
    pub answers: Vec<Option<String>>,
}

/// A place of a conversation.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PlaceRef {
    /// Its fingerprint, in hexadecimal.
    pub place: String,
    /// How much was answered there on each connection, and how the connection had ended: `finished`, `closed`, `reset`.
    pub heard: Vec<HeardRef>,
    /// How many datagrams were answered there to each flow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub datagrams: Vec<CountRef>,
    /// Connections that it had opened itself, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opens: Vec<u64>,
    /// How what was said last contradicts what another schedule had said; empty if it does not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub contradiction: String,
}

/// How much was answered on a connection at a place.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct HeardRef {
    /// The connection.
    pub connection: u64,
    /// Bytes.
    pub length: usize,
    /// How it had ended; empty if it had not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub end: String,
}

/// How many datagrams were answered to a flow at a place.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct CountRef {
    /// The flow.
    pub flow: u64,
    /// Datagrams.
    pub count: usize,
}
