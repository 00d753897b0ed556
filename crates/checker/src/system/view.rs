//! A state as the checker reads it, with the refinement and the workload. A view changes nothing.

use crate::system::executor::Executor;
use crate::system::state::State;
use crate::system::workload::Workload;

#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub state: &'a State,
    pub executor: &'a Executor,
    pub workload: &'a Workload,
}
