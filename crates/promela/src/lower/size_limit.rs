//! How large a state may be.
//!
//! A model whose vector would not fit is refused with the declaration that makes it so large,
//! before memory is asked for it.

use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// More bytes than any model that can be searched.
pub(super) const SIZE_MAX: u64 = 1 << 20;

pub(super) fn too_large(span: Span) -> Diagnostic {
    Diagnostic::error("size", span, "the variables and channels take more than 1 MiB in every state")
}
