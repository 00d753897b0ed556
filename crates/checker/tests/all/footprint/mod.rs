//! Footprints of calls, held against what the calls do: for any two of them, made by two threads or two processes, either
//! their footprints conflict, or each does the same whether the other was made before or not, and both orders lead to the
//! same state.
//!
//! So for each object that a call changes, whoever looks at it must say so: a world in which the first call was made
//! and one in which it was not differ in what it changes. `PAIRS=all` tries all pairs, `PAIRS=5000` so many.

mod calls;

use crate::fuzz::diamond;
use crate::inside;
use crate::start;
use calls::{FAMILIES, MADE_BY, OF_THE_LIBRARY, UNNAMED};
use checker::libc::{FUNCTIONS, Function};
use checker::system::choice::TIME;
use checker::{Options, Programs, Snapshot};
use explore::graph::{Access, Actor, FootprintSystem, Reached};
use explore::random::Random;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::Command as Native;
use trace::Choice;

/// States of one pair that are looked at.
const STATES_MAX: usize = 80;
/// How often more can be learnt from one pair.
const ROUNDS_MAX: usize = 12;
/// Of the number of a call.
const BITS: usize = 9;

fn calls() -> Vec<&'static str> {
    FAMILIES.iter().flat_map(|(_, calls)| *calls).copied().collect()
}

/// Who shares what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Two {
    Threads,
    Processes,
}

/// Two actors that are about to choose a call.
struct Bench {
    programs: Programs,
    /// Where the first has chosen each of the calls, and the second none.
    chosen: Vec<Reached<Snapshot>>,
    /// The first, and the second.
    one: u32,
    other: u32,
    calls: Vec<&'static str>,
}

impl Bench {
    /// A folder for each test: two that build in one at the same time remove each other's files.
    fn new(two: Two, test: &str) -> Self {
        let calls = calls();
        assert!(calls.len() <= 1 << BITS, "{}", calls.len());
        let folder = inside::folder(&format!("footprint-{test}-{two:?}"));
        let mut source = concat!(include_str!("frame.c"), include_str!("../rust_mutex.c")).to_owned();
        for (number, call) in calls.iter().enumerate() {
            let _ = writeln!(source, "static long call_{number}(int me) {{ return {call}; }}");
        }
        let names: String = (0..calls.len()).map(|number| format!("call_{number}, ")).collect();
        let _ = writeln!(source, "const call calls[] = {{ {names} }};");
        std::fs::write(folder.join("program.c"), source).expect("the folder takes files");
        let defined = match two {
            Two::Threads => ["-DTHREADS", "-DID=gettid()", "-DPAGES=MAP_PRIVATE"],
            Two::Processes => ["-DPROCESSES", "-DID=getpid()", "-DPAGES=MAP_SHARED"],
        };
        let mut gcc = Native::new("gcc");
        gcc.current_dir(&folder).args(["-g", "-O1", "-w", "-pthread", "-o", "program", "program.c"]).args(defined);
        assert!(gcc.arg(format!("-DBITS={BITS}")).status().expect("gcc runs").success());
        let mut programs = start::search_of(&folder, Options { short_reads: true, ..Options::default() });
        let (start, [one, other]) = choosing(&mut programs);
        let chosen = (0..calls.len()).map(|call| choose(&mut programs, &start, one, call)).collect();
        Self { programs, chosen, one, other, calls }
    }

    /// Whether two calls commute wherever their footprints say so.
    fn try_pair(&mut self, pair: [usize; 2]) -> Result<(), String> {
        let start = choose(&mut self.programs, &self.chosen[pair[0]], self.other, pair[1]);
        let (mut open, mut seen) = (vec![start], BTreeSet::new());
        while let Some(reached) = open.pop() {
            if !seen.insert(reached.fingerprint) || seen.len() > STATES_MAX {
                continue;
            }
            let mut here = reached.clone();
            here.actors.retain(|actor| actor.number != TIME && actor.choices > 0);
            let mut steps = diamond::steps(&mut self.programs, &here);
            diamond::exchange_all(&mut self.programs, &reached, &steps)?;
            steps.retain(|step| !diamond::is_fatal(step));
            open.extend(steps.into_iter().map(|step| step.taken.reached));
        }
        Ok(())
    }

    /// After a few times everything is known of what they share.
    fn holds(&mut self, pair: [usize; 2]) -> Result<(), String> {
        for _ in 0..ROUNDS_MAX {
            if self.try_pair(pair).is_ok() {
                return Ok(());
            }
            self.programs.promote(&[]);
        }
        let told = pair.map(|number| self.calls[number]);
        self.try_pair(pair).map_err(|error| format!("{} and {}: {error}", told[0], told[1]))
    }
}

/// Whether a call is an access to memory that becomes visible once it is known to race.
fn is_plain_access(call: &str) -> bool {
    ["*(volatile", "s->plain"].iter().any(|start| call.starts_with(start))
}

/// Steps of one call at most.
const STEPS_MAX: usize = 60;

impl Bench {
    /// Lets somebody go on until it waits; where that leads, and the footprint of all its steps. Nothing if it fails.
    fn let_go(&mut self, from: &Reached<Snapshot>, actor: u32) -> Option<(Reached<Snapshot>, Vec<Access>)> {
        let (mut reached, mut accesses) = (from.clone(), Vec::new());
        for _ in 0..STEPS_MAX {
            let can_move = reached.actors.iter().any(|other| other.number == actor && other.choices > 0);
            if !can_move {
                return Some((reached, diamond::sorted(&accesses)));
            }
            let taken = self.programs.step(&reached.state, Choice { actor, index: 0 })?;
            accesses.extend(&taken.accesses);
            reached = Some(taken).filter(|taken| taken.failure.is_none())?.reached;
        }
        None
    }

    /// Calls that say that they touch nothing that anybody else could notice.
    fn local(&mut self) -> Vec<usize> {
        let mut footprints = Vec::new();
        for chosen in self.chosen.clone() {
            footprints.push(self.let_go(&chosen, self.one).map(|(_, accesses)| accesses));
        }
        let none = self.calls.iter().position(|call| *call == "0").expect("there is one that does nothing");
        let is_local = |call: &usize| footprints[*call] == footprints[none] && !is_plain_access(self.calls[*call]);
        (0..footprints.len()).filter(is_local).collect()
    }

    /// Whether a call goes the same way before and after another's.
    fn is_same_after(&mut self, call: usize, others: usize) -> Option<bool> {
        let start = choose(&mut self.programs, &self.chosen[call], self.other, others);
        let (before, _) = self.let_go(&start, self.one)?;
        let (after, _) = self.let_go(&start, self.other)?;
        let (one, _) = self.let_go(&before, self.other)?;
        let (other, _) = self.let_go(&after, self.one)?;
        Some(one.fingerprint == other.fingerprint)
    }
}

/// Takes steps until two are about to choose.
fn choosing(programs: &mut Programs) -> (Reached<Snapshot>, [u32; 2]) {
    let mut reached = programs.initial();
    for _ in 0..2_000 {
        let ready: Vec<u32> =
            reached.actors.iter().filter(|actor| actor.choices == 2).map(|actor| actor.number).collect();
        if let [one, two] = ready[..] {
            return (reached, [one, two]);
        }
        let is_next = |actor: &&Actor| actor.choices == 1 && actor.number != TIME;
        let next = reached.actors.iter().find(is_next).expect("somebody can move").number;
        reached = programs.step(&reached.state, Choice { actor: next, index: 0 }).expect("it can").reached;
    }
    panic!("nobody chooses: {:?}", programs.refusal);
}

/// Lets somebody choose a call, bit by bit: a read of all is a one, a short one a zero.
fn choose(programs: &mut Programs, from: &Reached<Snapshot>, actor: u32, call: usize) -> Reached<Snapshot> {
    let mut step = |reached: &Reached<Snapshot>, index| {
        programs.step(&reached.state, Choice { actor, index }).expect("it can move").reached
    };
    (0..BITS).fold(from.clone(), |mut reached, bit| {
        // Accesses to memory that others share may be steps of their own.
        while reached.actors.iter().any(|other| other.number == actor && other.choices == 1) {
            reached = step(&reached, 0);
        }
        step(&reached, u32::from(call >> bit & 1 == 0))
    })
}

/// Pairs to try: some at random, more if they are asked for.
fn pairs(count: usize, default: usize) -> Vec<[usize; 2]> {
    let given = std::env::var("PAIRS").unwrap_or_default();
    if given == "all" {
        return (0..count).flat_map(|one| (0..count).map(move |other| [one, other])).collect();
    }
    let mut random = Random::new(7);
    let wanted = given.parse().unwrap_or(default);
    (0..wanted).map(|_| [random.below(count), random.below(count)]).collect()
}

fn try_all(two: Two, default: usize) {
    let mut bench = Bench::new(two, "pairs");
    let pairs = pairs(bench.calls.len(), default);
    let wrong: Vec<String> = pairs.iter().filter_map(|pair| bench.holds(*pair).err()).collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), pairs.len(), wrong.join("\n"));
}

/// Pairs of calls that are tried if nobody asks for more.
const PAIRS: usize = 400;

#[test]
fn calls_of_two_threads_commute_unless_their_footprints_conflict() {
    try_all(Two::Threads, PAIRS);
}

#[test]
fn calls_of_two_processes_commute_unless_their_footprints_conflict() {
    try_all(Two::Processes, PAIRS);
}

/// What is not visible goes on with the step before: it must not depend on anything that somebody else can do.
fn try_local(two: Two) {
    let mut bench = Bench::new(two, "local");
    let local = bench.local();
    let (mut wrong, mut tried) = (Vec::new(), 0);
    // Whoever reads `/proc` sees how others are between their steps: that is assumed, and said in the documentation.
    let is_meant =
        |others: &usize| !bench.calls[*others].contains("/proc") && !bench.calls[*others].contains("name(me");
    let all: Vec<usize> = (0..bench.calls.len()).filter(is_meant).collect();
    for others in all {
        // Some calls go another way even if nothing is done before them: they end the first, or wait for its descriptors.
        let none = local[0];
        let is_same = bench.is_same_after(none, others);
        if is_same != Some(true) {
            continue;
        }
        for call in local.iter().copied().skip(1) {
            let is_same = bench.is_same_after(call, others);
            tried += usize::from(is_same.is_some());
            if is_same == Some(false) {
                wrong.push(format!("{} depends on {}", bench.calls[call], bench.calls[others]));
            }
        }
    }
    assert!(tried > 1000, "only {tried} of {} calls", local.len());
    assert!(wrong.is_empty(), "{} of {tried}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn calls_that_touch_nothing_depend_on_no_other_thread() {
    try_local(Two::Threads);
}

#[test]
fn calls_that_touch_nothing_depend_on_no_other_process() {
    try_local(Two::Processes);
}

/// Whether a text has a function, or a call of the kernel by its number.
fn has_call(text: &str, name: &str) -> bool {
    let is_word = |place: usize| !text[..place].ends_with(|before: char| before.is_alphanumeric() || before == '_');
    let function = format!("{name}(");
    let mut places = text.match_indices(&function);
    let is_number = |end| text.contains(&format!("SYS_{name}{end}"));
    places.any(|(place, _)| is_word(place)) || is_number(",") || is_number(")")
}

#[test]
fn every_call_that_does_not_touch_the_whole_world_is_in_the_table() {
    let text = calls().join("\n");
    let is_there = |name: &&str| {
        let made_by = MADE_BY.iter().find(|(call, _)| call == name);
        has_call(&text, name) || made_by.is_some_and(|(_, function)| text.contains(function))
    };
    let missing: Vec<&str> =
        checker::footprint::listed().filter(|name| !is_there(name) && !OF_THE_LIBRARY.contains(name)).collect();
    assert_eq!(missing, [""; 0], "their footprints are held against nothing");
}

#[test]
fn every_function_that_is_one_step_is_in_the_table() {
    let text = calls().join("\n");
    // Of several names for one meaning, one is enough.
    let is_there = |meaning: Function| {
        let mut names = FUNCTIONS.iter().filter(|row| row.function == meaning).flat_map(|row| row.names);
        names.any(|name| has_call(&text, name) || UNNAMED.contains(name))
    };
    let missing: Vec<&str> = FUNCTIONS.iter().filter(|row| !is_there(row.function)).map(|row| row.names[0]).collect();
    assert_eq!(missing, [""; 0], "their footprints are held against nothing");
}
