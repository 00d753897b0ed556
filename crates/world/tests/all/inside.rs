//! Runs a command on the host and inside a world, and compares what came out.
#![allow(dead_code)] // Every test file uses a part of it.

use kernel::Tid;
use kernel::descriptor::Console;
use kernel::host::Host;
use kernel::kernel::Output;
use memory::Limit;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command as NativeCommand, Stdio};
use std::sync::Arc;
use std::thread::JoinHandle;
use world::host::{DeclaredRoots, SYSTEM_ROOTS};
use world::run::{Audience, End, run};
use world::step::Observer;
use world::{Command, World};

/// What a command did, as far as its caller sees.
#[derive(Clone, PartialEq, Eq)]
pub struct Seen {
    pub output: Vec<u8>,
    pub errors: Vec<u8>,
    /// The exit code, or 128 and the signal.
    pub code: i32,
}

impl std::fmt::Debug for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = String::from_utf8_lossy;
        write!(f, "exit code {}\n{}--- errors\n{}", self.code, text(&self.output), text(&self.errors))
    }
}

/// The environment of both sides: nothing of the host's own.
pub const ENVIRONMENT: &[(&str, &str)] =
    &[("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"), ("HOME", "/tmp"), ("LC_ALL", "C"), ("TZ", "UTC")];

/// A folder for one test, empty at first.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    std::fs::canonicalize(folder).expect("it is there")
}

/// Runs a command on the host, as root: guests are.
pub fn native(arguments: &[&str], directory: &Path) -> Seen {
    let mut child = as_root(arguments)
        .env_clear()
        .envs(ENVIRONMENT.iter().copied())
        .current_dir(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap_or_else(|error| panic!("{} does not start on the host: {error}", arguments[0]));
    let output = read_aside(child.stdout.take().expect("it is a pipe"));
    let errors = read_aside(child.stderr.take().expect("it is a pipe"));
    let status = child.wait().expect("it ends");
    // What it left behind would keep the pipes open, and ports busy.
    let group = format!("-{}", child.id());
    let _ = NativeCommand::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    Seen { output: output.join().expect("it reads"), errors: errors.join().expect("it reads"), code }
}

/// The command with the limit of two minutes; in a user namespace of its own if we are not root ourselves.
fn as_root(arguments: &[&str]) -> NativeCommand {
    let mut command = NativeCommand::new("timeout");
    command.args(["--kill-after=1", "120"]);
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0);
    if !is_root {
        command.args(["unshare", "--map-root-user"]);
    }
    command.args(arguments);
    command
}

fn read_aside(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("a pipe can be read");
        bytes
    })
}

struct Listener(Seen);

impl Observer for Listener {
    fn begin(&mut self, _: &mut World, _: Tid, _: u64, _: &[u64; 6]) {}
    fn end(&mut self, _: &mut World, _: Tid, _: u64) {}
    fn signal(&mut self, _: &World, _: Tid, _: u8) {}
}

impl Audience for Listener {
    fn output(&mut self, output: &Output) {
        let to = if output.stream == Console::Error { &mut self.0.errors } else { &mut self.0.output };
        to.extend_from_slice(&output.bytes);
    }

    fn wants_to_stop(&mut self) -> bool {
        false
    }
}

/// An empty world that sees the system and `directory`.
pub fn world(directory: &Path) -> World {
    let mut roots: Vec<PathBuf> = SYSTEM_ROOTS.iter().map(Into::into).collect();
    roots.push(directory.to_owned());
    World::new(Host(Arc::new(DeclaredRoots::new(roots))), 1, Limit::default())
}

/// Commands, separated by `+`.
pub fn commands(arguments: &[&str], directory: &Path) -> Vec<Command> {
    let bytes = |text: &str| text.as_bytes().to_vec();
    let command = |arguments: &[&str]| Command {
        arguments: arguments.iter().map(|argument| bytes(argument)).collect(),
        environment: ENVIRONMENT.iter().map(|(name, value)| bytes(&format!("{name}={value}"))).collect(),
        directory: OsStr::as_bytes(directory.as_os_str()).to_vec(),
        user: None,
    };
    arguments.split(|argument| *argument == "+").map(command).collect()
}

/// Runs a command in a world; how it ended, and what it showed until then.
pub fn run_in(world: &mut World, arguments: &[&str], directory: &Path) -> (End, Seen) {
    let mut listener = Listener(Seen { output: Vec::new(), errors: Vec::new(), code: -1 });
    let end = run(world, &commands(arguments, directory), &mut listener);
    let mut seen = listener.0;
    seen.code = match &end {
        End::Ended(status) if status & 0x7f == 0 => status >> 8 & 0xff,
        End::Ended(status) => 128 + (status & 0x7f),
        _ => -1,
    };
    (end, seen)
}

/// Runs a command to its end inside a world that sees the system and `directory`.
pub fn inside(arguments: &[&str], directory: &Path) -> Seen {
    match run_in(&mut world(directory), arguments, directory) {
        (End::Ended(_), seen) => seen,
        (other, seen) => panic!("{arguments:?} inside: {other:#?}\nso far: {seen:?}"),
    }
}

/// Asserts that both sides show the same.
pub fn same(arguments: &[&str], directory: &Path) {
    // Inside first: a world leaves the host as it was.
    let inside = inside(arguments, directory);
    let native = native(arguments, directory);
    assert_eq!(inside, native, "inside (left) and native (right) differ for {arguments:?}");
}
