//! `allways check`: search, report, save.

use super::refuse;
use crate::args::{CheckArgs, CheckFormat};
use crate::checked::Checked;
use crate::exit::Exit;
use crate::fault_plan::Wanted;
use crate::input::look_at;
use crate::interrupt::on_interrupt;
use crate::journal::{self, Journal};
use crate::misfit;
use crate::model::Model;
use crate::output::Output;
use crate::programs::config::{Config, FILE};
use crate::programs::{self, Subject};
use crate::progress::ProgressLine;
use crate::report_files;
use crate::request::Request;
use crate::safety::Watch;
use std::path::{Path, PathBuf};

/// Checks programs or a model.
pub fn check(mut args: Box<CheckArgs>, output: &Output) -> Exit {
    let journal = match journal::begin(&mut args) {
        Ok(journal) => journal,
        Err(why) => {
            output.error(&why);
            return Exit::Usage;
        }
    };
    let prepared = apply_profile(&mut args).and_then(|()| {
        name_reports(&mut args);
        report_files::begin(&args.report, &named(&args))
    });
    let subject = prepared.map_err(|why| (Exit::Usage, why)).and_then(|()| subject(&mut args));
    match subject {
        Ok(Subject::Programs(setup)) => programs::check(setup, &args, output),
        Ok(Subject::Model(file)) => check_model(&file, (&args, journal), output),
        Err((exit, why)) => {
            output.error(&why);
            exit
        }
    }
}

/// Lays the command line over the profile that it names.
fn apply_profile(args: &mut CheckArgs) -> Result<(), String> {
    let Some(name) = &args.profile else { return Ok(()) };
    if !Path::new(FILE).is_file() {
        return Err(format!("there is no {FILE} here, so no profile `{name}`"));
    }
    let config = Config::read(Path::new(FILE))?;
    let profile = config.find_profile(name)?;
    args.options = args.options.over(&profile.options);
    args.report.extend(profile.reports_beside(&args.report));
    Ok(())
}

/// A test is one of many with the same flags and the same profile: its reports have its name.
fn name_reports(args: &mut CheckArgs) {
    if let Some(test) = &args.of_test {
        args.report = args.report.iter().map(|file| file.of_test(test)).collect();
    }
}

/// What is to be checked, as the user named it.
fn named(args: &CheckArgs) -> String {
    let command: Vec<_> = args.world.command.iter().map(|word| word.to_string_lossy()).collect();
    let file = args.file.as_ref().map(|file| file.display().to_string());
    file.unwrap_or_else(|| if command.is_empty() { FILE.to_owned() } else { command.join(" ") })
}

/// What is to be checked: programs of the command line, a check of `allways.toml`, or a model.
pub(super) fn subject(args: &mut CheckArgs) -> Result<Subject, (Exit, String)> {
    let usage = |why| (Exit::Usage, why);
    if !args.world.command.is_empty() {
        return programs::started_by(args).map_err(usage);
    }
    let has_checks = Path::new(FILE).is_file();
    let is_name = |file: &&PathBuf| may_be_name(file) && (!file.exists() || programs::config::has_check(file));
    let name = args.file.as_ref().filter(is_name).and_then(|file| file.to_str()).map(str::to_owned);
    match (&args.file, name) {
        (None, _) if has_checks => programs::named(None, args).map_err(usage),
        (_, Some(name)) if has_checks => programs::named(Some(&name), args).map_err(usage),
        (_, Some(name)) => Err(usage(unknown_name(&name))),
        (Some(file), None) => Ok(Subject::Model(file.clone())),
        (None, None) => Err((
            Exit::Nothing,
            "nothing to check\n  = help: name programs or a model: allways check -- CMD, allways check FILE.pml"
                .to_owned(),
        )),
    }
}

/// Whether this may name a check of `allways.toml`. A file of the same name is meant by its path: `./NAME`.
fn may_be_name(file: &Path) -> bool {
    let is_bare = !file.as_os_str().as_encoded_bytes().contains(&b'/');
    file.extension().is_none() && is_bare
}

fn unknown_name(name: &str) -> String {
    format!(
        "there is no file `{name}`, and no allways.toml with a check of that name\n  = help: a program: allways check -- {name}; a model: allways check {name}.pml; `allways init` writes an allways.toml"
    )
}

fn check_model(file: &Path, (args, mut journal): (&CheckArgs, Option<Journal>), output: &Output) -> Exit {
    let wanted = match faults(file, args) {
        Ok(wanted) => wanted,
        Err(why) => {
            output.error(&why);
            return Exit::Usage;
        }
    };
    let loaded = Model::load(file, &args.model, &args.ltl, wanted.as_ref(), output.message_colour());
    let model = match loaded {
        Ok(model) => model,
        Err(error) => return refuse(error, output),
    };
    output.raw_message(&model.warnings);
    if let Some(journal) = &mut journal
        && let Err(why) = journal::settle(journal, &model, args)
    {
        output.error(&why);
        return Exit::Usage;
    }
    let mut checked = search(&model, &Request::for_model(args), journal.as_ref(), output);
    if let Some(why) = journal.as_ref().and_then(Journal::refused) {
        output.error(&format!("cannot go on: {why}"));
        return Exit::Usage;
    }
    checked.keep(args, output);
    checked.show_run(args, &mut model.replay());
    if args.format == CheckFormat::Spin {
        measure_trails(&model, &mut checked);
    }
    checked.tell(&model.sources(), args, output);
    if args.trail {
        write_trails(&model, &checked, args, output);
    }
    checked.exit(output)
}

/// The faults that may happen to a model, unless the flags do not fit it.
fn faults(file: &Path, args: &CheckArgs) -> Result<Option<Wanted>, String> {
    misfit::for_models(args)?;
    look_at(file)?;
    let wanted = Wanted::new(&args.faults, &args.scope)?;
    match args.trail && wanted.is_some() {
        true => Err("--trail and --faults do not go together: SPIN knows no faults".to_owned()),
        false => Ok(wanted),
    }
}

fn search(model: &Model, request: &Request, journal: Option<&Journal>, output: &Output) -> Checked {
    let stop = on_interrupt();
    let line = ProgressLine::new(output.is_quiet(), output.layout.width);
    let watch = Watch { stop: &stop, progress: &|progress| line.show(progress), pause: None, journal };
    let checked = model.check(request, watch);
    line.clear();
    checked
}

/// Finds the depths that SPIN would print, counterexample by counterexample.
fn measure_trails(model: &Model, checked: &mut Checked) {
    for (index, counterexample) in &checked.counterexamples {
        let property = &mut checked.summary.properties[*index];
        property.trail = property.trail.or_else(|| model.trail_end(counterexample));
    }
}

/// Writes `FILE.pml.trail`, and `FILE.pml2.trail` and so on for further ones, where `spin -t` looks for them.
fn write_trails(model: &Model, checked: &Checked, args: &CheckArgs, output: &Output) {
    let file = model.system_ref.file.as_str();
    for (number, (_, counterexample)) in checked.counterexamples.iter().enumerate() {
        let suffix = if number == 0 { String::new() } else { (number + 1).to_string() };
        let path = PathBuf::from(format!("{file}{suffix}.trail"));
        let written = model.trail(counterexample).and_then(|text| {
            crate::careful::replace(&path, text.as_bytes())
                .map_err(|error| format!("cannot write {}: {error}", path.display()))
        });
        match written {
            Ok(()) if args.format != CheckFormat::Json => output.note(&format!("wrote {}", path.display())),
            Ok(()) => {}
            Err(why) => output.warn(&why),
        }
    }
}
