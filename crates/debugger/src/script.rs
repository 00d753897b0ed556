//! What a counterexample says of its steps, as plain data: made by whoever words events.

/// One step of a schedule, for people.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ScriptStep {
    /// Who moves.
    pub actor: String,
    /// What happens.
    pub text: String,
    /// Where in the source.
    pub place: String,
}

/// A process, for people.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ScriptProcess {
    /// Its number.
    pub pid: u32,
    /// Its name in reports.
    pub name: String,
}

/// A schedule, for people.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Script {
    /// The steps, first to last.
    pub steps: Vec<ScriptStep>,
    /// Names of threads, by number.
    pub threads: std::collections::BTreeMap<u32, String>,
    /// All processes.
    pub processes: Vec<ScriptProcess>,
    /// The process that is debugged.
    pub process: String,
    /// What goes wrong at the end.
    pub failure: String,
    /// The command that debugs it.
    pub command: String,
}

impl Script {
    /// How a thread is called.
    #[must_use]
    pub fn thread(&self, tid: u32) -> String {
        self.threads.get(&tid).cloned().unwrap_or_else(|| format!("thread {tid}"))
    }
}
