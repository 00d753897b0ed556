//! Programs that have told where their things are, and then wait for ever.

use crate::inside;
use debuginfo::DebugInfo;
use memory::SpaceId;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use world::World;
use world::run::End;

/// A program that waits for ever, and what it printed before: lines of a name and a hexadecimal number.
pub struct Standing {
    pub world: World,
    pub space: SpaceId,
    pub info: DebugInfo,
    pub told: BTreeMap<String, u64>,
}

/// Builds a program from one source file; its name says the language.
pub fn build(name: &str, file: &str, source: &str, compile: &[&str]) -> PathBuf {
    let folder = inside::folder(&format!("debug-{name}"));
    std::fs::write(folder.join(file), source).expect("the folder takes files");
    let mut compiler = Command::new(compile[0]);
    let status = compiler.args(&compile[1..]).arg("-o").arg("program").arg(file).current_dir(&folder).status();
    assert!(status.expect("the compiler runs").success(), "{name} does not compile");
    folder
}

/// Runs a program that was built until nobody in it can go on.
pub fn stand(folder: PathBuf) -> Standing {
    let mut world = inside::world(&folder);
    let (end, seen) = inside::run_in(&mut world, &["./program"], &folder);
    assert!(matches!(end, End::Deadlock(_)), "{end:?} {seen:?}");
    let text = String::from_utf8(seen.output).expect("it prints text");
    let line = |line: &str| {
        let (name, number) = line.split_once(' ').expect("a name and a number");
        (name.to_owned(), u64::from_str_radix(number.trim_start_matches("0x"), 16).expect("a number"))
    };
    let process = world.kernel.processes.values().next().expect("it lives");
    let space = process.space;
    let info = DebugInfo::new(world.kernel.host.clone());
    Standing { told: text.lines().map(line).collect(), space, info, world }
}

/// Builds and runs a program in C.
pub fn c(name: &str, source: &str, flags: &[&str]) -> Standing {
    let compile = [&["gcc", "-g", "-O1", "-pthread"], flags].concat();
    stand(build(name, "program.c", source, &compile))
}
