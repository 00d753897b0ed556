//! `allways explore`: states and schedules in the browser, one choice at a time.
//!
//! What can be checked can be explored, by the same words; a counterexample is explored from its end, because what people ask
//! first is what else could have happened there.

use super::check::subject;
use super::refuse;
use crate::args::ExploreArgs;
use crate::evidence::{Claim, Describe};
use crate::exit::Exit;
use crate::explored::{Explored, explore_in_browser};
use crate::model::Model;
use crate::output::Output;
use crate::programs::{self, Subject};
use crate::saved::Saved;
use explore::Failure;
use promela::run::ModelSystem;
use replay::ModelReplay;
use std::path::Path;
use trace::{Counterexample, Inventory, Schedule, Trace};

/// Serves what the user names until an interrupt.
pub fn explore(mut args: Box<ExploreArgs>, output: &Output) -> Exit {
    if let Some(counterexample) = saved(&args) {
        return explore_saved(counterexample, &args, output);
    }
    if args.check.journal.is_some() || args.check.resume.is_some() {
        output.error("`--journal` and `--resume` are for `check`");
        return Exit::Usage;
    }
    match subject(&mut args.check) {
        Ok(Subject::Model(file)) => match Model::load(&file, &args.check.model, &[], None, output.message_colour()) {
            Ok(model) => explore_model(&model, &Schedule::default(), args.port, output),
            Err(error) => refuse(error, output),
        },
        Ok(Subject::Programs(setup)) => programs::explore(setup, &args, output),
        Err((exit, why)) => {
            output.error(&why);
            exit
        }
    }
}

/// The counterexample that is named, if it is one: a file of that name comes first.
///
/// By its form, not by trying: `check` takes a bare word for a check of `allways.toml`, and so must this.
fn saved(args: &ExploreArgs) -> Option<Counterexample> {
    let name = args.check.file.as_ref()?;
    let is_model = name.extension().is_some_and(|kind| kind != "json")
        || Path::new(programs::config::FILE).is_file() && programs::config::has_check(name);
    if is_model { None } else { Saved::here().find(name.to_str()).ok() }
}

fn explore_saved(counterexample: Counterexample, args: &ExploreArgs, output: &Output) -> Exit {
    if let Some(record) = counterexample.programs.clone() {
        return programs::explore_saved(&counterexample, &record, args, output);
    }
    match Model::load_again(&counterexample, output.message_colour()) {
        Ok(model) => explore_model(&model, &counterexample.schedule, args.port, output),
        Err(error) => refuse(error, output),
    }
}

fn explore_model(model: &Model, schedule: &Schedule, port: u16, output: &Output) -> Exit {
    let mut system = model.replay();
    let sources = model.sources();
    let source = |file: &str| sources.files().find(|(name, _)| *name == file).map(|(_, text)| text.to_owned());
    let mut save =
        |_: &mut ModelReplay<'_, ModelSystem>, schedule: &Schedule, trace: Trace, failure: Option<&Failure>| {
            Ok(Claim::driven(&model.system_ref, failure).shown_by(schedule.clone(), trace))
        };
    let explored = Explored {
        name: model.system_ref.file.clone(),
        choices: &schedule.choices,
        source: &source,
        save: &mut save,
        variables: Describe::variables,
        waiting: Describe::waiting,
        // What a model has is variables and channels, and both are told as variables.
        inventory: |_, _| Inventory::default(),
        port,
    };
    explore_in_browser(&mut system, explored, output)
}
