//! Peers of a check: what is started for each, and where users have written it.
//!
//! A peer is started once, before the search, and its answers are recorded (docs/peers.md). What
//! the user says for all peers on the command line wins over what is said for one in the file.

use super::config::FILE;
use super::machines::Machines;
use super::peer_setup::PeerSetup;
use super::setup::{Setup, base_environment, homes, not_started, program_file};
use crate::options::{Options, PEER_HELP, Spec, UserName, ViewOptions};
use ::peer::Shape;
use checker::{PeerProblem, PeerStart, Programs};
use kernel::host::Host;
use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use world::host::DeclaredRoots;
use world::{Command, StartError};

/// Peers, and the machines that they stand for.
#[derive(Default)]
pub struct Peers {
    /// The peers.
    pub all: Vec<PeerSetup>,
    /// The machines.
    pub machines: Machines,
}

/// Where peers are written: those of a check of the file in its sections, all others on the command line.
#[derive(Clone, Copy)]
pub struct Written<'a> {
    /// The check of the file, with its options.
    pub check: Option<(&'a str, &'a Options)>,
    /// The folder of the check.
    pub here: &'a Path,
}

impl Written<'_> {
    /// What is started for the peers. What is said for all of them is said for each.
    pub fn peers(self, view: &ViewOptions) -> Result<Peers, String> {
        if let Some(flag) = only_for_peers(view).filter(|_| view.peer.is_empty()) {
            return Err(format!("`{flag}` is for peers, and the check has none\n  = help: {PEER_HELP}"));
        }
        let mut peers = Peers::default();
        let mut names = BTreeSet::new();
        for spec in &view.peer {
            let written = self.place(spec);
            let (outside, checkpoint) = (view.outside.or(spec.outside), view.checkpoint.or(spec.checkpoint));
            let strict = if view.strict { Some(true) } else { spec.strict };
            let connections = view.connections.or(spec.connections);
            let spec = Spec { outside, checkpoint, strict, connections, ..spec.clone() };
            if let Some(why) = spec.refused() {
                return Err(format!("{written}: {why}"));
            }
            if !names.insert(spec.name.clone()) {
                return Err(format!(
                    "{written}: two peers are called `{}`\n  = help: give each a name of its own",
                    spec.name
                ));
            }
            let shape = shape(&spec, &mut peers.machines).expect("what is refused is not started");
            // `7000` and `localhost:7000` are one place.
            if let (Shape::Listens(_), Some(place)) = (&shape, &spec.listens)
                && peers.all.iter().any(|other| other.shape == shape)
            {
                return Err(format!("{written}: two peers listen on {place}\n  = help: give each a port of its own"));
            }
            let command = self.command(&spec).map_err(|why| format!("{written}: {why}"))?;
            peers.all.push(PeerSetup { command, shape, written, spec });
        }
        Ok(peers)
    }

    /// Where a peer is written.
    fn place(self, spec: &Spec) -> String {
        match self.check {
            Some((check, options)) if options.view.peer.contains(spec) => {
                format!("{FILE}: [check.{check}.peer.{}]", spec.name)
            }
            _ => "`--peer`".to_owned(),
        }
    }

    fn command(self, spec: &Spec) -> Result<Command, String> {
        let bind_now = [("LD_BIND_NOW".to_owned(), "1".to_owned())];
        let settings = spec.environment.iter().map(|(name, value)| (name.clone(), value.clone()));
        let folder = spec.working_dir.as_ref().map_or_else(|| self.here.to_owned(), |folder| self.here.join(folder));
        Ok(Command {
            arguments: spec.command.iter().map(|word| word.clone().into_bytes()).collect(),
            environment: base_environment(bind_now.into_iter().chain(settings)),
            directory: folder.as_os_str().as_bytes().to_vec(),
            user: spec.user.as_ref().map(UserName::find).transpose()?,
        })
    }
}

/// Starts a peer. It sees of the host what the programs see, and its own folder.
///
/// # Errors Why it cannot be started, with the place where it was written, for a peer may come from
/// a flag or from a file.
pub fn start(peer: &PeerSetup, programs: &mut Programs, setup: &Setup) -> Result<(), String> {
    let own = program_file(&peer.command);
    let folder = own.as_ref().and_then(|file| file.parent()).filter(|folder| *folder != Path::new("/"));
    let roots: Vec<PathBuf> = setup.roots.iter().cloned().chain(folder.map(Path::to_owned)).collect();
    let named = setup.named.iter().cloned().chain(own.clone()).collect();
    let homes = homes(&roots);
    // To itself a peer is on the local machine, whatever its name.
    let host = setup.machines.clone().local().told_by(DeclaredRoots::private(roots, named, homes));
    let start = PeerStart {
        name: peer.spec.name.clone(),
        shape: peer.shape.clone(),
        command: peer.command.clone(),
        runs: peer.spec.runs(),
        terms: peer.spec.terms().expect("what is refused is not started"),
        host: Host(Arc::new(host)),
    };
    programs.start_peer(&start).map_err(|problem| match problem {
        PeerProblem::NotStarted(error) => format!("{}: {}", peer.written, peer_not_started(&error)),
        PeerProblem::Trouble(why) => format!("{}: {why}", peer.written),
        PeerProblem::Stopped => format!("stopped before peer `{}` was ready", peer.spec.name),
    })
}

/// An option that says something of all peers, if one is given.
fn only_for_peers(view: &ViewOptions) -> Option<&'static str> {
    let given = [
        ("--outside", view.outside.is_some()),
        ("--checkpoint", view.checkpoint.is_some()),
        ("--strict", view.strict),
        ("--connections", view.connections.is_some()),
    ];
    given.into_iter().find(|(_, is_given)| *is_given).map(|(flag, _)| flag)
}

/// Why a peer cannot be started: its variables are those of its section.
pub fn peer_not_started(error: &StartError) -> String {
    match error {
        StartError::NotFound(name) => {
            let name = String::from_utf8_lossy(name);
            format!(
                "no program `{name}` in PATH\n  = help: give its path (./{name}), or a PATH: environment = {{ PATH = \"...\" }}"
            )
        }
        error => not_started(error),
    }
}

/// Where a peer listens, or connects to.
fn shape(spec: &Spec, machines: &mut Machines) -> Option<Shape> {
    let listens = spec.listens.as_ref().map(|address| Shape::Listens(machines.find(address)));
    listens.or_else(|| spec.connects.as_ref()?.local_port().map(Shape::Connects))
}
