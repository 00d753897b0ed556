//! Steps into which a debugger looks, and states within them.

use crate::system::executor::Executor;
use crate::system::probe::{Hit, OwnCode, Probe, Search};
use crate::system::programs::Programs;
use crate::system::state::Snapshot;
use crate::system::stepper::Stepper;
use explore::graph::StepContext;
use explore::system::Failure;
use kernel::Tid;
use memory::Logged;
use trace::Choice;
use world::World;
use world::refusal::Refusal;
use x86::Stop;

/// A step that was probed to its end.
pub struct ProbedStep {
    /// The state behind it.
    pub state: Snapshot,
    /// Its fingerprint.
    pub fingerprint: u128,
    /// How many ticks it has; at least one.
    pub ticks: u64,
    /// What went wrong in it, or in the state behind it.
    pub failure: Option<Failure>,
}

/// A step in which something was looked for.
pub struct SearchedStep {
    /// What was found.
    pub hit: Option<Hit>,
    /// Fingerprint of the state behind it, unless it was given up at the hit.
    pub end: Option<u128>,
}

/// No state is known, or all are: then none is saved.
struct Saves(bool);

impl StepContext for Saves {
    fn is_known(&self, _: u128, _: bool) -> bool {
        !self.0
    }
}

impl Programs {
    /// The state as it is now: at a snapshot that was shown, or within a step.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.state.world
    }

    /// Makes the state that of a snapshot.
    pub fn show(&mut self, state: &Snapshot) {
        self.become_state(state);
    }

    /// Takes a step and counts its ticks; nothing if that is not possible.
    pub fn count_ticks(&mut self, probe: &mut Box<Probe>, state: &Snapshot, choice: Choice) -> Option<ProbedStep> {
        let executed = self.probed(probe, (state, choice), (None, None), true)?;
        let reached = executed.reached;
        let failure = executed.failure.or_else(|| reached.stuck.clone());
        let (state, fingerprint) = (reached.state.expect("no state is known"), reached.fingerprint);
        Some(ProbedStep { state, fingerprint, ticks: probe.ticks().max(1), failure })
    }

    /// Looks for something in a step. If the first hit is wanted, the state is that at the hit then.
    pub fn search_step(
        &mut self,
        probe: &mut Box<Probe>,
        state: &Snapshot,
        choice: Choice,
        search: Search,
    ) -> SearchedStep {
        let step = self.probed(probe, (state, choice), (None, Some(search)), false);
        SearchedStep { hit: probe.take_hit(), end: step.map(|step| step.reached.fingerprint) }
    }

    /// Makes the state that at a tick within a step; whether there is such a tick.
    pub fn go_within(&mut self, probe: &mut Box<Probe>, state: &Snapshot, choice: Choice, tick: u64) -> bool {
        self.probed(probe, (state, choice), (Some(tick), None), false);
        probe.ticks() == tick
    }

    fn probed(
        &mut self,
        probe: &mut Box<Probe>,
        (state, choice): (&Snapshot, Choice),
        (goal, search): (Option<u64>, Option<Search>),
        saves: bool,
    ) -> Option<explore::graph::Step<Snapshot>> {
        let tid = Tid(choice.actor);
        let space = state.space(tid).unwrap_or(memory::SpaceId(0));
        probe.begin((tid, space), goal, search);
        std::mem::swap(self.executor.probe.get_or_insert_default(), probe);
        let executed = self.execute(state, choice, &mut Saves(saves), false);
        std::mem::swap(self.executor.probe.get_or_insert_default(), probe);
        self.executor.probe = None;
        executed.map(|executed| executed.step)
    }
}

impl Executor {
    /// Shows accesses to a debugger before they are noted.
    pub(crate) fn show_log(&mut self, log: &[Logged]) {
        if let Some(probe) = &mut self.probe {
            probe.show_log(log);
        }
    }
}

impl Stepper<'_> {
    /// Ticks of the step so far; 0 if nobody counts.
    pub(crate) fn ticks(&mut self) -> u64 {
        let Some(probe) = &mut self.executor.probe else { return 0 };
        probe.look(&self.state.world);
        probe.ticks()
    }

    /// The step ends: it has one tick at least.
    pub(crate) fn last_tick(&mut self) {
        if let Some(probe) = &mut self.executor.probe {
            probe.finish(&self.state.world);
        }
    }

    /// The step is rolled back to a point at which it had this many ticks.
    pub(crate) fn rewind_ticks(&mut self, ticks: u64) {
        if let Some(probe) = &mut self.executor.probe {
            probe.rewind(ticks, &self.state.world);
        }
    }

    /// Whether a debugger wants to be here, so that the step need not go on.
    pub(crate) fn is_at_goal(&mut self) -> bool {
        self.ticks();
        self.executor.probe.as_ref().is_some_and(|probe| probe.is_at_goal())
    }

    /// Executes instructions while a debugger looks.
    pub(crate) fn execute_probed(&mut self, tid: Tid, is_quiet: bool, budget: u64) -> Result<Stop, Refusal> {
        let mut probe = self.executor.probe.take().unwrap_or_default();
        let stops = self.executor.hooks.addresses().clone();
        let code = if is_quiet { &mut self.executor.quiet } else { &mut self.executor.code };
        let stop = probe.run(&mut self.state.world, OwnCode { code, stops, is_quiet }, budget);
        let is_at_goal = probe.is_at_goal();
        self.executor.probe = Some(probe);
        if is_at_goal { Err(Refusal::spent(tid)) } else { Ok(stop) }
    }
}
