//! `[profile.NAME]` of `allways.toml`: how checks are searched and reported in one place, such as a nightly job.
//!
//! A profile says how and for how long, not what: programs, propositions, peers and faults belong to
//! a check. Three layers, each over the next: the command line, the profile, the check.

use crate::options::{Options, keys};
use crate::report_files::{FileFormat, ReportFile};
use serde::de;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// One way to run checks.
#[derive(Debug, Default)]
pub struct Profile {
    /// As on the command line.
    pub options: Options,
    /// Where reports go.
    pub reports: Reports,
}

/// The key of a profile that is no option.
#[derive(Deserialize, Debug, Default)]
pub struct Reports {
    /// Files by format.
    #[serde(default)]
    report: BTreeMap<FileFormat, PathBuf>,
}

/// Options that say what is checked.
const OF_CHECKS: [&str; 5] = ["faults", "finally", "formulas", "never", "peer"];

/// A key of a profile; any other is a mistake.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ProfileKey;

impl<'de> Deserialize<'de> for ProfileKey {
    fn deserialize<D: Deserializer<'de>>(file: D) -> Result<Self, D::Error> {
        let key = String::deserialize(file)?;
        let options = keys::<Options>();
        let options = options.iter().map(String::as_str).filter(|option| !OF_CHECKS.contains(option));
        let known: Vec<&str> = std::iter::once("report").chain(options).collect();
        match known.contains(&key.as_str()) {
            true => Ok(Self),
            false => Err(de::Error::custom(format!("unknown field `{key}`, expected one of `{}`", known.join("`, `")))),
        }
    }
}

impl Profile {
    /// Its reports, but for the formats that the command line has asked for.
    pub fn reports_beside(&self, asked: &[ReportFile]) -> Vec<ReportFile> {
        let is_asked = |format: &FileFormat| asked.iter().any(|file| file.format == *format);
        let more = self.reports.report.iter().filter(|(format, _)| !is_asked(format));
        more.map(|(format, path)| ReportFile { format: *format, path: path.clone() }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::{Config, FILE};
    use super::*;
    use std::path::Path;

    fn parsed(text: &str) -> Result<Config, String> {
        Config::parse(Path::new(FILE), text)
    }

    #[test]
    fn a_profile_has_options_and_reports() {
        let text = "[profile.ci]\ntime = \"10m\"\nreport = { junit = \"a.xml\", sarif = \"b.sarif\" }\n[check.a]\nmodel = \"a.pml\"\n";
        let config = parsed(text).expect("it is right");
        let profile = config.find_profile("ci").expect("it is there");
        assert_eq!(profile.options.search.time, Some(std::time::Duration::from_secs(600)));
        assert_eq!(profile.reports.report.keys().copied().collect::<Vec<_>>(), [FileFormat::Junit, FileFormat::Sarif]);
        assert!(config.check.contains_key("a"));
    }

    #[test]
    fn a_report_of_the_command_line_replaces_the_one_of_its_format() {
        let config =
            parsed("[profile.ci]\nreport = { junit = \"a.xml\", sarif = \"b.sarif\" }\n").expect("it is right");
        let asked = ReportFile::parse("junit=mine.xml").expect("it is right");
        let more = config.find_profile("ci").expect("it is there").reports_beside(&[asked]);
        assert_eq!(more, [ReportFile::parse("sarif=b.sarif").expect("it is right")]);
    }

    #[test]
    fn a_slip_in_a_profile_is_told_with_its_line_and_the_right_key() {
        let table = [
            ("tme = \"10m\"", "did you mean `time`?"),
            ("reprot = {}", "did you mean `report`?"),
            ("report = { junt = \"a.xml\" }", "did you mean `junit`?"),
            ("time = \"soon\"", "`soon` is not a time"),
            ("never = [\"a\"]", "unknown field `never`"),
            ("model = \"a.pml\"", "unknown field `model`"),
        ];
        for (line, meant) in table {
            let told = parsed(&format!("[profile.ci]\n{line}\n")).expect_err("it is wrong");
            assert!(told.contains("line 2") && told.contains(meant), "{told}");
        }
    }

    #[test]
    fn a_profile_that_is_not_there_is_told_with_its_neighbour() {
        let config = parsed("[profile.nightly]\ntime = \"1h\"\n").expect("it is right");
        let why = config.find_profile("nihgtly").expect_err("it is not there");
        assert!(why.contains("did you mean `nightly`?"), "{why}");
        assert!(Config::default().find_profile("ci").is_err_and(|why| why.contains("there is none")));
    }
}
