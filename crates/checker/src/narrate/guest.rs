//! What a call of a guest is about: its open files, and texts in its memory.

use kernel::Tid;
use kernel::descriptor::File;
use memory::SpaceId;
use world::World;

/// A text that ends with a zero byte.
pub fn text_at(world: &World, space: SpaceId, address: u64) -> Option<String> {
    let mut text = Vec::new();
    for offset in 0..256 {
        let mut byte = [0];
        world.memory.peek(space, address.checked_add(offset)?, &mut byte).ok()?;
        if byte[0] == 0 {
            break;
        }
        text.push(byte[0]);
    }
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// What a descriptor refers to.
pub fn file_of(world: &World, tid: Tid, fd: i32) -> Option<File> {
    let kernel = &world.kernel;
    kernel.descriptions.get(&kernel.description_for(tid, fd)?).map(|description| description.file)
}
