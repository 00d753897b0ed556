//! Programs in the browser: a short search learns where their steps end, then choices are taken by hand.

use super::record::record;
use super::replay::{changed, setup as recorded_setup, start as start_recorded};
use super::request::Wanted;
use super::search::{self, Watch};
use super::setup::Setup;
use super::{budget, memory_limit, start, trial};
use crate::args::ExploreArgs;
use crate::evidence::Claim;
use crate::exit::Exit;
use crate::explored::{Explored, explore_in_browser};
use crate::interrupt::on_interrupt;
use crate::output::Output;
use checker::Programs;
use checker::narrate::program_replay::ProgramReplay;
use explore::{Allowance, Budget, Failure};
use std::path::Path;
use std::time::Duration;
use trace::{Choice, Counterexample, ProgramsRef, Schedule, Trace};

/// How long programs are searched before they are explored, unless the user says otherwise: which words of memory threads race
/// for decides where steps end.
const LEARNING: Duration = Duration::from_secs(5);

/// Serves programs.
///
/// Whatever the search finds is not told here: `check` does that. It is only asked where steps end, which is why it may be cut off
/// after a moment; with less time, steps are longer and fewer races can be driven.
pub fn explore(mut setup: Setup, args: &ExploreArgs, output: &Output) -> Exit {
    setup.set_default("LD_BIND_NOW", "1");
    let mut wanted = Wanted::new(&args.check.options, true);
    wanted.request.time = wanted.request.time.or(Some(LEARNING));
    let (host, limit) = (setup.host(), memory_limit(&wanted.request));
    let budget = budget(&wanted.request);
    trial::find_services(&mut setup, &host, limit, &budget);
    let mut programs = match start(&setup, &host, (&wanted, limit), &budget) {
        Ok(programs) => programs,
        Err(why) => return super::wrong(&why, output),
    };
    drop(search::search(&mut programs, &wanted, Watch { budget: &budget, output }));
    // What the search may use is used; what the user does afterwards takes as long as it takes.
    programs.set_budget(Budget::new(on_interrupt(), Allowance::default()));
    let keep = |programs: &mut Programs, choices: &[Choice], folder: &str| {
        let told = programs.tell(choices, folder)?;
        Some(record(programs, &setup, &wanted, &told))
    };
    serve(&mut programs, &setup, &[], args.port, &keep, output)
}

/// Serves the programs of a counterexample, at its end. What its search had learnt is in the file, so nothing is searched, and its
/// choices mean what they meant then.
pub fn explore_saved(saved: &Counterexample, record: &ProgramsRef, args: &ExploreArgs, output: &Output) -> Exit {
    let prepared = recorded_setup(record, &args.check.world.root, &format!("explore {}", saved.id)).and_then(|setup| {
        let host = setup.host();
        match changed(record, &host) {
            Some(why) => Err(format!("{why}\n  = help: check again: allways check -- {}", saved.system.file)),
            None => Ok((start_recorded(record, &setup, host, on_interrupt())?, setup)),
        }
    });
    let (mut programs, setup) = match prepared {
        Ok(prepared) => prepared,
        Err(why) => return super::wrong(&why, output),
    };
    let keep = |programs: &mut Programs, choices: &[Choice], folder: &str| {
        let told = programs.tell(choices, folder)?;
        Some(ProgramsRef { race: None, end: format!("{:032x}", told.fingerprint), ..record.clone() })
    };
    serve(&mut programs, &setup, &saved.schedule.choices, args.port, &keep, output)
}

/// What a replay of a schedule needs. Of programs that were started here all of it has to be noted; of a counterexample most is
/// known, and only how it ends is new.
type Keep<'a> = dyn Fn(&mut Programs, &[Choice], &str) -> Option<ProgramsRef> + 'a;

fn serve(
    programs: &mut Programs,
    setup: &Setup,
    choices: &[Choice],
    port: u16,
    keep: &Keep<'_>,
    output: &Output,
) -> Exit {
    let folder = setup.folder();
    let mut system = ProgramReplay::new(programs, &folder);
    let source = |file: &str| crate::careful::source(Path::new(file)).ok();
    let mut save = |system: &mut ProgramReplay<'_>, schedule: &Schedule, trace: Trace, failure: Option<&Failure>| {
        let record =
            keep(system.programs(), &schedule.choices, &folder).ok_or("the schedule cannot be executed again")?;
        let named = super::tell::system(&record);
        let claimed = Claim::driven(&named, failure).shown_by(schedule.clone(), trace);
        Ok(Counterexample { programs: Some(record), ..claimed })
    };
    let explored = Explored {
        name: setup.command_lines().join(" + "),
        choices,
        source: &source,
        save: &mut save,
        variables: ProgramReplay::variables,
        waiting: ProgramReplay::waiting,
        inventory: ProgramReplay::inventory,
        port,
    };
    explore_in_browser(&mut system, explored, output)
}
