//! A plan of faults for programs that were started: names have become processes.

use super::descriptor_kind::DescriptorKind;
use super::path_pattern::PathPattern;
use super::plan::{Effect, Fault, FaultPlan};
use crate::footprint::access::{self, Kind};
use crate::system::programs::Programs;
use crate::system::state::History;
use crate::system::workload::Workload;
use kernel::Pid;
use kernel::errno::Errno;
use kernel::signal::number;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The faults that may happen to programs.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlacedFaults {
    pub budget: u32,
    /// The proposition that has been true before any fault, by its bit.
    pub after: Option<u32>,
    pub all: Vec<PlacedFault>,
}

/// A fault, and the programs to which it may happen.
#[derive(Clone, Debug)]
pub(crate) struct PlacedFault {
    pub name: String,
    pub effect: Effect,
    /// Any, if none is named.
    pub(super) programs: Option<Vec<Pid>>,
    /// Any file, if none is named.
    pub(super) path: Option<PathPattern>,
    /// Any kind of descriptor, if none is named.
    pub(super) on: Option<DescriptorKind>,
    /// How often it may happen in a run.
    most: u32,
    /// How often it has happened, in all schedules and workers.
    happened: Arc<AtomicU64>,
}

impl PlacedFaults {
    /// A plan for programs that were started.
    pub fn new(plan: &FaultPlan, started: &[(Pid, String)]) -> Self {
        let FaultPlan { budget, faults, as_listed } = plan;
        let listed = |fault: &Fault| faults.iter().filter(|other| *other == fault).count() as u32;
        let is_first = |(at, fault): &(usize, &Fault)| !as_listed || !faults[..*at].contains(fault);
        let different = faults.iter().enumerate().filter(is_first);
        // Power fails once: what starts behind it finds what is left.
        let most = |fault: &Fault| match fault.effect {
            Effect::Crash(_) => 1,
            _ if *as_listed => listed(fault),
            _ => *budget,
        };
        let all = different.flat_map(|(_, fault)| placed(fault, most(fault), started)).collect();
        Self { budget: *budget, after: None, all }
    }

    /// Whether a fault may still happen, as far as it is counted on its own.
    pub fn may_happen(&self, fault: u16, history: &History) -> bool {
        let happened = history.faults.iter().filter(|other| **other == fault).count();
        happened < self.all[usize::from(fault)].most as usize
    }

    /// Whether no fault may happen yet.
    pub fn are_deferred(&self, history: &History) -> bool {
        self.after.is_some() && !history.may_fault
    }

    /// Whether the condition holds before which no fault happens, by what holds in a state.
    pub fn may_begin(&self, valuation: u64) -> bool {
        self.after.is_some_and(|bit| valuation >> bit & 1 == 1)
    }

    /// Whether no more faults may happen.
    pub fn is_spent(&self, history: &History) -> bool {
        self.all.is_empty() || history.faults.len() >= self.budget as usize
    }
}

impl PlacedFault {
    /// Whether it may happen to a program.
    pub fn is_of(&self, program: Option<Pid>) -> bool {
        self.programs.as_ref().is_none_or(|programs| program.is_some_and(|program| programs.contains(&program)))
    }

    /// The error that all calls get once it has happened, if it is permanent.
    pub fn permanent_error(&self) -> Option<Errno> {
        match self.effect {
            Effect::Error { errno, is_permanent: true, .. } => Some(errno),
            _ => None,
        }
    }
}

impl History {
    /// Whether a permanent fault has happened.
    pub(super) fn has_permanent(&self, fault: u16, workload: &Workload) -> bool {
        self.faults.contains(&fault) && workload.faults.all[usize::from(fault)].permanent_error().is_some()
    }

    /// A fault has happened. The order of faults is not kept: what they did is in the state.
    pub(crate) fn add_fault(&mut self, fault: u16) {
        let at = self.faults.partition_point(|other| *other <= fault);
        self.faults.insert(at, fault);
    }
}

/// How many faults may still happen, as an object: a fault writes it.
pub(super) fn budget_object() -> u64 {
    access::object(Kind::World, 3, 0)
}

/// Whether a permanent fault has happened, as an object: it writes it, and the calls that it may happen to read it.
pub(super) fn permanent_object(fault: u16) -> u64 {
    access::object(Kind::World, 2, u64::from(fault))
}

impl Programs {
    /// Whether all programs exist that faults are to happen to.
    ///
    /// # Errors
    /// If one does not.
    pub fn verify_faults(&self) -> Result<(), String> {
        let verify = |fault: &Fault| match &fault.program {
            Some(name) => {
                named(name, &self.workload.started).map(drop).map_err(|why| format!("`{}`: {why}", fault.name))
            }
            None => Ok(()),
        };
        self.workload.options.faults.faults.iter().try_for_each(verify)
    }

    /// Lets no fault happen before a proposition has been true.
    ///
    /// # Errors
    /// If it cannot be read, or names what is not there.
    pub fn defer_faults_until(&mut self, text: &str) -> Result<(), String> {
        let bit = self.observe(text)?;
        self.workload.faults.after = Some(bit);
        let now = self.workload.valuation(&self.state);
        if self.workload.faults.may_begin(now) {
            self.state.history.may_fault = true;
            self.initial = self.save();
        }
        Ok(())
    }

    /// All faults that may happen, by name.
    #[must_use]
    pub fn faults(&self) -> Vec<&str> {
        self.workload.faults.all.iter().map(|fault| fault.name.as_str()).collect()
    }

    /// Faults that were never reached, by name.
    #[must_use]
    pub fn unreached_faults(&self) -> Vec<&str> {
        let never = |fault: &&PlacedFault| fault.happened.load(Ordering::Relaxed) == 0;
        self.workload.faults.all.iter().filter(never).map(|fault| fault.name.as_str()).collect()
    }

    /// A fault has happened in a step.
    pub(crate) fn count_fault(&mut self, fault: u16) {
        self.state.history.add_fault(fault);
        self.workload.faults.all[usize::from(fault)].happened.fetch_add(1, Ordering::Relaxed);
    }
}

/// A fault with its processes. What happens to a program is a fault of its own for each.
fn placed(fault: &Fault, most: u32, started: &[(Pid, String)]) -> Vec<PlacedFault> {
    let Fault { name, effect, program, path, on } = fault;
    let programs = program.as_ref().map(|program| named(program, started).unwrap_or_default());
    let one = |name: String, programs| PlacedFault {
        name,
        effect: *effect,
        programs,
        path: path.clone(),
        on: *on,
        most,
        happened: Arc::default(),
    };
    if !effect.has_victim() {
        return vec![one(name.clone(), programs)];
    }
    let is_meant = |pid: &Pid| programs.as_ref().is_none_or(|programs| programs.contains(pid));
    let meant = started.iter().filter(|(pid, _)| is_meant(pid));
    let what = match effect {
        Effect::Signal(number) => format!("{}:{}", effect.word(), number::name(*number).trim_start_matches("SIG")),
        _ => effect.word().to_owned(),
    };
    meant.map(|(pid, name)| one(format!("{what}:{name}"), Some(vec![*pid]))).collect()
}

/// The processes that a name means.
fn named(name: &str, started: &[(Pid, String)]) -> Result<Vec<Pid>, String> {
    let names: Vec<String> = started.iter().map(|(_, name)| name.clone()).collect();
    let meant = proposition::processes(name, &names)?;
    Ok(started.iter().filter(|(_, name)| meant.contains(name)).map(|(pid, _)| *pid).collect())
}
