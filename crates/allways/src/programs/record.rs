//! What a counterexample keeps so that its programs can be executed again.

use super::request::Wanted;
use super::setup::Setup;
use super::view_ref::view_ref;
use crate::options::given;
use checker::narrate::Told;
use checker::{Depth, Expected, Gate, Programs, Service};
use trace::{Choice, FileRef, PeerRef, ProgramsRef, ServiceRef, UserRef};
use world::User;

/// Everything that a replay needs.
pub fn record(programs: &mut Programs, setup: &Setup, wanted: &Wanted, told: &Told) -> ProgramsRef {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let texts = |all: &[Vec<u8>]| all.iter().map(|bytes| text(bytes)).collect();
    let service = |service: &Service| ServiceRef {
        name: service.name.clone(),
        arguments: texts(&service.command.arguments),
        environment: texts(&service.command.environment),
        directory: text(&service.command.directory),
        after: service.after.iter().map(gate_text).collect(),
        expected: expected_text(service.expected),
        user: service.command.user.as_ref().map(user_ref),
    };
    let choices: Vec<Choice> = told.trace.steps.iter().map(|step| step.choice).collect();
    ProgramsRef {
        services: setup.services.iter().map(service).collect(),
        roots: setup.roots.iter().map(|root| root.display().to_string()).collect(),
        stdin: setup.stdin.clone(),
        files: programs.files().iter().map(|(path, fingerprint)| file(path, fingerprint)).collect(),
        libc: if programs.depth() == Depth::Real { "real" } else { "summary" }.to_owned(),
        timeouts: wanted.view.timeouts(),
        view: view_ref(&wanted.view, wanted.awaits()),
        checks: wanted.kinds().iter().map(|kind| kind.name().to_owned()).collect(),
        never: wanted.view.never.clone(),
        peers: programs.conversations(&choices).into_iter().map(|peer| written(peer, setup)).collect(),
        hosts: setup.machines.record(),
        knowledge: programs.learnt(),
        race: None,
        end: format!("{:032x}", told.fingerprint),
        is_unconfirmed: false,
    }
}

/// A peer, with how its user wrote it.
fn written(peer: PeerRef, setup: &Setup) -> PeerRef {
    let spec = setup.peers.iter().map(|peer| &peer.spec).find(|spec| spec.name == peer.name);
    PeerRef { spec: spec.map(given).unwrap_or_default(), ..peer }
}

fn user_ref(user: &User) -> UserRef {
    UserRef { uid: user.uid, gid: user.gid, groups: user.groups.clone() }
}

/// As whom a service runs, as the file has it.
pub fn user(user: &UserRef) -> User {
    User { uid: user.uid, gid: user.gid, groups: user.groups.clone() }
}

/// Starts when power has failed.
const POWER_LOSS: &str = "crash";

/// What a service waits for, for the file.
pub fn gate_text(gate: &Gate) -> String {
    match gate {
        Gate::Listening(port) => format!("listening:{port}"),
        Gate::ListeningOn(address) => format!("listening:{address}"),
        Gate::ListeningAt(path) => format!("listening:{path}"),
        Gate::Bound(port) => format!("bound:{port}"),
        Gate::Succeeded(name) => format!("succeeded:{name}"),
        Gate::PowerLoss => POWER_LOSS.to_owned(),
    }
}

/// What a service waits for, as the file has it.
pub fn gate(text: &str) -> Option<Gate> {
    if text == POWER_LOSS {
        return Some(Gate::PowerLoss);
    }
    let (kind, rest) = text.split_once(':')?;
    match kind {
        "listening" if rest.starts_with(['/', '.', '@']) => Some(Gate::ListeningAt(rest.to_owned())),
        "listening" => rest.parse().map(Gate::Listening).or_else(|_| rest.parse().map(Gate::ListeningOn)).ok(),
        "bound" => rest.parse().map(Gate::Bound).ok(),
        "succeeded" => Some(Gate::Succeeded(rest.to_owned())),
        _ => None,
    }
}

fn expected_text(expected: Expected) -> String {
    match expected {
        Expected::Success => String::new(),
        Expected::Running => "running".to_owned(),
        Expected::Idle => "idle".to_owned(),
        Expected::Code(code) => code.to_string(),
        Expected::Any => "any".to_owned(),
    }
}

/// How a service is expected to end, as the file has it.
pub fn expected(text: &str) -> Expected {
    match text {
        "running" => Expected::Running,
        "idle" => Expected::Idle,
        "any" => Expected::Any,
        code => code.parse().map_or(Expected::Success, Expected::Code),
    }
}

fn file(path: &str, fingerprint: &str) -> FileRef {
    FileRef { path: path.to_owned(), fingerprint: fingerprint.to_owned() }
}

/// A command as a shell would take it.
pub fn command_line(service: &ServiceRef) -> String {
    let quoted =
        |word: &String| match word.is_empty() || word.contains(|c: char| c.is_whitespace() || "'\"$\\*".contains(c)) {
            true => format!("'{}'", word.replace('\'', "'\\''")),
            false => word.clone(),
        };
    service.arguments.iter().map(quoted).collect::<Vec<_>>().join(" ")
}
