//! `allways doctor CMD`: what of a program is not modelled, before it runs. `allways doctor`: what of the system is missing.

use crate::args::DoctorArgs;
use crate::exit::Exit;
use crate::output::Output;
use native::Probe;
use std::path::{Path, PathBuf};
use world::doctor::{Findings, examine};
use world::refusal::call_name;

/// Looks at a program and its libraries, or at the system.
pub fn doctor(args: &DoctorArgs, output: &Output) -> Exit {
    match &args.program {
        Some(program) => doctor_program(program, output),
        None => doctor_system(output),
    }
}

/// Tries what native peers need.
fn doctor_system(output: &Output) -> Exit {
    let probes = native::probes();
    let told = |probe: &Probe| probe.missing.as_ref().map_or("ok".to_owned(), |follows| format!("missing: {follows}"));
    let line = |probe: &Probe| format!("  {:21} {}\n", probe.name, told(probe));
    output.data(&format!("native peers (--outside native)\n{}", probes.iter().map(line).collect::<String>()));
    if probes.iter().all(|probe| probe.missing.is_none()) { Exit::Fine } else { Exit::Inconclusive }
}

fn doctor_program(name: &Path, output: &Output) -> Exit {
    let Some(program) = find(name) else {
        let name = name.display();
        output.error(&format!("no program `{name}` in PATH\n  = help: give its path, such as ./{name}"));
        return Exit::Usage;
    };
    let findings = examine(&program);
    if let Some(why) = findings.first().and_then(|program| program.problem.as_ref()) {
        output.error(&format!("cannot look at `{}`: {why}", name.display()));
        return Exit::Usage;
    }
    findings.iter().for_each(|file| output.data(&text(file)));
    let fine = findings.iter().all(Findings::is_fine);
    output.data(verdict(fine));
    if fine { Exit::Fine } else { Exit::Inconclusive }
}

fn verdict(fine: bool) -> &'static str {
    if fine {
        "everything that was found is modelled; what a run meets beyond it is refused by name\n"
    } else {
        "some of it is not modelled: a run that meets it ends there, with its name\n"
    }
}

/// Where a program is: a path if it has a slash, else in `PATH`.
fn find(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 || program.is_absolute() {
        return std::fs::canonicalize(program).ok();
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).find_map(|folder| std::fs::canonicalize(folder.join(program)).ok())
}

fn text(file: &Findings) -> String {
    let mut text = format!("{}\n", file.path.display());
    if let Some(problem) = &file.problem {
        return text + &format!("  not readable: {problem}\n");
    }
    text += &format!("  instructions  {} forms modelled\n", file.forms);
    for name in &file.missing {
        text += &format!("                {name}: not modelled\n");
    }
    if !file.features.is_empty() {
        let features: Vec<String> = file.features.iter().map(|(name, forms)| format!("{name} ({forms})")).collect();
        text += &format!(
            "                used only if the processor has it; Allways reports none: {}\n",
            features.join(", ").to_lowercase()
        );
    }
    text += &format!("  syscalls      {} with a constant number\n", file.calls);
    for number in &file.missing_calls {
        text += &format!("                {} ({number}): not modelled\n", call_name(u64::from(*number)));
    }
    if !file.dormant_calls.is_empty() {
        let names: Vec<String> = file.dormant_calls.iter().map(|number| call_name(u64::from(*number))).collect();
        text += &format!("                not modelled; no call to them found: {}\n", names.join(", "));
    }
    text
}
