//! What a check found out: kept under `.allways`, printed, and turned into an exit code; the same for models and programs.

use crate::args::{CheckArgs, CheckFormat};
use crate::exit::Exit;
use crate::output::Output;
use crate::report_files::{self, FileFormat, VERSION};
use crate::saved::Saved;
use replay::{Replayable, one_run};
use report::{Findings, Sources, Summary, spin_text, summary_text};
use trace::{Counterexample, Trace};

/// Steps beyond which only the schedule is saved; a replay tells the rest again.
const STEPS_KEPT: usize = 100_000;

/// Steps of a run that is shown as an example: more are not read, and programs may never end.
const RUN_MAX: usize = 2_000;

/// What a check found out.
#[derive(Default)]
pub struct Checked {
    /// The answers. Counterexamples have no ids yet.
    pub summary: Summary,
    /// Counterexamples, each with the index of its property in the summary.
    pub counterexamples: Vec<(usize, Counterexample)>,
    /// One run in which nothing went wrong, for reports that show it.
    pub run: Option<Trace>,
    /// Violations that could not be shown again: bugs of ours.
    pub unconfirmed: Vec<String>,
    /// The audit found a difference: a bug of ours, too.
    pub is_doubtful: bool,
    /// A report that the user asked for could not be written.
    pub is_untold: bool,
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

    /// Takes one run to be shown, where a report shows runs and there is nothing that went wrong.
    ///
    /// After the search, because it costs little then: one run, told once, and only if somebody asked for a page.
    pub fn show_run<R: Replayable>(&mut self, args: &CheckArgs, system: &mut R) {
        let is_wanted = args.report.iter().any(|file| file.format == FileFormat::Html);
        if is_wanted && self.counterexamples.is_empty() {
            self.run = Some(one_run(system, RUN_MAX).1);
        }
    }

    /// Prints counterexamples and verdicts, and writes reports, as the user wants them.
    pub fn tell(&mut self, sources: &Sources, args: &CheckArgs, output: &Output) {
        let (doubts, paths) = (self.doubts(), report_files::paths());
        let findings = Findings {
            version: VERSION,
            created: report_files::now(),
            summary: &self.summary,
            counterexamples: &self.counterexamples,
            run: self.run.as_ref(),
            doubts: &doubts,
            sources,
            paths: &paths,
        };
        print(&findings, args.format, output);
        let written = report_files::write(&args.report, &findings, &output.layout);
        self.is_untold = written.inspect_err(|why| output.error(why)).is_err();
    }

    /// Bugs of ours that this check met.
    fn doubts(&self) -> Vec<String> {
        let unconfirmed = self.unconfirmed.iter().map(|what| {
            format!("a violation could not be shown again ({what}); this is a bug in allways, please report it")
        });
        let audit = "an audit found a difference; this is a bug in allways, please report it".to_owned();
        unconfirmed.chain(self.is_doubtful.then_some(audit)).collect()
    }

    /// The exit code; says what was found and could not be shown again. Then there is no verdict unless something else was shown.
    pub fn exit(&self, output: &Output) -> Exit {
        self.doubts().iter().take(self.unconfirmed.len()).for_each(|doubt| output.warn(doubt));
        match Exit::from(self.summary.outcome()) {
            Exit::Violated => Exit::Violated,
            _ if self.is_doubtful || !self.unconfirmed.is_empty() => Exit::Bug,
            // That all is well must not be said to who waits for a report in vain.
            Exit::Fine if self.is_untold => Exit::Usage,
            exit => exit,
        }
    }
}

/// Prints what was found. SPIN's lines are for standard output alone: whoever scrapes them reads it.
fn print(findings: &Findings<'_>, format: CheckFormat, output: &Output) {
    let format = match format {
        CheckFormat::Spin => return output.data(&spin_text(findings.summary, VERSION)),
        CheckFormat::Text if output.is_quiet() => {
            let summary = summary_text(findings.summary, &output.layout);
            return output.data(&format!("{}\n", summary.lines().last().unwrap_or_default()));
        }
        CheckFormat::Text => FileFormat::Text,
        CheckFormat::Json => FileFormat::Json,
        CheckFormat::Junit => FileFormat::Junit,
        CheckFormat::Sarif => FileFormat::Sarif,
        CheckFormat::Github => FileFormat::Github,
    };
    output.data(&format.render(findings, &output.layout));
}

fn kept_part(counterexample: &Counterexample) -> Counterexample {
    let mut kept = counterexample.clone();
    if kept.trace.steps.len() > STEPS_KEPT {
        kept.trace.steps.clear();
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Shared, When};
    use report::{Property, PropertyVerdict};
    use trace::FailureKind;

    #[test]
    fn a_report_that_cannot_be_written_fails_a_check_that_holds_and_changes_no_other_verdict() {
        let output = Output::new(&Shared { color: When::Never, ascii: true, verbose: 0, quiet: true });
        let exit = |verdict, is_untold| {
            let (name, note) = ("p".to_owned(), String::new());
            let kind = FailureKind::Assert;
            let property = Property { name, kind, verdict, note, counterexample: None, violations: 0, trail: None };
            let summary = Summary { properties: vec![property], ..Summary::default() };
            Checked { summary, is_untold, ..Checked::default() }.exit(&output)
        };
        assert_eq!(exit(PropertyVerdict::Holds, false), Exit::Fine);
        assert_eq!(exit(PropertyVerdict::Holds, true), Exit::Usage);
        assert_eq!(exit(PropertyVerdict::Violated, true), Exit::Violated);
        assert_eq!(exit(PropertyVerdict::Incomplete, true), Exit::Inconclusive);
    }
}
