//! Runs a command on the host and inside a world, and compares what came out.

use kernel::Tid;
use kernel::descriptor::Console;
use kernel::host::Host;
use kernel::kernel::Output;
use memory::Limit;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command as NativeCommand, Stdio};
use std::sync::Arc;
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

/// Runs a command on the host.
pub fn native(arguments: &[&str], directory: &Path) -> Seen {
    let output = NativeCommand::new(arguments[0])
        .args(&arguments[1..])
        .env_clear()
        .envs(ENVIRONMENT.iter().copied())
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("{} does not start on the host: {error}", arguments[0]));
    let signal = std::os::unix::process::ExitStatusExt::signal(&output.status);
    let code = output.status.code().unwrap_or_else(|| 128 + signal.unwrap_or(0));
    Seen { output: output.stdout, errors: output.stderr, code }
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

/// Runs a command inside a world that sees the system and `directory`.
pub fn inside(arguments: &[&str], directory: &Path) -> Seen {
    let mut roots: Vec<PathBuf> = SYSTEM_ROOTS.iter().map(Into::into).collect();
    roots.push(directory.to_owned());
    let host = Host(Arc::new(DeclaredRoots::new(roots)));
    let mut world = World::new(host, 1, Limit::default());
    let bytes = |text: &str| text.as_bytes().to_vec();
    let commands: Vec<Command> = arguments
        .split(|argument| *argument == "+")
        .map(|arguments| Command {
            arguments: arguments.iter().map(|argument| bytes(argument)).collect(),
            environment: ENVIRONMENT.iter().map(|(name, value)| bytes(&format!("{name}={value}"))).collect(),
            directory: OsStr::as_bytes(directory.as_os_str()).to_vec(),
        })
        .collect();
    let mut listener = Listener(Seen { output: Vec::new(), errors: Vec::new(), code: -1 });
    let end = run(&mut world, &commands, &mut listener);
    let mut seen = listener.0;
    seen.code = match &end {
        End::Ended(status) if status & 0x7f == 0 => status >> 8 & 0xff,
        End::Ended(status) => 128 + (status & 0x7f),
        other => panic!("{arguments:?} inside: {other:#?}\nso far: {seen:?}"),
    };
    seen
}

/// Asserts that both sides show the same.
pub fn same(arguments: &[&str], directory: &Path) {
    // Inside first: a world leaves the host as it was.
    let inside = inside(arguments, directory);
    let native = native(arguments, directory);
    assert_eq!(inside, native, "inside (left) and native (right) differ for {arguments:?}");
}
