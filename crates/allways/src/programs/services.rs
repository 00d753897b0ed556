//! From a check in `allways.toml` to services.

use super::config::{Check, Condition, FinalState, Moment, ServiceConfig};
use super::record::gate;
use super::setup::{Setup, base_environment, base_roots, program_files};
use crate::careful;
use crate::options::UserName;
use checker::{Expected, Gate, Service};
use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use trace::similar;
use world::Command;

/// Programs that one check starts at most: the search tells no more threads apart.
pub const SERVICES_MAX: usize = 128;

/// What a check starts.
pub fn setup(name: &str, check: &Check, here: &Path) -> Result<Setup, String> {
    if check.service.is_empty() {
        return Err(format!(
            "check `{name}` starts nothing\n  = help: [check.{name}.service.NAME] with a `command`, or `model`"
        ));
    }
    let mut services = Vec::new();
    for (own, config) in in_order(&check.service)? {
        services.extend(replicas(own, config, &check.service, here)?);
    }
    if services.len() > SERVICES_MAX {
        return Err(format!(
            "check `{name}` starts {} programs: at most {SERVICES_MAX} can be searched",
            services.len()
        ));
    }
    let mut named = Vec::new();
    for path in &check.files {
        let real = std::fs::canonicalize(here.join(path))
            .map_err(|error| format!("cannot use `{}` of `files`: {error}", path.display()))?;
        named.push(real);
    }
    let roots = base_roots(here).into_iter().chain(named.iter().cloned()).collect();
    named.extend(program_files(&services));
    let stdin = stdin(&check.service, here)?;
    Ok(Setup { services, roots, named, stdin, ..Setup::default() })
}

/// Services after those that they depend on.
fn in_order(all: &BTreeMap<String, ServiceConfig>) -> Result<Vec<(&String, &ServiceConfig)>, String> {
    let mut order: Vec<(&String, &ServiceConfig)> = Vec::new();
    while order.len() < all.len() {
        let is_placed = |name: &String| order.iter().any(|(placed, _)| *placed == name);
        let is_ready = |config: &ServiceConfig| {
            config.depends_on.all().iter().all(|(name, _)| is_placed(name) || !all.contains_key(name))
        };
        match all.iter().find(|(name, config)| !is_placed(name) && is_ready(config)) {
            Some(next) => order.push(next),
            None => return Err("services depend on each other in a circle".to_owned()),
        }
    }
    Ok(order)
}

/// One service, or several with numbers.
fn replicas(
    name: &str,
    config: &ServiceConfig,
    all: &BTreeMap<String, ServiceConfig>,
    here: &Path,
) -> Result<Vec<Service>, String> {
    if config.command.is_empty() {
        return Err(format!("service `{name}` has no command\n  = help: command = [\"./program\", \"argument\"]"));
    }
    let directory = config.working_dir.as_ref().map_or_else(|| here.to_owned(), |folder| here.join(folder));
    let user = config.user.as_ref().map(UserName::find).transpose();
    let command = Command {
        arguments: config.command.iter().map(|word| word.clone().into_bytes()).collect(),
        environment: base_environment(config.environment.iter().map(|(name, value)| (name.clone(), value.clone()))),
        directory: directory.as_os_str().as_bytes().to_vec(),
        user: user.map_err(|why| format!("service `{name}`: {why}"))?,
    };
    let after = gates(name, config, all)?;
    let expected = expected(name, config.expected_final_state.as_ref())?;
    let service = |name: String| Service { name, command: command.clone(), after: after.clone(), expected };
    Ok(match config.replicas {
        None => vec![service(name.to_owned())],
        Some(count) if count > SERVICES_MAX => {
            return Err(format!(
                "service `{name}`: {count} replicas are too many\n  = help: a check starts at most {SERVICES_MAX} programs"
            ));
        }
        Some(count) => (1..=count).map(|number| service(format!("{name}.{number}"))).collect(),
    })
}

fn gates(name: &str, config: &ServiceConfig, all: &BTreeMap<String, ServiceConfig>) -> Result<Vec<Gate>, String> {
    let mut gates: Vec<Gate> = config.after.iter().map(|Moment::Crash| Gate::PowerLoss).collect();
    for (on, condition) in config.depends_on.all() {
        let Some(other) = all.get(&on) else {
            let hint = similar::hint(&on, all.keys().map(String::as_str));
            return Err(format!("service `{name}` depends on `{on}`, which is not there{hint}"));
        };
        match condition {
            Condition::Started => {}
            Condition::Healthy => gates.push(health(&on, other)?),
            Condition::Completed => match other.replicas {
                None => gates.push(Gate::Succeeded(on)),
                Some(count) => gates.extend((1..=count).map(|number| Gate::Succeeded(format!("{on}.{number}")))),
            },
        }
    }
    Ok(gates)
}

fn health(name: &str, config: &ServiceConfig) -> Result<Gate, String> {
    let help =
        "  = help: healthcheck = { test = \"listening:7000\" }, the path of a Unix socket, or \"bound:7000\" for UDP";
    let Some(check) = &config.healthcheck else { return Err(format!("service `{name}` has no health check\n{help}")) };
    let known = gate(&check.test).filter(|gate| !matches!(gate, Gate::Succeeded(_)));
    known.ok_or_else(|| format!("`{}` is no health check that is known\n{help}", check.test))
}

fn expected(name: &str, state: Option<&FinalState>) -> Result<Expected, String> {
    match state {
        None => Ok(Expected::Success),
        Some(FinalState::Code(code)) => Ok(Expected::Code(*code)),
        Some(FinalState::Word(word)) => match word.as_str() {
            "exited" => Ok(Expected::Success),
            "running" => Ok(Expected::Running),
            "idle" => Ok(Expected::Idle),
            "any" => Ok(Expected::Any),
            other => Err(format!(
                "service `{name}`: `{other}` is no final state\n  = help: expected_final_state is \"exited\", \"idle\", \"running\", \"any\" or an exit code"
            )),
        },
    }
}

/// There is one standard input for all.
fn stdin(all: &BTreeMap<String, ServiceConfig>, here: &Path) -> Result<Vec<u8>, String> {
    let files: Vec<_> = all.values().filter_map(|config| config.stdin.as_ref()).collect();
    match files.as_slice() {
        [] => Ok(Vec::new()),
        [file] => {
            careful::input(&here.join(file)).map_err(|error| format!("cannot read `{}`: {error}", file.display()))
        }
        _ => Err("only one service can have `stdin` for now".to_owned()),
    }
}
