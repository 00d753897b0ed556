//! `allways test`: the runner for `cargo test`, `ctest`, `go test -exec` and their like.
//!
//! A runner is called in place of a test program, with its path and its arguments. Whoever only asks for the names of tests gets what
//! the program prints; otherwise each test is checked by a process of its own. So what one test takes is given back before the next,
//! and a search that is ended by the system ends no other.

use crate::args::{ProgramArgs, TestArgs};
use crate::exit::Exit;
use crate::harness::{Harness, asks_for_list};
use crate::interrupt::leave_to_others;
use crate::output::Output;
use crate::verbs::program;
use crate::world_args::WorldArgs;
use report::Colour;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// What of the environment a test may ask for: what cargo says about the package, which is the same each time.
const PASSED_ON: [&str; 3] = ["CARGO_MANIFEST_DIR", "CARGO_PKG_", "CARGO_BIN_EXE_"];

/// How often a thread that could go on is interrupted in a schedule, where the harness has threads of its own.
const PREEMPTIONS: u32 = 1;

/// Checks the tests of a program, or lists them.
pub fn test(args: &TestArgs, output: &Output) -> ExitCode {
    let arguments = &args.command[1..];
    if asks_for_list(arguments) {
        return program::run(&run_once(args), None, output);
    }
    Tests::new(args).check_all(output).into()
}

/// The program as it is, once: its output and its exit code are the program's.
fn run_once(args: &TestArgs) -> ProgramArgs {
    let WorldArgs { root, env, stdin, .. } = world(args);
    ProgramArgs { world: WorldArgs { command: args.command.clone(), root, env, stdin }, ..ProgramArgs::default() }
}

fn world(args: &TestArgs) -> WorldArgs {
    let mut env = package();
    env.extend(args.env.iter().cloned());
    WorldArgs { command: Vec::new(), root: args.root.clone(), env, stdin: args.stdin.clone() }
}

/// What cargo says about the package.
fn package() -> Vec<String> {
    let is_passed = |name: &str| PASSED_ON.iter().any(|prefix| name.starts_with(prefix));
    let mut all: Vec<String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .filter(|(name, value)| is_passed(name) && !value.is_empty())
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    all.sort_unstable();
    all
}

/// A program with tests, and how they are checked.
struct Tests<'a> {
    args: &'a TestArgs,
    program: &'a OsString,
    harness: Harness,
}

impl<'a> Tests<'a> {
    fn new(args: &'a TestArgs) -> Self {
        let (program, arguments) = args.command.split_first().expect("clap wants one");
        // One that cannot be read is no harness: its check says what is wrong with it.
        let bytes = std::fs::read(program).unwrap_or_default();
        Self { args, program, harness: Harness::find(&bytes, arguments) }
    }

    fn arguments(&self) -> &[OsString] {
        &self.args.command[1..]
    }

    fn check_all(&self, output: &Output) -> Exit {
        let Some((all, ignored)) = self.harness.lists(self.arguments()) else {
            let name = self.arguments().iter().map(|word| format!(".{}", word.to_string_lossy())).collect::<String>();
            let status = self.check(&name, &self.harness.unparallel(self.arguments()), output).status();
            return status.map_or(Exit::Bug, |status| exit_of(status.code()));
        };
        // Ctrl-C is for the check that runs: it says what it has covered.
        leave_to_others();
        let names = self.names(&all).and_then(|mut names| {
            let ignored = ignored.map_or_else(|| Ok(Vec::new()), |words| self.names(&words))?;
            names.retain(|name| !ignored.contains(name));
            Ok(names)
        });
        match names {
            Ok(names) => self.check_each(&names, output),
            Err(exit) => {
                output.error(&format!("cannot list the tests of {}", Path::new(self.program).display()));
                exit
            }
        }
    }

    /// The tests that the program lists.
    fn names(&self, arguments: &[OsString]) -> Result<Vec<String>, Exit> {
        let mut listing = allways("run", &world(self.args));
        listing.arg("--").arg(self.program).args(arguments).stderr(Stdio::inherit());
        let told = listing.output().map_err(|_| Exit::Bug)?;
        if !told.status.success() {
            return Err(exit_of(told.status.code()).max_of(Exit::Inconclusive));
        }
        Ok(self.harness.names(&String::from_utf8_lossy(&told.stdout)))
    }

    /// Checks tests one after the other.
    fn check_each(&self, names: &[String], output: &Output) -> Exit {
        output.data(&format!("\nrunning {} under Allways{}\n", tests(names.len()), self.bound_told()));
        let mut exits = Vec::new();
        for name in names {
            let exit = self.check_one(name, output);
            exits.push(exit);
            if exit == Exit::Interrupted {
                break;
            }
        }
        output.data(&format!("\n{}\n\n", result(&exits)));
        exits.into_iter().fold(Exit::Fine, Exit::max_of)
    }

    /// Checks one test, and prints a line for it, and the report if it does not pass.
    fn check_one(&self, name: &str, output: &Output) -> Exit {
        let alone = self.harness.alone(name, self.arguments());
        let told = self.check(&format!(".{name}"), &alone, output).stderr(Stdio::inherit()).output();
        let Ok(told) = told else { return Exit::Bug };
        let (exit, report) = (exit_of(told.status.code()), String::from_utf8_lossy(&told.stdout));
        let verdict = report.lines().last().unwrap_or_default();
        output.data(&format!("test {name} ... {}  {verdict}\n", word(exit)));
        if exit != Exit::Fine {
            output.data(&format!("\n{report}\n"));
        }
        exit
    }

    /// The command that checks the program with these arguments; behind the program's name, the reports have `name` in theirs.
    fn check(&self, name: &str, arguments: &[OsString], output: &Output) -> Command {
        let mut check = allways("check", &world(self.args));
        check.arg("--of-test").arg(format!("{}{name}", program_name(Path::new(self.program))));
        check.args(self.words()).args(self.bound());
        if self.harness == Harness::Go && !self.args.env.iter().any(|set| set.starts_with("GOMAXPROCS=")) {
            // More of them only add schedules of the runtime.
            check.args(["--env", "GOMAXPROCS=1"]);
        }
        let colour = if output.layout.colour == Colour::Always { "always" } else { "never" };
        check.args(["--color", colour]).env("COLUMNS", output.layout.width.to_string());
        check.arg("--").arg(self.program).args(arguments);
        check
    }

    /// The words of the command line that are for the check: those between the verb and the program, without what [`world()`] repeats.
    fn words(&self) -> Vec<OsString> {
        let all: Vec<OsString> = std::env::args_os().skip(1).collect();
        let own = &all[..all.len() - self.args.command.len()];
        let mut rest = own.iter().skip_while(|word| *word != "test").skip(1).filter(|word| *word != "--");
        let mut kept = Vec::new();
        while let Some(word) = rest.next() {
            let text = word.to_str().unwrap_or_default();
            match text.split('=').next().unwrap_or_default() {
                "--root" | "--env" | "--stdin" | "--color" => drop((!text.contains('=')).then(|| rest.next())),
                _ => kept.push(word.clone()),
            }
        }
        kept
    }

    /// The bound that holds if the user has not said how to search.
    fn bound(&self) -> Vec<String> {
        match self.is_bounded() {
            true => vec!["--preemptions".to_owned(), PREEMPTIONS.to_string()],
            false => Vec::new(),
        }
    }

    /// Whether schedules are bounded by us: the harness's own threads would multiply all others, and the user has said nothing else.
    fn is_bounded(&self) -> bool {
        let (engine, search) = (&self.args.options.engine, &self.args.options.search);
        let is_chosen = engine.engine.is_some() || engine.sample || engine.preemptions.or(engine.delays).is_some();
        self.harness.has_threads() && !is_chosen && search.reduction.is_none() && self.args.profile.is_none()
    }

    fn bound_told(&self) -> String {
        match self.is_bounded() {
            true => format!(": schedules with at most {PREEMPTIONS} preemption (--preemptions N)"),
            false => String::new(),
        }
    }
}

/// The name of a program, without the hash that cargo adds.
fn program_name(program: &Path) -> String {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let is_hash = |hash: &str| hash.len() == 16 && hash.bytes().all(|digit| digit.is_ascii_hexdigit());
    match name.rsplit_once('-') {
        Some((name, hash)) if is_hash(hash) => name.to_owned(),
        _ => name.into_owned(),
    }
}

/// This program once more, with what the tests can see.
fn allways(verb: &str, world: &WorldArgs) -> Command {
    // A file that was replaced meanwhile (by `cargo install`) is still the one that runs.
    let mut command = Command::new("/proc/self/exe");
    command.arg(verb);
    for root in &world.root {
        command.arg("--root").arg(root);
    }
    for set in &world.env {
        command.arg("--env").arg(set);
    }
    if let Some(stdin) = &world.stdin {
        command.arg("--stdin").arg(stdin);
    }
    command
}

fn exit_of(code: Option<i32>) -> Exit {
    use Exit::{Bug, Fine, Inconclusive, Interrupted, Nothing, Unwritten, Usage, Violated};
    let all = [Fine, Violated, Usage, Inconclusive, Nothing, Interrupted, Unwritten];
    // A signal has ended it: nobody but us could be wrong.
    all.into_iter().find(|exit| code == Some(i32::from(exit.code()))).unwrap_or(Bug)
}

/// How a test ended, in the words of test runners.
fn word(exit: Exit) -> &'static str {
    match exit {
        Exit::Fine => "ok",
        Exit::Violated => "FAILED",
        Exit::Interrupted => "interrupted",
        Exit::Inconclusive | Exit::Nothing => "no answer",
        Exit::Usage | Exit::Unwritten | Exit::Bug => "error",
    }
}

fn result(exits: &[Exit]) -> String {
    let count = |wanted: fn(&Exit) -> bool| exits.iter().filter(|exit| wanted(exit)).count();
    let (passed, failed) = (count(|exit| *exit == Exit::Fine), count(|exit| *exit == Exit::Violated));
    let word = if passed == exits.len() { "ok" } else { "FAILED" };
    format!(
        "test result: {word}. {passed} passed; {failed} failed; {} without an answer",
        exits.len() - passed - failed
    )
}

fn tests(count: usize) -> String {
    format!("{count} {}", if count == 1 { "test" } else { "tests" })
}
