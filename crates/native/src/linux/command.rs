//! Commands of the user, which end by themselves.

use crate::host::limit::{Limit, Stop};
use crate::host::output::Output;
use crate::spec::find_program;
use crate::{Problem, Spec, Status};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};

/// Runs a command to its end where a program works, with its environment and as patiently.
///
/// # Errors
/// If it cannot be started, ends with another status than 0, does not end in time, or `stop` says so.
pub fn run(words: &[Vec<u8>], spec: &Spec, stop: Stop<'_>) -> Result<(), Problem> {
    let text = String::from_utf8_lossy(&words.join(&b' ')).into_owned();
    let failed = |why: String| Problem::Command(text.clone(), why);
    let program = find_program(words, &spec.environment, &spec.directory);
    let program = program.ok_or_else(|| failed("no such program in PATH".to_owned()))?;
    let (mut output, writer) = Output::new().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(words.iter().skip(1).map(|word| OsStr::from_bytes(word))).current_dir(&spec.directory).env_clear();
    command.envs(spec.environment.iter().map(|setting| variable(setting)));
    // A group of its own: what it has started ends with it, and the terminal's Ctrl-C is for us.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(writer).process_group(0);
    let mut running = Running(command.spawn().map_err(|error| failed(error.to_string()))?);
    drop(command);
    let mut limit = Limit::new(spec.patience, running.0.id(), stop);
    loop {
        output.drain();
        match running.0.try_wait().map_err(|error| failed(error.to_string()))? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => {
                output.drain();
                return Err(failed(format!("it {}; {}", Status::of(status.into_raw()), output.words.told())));
            }
            None => limit.wait(|patience| failed(format!("it did not end in {patience}")))?,
        }
    }
}

/// A name and its value.
fn variable(setting: &[u8]) -> (&OsStr, &OsStr) {
    let at = setting.iter().position(|byte| *byte == b'=').unwrap_or(setting.len());
    (OsStr::from_bytes(&setting[..at]), OsStr::from_bytes(setting.get(at + 1..).unwrap_or_default()))
}

/// A command. If it has not ended when this is dropped, it is ended, with all of its group.
///
/// Its children are in that group unless they leave it (`setpgid(2)`).
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            // SAFETY: numbers only; it has not been waited for, so the number is still its own.
            unsafe { libc::kill(-(self.0.id() as libc::pid_t), libc::SIGKILL) };
            let _ = self.0.wait();
        }
    }
}
