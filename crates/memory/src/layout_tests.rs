use super::*;
use crate::ObjectId;

/// Page number, pages, protection.
type Row = (u64, u64, Protection);

/// Rows before, carved from and to, what is left, what was there.
type Carving = (&'static [Row], u64, u64, &'static [Row], &'static [Row]);

const R: Protection = Protection::READ;
const W: Protection = Protection::READ_WRITE;

fn layout(rows: &[Row]) -> Layout {
    let mut layout = Layout::default();
    for &(page, pages, protection) in rows {
        layout.insert(Mapping::anonymous(page * PAGE_SIZE, pages * PAGE_SIZE, protection));
    }
    layout
}

fn rows(layout: &Layout) -> Vec<Row> {
    layout.mappings().iter().map(|m| (m.start / PAGE_SIZE, m.len / PAGE_SIZE, m.protection)).collect()
}

#[test]
fn neighbours_that_are_alike_become_one() {
    assert_eq!(rows(&layout(&[(10, 2, R), (14, 2, R), (12, 2, R)])), [(10, 6, R)]);
    assert_eq!(rows(&layout(&[(10, 2, R), (12, 2, W)])), [(10, 2, R), (12, 2, W)]);
}

#[test]
fn carving_cuts_the_ends_and_returns_the_middle() {
    let cases: [Carving; 4] = [
        (&[(10, 4, R)], 11, 13, &[(10, 1, R), (13, 1, R)], &[(11, 2, R)]),
        (&[(10, 4, R)], 8, 12, &[(12, 2, R)], &[(10, 2, R)]),
        (&[(10, 2, R), (12, 2, W)], 11, 13, &[(10, 1, R), (13, 1, W)], &[(11, 1, R), (12, 1, W)]),
        (&[(10, 2, R)], 12, 14, &[(10, 2, R)], &[]),
    ];
    for (before, start, end, left, carved) in cases {
        let mut layout = layout(before);
        let pieces = layout.carve(start * PAGE_SIZE, end * PAGE_SIZE);
        assert_eq!(rows(&layout), left);
        let pieces: Vec<Row> = pieces.iter().map(|m| (m.start / PAGE_SIZE, m.len / PAGE_SIZE, m.protection)).collect();
        assert_eq!(pieces, carved);
    }
}

#[test]
fn a_cut_piece_shows_the_same_bytes_of_its_object() {
    let mut layout = Layout::default();
    let backing = Backing::Object { id: ObjectId(1), offset: PAGE_SIZE };
    layout.insert(Mapping { backing, ..Mapping::anonymous(0x10000, 4 * PAGE_SIZE, R) });
    let cut = layout.carve(0x12000, 0x13000);
    assert_eq!(cut[0].object_at(0x12010), Some((ObjectId(1), 3 * PAGE_SIZE + 0x10)));
    layout.insert(cut[0].clone());
    assert_eq!(layout.mappings().len(), 1, "the piece fits where it was");
}

#[test]
fn protecting_splits_merges_and_stops_at_a_gap() {
    let mut layout = layout(&[(10, 4, R), (16, 2, R)]);
    assert_eq!(layout.protect(11 * PAGE_SIZE, 12 * PAGE_SIZE, W), Ok(()));
    assert_eq!(rows(&layout), [(10, 1, R), (11, 1, W), (12, 2, R), (16, 2, R)]);
    assert_eq!(layout.protect(11 * PAGE_SIZE, 17 * PAGE_SIZE, R), Err(MapError::NotMapped));
    assert_eq!(rows(&layout), [(10, 4, R), (16, 2, R)]);
}

#[test]
fn gaps_are_taken_from_the_top_unless_the_hint_is_free() {
    let layout = layout(&[(100, 2, R), (104, 2, R)]);
    // Length in pages, hint, ceiling, answer.
    let cases = [
        (2, 0, 106, Some(102)),
        (3, 0, 106, Some(97)),
        (2, 0, 110, Some(108)),
        (1, 50, 110, Some(50)),
        (1, 101, 110, Some(109)),
        (2, 0, 105, Some(102)),
        (90, 0, 106, None),
        (0, 0, 106, None),
    ];
    for (len, hint, below, answer) in cases {
        let found = layout.find_gap(len * PAGE_SIZE, hint * PAGE_SIZE, below * PAGE_SIZE);
        assert_eq!(found, answer.map(|page| page * PAGE_SIZE), "{len} {hint} {below}");
    }
    assert_eq!(layout.find_gap(u64::MAX, 0, USER_END), None);
}

#[test]
fn a_stack_grows_until_its_limit_or_the_guard_of_a_neighbour() {
    let stack_page = 10_000;
    let mut layout = layout(&[(stack_page - 1500, 1, W)]);
    layout.insert(Mapping { grows_down: true, ..Mapping::anonymous(stack_page * PAGE_SIZE, PAGE_SIZE, W) });
    let start = |layout: &Layout, page: u64| layout.growth(page * PAGE_SIZE + 5).map(|(start, _)| start / PAGE_SIZE);
    assert_eq!(start(&layout, stack_page - 1), Some(stack_page - 1));
    assert_eq!(start(&layout, stack_page - 1240), Some(stack_page - 1240));
    assert_eq!(start(&layout, stack_page - 1250), None, "too near to the nearest");
    layout.stack_limit = 10 * PAGE_SIZE;
    assert_eq!(start(&layout, stack_page - 9), Some(stack_page - 9));
    assert_eq!(start(&layout, stack_page - 10), None, "longer than the limit");
    layout.grow((stack_page - 9) * PAGE_SIZE);
    assert_eq!(rows(&layout)[1], (stack_page - 9, 10, W));
    assert_eq!(start(&layout, stack_page + 5), None, "nothing above");
}
