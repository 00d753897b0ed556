//! What is needed to execute programs again, exactly as they were executed.

use crate::{Choice, HostRef, PeerRef};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Programs, their world, and what a search had learnt of them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ProgramsRef {
    /// What was started.
    pub services: Vec<ServiceRef>,
    /// Folders and files of the host that guests could read.
    pub roots: Vec<String>,
    /// What they read as standard input.
    pub stdin: Vec<u8>,
    /// Executables and libraries, with fingerprints of their contents.
    pub files: Vec<FileRef>,
    /// How deep into the C library steps look: `summary`, `real`.
    pub libc: String,
    /// How often a timed wait may end while somebody can move.
    pub timeouts: u32,
    /// Kinds of failures that ended runs.
    pub checks: Vec<String>,
    /// How else the programs were looked at, where that is not as usual, by the name of the option: it decides where steps
    /// begin and end, and what tells states apart. Only who executes them again has to know the names.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub view: Map<String, Value>,
    /// Propositions that must never be true.
    pub never: Vec<String>,
    /// Peers, as they behaved along the schedule.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<PeerRef>,
    /// Machines that peers stood for, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostRef>,
    /// What decides where steps begin and end.
    pub knowledge: KnowledgeRef,
    /// The two accesses of a race, which come next after the schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub race: Option<RaceRef>,
    /// What stands for the state at the end, in hexadecimal.
    pub end: String,
    /// The schedule was not executed again before it was reported: there was no time left.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unconfirmed: bool,
}

/// A program that was started.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ServiceRef {
    /// Its name, if it has another than its command.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Program and arguments.
    pub arguments: Vec<String>,
    /// Environment, as `NAME=value`.
    pub environment: Vec<String>,
    /// Working directory.
    pub directory: String,
    /// What it waits for before it starts: `listening:7000`, `succeeded:setup`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// How it is expected to end: `running`, `any`, an exit code; with exit code 0 if nothing is said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub expected: String,
    /// As whom it runs; the superuser if nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserRef>,
}

/// As whom a service runs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct UserRef {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// Supplementary groups.
    pub groups: Vec<u32>,
}

/// A file that guests mapped.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct FileRef {
    /// Where it is.
    pub path: String,
    /// What stands for its content.
    pub fingerprint: String,
}

/// What a search had learnt of memory: where threads stop, and what others can notice.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct KnowledgeRef {
    /// Words at which threads stop: address space and address.
    pub promoted: Vec<(u64, u64)>,
    /// Threads whose stacks others use.
    pub exposed: Vec<u32>,
    /// Parts of memory that are written.
    pub written: Vec<u64>,
    /// Words that are used byte by byte.
    pub bytewise: Vec<u64>,
    /// Words that programs use, and libraries where threads come and go: what is done there can be noticed. It decides at which
    /// step a block is given back that another thread has freed.
    #[serde(default)]
    pub outside: Vec<u64>,
    /// Ranges whose mapping changes while several threads use them: address space, first address, end.
    #[serde(default)]
    pub remapped: Vec<(u64, u64, u64)>,
    /// Ranges whose content is taken away while several threads use them.
    #[serde(default)]
    pub discarded: Vec<(u64, u64, u64)>,
    /// Whether functions of standard input and output are executed as they stand.
    #[serde(default)]
    pub stdio: bool,
    /// Whether a process sets the limits of another.
    #[serde(default)]
    pub limits: bool,
    /// Whether threads are sent signals by others.
    #[serde(default)]
    pub signals: bool,
    /// Whether somebody sets the real-time clock while others exist.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clock: bool,
    /// Whether stores to words at which threads stop wait in store buffers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub buffers: bool,
    /// Words that handlers of signals read: address space and address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_by_handlers: Vec<(u64, u64)>,
    /// Locks that others than their holders release or overwrite.
    #[serde(default)]
    pub broken: Vec<u64>,
    /// Locks that threads find held, and go on.
    #[serde(default)]
    pub observed: Vec<u64>,
}

/// Two accesses that can happen at the same time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RaceRef {
    /// The word.
    pub object: u64,
    /// Who makes one, and whether it writes.
    pub one: (Choice, bool),
    /// Who makes the other.
    pub other: (Choice, bool),
}
