//! The file that a violated property leaves behind.

use crate::{FailureKind, Fingerprint, Location, ProgramsRef, Schedule, Trace, Waiting};
use serde::{Deserialize, Serialize};

/// The version of the file format that this program writes and reads.
pub const VERSION: u32 = 1;

/// The fewest digits that an id has.
const ID_DIGITS: usize = 4;

/// A trace that refutes a property, with all that is needed to find it again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Counterexample {
    /// The version of the format: [`VERSION`].
    pub version: u32,
    /// A short name: the first digits of [`Counterexample::fingerprint`].
    pub id: String,
    /// When it was found, in seconds since 1970.
    pub created: u64,
    /// The program that found it: `allways 0.1.0`.
    pub tool: String,
    /// What was checked.
    pub system: SystemRef,
    /// What does not hold.
    pub property: PropertyRef,
    /// One line for people.
    pub message: String,
    /// Where it went wrong.
    pub location: Option<Location>,
    /// Whether only weakly fair runs count.
    pub fairness: bool,
    /// The choices: the whole of what makes it repeatable.
    pub schedule: Schedule,
    /// What happens on the way. Its steps are left out where there are too many to keep; a replay tells them again.
    pub trace: Trace,
    /// The variables at the end.
    pub final_state: Vec<Variable>,
    /// In a deadlock: who waits for what. In a race: both sides.
    pub wait_for: Vec<Waiting>,
    /// What else a reader should know: call stacks, what the programs complained about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What programs need to be executed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub programs: Option<ProgramsRef>,
    /// Its choices were taken by hand: nothing has to go wrong on the way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_driven: bool,
}

/// What was checked.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SystemRef {
    /// What kind of system: `promela`, `programs`.
    pub kind: String,
    /// The file as the user named it.
    pub file: String,
    /// Macros as on the command line: `N=3`.
    pub defines: Vec<String>,
    /// Other options that change the meaning of the file, as on the command line.
    pub options: Vec<String>,
    /// The [`Fingerprint`] of the contents of all source files.
    pub fingerprint: String,
}

/// What does not hold.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PropertyRef {
    /// Its name: that of an `ltl` block, or that of its kind.
    pub name: String,
    /// Its kind.
    pub kind: FailureKind,
}

/// A variable and its value, as the user reads them.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

impl Counterexample {
    /// What makes this counterexample the one it is: all but its id, its date and the program that found it, so that
    /// finding it again gives it the same name.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let parts = (&self.system, &self.property, &self.message, self.fairness, &self.schedule);
        let bytes = serde_json::to_vec(&parts).expect("plain data always becomes JSON");
        Fingerprint::new().with(&bytes)
    }

    /// The shortest id of at least four digits that is not taken by another counterexample.
    pub fn name_apart_from(&mut self, mut taken: impl FnMut(&str) -> bool) {
        let digits = self.fingerprint().to_string();
        let free = (ID_DIGITS..digits.len()).find(|&count| !taken(&digits[..count]));
        self.id = digits[..free.unwrap_or(digits.len())].to_owned();
    }

    /// The file's text.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data always becomes JSON");
        text.push('\n');
        text
    }
}
