//! What a trial run found about services, told, and written out as `allways.toml` says it.

use super::record::gate_text;
use super::setup::{Listener, Setup};
use crate::output::Output;
use checker::{Expected, Gate, Service};
use std::fmt::Write;

/// One sentence for each program that listens.
pub fn services(setup: &Setup) -> Vec<String> {
    let names = names(&setup.services, ".");
    let told = |Listener { index, at, ends }: &Listener| {
        let (name, places) = (&names[*index], at.iter().map(place).collect::<Vec<_>>().join(" and "));
        match ends {
            true => format!("{name} listens on {places}; programs after it start then"),
            false => format!(
                "{name} is a service: listens on {places}; programs after it start then, and it may wait for requests at the end"
            ),
        }
    };
    setup.listeners.iter().map(told).collect()
}

/// Prints what to write into `allways.toml` to say the same.
pub fn tell(setup: &Setup, output: &Output) {
    if setup.listeners.is_empty() {
        return;
    }
    let file = file(&setup.services, &setup.listeners);
    let lines = file.lines().fold(String::new(), |text, line| text + "\n    " + line);
    output.note(&format!(
        "note: which programs are services was seen in a trial run\n  = help: to say it yourself, in allways.toml:{lines}"
    ));
}

fn place(gate: &Gate) -> String {
    match gate {
        Gate::Listening(port) => port.to_string(),
        Gate::Bound(port) => format!("UDP port {port}"),
        Gate::ListeningOn(address) => address.to_string(),
        Gate::ListeningAt(path) | Gate::Succeeded(path) => path.clone(),
        Gate::PowerLoss => "crash".to_owned(),
    }
}

/// Programs by the names of their files; those of the same name are numbered, behind a separator.
fn names(services: &[Service], separator: &str) -> Vec<String> {
    let own = |service: &Service| {
        let path = service.command.arguments.first().map_or(&[][..], |path| &path[..]);
        String::from_utf8_lossy(path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)).into_owned()
    };
    let all: Vec<String> = services.iter().map(own).collect();
    let number = |(index, name): (usize, &String)| {
        let is_same = |other: &&String| *other == name;
        match all.iter().filter(is_same).count() {
            1 => name.clone(),
            _ => format!("{name}{separator}{}", all[..=index].iter().filter(is_same).count()),
        }
    };
    all.iter().enumerate().map(number).collect()
}

/// A check that says the same as the command line and the trial.
fn file(services: &[Service], listeners: &[Listener]) -> String {
    let names = names(services, "");
    let mut text = String::new();
    for (index, service) in services.iter().enumerate() {
        let words = service.command.arguments.iter().map(|word| quoted(&String::from_utf8_lossy(word)));
        let _ = writeln!(text, "[check.main.service.{}]", key(&names[index]));
        let _ = writeln!(text, "command = [{}]", words.collect::<Vec<_>>().join(", "));
        // A service has one health check: where it listened last.
        let gate = listeners.iter().find(|listener| listener.index == index).and_then(|listener| listener.at.last());
        if let Some(gate) = gate {
            let _ = writeln!(text, "healthcheck = {{ test = {} }}", quoted(&gate_text(gate)));
        }
        if service.expected == Expected::Idle {
            let _ = writeln!(text, "expected_final_state = \"idle\"");
        }
        let earlier = listeners.iter().filter(|listener| listener.index < index);
        let on =
            earlier.map(|listener| format!("{} = {{ condition = \"service_healthy\" }}", key(&names[listener.index])));
        let on: Vec<String> = on.collect();
        if !on.is_empty() {
            let _ = writeln!(text, "depends_on = {{ {} }}", on.join(", "));
        }
    }
    text
}

/// A key of TOML: bare, if it may be.
fn key(name: &str) -> String {
    let is_bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if is_bare { name.to_owned() } else { quoted(name) }
}

/// A string of TOML, which takes those of JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
