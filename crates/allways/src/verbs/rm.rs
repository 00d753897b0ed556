//! `allways rm`: remove saved counterexamples.

use crate::args::RmArgs;
use crate::exit::Exit;
use crate::output::Output;
use crate::saved::Saved;

/// Removes those that are named, or all.
pub fn rm(args: &RmArgs, output: &Output) -> Exit {
    let saved = Saved::here();
    let all = saved.entries().into_iter().map(|entry| entry.id);
    let names: Vec<String> = if args.all { all.collect() } else { args.counterexamples.clone() };
    let mut exit = Exit::Fine;
    for name in &names {
        match saved.remove(name) {
            Ok(id) => output.note(&format!("removed {id}")),
            Err(why) => {
                output.error(&why);
                exit = Exit::Usage;
            }
        }
    }
    exit
}
