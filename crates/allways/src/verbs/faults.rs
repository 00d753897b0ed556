//! `allways faults`: what every set of faults does to every property; of two systems, side by side.

use super::check::subject;
use super::refuse;
use crate::args::CheckArgs;
use crate::campaign::{Campaign, campaign};
use crate::exit::Exit;
use crate::fault_args::{FaultArgs, FaultCount, FaultsArgs, FaultsFormat};
use crate::fault_plan::Wanted;
use crate::input::look_at;
use crate::interrupt::on_interrupt;
use crate::misfit;
use crate::model::Model;
use crate::options::{FaultOptions, Options, SearchOptions, ViewOptions};
use crate::output::Output;
use crate::programs::{self, Subject};
use crate::progress::ProgressLine;
use crate::request::Request;
use crate::safety::Watch;
use crate::saved::Saved;
use report::{
    Robustness, compare_html, compare_json, compare_text, fault_tree_dot, fault_tree_psa, robustness_html,
    robustness_json, robustness_text,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs the campaign.
pub fn faults(args: FaultsArgs, output: &Output) -> Exit {
    if args.files.len() > 1 && matches!(args.format, FaultsFormat::Dot | FaultsFormat::Psa) {
        output.error("fault trees are drawn for one system at a time");
        return Exit::Usage;
    }
    if let Err(why) = misfit::for_campaigns(&args.options) {
        output.error(&why);
        return Exit::Usage;
    }
    let (stop, request) = (on_interrupt(), Request::for_faults(&args));
    let mut told = Vec::new();
    let files: Vec<Option<&PathBuf>> =
        if args.files.is_empty() { vec![None] } else { args.files.iter().map(Some).collect() };
    for file in files {
        match attack(file, &args, (&request, &stop), output) {
            Ok(one) => told.push(one),
            Err((exit, why)) => {
                why.iter().for_each(|why| output.error(why));
                return exit;
            }
        }
    }
    let text = match &told[..] {
        [before, after] => compared(before, after, &args, output),
        _ => alone(&told[0], &args, output),
    };
    if let Err(why) = deliver(&text, &args, output) {
        output.error(&why);
        return Exit::Usage;
    }
    // Of two systems the improved one decides.
    told.last().map_or(Exit::Nothing, |told| told.outcome().into())
}

/// Why there is no campaign: the exit code, and what is not told yet.
type NoCampaign = (Exit, Option<String>);

fn usage(why: String) -> NoCampaign {
    (Exit::Usage, Some(why))
}

/// Attacks what is named, or the programs of the command line.
fn attack(
    file: Option<&PathBuf>,
    args: &FaultsArgs,
    (request, stop): (&Request, &Arc<AtomicBool>),
    output: &Output,
) -> Result<Robustness, NoCampaign> {
    let mut check = as_check(file, args, request);
    let mut campaign = match subject(&mut check).map_err(|(exit, why)| (exit, Some(why)))? {
        Subject::Model(file) => {
            misfit::for_models(&check).map_err(usage)?;
            attack_model(&file, args, (request, stop), output)?
        }
        Subject::Programs(setup) => {
            check.options.view.faults = Some(faults_of(&check.options.view, args).map_err(usage)?);
            programs::verify(&check).map_err(usage)?;
            programs::campaign(setup, &check.options, args.no_save, output).map_err(usage)?
        }
    };
    keep(&mut campaign, args, output);
    for what in &campaign.unconfirmed {
        output.warn(&format!(
            "a violation could not be shown again ({what}); this is a bug in allways, please report it"
        ));
    }
    Ok(campaign.told)
}

/// What `check` would be asked for, but for the faults.
fn as_check(file: Option<&PathBuf>, args: &FaultsArgs, request: &Request) -> CheckArgs {
    let search = SearchOptions { time: request.time_left(), ..args.options.search.clone() };
    CheckArgs {
        file: file.cloned(),
        world: args.world.clone(),
        model: args.model.clone(),
        options: Options { search, ..args.options.clone() },
        ltl: args.ltl.clone(),
        fair: args.fair,
        scope: FaultArgs { only: Vec::new(), ..args.scope.clone() },
        no_save: args.no_save,
        ..CheckArgs::default()
    }
}

/// The faults of programs: those of the command line, those of the file, or the usual ones.
fn faults_of(view: &ViewOptions, args: &FaultsArgs) -> Result<FaultOptions, String> {
    let (counts, scope) = (&args.faults, &args.scope);
    if !scope.only.is_empty() {
        return FaultOptions::new(counts, scope).map(Option::unwrap_or_default);
    }
    let asked = match counts[..] {
        [FaultCount { class: None, count }] => count,
        _ => return Err("`--faults` of programs is one number: a budget for all kinds together".to_owned()),
    };
    let faults = match &view.faults {
        Some(faults) => FaultOptions { budget: faults.budget.max(asked), ..faults.clone() },
        None if view.peer.is_empty() => FaultOptions::usual(asked),
        None => FaultOptions::usual_with_peers(asked),
    };
    Ok(FaultOptions { after: scope.after.clone().or(faults.after.clone()), ..faults })
}

fn attack_model(
    file: &Path,
    args: &FaultsArgs,
    (request, stop): (&Request, &Arc<AtomicBool>),
    output: &Output,
) -> Result<Campaign, NoCampaign> {
    look_at(file).map_err(usage)?;
    let wanted = Wanted::new(&args.faults, &args.scope).map_err(usage)?;
    let wanted = wanted.map(Wanted::remembering).unwrap_or_default();
    let loaded = Model::load(file, &args.model, &args.ltl, Some(&wanted), output.message_colour());
    let mut model = loaded.map_err(|error| (refuse(error, output), None))?;
    output.raw_message(&model.warnings);
    let line = ProgressLine::new(output.is_quiet(), output.layout.width);
    let watch = Watch { stop, progress: &|progress| line.show(progress), pause: None, journal: None };
    let campaign = campaign(&mut model, request, wanted.budget, watch);
    line.clear();
    Ok(campaign)
}

/// Names and saves the counterexamples. That a disk is full changes no verdict.
fn keep(campaign: &mut Campaign, args: &FaultsArgs, output: &Output) {
    let saved = Saved::here();
    let mut saves = !args.no_save;
    // The first one is saved last: it is the one to look at, so it becomes the latest.
    for ((property, set), counterexample) in campaign.counterexamples.iter_mut().rev() {
        saved.name(counterexample);
        if saves && let Err(why) = saved.save(counterexample) {
            output.warn(&why);
            saves = false;
        }
        if saves {
            let set = &mut campaign.told.properties[*property].cut_sets[*set];
            set.counterexample = Some(counterexample.id.clone());
        }
    }
}

fn alone(told: &Robustness, args: &FaultsArgs, output: &Output) -> String {
    match args.format {
        FaultsFormat::Json => robustness_json(told),
        FaultsFormat::Html => robustness_html(told),
        FaultsFormat::Dot => fault_tree_dot(told),
        FaultsFormat::Psa => fault_tree_psa(told),
        FaultsFormat::Text => last_line_if_quiet(robustness_text(told, &output.layout), output),
    }
}

fn compared(before: &Robustness, after: &Robustness, args: &FaultsArgs, output: &Output) -> String {
    match args.format {
        FaultsFormat::Json => compare_json(before, after),
        FaultsFormat::Html => compare_html(before, after),
        _ => last_line_if_quiet(compare_text(before, after, &output.layout), output),
    }
}

fn last_line_if_quiet(text: String, output: &Output) -> String {
    if !output.is_quiet() {
        return text;
    }
    format!("{}\n", text.lines().last().unwrap_or_default())
}

fn deliver(text: &str, args: &FaultsArgs, output: &Output) -> Result<(), String> {
    match &args.output {
        None => {
            output.data(text);
            Ok(())
        }
        Some(path) => {
            let shown = path.display();
            std::fs::write(path, text).map_err(|error| format!("cannot write {shown}: {error}"))?;
            output.note(&format!("wrote {shown}"));
            Ok(())
        }
    }
}
