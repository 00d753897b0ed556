//! Checking real programs: every schedule of what is started, one verdict for each kind of failure.
//!
//! From the command line to the verdict, in order:
//! ```text
//! setup        what is started, what of the host is seen         setup, services, peers, machines
//! start        a world with all programs loaded, propositions    start
//! search       engines over that world                           search
//! evidence     each violation executed again                     evidence (Court), record, tell
//! summary      verdicts, what was assumed                        summary
//! ```

mod campaign;
pub mod config;
mod debug;
mod evidence;
mod explore;
mod formulas;
mod found_services;
mod last_words;
mod machines;
mod one_run;
mod peer_setup;
mod peers;
mod profile;
mod propositions;
mod record;
mod replay;
mod request;
mod search;
mod services;
pub mod setup;
mod summary;
mod tell;
mod traffic;
mod trial;
mod variants;
mod view_ref;

use crate::args::CheckArgs;
use crate::checked::Checked;
use crate::exit::Exit;
use crate::interrupt::on_interrupt;
use crate::misfit;
use crate::options::{Address, FaultOptions, Spec, ViewOptions, Where};
use crate::output::Output;
use crate::progress::ProgressLine;
use crate::request::Request;
use crate::saved::Saved;
use crate::usage;
use ::explore::{Allowance, Budget, Spent};
pub use campaign::campaign;
use checker::narrate::Growth;
use checker::narrate::program_replay::ProgramReplay;
use checker::{Options, Programs, Service};
use config::Config;
pub use debug::{debug, debug_run};
use evidence::Court;
pub use explore::{explore, explore_saved};
use kernel::host::Host;
use memory::Limit;
pub use peer_setup::PeerSetup;
pub use peers::peer_not_started;
use peers::{Peers, Written};
pub use replay::replay;
use request::{KINDS, Wanted};
use search::{Reason, Searched, Watch};
use setup::{Setup, not_started, program_file, tell_hidden};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use world::host::DeclaredRoots;
use world::{Cause, Refusal};

/// What a check is about.
pub enum Subject {
    /// A Promela model.
    Model(PathBuf),
    /// Programs.
    Programs(Setup),
}

/// What the command line starts.
pub fn started_by(args: &mut CheckArgs) -> Result<Subject, String> {
    args.options.view.faults = FaultOptions::new(&args.faults, &args.scope)?;
    args.options.view.formulas.clone_from(&args.ltl);
    verify(args)?;
    let here = folder()?;
    let peers = Written { check: None, here: &here }.peers(&args.options.view)?;
    let setup = Setup::new(&args.world)?.recovered_by(&args.scope.recover)?;
    Ok(Subject::Programs(Setup { peers: peers.all, machines: peers.machines, ..setup }))
}

/// Whether options fit programs.
pub fn verify(args: &CheckArgs) -> Result<(), String> {
    misfit::for_programs(args, &KINDS)
}

/// The folder of the check.
fn folder() -> Result<PathBuf, String> {
    std::env::current_dir().map_err(|error| format!("cannot find the working directory: {error}"))
}

/// What `allways.toml` says under a name, or its only check if none is named.
pub fn named(name: Option<&str>, args: &mut CheckArgs) -> Result<Subject, String> {
    let config = Config::read(Path::new(config::FILE))?;
    let name = name.map_or_else(|| config.only(), Ok)?;
    let check = config.find(name)?;
    if check.model.is_none() {
        args.options.view.faults = FaultOptions::new(&args.faults, &args.scope)?;
        args.options.view.formulas = propositions::formulas(&args.ltl, &check.ltl, &check.names);
    }
    args.options = args.options.over(&check.options);
    if let Some(model) = &check.model {
        return match &args.options.view.faults {
            Some(_) => Err(format!(
                "[check.{name}.faults] is for programs\n  = help: allways check {} --faults 1",
                model.display()
            )),
            None => Ok(Subject::Model(model.clone())),
        };
    }
    let here = folder()?;
    let setup = services::setup(name, check, &here)?;
    verify(args)?;
    let peers = Written { check: Some((name, &check.options)), here: &here }.peers(&args.options.view)?;
    Ok(Subject::Programs(Setup { peers: peers.all, machines: peers.machines, ..setup }))
}

/// A setup in which peers are programs like the others, started before them in the same world: nothing is searched, so nothing
/// has to be remembered. Native ones stay outside.
pub fn with_peers(mut setup: Setup, specs: &[Spec], outside: Option<Where>) -> Result<Setup, String> {
    let here = folder()?;
    let view = ViewOptions { peer: specs.to_vec(), outside, ..ViewOptions::default() };
    let Peers { all: peers, machines } = Written { check: None, here: &here }.peers(&view)?;
    if let Some(why) = peers.iter().find_map(|peer| refused_in_run(&peer.spec)) {
        return Err(why);
    }
    setup.machines = machines.local();
    let (native, peers): (Vec<_>, Vec<_>) =
        peers.into_iter().partition(|peer| peer.spec.outside == Some(Where::Native));
    setup.peers = native;
    let files: Vec<PathBuf> = peers.iter().filter_map(|peer| program_file(&peer.command)).collect();
    setup.roots.extend(files.iter().cloned());
    setup.named.extend(files);
    setup.services.splice(0..0, peers.into_iter().map(|peer| Service::new(peer.command)));
    Ok(setup)
}

/// Why a run cannot have a peer, and what to do.
fn refused_in_run(spec: &Spec) -> Option<String> {
    let is_datagram = matches!(spec.listens, Some(Address::Udp(..)));
    let wrong = [
        (
            spec.outside == Some(Where::Remote),
            "is remote, which only peers of a check can be",
            "leave out `--outside remote`, or check it",
        ),
        (
            !is_local(spec),
            "listens at the address of another machine, which a run does not have",
            "give the machine a name, or a port alone",
        ),
        (
            spec.outside == Some(Where::Native) && is_datagram,
            "is native and listens on a UDP port: a run passes streams to native peers, and no datagrams",
            "leave out `--outside native`: the peer runs inside then; or check it",
        ),
    ];
    let wrong = wrong.into_iter().find(|(is_wrong, ..)| *is_wrong);
    wrong.map(|(_, why, help)| format!("`--peer`: `{}` {why}\n  = help: {help}", spec.name))
}

/// Whether a peer can be found on the local machine, by whatever name.
fn is_local(spec: &Spec) -> bool {
    spec.listens.as_ref().and_then(Address::machine).is_none_or(Address::is_name)
}

fn wrong(why: &str, output: &Output) -> Exit {
    output.error(why);
    Exit::Usage
}

/// A limit or the user ended the check before its search.
fn stopped(why: &str, budget: &Budget, output: &Output) -> Exit {
    output.error(why);
    if budget.spent() == Some(Spent::Interrupted) { Exit::Interrupted } else { Exit::Inconclusive }
}

/// Checks programs.
pub fn check(mut setup: Setup, args: &CheckArgs, output: &Output) -> Exit {
    // Otherwise the first call of each function runs the dynamic linker, whose locks and tables would be part of the search.
    setup.set_default("LD_BIND_NOW", "1");
    let mut wanted = Wanted::new(&args.options, args.no_save);
    wanted.request.fair = args.fair.is_some();
    let budget = budget(&wanted.request);
    // Programs see the time at which this folder last changed: not because something was found in it.
    let _folder = (!args.no_save).then(|| Saved::here().prepare());
    let host = setup.host();
    let limit = memory_limit(&wanted.request);
    trial::find_services(&mut setup, &host, limit, &budget);
    let (mut programs, mut checked) = match conduct(&setup, &host, (&wanted, limit), &budget, output) {
        Ok(conducted) => conducted,
        Err(why) if budget.is_spent() => return stopped(&why, &budget, output),
        Err(why) => return wrong(&why, output),
    };
    let sources = evidence::sources(&mut checked);
    checked.keep(args, output);
    checked.show_run(args, &mut ProgramReplay::new(&mut programs, &setup.folder()));
    checked.tell(&sources, args, output);
    tell_hidden(&host, output);
    found_services::tell(&setup, output);
    programs.peers().iter().for_each(|peer| peer.close());
    // The process ends: to give back what millions of states took would only take time.
    std::mem::forget(programs);
    checked.exit(output)
}

/// Starts programs, searches their schedules, and executes again what was found: what cannot be shown again is not believed.
fn conduct(
    setup: &Setup,
    host: &Arc<DeclaredRoots>,
    (wanted, limit): (&Wanted, Limit),
    budget: &Budget,
    output: &Output,
) -> Result<(Programs, Checked), String> {
    let mut programs = start(setup, host, (wanted, limit), budget)?;
    let searched = search::search(&mut programs, wanted, Watch { budget, output });
    if let Some(refusal) = &searched.refusal {
        output.error(&format!("{refusal}\n  = {}", way_out(refusal)));
    }
    let line = ProgressLine::new(output.is_quiet(), output.layout.width);
    let evidence = Court { programs: &mut programs, setup, wanted, line }.collect(&searched);
    let mut checked = summary::summary(setup, wanted, &searched, evidence);
    checked.summary.warnings.extend(endless(&mut programs, &searched));
    Ok((programs, checked))
}

/// What a check may use.
///
/// A sixteenth of the memory is kept back: between two looks at the meter a step may allocate.
fn budget(request: &Request) -> Budget {
    let meter: fn() -> Option<u64> = usage::memory_now;
    // One step may take much at once.
    let memory = request.memory.map(|bytes| bytes - bytes / 16);
    let allowance = Allowance { time: request.time_left(), memory, meter: Some(meter) };
    Budget::new(on_interrupt(), allowance)
}

/// What the programs themselves may take.
fn memory_limit(request: &Request) -> Limit {
    let asked = request.memory.filter(|_| request.memory_asked);
    asked.into_iter().for_each(usage::bound_memory);
    Limit { is_pressed: Some(usage::is_pressed), ..asked.map_or_else(Limit::default, Limit::within) }
}

/// Starts programs, and learns what must never be true of them.
fn start(
    setup: &Setup,
    host: &Arc<DeclaredRoots>,
    (wanted, limit): (&Wanted, Limit),
    budget: &Budget,
) -> Result<Programs, String> {
    no_name_twice(&wanted.view)?;
    let options = Options { budget: budget.clone(), ..wanted.checker_options(&setup.stdin) };
    let started = Programs::start_services(Host(host.clone()), limit, &setup.services, options);
    let mut programs = started.map_err(|error| not_started(&error))?;
    for text in &wanted.view.never {
        programs.forbid(text).map_err(|problem| {
            let shown = problem.shown(checker::named(text).1).replace('\n', "\n    ");
            format!("`--never` is not a proposition that can be checked\n    {shown}")
        })?;
    }
    for text in &wanted.view.finally {
        programs.demand(text).map_err(|problem| {
            let shown = problem.shown(checker::named(text).1).replace('\n', "\n    ");
            format!("`--finally` is not a proposition that can be checked\n    {shown}")
        })?;
    }
    for text in &wanted.view.formulas {
        let told =
            |why: String| format!("`--ltl` is no formula that can be checked\n    {}", why.replace('\n', "\n    "));
        programs.add_formula(text).map_err(told)?;
    }
    for peer in &setup.peers {
        peers::start(peer, &mut programs, setup)?;
    }
    wanted.view.place(&mut programs)?;
    Ok(programs)
}

/// `strict` is a property of its own: a proposition of that name would get its verdict.
fn no_name_twice(view: &ViewOptions) -> Result<(), String> {
    let mut all = view.never.iter().map(|text| checker::named(text));
    match all.find(|(name, _)| view.is_strict() && *name == checker::STRICT) {
        Some((name, text)) => Err(format!(
            "`--never`: a proposition is called `{name}`, as the property of strict peers is\n  = help: give it another name: --never 'NAME := {text}'"
        )),
        None => Ok(()),
    }
}

/// Why a search that was stopped may never end: what grows, and what to do about it.
///
/// Only a hint, and only when nothing better is known: growth along one path suggests an infinite
/// state space, it does not prove it.
fn endless(programs: &mut Programs, searched: &Searched) -> Option<String> {
    let has_run_out = matches!(searched.reason, Some(Reason::Spent(_)));
    if !has_run_out || searched.refusal.is_some() || programs.is_spent() {
        return None;
    }
    let growing = programs.growing();
    let told = growing.iter().take(3).map(|growth| {
        let Growth { name, from, to, steps } = growth;
        format!("`{name}` goes from {from} to {to} within {steps} steps")
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() {
        programs.set_budget(programs.budget().closing());
        return spinning(programs);
    }
    Some(format!(
        "{}: if it goes on for ever, no state is ever met again and no search ends; let the program stop, or bound what it counts",
        told.join(", ")
    ))
}

/// Who computes and computes.
fn spinning(programs: &mut Programs) -> Option<String> {
    let (name, place) = programs.spinning()?;
    let place = place.map(|place| format!(", at {}:{}", place.file, place.line)).unwrap_or_default();
    Some(format!(
        "{name} goes on and on without asking the kernel for anything{place}: if its loop never ends, no search does; let it stop, or give it less to do"
    ))
}

/// What to do about a search that could not go on.
fn way_out(refusal: &Refusal) -> &'static str {
    match refusal.cause {
        Cause::Memory => "help: --mem SIZE allows more",
        Cause::Changed => "help: check again while nobody writes to it",
        Cause::Differs => {
            "this is a bug in allways, please report it; `--reduction off` and other engines may still answer"
        }
        Cause::Peer => "help: nothing follows from answers that cannot be relied on (docs/peers.md)",
        Cause::Unmodelled | Cause::Spent => {
            "help: `allways doctor CMD` lists what is not modelled; what is not modelled is never guessed"
        }
    }
}
