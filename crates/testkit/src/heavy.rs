//! A system whose states are large shared values identified by fingerprints, as worlds are.
//!
//! Such states cannot be written into a store of vectors: an explorer keeps them alive, or makes
//! them again from their predecessors. No footprints: it is about memory, not about reduction.

use explore::{Bits, Explained, Failure, Key, Selection, Step, TransitionSystem};
use std::ops::ControlFlow;
use std::sync::Arc;
use trace::{Choice, FailureKind};

/// Independent counters whose state is a megabyte that steps share until they write.
pub struct Heavy {
    /// Number of counters.
    pub actors: u32,
    /// Where each counter ends.
    pub end: u32,
    /// Whether the end counts as a deadlock.
    pub may_end: bool,
}

/// Pages of one state.
const PAGES: usize = 256;

/// One state: a page for each counter and many more.
#[derive(Clone)]
pub struct Pages(Arc<Vec<Arc<[u8; 4096]>>>);

impl Pages {
    fn counter(&self, actor: u32) -> u32 {
        u32::from_le_bytes(self.0[actor as usize][..4].try_into().expect("four bytes"))
    }

    fn with(&self, actor: u32, value: u32) -> Self {
        let mut pages = (*self.0).clone();
        Arc::make_mut(&mut pages[actor as usize])[..4].copy_from_slice(&value.to_le_bytes());
        Self(Arc::new(pages))
    }
}

impl TransitionSystem for Heavy {
    type State = Pages;
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, (): &mut ()) -> Pages {
        Pages(Arc::new((0..PAGES).map(|_| Arc::new([0; 4096])).collect()))
    }

    fn key<'a>(&self, state: &'a Pages) -> Key<'a> {
        let bits = (0..self.actors).fold(1_u128, |bits, actor| {
            (bits ^ u128::from(state.counter(actor))).wrapping_mul(0x2d35_8dcc_aa6c_78a5_8bb8_4b93_962e_acc9)
        });
        Key::Fingerprint(bits ^ bits >> 64)
    }

    fn steps(
        &self,
        (): &mut (),
        state: &Pages,
        actors: Selection,
        visit: &mut impl FnMut(Step<'_, Pages>) -> ControlFlow<()>,
    ) {
        for actor in (0..self.actors).filter(|actor| actors.contains(*actor)) {
            let value = state.counter(actor);
            if value == self.end {
                continue;
            }
            let next = state.with(actor, value + 1);
            let choice = Choice { actor, index: 0 };
            if visit(Step { choice, moved: Bits::one(actor), state: &next, failure: None }).is_break() {
                return;
            }
        }
    }

    fn stuck(&self, (): &mut (), _: &Pages) -> Option<Failure> {
        let failure =
            Failure { kind: FailureKind::Deadlock, message: "all counters ended".into(), fatal: true, property: None };
        (!self.may_end).then_some(failure)
    }

    /// Bit i: counter i is at its end.
    fn observe(&self, (): &mut (), state: &Pages, _: usize) -> Result<u64, Failure> {
        Ok((0..self.actors).map(|actor| u64::from(state.counter(actor) == self.end) << actor).sum())
    }

    fn explain(&self, (): &mut (), state: &Pages, choice: Choice) -> Option<Explained<Pages>> {
        let value = state.counter(choice.actor);
        let next = (value < self.end).then(|| state.with(choice.actor, value + 1));
        next.map(|state| Explained { state, events: Vec::new(), failure: None })
    }

    fn actor_name(&self, _: &Pages, actor: u32) -> String {
        format!("counter:{actor}")
    }
}
