//! `allways completions` and `allways man`: what a shell and a manual want to know.

use crate::args::Cli;
use crate::exit::Exit;
use crate::output::Output;
use clap::{Command, CommandFactory};
use std::path::Path;
use trace::similar;

/// Prints completions for a shell.
pub fn completions(shell: clap_complete::Shell, output: &Output) -> Exit {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "allways", &mut text);
    output.data(&String::from_utf8_lossy(&text));
    Exit::Fine
}

/// Prints the manual page, or that of a verb.
pub fn man(verb: Option<&str>, output: &Output) -> Exit {
    let page = match page(verb) {
        Ok(page) => page,
        Err(why) => {
            output.error(&why);
            return Exit::Usage;
        }
    };
    let mut text = Vec::new();
    if clap_mangen::Man::new(page).render(&mut text).is_err() {
        output.error("cannot write the manual page");
        return Exit::Inconclusive;
    }
    output.data(&String::from_utf8_lossy(&text));
    Exit::Fine
}

/// Writes the manual page of allways and those of all verbs, as they are installed: `allways.1`, `allways-check.1`.
pub fn all_pages(folder: &Path, output: &Output) -> Exit {
    match clap_mangen::generate_to(Cli::command(), folder) {
        Ok(()) => Exit::Fine,
        Err(error) => {
            output.error(&format!("cannot write manual pages to {}: {error}", folder.display()));
            Exit::Usage
        }
    }
}

/// What a manual page is about.
///
/// `build` first: only then do verbs know the flags that all of them take, and pages name them.
fn page(verb: Option<&str>) -> Result<Command, String> {
    let mut all = Cli::command();
    all.build();
    let Some(verb) = verb else { return Ok(all) };
    let verbs: Vec<&str> = all.get_subcommands().map(Command::get_name).collect();
    let hint = similar::hint(verb, verbs.iter().copied());
    let found = all.find_subcommand(verb).cloned();
    let found = found.ok_or_else(|| format!("there is no verb `{verb}`{hint}\n  = help: {}", verbs.join(", ")))?;
    Ok(found)
}
