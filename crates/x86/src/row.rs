//! Rows of the table from instruction forms to their semantics.

use crate::Generic;
use iced_x86::Mnemonic;

/// A mnemonic and the semantics of all its forms.
pub(crate) type Row = (Mnemonic, Generic);
