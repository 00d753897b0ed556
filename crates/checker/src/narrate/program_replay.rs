//! Programs, to be replayed like models: a schedule is executed step by step, and explained where that is asked for.

use super::Narration;
use super::listener::Context;
use crate::system::programs::Programs;
use crate::system::state::Snapshot;
use debuginfo::Listed;
use explore::graph::{FootprintSystem, Reached};
use explore::system::Failure;
use kernel::Tid;
use replay::{Explained, Replayable, Stepped};
use std::sync::Arc;
use trace::{Choice, Fingerprint, Inventory, Variable, Waiting};

/// What a step costs beside its instructions (a snapshot is restored and saved), in instructions.
const STEP_WORK: u64 = 2_000;

/// Programs, to be replayed.
pub struct ProgramReplay<'a> {
    programs: &'a mut Programs,
    /// Paths below this folder are told without it.
    folder: String,
}

/// A state of a replay, with what narration knows there.
#[derive(Clone)]
pub struct Moment {
    /// The state.
    pub reached: Reached<Snapshot>,
    context: Arc<Context>,
    /// How many steps led there.
    number: usize,
}

impl<'a> ProgramReplay<'a> {
    /// Programs at their beginning.
    pub fn new(programs: &'a mut Programs, folder: &str) -> Self {
        Self { programs, folder: folder.to_owned() }
    }

    /// The programs themselves.
    pub fn programs(&mut self) -> &mut Programs {
        self.programs
    }

    /// Lets the programs do something while they are listened to, with what is known at a point; and what is known then.
    fn listening<R>(&mut self, context: Context, then: impl FnOnce(&mut Programs) -> R) -> (R, Arc<Context>) {
        self.programs.listen(&self.folder);
        self.programs.listener.context = context;
        let result = then(self.programs);
        let context = std::mem::take(&mut self.programs.listener.context);
        self.programs.stop_listening();
        (result, Arc::new(context))
    }
}

impl ProgramReplay<'_> {
    /// The global variables of all processes, and what lies on the stacks of all threads.
    pub fn variables(&mut self, moment: &Moment) -> Vec<Variable> {
        self.programs.become_state(&moment.reached.state);
        let mut info = self.programs.debug_info();
        let world = &self.programs.state.world;
        let processes: Vec<_> = world.kernel.processes.values().filter(|process| !process.threads.is_empty()).collect();
        let is_only = processes.len() == 1;
        let mut all = Vec::new();
        for process in processes {
            let front = if is_only { String::new() } else { format!("{}: ", moment.name(Tid(process.pid.0))) };
            let globals = info.globals(&world.memory, process.space).into_iter();
            all.extend(globals.map(|listed| variable(format!("{front}{}", listed.path), &listed)));
            for tid in &process.threads {
                let locals = info.locals(world, *tid).into_iter();
                all.extend(locals.map(|(function, listed)| {
                    variable(format!("{} in {function}: {}", moment.name(*tid), listed.path), &listed)
                }));
            }
        }
        self.programs.info = Some(info);
        all
    }

    /// Who cannot go on, or where it is.
    pub fn waiting(&mut self, moment: &Moment) -> Vec<Waiting> {
        let context = Context::clone(&moment.context);
        self.listening(context, |programs| {
            programs.become_state(&moment.reached.state);
            programs.narrator().waiting().0
        })
        .0
    }

    /// What a state holds beside variables.
    pub fn inventory(&mut self, moment: &Moment) -> Inventory {
        let context = Context::clone(&moment.context);
        self.listening(context, |programs| {
            programs.become_state(&moment.reached.state);
            programs.narrator().inventory()
        })
        .0
    }
}

fn variable(name: String, listed: &Listed) -> Variable {
    Variable { name, value: listed.value.to_string() }
}

impl Moment {
    /// How a thread is called.
    fn name(&self, tid: Tid) -> String {
        self.context.threads.get(&tid).cloned().unwrap_or_else(|| format!("thread {}", tid.0))
    }
}

impl Replayable for ProgramReplay<'_> {
    type State = Moment;

    fn initial(&mut self) -> Moment {
        let (reached, context) = self.listening(Context::default(), |programs| {
            let reached = programs.initial();
            programs.narrator().name_threads(&mut trace::Trace::default());
            reached
        });
        Moment { reached, context, number: 0 }
    }

    fn choices(&mut self, state: &Moment, actor: u32) -> Vec<Choice> {
        let found = state.reached.actors.iter().find(|known| known.number == actor);
        (0..found.map_or(0, |actor| actor.choices)).map(|index| Choice { actor, index }).collect()
    }

    fn step(&mut self, state: &Moment, choice: Choice) -> Option<Stepped<Moment>> {
        let before = self.programs.executor.instructions;
        let taken = self.programs.step(&state.reached.state, choice)?;
        let work = STEP_WORK + self.programs.executor.instructions - before;
        let moment = Moment { reached: taken.reached, context: Arc::clone(&state.context), number: state.number + 1 };
        Some(Stepped { state: moment, failure: taken.failure, label: None, work })
    }

    fn explain(&mut self, state: &Moment, choice: Choice) -> Option<Explained<Moment>> {
        let number = state.number + 1;
        let mut narration = Narration::default();
        let (reached, context) = self.listening(Context::clone(&state.context), |programs| {
            programs.tell_step(&mut narration, &state.reached, choice, number)
        });
        let reached = reached?;
        let events = narration.told.trace.steps.pop().map(|step| step.events).unwrap_or_default();
        let failure = narration.told.failure.filter(|_| reached.stuck.is_none());
        Some(Explained { state: Moment { reached, context, number }, events, failure })
    }

    fn actor_name(&mut self, state: &Moment, actor: u32) -> String {
        state.name(Tid(actor))
    }

    fn enabled(&mut self, state: &Moment) -> Vec<u32> {
        let able = state.reached.actors.iter().filter(|actor| actor.choices > 0);
        able.map(|actor| actor.number).collect()
    }

    fn moved(&mut self, _: &Moment, choice: Choice) -> Vec<u32> {
        vec![choice.actor]
    }

    fn stuck(&mut self, state: &Moment) -> Option<Failure> {
        state.reached.stuck.clone()
    }

    fn is_same(&self, one: &Moment, other: &Moment) -> bool {
        one.reached.fingerprint == other.reached.fingerprint
    }

    fn fingerprint(&self, state: &Moment) -> Fingerprint {
        Fingerprint::new().with(&state.reached.fingerprint.to_le_bytes())
    }
}
