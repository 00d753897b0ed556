//! Options that mean nothing to what is checked, or contradict each other: silently ignoring them would change what a
//! verdict says.
//!
//! A flag that would be ignored is refused: who writes `--fair` for programs, where it means
//! nothing, would otherwise read a verdict about something else than was asked.

use crate::args::{CheckArgs, CheckFormat};
use crate::model_args::{OrderName, StoreName};
use crate::options::{EngineName, FaultOptions, Options, Switch, given};
use trace::FailureKind;

/// Refuses flags that are for models, kinds of failure that programs do not have, and what an engine does not know.
pub fn for_programs(args: &CheckArgs, known: &[FailureKind]) -> Result<(), String> {
    if let Some((flag, _)) = of_models(args).iter().find(|(_, is_given)| *is_given) {
        return Err(format!("`{flag}` is for models, not for programs"));
    }
    contradiction(&args.options)?;
    engine(&args.options)?;
    args.options.view.faults.iter().try_for_each(FaultOptions::verify)?;
    let names: Vec<&str> = known.iter().map(|kind| kind.name()).collect();
    let names = names.join(", ");
    match args.options.search.check.iter().find(|kind| !known.contains(kind)) {
        None => Ok(()),
        Some(FailureKind::Never) => Err(format!(
            "`--check never` says nothing by itself: --never PROPOSITION is checked whenever it is given\n  = help: beside it, programs are checked for {names}"
        )),
        Some(kind) => Err(format!("`--check {kind}` is for models\n  = help: programs are checked for {names}")),
    }
}

/// Refuses flags that are for programs: all of these options, and what programs can see.
pub fn for_models(args: &CheckArgs) -> Result<(), String> {
    let (view, engine) = (given(&args.options.view), given(&args.options.engine));
    let option = view.keys().chain(engine.keys()).next().map(|key| flag(key));
    let world = &args.world;
    let recovers = !args.scope.recover.is_empty();
    let seen = [
        ("recover", recovers),
        ("root", !world.root.is_empty()),
        ("env", !world.env.is_empty()),
        ("stdin", world.stdin.is_some()),
    ];
    let seen = seen.iter().find(|(_, is_given)| *is_given).map(|(key, _)| flag(key));
    let is_kept = args.journal.is_some() || args.resume.is_some();
    match option.or(seen) {
        Some(flag) => Err(format!("`{flag}` is for programs, not for models")),
        None if is_kept && matches!(args.order, OrderName::Random | OrderName::Swarm) => {
            Err("`--journal` goes with `--order bfs` and `--order dfs`: a sample has nothing to go on with".to_owned())
        }
        None => Ok(()),
    }
}

/// Refuses what contradicts a campaign of faults, which exhausts sets and looks for a violation of each property.
pub fn for_campaigns(options: &Options) -> Result<(), String> {
    let (engine, search) = (&options.engine, &options.search);
    let wrong = [
        ("--sample", engine.sample),
        ("--engine sample", engine.engine == Some(EngineName::Sample)),
        ("--runs", search.runs.is_some()),
        ("--seed", search.seed.is_some()),
        ("--keep-going", search.keep_going),
    ];
    match wrong.iter().find(|(_, is_wrong)| *is_wrong) {
        Some((flag, _)) => {
            Err(format!("`{flag}` is not for `faults`: all schedules are searched, for a violation of each property"))
        }
        None => Ok(()),
    }
}

/// How an option is called on the command line.
fn flag(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}

fn of_models(args: &CheckArgs) -> [(&'static str, bool); 14] {
    let (model, faults) = (&args.model, &args.scope);
    [
        ("-D", !model.define.is_empty()),
        ("-U", !model.undefine.is_empty()),
        ("-I", !model.include.is_empty()),
        ("--interpret", model.interpret),
        ("--fair", args.fair.is_some() && args.options.view.formulas.is_empty()),
        ("--order", args.order != OrderName::Bfs),
        ("--store", args.store != StoreName::Tree),
        ("--trail", args.trail),
        ("--journal", args.journal.is_some()),
        ("--resume", args.resume.is_some()),
        ("--except", !faults.except.is_empty()),
        ("--heals", faults.heals),
        ("--reset", !faults.reset.is_empty()),
        ("--format spin", args.format == CheckFormat::Spin),
    ]
}

/// The command line has been looked at already: this is about the file, and both together.
fn contradiction(options: &Options) -> Result<(), String> {
    let (view, engine) = (&options.view, &options.engine);
    let crashes = view.faults.as_ref().is_some_and(|faults| !faults.disk.is_empty());
    let is_exact = engine.name() != EngineName::Dpor;
    let partitions =
        view.faults.as_ref().is_some_and(|faults| faults.net.iter().any(|fault| fault.starts_with("partition")));
    let wrong = [
        (
            "programs that talk to peers cannot be cut off yet\n  = help: leave out `partition`, or start the peer as a program of the check",
            partitions && !view.peer.is_empty(),
        ),
        (
            "programs that talk to peers cannot lose power yet: peers would go on\n  = help: leave out `crash`, or start the peer as a program of the check",
            crashes && !view.peer.is_empty(),
        ),
        (
            "`--ltl` and `crash` exclude each other: what propositions say is not known while the disk is not\n  = help: --never and --finally are checked with it",
            crashes && !view.formulas.is_empty(),
        ),
        (
            "`match` and `crash` exclude each other: what is not durable is no variable\n  = help: leave out one of them",
            crashes && !view.matched.is_empty(),
        ),
        (
            "`--engine dpor` does not know power loss yet\n  = help: leave it out: --engine graph is the default",
            crashes && !is_exact,
        ),
        (
            "there is one disk: `crash` is listed with several\n  = help: one of crash, crash:posix, crash:block=512",
            view.faults.as_ref().is_some_and(|faults| faults.disk.len() > 1),
        ),
        (
            "`--ltl` needs all schedules: `preemptions` and `delays` leave some out",
            !view.formulas.is_empty() && (engine.preemptions.is_some() || engine.delays.is_some()),
        ),
        (
            "`--ltl` and `match` exclude each other: states that are taken for one may differ in a proposition",
            !view.formulas.is_empty() && !view.matched.is_empty(),
        ),
        ("`only_breaks` needs a `break`", view.only_breaks && view.breaks.is_empty()),
        ("`fine` and `only_breaks` exclude each other", view.fine && view.only_breaks),
        ("`sample` and `engine` exclude each other", engine.sample && engine.engine.is_some()),
        ("`preemptions` and `delays` exclude each other", engine.preemptions.is_some() && engine.delays.is_some()),
    ];
    match wrong.iter().find(|(_, is_wrong)| *is_wrong) {
        Some((why, _)) => Err((*why).to_owned()),
        None => Ok(()),
    }
}

/// Flags that mean nothing to the engine.
fn engine(options: &Options) -> Result<(), String> {
    let (engine, search, name) = (&options.engine, &options.search, options.engine.name());
    let (is_graph, is_sample) = (name == EngineName::Graph, name == EngineName::Sample);
    let wrong = [
        ("--depth", search.depth.is_some() && is_graph, "--engine dpor or sample"),
        ("--runs", search.runs.is_some() && !is_sample, "--engine sample"),
        ("--preemptions", engine.preemptions.is_some() && !is_graph, "--engine graph"),
        ("--delays", engine.delays.is_some() && !is_graph, "--engine graph"),
        ("--reduction off", search.reduction == Some(Switch::Off) && !is_graph, "--engine graph"),
        ("--ltl", !options.view.formulas.is_empty() && !is_graph, "--engine graph"),
    ];
    match wrong.iter().find(|(_, is_wrong, _)| *is_wrong) {
        Some((flag, _, engines)) => Err(format!("`{flag}` goes with `{engines}`")),
        None => Ok(()),
    }
}
