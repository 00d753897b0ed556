//! `allways completions` and `allways man`: what a shell and a manual want to know.

use crate::args::Cli;
use crate::exit::Exit;
use crate::output::Output;
use clap::CommandFactory;

/// Prints completions for a shell.
pub fn completions(shell: clap_complete::Shell, output: &Output) -> Exit {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "allways", &mut text);
    output.data(&String::from_utf8_lossy(&text));
    Exit::Fine
}

/// Prints the manual page.
pub fn man(output: &Output) -> Exit {
    let mut text = Vec::new();
    if clap_mangen::Man::new(Cli::command()).render(&mut text).is_err() {
        output.error("cannot write the manual page");
        return Exit::Inconclusive;
    }
    output.data(&String::from_utf8_lossy(&text));
    Exit::Fine
}
