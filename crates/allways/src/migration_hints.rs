//! What to say to somebody who types what another tool understands.

use clap::error::ErrorKind;

/// Flags of `spin` and `pan`, and what does the same here.
const SPIN: [(&str, &str); 19] = [
    ("-a", "acceptance cycles and all `ltl` blocks are checked without being asked for"),
    ("-run", "say `allways check FILE.pml`"),
    ("-search", "say `allways check FILE.pml`"),
    ("-f", "say --fair weak"),
    ("-l", "say --check progress"),
    ("-N", "say --ltl NAME"),
    ("-ltl", "say --ltl NAME"),
    ("-e", "say --keep-going"),
    ("-c0", "say --keep-going"),
    ("-m", "there is no bound on depth unless you give one: --depth N"),
    ("-w", "tables grow by themselves: --mem SIZE bounds them"),
    ("-bfs", "breadth first is the default"),
    ("-noreduce", "say --reduction off"),
    ("-collapse", "visited states are always compressed"),
    ("-bitstate", "say --store bitstate"),
    ("-safety", "say --check deadlock,assert"),
    ("-t", "say `allways replay`, or `allways run FILE.pml --trail FILE.pml.trail`"),
    ("-n", "say `allways run FILE.pml --seed N`"),
    ("-T", "the output of processes is not indented"),
];

/// A line for what clap has no advice about; empty if there is none.
pub fn help(error: &clap::Error, arguments: impl Iterator<Item = String>) -> String {
    let arguments: Vec<String> = arguments.collect();
    match error.kind() {
        ErrorKind::InvalidSubcommand => model_without_verb(&arguments),
        ErrorKind::UnknownArgument => arguments.iter().find_map(|given| from_spin(given)).unwrap_or_default(),
        _ => String::new(),
    }
}

fn model_without_verb(arguments: &[String]) -> String {
    let is_model = |given: &&String| std::path::Path::new(given).is_file();
    let is_program = arguments.iter().any(|given| given == "--");
    let model = arguments.iter().find(is_model).filter(|_| !is_program);
    model.map(|model| format!("\n  = help: to check a model say: allways check {model}\n")).unwrap_or_default()
}

fn from_spin(given: &str) -> Option<String> {
    let numbered = given.trim_end_matches(|c: char| c.is_ascii_digit());
    let found = SPIN.iter().find(|(flag, _)| *flag == given || *flag == numbered);
    found.map(|(flag, instead)| format!("\n  = help: SPIN's `{flag}`: {instead}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_without_a_verb_is_told_how_to_be_checked_and_a_program_is_no_model() {
        let said =
            |arguments: &[&str]| model_without_verb(&arguments.iter().copied().map(String::from).collect::<Vec<_>>());
        assert!(said(&["Cargo.toml"]).contains("allways check Cargo.toml"));
        assert_eq!(said(&["chek", "--", "Cargo.toml"]), "");
    }

    #[test]
    fn flags_of_spin_are_known_with_their_numbers() {
        assert!(from_spin("-n42").is_some_and(|help| help.contains("--seed")));
        assert!(from_spin("-m100000").is_some_and(|help| help.contains("--depth")));
        assert!(from_spin("-c0").is_some_and(|help| help.contains("--keep-going")));
        assert_eq!(from_spin("--deapth"), None);
    }
}
