//! SPIN's trail files: written so that `spin -t` shows our counterexamples, read so that we replay SPIN's.
//!
//! A line is `step:pid:transition`, where the transition is SPIN's number of the statement. Negative steps are marks:
//! `-4` says that SPIN merged statements, `-2` that a claim took part (then every pid is one higher and pid 0 is the
//! claim), `-1` that the cycle starts here.
//!
//! Numbers of statements (`spin_id`) are assigned by lowering in SPIN's order of declaration. A
//! trail of another version of SPIN, or of a model that was changed since, is noticed when a
//! statement does not fit.

use crate::ir::{Action, ControlState, Edge, Pc};
use crate::run::step::{Course, Micro};
use crate::run::{Code, Scratch, System, explain};
use explore::{Bits, Selection};
use std::fmt::Write;
use std::ops::ControlFlow;
use trace::{Choice, Schedule};

/// Steps that merging may have left out between two lines.
///
/// SPIN merges chains of local statements of one process; longer chains than this do not occur in
/// practice, and the search for them must end.
const SILENT_MAX: usize = 64;

/// One line of a trail that is a step of a process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Line {
    pid: u32,
    transition: u32,
}

/// A trail as read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Trail {
    lines: Vec<Line>,
    /// How many lines come before the cycle.
    cycle_start: Option<usize>,
    merged: bool,
}

/// Why a trail cannot be followed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TrailError {
    /// The line of the trail file, from 1; 0 if the trouble is not in one line.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for TrailError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(formatter, "{}", self.message),
            line => write!(formatter, "line {line}: {}", self.message),
        }
    }
}

impl std::error::Error for TrailError {}

/// The trail of a schedule, one line for each statement; `None` if the schedule does not fit the model.
///
/// Merging is not used in what we write: one line for each statement, so `spin -t` follows it with
/// or without `-o3`.
pub fn write<C: Code>(system: &System<C>, schedule: &Schedule) -> Option<String> {
    let mut scratch = Scratch::default();
    let mut state = system.initial_work().bytes;
    let mut text = String::new();
    let mut number = 0;
    for (index, choice) in schedule.choices.iter().enumerate() {
        if schedule.cycle_start == Some(index) {
            text.push_str("-1:-1:-1\n");
        }
        let (after, mut told) = take(system, &mut scratch, &state, *choice)?;
        // SPIN stops at the assertion, also inside an atomic sequence.
        if index + 1 == schedule.choices.len() && schedule.cycle_start.is_none() {
            let failed = explain::first_failed(&system.model, &state, &told);
            told.truncate(failed.map_or(told.len(), |failed| failed + 1));
        }
        for line in lines(system, &told) {
            number += 1;
            let _ = writeln!(text, "{number}:{}:{}", line.pid, line.transition);
        }
        state = after;
    }
    Some(text)
}

/// The depth that SPIN prints for a trail: steps before a cycle, or before the step that fails.
#[must_use]
pub fn depth(trail: &str) -> usize {
    let steps = |text: &str| text.lines().filter(|line| !line.starts_with('-')).count();
    match trail.split_once("-1:-1:-1") {
        Some((stem, _)) => steps(stem),
        None => steps(trail).saturating_sub(1),
    }
}

/// The lines of a step: one for each statement, but one for a whole `d_step`.
///
/// SPIN counts a `d_step` as one transition, with the number of the whole.
fn lines<C>(system: &System<C>, told: &[Micro]) -> Vec<Line> {
    let (mut lines, mut under_way) = (Vec::new(), [].as_slice());
    for micro in told {
        let (proctype, pc, edge) = micro.at;
        let states = &system.model.proctypes[proctype].states;
        let edge = &states[pc].edges[edge];
        if !under_way.contains(&pc) {
            let whole = d_step_around(states, pc).unwrap_or(edge);
            under_way = inside(whole);
            lines.push(Line { pid: micro.pid, transition: whole.spin_id });
        }
        // A `d_step` whose first statement is a rendezvous is told by itself, then by the rest.
        if inside(edge).is_empty() && !under_way.contains(&edge.target) {
            under_way = &[];
        }
    }
    lines
}

/// The `d_step` that a control state is part of.
fn d_step_around(states: &[ControlState], pc: Pc) -> Option<&Edge> {
    states.iter().flat_map(|state| &state.edges).find(|edge| inside(edge).contains(&pc))
}

/// The control states of a `d_step`.
fn inside(edge: &Edge) -> &[Pc] {
    if let Action::DStep { inside, .. } = &edge.action { inside } else { &[] }
}

fn take<C: Code>(
    system: &System<C>,
    scratch: &mut Scratch,
    state: &[u8],
    choice: Choice,
) -> Option<(Vec<u8>, Vec<Micro>)> {
    let mut taken = None;
    system.courses(scratch, state, Selection::Only(Bits::one(choice.actor)), true, &mut |at, course| {
        let choices = course.failures.len().max(1) as u32;
        if !(at.index..at.index + choices).contains(&choice.index) {
            return ControlFlow::Continue(());
        }
        taken = Some((course.work.bytes.clone(), course.told.clone()));
        ControlFlow::Break(())
    });
    taken
}

/// The schedule that a trail describes.
///
/// # Errors
/// If the text is no trail, or does not fit the model.
pub fn read<C: Code>(system: &System<C>, text: &str) -> Result<Schedule, TrailError> {
    let trail = parse(text)?;
    let mut follower = Follower { system, scratch: Scratch::default(), trail: &trail, furthest: 0 };
    let state = system.initial_work().bytes;
    let mut found = Vec::new();
    if !follower.follow(state, 0, None, 0, &mut found) {
        let line = trail.lines[follower.furthest.min(trail.lines.len() - 1)];
        return Err(TrailError {
            line: 0,
            message: format!(
                "step {} (process {}, transition {}) does not fit the model: was the trail made from this very file?",
                follower.furthest + 1,
                line.pid,
                line.transition
            ),
        });
    }
    let cycle_start = trail.cycle_start.map(|start| found.partition_point(|(line, _)| *line < start));
    Ok(Schedule { choices: found.into_iter().map(|(_, choice)| choice).collect(), cycle_start })
}

fn parse(text: &str) -> Result<Trail, TrailError> {
    let mut trail = Trail::default();
    let mut shift = 0;
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |message: &str| TrailError { line: index + 1, message: message.to_owned() };
        let fields: Vec<i64> = line
            .trim()
            .split(':')
            .map(|field| field.parse().map_err(|_| wrong("expected three numbers with colons between them")))
            .collect::<Result<_, _>>()?;
        let [step, pid, transition] = fields[..] else {
            return Err(wrong("expected three numbers with colons between them"));
        };
        match step {
            -1 => trail.cycle_start = Some(trail.lines.len()),
            -2 => shift = 1,
            -4 => trail.merged = true,
            0.. if pid == 0 && shift == 1 => {}
            0.. => trail.lines.push(Line {
                pid: u32::try_from(pid - shift).map_err(|_| wrong("not a process number"))?,
                transition: u32::try_from(transition).map_err(|_| wrong("not a transition number"))?,
            }),
            _ => return Err(wrong("unknown mark")),
        }
    }
    if trail.lines.is_empty() {
        return Err(TrailError { line: 0, message: "the trail has no steps".to_owned() });
    }
    Ok(trail)
}

/// Searches for the choices whose statements are those of the trail.
///
/// A depth-first search with backtracking, because a line may be matched by several choices (two
/// options with the same statement number cannot occur, but merged statements can be passed at
/// different times). Linear on trails that fit.
struct Follower<'s, C> {
    system: &'s System<C>,
    scratch: Scratch,
    trail: &'s Trail,
    furthest: usize,
}

impl<C: Code> Follower<'_, C> {
    fn follow(
        &mut self,
        state: Vec<u8>,
        line: usize,
        last: Option<u32>,
        silent: usize,
        found: &mut Vec<(usize, Choice)>,
    ) -> bool {
        self.furthest = self.furthest.max(line);
        let Some(&wanted) = self.trail.lines.get(line) else { return true };
        for (choice, after, consumed) in self.candidates(&state, wanted.pid, line) {
            found.push((line, choice));
            if self.follow(after, line + consumed, Some(wanted.pid), 0, found) {
                return true;
            }
            found.pop();
        }
        self.trail.merged
            && silent < SILENT_MAX
            && last.is_some_and(|pid| self.follow_silently(&state, line, pid, silent, found))
    }

    /// A statement that SPIN merged with the one before has no line of its own.
    fn follow_silently(
        &mut self,
        state: &[u8],
        line: usize,
        pid: u32,
        silent: usize,
        found: &mut Vec<(usize, Choice)>,
    ) -> bool {
        for (choice, course) in self.courses(state, pid) {
            found.push((line, choice));
            if self.follow(course.work.bytes, line, Some(pid), silent + 1, found) {
                return true;
            }
            found.pop();
        }
        false
    }

    /// Steps of a process that start with the statement of a line, and how many lines each uses up.
    fn candidates(&mut self, state: &[u8], pid: u32, line: usize) -> Vec<(Choice, Vec<u8>, usize)> {
        let courses = self.courses(state, pid);
        let fitting = |(choice, course): (Choice, Course)| {
            let consumed = self.consumed(&course.told, line)?;
            Some((choice, course.work.bytes, consumed))
        };
        courses.into_iter().filter_map(fitting).collect()
    }

    fn consumed(&self, told: &[Micro], line: usize) -> Option<usize> {
        let mut used = 0;
        for (index, here) in lines(self.system, told).into_iter().enumerate() {
            match self.trail.lines.get(line + used) {
                Some(wanted) if *wanted == here => used += 1,
                // Merged statements of an atomic sequence have one line together.
                _ if index > 0 => {}
                _ => return None,
            }
        }
        Some(used)
    }

    fn courses(&mut self, state: &[u8], pid: u32) -> Vec<(Choice, Course)> {
        let mut all = Vec::new();
        if pid < explore::bits::CAPACITY {
            let only = Selection::Only(Bits::one(pid));
            self.system.courses(&mut self.scratch, state, only, true, &mut |choice, course| {
                all.push((choice, course.clone()));
                ControlFlow::Continue(())
            });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trail_with_a_claim_is_read_without_the_claims_moves() {
        let trail = parse("-2:2:-2\n-4:-4:-4\n1:0:21\n2:1:0\n-1:-1:-1\n3:0:19\n4:1:0\n").unwrap();
        assert_eq!(trail.lines, [Line { pid: 0, transition: 0 }; 2]);
        assert_eq!((trail.cycle_start, trail.merged), (Some(1), true));
    }

    #[test]
    fn the_depth_of_a_trail_is_spins() {
        for (trail, expected) in [("", 0), ("1:0:0\n2:0:1\n3:0:2\n", 2), ("-4:-4:-4\n1:0:0\n-1:-1:-1\n2:0:1\n", 1)] {
            assert_eq!(depth(trail), expected, "{trail:?}");
        }
    }

    #[test]
    fn what_is_no_trail_is_refused_with_its_line() {
        for (text, line) in [("", 0), ("1:2", 1), ("1:0:0\nhello", 2), ("-9:1:1", 1), ("1:-5:0", 1)] {
            assert_eq!(parse(text).unwrap_err().line, line, "{text:?}");
        }
    }
}
