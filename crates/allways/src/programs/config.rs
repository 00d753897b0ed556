//! `allways.toml`: checks with services, in the words of Compose.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use trace::similar;

/// The file's name.
pub const FILE: &str = "allways.toml";

/// The whole file.
#[derive(Deserialize, Debug, Default)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Checks by name.
    #[serde(default)]
    pub check: BTreeMap<String, Check>,
    /// Other ways to run them; not yet.
    #[serde(default)]
    pub profile: BTreeMap<String, toml::Table>,
}

/// One check.
#[derive(Deserialize, Debug, Default)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Kinds of failure to look for.
    #[serde(default)]
    pub check: Vec<String>,
    /// A Promela model instead of programs.
    pub model: Option<PathBuf>,
    /// Programs by name.
    #[serde(default)]
    pub service: BTreeMap<String, ServiceConfig>,
    /// Names for propositions.
    #[serde(default, rename = "let")]
    pub names: BTreeMap<String, String>,
    /// Propositions that must never be true.
    #[serde(default)]
    pub never: Vec<String>,
    /// Files and folders that programs may read, too.
    #[serde(default)]
    pub files: Vec<PathBuf>,
    /// As `--time`.
    pub time: Option<String>,
    /// As `--mem`.
    pub mem: Option<String>,
    /// As `--libc`.
    pub libc: Option<String>,
    /// As `--timeouts`.
    pub timeouts: Option<u32>,
    /// As `--engine`.
    pub engine: Option<String>,
    /// As `--reads`.
    pub reads: Option<String>,
    /// As `--wakes`.
    pub wakes: Option<String>,
    /// As `--preemptions`.
    pub preemptions: Option<u32>,
    /// Not for programs yet.
    pub ltl: Option<toml::Table>,
    /// Not for programs yet.
    pub faults: Option<toml::Table>,
    /// Not yet.
    pub peer: Option<toml::Table>,
}

/// A program, with Compose's keys.
#[derive(Deserialize, Debug, Default)]
#[serde(deny_unknown_fields)]
pub struct ServiceConfig {
    /// Program and arguments.
    pub command: Words,
    /// How many of them; they are called `name.1`, `name.2`.
    pub replicas: Option<usize>,
    /// Variables.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Where it works.
    pub working_dir: Option<PathBuf>,
    /// The file that it reads as standard input.
    pub stdin: Option<PathBuf>,
    /// What it waits for.
    #[serde(default)]
    pub depends_on: Depends,
    /// When it is healthy.
    pub healthcheck: Option<Health>,
    /// `exited` (the default), `running`, `any` or an exit code.
    pub expected_final_state: Option<FinalState>,
}

/// A command as a list, or as one text that is split at blanks.
#[derive(Deserialize, Debug)]
#[serde(untagged, expecting = "a command is a list of words, [\"./program\", \"argument\"], or one text")]
pub enum Words {
    /// Words.
    List(Vec<String>),
    /// One text.
    Text(String),
}

impl Default for Words {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl Words {
    /// The words.
    pub fn all(&self) -> Vec<String> {
        match self {
            Self::List(words) => words.clone(),
            Self::Text(text) => text.split_whitespace().map(str::to_owned).collect(),
        }
    }
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

/// A health check: `listening:PORT`.
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
        let config: Self = toml::from_str(&text).map_err(|error| explained(path, &error))?;
        match config.profile.is_empty() {
            true => Ok(config),
            false => Err(format!("{}: [profile] is not supported yet", path.display())),
        }
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
        self.check.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.check.keys().map(String::as_str).collect();
            let hint = similar::hint(name, known.iter().copied());
            let list =
                if known.is_empty() { "there is none".to_owned() } else { format!("there is {}", known.join(", ")) };
            format!("no check `{name}` in {FILE}{hint}\n  = help: {list}")
        })
    }
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

    fn complaint(text: &str) -> String {
        toml::from_str::<Config>(text).map_err(|error| explained(Path::new(FILE), &error)).expect_err("it is wrong")
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
        let text =
            "[check.a]\nengine = \"dpor\"\nreads = \"short\"\nwakes = \"longest\"\npreemptions = 2\ntimeouts = 1\n";
        let config: Config = toml::from_str(text).expect("it is right");
        let check = &config.check["a"];
        assert_eq!((check.engine.as_deref(), check.reads.as_deref()), (Some("dpor"), Some("short")));
        assert_eq!((check.wakes.as_deref(), check.preemptions, check.timeouts), (Some("longest"), Some(2), Some(1)));
        let told = complaint("[check.a]\npreemption = 2\n");
        assert!(told.contains("did you mean `preemptions`?"), "{told}");
    }

    #[test]
    fn commands_are_lists_or_texts() {
        let config: Config = toml::from_str("[check.a.service.s]\ncommand = \"./s 7000\"\n").expect("it is right");
        assert_eq!(config.check["a"].service["s"].command.all(), ["./s", "7000"]);
    }
}
