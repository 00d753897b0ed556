//! A state as the checker reads it: with what is known of earlier steps, and what is asked. Nothing changes through a view.

use crate::system::executor::Executor;
use crate::system::state::State;
use crate::system::workload::Workload;

#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub state: &'a State,
    pub executor: &'a Executor,
    pub workload: &'a Workload,
}
