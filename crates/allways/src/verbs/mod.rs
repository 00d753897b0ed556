//! One file for each verb.

pub mod check;
pub mod debug;
pub mod doctor;
pub mod explore;
pub mod faults;
pub mod init;
pub mod ls;
pub mod program;
pub mod replay;
pub mod report;
pub mod rm;
pub mod run;
pub mod shell;
pub mod test;

use crate::exit::Exit;
use crate::load_error::LoadError;
use crate::output::Output;

/// Prints why a model cannot be used.
fn refuse(error: LoadError, output: &Output) -> Exit {
    match error {
        LoadError::Input(text) => {
            output.raw_message(&text);
            Exit::Usage
        }
        LoadError::Unsupported(text) => {
            output.raw_message(&text);
            Exit::Inconclusive
        }
    }
}
