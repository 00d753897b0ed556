//! Hashes of contents, and what they add to the fingerprint.
//!
//! The fingerprint is a sum, modulo 2^128, of terms that each depend on a place and the value there
//! (Zobrist's scheme, with a computed term instead of a table of random numbers). So it changes by
//! a difference when one word changes, in any order of changes, and a memoized step can carry its
//! difference along. It is not a cryptographic hash: a program that knew the constants could build
//! two states with one fingerprint. As long as terms behave like random numbers, a false match
//! among 10^9 states is less likely than 10^-20.

use twox_hash::XxHash3_128;

use crate::PAGE_BYTES;
use crate::owner::Owner;
use crate::page::Bytes;

/// Words of a page.
const WORDS: usize = PAGE_BYTES / 8;

/// Words that are tested for zero together.
const BLOCK: usize = 8;

/// Added for a page over an object, so that zeros there are not the same as no page.
const OVER: u128 = 0x3ee8_dc4f_9e7e_e495_93d7_6fe1_48c6_89ba;

/// Hash of a page's content where zeros are not the same as no page.
pub(crate) fn content(bytes: &Bytes) -> u128 {
    content_or_zero(bytes).wrapping_add(OVER)
}

/// Hash of a page's content, where a page of zeros is the same as no page: 0.
///
/// A sum over words: what one adds depends on its place and value, and not on the others.
pub(crate) fn content_or_zero(bytes: &Bytes) -> u128 {
    let (words, _) = bytes.as_chunks::<8>();
    let (blocks, _) = words.as_chunks::<BLOCK>();
    let mut sum = 0u128;
    for (number, block) in blocks.iter().enumerate() {
        if block.iter().fold(0, |all, word| all | u64::from_le_bytes(*word)) == 0 {
            continue;
        }
        for (index, value) in block.iter().enumerate() {
            sum = sum.wrapping_add(word(number * BLOCK + index, u64::from_le_bytes(*value)));
        }
    }
    sum
}

/// What a word adds to the hash of its page: nothing if it is 0.
pub(crate) fn word(index: usize, value: u64) -> u128 {
    debug_assert!(index < WORDS);
    if value == 0 {
        return 0;
    }
    let key = (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let low = fold(fold(value ^ key, 0xa076_1d64_78bd_642f) ^ key, 0xe703_7ed1_a0b4_28db);
    let high = fold(fold(value.wrapping_add(key), 0x8ebc_6af0_9c88_c6e3) ^ key, 0x5899_65cc_7537_4cc3);
    u128::from(low) | u128::from(high) << 64
}

/// Both halves of a product, one over the other.
fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

/// Hash of any bytes.
pub(crate) fn text(bytes: &[u8]) -> u128 {
    XxHash3_128::oneshot(bytes)
}

/// What a page adds to the fingerprint: its content bound to its place, as the product with a number that looks random
/// for every place. So the difference between two contents is worth the same whatever else the page holds.
///
/// Distributive, since it is a product: the worth of `content + change` is that of `content` plus
/// that of `change`. The factor is odd, so no difference is lost.
pub(crate) fn placed(content: u128, owner: Owner, page: u64) -> u128 {
    if content == 0 {
        return 0;
    }
    let (kind, id) = match owner {
        Owner::Space(space) => (0x9e37_79b9_7f4a_7c15, space.0),
        Owner::Object(object) => (0xc2b2_ae3d_27d4_eb4f, object.0),
    };
    let place = scramble(page.wrapping_add(kind)) ^ id.wrapping_mul(0xd6e8_feb8_6659_fd93);
    let low = scramble(place.wrapping_add(kind));
    let high = scramble(low ^ kind);
    content.wrapping_mul(u128::from(low | 1) | u128::from(high) << 64)
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
    use crate::{ObjectId, SpaceId};

    #[test]
    fn a_page_of_zeros_counts_as_none() {
        assert_eq!(content_or_zero(&[0; PAGE_BYTES]), 0);
        assert_ne!(content(&[0; PAGE_BYTES]), 0);
    }

    #[test]
    fn a_changed_word_is_worth_the_same_whatever_else_a_page_holds() {
        let mut full = [7; PAGE_BYTES];
        let mut sparse = [0; PAGE_BYTES];
        let change = |page: &mut Bytes, value: u8| {
            page[808..816].fill(value);
            content_or_zero(page)
        };
        let worth = change(&mut full, 9).wrapping_sub(change(&mut full, 3));
        assert_eq!(worth, change(&mut sparse, 9).wrapping_sub(change(&mut sparse, 3)));
        assert_ne!(worth, 0);
    }

    #[test]
    fn words_do_not_trade_places() {
        let with = |places: [(usize, u8); 2]| {
            let mut page = [0; PAGE_BYTES];
            places.iter().for_each(|(place, value)| page[*place] = *value);
            content_or_zero(&page)
        };
        assert_ne!(with([(0, 1), (8, 2)]), with([(0, 2), (8, 1)]));
        assert_ne!(with([(0, 1), (8, 2)]), with([(0, 1), (16, 2)]));
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
