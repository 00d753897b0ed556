//! Commands of the user, which end by themselves.

use crate::host::output::Output;
use crate::spec::find_program;
use crate::{Problem, Status};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How often is looked whether a command has ended.
const MOMENT: Duration = Duration::from_millis(1);

/// Runs a command to its end, in a folder and with a whole environment (`NAME=VALUE`).
///
/// # Errors
/// If it cannot be started, ends with another status than 0, or takes longer than `patience`.
pub fn run(words: &[Vec<u8>], environment: &[Vec<u8>], folder: &Path, patience: Duration) -> Result<(), Problem> {
    let text = String::from_utf8_lossy(&words.join(&b' ')).into_owned();
    let failed = |why: String| Problem::Command(text.clone(), why);
    let program =
        find_program(words, environment, folder).ok_or_else(|| failed("no such program in PATH".to_owned()))?;
    let (mut output, writer) = Output::new().map_err(|error| failed(error.to_string()))?;
    let mut command = Command::new(program);
    command.args(words.iter().skip(1).map(|word| std::ffi::OsStr::from_bytes(word))).current_dir(folder).env_clear();
    for setting in environment {
        let at = setting.iter().position(|byte| *byte == b'=').unwrap_or(setting.len());
        let value = setting.get(at + 1..).unwrap_or_default();
        command.env(std::ffi::OsStr::from_bytes(&setting[..at]), std::ffi::OsStr::from_bytes(value));
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(writer);
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    drop(command);
    let begun = Instant::now();
    loop {
        output.drain();
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => {
                output.drain();
                let status = Status::of(std::os::unix::process::ExitStatusExt::into_raw(status));
                return Err(failed(format!("it {status}; {}", output.told())));
            }
            Ok(None) if begun.elapsed() <= patience => std::thread::sleep(MOMENT),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(failed("it did not end in time".to_owned()));
            }
        }
    }
}
