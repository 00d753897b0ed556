//! The search of programs: how it is watched, and why it ends.

use super::formulas::{self, Judgement};
use super::request::Wanted;
use super::{traffic, variants};
use crate::output::Output;
use crate::progress::ProgressLine;
use crate::request::Request;
use crate::usage;
use checker::{Audited, Cut, Engine, Outcome, Programs, search_by};
use explore::graph::{Found, Limits};
use explore::{Budget, Spent, sample};
use peer::Outside;
use report::{bytes, short_count};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use world::Refusal;

/// Steps that a search still executes after its first failure, so that the verdict table of a small program is whole.
const STEPS_AFTER_FAILURE: u64 = 50_000;
/// Seconds between two lines about progress.
const SHOWN_EVERY: f64 = 0.2;

/// Time for an estimate of what was not seen; a walk that is under way then may take as long again.
const WALKS: Duration = Duration::from_millis(300);
/// Fewer walks say nothing: they may take longer.
const WALKS_MIN: u64 = 40;
/// Steps of one random walk.
const WALK_MAX: usize = 10_000;

/// How a search is watched and stopped.
pub struct Watch<'a> {
    /// The search ends soon after this is spent.
    pub budget: &'a Budget,
    /// Where progress is shown.
    pub output: &'a Output,
}

/// Why a search was stopped from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// What it may use is used up.
    Spent(Spent),
    /// A failure was found a while ago.
    Failure,
}

/// A search that has ended.
pub struct Searched {
    /// What it has seen.
    pub outcome: Outcome,
    /// The engine that has seen it.
    pub engine: Engine,
    /// What it shows of each formula; nothing if it is not complete.
    pub judged: Vec<Judgement>,
    /// Two schedules that say something different to a strict peer, if both were found.
    pub variants: Vec<Found>,
    /// How many results were audited.
    pub audited: Audited,
    /// What it met that is not modelled.
    pub refusal: Option<Refusal>,
    /// How many schedules there are, if it ran out of time.
    pub estimate: Option<sample::Estimate>,
    /// Why it was stopped, if it was.
    pub reason: Option<Reason>,
    /// What the horizon has ended.
    pub cut: Cut,
    /// Propositions that became true in a step of which another failure was told.
    pub masked: Vec<String>,
    /// Time on the wall.
    pub seconds: f64,
}

/// Searches all schedules. What may be used afterwards is for the report.
pub fn search(programs: &mut Programs, wanted: &Wanted, watch: Watch<'_>) -> Searched {
    let started = Instant::now();
    let line = ProgressLine::new(watch.output.is_quiet(), watch.output.layout.width);
    let mut guard = Guard::new(programs, &wanted.request, watch.budget, &line);
    let mut stop = |states, executed| guard.stops(states, executed);
    let mut limits = Limits { states: usize::MAX, failures: usize::MAX, stop: &mut stop };
    let mut engine = formulas::engine(programs, &wanted.engine);
    let mut outcome = search_by(&engine, programs, &mut limits);
    let judged = formulas::judge(programs, wanted.request.fair, (&mut engine, &mut outcome), &mut limits);
    // What a second search for formulas alone had no time for is told of them.
    let reason = guard.reason.filter(|_| !outcome.report.complete);
    let refusal = programs.refusal.clone();
    let variants = variants::find(programs, &engine, watch.budget, &mut outcome);
    let seconds = started.elapsed().as_secs_f64();
    programs.set_budget(watch.budget.closing());
    // What was found is worth more than a number.
    let is_unseen = reason == Some(Reason::Spent(Spent::Time)) && outcome.report.found.is_empty();
    // Random walks of programs that never end never end, either.
    let is_unseen = is_unseen && !outcome.report.ends.is_empty();
    let estimate = if is_unseen { estimate(programs) } else { None };
    line.clear();
    let cut = programs.cut.lock().expect("no thread panics with it").clone();
    let (audited, masked) = (programs.audited, programs.masked());
    Searched { outcome, engine, judged, variants, audited, refusal, reason, estimate, cut, masked, seconds }
}

/// How many schedules there are, from random walks: what a search that ran out of time has not seen.
fn estimate(programs: &mut Programs) -> Option<sample::Estimate> {
    let started = Instant::now();
    let strategy = Some(sample::Strategy::Walk);
    let options = sample::Options { strategy, depth: WALK_MAX, states: 0, shrink: false, ..sample::Options::default() };
    let mut before = 0;
    let mut stop = |walks, _| {
        // With a walk that is given up there is no estimate.
        let is_within = std::mem::replace(&mut before, walks) == walks;
        let most = if is_within || walks < WALKS_MIN { 2 * WALKS } else { WALKS };
        started.elapsed() > most
    };
    let mut limits = sample::Limits { failures: usize::MAX, stop: &mut stop };
    sample::sample(programs, &options, &mut limits).schedules
}

/// Asked after every state whether to go on.
struct Guard<'a> {
    request: &'a Request,
    budget: &'a Budget,
    line: &'a ProgressLine,
    started: Instant,
    /// Failures that the programs have had so far.
    failures: Arc<AtomicU64>,
    /// Steps of this round when the first failure was met.
    failed_at: Option<u64>,
    /// Steps of this round at the last question: fewer now mean a new round.
    executed: u64,
    /// Steps of earlier rounds.
    before: u64,
    shown: f64,
    reason: Option<Reason>,
    /// Programs that answer.
    peers: Vec<Arc<dyn Outside>>,
}

impl<'a> Guard<'a> {
    fn new(programs: &Programs, request: &'a Request, budget: &'a Budget, line: &'a ProgressLine) -> Self {
        Self {
            request,
            budget,
            line,
            started: Instant::now(),
            failures: Arc::clone(&programs.failures),
            failed_at: None,
            executed: 0,
            before: 0,
            shown: 0.0,
            reason: None,
            peers: programs.peers().to_vec(),
        }
    }

    /// Whether the search has to end. The first reason stays: it is the one that the report names.
    fn stops(&mut self, states: u64, executed: u64) -> bool {
        self.follow(executed);
        self.reason = self.reason.or_else(|| self.reason_now(states, executed));
        self.reason.is_some()
    }

    /// A new round forgets what the last one has found, and will find it again.
    fn follow(&mut self, executed: u64) {
        if executed < self.executed {
            self.before += self.executed;
            self.failed_at = None;
            self.failures.store(0, Ordering::Relaxed);
        }
        self.executed = executed;
    }

    fn reason_now(&mut self, states: u64, executed: u64) -> Option<Reason> {
        if let Some(spent) = self.budget.spent() {
            return Some(Reason::Spent(spent));
        }
        if self.failures.load(Ordering::Relaxed) > 0 && !self.request.keep_going {
            let since = *self.failed_at.get_or_insert(executed);
            if executed >= since + STEPS_AFTER_FAILURE {
                return Some(Reason::Failure);
            }
        }
        let seconds = self.started.elapsed().as_secs_f64();
        if seconds >= self.shown + SHOWN_EVERY {
            self.shown = seconds;
            self.show(states, usage::memory_now(), seconds);
        }
        None
    }

    /// The line of progress: what was reached, how fast, and how much memory it takes.
    fn show(&self, states: u64, memory: Option<u64>, seconds: f64) {
        let steps = self.before + self.executed;
        self.line.show_line(seconds, || {
            let parts = [
                format!("{} states", short_count(states)),
                format!("{} steps", short_count(steps)),
                format!("{} steps/s", short_count((steps as f64 / seconds.max(0.001)) as u64)),
            ];
            let rest = [bytes(memory.unwrap_or(0)), format!("{}:{:02}", seconds as u64 / 60, seconds as u64 % 60)];
            parts.into_iter().chain(traffic::so_far(&self.peers)).chain(rest).collect::<Vec<_>>().join(" . ")
        });
    }
}
