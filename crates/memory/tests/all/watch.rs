//! Armed pages, pages that hold code, the log of accesses.

use memory::{
    AccessKind, Backing, Halt, Limit, Logged, Mapping, Memory, ObjectId, PAGE_SIZE, Protection, Sharing, SpaceId,
};

const A: SpaceId = SpaceId(1);
const B: SpaceId = SpaceId(2);
const START: u64 = 0x10_0000;
const PAGE: u64 = START / PAGE_SIZE;
const RWX: Protection = Protection::from_bits(7);

fn memory() -> Memory {
    let mut memory = Memory::new(Limit::pages(100));
    memory.create_space(A);
    memory.map(A, Mapping::anonymous(START, 4 * PAGE_SIZE, RWX)).unwrap();
    memory.enter(A);
    memory
}

#[test]
fn a_store_to_code_moves_the_epoch_every_time() {
    let mut m = memory();
    m.store_u8(START, 1).unwrap();
    let version = m.code_version(A, PAGE);
    let mut epoch = m.code_epoch();
    for value in 2..5 {
        m.store_u8(START, value).unwrap();
        assert_ne!(m.code_epoch(), epoch);
        assert_ne!(m.code_version(A, PAGE), version);
        epoch = m.code_epoch();
    }
    m.store_u8(START + PAGE_SIZE, 1).unwrap();
    m.load_u8(START).unwrap();
    assert_eq!(m.code_epoch(), epoch, "other pages and loads do not matter");
    m.store_u8(START, 1).unwrap();
    assert_eq!(m.code_version(A, PAGE), version, "the same bytes are the same code");
}

#[test]
fn undoing_a_store_to_code_moves_the_epoch_and_brings_the_version_back() {
    let mut m = memory();
    m.note_code(PAGE);
    let version = m.code_version(A, PAGE);
    let mark = m.mark();
    m.store_u8(START, 1).unwrap();
    let epoch = m.code_epoch();
    m.undo_to(mark);
    assert_ne!(m.code_epoch(), epoch);
    assert_eq!(m.code_version(A, PAGE), version);
}

#[test]
fn code_of_a_file_is_the_same_code_in_every_space_and_changes_with_the_file() {
    let mut m = memory();
    let id = ObjectId(1);
    m.create_object_over(id, vec![0x90; 100].into());
    let backing = Backing::Object { id, offset: 0 };
    let text = Mapping { backing, ..Mapping::anonymous(0x40_0000, PAGE_SIZE, Protection::READ_EXECUTE) };
    m.map(A, text.clone()).unwrap();
    m.create_space(B);
    m.map(B, Mapping { start: 0x50_0000, sharing: Sharing::Shared, ..text }).unwrap();
    let version = m.code_version(A, 0x400);
    assert_eq!(m.code_version(B, 0x500), version);
    let epoch = m.code_epoch();
    m.write_object(id, 0, &[0xc3]).unwrap();
    assert_ne!(m.code_epoch(), epoch);
    assert_ne!(m.code_version(A, 0x400), version);
    m.unmap(A, 0x40_0000, PAGE_SIZE).unwrap();
    assert_eq!(m.code_version(A, 0x400), 0);
}

#[test]
fn a_store_to_code_stops_before_it_happens_when_asked_to() {
    let mut m = memory();
    m.store_u8(START, 1).unwrap();
    m.note_code(PAGE);
    m.stop_at_code(true);
    assert!(matches!(m.store_u8(START, 2), Err(Halt::Visible(_))));
    assert!(matches!(m.store_u64(START - 4 + PAGE_SIZE, 2), Err(Halt::Visible(_))));
    m.store_u8(START + PAGE_SIZE, 2).unwrap();
    assert_eq!(m.load_u8(START), Ok(1));
    m.stop_at_code(false);
    m.store_u8(START, 2).unwrap();
}

#[test]
fn no_two_memories_share_a_code_epoch() {
    let m = memory();
    assert_ne!(m.code_epoch(), m.clone().code_epoch());
    assert_ne!(m.code_epoch(), memory().code_epoch());
}

#[test]
fn taking_execution_away_moves_the_epoch() {
    let mut m = memory();
    m.note_code(PAGE);
    let epoch = m.code_epoch();
    m.protect(A, START, PAGE_SIZE, Protection::READ).unwrap();
    assert_ne!(m.code_epoch(), epoch);
}

#[test]
fn an_access_that_reaches_into_an_armed_page_stops_whole() {
    let mut m = memory();
    m.store_u64(START + PAGE_SIZE, 1).unwrap();
    m.arm(A, START + PAGE_SIZE..START + 2 * PAGE_SIZE);
    let across = START + PAGE_SIZE - 4;
    for access in [AccessKind::Read, AccessKind::Write] {
        let halt = match access {
            AccessKind::Write => m.store_u64(across, u64::MAX).unwrap_err(),
            _ => m.load_u64(across).unwrap_err(),
        };
        let Halt::Visible(touch) = halt else { panic!("{halt:?}") };
        assert_eq!((touch.addr, touch.size, touch.access), (across, 8, access));
    }
    assert_eq!(m.load_u32(across), Ok(0));
    assert_eq!(m.read_u32(A, START + PAGE_SIZE), Ok(1), "the kernel is not stopped");
}

#[test]
fn an_access_to_an_armed_page_stops_before_it_faults() {
    let mut m = memory();
    m.protect(A, START, PAGE_SIZE, Protection::READ).unwrap();
    m.arm(A, START..START + PAGE_SIZE);
    assert!(matches!(m.store_u8(START, 1), Err(Halt::Visible(_))));
    assert!(matches!(m.load_u8(START), Err(Halt::Visible(_))));
    m.pass_armed(true);
    assert!(matches!(m.store_u8(START, 1), Err(Halt::Fault(_))));
    assert_eq!(m.load_u8(START), Ok(0));
}

#[test]
fn disarming_the_middle_leaves_the_ends_armed() {
    let mut m = memory();
    m.arm(A, START..START + 3 * PAGE_SIZE);
    m.disarm(A, START + PAGE_SIZE..START + 2 * PAGE_SIZE);
    let armed = |m: &mut Memory, page: u64| m.load_u8(START + page * PAGE_SIZE).is_err();
    assert_eq!([0, 1, 2, 3].map(|page| armed(&mut m, page)), [true, false, true, false]);
}

#[test]
fn the_log_has_every_access_of_guest_and_kernel_in_order() {
    let mut m = memory();
    m.store_u8(START, 1).unwrap();
    m.log_accesses(true);
    m.load_u16(START).unwrap();
    m.load_u16(START).unwrap();
    m.store_u128(START + 8, 1).unwrap();
    m.write(A, START + PAGE_SIZE - 2, &[1; 5]).unwrap();
    m.load_u8(0).unwrap_err();
    let entry = |addr, size, write| Logged { addr, size, write };
    let expected = [
        entry(START, 2, false),
        entry(START, 2, false),
        entry(START + 8, 16, true),
        entry(START + PAGE_SIZE - 2, 2, true),
        entry(START + PAGE_SIZE, 3, true),
        // It faults: that depends on the mapping of its page, as if it had been read.
        entry(0, 1, false),
    ];
    assert_eq!(m.take_log(), expected);
    m.log_accesses(false);
    m.load_u8(START).unwrap();
    assert_eq!(m.take_log(), []);
}
