//! The command line about what programs are started, and what they can see.

use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;

/// Programs, and what they can see.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Programs")]
pub struct WorldArgs {
    /// Programs with their arguments; `+` separates those that run together
    #[arg(last = true, value_name = "CMD")]
    pub command: Vec<OsString>,
    /// Let programs read this folder or file, too (read-only: writes stay inside)
    #[arg(long, value_name = "DIR")]
    pub root: Vec<PathBuf>,
    /// Set a variable; nothing of your own environment is passed on
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// What programs read as standard input; `-` is yours, to its end [default: nothing]
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<PathBuf>,
}
