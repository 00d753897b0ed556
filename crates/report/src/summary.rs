//! What a check found out: the plain data that every report of it is made from.

use serde::Serialize;
use trace::FailureKind;

/// What a check found out.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Summary {
    /// What was checked, as the user named it.
    pub system: String,
    /// Every property that was asked for.
    pub properties: Vec<Property>,
    /// Kinds that were looked for in vain: without an `assert`, no row speaks of assertions.
    pub absent: Vec<FailureKind>,
    /// What was covered.
    pub covered: Covered,
    /// What the user should know although nobody asked.
    pub warnings: Vec<String>,
    /// Code that no step reached; `None` if the search does not know.
    pub unreached: Option<Vec<Unreached>>,
    /// Parts of the world that the check did not control.
    pub not_controlled: Vec<String>,
    /// For programs: what else there is to say about the search.
    pub programs: Option<Programs>,
}

/// What a search of programs covered, beyond what every search tells.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Programs {
    /// The commands, as the user wrote them.
    pub commands: Vec<String>,
    /// How often the search began: whenever it learns that it looked too coarsely it begins anew.
    pub rounds: u32,
    /// Steps executed in all rounds, to look ahead and to come back included.
    pub executed: u64,
    /// Results that were memoized or inherited instead of being worked out, if they were audited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memoized: Option<u64>,
    /// Those that were worked out again and compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audited: Option<u64>,
    /// States in which there was more than one choice of who moves.
    pub scheduling: u64,
    /// Choices beside who moves, by what they are about; those that were switched off are not there.
    pub choices: Vec<Choices>,
    /// Actors' steps that were left out because they could not matter.
    pub pruned: u64,
    /// States with steps still to be taken when the search ended.
    pub left: u64,
    /// Words of memory at which threads race, made visible.
    pub promoted: u64,
    /// How the C library was looked at: `summary`, `real`.
    pub libc: String,
    /// What engines tell that do not remember states: classes of schedules, runs, estimates.
    pub engine: Vec<String>,
    /// The memory model.
    pub memory_model: String,
    /// What was taken for granted.
    pub assumptions: Vec<String>,
    /// Peers whose recorded behaviour a verdict is for, with how much was said to them.
    pub peers: Vec<String>,
    /// What was carried out with each peer: checkpoints, restores, and their cost.
    pub traffic: Vec<Vec<String>>,
}

/// Choices of one kind.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Choices {
    /// What they are about: `whom a signal wakes`.
    pub about: String,
    /// States in which there was one.
    pub states: u64,
    /// Ways that were taken there.
    pub taken: u64,
}

/// A property and what is known about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: FailureKind,
    /// The answer.
    pub verdict: PropertyVerdict,
    /// One line about the answer: why it is vacuous, which bound cut it off.
    pub note: String,
    /// The counterexample's id.
    pub counterexample: Option<String>,
    /// How many different violations were counted (with `--keep-going`), 0 if none were.
    pub violations: u64,
    /// How SPIN's trail of the counterexample would end, where somebody wants to know.
    pub trail: Option<Trail>,
}

/// The end of a trail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trail {
    /// The depth as SPIN counts it.
    pub depth: u64,
    /// Whether it is a cycle.
    pub cycle: bool,
}

/// The answer about one property.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PropertyVerdict {
    /// It holds on everything that was to be covered.
    Holds,
    /// There is a counterexample.
    Violated,
    /// It holds, but only because what it speaks of never happens.
    Vacuous,
    /// There is a counterexample, and none that is weakly fair.
    NeedsFairness,
    /// No counterexample within the effort that was asked for, which says nothing about the rest.
    NotFound,
    /// No counterexample, but not everything was covered.
    Incomplete,
    /// It speaks of something that we do not support.
    Unsupported,
}

impl PropertyVerdict {
    /// As people read it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Violated => "violated",
            Self::Vacuous => "vacuous",
            Self::NeedsFairness => "needs fairness",
            Self::NotFound => "not found",
            Self::Incomplete => "incomplete",
            Self::Unsupported => "unsupported",
        }
    }
}

/// What was covered.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Covered {
    /// How the search ended.
    pub end: End,
    /// Distinct states.
    pub states: u64,
    /// Steps between them.
    pub steps: u64,
    /// Runs, for searches that count runs.
    pub traces: u64,
    /// The deepest state.
    pub depth_max: u64,
    /// Steps that led to a state seen before.
    pub matched: u64,
    /// Bytes of one state.
    pub state_bytes: u64,
    /// Bytes that the visited store takes.
    pub store_bytes: u64,
    /// The process's memory at its peak.
    pub memory_bytes: u64,
    /// Time on the wall.
    pub seconds: f64,
    /// Time on all cores.
    pub cpu_seconds: f64,
    /// Threads that searched.
    pub workers: usize,
    /// Search order: `breadth first`.
    pub order: String,
    /// Visited store: `tree`.
    pub store: String,
    /// Reduction: `off`, or its name.
    pub reduction: String,
    /// Whether only weakly fair runs count for liveness.
    pub fair: bool,
    /// Which faults might happen: `up to 2 of 14 faults`; empty if none could.
    pub faults: String,
    /// The probability that a state was taken for another; 0 for lossless stores, `None` if nobody can say.
    pub collision_probability: Option<f64>,
    /// The seed, for searches that draw.
    pub seed: Option<u64>,
}

/// How a search ended.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum End {
    /// Everything was visited.
    #[default]
    Exhaustive,
    /// Everything within a bound that means something was visited: `depth 100`, `2 preemptions`.
    Bound(String),
    /// The effort that the user asked for was made, and some runs came to their end: `8 s`, `1 000 runs`. Nothing follows
    /// about the others.
    Limit(String),
    /// A counterexample ended it.
    Violation,
    /// Something nobody asked for cut it off: `memory ran out (8.0 GB)`.
    Inconclusive(String),
    /// The user stopped it.
    Interrupted,
}

impl End {
    /// A search that made the effort that the user asked for; without a run that came to its end it has shown nothing.
    #[must_use]
    pub fn limit(effort: String, has_completed_runs: bool) -> Self {
        match has_completed_runs {
            true => Self::Limit(effort),
            false => Self::Inconclusive(format!("no run came to its end in {effort}")),
        }
    }

    /// What is known about a property of which no violation was found. Only who has seen everything, or everything within a
    /// bound that means something, may say that it holds.
    #[must_use]
    pub fn without_violation(&self) -> (PropertyVerdict, String) {
        match self {
            Self::Exhaustive => (PropertyVerdict::Holds, String::new()),
            Self::Bound(bound) => (PropertyVerdict::Holds, format!("within {bound}")),
            Self::Limit(effort) => (PropertyVerdict::NotFound, format!("in {effort}; not exhaustive")),
            Self::Violation => {
                (PropertyVerdict::Incomplete, "stopped after the first violation (--keep-going)".to_owned())
            }
            Self::Inconclusive(why) => (PropertyVerdict::Incomplete, why.clone()),
            Self::Interrupted => (PropertyVerdict::Incomplete, "interrupted".to_owned()),
        }
    }
}

/// The code of one process type that no step reached.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Unreached {
    /// `proctype client`, `init`, `claim p1`.
    pub unit: String,
    /// Statements that were not reached.
    pub statements: Vec<Statement>,
    /// Statements of the unit.
    pub total: usize,
}

/// A statement in the source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Statement {
    /// The file as the user named it.
    pub file: String,
    /// Its line, counted from 1.
    pub line: u32,
    /// Its number within the process type.
    pub state: u32,
    /// Its text.
    pub text: String,
}

/// The answer of the whole check, in JSON's words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Every property holds, for all runs or for all within a bound that means something.
    Holds,
    /// No violation was found with the effort that was asked for.
    NotFound,
    /// There is a counterexample.
    Violated,
    /// Something is not supported.
    Unsupported,
    /// Neither is known.
    Inconclusive,
}

/// The answer together with what an exit code must tell apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// An answer.
    Verdict(Verdict),
    /// Nothing was there to be checked.
    Nothing,
    /// The user stopped it before there was an answer.
    Interrupted,
}

impl Summary {
    /// The answer of the whole check; a counterexample always wins, and what was not covered never passes.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        use PropertyVerdict as P;
        let any = |wanted: &[P]| self.properties.iter().any(|property| wanted.contains(&property.verdict));
        if any(&[P::Violated, P::NeedsFairness]) {
            return Outcome::Verdict(Verdict::Violated);
        }
        if self.covered.end == End::Interrupted {
            return Outcome::Interrupted;
        }
        if any(&[P::Unsupported]) {
            return Outcome::Verdict(Verdict::Unsupported);
        }
        if any(&[P::Incomplete]) || matches!(self.covered.end, End::Inconclusive(_)) {
            return Outcome::Verdict(Verdict::Inconclusive);
        }
        if any(&[P::NotFound]) {
            return Outcome::Verdict(Verdict::NotFound);
        }
        if any(&[P::Holds, P::Vacuous]) { Outcome::Verdict(Verdict::Holds) } else { Outcome::Nothing }
    }

    /// The answer in JSON's words, where "nothing" and "interrupted" are inconclusive.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self.outcome() {
            Outcome::Verdict(verdict) => verdict,
            Outcome::Nothing | Outcome::Interrupted => Verdict::Inconclusive,
        }
    }

    /// Whether everything was visited: no bound cut the search off, and the store either cannot take a state for another
    /// or says how likely that is.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.covered.end == End::Exhaustive && self.covered.collision_probability.is_some()
    }
}
