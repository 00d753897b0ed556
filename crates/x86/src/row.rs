//! Rows of the table from instruction forms to their semantics.
//!
//! By mnemonic, because in nearly all families the form decides nothing but sizes and places of
//! operands, which [`crate::Machine`] reads off the instruction. Families in which forms differ in
//! meaning (SSE, x87, strings) look up [`iced_x86::Code`] instead.

use crate::Generic;
use iced_x86::Mnemonic;

/// A mnemonic and the semantics of all its forms.
pub(crate) type Row = (Mnemonic, Generic);
