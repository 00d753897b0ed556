//! What a check found out: kept under `.allways`, printed, and turned into an exit code; the same for models and programs.

use crate::args::{CheckArgs, CheckFormat};
use crate::exit::Exit;
use crate::output::Output;
use crate::saved::Saved;
use report::{Sources, Summary, counterexample_text, spin_text, summary_json, summary_text};
use trace::Counterexample;

/// Steps beyond which only the schedule is saved; a replay tells the rest again.
const STEPS_KEPT: usize = 100_000;

/// What a check found out.
#[derive(Default)]
pub struct Checked {
    /// The answers. Counterexamples have no ids yet.
    pub summary: Summary,
    /// Counterexamples, each with the index of its property in the summary.
    pub counterexamples: Vec<(usize, Counterexample)>,
    /// Violations that could not be shown again: bugs of ours.
    pub unconfirmed: Vec<String>,
    /// The audit found a difference: a bug of ours, too.
    pub is_doubtful: bool,
}

impl Checked {
    /// Names and saves the counterexamples. That a disk is full changes no verdict.
    pub fn keep(&mut self, args: &CheckArgs, output: &Output) {
        let saved = Saved::here();
        for (index, counterexample) in &mut self.counterexamples {
            saved.name(counterexample);
            let property = &mut self.summary.properties[*index];
            property.counterexample.get_or_insert(counterexample.id.clone());
        }
        // The first one is saved last: it is the one to look at, so it becomes the latest.
        let mut saves = !args.no_save;
        for (_, counterexample) in self.counterexamples.iter_mut().rev() {
            if saves && let Err(why) = saved.save(&kept_part(counterexample)) {
                output.warn(&why);
                saves = false;
            }
            // No command is offered that would not find it.
            if !saves {
                counterexample.id.clear();
            }
        }
    }

    /// Prints counterexamples and verdicts, as the user wants them.
    pub fn print(&self, sources: &Sources, format: CheckFormat, output: &Output) {
        match format {
            CheckFormat::Json => output.data(&summary_json(&self.summary)),
            CheckFormat::Spin => output.data(&spin_text(&self.summary, env!("CARGO_PKG_VERSION"))),
            CheckFormat::Text => self.print_text(sources, output),
        }
    }

    fn print_text(&self, sources: &Sources, output: &Output) {
        let summary = summary_text(&self.summary, &output.layout);
        if output.is_quiet() {
            let verdict = summary.lines().last().unwrap_or_default();
            return output.data(&format!("{verdict}\n"));
        }
        for (_, counterexample) in &self.counterexamples {
            output.data(&(counterexample_text(counterexample, sources, &output.layout) + "\n"));
        }
        output.data(&summary);
    }

    /// The exit code; says what was found and could not be shown again. Then there is no verdict unless something else was shown.
    pub fn exit(&self, output: &Output) -> Exit {
        for what in &self.unconfirmed {
            output.warn(&format!(
                "a violation could not be shown again ({what}); this is a bug in allways, please report it"
            ));
        }
        match Exit::from(self.summary.outcome()) {
            Exit::Violated => Exit::Violated,
            _ if self.is_doubtful || !self.unconfirmed.is_empty() => Exit::Bug,
            exit => exit,
        }
    }
}

fn kept_part(counterexample: &Counterexample) -> Counterexample {
    let mut kept = counterexample.clone();
    if kept.trace.steps.len() > STEPS_KEPT {
        kept.trace.steps.clear();
    }
    kept
}
