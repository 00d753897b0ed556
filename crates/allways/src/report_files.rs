//! `--report FORMAT=FILE`: what a check found out, in files for dashboards, beside what it prints.
//!
//! Every file is written twice. First, before anything is searched, it says that the check did not
//! end: so a place that cannot be written is told at once and not after hours, and a check that was
//! killed leaves no result of an earlier one. At the end it is replaced by what was found.

use crate::careful;
use clap::ValueEnum;
use report::{Colour, Findings, Layout, Page, Paths, Sources, Summary, files_of, files_of_trace, page_html};
use report::{counterexample_text, github, junit, sarif, summary_json, summary_text};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use trace::{Counterexample, Fingerprint, Trace, similar};

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a whole check is told in.
#[derive(ValueEnum, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(rename_all = "lowercase")]
pub enum FileFormat {
    /// As it is printed for people.
    Text,
    /// One object for scripts.
    Json,
    /// A test suite for dashboards.
    Junit,
    /// Results for code scanning and editors.
    Sarif,
    /// Annotations of GitHub Actions.
    Github,
    /// A page with space-time diagrams.
    Html,
}

impl FileFormat {
    /// What a check found out, in this format.
    pub fn render(self, findings: &Findings<'_>, layout: &Layout) -> String {
        match self {
            Self::Text => text(findings, layout),
            Self::Json => summary_json(findings),
            Self::Junit => junit(findings),
            Self::Sarif => sarif(findings),
            Self::Github => github(findings),
            Self::Html => page(findings),
        }
    }
}

/// What `check` prints for people: counterexamples first, the verdict last.
fn text(findings: &Findings<'_>, layout: &Layout) -> String {
    let told = |found| counterexample_text(found, findings.sources, layout) + "\n";
    let all: String = findings.counterexamples.iter().map(|(_, found)| told(found)).collect();
    all + &summary_text(findings.summary, layout)
}

/// The page of a check: its counterexamples, or a run in which nothing goes wrong.
///
/// Sources of counterexamples are known as far as text reports show them; a page shows the line of every event, so the other files
/// are read here. One that is gone costs its lines.
fn page(findings: &Findings<'_>) -> String {
    let counterexamples: Vec<&Counterexample> = findings.counterexamples.iter().map(|(_, found)| found).collect();
    let summary = summary_text(findings.summary, &Layout::PLAIN);
    let title = format!("{}; one of the runs", summary.lines().last().unwrap_or_default());
    let runs: Vec<(String, &Trace)> = findings.run.iter().map(|run| (title.clone(), *run)).collect();
    let mut sources = findings.sources.clone();
    let named = counterexamples.iter().flat_map(|found| files_of(found));
    for file in named.chain(runs.iter().flat_map(|(_, run)| files_of_trace(run))) {
        if sources.line(&file, 1).is_none()
            && let Ok(text) = careful::source(Path::new(&file))
        {
            sources.add(file, text);
        }
    }
    let system = findings.summary.system.clone();
    page_html(&Page { system, summary: Some(findings.summary), counterexamples, runs, sources })
}

/// A report that is written to a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportFile {
    /// In which format.
    pub format: FileFormat,
    /// Where.
    pub path: PathBuf,
}

impl ReportFile {
    /// Reads `FORMAT=FILE`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let known = || FileFormat::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = known().map(|value| value.get_name().to_owned()).collect();
        let help = format!("FORMAT=FILE, and FORMAT is one of {}", names.join(", "));
        let (name, path) = text.split_once('=').ok_or_else(|| format!("it is {help}"))?;
        let format = FileFormat::from_str(name, false).map_err(|_| match ONE_TRACE.contains(&name) {
            true => format!("`{name}` shows one counterexample: allways report --format {name} -o FILE"),
            false => {
                let near = similar::hint(name, names.iter().map(String::as_str));
                format!("no report is called `{name}`{near}; it is {help}")
            }
        })?;
        if path.is_empty() {
            return Err(format!("no file is named; it is {help}"));
        }
        Ok(Self { format, path: path.into() })
    }

    /// The file of one test, where one file was asked for and there are many tests: `out/a.xml` becomes `out/a.TEST.xml`.
    pub fn of_test(&self, test: &str) -> Self {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let ending = self.path.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
        Self { format: self.format, path: self.path.with_file_name(format!("{stem}.{}{ending}", file_name(test))) }
    }
}

/// Bytes of a test's name in that of a file: file systems take 255 in all.
const TEST_MAX: usize = 120;

/// A name that any file can have. Two tests never share one: where something was left out, a number says what.
fn file_name(test: &str) -> String {
    let name = test.replace("::", ".");
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if name.len() <= TEST_MAX && name.chars().all(is_plain) {
        return name;
    }
    let plain: String = name.chars().map(|letter| if is_plain(letter) { letter } else { '-' }).take(TEST_MAX).collect();
    let number = Fingerprint::new().with(test.as_bytes()).to_string();
    format!("{plain}-{}", &number[..8])
}

/// Formats of `report` that are of a trace, and not of a check.
const ONE_TRACE: [&str; 3] = ["perfetto", "shiviz", "dot"];

/// Writes that there is no result yet.
///
/// # Errors
/// If two reports have one file, or a file cannot be written.
pub fn begin(files: &[ReportFile], system: &str) -> Result<(), String> {
    if let Some(twice) =
        files.iter().enumerate().find(|(at, file)| files[..*at].iter().any(|one| one.path == file.path))
    {
        return Err(format!("two reports go to {}", twice.1.path.display()));
    }
    let summary = Summary::unfinished(system);
    let findings = Findings {
        version: VERSION,
        created: now(),
        summary: &summary,
        counterexamples: &[],
        run: None,
        doubts: &[],
        sources: &Sources::EMPTY,
        paths: &Paths::default(),
    };
    write(files, &findings, &Layout::PLAIN)
}

/// Writes all reports; goes on after one that cannot be written.
///
/// # Errors
/// Which files could not be written, and why.
pub fn write(files: &[ReportFile], findings: &Findings<'_>, layout: &Layout) -> Result<(), String> {
    let plain = Layout { colour: Colour::Never, ..*layout };
    let failed = files.iter().filter_map(|file| {
        let text = file.format.render(findings, &plain);
        let error = careful::deliver(&file.path, text.as_bytes()).err()?;
        Some(format!("cannot write the report {}: {error}", file.path.display()))
    });
    let failed: Vec<String> = failed.collect();
    if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
}

/// Seconds since 1970.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// How dashboards name files: from the root of the repository, which GitHub and GitLab say; else from here.
pub fn paths() -> Paths {
    let here = std::env::current_dir().unwrap_or_default();
    let said = ["GITHUB_WORKSPACE", "CI_PROJECT_DIR"].iter().find_map(std::env::var_os);
    let root = said.map(PathBuf::from).filter(|root| root.is_absolute() && here.starts_with(root));
    let text = |path: &PathBuf| path.to_string_lossy().into_owned();
    Paths { root: text(root.as_ref().unwrap_or(&here)), here: text(&here) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_a_format_and_a_file() {
        let parsed = ReportFile::parse("junit=out/a=b.xml").expect("it is right");
        assert_eq!(parsed, ReportFile { format: FileFormat::Junit, path: "out/a=b.xml".into() });
        let table = [
            ("junit", "FORMAT=FILE"),
            ("junt=a.xml", "did you mean `junit`?"),
            ("JUNIT=a.xml", "one of text, json, junit, sarif, github, html"),
            ("sarif=", "no file is named"),
            ("dot=a.dot", "allways report --format dot -o FILE"),
            ("=a", "no report is called ``"),
        ];
        for (text, words) in table {
            let why = ReportFile::parse(text).expect_err("it is wrong");
            assert!(why.contains(words), "{text}: {why}");
        }
    }

    #[test]
    fn each_test_has_a_file_of_its_own() {
        let of_test = |path: &str, test: &str| {
            let file = ReportFile { format: FileFormat::Junit, path: path.into() };
            file.of_test(test).path.to_string_lossy().into_owned()
        };
        assert_eq!(of_test("out/a.xml", "bank.tests::one_way"), "out/a.bank.tests.one_way.xml");
        assert_eq!(of_test("a", "lost"), "a.lost");
        let (one, other) = (of_test("a.xml", "../x y"), of_test("a.xml", "../x?y"));
        assert!(one.starts_with("a...-x-y-") && other.starts_with("a...-x-y-") && one != other, "{one} {other}");
        assert!(of_test("a.xml", &"long".repeat(100)).len() < 150);
    }

    #[test]
    fn one_file_has_one_report() {
        let files = ["junit=/nowhere/a", "sarif=/nowhere/a"].map(|text| ReportFile::parse(text).expect("it is right"));
        assert!(begin(&files, "x").is_err_and(|why| why.contains("two reports go to /nowhere/a")));
    }
}
