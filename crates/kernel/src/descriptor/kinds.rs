//! Which operations each kind of file has.
//!
//! The one `match` over kinds of files. Everything else goes through the row, so that a new kind is
//! one line here and one table in its module.

use super::File;
use super::operations::Operations;

impl File {
    /// What a kind of file can do.
    #[must_use]
    pub fn operations(self) -> &'static Operations {
        match self {
            Self::Inode(_) => &crate::files::OPERATIONS,
            Self::Text(_) => &crate::files::synthetic::OPERATIONS,
            Self::Device(_) => &crate::files::device_operations::OPERATIONS,
            Self::Console(_) => &crate::console::OPERATIONS,
            Self::Process(_) => &crate::lifecycle::pidfd::OPERATIONS,
            Self::Inotify(_) => &crate::files::notify_calls::OPERATIONS,
            Self::PipeReader(_) | Self::PipeWriter(_) | Self::PipeBoth(_) => &crate::pipe::OPERATIONS,
            Self::Socket(_) => &crate::net::OPERATIONS,
            Self::Event(_) => &crate::event::counter_calls::OPERATIONS,
            Self::Timer(_) => &crate::event::timer_calls::OPERATIONS,
            Self::Signal(_) => &crate::event::signals::OPERATIONS,
            Self::Epoll(_) => &crate::event::epoll_calls::OPERATIONS,
            Self::MessageQueue(_) => &crate::ipc::OPERATIONS,
            Self::PtyMaster(_) => &crate::terminal::MASTER,
            Self::Terminal(_) => &crate::terminal::SLAVE,
        }
    }
}
