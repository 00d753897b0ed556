//! Promela models, read.

use crate::evidence::Describe;
use crate::fault_plan::{Wanted, condition, unfit};
use crate::load_error::{LoadError, paint};
use crate::model_args::ModelArgs;
use crate::request::Request;
use crate::run_property::{Run, runs_of};
use crate::safety;
use promela::diagnostic::render_all;
use promela::faults::prepare;
use promela::ir::Claim;
use promela::ir::{Action, ControlState, Proctype};
use promela::lower::{Names, lower_ltl, lower_with_names};
use promela::parse::{self, FailureKind as ParseFailure, ParseOptions, Parsed};
use promela::run::vector::Work;
use promela::run::{Backend, ModelSystem, explain};
use promela::unread::lean;
use replay::ModelReplay;
use report::{Colour, Property, PropertyVerdict, Sources};
use std::path::{Path, PathBuf};
use trace::{Counterexample, FailureKind, Fingerprint, SystemRef, Variable, WaitReason, Waiting};

/// A model that was read.
pub struct Model {
    /// What it does, as written.
    pub system: ModelSystem,
    /// The same without values that nobody reads, or reads any more, if there are any: fewer states, the same schedules.
    lean: Option<ModelSystem>,
    /// How counterexamples refer to it.
    pub system_ref: SystemRef,
    /// What looks wrong but is legal, ready to be printed.
    pub warnings: String,
    /// Its properties of whole runs.
    pub runs: Vec<Run>,
}

impl Model {
    /// Reads a model, to which faults may happen if some are wanted.
    ///
    /// # Errors
    /// If it is wrong, uses what we do not support, or the faults do not fit it.
    pub fn load(
        path: &Path,
        args: &ModelArgs,
        formulas: &[String],
        faults: Option<&Wanted>,
        colour: Colour,
    ) -> Result<Self, LoadError> {
        let parsed = parse::parse_file(path, &parse_options(args)).map_err(|failure| {
            let text = render_all(&failure.diagnostics, &failure.sources, paint(colour));
            match failure.kind {
                ParseFailure::Input => LoadError::Input(text),
                ParseFailure::Unsupported => LoadError::Unsupported(text),
            }
        })?;
        let told = |diagnostics: Vec<_>| LoadError::Input(render_all(&diagnostics, &parsed.sources, paint(colour)));
        let mut lowered = lower_with_names(&parsed.program, &parsed.sources).map_err(told)?;
        supported(&lowered.model)?;
        let mut warnings: Vec<_> = parsed.warnings.clone();
        warnings.extend(lowered.warnings);
        let mut warnings = render_all(&warnings, &parsed.sources, paint(colour));
        let mut extra = formulas_beside(formulas, &parsed, &lowered.names, &lowered.model, colour, &mut warnings)?;
        let mut system_ref = system_ref(path, args, &parsed);
        let faults = match faults {
            Some(wanted) => {
                let after = wanted.after.as_ref().map(|text| condition(text, &parsed, &lowered.names, colour));
                let plan = wanted.plan(after.transpose()?);
                system_ref.options.extend(wanted.options());
                Some(prepare(&mut lowered.model, &mut extra, plan).map_err(unfit)?)
            }
            None => None,
        };
        let start = |model: promela::ir::Model| {
            let code = Backend::new(&model, args.interpret);
            let mut system = ModelSystem::new(model, parsed.sources.clone(), code);
            let runs = runs_of(&mut system, extra.clone());
            (system, runs)
        };
        // A fault may touch what nobody reads, and then the two would not go the same way.
        let leaner = lean(&lowered.model, &extra).filter(|_| faults.is_none());
        let lean = leaner.map(|model| start(model).0);
        let (mut system, runs) = start(lowered.model);
        system.faults = faults;
        Ok(Self { system, lean, system_ref, warnings, runs })
    }

    /// What is searched.
    pub fn searched(&self, request: &Request) -> &ModelSystem {
        if request.reduction { self.lean() } else { &self.system }
    }

    /// Where states are one if nobody can tell them apart: there a cycle closes although a counter went on.
    pub fn lean(&self) -> &ModelSystem {
        self.lean.as_ref().unwrap_or(&self.system)
    }

    /// Reads the model that a counterexample speaks of.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn load_again(counterexample: &Counterexample, colour: Colour) -> Result<Self, LoadError> {
        let system_ref = &counterexample.system;
        let with = |flag: &'static str| {
            let options = system_ref.options.iter();
            options.filter_map(move |option| option.strip_prefix(flag)).map(str::to_owned)
        };
        let args = ModelArgs {
            define: system_ref.defines.clone(),
            undefine: with("-U").collect(),
            include: with("-I").map(PathBuf::from).collect(),
            interpret: false,
        };
        // A formula of the command line is known by its text.
        let property = &counterexample.property;
        let formulas = if property.kind == FailureKind::Ltl { vec![property.name.clone()] } else { Vec::new() };
        let faults = Wanted::from_options(&system_ref.options);
        Self::load(Path::new(&system_ref.file), &args, &formulas, faults.as_ref(), colour)
    }

    /// The source texts, for snippets.
    pub fn sources(&self) -> Sources {
        let mut sources = Sources::default();
        for file in self.system.sources.files() {
            sources.add(file.path.display().to_string(), file.text.as_str());
        }
        sources
    }

    /// The failed steps and stuck states that a check is about, not yet decided.
    pub fn properties(&self, request: &Request) -> Vec<Property> {
        let model = &self.system.model;
        let promises =
            |proctype: &Proctype| !proctype.exclusive_receive.is_empty() || !proctype.exclusive_send.is_empty();
        let asserts = |proctype: &Proctype| {
            let mut edges = proctype.states.iter().flat_map(|state| &state.edges);
            edges.any(|edge| matches!(edge.action, Action::Assert { .. }))
        };
        let concerned = |kind: &FailureKind| match kind {
            FailureKind::Assert => model.proctypes.iter().any(asserts),
            FailureKind::Trace => model.event_trace.is_some(),
            FailureKind::Exclusive => model.proctypes.iter().any(promises),
            _ => true,
        };
        safety::SAFETY.into_iter().filter(|kind| request.wants(*kind) && concerned(kind)).map(property).collect()
    }

    /// The model, to be replayed with every value.
    pub fn replay(&self) -> ModelReplay<'_, ModelSystem> {
        ModelReplay::new(&self.system)
    }

    /// Which faults may happen, in words.
    pub fn faults_words(&self) -> String {
        let Some(faults) = &self.system.faults else { return String::new() };
        match faults.faults.len() {
            1 => format!("up to {} of 1 fault", faults.budget),
            many => format!("up to {} of {many} faults", faults.budget),
        }
    }

    /// Whether it reads from `STDIN`.
    pub fn reads_input(&self) -> bool {
        self.system.model.features.input
    }

    /// Lets it read from a source; without one, reading is a violation.
    pub fn attach_input(&mut self, source: impl std::io::Read + Send + 'static) {
        self.system.model.input = Some(promela::input::Input::new(source));
    }

    /// Whether it asked for more than its input has.
    pub fn input_has_ended(&self) -> bool {
        self.system.model.input.as_ref().is_some_and(promela::input::Input::has_ended)
    }
}

/// Refuses what a model may say but we cannot execute.
fn supported(model: &promela::ir::Model) -> Result<(), LoadError> {
    let refuse = |what: &str| Err(LoadError::Unsupported(format!("error[unsupported]: {what}\n")));
    if model.features.priority && model.features.rendezvous {
        return refuse(
            "priorities and rendezvous channels in one model\n  = note: whose priority counts for a step of two processes is not defined; SPIN refuses it, too",
        );
    }
    if model.channels.len() > 255 {
        return refuse("more than 255 channels\n  = note: a channel variable is a byte, as in SPIN");
    }
    Ok(())
}

/// Formulas of the command line that are no names of `ltl` blocks, as further claims.
fn formulas_beside(
    formulas: &[String],
    parsed: &Parsed,
    names: &Names,
    model: &promela::ir::Model,
    colour: Colour,
    warnings: &mut String,
) -> Result<Vec<Claim>, LoadError> {
    let mut claims = Vec::new();
    for text in formulas.iter().filter(|text| !model.claims.iter().any(|claim| claim.name == **text)) {
        let formula = parse::parse_ltl(text, parsed).map_err(|failure| {
            let mut told = render_all(&failure.diagnostics, &failure.sources, paint(colour));
            told.push_str(&known_claims(model));
            LoadError::Input(told)
        })?;
        warnings.push_str(&render_all(&formula.warnings, &formula.sources, paint(colour)));
        let kind = lower_ltl(names, &formula.value).map_err(|diagnostics| {
            let told = render_all(&diagnostics, &formula.sources, paint(colour));
            LoadError::Input(told + &known_claims(model))
        })?;
        claims.push(Claim { name: text.clone(), kind, span: Default::default() });
    }
    Ok(claims)
}

/// What `--ltl` could have meant.
fn known_claims(model: &promela::ir::Model) -> String {
    let names: Vec<&str> = model.claims.iter().map(|claim| claim.name.as_str()).collect();
    if names.is_empty() {
        return "  = note: --ltl takes a formula, or the name of an `ltl` block; this model has none\n".to_owned();
    }
    format!("  = note: --ltl takes a formula, or one of this model's names: {}\n", names.join(", "))
}

/// The property of a kind, not yet decided.
pub fn property(kind: FailureKind) -> Property {
    let (verdict, note) = (PropertyVerdict::Incomplete, String::new());
    Property { name: kind.to_string(), kind, verdict, note, counterexample: None, violations: 0, trail: None }
}

fn parse_options(args: &ModelArgs) -> ParseOptions {
    let define = |text: &String| match text.split_once('=') {
        Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
        None => (text.clone(), None),
    };
    ParseOptions {
        defines: args.define.iter().map(define).collect(),
        undefines: args.undefine.clone(),
        include_dirs: args.include.clone(),
    }
}

fn system_ref(path: &Path, args: &ModelArgs, parsed: &Parsed) -> SystemRef {
    let undefines = args.undefine.iter().map(|name| format!("-U{name}"));
    let includes = args.include.iter().map(|folder| format!("-I{}", folder.display()));
    let files = parsed.sources.files().iter();
    let fingerprint = files.fold(Fingerprint::new(), |sum, file| sum.with(file.text.as_bytes()));
    SystemRef {
        kind: "promela".to_owned(),
        file: path.display().to_string(),
        defines: args.define.clone(),
        options: undefines.chain(includes).collect(),
        fingerprint: fingerprint.to_string(),
    }
}

impl Describe for ModelReplay<'_, ModelSystem> {
    fn variables(&mut self, state: &Vec<u8>) -> Vec<Variable> {
        let named = explain::variables(&self.system.model, &self.system.work(state));
        named.into_iter().map(|(name, value)| Variable { name, value }).collect()
    }

    fn waiting(&mut self, state: &Vec<u8>) -> Vec<Waiting> {
        let ModelSystem { model, .. } = self.system;
        let work = self.system.work(state);
        let stands = |pid: u32| &model.proctypes[work.proctype(pid)].states[work.pc(model, pid)];
        let waits = (0..work.processes()).filter(|&pid| !stands(pid).end);
        waits.map(|pid| self.system.wait(pid, stands(pid))).collect()
    }
}

/// What a report wants to know about processes.
trait Processes {
    fn work(&self, state: &[u8]) -> Work;
    fn wait(&self, pid: u32, stands: &ControlState) -> Waiting;
}

impl Processes for ModelSystem {
    fn work(&self, state: &[u8]) -> Work {
        let mut work = Work::default();
        work.load(&self.model, state);
        work
    }

    fn wait(&self, pid: u32, stands: &ControlState) -> Waiting {
        let reason = match stands.edges.as_slice() {
            [only] => match only.action {
                Action::Die => WaitReason::YoungerProcesses,
                _ => WaitReason::Statement(explain::statement(&self.sources, only)),
            },
            many => WaitReason::Statements(many.len() as u64),
        };
        let span = stands.edges.first().map_or(stands.span, |edge| edge.span);
        Waiting { actor: pid, reason, text: String::new(), location: explain::location(&self.sources, span) }
    }
}
