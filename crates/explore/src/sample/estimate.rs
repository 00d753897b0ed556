//! What may be said about what was not seen.

use crate::random::Random;
use std::collections::HashMap;

/// How many schedules there are, all interleavings counted, after Knuth: the choices met on a random way, multiplied, are
/// right on average. The interval holds 90 of 100 means of ways drawn again from those that were seen; it is too narrow if the
/// large parts were never met.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The decimal logarithm of the mean.
    pub log10: f64,
    /// Of the lower end of the interval.
    pub log10_low: f64,
    /// Of its upper end.
    pub log10_high: f64,
    /// Ways.
    pub descents: u64,
}

/// Fewer ways say nothing.
const DESCENTS_MIN: usize = 30;
/// Times that the mean is drawn again.
const DRAWN: usize = 200;

impl Estimate {
    /// From the natural logarithms of the choices on each way, multiplied.
    pub fn of(ln_weights: &[f64], random: &mut Random) -> Option<Self> {
        if ln_weights.len() < DESCENTS_MIN {
            return None;
        }
        let draw = |random: &mut Random| {
            let drawn: Vec<f64> = ln_weights.iter().map(|_| ln_weights[random.below(ln_weights.len())]).collect();
            log10_mean(&drawn)
        };
        let mut means: Vec<f64> = (0..DRAWN).map(|_| draw(random)).collect();
        means.sort_by(f64::total_cmp);
        Some(Self {
            log10: log10_mean(ln_weights),
            log10_low: means[DRAWN / 20],
            log10_high: means[DRAWN - 1 - DRAWN / 20],
            descents: ln_weights.len() as u64,
        })
    }
}

/// The decimal logarithm of the mean of numbers given by natural logarithms; they may be too large to be written down.
fn log10_mean(ln: &[f64]) -> f64 {
    let most = ln.iter().copied().fold(f64::MIN, f64::max);
    let sum: f64 = ln.iter().map(|ln| (ln - most).exp()).sum();
    (most + (sum / ln.len() as f64).ln()) / std::f64::consts::LN_10
}

/// How likely the next run shows something new: the part of runs whose class was seen once.
#[allow(clippy::disallowed_methods, reason = "what comes of it does not depend on the order")]
pub fn unseen(classes: &HashMap<u128, u64>) -> Option<f64> {
    let runs: u64 = classes.values().sum();
    let once = classes.values().filter(|times| **times == 1).count();
    (runs > 0).then(|| once as f64 / runs as f64)
}

/// With 95 % confidence something that did not happen in so many independent runs happens less often than this.
pub fn rule_of_three(runs: u64) -> Option<f64> {
    (runs >= 30).then(|| 3.0 / runs as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_ways_give_their_number_without_doubt() {
        let estimate = Estimate::of(&[1000_f64.ln(); 40], &mut Random::new(1)).expect("enough ways");
        let all = [estimate.log10, estimate.log10_low, estimate.log10_high];
        assert!(all.iter().all(|log10| (log10 - 3.0).abs() < 1e-9), "{estimate:?}");
        assert_eq!(Estimate::of(&[1.0; 5], &mut Random::new(1)), None);
    }

    #[test]
    fn means_of_numbers_too_large_to_write_are_right() {
        let huge = 2000.0 * std::f64::consts::LN_10;
        assert!((log10_mean(&[huge, huge]) - 2000.0).abs() < 1e-9);
        assert!((log10_mean(&[0.0, 3_f64.ln()]) - 2_f64.log10()).abs() < 1e-12);
    }

    #[test]
    fn nothing_new_is_expected_when_everything_was_seen_twice() {
        assert_eq!(unseen(&HashMap::from([(1, 2), (2, 2)])), Some(0.0));
        assert_eq!(unseen(&HashMap::from([(1, 1), (2, 3)])), Some(0.25));
        assert_eq!(unseen(&HashMap::new()), None);
        assert_eq!((rule_of_three(300), rule_of_three(3)), (Some(0.01), None));
    }
}
