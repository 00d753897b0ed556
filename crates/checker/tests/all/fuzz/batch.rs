//! Many programs in one executable, compiled once.

use crate::fuzz::generate::{self, Program};
use crate::inside;
use crate::start::search_with;
use checker::{Depth, Options, Programs};
use std::path::{Path, PathBuf};
use std::process::Command as Native;

/// What all programs of a batch have in common.
const FRAME: &str = concat!(
    include_str!("frame.c"),
    include_str!("../rust_mutex.c"),
    include_str!("../rust_start.c"),
    include_str!("harm.c")
);

/// Compiled programs, one for each seed.
pub struct Batch {
    folder: PathBuf,
    programs: Vec<(u64, Program)>,
}

impl Batch {
    /// Writes and compiles the programs of seeds.
    pub fn new(name: &str, seeds: impl Iterator<Item = u64>) -> Self {
        Self::of(name, seeds.enumerate().map(|(number, seed)| (seed, generate::program(seed, number))).collect())
    }

    /// Compiles programs that are known, each with a number to tell it by.
    pub fn of(name: &str, programs: Vec<(u64, Program)>) -> Self {
        let text = |part: fn(&Program) -> &str| programs.iter().map(|(_, program)| part(program)).collect::<String>();
        let (sources, rows) = (text(|program| &program.source), text(|program| &program.row));
        let source = format!("{FRAME}\n{sources}\nconst struct program programs[] = {{\n{rows}}};\n");
        let folder = inside::folder(&format!("fuzz-{name}-{}", std::process::id()));
        std::fs::write(folder.join("program.c"), source).expect("the folder takes files");
        compile(&folder, &["-O1", "program.c"]);
        Self { folder, programs }
    }

    /// The programs.
    pub fn cases(&self) -> impl Iterator<Item = Case<'_>> {
        self.programs.iter().enumerate().map(|(number, (seed, program))| Case {
            folder: &self.folder,
            number,
            seed: *seed,
            program,
        })
    }
}

/// Leaves nothing on the disk, unless somebody will want to see what failed.
impl Drop for Batch {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

/// One program of a batch.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    folder: &'a Path,
    number: usize,
    /// What it was made from.
    pub seed: u64,
    /// Its text.
    pub program: &'a Program,
}

impl Case<'_> {
    /// The program at its beginning.
    pub fn start(&self, depth: Depth) -> Programs {
        self.start_with(Options { depth, ..Options::default() })
    }

    /// The program at its beginning, looked at in a certain way.
    pub fn start_with(&self, options: Options) -> Programs {
        search_with(self.folder, &["./program", &self.number.to_string()], options)
    }

    /// Where it lies, and its number there.
    pub fn place(&self) -> (&Path, usize) {
        (self.folder, self.number)
    }

    /// What is said of it when something is wrong.
    pub fn told(&self) -> String {
        format!("program {}:\n{}{}", self.seed, self.program.source, self.program.row)
    }
}

/// Compiles into a folder with the host's compiler, to `program`.
pub fn compile(folder: &Path, arguments: &[&str]) {
    let mut gcc = Native::new("gcc");
    gcc.current_dir(folder).args(["-g", "-w", "-pthread", "-o", "program"]).args(arguments);
    assert!(gcc.status().expect("gcc runs").success(), "it compiles: {arguments:?}");
}
