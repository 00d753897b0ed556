//! A system, models and programs alike, as `allways explore` serves it.
//!
//! What the explorer cannot know comes from here: how states are described, where sources are, how a schedule becomes a file that
//! `replay` reads. The address is data, on standard output, so that scripts can open it; all else goes to standard error.

use crate::evidence::Claim;
use crate::exit::Exit;
use crate::interrupt::on_interrupt;
use crate::output::Output;
use crate::saved::Saved;
use explore::Failure;
use explorer::{Describe, Session, Surroundings, serve};
use replay::Replayable;
use std::fmt::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::Ordering;
use trace::{
    Choice, Counterexample, FailureKind, Inventory, PropertyRef, Schedule, SystemRef, Trace, Variable, Waiting,
};

/// What a driven schedule is saved as.
pub type Driven<'a, R> = dyn FnMut(&mut R, &Schedule, Trace, Option<&Failure>) -> Result<Counterexample, String> + 'a;

/// What is explored.
pub struct Explored<'a, R: Replayable> {
    /// As the user named it.
    pub name: String,
    /// The schedule to begin with.
    pub choices: &'a [Choice],
    /// The text of a source file.
    pub source: &'a dyn Fn(&str) -> Option<String>,
    /// How schedules are saved.
    pub save: &'a mut Driven<'a, R>,
    /// Everything that has a name, with its value.
    pub variables: fn(&mut R, &R::State) -> Vec<Variable>,
    /// Who cannot go on, and why.
    pub waiting: fn(&mut R, &R::State) -> Vec<Waiting>,
    /// What a state holds beside them.
    pub inventory: fn(&mut R, &R::State) -> Inventory,
    /// Where to listen; anywhere if it is 0.
    pub port: u16,
}

impl<'a> Claim<'a> {
    /// What is claimed of a schedule that was taken by hand: no more than what was seen at its end. Where nothing went wrong it needs
    /// a kind all the same, and `is_driven` says that it means nothing.
    pub fn driven(system: &'a SystemRef, failure: Option<&Failure>) -> Self {
        let kind = failure.map_or(FailureKind::Never, |failure| failure.kind);
        let message = match failure {
            Some(failure) => format!("taken by hand, ends in {}: {}", failure.kind, failure.message),
            None => "taken by hand".to_owned(),
        };
        let property = PropertyRef { name: "driven".to_owned(), kind };
        Claim { system, property, message, fairness: false, location: None }
    }
}

/// Serves a system on the loopback interface until an interrupt.
pub fn explore_in_browser<R: Replayable>(system: &mut R, explored: Explored<'_, R>, output: &Output) -> Exit {
    let (listener, token) = match listener(explored.port) {
        Ok(found) => found,
        Err(why) => {
            output.error(&why);
            return Exit::Usage;
        }
    };
    let stop = on_interrupt();
    let address = listener.local_addr().map(|address| address.to_string()).unwrap_or_default();
    output.data(&format!("http://{address}/{token}/\n"));
    output.note("open this address in a browser on this machine; Ctrl-C ends it");
    let Explored { variables, waiting, inventory, .. } = explored;
    let describe = Describe { variables, waiting, inventory };
    let session = Session::new(system, describe);
    let driven = explored.save;
    let mut save = |system: &mut R, schedule: &Schedule, trace: Trace, failure: Option<&Failure>| {
        keep(Counterexample { is_driven: true, ..driven(system, schedule, trace, failure)? })
    };
    let surroundings = Surroundings {
        system: explored.name,
        token,
        source: explored.source,
        save: &mut save,
        stops: &|| stop.load(Ordering::Relaxed),
    };
    serve(session, explored.choices, listener, surroundings);
    Exit::Fine
}

/// Saves a schedule; gives the command that replays it.
///
/// Under the name that its choices give it: to save the same schedule twice leaves one file.
fn keep(mut driven: Counterexample) -> Result<String, String> {
    let saved = Saved::here();
    saved.name(&mut driven);
    saved.save(&driven)?;
    Ok(format!("allways replay {}", driven.id))
}

/// A port of this machine alone, and what its clients have to know.
///
/// Every user of the machine can connect to it, and so can every page that a browser on it shows: 128 random bits in the path keep
/// both out. They are no part of any state, so the kernel may draw them.
fn listener(port: u16) -> Result<(TcpListener, String), String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
        format!("cannot listen on port {port}: {error}\n  = help: another one: --port 0 takes one that is free")
    })?;
    let mut secret = [0; 16];
    rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty())
        .map_err(|error| format!("cannot draw a token: {error}"))?;
    let token = secret.iter().fold(String::new(), |mut token, byte| {
        let _ = write!(token, "{byte:02x}");
        token
    });
    Ok((listener, token))
}
