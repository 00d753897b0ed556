//! Descriptors that `poll(2)`, `select(2)` and `epoll_wait(2)` watch while they wait.

use super::timeout::Timeout;
use crate::call::{Call, Stop};
use crate::descriptor::{Fd, O_PATH};
use crate::errno::EINTR;
use crate::id::Id;
use crate::wait::{Condition, Interruption, Wait};

/// What a call watches: it stays open until the call has ended, whoever closes the descriptor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Watched {
    pub(super) fd: Fd,
    pub(super) description: Id,
    /// What is waited for, as in `poll(2)`.
    pub(super) events: u16,
}

impl Call<'_> {
    /// What `poll(2)` and `select(2)` find behind a descriptor. Linux looks it up anew whenever something has happened.
    pub(super) fn watchable(&self, fd: Fd) -> Option<Id> {
        let id = self.description_now(fd).ok()?;
        (self.description(id).flags & O_PATH == 0).then_some(id)
    }

    /// Gives back how many things are ready, or waits for the first: 0 when the time is over.
    ///
    /// A signal handler ends the wait with `EINTR` in any case (`signal(7)`). `kept` is what the call copied in.
    pub(super) fn count_or_wait(
        &self,
        count: u64,
        watched: &[Watched],
        timeout: Timeout,
        kept: Vec<u8>,
    ) -> Result<u64, Stop> {
        if count > 0 || timeout == Timeout::Zero || self.timed_out() {
            return Ok(count);
        }
        if self.is_interrupted() {
            return Err(EINTR.into());
        }
        if watched.iter().any(|watch| self.is_another(watch)) {
            // Linux looks at the new file, but only when something happens to the old one.
            return self.unsupported("a descriptor that was closed during the wait and is used for something else");
        }
        let conditions = watched.iter().map(|watch| Condition::Poll(watch.description, watch.events)).collect();
        let held = watched.iter().map(|watch| (watch.fd, watch.description)).collect();
        let wait = Wait::any(conditions).deadline(self.deadline(timeout)).interruption(Interruption::Finish);
        Err(wait.holding(held).keeping(kept).into())
    }

    /// What the call copied in when it began, if it is redone: others may have changed the original since.
    pub(super) fn copied(&self) -> Option<Vec<u8>> {
        self.resumed.as_ref().map(|wait| wait.kept.clone())
    }

    /// Whether a descriptor refers to something else than when the call began.
    fn is_another(&self, watch: &Watched) -> bool {
        let first = self.resumed.as_ref().and_then(|wait| wait.held(watch.fd));
        first.is_some_and(|first| first != watch.description)
    }
}
