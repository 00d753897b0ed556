//! The limit of pages: reached, reported, never exceeded, and nothing lost.

use memory::{Cause, Halt, Limit, MapError, Mapping, Memory, ObjectId, PAGE_SIZE, Protection, SpaceId};

const PARENT: SpaceId = SpaceId(1);
const CHILD: SpaceId = SpaceId(2);
const START: u64 = 0x10_0000;
const LIMIT: u64 = 12;

fn memory() -> Memory {
    let mut memory = Memory::new(Limit::pages(LIMIT));
    memory.create_space(PARENT);
    memory.map(PARENT, Mapping::anonymous(START, 64 * PAGE_SIZE, Protection::READ_WRITE)).unwrap();
    memory.create_object(ObjectId(1), 0);
    memory.enter(PARENT);
    memory
}

/// A store across two pages, of which only one has room.
#[test]
fn a_store_that_finds_no_room_for_its_second_page_leaves_the_first_alone() {
    let mut m = memory();
    for page in 0..LIMIT - 1 {
        m.store_u8(START + page * PAGE_SIZE, 1).unwrap();
    }
    let (before, across) = (m.fingerprint(), START + 21 * PAGE_SIZE - 4);
    let Err(Halt::Fault(fault)) = m.store_u64(across, u64::MAX) else { panic!("there is no room") };
    assert_eq!((fault.addr, fault.cause), (across + 4, Cause::NoMemory));
    assert_eq!((m.resident_pages(), m.fingerprint()), (LIMIT - 1, before));
}

#[test]
fn random_operations_stay_below_the_limit_and_are_undone_whole() {
    let mut m = memory();
    let (mark, before) = (m.mark(), m.fingerprint());
    let (mut seed, mut refused) = (1u64, 0);
    for round in 0..2000 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (pick, addr) = (seed >> 33, START + (seed >> 40) % 64 * PAGE_SIZE);
        let room = match pick % 6 {
            0 | 1 => m.store_u8(addr, pick as u8).is_ok(),
            2 => m.write(PARENT, addr, &[1; 9000]).map_or_else(|fault| fault.cause != Cause::NoMemory, |()| true),
            3 => m.write_object(ObjectId(1), addr - START, &[1; 5000]) != Err(MapError::NoMemory),
            4 if m.space_exists(CHILD) => m.discard(PARENT, START, 20 * PAGE_SIZE).is_ok(),
            4 => m.fork_space(PARENT, CHILD).is_ok(),
            _ => m.discard(PARENT, addr, 1).is_ok(),
        };
        refused += u32::from(!room);
        assert!(m.resident_pages() <= LIMIT);
        m.check_invariants();
        if round % 100 == 99 {
            m.undo_to(mark);
            assert_eq!((m.fingerprint(), m.resident_pages()), (before, 0));
        }
    }
    assert!(refused > 100, "the limit was reached");
}
