//! `allways.toml`: checks with services, in the words of Compose.

use super::profile::{Profile, ProfileKey, Reports};
use super::propositions::propositions;
use crate::options::{EngineOptions, Options, SearchOptions, UserName, ViewOptions, keys};
use crate::words;
use serde::de::{self, DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use trace::similar;

/// The file's name.
pub const FILE: &str = "allways.toml";

/// The whole file.
#[derive(Debug, Default)]
pub struct Config {
    /// Checks by name.
    pub check: BTreeMap<String, Check>,
    /// Ways to run them, by name.
    pub profile: BTreeMap<String, Profile>,
}

/// The file, read for one part of each check and of each profile.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct File<C, P> {
    #[serde(default = "BTreeMap::new")]
    check: BTreeMap<String, C>,
    #[serde(default = "BTreeMap::new")]
    profile: BTreeMap<String, P>,
}

/// One check: what it is about, and its options.
#[derive(Deserialize, Debug, Default)]
pub struct Check {
    /// A Promela model instead of programs.
    pub model: Option<PathBuf>,
    /// Programs by name.
    #[serde(default)]
    pub service: BTreeMap<String, ServiceConfig>,
    /// Names for propositions.
    #[serde(default, rename = "let")]
    pub names: BTreeMap<String, String>,
    /// Files and folders that programs may read, too.
    #[serde(default)]
    pub files: Vec<PathBuf>,
    /// Formulas that every run has to satisfy, by name.
    #[serde(default)]
    pub ltl: BTreeMap<String, String>,
    /// As on the command line.
    #[serde(skip)]
    pub options: Options,
}

/// The keys of a check that are no options.
const KEYS: [&str; 5] = ["model", "service", "let", "files", "ltl"];

/// A key of a check; any other is a mistake.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Key;

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(file: D) -> Result<Self, D::Error> {
        let key = String::deserialize(file)?;
        let options = keys::<Options>();
        let known: Vec<&str> = KEYS.into_iter().chain(options.iter().map(String::as_str)).collect();
        match known.contains(&key.as_str()) {
            true => Ok(Self),
            false => Err(de::Error::custom(format!("unknown field `{key}`, expected one of `{}`", known.join("`, `")))),
        }
    }
}

/// A program, with Compose's keys.
#[derive(Deserialize, Debug, Default)]
#[serde(deny_unknown_fields)]
pub struct ServiceConfig {
    /// Program and arguments.
    #[serde(deserialize_with = "words::read")]
    pub command: Vec<String>,
    /// How many of them; they are called `name.1`, `name.2`.
    pub replicas: Option<usize>,
    /// Variables.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Where it works.
    pub working_dir: Option<PathBuf>,
    /// As whom it runs.
    pub user: Option<UserName>,
    /// The file that it reads as standard input.
    pub stdin: Option<PathBuf>,
    /// What it waits for.
    #[serde(default)]
    pub depends_on: Depends,
    /// `crash`: it starts when power has failed, and finds what is left on the disk.
    pub after: Option<Moment>,
    /// When it is healthy.
    pub healthcheck: Option<Health>,
    /// `exited` (the default), `running`, `any` or an exit code.
    pub expected_final_state: Option<FinalState>,
}

/// What a service waits for: names, or names with conditions.
#[derive(Deserialize, Debug)]
#[serde(untagged, expecting = "services are a list of names, or { name = { condition = \"service_healthy\" } }")]
pub enum Depends {
    /// Names alone: `service_started`.
    Names(Vec<String>),
    /// With conditions.
    Conditions(BTreeMap<String, Dependency>),
}

impl Default for Depends {
    fn default() -> Self {
        Self::Names(Vec::new())
    }
}

impl Depends {
    /// Names and conditions.
    pub fn all(&self) -> Vec<(String, Condition)> {
        match self {
            Self::Names(names) => names.iter().map(|name| (name.clone(), Condition::Started)).collect(),
            Self::Conditions(all) => all.iter().map(|(name, on)| (name.clone(), on.condition)).collect(),
        }
    }
}

/// A condition in a table of its own, as Compose has it.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Dependency {
    /// Which.
    pub condition: Condition,
}

/// When a service starts that depends on no other.
#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Moment {
    /// When power has failed.
    Crash,
}

/// When a service that another one depends on is far enough.
#[derive(Deserialize, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// At once.
    #[serde(rename = "service_started")]
    Started,
    /// When its health check succeeds.
    #[serde(rename = "service_healthy")]
    Healthy,
    /// When it has ended with exit code 0.
    #[serde(rename = "service_completed_successfully")]
    Completed,
}

/// A health check: `listening:PORT`, `listening:ADDRESS:PORT`, `listening:PATH`, or `bound:PORT` for UDP.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// What is tested.
    pub test: String,
}

/// How a service is expected to end.
#[derive(Deserialize, Debug)]
#[serde(untagged, expecting = "a final state is \"exited\", \"running\", \"any\" or an exit code")]
pub enum FinalState {
    /// With an exit code.
    Code(u8),
    /// `exited`, `running`, `any`.
    Word(String),
}

impl Config {
    /// Reads the file of a folder.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = crate::careful::source(path)
            .map_err(|error| format!("cannot read {}: {error}\n  = help: it is a text in UTF-8; `allways init` writes one where there is none", path.display()))?;
        Self::parse(path, &text)
    }

    /// Reads the text of the file, once for each struct that knows some of the keys: so every mistake is told with its line.
    pub fn parse(path: &Path, text: &str) -> Result<Self, String> {
        let told = |error| explained(path, &error);
        let _: File<BTreeMap<Key, IgnoredAny>, BTreeMap<ProfileKey, IgnoredAny>> =
            toml::from_str(text).map_err(told)?;
        let mut check: BTreeMap<String, Check> = checks(text).map_err(told)?;
        let options = || Ok(joined(checks(text)?, checks(text)?, checks(text)?));
        for (check, options) in check.values_mut().zip(options().map_err(told)?) {
            check.options = options;
            check.options.view.never = propositions(&check.options.view.never, &check.names);
            check.options.view.finally = propositions(&check.options.view.finally, &check.names);
        }
        Ok(Self { check, profile: Self::profiles(text).map_err(told)? })
    }

    /// The profiles, put together from what each struct knows of their keys.
    fn profiles(text: &str) -> Result<BTreeMap<String, Profile>, toml::de::Error> {
        let reports: BTreeMap<String, Reports> = profiles(text)?;
        let options = joined(profiles(text)?, profiles(text)?, profiles(text)?);
        let both = reports.into_iter().zip(options);
        Ok(both.map(|((name, reports), options)| (name, Profile { options, reports })).collect())
    }

    /// The name of the only check.
    pub fn only(&self) -> Result<&str, String> {
        let known: Vec<&str> = self.check.keys().map(String::as_str).collect();
        match known[..] {
            [only] => Ok(only),
            [] => Err(format!(
                "{FILE} has no check\n  = help: [check.NAME.service.PROGRAM] with command = [\"./program\"]"
            )),
            [first, ..] => {
                Err(format!("which check? {FILE} has {}\n  = help: allways check {first}", known.join(", ")))
            }
        }
    }

    /// One check by name.
    pub fn find(&self, name: &str) -> Result<&Check, String> {
        named("check", &self.check, name)
    }

    /// One profile by name.
    pub fn find_profile(&self, name: &str) -> Result<&Profile, String> {
        named("profile", &self.profile, name)
    }
}

/// What the file calls so, or what is near.
fn named<'a, T>(what: &str, all: &'a BTreeMap<String, T>, name: &str) -> Result<&'a T, String> {
    all.get(name).ok_or_else(|| {
        let known: Vec<&str> = all.keys().map(String::as_str).collect();
        let hint = similar::hint(name, known.iter().copied());
        let list = if known.is_empty() { "there is none".to_owned() } else { format!("there is {}", known.join(", ")) };
        format!("no {what} `{name}` in {FILE}{hint}\n  = help: {list}")
    })
}

/// Whether there is a file with a check of this name, or one that cannot be read: that has to be told first.
pub fn has_check(name: &Path) -> bool {
    let known = |config: Config| name.to_str().is_some_and(|name| config.check.contains_key(name));
    Path::new(FILE).is_file() && Config::read(Path::new(FILE)).map_or(true, known)
}

/// One part of each check, by name.
fn checks<T: DeserializeOwned>(text: &str) -> Result<BTreeMap<String, T>, toml::de::Error> {
    toml::from_str(text).map(|file: File<T, IgnoredAny>| file.check)
}

/// One part of each profile, by name.
fn profiles<T: DeserializeOwned>(text: &str) -> Result<BTreeMap<String, T>, toml::de::Error> {
    toml::from_str(text).map(|file: File<IgnoredAny, T>| file.profile)
}

/// Options put together from their parts, in the order of the names: all parts were read from the same text.
fn joined(
    view: BTreeMap<String, ViewOptions>,
    engine: BTreeMap<String, EngineOptions>,
    search: BTreeMap<String, SearchOptions>,
) -> impl Iterator<Item = Options> {
    let parts = view.into_values().zip(engine.into_values()).zip(search.into_values());
    parts.map(|((view, engine), search)| Options { view, engine, search })
}

/// The parser's message, with the key that was meant if one is near.
fn explained(path: &Path, error: &toml::de::Error) -> String {
    let text = error.to_string();
    let quoted: Vec<&str> = error.message().split('`').skip(1).step_by(2).collect();
    let hint = match quoted.split_first() {
        Some((wrong, known)) if error.message().starts_with("unknown") => {
            similar::closest(wrong, known.iter().copied())
        }
        _ => None,
    };
    let hint = hint.map(|near| format!("\n  = help: did you mean `{near}`?")).unwrap_or_default();
    format!("{}: {}{hint}", path.display(), text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::given;

    fn parsed(text: &str) -> Result<Config, String> {
        Config::parse(Path::new(FILE), text)
    }

    fn complaint(text: &str) -> String {
        parsed(text).expect_err("it is wrong")
    }

    #[test]
    fn a_slip_in_a_key_is_told_with_its_line_and_the_right_key() {
        let told = complaint("[check.kv.service.server]\ncomand = [\"./server\"]\n");
        assert!(told.contains("line 2") && told.contains("did you mean `command`?"), "{told}");
        let told = complaint("[check.kv\n");
        assert!(told.contains("line 1"), "{told}");
    }

    #[test]
    fn what_flags_say_a_file_can_say_too() {
        let text = "[check.a]\nengine = \"dpor\"\nreads = \"short\"\ntimeouts = 1\nonly_breaks = true\nbreak = [\"f\"]\ntime = \"10m\"\n";
        let config = parsed(text).expect("it is right");
        let given = given(&config.check["a"].options);
        let keys: Vec<&str> = given.keys().map(String::as_str).collect();
        assert_eq!(keys, ["break", "engine", "only_breaks", "reads", "time", "timeouts"]);
    }

    #[test]
    fn a_slip_in_an_option_is_told_with_its_line_and_the_right_one() {
        let table = [
            ("preemption = 2", "did you mean `preemptions`?"),
            ("servce = 2", "did you mean `service`?"),
            ("preemptions = \"2\"", "invalid type: string"),
            ("engine = \"dpr\"", "did you mean `dpor`?"),
            ("check = [\"deadlok\"]", "did you mean `deadlock`?"),
            ("time = \"soon\"", "`soon` is not a time"),
            ("jobs = 0", "it is 1 or more"),
        ];
        for (line, meant) in table {
            let told = complaint(&format!("[check.a]\n{line}\n"));
            assert!(told.contains("line 2") && told.contains(meant), "{told}");
        }
    }

    #[test]
    fn commands_are_lists_or_texts() {
        let config = parsed("[check.a.service.s]\ncommand = \"./s 7000\"\n").expect("it is right");
        assert_eq!(config.check["a"].service["s"].command, ["./s", "7000"]);
    }
}
