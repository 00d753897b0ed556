//! How contents become fingerprints.

use twox_hash::XxHash3_128;

use crate::page::Bytes;
use crate::store::Owner;

/// XXH3-128 of 4096 zero bytes.
const ZERO_PAGE: u128 = 0x3ee8dc4f9e7ee49593d76fe148c689ba;

/// Identity of a page's content; never 0.
pub(crate) fn content(bytes: &Bytes) -> u128 {
    XxHash3_128::oneshot(bytes).max(1)
}

/// Identity of a page's content, where a page of zeros is the same as none at all: 0.
pub(crate) fn content_or_zero(bytes: &Bytes) -> u128 {
    match content(bytes) {
        ZERO_PAGE => 0,
        other => other,
    }
}

/// Identity of any bytes.
pub(crate) fn text(bytes: &[u8]) -> u128 {
    XxHash3_128::oneshot(bytes)
}

/// What a page adds to the fingerprint: its content bound to its place. A sum of these must not let pages trade places,
/// so each is a bijection of the content that looks random for every place.
pub(crate) fn placed(content: u128, owner: Owner, page: u64) -> u128 {
    if content == 0 {
        return 0;
    }
    let (kind, id) = match owner {
        Owner::Space(space) => (0x9e37_79b9_7f4a_7c15, space.0),
        Owner::Object(object) => (0xc2b2_ae3d_27d4_eb4f, object.0),
    };
    let place = scramble(page.wrapping_add(kind)) ^ id.wrapping_mul(0xd6e8_feb8_6659_fd93);
    let place = scramble(place.wrapping_add(kind));
    let low = scramble((content as u64).wrapping_add(place));
    let high = scramble((content >> 64) as u64 ^ low.rotate_left(32)).wrapping_add(place);
    let low = scramble(low ^ high);
    u128::from(low) | u128::from(high) << 64
}

/// A bijection of 64-bit words in which every input bit changes every output bit with even odds.
fn scramble(word: u64) -> u64 {
    let word = (word ^ word >> 32).wrapping_mul(0xe9846af9b1a615d);
    let word = (word ^ word >> 32).wrapping_mul(0xe9846af9b1a615d);
    word ^ word >> 28
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ObjectId, PAGE_BYTES, SpaceId};

    #[test]
    fn a_page_of_zeros_counts_as_none() {
        assert_eq!(content_or_zero(&[0; PAGE_BYTES]), 0);
        assert_ne!(content(&[0; PAGE_BYTES]), 0);
    }

    #[test]
    fn the_same_content_differs_by_owner_id_and_page() {
        let places = [
            placed(7, Owner::Space(SpaceId(1)), 1),
            placed(7, Owner::Space(SpaceId(1)), 2),
            placed(7, Owner::Space(SpaceId(2)), 1),
            placed(7, Owner::Object(ObjectId(1)), 1),
            placed(8, Owner::Space(SpaceId(1)), 1),
        ];
        for (index, one) in places.iter().enumerate() {
            assert!(places[..index].iter().all(|other| other != one));
        }
    }

    #[test]
    fn exchanged_contents_do_not_cancel() {
        let space = Owner::Space(SpaceId(1));
        let straight = placed(7, space, 1).wrapping_add(placed(8, space, 2));
        let crossed = placed(8, space, 1).wrapping_add(placed(7, space, 2));
        assert_ne!(straight, crossed);
    }
}
