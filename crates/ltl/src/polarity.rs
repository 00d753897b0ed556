//! Under which sign atoms occur.

use crate::Formula;

impl Formula {
    /// Atoms that occur only negated once implications are resolved, such as `p` in `[] (p -> q)`: if one is never true, that part
    /// was never put to use.
    ///
    /// For vacuity: `[] (request -> <> reply)` holds in a system that never requests.
    #[must_use]
    pub fn negative_atoms(&self) -> Vec<u32> {
        let (mut positive, mut negative) = (Vec::new(), Vec::new());
        collect(&self.normal_form(), true, &mut positive, &mut negative);
        negative.retain(|atom| !positive.contains(atom));
        negative
    }
}

fn collect(formula: &Formula, polarity: bool, positive: &mut Vec<u32>, negative: &mut Vec<u32>) {
    use Formula as F;
    match formula {
        F::True | F::False => {}
        F::Atom(atom) => (if polarity { positive } else { negative }).push(*atom),
        F::Not(a) => collect(a, !polarity, positive, negative),
        F::Next(a) | F::Finally(a) | F::Globally(a) => collect(a, polarity, positive, negative),
        F::And(a, b) | F::Or(a, b) | F::Until(a, b) | F::Release(a, b) | F::WeakUntil(a, b) => {
            collect(a, polarity, positive, negative);
            collect(b, polarity, positive, negative);
        }
        F::Implies(a, b) => {
            collect(a, !polarity, positive, negative);
            collect(b, polarity, positive, negative);
        }
        F::Equiv(a, b) => {
            for side in [a, b] {
                collect(side, true, positive, negative);
                collect(side, false, positive, negative);
            }
        }
    }
}
