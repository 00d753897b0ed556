//! Which faults may happen to programs: `--faults` and `--only`, or `[check.NAME.faults]`.

use crate::fault_args::{FaultArgs, FaultCount};
use checker::{Fault, FaultPlan};
use serde::{Deserialize, Serialize};

/// How to say which faults may happen.
const HELP: &str = "such as --faults 1 --only 'write:error=ENOSPC,kill:server'";

/// Faults that are tried where nobody names some.
const USUAL: [&str; 12] = [
    "read:short",
    "write:short",
    "loss",
    "duplicate",
    "reorder",
    "delay",
    "reset",
    "refuse",
    "partition",
    "kill",
    "restart",
    "pause",
];

/// Which faults may happen to programs.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields, default)]
pub struct FaultOptions {
    /// How many in a run.
    pub budget: u32,
    /// Syscalls, as strace's `inject` has them: `write:error=ENOSPC`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub syscall: Vec<String>,
    /// Messages and connections: `loss`, `reset:server`, `partition:server`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub net: Vec<String>,
    /// Programs: `kill`, `pause:server`, `signal:TERM:server`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub process: Vec<String>,
    /// Power: `crash`, `crash:posix`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub disk: Vec<String>,
    /// Time: `early`, `clock:+1h`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub time: Vec<String>,
    /// No fault before this proposition has been true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Each at most as often as it is listed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub as_listed: bool,
}

impl Default for FaultOptions {
    fn default() -> Self {
        Self {
            budget: 1,
            syscall: Vec::new(),
            net: Vec::new(),
            process: Vec::new(),
            disk: Vec::new(),
            time: Vec::new(),
            after: None,
            as_listed: false,
        }
    }
}

/// The key of a fault. One that is not known is taken for one of a syscall, where it is refused.
fn key(text: &str) -> &'static str {
    match Fault::parse(text) {
        Ok(fault) if fault.effect.is_of_program() => "process",
        Ok(fault) if fault.effect.is_of_network() => "net",
        Ok(fault) if fault.effect.disk().is_some() => "disk",
        Ok(fault) if fault.effect.is_of_time() => "time",
        _ => "syscall",
    }
}

impl FaultOptions {
    /// From flags; nothing if no fault is wanted.
    pub fn new(counts: &[FaultCount], scope: &FaultArgs) -> Result<Option<Self>, String> {
        let count = match counts {
            [] if scope.only.is_empty() && scope.after.is_none() => return Ok(None),
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
        Ok(Some(Self { after: scope.after.clone(), ..Self::of(count, &scope.only) }))
    }

    /// Some faults, so many in a run.
    pub fn of(budget: u32, faults: &[impl AsRef<str>]) -> Self {
        let of = |wanted| {
            let texts = faults.iter().map(AsRef::as_ref).filter(|text: &&str| key(text) == wanted);
            texts.map(str::to_owned).collect()
        };
        Self {
            budget,
            syscall: of("syscall"),
            net: of("net"),
            process: of("process"),
            disk: of("disk"),
            time: of("time"),
            after: None,
            as_listed: false,
        }
    }

    /// What happens to programs that talk, if nobody says it.
    pub fn usual(budget: u32) -> Self {
        Self::of(budget, &USUAL)
    }

    /// The same for programs that talk to peers: those are not cut off.
    pub fn usual_with_peers(budget: u32) -> Self {
        let usual: Vec<&str> = USUAL.into_iter().filter(|fault| *fault != "partition").collect();
        Self::of(budget, &usual)
    }

    /// Exactly these, each at most as often as it is listed.
    pub fn listed(faults: &[&str]) -> Self {
        Self { as_listed: true, ..Self::of(faults.len() as u32, faults) }
    }

    fn by_key(&self) -> [(&'static str, &[String]); 5] {
        let (net, process) = (("net", &self.net[..]), ("process", &self.process[..]));
        [("syscall", &self.syscall), net, process, ("disk", &self.disk), ("time", &self.time)]
    }

    fn all(&self) -> impl Iterator<Item = &str> {
        self.by_key().into_iter().flat_map(|(_, faults)| faults).map(String::as_str)
    }

    /// What is wrong with it.
    pub fn verify(&self) -> Result<(), String> {
        let of_keys = self.by_key().into_iter().flat_map(|(own, faults)| faults.iter().map(move |text| (own, text)));
        for (own, text) in of_keys {
            Fault::parse(text)?;
            let other = key(text);
            if other != own {
                return Err(format!("`{text}` is no fault of `{own}`\n  = help: write it under `{other}`"));
            }
        }
        Ok(())
    }

    /// What it means to the checker; faults that are not known do not happen.
    pub fn plan(&self) -> FaultPlan {
        let faults = self.all().filter_map(|text| Fault::parse(text).ok()).collect();
        FaultPlan { budget: self.budget, faults, as_listed: self.as_listed }
    }

    /// For the report: what might happen.
    pub fn told(&self) -> String {
        let after = self.after.iter().map(|after| format!(" after {after}")).collect::<String>();
        format!("up to {} of {}{after}", self.budget, self.all().collect::<Vec<_>>().join(", "))
    }
}
