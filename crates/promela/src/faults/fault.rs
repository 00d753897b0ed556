//! One fault: what kind, what it happens to, and what it is called.

use super::class::Class;
use crate::ir::{Pc, ProctypeId};

/// Something that may happen to a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Its name, of kind and component: `loss:ack`, `stop:server`, `irregular:state`.
    pub name: String,
    /// Its kind.
    pub class: Class,
    /// What it happens to.
    pub target: Target,
    /// Whether it is left out unless somebody asks for it by name.
    pub by_name: bool,
}

/// What a fault happens to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// Messages of a channel.
    Channel(Owner, usize),
    /// A process.
    Process(Who),
    /// A process, which goes to a label.
    Label(Who, Pc),
    /// A variable, any element of it if it is an array.
    Variable(Owner, usize),
}

/// To whom a channel or a variable belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Owner {
    /// The model: it is global.
    Model,
    /// Each process of a proctype.
    Proctype(ProctypeId),
}

impl Owner {
    /// The proctype, if it is one.
    #[must_use]
    pub fn proctype(self) -> Option<ProctypeId> {
        match self {
            Self::Model => None,
            Self::Proctype(number) => Some(number),
        }
    }

    /// The owner of what belongs to a proctype, or to none.
    #[must_use]
    pub fn of(proctype: Option<ProctypeId>) -> Self {
        proctype.map_or(Self::Model, Self::Proctype)
    }
}

/// One process, or each process of a proctype.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Who {
    /// The proctype.
    pub proctype: ProctypeId,
    /// The process; `None` for those that are started on the way, whose numbers nobody knows beforehand.
    pub pid: Option<u32>,
}

impl Fault {
    /// What follows the colon.
    #[must_use]
    pub fn component(&self) -> &str {
        self.name.split_once(':').map_or("", |(_, component)| component)
    }
}
