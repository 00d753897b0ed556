//! `errno`: no debug information of a program tells where it is, but each report about a handler of a signal needs its name.
//!
//! Each thread has one, in the block of the C library, where only the dynamic linker knows. But `__errno_location`, which all
//! programs call, is three instructions: a load of the offset, the addition of the thread's base, `ret`.

use super::unwind::space_of;
use super::variable::{Storage, Variable};
use super::{Loaded, symbols};
use kernel::Tid;
use memory::SpaceId;
use world::World;

/// `mov rax, [rip + x]`, up to `x`.
const LOAD: [u8; 3] = [0x48, 0x8b, 0x05];

/// `add rax, fs:0; ret`.
const ADD: [u8; 10] = [0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0, 0xc3];

/// Bytes of an `int`.
const SIZE: u64 = 4;

/// The thread whose `errno` is at an address, told as a variable.
pub(super) fn errno(world: &World, space: SpaceId, modules: &[Loaded], address: u64) -> Option<Variable> {
    let (offset, library) = modules.iter().find_map(|loaded| Some((offset(world, space, loaded)?, loaded)))?;
    let is_it = |base: u64| address.wrapping_sub(base.wrapping_add(offset)) < SIZE;
    let mut threads = world.cpus.iter().filter(|(tid, _)| space_of(world, **tid) == Some(space));
    threads.find(|(_, cpu)| is_it(cpu.fs_base)).map(|(tid, _)| told(*tid, library))
}

fn told(tid: Tid, library: &Loaded) -> Variable {
    Variable {
        path: "errno".to_owned(),
        type_name: "int".to_owned(),
        module: library.module.path.clone(),
        is_atomic: false,
        storage: Storage::ThreadLocal(tid),
    }
}

/// Where `errno` is from the thread's base.
fn offset(world: &World, space: SpaceId, loaded: &Loaded) -> Option<u64> {
    let is_code = |symbol: &&symbols::Symbol| symbol.kind != symbols::Kind::Indirect;
    let function = loaded.module.symbols().named("__errno_location").find(is_code)?;
    let start = loaded.bias.wrapping_add(function.address);
    let mut code = [0; LOAD.len() + 4 + ADD.len()];
    world.memory.peek(space, start, &mut code).ok()?;
    let (load, rest) = code.split_at(LOAD.len());
    let (displacement, add) = rest.split_at(4);
    if load != LOAD || add != ADD {
        return None;
    }
    let displacement = i32::from_le_bytes(displacement.try_into().expect("four bytes"));
    let behind = start.wrapping_add((LOAD.len() + 4) as u64);
    let mut offset = [0; 8];
    world.memory.peek(space, behind.wrapping_add_signed(displacement.into()), &mut offset).ok()?;
    Some(u64::from_le_bytes(offset))
}
