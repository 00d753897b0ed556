//! What is started, with which environment, and what of the host it can see.
//!
//! **Invariant:** a check reads nothing of the host but declared roots, a fixed environment, and
//! standard input from a file. What could differ from machine to machine or from minute to minute
//! (the user's environment, the real clock, the network) is not there: a verdict must not depend on
//! who asks.

use super::machines::Machines;
use super::peer_setup::PeerSetup;
use crate::careful;
use crate::output::Output;
use crate::words;
use crate::world_args::WorldArgs;
use checker::{Gate, Service};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use world::host::{DeclaredRoots, SYSTEM_ROOTS};
use world::load::LoadError;
use world::load::elf::ElfError;
use world::{Command, StartError};

/// Variables that programs are given unless `--env` says otherwise: the same on every machine.
///
/// No `USER`, no `TERM`: a program that needs one gets it by `--env`.
const ENVIRONMENT: &[(&str, &str)] =
    &[("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"), ("HOME", "/tmp"), ("LANG", "C.UTF-8"), ("TZ", "UTC")];

/// What is started.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Setup {
    /// Programs with their arguments, names and what they wait for.
    pub services: Vec<Service>,
    /// Folders and files of the host that they can read.
    pub roots: Vec<PathBuf>,
    /// Those of them that the user has named, and the programs themselves: what is private in them is seen, too.
    pub named: Vec<PathBuf>,
    /// What they read as standard input.
    pub stdin: Vec<u8>,
    /// Programs that answer them, and are not searched.
    pub peers: Vec<PeerSetup>,
    /// Machines that those stand for.
    pub machines: Machines,
    /// Whether a trial run shows which of the programs are services: nobody has said it.
    pub has_trial: bool,
    /// The programs that listened in it.
    pub listeners: Vec<Listener>,
}

/// A program that listens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listener {
    /// Which of the programs.
    pub index: usize,
    /// Where it listens.
    pub at: Vec<Gate>,
    /// Whether it ended by itself.
    pub ends: bool,
}

impl Setup {
    /// As the command line says.
    pub fn new(args: &WorldArgs) -> Result<Self, String> {
        let here = std::env::current_dir().map_err(|error| format!("cannot find the working directory: {error}"))?;
        let commands = commands(&args.command, &here, &args.env)?;
        let services: Vec<Service> = commands.into_iter().map(Service::new).collect();
        let named = named_roots(&args.root)?;
        let roots = roots(args, &here, &named);
        let named = named.into_iter().chain(program_files(&services)).collect();
        let stdin = match &args.stdin {
            None => Vec::new(),
            Some(path) => careful::input(path).map_err(|error| format!("cannot read `{}`: {error}", path.display()))?,
        };
        Ok(Self { services, roots, named, stdin, has_trial: true, ..Self::default() })
    }

    /// With commands that start when power has failed. They work where the first program does, with its environment.
    pub fn recovered_by(mut self, commands: &[String]) -> Result<Self, String> {
        for text in commands {
            let words = words::split(text).filter(|words| !words.is_empty());
            let words = words.ok_or_else(|| format!("`--recover {text}` is no command"))?;
            let first = self.services.first().map(|service| service.command.clone());
            let first = first.ok_or("`--recover` is for programs: allways check --recover COMMAND -- CMD")?;
            let arguments = words.into_iter().map(String::into_bytes).collect();
            let service = Service::new(Command { arguments, ..first });
            self.named.extend(program_file(&service.command));
            self.services.push(Service { after: vec![Gate::PowerLoss], ..service });
        }
        Ok(self)
    }

    /// The host, as far as the programs can see it.
    pub fn host(&self) -> Arc<DeclaredRoots> {
        let seen = DeclaredRoots::private(self.roots.clone(), self.named.clone(), homes(&self.roots));
        Arc::new(self.machines.told_by(seen))
    }

    /// The folder that the first program works in: paths below it are shown without it.
    pub fn folder(&self) -> String {
        let directory = self.services.first().map_or(&[][..], |service| &service.command.directory);
        String::from_utf8_lossy(directory).into_owned()
    }

    /// Commands as a shell would take them.
    pub fn command_lines(&self) -> Vec<String> {
        let word = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
        let line = |service: &Service| service.command.arguments.iter().map(word).collect::<Vec<_>>().join(" ");
        self.services.iter().map(line).collect()
    }

    /// Gives every program a variable that it has no value for.
    pub fn set_default(&mut self, name: &str, value: &str) {
        let start = format!("{name}=");
        for command in self.services.iter_mut().map(|service| &mut service.command) {
            if !command.environment.iter().any(|setting| setting.starts_with(start.as_bytes())) {
                command.environment.push(format!("{name}={value}").into_bytes());
            }
        }
    }
}

/// Commands, separated by `+`.
fn commands(words: &[OsString], here: &Path, env: &[String]) -> Result<Vec<Command>, String> {
    let command = |words: &[OsString]| {
        if words.first().is_none_or(|word| word.is_empty()) {
            return Err(
                "a command is missing\n  = help: `+` stands between commands: ./server 7000 + ./client".to_owned()
            );
        }
        Ok(Command {
            arguments: words.iter().map(|word| word.as_bytes().to_vec()).collect(),
            environment: environment(env)?,
            directory: here.as_os_str().as_bytes().to_vec(),
            user: None,
        })
    };
    words.split(|word| word == "+").map(command).collect()
}

fn environment(env: &[String]) -> Result<Vec<Vec<u8>>, String> {
    let mut settings = Vec::new();
    for setting in env {
        let (name, value) = setting.split_once('=').ok_or_else(|| {
            format!("`--env {setting}` has no value\n  = help: --env NAME=VALUE; nothing of your own environment is passed on")
        })?;
        settings.push((name.to_owned(), value.to_owned()));
    }
    Ok(base_environment(settings.into_iter()))
}

/// The usual variables, and these.
pub fn base_environment(settings: impl Iterator<Item = (String, String)>) -> Vec<Vec<u8>> {
    let mut variables: Vec<(String, String)> =
        ENVIRONMENT.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    for (name, value) in settings {
        variables.retain(|(known, _)| *known != name);
        variables.push((name, value));
    }
    variables.into_iter().map(|(name, value)| format!("{name}={value}").into_bytes()).collect()
}

/// What of the host every guest may read: the system and the working directory.
pub fn base_roots(here: &Path) -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> = SYSTEM_ROOTS.iter().map(Into::into).collect();
    roots.push(here.to_owned());
    roots
}

/// What of the host the guests may read: besides, the programs' own folders, and `--root`.
fn roots(args: &WorldArgs, here: &Path, named: &[PathBuf]) -> Vec<PathBuf> {
    let mut roots = base_roots(here);
    let programs = args.command.split(|word| word == "+").filter_map(|words| words.first());
    let folders = programs.map(Path::new).filter(|path| path.is_absolute()).filter_map(Path::parent);
    roots.extend(folders.filter(|folder| *folder != Path::new("/")).map(Path::to_owned));
    roots.extend(named.iter().cloned());
    roots
}

/// What `--root` names.
pub fn named_roots(given: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let real = |root: &PathBuf| {
        std::fs::canonicalize(root).map_err(|error| format!("cannot use `--root {}`: {error}", root.display()))
    };
    given.iter().map(real).collect()
}

/// The programs themselves, where commands name them by their paths.
pub fn program_files(services: &[Service]) -> Vec<PathBuf> {
    services.iter().filter_map(|service| program_file(&service.command)).collect()
}

/// The program of a command, where that names it by its path.
pub fn program_file(command: &Command) -> Option<PathBuf> {
    let name = Path::new(OsStr::from_bytes(command.arguments.first()?));
    let folder = Path::new(OsStr::from_bytes(&command.directory));
    (name.components().count() > 1).then(|| std::fs::canonicalize(folder.join(name)).ok()).flatten()
}

/// Folders of people: what is private in them is not shown to programs unless it is named.
pub fn homes(roots: &[PathBuf]) -> Vec<PathBuf> {
    let own = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.components().count() > 1);
    let below_home = roots.iter().filter_map(|root| {
        let name = root.strip_prefix("/home").ok()?.iter().next()?;
        Some(Path::new("/home").join(name))
    });
    own.into_iter().chain([PathBuf::from("/root")]).chain(below_home).collect()
}

/// Says what was not shown to programs.
pub fn tell_hidden(host: &DeclaredRoots, output: &Output) {
    let hidden = host.hidden();
    let Some(first) = hidden.first() else { return };
    let more = if hidden.len() > 1 { format!(" and {} more", hidden.len() - 1) } else { String::new() };
    output.note(&format!(
        "note: private files were not shown to the program: {}{more}\n  = help: --root {} shows them",
        first.display(),
        first.parent().unwrap_or(first).display()
    ));
}

/// Why a program could not be started, and what to do about it.
pub fn not_started(error: &StartError) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match error {
        StartError::NotFound(name) => {
            let name = text(name);
            format!("no program `{name}` in PATH\n  = help: give its path (./{name}), or --env PATH=...")
        }
        StartError::Directory(path, errno) => format!("cannot enter `{}`: {errno}", text(path)),
        StartError::Load(path, error) => {
            let path = text(path);
            if Path::new(&path).is_dir() {
                return format!("cannot run `{path}`: it is a directory\n  = help: name a program in it");
            }
            format!("cannot run `{path}`: {error}\n  = help: {}", start_help(error))
        }
    }
}

/// What to do about a program that cannot be started.
fn start_help(error: &LoadError) -> &'static str {
    match error {
        LoadError::Elf(ElfError::NotElf) => {
            "a script names its interpreter in its first line (#!/bin/sh), or is given to it: allways run -- sh FILE"
        }
        LoadError::Elf(_) | LoadError::Isa(_) => "programs for x86-64 Linux, up to x86-64-v2, can be run",
        LoadError::Errno(kernel::errno::EACCES) => "it must be a file that may be executed: chmod +x",
        LoadError::Interpreter(..) | LoadError::Errno(_) => {
            "guests see /usr, /lib, /bin, /etc, the working directory and what --root names"
        }
    }
}
