//! Control and status words, tags, the stack pointer.
//!
//! The forms without wait (`fn...`) do not look for pending exceptions, which is why they are used
//! to save and inspect a faulting unit; `ready` is what all others do first.

use iced_x86::{Instruction, Mnemonic, OpKind};

use super::unit::{Pop, ready, stack_operand};
use crate::machine::{Machine, Trap};
use crate::row::Row;

pub(super) const TABLE: &[Row] = &[
    (Mnemonic::Fninit, |m, _| {
        m.cpu.x87.initialise();
        Ok(())
    }),
    (Mnemonic::Fnclex, |m, _| {
        m.cpu.x87.clear_exceptions();
        Ok(())
    }),
    // Left over from the 8087 and the 287.
    (Mnemonic::Fneni, |_, _| Ok(())),
    (Mnemonic::Fndisi, |_, _| Ok(())),
    (Mnemonic::Fnsetpm, |_, _| Ok(())),
    (Mnemonic::Fnop, |m, _| ready(m)),
    (Mnemonic::Wait, |m, _| ready(m)),
    (Mnemonic::Fldcw, load_control),
    (Mnemonic::Fnstcw, |m, i| m.store(m.address(i), 2, m.cpu.x87.control.into())),
    (Mnemonic::Fnstsw, store_status),
    (Mnemonic::Fincstp, |m, _| rotate(m, 1)),
    (Mnemonic::Fdecstp, |m, _| rotate(m, -1)),
    (Mnemonic::Ffree, |m, i| free(m, i, Pop::None)),
    (Mnemonic::Ffreep, |m, i| free(m, i, Pop::Once)),
];

fn load_control(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    ready(m)?;
    let control = m.load(m.address(i), 2)? as u16;
    m.cpu.x87.set_control(control);
    Ok(())
}

fn store_status(m: &mut Machine<'_>, i: &Instruction) -> Result<(), Trap> {
    let status = u64::from(m.cpu.x87.status());
    match i.op_kind(0) {
        OpKind::Memory => m.store(m.address(i), 2, status),
        _ => m.write(i, 0, status),
    }
}

fn rotate(m: &mut Machine<'_>, by: i8) -> Result<(), Trap> {
    ready(m)?;
    m.cpu.x87.rotate(by);
    m.cpu.x87.set_codes(0x200, 0);
    Ok(())
}

fn free(m: &mut Machine<'_>, i: &Instruction, pop: Pop) -> Result<(), Trap> {
    ready(m)?;
    m.cpu.x87.free(stack_operand(i, 0));
    m.cpu.x87.set_codes(0x200, 0);
    m.cpu.x87.pop(pop);
    Ok(())
}
