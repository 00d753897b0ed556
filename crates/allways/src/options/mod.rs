//! What a check is asked to do: one struct for the command line, `allways.toml`, saved counterexamples and replays.
//!
//! A field is a flag (`--only-breaks`) and a key of the file (`only_breaks`); its comment is the flag's help; what it
//! means to the engine is said beside it. Unless somebody sets it, it is unset: so the command line can be laid over the
//! file ([`layer`]), and flags that do not fit can be named without a list of all.

mod address;
mod engine;
mod faults;
mod layer;
mod peer;
mod search;
mod user;
mod view;

pub use address::Address;
pub use engine::{EngineName, EngineOptions};
pub use faults::FaultOptions;
pub use layer::{Given, given, keys};
pub use peer::{HELP as PEER_HELP, Spec, Where};
pub use search::{SearchOptions, Switch};
pub use user::UserName;
pub use view::{Libc, ViewOptions};

use clap::Args;
use serde::{Deserialize, Serialize};

/// What a check is asked to do.
#[derive(Args, Serialize, Deserialize, Clone, PartialEq, Eq, Debug, Default)]
pub struct Options {
    /// How programs are looked at.
    #[command(flatten)]
    #[serde(flatten)]
    pub view: ViewOptions,
    /// How their schedules are searched.
    #[command(flatten)]
    #[serde(flatten)]
    pub engine: EngineOptions,
    /// What is looked for in programs and models, and for how long.
    #[command(flatten)]
    #[serde(flatten)]
    pub search: SearchOptions,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn every_option_is_a_flag_and_a_key_of_one_name_and_documented() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
        let documented = std::fs::read_to_string(path).expect("a text");
        let command = Line::command();
        let mut flags: Vec<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
        flags.sort_unstable();
        // Faults and formulas are tables of the file: the flags are those of models.
        let keys = keys::<Options>().into_iter().filter(|key| key != "faults" && key != "formulas");
        assert_eq!(keys.map(|key| key.replace('_', "-")).collect::<Vec<_>>(), flags);
        for flag in flags {
            assert!(documented.contains(&format!("--{flag}")), "docs/cli.md says nothing about --{flag}");
        }
    }
}
