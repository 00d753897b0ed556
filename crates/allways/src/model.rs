//! Promela models: the one place that knows the language.

use crate::args::ModelArgs;
use crate::evidence::{Describe, finite};
use crate::request::Request;
use crate::safety::{self, Watch};
use crate::unreached::unreached;
use promela::diagnostic::{self, render_all};
use promela::ir::{Action, ControlState};
use promela::lower::lower;
use promela::parse::{self, FailureKind as ParseFailure, ParseOptions, Parsed};
use promela::run::vector::Work;
use promela::run::{Interpreter, explain};
use promela::trail;
use report::{Colour, End, Property, PropertyVerdict, Sources, Summary};
use std::path::{Path, PathBuf};
use trace::{Counterexample, FailureKind, Fingerprint, Schedule, SystemRef, Trace, Variable, Waiting};

/// A model as a transition system.
pub type System = promela::run::System<Interpreter>;

/// A model that was read.
pub struct Model {
    /// What it does.
    pub system: System,
    /// How counterexamples refer to it.
    pub system_ref: SystemRef,
    /// What looks wrong but is legal, ready to be printed.
    pub warnings: String,
}

/// Why a model cannot be used; the text is ready to be printed.
pub enum LoadError {
    /// The model is wrong.
    Input(String),
    /// The model is fine, but uses what we do not support.
    Unsupported(String),
}

/// What a check found out.
pub struct Checked {
    /// The answers. Counterexamples have no ids yet.
    pub summary: Summary,
    /// Counterexamples, each with the index of its property in the summary.
    pub counterexamples: Vec<(usize, Counterexample)>,
    /// Violations that could not be shown again: bugs of ours.
    pub unconfirmed: Vec<String>,
}

impl Model {
    /// Reads a model.
    ///
    /// # Errors
    /// If it is wrong, or uses what we do not support.
    pub fn load(path: &Path, args: &ModelArgs, colour: Colour) -> Result<Self, LoadError> {
        let parsed = parse::parse_file(path, &parse_options(args)).map_err(|failure| {
            let text = render_all(&failure.diagnostics, &failure.sources, paint(colour));
            match failure.kind {
                ParseFailure::Input => LoadError::Input(text),
                ParseFailure::Unsupported => LoadError::Unsupported(text),
            }
        })?;
        let (model, more_warnings) = lower(&parsed.program, &parsed.sources)
            .map_err(|diagnostics| LoadError::Input(render_all(&diagnostics, &parsed.sources, paint(colour))))?;
        let warnings: Vec<_> = parsed.warnings.iter().chain(&more_warnings).cloned().collect();
        let warnings = render_all(&warnings, &parsed.sources, paint(colour));
        let system_ref = system_ref(path, args, &parsed);
        let system = System::new(model, parsed.sources, Interpreter);
        Ok(Self { system, system_ref, warnings })
    }

    /// Reads the model that a counterexample speaks of.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn load_again(system_ref: &SystemRef, colour: Colour) -> Result<Self, LoadError> {
        let with = |flag: &'static str| {
            let options = system_ref.options.iter();
            options.filter_map(move |option| option.strip_prefix(flag)).map(str::to_owned)
        };
        let args = ModelArgs {
            define: system_ref.defines.clone(),
            undefine: with("-U").collect(),
            include: with("-I").map(PathBuf::from).collect(),
        };
        Self::load(Path::new(&system_ref.file), &args, colour)
    }

    /// The source texts, for snippets.
    pub fn sources(&self) -> Sources {
        let mut sources = Sources::default();
        for file in self.system.sources.files() {
            sources.add(file.path.display().to_string(), file.text.as_str());
        }
        sources
    }

    /// Checks what was asked for.
    pub fn check(&self, request: &Request, watch: Watch<'_>) -> Checked {
        let outcome = safety::search(&self.system, request, watch);
        let mut covered = safety::covered(request, &outcome);
        covered.state_bytes = self.system.initial_work().bytes.len() as u64;
        let mut properties = self.properties(request);
        for property in &mut properties {
            (property.verdict, property.note) = without_violation(&covered.end);
        }
        let (mut counterexamples, mut unconfirmed) = (Vec::new(), Vec::new());
        for violation in &outcome.violations {
            let index = index_of(&mut properties, violation.failure.kind);
            properties[index].verdict = PropertyVerdict::Violated;
            if properties[index].violations == 0 {
                properties[index].note = violation.failure.message.clone();
            }
            properties[index].violations += 1;
            match finite(&self.system, &self.system_ref, violation) {
                Ok(counterexample) => counterexamples.push((index, counterexample)),
                Err(mismatch) => unconfirmed.push(format!("{}: {mismatch}", violation.failure.message)),
            }
        }
        properties.extend(self.unsupported(request));
        let system = self.system_ref.file.clone();
        // A search that was cut off would accuse code that it had no time to reach.
        let unreached = (covered.end == End::Exhaustive).then(|| unreached(&self.system));
        let summary = Summary { system, properties, covered, unreached, ..Summary::default() };
        Checked { summary, counterexamples, unconfirmed }
    }

    /// The failed steps and stuck states that a check is about, not yet decided.
    fn properties(&self, request: &Request) -> Vec<Property> {
        let kinds = [FailureKind::Deadlock, FailureKind::Assert];
        kinds.into_iter().filter(|kind| request.wants(*kind)).map(property).collect()
    }

    /// What was asked for and cannot be checked: said, so that nothing passes unseen.
    fn unsupported(&self, request: &Request) -> Vec<Property> {
        let asked = |kind: &FailureKind| request.kinds.as_ref().is_some_and(|kinds| kinds.contains(kind));
        let cycles = [FailureKind::Accept, FailureKind::Progress].into_iter().filter(asked).map(property);
        let claims =
            self.system.model.claims.iter().filter(|_| request.wants(FailureKind::Ltl) && request.formulas.is_empty());
        let names = claims.map(|claim| claim.name.clone()).chain(request.formulas.iter().cloned());
        let formulas = names.map(|name| Property { name, ..property(FailureKind::Ltl) });
        let rows = cycles.chain(formulas);
        let note = "liveness cannot be checked yet";
        rows.map(|row| Property { verdict: PropertyVerdict::Unsupported, note: note.to_owned(), ..row }).collect()
    }

    /// Executes a counterexample again and checks that it shows its failure.
    ///
    /// # Errors
    /// Where and why it does not.
    pub fn confirm(&self, counterexample: &Counterexample) -> Result<Trace, replay::Mismatch> {
        replay::confirm(&self.system, counterexample, None)
    }

    /// Reads SPIN's trail of this model.
    ///
    /// # Errors
    /// If the file is no trail or does not fit the model.
    pub fn read_trail(&self, path: &Path) -> Result<Schedule, String> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
        trail::read(&self.system, &text).map_err(|error| format!("cannot follow {shown}: {error}"))
    }

    /// A counterexample as SPIN's trail.
    ///
    /// # Errors
    /// If it cannot be told in SPIN's words.
    pub fn trail(&self, counterexample: &Counterexample) -> Result<String, String> {
        trail::write(&self.system, &counterexample.schedule)
            .ok_or_else(|| "no trail fits this counterexample".to_owned())
    }
}

/// What is known about a property of which no violation was found.
fn without_violation(end: &End) -> (PropertyVerdict, String) {
    match end {
        End::Exhaustive => (PropertyVerdict::Holds, String::new()),
        End::Bound(bound) => (PropertyVerdict::Holds, format!("within {bound}")),
        End::Violation => (PropertyVerdict::Incomplete, "stopped at the first violation (--keep-going)".to_owned()),
        End::Interrupted | End::Inconclusive(_) => (PropertyVerdict::Incomplete, String::new()),
    }
}

/// The property of a kind; failures of kinds that nobody listed get a row of their own.
fn index_of(properties: &mut Vec<Property>, kind: FailureKind) -> usize {
    if let Some(index) = properties.iter().position(|property| property.kind == kind) {
        return index;
    }
    properties.push(property(kind));
    properties.len() - 1
}

fn property(kind: FailureKind) -> Property {
    let verdict = PropertyVerdict::NotChecked;
    Property { name: kind.to_string(), kind, verdict, note: String::new(), counterexample: None, violations: 0 }
}

fn paint(colour: Colour) -> diagnostic::Colour {
    match colour {
        Colour::Always => diagnostic::Colour::Always,
        Colour::Never => diagnostic::Colour::Never,
    }
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

impl Describe for System {
    fn variables(&self, state: &Vec<u8>) -> Vec<Variable> {
        let named = explain::variables(&self.model, &self.work(state));
        named.into_iter().map(|(name, value)| Variable { name, value }).collect()
    }

    fn waiting(&self, state: &Vec<u8>) -> Vec<Waiting> {
        let work = self.work(state);
        let stands = |pid: u32| &self.model.proctypes[work.proctype(pid)].states[work.pc(&self.model, pid)];
        let waits = (0..work.processes()).filter(|&pid| !stands(pid).end);
        waits.map(|pid| self.wait(pid, stands(pid))).collect()
    }
}

/// What a report wants to know about processes.
trait Processes {
    fn work(&self, state: &[u8]) -> Work;
    fn wait(&self, pid: u32, stands: &ControlState) -> Waiting;
}

impl Processes for System {
    fn work(&self, state: &[u8]) -> Work {
        let mut work = Work::default();
        work.load(&self.model, state);
        work
    }

    fn wait(&self, pid: u32, stands: &ControlState) -> Waiting {
        let text = match stands.edges.as_slice() {
            [only] => match only.action {
                Action::Die => "waits until younger processes have ended".to_owned(),
                _ => format!("waits for `{}`", explain::statement(&self.sources, only.span)),
            },
            many => format!("waits for one of {} statements", many.len()),
        };
        let span = stands.edges.first().map_or(stands.span, |edge| edge.span);
        Waiting { actor: pid, text, location: explain::location(&self.sources, span) }
    }
}
