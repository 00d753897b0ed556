//! What Linux does and programs rely on: mappings of files, stacks, moves, discards.

use memory::{
    AccessKind, Backing, Cause, Fault, Halt, Limit, MapError, Mapping, Memory, ObjectId, PAGE_SIZE, Protection,
    Sharing, SpaceId, USER_END,
};

const A: SpaceId = SpaceId(1);
const FILE: ObjectId = ObjectId(7);
const START: u64 = 0x10_0000;
const RW: Protection = Protection::READ_WRITE;

fn memory() -> Memory {
    let mut memory = Memory::new(Limit::pages(1000));
    memory.create_space(A);
    memory.enter(A);
    memory
}

fn file(start: u64, pages: u64, sharing: Sharing) -> Mapping {
    let backing = Backing::Object { id: FILE, offset: 0 };
    Mapping { backing, sharing, ..Mapping::anonymous(start, pages * PAGE_SIZE, RW) }
}

fn cause<T>(result: Result<T, Halt>) -> Option<Cause> {
    match result {
        Err(Halt::Fault(fault)) => Some(fault.cause),
        _ => None,
    }
}

fn content(m: &Memory, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    let count = m.read_object(FILE, 0, &mut bytes);
    bytes.truncate(count);
    bytes
}

#[test]
fn a_touch_below_a_stack_lets_it_grow_up_to_its_limit() {
    let mut m = memory();
    let top = 0x7000_0000;
    m.map(A, Mapping { grows_down: true, ..Mapping::anonymous(top - PAGE_SIZE, PAGE_SIZE, RW) }).unwrap();
    m.store_u8(top - 5 * PAGE_SIZE, 1).unwrap();
    assert_eq!(m.mapping_at(A, top - 1).unwrap().start, top - 5 * PAGE_SIZE);
    m.write(A, top - 6 * PAGE_SIZE, &[1]).unwrap();
    assert_eq!(cause(m.load_u8(top - (8 << 20) - 1)), Some(Cause::Unmapped));
    m.load_u8(top - (8 << 20)).unwrap();
    m.set_stack_limit(A, 9 << 20);
    m.load_u8(top - (8 << 20) - 1).unwrap();
}

#[test]
fn growth_of_a_stack_is_undone() {
    let mut m = memory();
    m.map(A, Mapping { grows_down: true, ..Mapping::anonymous(0x7000_0000, PAGE_SIZE, RW) }).unwrap();
    let (mark, before) = (m.mark(), m.fingerprint());
    m.store_u8(0x6fff_f000, 1).unwrap();
    m.undo_to(mark);
    assert_eq!(m.mapping_at(A, 0x6fff_f000), None);
    assert_eq!(m.fingerprint(), before);
}

#[test]
fn discarding_shows_zeros_or_the_file_again_and_leaves_shared_bytes_alone() {
    let mut m = memory();
    m.create_object_over(FILE, vec![7; 2 * PAGE_SIZE as usize].into());
    // Mapping, what is read after a store of 9 and a discard.
    let cases = [
        (Mapping::anonymous(START, PAGE_SIZE, RW), 0),
        (file(START, 1, Sharing::Private), 7),
        (file(START, 1, Sharing::Shared), 9),
    ];
    for (mapping, expected) in cases {
        m.map(A, mapping).unwrap();
        m.store_u8(START, 9).unwrap();
        m.discard(A, START, PAGE_SIZE).unwrap();
        assert_eq!(m.load_u8(START), Ok(expected));
    }
    assert_eq!(m.discard(A, START, 2 * PAGE_SIZE), Err(MapError::NotMapped));
}

#[test]
fn a_file_stays_while_it_is_mapped_and_goes_with_its_last_mapping() {
    let mut m = memory();
    m.create_object_over(FILE, vec![7; 100].into());
    m.map(A, file(START, 1, Sharing::Shared)).unwrap();
    m.fork_space(A, SpaceId(2)).unwrap();
    m.drop_object(FILE);
    assert_eq!(m.load_u8(START), Ok(7));
    m.unmap(A, START, PAGE_SIZE).unwrap();
    assert!(m.object_exists(FILE));
    m.drop_space(SpaceId(2));
    assert!(!m.object_exists(FILE));
}

#[test]
fn cutting_a_file_takes_pages_from_all_mappings_and_growing_it_shows_zeros() {
    let mut m = memory();
    m.create_object_over(FILE, vec![7; 3 * PAGE_SIZE as usize].into());
    m.map(A, file(START, 3, Sharing::Private)).unwrap();
    m.store_u8(START + PAGE_SIZE, 8).unwrap();
    m.store_u8(START + 2 * PAGE_SIZE, 9).unwrap();
    m.resize_object(FILE, PAGE_SIZE + 10).unwrap();
    assert_eq!(cause(m.load_u8(START + 2 * PAGE_SIZE)), Some(Cause::BeyondEnd));
    assert_eq!(m.load_u8(START + PAGE_SIZE), Ok(8), "the page with the end stays");
    m.resize_object(FILE, 3 * PAGE_SIZE).unwrap();
    assert_eq!(m.load_u8(START + 2 * PAGE_SIZE), Ok(0));
    let bytes = content(&m, 3 * PAGE_SIZE as usize);
    assert!(bytes[..PAGE_SIZE as usize + 10].iter().all(|byte| *byte == 7));
    assert!(bytes[PAGE_SIZE as usize + 10..].iter().all(|byte| *byte == 0));
}

#[test]
fn a_cut_and_rewritten_file_has_the_fingerprint_of_an_untouched_one() {
    let mut m = memory();
    let bytes: Vec<u8> = (0..10_000u32).map(|index| index as u8).collect();
    m.create_object_over(FILE, bytes.clone().into());
    let before = m.fingerprint();
    m.resize_object(FILE, 0).unwrap();
    assert_ne!(m.fingerprint(), before);
    m.write_object(FILE, 0, &bytes).unwrap();
    assert_eq!(m.fingerprint(), before);
    m.drop_object(FILE);
    m.create_object(FILE, 0);
    m.write_object(FILE, 0, &bytes).unwrap();
    assert_eq!(m.fingerprint(), before);
}

#[test]
fn a_private_page_of_zeros_over_a_file_is_not_the_file() {
    let mut m = memory();
    m.create_object_over(FILE, vec![7; 8].into());
    m.map(A, file(START, 1, Sharing::Private)).unwrap();
    let before = m.fingerprint();
    m.store_u64(START, 0).unwrap();
    assert_ne!(m.fingerprint(), before);
}

#[test]
fn a_moved_mapping_takes_its_bytes_along() {
    let mut m = memory();
    m.map(A, Mapping::anonymous(START, 3 * PAGE_SIZE, RW)).unwrap();
    m.store_u8(START + PAGE_SIZE, 5).unwrap();
    let to = START + 0x10_0000;
    m.remap(A, START, 2 * PAGE_SIZE, to, 4 * PAGE_SIZE).unwrap();
    assert_eq!(m.load_u8(to + PAGE_SIZE), Ok(5));
    assert_eq!(m.load_u8(to + 3 * PAGE_SIZE), Ok(0));
    assert_eq!(cause(m.load_u8(START + PAGE_SIZE)), Some(Cause::Unmapped));
    assert_eq!(m.load_u8(START + 2 * PAGE_SIZE), Ok(0), "the rest stays");
}

#[test]
fn resizing_in_place_needs_room_and_one_mapping() {
    let mut m = memory();
    m.map(A, Mapping::anonymous(START, 2 * PAGE_SIZE, RW)).unwrap();
    m.map(A, Mapping::anonymous(START + 4 * PAGE_SIZE, PAGE_SIZE, RW)).unwrap();
    // Old length, new start, new length, answer; all from the start of the first mapping.
    let cases = [
        (2, START, 3, Ok(())),
        (3, START, 5, Err(MapError::Occupied)),
        (4, START, 5, Err(MapError::NotMapped)),
        (1, START, 2, Err(MapError::Occupied)),
        (3, START + PAGE_SIZE, 3, Err(MapError::Invalid)),
        (0, START + 0x10_0000, 1, Err(MapError::Invalid)),
        (3, START, 1, Ok(())),
        (1, START, 4, Ok(())),
    ];
    for (old, to, new, answer) in cases {
        assert_eq!(m.remap(A, START, old * PAGE_SIZE, to, new * PAGE_SIZE), answer, "{old} {to:#x} {new}");
    }
    assert_eq!(m.mappings(A).count(), 1, "both touch and are one now");
}

#[test]
fn a_shared_mapping_can_be_mapped_a_second_time() {
    let mut m = memory();
    m.create_object(FILE, 2 * PAGE_SIZE);
    m.map(A, file(START, 2, Sharing::Shared)).unwrap();
    let again = START + 0x10_0000;
    m.remap(A, START + PAGE_SIZE, 0, again, PAGE_SIZE).unwrap();
    m.store_u8(again, 3).unwrap();
    assert_eq!(m.load_u8(START + PAGE_SIZE), Ok(3));
}

#[test]
fn the_kernels_accesses_report_how_far_they_came() {
    let mut m = memory();
    m.map(A, Mapping::anonymous(START, PAGE_SIZE, RW)).unwrap();
    let (end, mut buffer) = (START + PAGE_SIZE, [9; 8]);
    let unmapped = |access| Fault { addr: end, access, cause: Cause::Unmapped };
    assert_eq!(m.write(A, end - 3, &[1; 8]), Err(unmapped(AccessKind::Write)));
    assert_eq!(m.read(A, end - 3, &mut buffer), Err(unmapped(AccessKind::Read)));
    assert_eq!(buffer, [1, 1, 1, 9, 9, 9, 9, 9]);
    assert_eq!(m.read_until_nul(A, end - 3, 100), Err(unmapped(AccessKind::Read)));
    assert_eq!(m.read_until_nul(A, end - 3, 3), Ok(vec![1; 3]));
    assert_eq!(m.read_until_nul(A, end - 5, 100), Ok(vec![]));
    assert_eq!(m.write(A, u64::MAX - 1, &[1; 8]).unwrap_err().addr, u64::MAX - 1);
}

#[test]
fn loaders_write_where_the_guest_may_not() {
    let mut m = memory();
    m.map(A, Mapping::anonymous(START, PAGE_SIZE, Protection::READ_EXECUTE)).unwrap();
    assert_eq!(m.write(A, START, &[1]).unwrap_err().cause, Cause::Protected);
    m.write_forced(A, START, &[0xc3, 0x90]).unwrap();
    let mut bytes = [0; 16];
    assert_eq!(m.fetch(START + PAGE_SIZE - 1, &mut bytes), Ok(1));
    assert_eq!(m.fetch(START, &mut bytes), Ok(16));
    assert_eq!(bytes[..2], [0xc3, 0x90]);
}

#[test]
fn senseless_ranges_are_refused() {
    let mut m = memory();
    let ranges =
        [(1, PAGE_SIZE), (START, 0), (START, u64::MAX), (USER_END, PAGE_SIZE), (START, USER_END), (u64::MAX - 4095, 1)];
    for (start, len) in ranges {
        assert_eq!(m.map(A, Mapping::anonymous(start, len, RW)), Err(MapError::Invalid), "{start:#x} {len:#x}");
        assert_eq!(m.unmap(A, start, len), Err(MapError::Invalid));
        assert_eq!(m.protect(A, start, len, RW), Err(MapError::Invalid));
        assert_eq!(m.discard(A, start, len), Err(MapError::Invalid));
    }
    assert_eq!(m.map(A, file(START, 1, Sharing::Shared)), Err(MapError::NoObject));
    let shared = Mapping { sharing: Sharing::Shared, ..Mapping::anonymous(START, PAGE_SIZE, RW) };
    assert_eq!(m.map(A, shared), Err(MapError::Invalid));
    m.create_object(FILE, u64::MAX);
    let backing = Backing::Object { id: FILE, offset: u64::MAX - 4095 };
    assert_eq!(m.map(A, Mapping { backing, ..file(START, 2, Sharing::Shared) }), Err(MapError::Invalid));
    m.resize_object(FILE, u64::MAX - 1).unwrap();
    assert_eq!(m.write_object(FILE, u64::MAX, &[1, 2]), Err(MapError::Invalid));
}

#[test]
fn huge_reservations_cost_nothing() {
    let mut m = memory();
    m.map(A, Mapping::anonymous(START, USER_END - START, Protection::NONE)).unwrap();
    m.protect(A, 0x4000_0000_0000, PAGE_SIZE, RW).unwrap();
    m.store_u8(0x4000_0000_0000, 1).unwrap();
    assert_eq!(m.resident_pages(), 1);
    m.unmap(A, START, USER_END - START).unwrap();
    assert_eq!(m.resident_pages(), 0);
}

#[test]
fn too_many_mappings_are_refused() {
    let mut m = Memory::new(Limit { mappings: 10, ..Limit::pages(10) });
    m.create_space(A);
    let map = |m: &mut Memory, page: u64| m.map(A, Mapping::anonymous(START + page * 2 * PAGE_SIZE, PAGE_SIZE, RW));
    let made = (0..100).take_while(|page| map(&mut m, *page).is_ok()).count();
    assert_eq!(made, 9);
    assert_eq!(map(&mut m, 50), Err(MapError::NoMemory));
}

#[test]
fn a_clone_goes_its_own_way() {
    let mut m = memory();
    m.map(A, Mapping::anonymous(START, PAGE_SIZE, RW)).unwrap();
    m.store_u8(START, 1).unwrap();
    let mut copy = m.clone();
    m.store_u8(START, 2).unwrap();
    copy.enter(A);
    assert_eq!(copy.load_u8(START), Ok(1));
    copy.store_u8(START, 2).unwrap();
    assert_eq!(copy.fingerprint(), m.fingerprint());
}
