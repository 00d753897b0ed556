//! One step of one actor: it changes the state, records its footprint, and collects events where they are narrated. A
//! stepper lives for one step.

use crate::narrate::listener::Listener;
use crate::narrate::narrator::Narrator;
use crate::system::executor::Executor;
use crate::system::state::State;
use crate::system::view::View;
use crate::system::workload::Workload;

pub(crate) struct Stepper<'a> {
    pub state: &'a mut State,
    pub executor: &'a mut Executor,
    pub workload: &'a Workload,
    /// Collects events, if the step is narrated.
    pub listener: &'a mut Listener,
    /// Programs are being loaded: no schedule has begun.
    pub is_starting: bool,
}

impl Stepper<'_> {
    pub fn view(&self) -> View<'_> {
        View { state: self.state, executor: self.executor, workload: self.workload }
    }

    pub fn narrator(&mut self) -> Narrator<'_> {
        let view = View { state: self.state, executor: self.executor, workload: self.workload };
        Narrator { view, listener: self.listener }
    }
}
