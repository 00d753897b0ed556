//! Estimates of what sampling did not reach.

use crate::random::Random;
use std::collections::HashMap;

/// The number of schedules, all interleavings counted, by Knuth's estimator: the product of the numbers of choices on a random
/// descent is unbiased. The interval contains 90 of 100 bootstrapped means; it is too narrow if no descent reached the large
/// parts of the tree.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The decimal logarithm of the mean.
    pub log10: f64,
    /// Of the lower end of the interval.
    pub log10_low: f64,
    /// Of its upper end.
    pub log10_high: f64,
    /// Descents.
    pub descents: u64,
}

/// Fewer descents give no estimate.
const DESCENTS_MIN: usize = 30;
/// Bootstrapped means.
const RESAMPLES: usize = 200;

impl Estimate {
    /// From the natural logarithm of the product of each descent.
    pub fn of(ln_weights: &[f64], random: &mut Random) -> Option<Self> {
        if ln_weights.len() < DESCENTS_MIN {
            return None;
        }
        let draw = |random: &mut Random| {
            let drawn: Vec<f64> = ln_weights.iter().map(|_| ln_weights[random.below(ln_weights.len())]).collect();
            log10_mean(&drawn)
        };
        let mut means: Vec<f64> = (0..RESAMPLES).map(|_| draw(random)).collect();
        means.sort_by(f64::total_cmp);
        Some(Self {
            log10: log10_mean(ln_weights),
            log10_low: means[RESAMPLES / 20],
            log10_high: means[RESAMPLES - 1 - RESAMPLES / 20],
            descents: ln_weights.len() as u64,
        })
    }
}

/// The decimal logarithm of the mean of numbers given by natural logarithms; they may exceed `f64::MAX`.
fn log10_mean(ln: &[f64]) -> f64 {
    let most = ln.iter().copied().fold(f64::MIN, f64::max);
    let sum: f64 = ln.iter().map(|ln| (ln - most).exp()).sum();
    (most + (sum / ln.len() as f64).ln()) / std::f64::consts::LN_10
}

/// Good and Turing's estimate of the probability that the next run is of a new trace class: the part of runs whose class
/// occurred once.
#[allow(clippy::disallowed_methods, reason = "what comes of it does not depend on the order")]
pub fn unseen(classes: &HashMap<u128, u64>) -> Option<f64> {
    let runs: u64 = classes.values().sum();
    let once = classes.values().filter(|times| **times == 1).count();
    (runs > 0).then(|| once as f64 / runs as f64)
}

/// Rule of three: with 95 % confidence, an event that did not occur in so many independent runs has less than this probability.
pub fn rule_of_three(runs: u64) -> Option<f64> {
    (runs >= 30).then(|| 3.0 / runs as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_descents_give_an_interval_of_one_point() {
        let estimate = Estimate::of(&[1000_f64.ln(); 40], &mut Random::new(1)).expect("enough descents");
        let all = [estimate.log10, estimate.log10_low, estimate.log10_high];
        assert!(all.iter().all(|log10| (log10 - 3.0).abs() < 1e-9), "{estimate:?}");
        assert_eq!(Estimate::of(&[1.0; 5], &mut Random::new(1)), None);
    }

    #[test]
    fn means_of_numbers_beyond_f64_are_right() {
        let huge = 2000.0 * std::f64::consts::LN_10;
        assert!((log10_mean(&[huge, huge]) - 2000.0).abs() < 1e-9);
        assert!((log10_mean(&[0.0, 3_f64.ln()]) - 2_f64.log10()).abs() < 1e-12);
    }

    #[test]
    fn no_new_class_is_expected_when_each_occurred_twice() {
        assert_eq!(unseen(&HashMap::from([(1, 2), (2, 2)])), Some(0.0));
        assert_eq!(unseen(&HashMap::from([(1, 1), (2, 3)])), Some(0.25));
        assert_eq!(unseen(&HashMap::new()), None);
        assert_eq!((rule_of_three(300), rule_of_three(3)), (Some(0.01), None));
    }
}
