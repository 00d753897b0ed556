//! What every user of the crate relies on.

use memory::{
    AccessKind, Backing, Cause, Fault, Halt, Limit, MapError, Mapping, Memory, ObjectId, PAGE_SIZE, Protection,
    Sharing, SpaceId, VisibleAccess,
};

const A: SpaceId = SpaceId(1);
const B: SpaceId = SpaceId(2);
const START: u64 = 0x10_0000;
const RW: Protection = Protection::READ_WRITE;

fn memory(pages: u64) -> Memory {
    let mut memory = Memory::new(Limit::pages(1000));
    memory.create_space(A);
    memory.map(A, Mapping::anonymous(START, pages * PAGE_SIZE, RW)).unwrap();
    memory.enter(A);
    memory
}

fn object(start: u64, pages: u64, sharing: Sharing) -> Mapping {
    let backing = Backing::Object { id: ObjectId(7), offset: 0 };
    Mapping { backing, sharing, ..Mapping::anonymous(start, pages * PAGE_SIZE, RW) }
}

fn fault(addr: u64, access: AccessKind, cause: Cause) -> Halt {
    Halt::Fault(Fault { addr, access, cause })
}

#[test]
fn untouched_memory_is_zero_and_stores_are_seen_by_loads_of_every_size() {
    let mut m = memory(2);
    assert_eq!(m.load_u64(START + 8), Ok(0));
    m.store_u64(START + 8, 0x1122_3344_5566_7788).unwrap();
    assert_eq!(m.load_u8(START + 8), Ok(0x88));
    assert_eq!(m.load_u16(START + 9), Ok(0x6677));
    assert_eq!(m.load_u32(START + 12), Ok(0x1122_3344));
    assert_eq!(m.load_u128(START), Ok(0x1122_3344_5566_7788 << 64));
}

#[test]
fn an_access_across_pages_is_one_access() {
    let mut m = memory(2);
    let across = START + PAGE_SIZE - 3;
    m.store_u64(across, 0x1122_3344_5566_7788).unwrap();
    assert_eq!(m.load_u64(across), Ok(0x1122_3344_5566_7788));
    assert_eq!(m.load_u8(START + PAGE_SIZE), Ok(0x55));
    let end = START + 2 * PAGE_SIZE;
    assert_eq!(m.store_u64(end - 4, u64::MAX), Err(fault(end, AccessKind::Write, Cause::Unmapped)));
    assert_eq!(m.load_u32(end - 4), Ok(0), "nothing of it was done");
    assert_eq!(m.load_u64(u64::MAX - 2), Err(fault(u64::MAX - 2, AccessKind::Read, Cause::Unmapped)));
}

#[test]
fn bytes_are_read_onto_others_across_pages_and_up_to_a_fault() {
    let mut m = memory(2);
    m.write(A, START + PAGE_SIZE - 2, b"abcd").unwrap();
    let mut bytes = b"before ".to_vec();
    m.read_onto(A, START + PAGE_SIZE - 2, 4, &mut bytes).unwrap();
    assert_eq!(bytes, b"before abcd");
    let end = START + 2 * PAGE_SIZE;
    m.write(A, end - 2, b"yz").unwrap();
    let mut bytes = Vec::new();
    let far_too_long = m.read_onto(A, end - 2, usize::MAX / 2, &mut bytes);
    assert_eq!(far_too_long, Err(Fault { addr: end, access: AccessKind::Read, cause: Cause::Unmapped }));
    assert_eq!(bytes, b"yz", "no more than was there");
}

#[test]
fn forbidden_accesses_fault_where_they_are_forbidden() {
    let mut m = memory(1);
    m.store_u8(START, 1).unwrap();
    m.protect(A, START, PAGE_SIZE, Protection::READ).unwrap();
    assert_eq!(m.store_u8(START, 2), Err(fault(START, AccessKind::Write, Cause::Protected)));
    assert_eq!(m.load_u8(START), Ok(1));
    m.protect(A, START, PAGE_SIZE, Protection::NONE).unwrap();
    assert_eq!(m.load_u8(START), Err(fault(START, AccessKind::Read, Cause::Protected)));
    assert_eq!(m.fetch(START, &mut [0; 16]), Err(fault(START, AccessKind::Execute, Cause::Protected)));
}

#[test]
fn a_fork_shares_until_either_side_writes() {
    let mut m = memory(1);
    m.store_u8(START, 1).unwrap();
    m.fork_space(A, B).unwrap();
    m.store_u8(START, 2).unwrap();
    m.enter(B);
    assert_eq!(m.load_u8(START), Ok(1));
    m.store_u8(START, 3).unwrap();
    m.enter(A);
    assert_eq!(m.load_u8(START), Ok(2));
}

#[test]
fn shared_mappings_and_the_object_show_the_same_bytes_at_once() {
    let mut m = memory(1);
    m.create_object(ObjectId(7), 2 * PAGE_SIZE);
    m.map(A, object(0x20_0000, 2, Sharing::Shared)).unwrap();
    m.map(A, object(0x30_0000, 2, Sharing::Private)).unwrap();
    m.fork_space(A, B).unwrap();
    assert_eq!(m.load_u8(0x20_0000), Ok(0));
    assert_eq!(m.load_u8(0x30_0000), Ok(0));
    m.enter(B);
    assert_eq!(m.load_u8(0x20_0000), Ok(0));
    m.store_u8(0x20_0000, 5).unwrap();
    m.enter(A);
    assert_eq!(m.load_u8(0x20_0000), Ok(5));
    assert_eq!(m.load_u8(0x30_0000), Ok(5), "a private mapping shows the object until it is written");
    let mut byte = [0];
    assert_eq!(m.read_object(ObjectId(7), 0, &mut byte), 1);
    assert_eq!(byte, [5]);
    m.store_u8(0x30_0000, 6).unwrap();
    m.write_object(ObjectId(7), 0, &[9]).unwrap();
    assert_eq!((m.load_u8(0x20_0000), m.load_u8(0x30_0000)), (Ok(9), Ok(6)));
}

#[test]
fn pages_behind_the_end_of_an_object_are_bus_errors_and_its_last_page_ends_in_zeros() {
    let mut m = memory(1);
    m.create_object_over(ObjectId(7), vec![7; PAGE_SIZE as usize + 5].into());
    m.map(A, object(0x20_0000, 4, Sharing::Private)).unwrap();
    assert_eq!(m.load_u8(0x20_0000 + PAGE_SIZE + 4), Ok(7));
    assert_eq!(m.load_u8(0x20_0000 + PAGE_SIZE + 5), Ok(0));
    let beyond = 0x20_0000 + 2 * PAGE_SIZE;
    assert_eq!(m.load_u8(beyond), Err(fault(beyond, AccessKind::Read, Cause::BeyondEnd)));
}

#[test]
fn undoing_brings_back_contents_mappings_and_fingerprint() {
    let mut m = memory(2);
    m.store_u8(START, 1).unwrap();
    let before = m.fingerprint();
    let mark = m.mark();
    for _ in 0..3 {
        m.store_u8(START, 2).unwrap();
        m.store_u8(START + PAGE_SIZE, 3).unwrap();
        m.unmap(A, START + PAGE_SIZE, PAGE_SIZE).unwrap();
        m.fork_space(A, B).unwrap();
        assert_ne!(m.fingerprint(), before);
        m.undo_to(mark);
        assert_eq!(m.load_u8(START), Ok(1));
        assert_eq!(m.load_u8(START + PAGE_SIZE), Ok(0));
        assert_eq!(m.fingerprint(), before);
        assert!(!m.space_exists(B));
    }
}

#[test]
fn a_snapshot_is_restored_here_and_on_another_thread() {
    let mut m = memory(2);
    m.store_u8(START, 1).unwrap();
    let snapshot = m.snapshot();
    m.store_u8(START, 2).unwrap();
    m.restore(&snapshot);
    m.enter(A);
    assert_eq!(m.load_u8(START), Ok(1));
    let there = snapshot.clone();
    let value = std::thread::spawn(move || {
        let mut m = Memory::new(Limit::default());
        m.restore(&there);
        m.enter(A);
        (m.load_u8(START), m.fingerprint())
    });
    assert_eq!(value.join().unwrap(), (Ok(1), snapshot.fingerprint()));
}

#[test]
fn an_armed_page_stops_the_access_before_it_happens() {
    let mut m = memory(2);
    m.store_u8(START, 1).unwrap();
    m.arm(A, START..START + 1);
    assert_eq!(
        m.store_u16(START, 7),
        Err(Halt::Visible(VisibleAccess { addr: START, size: 2, access: AccessKind::Write }))
    );
    assert_eq!(m.load_u8(START + PAGE_SIZE), Ok(0));
    m.pass_armed(true);
    m.store_u8(START, 7).unwrap();
    m.pass_armed(false);
    assert!(m.load_u8(START).is_err());
    m.disarm(A, START..START + 1);
    assert_eq!(m.load_u8(START), Ok(7));
}

#[test]
fn the_limit_of_pages_is_a_fault() {
    let mut m = Memory::new(Limit::pages(2));
    m.create_space(A);
    m.map(A, Mapping::anonymous(START, 1 << 30, RW)).unwrap();
    m.enter(A);
    m.store_u8(START, 1).unwrap();
    m.store_u8(START + PAGE_SIZE, 1).unwrap();
    let third = START + 2 * PAGE_SIZE;
    assert_eq!(m.store_u8(third, 1), Err(fault(third, AccessKind::Write, Cause::NoMemory)));
    assert_eq!(m.load_u8(third), Ok(0));
    assert_eq!(m.fork_space(A, B), Err(MapError::NoMemory));
    m.create_object(ObjectId(1), 10);
    assert_eq!(m.write_object(ObjectId(1), 0, &[1]), Err(MapError::NoMemory));
    m.discard(A, START, PAGE_SIZE).unwrap();
    m.store_u8(third, 1).unwrap();
}
