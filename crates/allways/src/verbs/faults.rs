//! `allways faults`: what every set of faults does to every property; of two models, side by side.

use super::refuse;
use crate::campaign::{Campaign, campaign};
use crate::exit::Exit;
use crate::fault_args::{FaultsArgs, FaultsFormat};
use crate::fault_plan::Wanted;
use crate::input::look_at;
use crate::interrupt::on_interrupt;
use crate::model::Model;
use crate::output::Output;
use crate::progress::ProgressLine;
use crate::request::Request;
use crate::safety::Watch;
use crate::saved::Saved;
use report::{
    Robustness, compare_html, compare_json, compare_text, fault_tree_dot, fault_tree_psa, robustness_html,
    robustness_json, robustness_text,
};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Runs the campaign.
pub fn faults(args: FaultsArgs, output: &Output) -> Exit {
    if args.files.len() > 1 && matches!(args.format, FaultsFormat::Dot | FaultsFormat::Psa) {
        output.error("fault trees are drawn for one model at a time");
        return Exit::Usage;
    }
    let stop = on_interrupt();
    let request = Request::for_faults(&args);
    let mut told = Vec::new();
    for file in &args.files {
        match attack(file, &args, &request, &stop, output) {
            Ok(one) => told.push(one),
            Err(exit) => return exit,
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
    // Of two models the improved one decides.
    told.last().map_or(Exit::Nothing, |told| told.outcome().into())
}

fn attack(
    file: &Path,
    args: &FaultsArgs,
    request: &Request,
    stop: &Arc<AtomicBool>,
    output: &Output,
) -> Result<Robustness, Exit> {
    let usage = |why: String| {
        output.error(&why);
        Exit::Usage
    };
    look_at(file).map_err(usage)?;
    let wanted = Wanted::new(&args.faults, &args.scope).map_err(usage)?;
    let wanted = wanted.map(Wanted::remembering).unwrap_or_default();
    let loaded = Model::load(file, &args.model, &args.ltl, Some(&wanted), output.message_colour());
    let mut model = loaded.map_err(|error| refuse(error, output))?;
    output.raw_message(&model.warnings);
    let line = ProgressLine::new(output.is_quiet(), output.layout.width);
    let watch = Watch { stop, progress: &|progress| line.show(progress), pause: None };
    let mut campaign = campaign(&mut model, request, wanted.budget, watch);
    line.clear();
    keep(&mut campaign, args, output);
    for what in &campaign.unconfirmed {
        output.warn(&format!(
            "a violation could not be shown again ({what}); this is a bug in allways, please report it"
        ));
    }
    Ok(campaign.told)
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
