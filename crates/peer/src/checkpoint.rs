//! At which places of a conversation the state of a peer is kept.
//!
//! Answers are kept at every place. What a strategy decides is how a peer comes back to a place: from a checkpoint there, or
//! from an earlier one, by being told the rest again. It decides time and memory, and no answer.
//!
//! The names are those of Artho and others (ASE 2011, "Model checking distributed systems by
//! combining caching and process checkpointing"), who checkpointed peers with a library on the
//! host. Here a checkpoint of a peer in its own world is a snapshot of microseconds, so `Adaptive`
//! mostly keeps everything; for native ones, which cannot be checkpointed, restarting is all there
//! is.

use kernel::net::far::Saying;

/// At which places the state of a peer is kept. Its first state always is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Strategy {
    /// Nowhere: it begins again.
    Restart,
    /// Where a connection was opened.
    AfterConnect,
    /// Where a connection was opened, or something was sent.
    AfterIo,
    /// Where it has read a clock, or something random.
    AfterNondeterminism,
    /// Everywhere.
    Always,
    /// Where that is expected to cost less than to tell it the rest again.
    #[default]
    Adaptive,
}

impl Strategy {
    /// Whether the state is kept that follows something that was said. `is_random`: the peer did something that may come out
    /// differently another time.
    #[must_use]
    pub fn keeps(self, said: &Saying, is_random: bool, price: &Price) -> bool {
        match self {
            Self::Restart => false,
            Self::AfterConnect => *said == Saying::Open,
            Self::AfterIo => matches!(said, Saying::Open | Saying::Bytes(_)),
            Self::AfterNondeterminism => is_random,
            Self::Always => true,
            Self::Adaptive => is_random || price.is_worth_it(),
        }
    }
}

/// What a checkpoint costs and saves, in nanoseconds; zero where nothing was measured yet.
///
/// Medians of what was measured. Wrong prices cost time; answers do not depend on them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Price {
    /// To keep a state.
    pub save: u64,
    /// To come back to one.
    pub restore: u64,
    /// To be told one message again.
    pub replay: u64,
    /// Messages since the nearest checkpoint.
    pub distance: u64,
    /// How often the search has come back to a place, of a thousand places.
    pub returns: u64,
}

impl Price {
    /// Whether the returns to be expected save more than the checkpoint costs.
    ///
    /// Expected saving: what telling again costs more than restoring, times how often the search
    /// comes back to a place.
    fn is_worth_it(&self) -> bool {
        let again = self.replay.saturating_mul(self.distance).saturating_sub(self.restore);
        again.saturating_mul(self.returns) / 1000 > self.save
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_strategy_keeps_what_it_says() {
        let (open, bytes, end) = (Saying::Open, Saying::Bytes(b"x".to_vec()), Saying::Finish);
        let table = [
            (Strategy::Restart, [false, false, false]),
            (Strategy::AfterConnect, [true, false, false]),
            (Strategy::AfterIo, [true, true, false]),
            (Strategy::AfterNondeterminism, [false, false, false]),
            (Strategy::Always, [true, true, true]),
            (Strategy::Adaptive, [false, false, false]),
        ];
        for (strategy, kept) in table {
            let keeps = |said| strategy.keeps(said, false, &Price::default());
            assert_eq!([keeps(&open), keeps(&bytes), keeps(&end)], kept, "{strategy:?}");
        }
        assert!(Strategy::AfterNondeterminism.keeps(&end, true, &Price::default()));
    }

    #[test]
    fn a_checkpoint_is_worth_it_if_what_is_told_again_costs_more() {
        let price = Price { save: 10, restore: 5, replay: 20, distance: 1, returns: 1000 };
        let table = [
            (price, true),
            (Price { save: 15, ..price }, false),
            (Price { save: 15, distance: 2, ..price }, true),
            (Price { returns: 500, ..price }, false),
            (Price { restore: 30, ..price }, false),
            (Price::default(), false),
            (Price { replay: u64::MAX, distance: 2, ..price }, true),
        ];
        for (price, is_kept) in table {
            assert_eq!(Strategy::Adaptive.keeps(&Saying::Open, false, &price), is_kept, "{price:?}");
        }
    }
}
