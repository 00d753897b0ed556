//! Which faults may happen to programs: `--faults` and `--only`, or `[check.NAME.faults]`.

use crate::fault_args::{FaultArgs, FaultCount};
use checker::{Fault, FaultPlan};
use serde::{Deserialize, Serialize};

/// How to say which faults may happen.
const HELP: &str = "such as --faults 1 --only 'write:error=ENOSPC,kill:server'";

/// Which faults may happen to programs.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields, default)]
pub struct FaultOptions {
    /// How many in a run.
    pub budget: u32,
    /// Syscalls, as strace's `inject` has them: `write:error=ENOSPC`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub syscall: Vec<String>,
    /// Programs: `kill`, `kill:server`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub process: Vec<String>,
}

impl Default for FaultOptions {
    fn default() -> Self {
        Self { budget: 1, syscall: Vec::new(), process: Vec::new() }
    }
}

impl FaultOptions {
    /// From flags; nothing if no fault is wanted.
    pub fn new(counts: &[FaultCount], scope: &FaultArgs) -> Result<Option<Self>, String> {
        let count = match counts {
            [] if scope.only.is_empty() => return Ok(None),
            [] => {
                return Err("no fault may happen yet\n  = help: say how many faults may happen: --faults 1".to_owned());
            }
            [FaultCount { class: None, count }] => *count,
            _ => return Err("`--faults` of programs is one number: a budget for all kinds together".to_owned()),
        };
        if scope.only.is_empty() {
            return Err(format!(
                "`--faults` does not say which faults may happen\n  = help: name them with --only, {HELP}"
            ));
        }
        let (process, syscall) = scope.only.iter().cloned().partition(|text| is_of_process(text));
        Ok(Some(Self { budget: count, syscall, process }))
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        self.syscall.iter().chain(&self.process).map(String::as_str)
    }

    /// What is wrong with it.
    pub fn verify(&self) -> Result<(), String> {
        let misplaced = |(key, other, text): (&str, &str, &String)| {
            Err(format!("`{text}` is no fault of `{key}`\n  = help: write it under `{other}`"))
        };
        let of_process = self.syscall.iter().find(|text| is_of_process(text)).map(|text| ("syscall", "process", text));
        let of_syscall = self.process.iter().find(|text| !is_of_process(text)).map(|text| ("process", "syscall", text));
        of_process.or(of_syscall).map_or(Ok(()), misplaced)?;
        self.all().try_for_each(|text| Fault::parse(text).map(drop))
    }

    /// What it means to the checker; faults that are not known do not happen.
    pub fn plan(&self) -> FaultPlan {
        let faults = self.all().filter_map(|text| Fault::parse(text).ok()).collect();
        FaultPlan { budget: self.budget, faults }
    }

    /// For the report: what might happen.
    pub fn told(&self) -> String {
        format!("up to {} of {}", self.budget, self.all().collect::<Vec<_>>().join(", "))
    }
}

/// Whether a fault happens to a process, not to a call.
fn is_of_process(text: &str) -> bool {
    text.split(':').next() == Some("kill")
}
