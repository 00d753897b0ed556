//! What checkpoints, restores and messages have cost so far.
//!
//! Time decides where an adaptive strategy keeps a state, and is shown. It decides no answer.

use crate::Traffic;
use crate::checkpoint::Price;
use std::time::Duration;

#[allow(clippy::disallowed_methods, reason = "measures the host: what it decides changes no answer")]
fn now() -> std::time::Instant {
    std::time::Instant::now()
}

/// Samples of which the median is taken.
///
/// Odd, so that the median is a sample; few, so that it follows a peer whose answers grow.
const SAMPLES: usize = 31;
/// Checkpoints that an adaptive strategy takes to learn what they cost: the first ones are dear, because they are whole.
const LEARNING: u64 = 8;

/// The median of the latest samples.
#[derive(Clone, Debug, Default)]
pub(crate) struct Median {
    latest: Vec<u64>,
    next: usize,
}

impl Median {
    fn add(&mut self, sample: u64) {
        if self.latest.len() < SAMPLES {
            self.latest.push(sample);
        } else {
            self.latest[self.next] = sample;
        }
        self.next = (self.next + 1) % SAMPLES;
    }

    /// The median; zero without samples.
    fn value(&self) -> u64 {
        let mut sorted = self.latest.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }
}

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Deed {
    /// A state is kept.
    Save,
    /// A state comes back.
    Restore,
    /// The first state comes back.
    Restart,
    /// Something is said for the first time.
    Message,
    /// Something is said again.
    Replay,
}

/// What was carried out, and what it has cost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Costs {
    pub traffic: Traffic,
    save: Median,
    restore: Median,
    message: Median,
}

impl Costs {
    /// Does something and notes what it costs.
    pub fn measured<T>(&mut self, deed: Deed, work: impl FnOnce() -> T) -> T {
        let begun = now();
        let done = work();
        self.note(deed, begun.elapsed());
        done
    }

    /// Adds what was counted apart.
    pub fn add(&mut self, other: &Self) {
        for (median, more) in
            [(&mut self.save, &other.save), (&mut self.restore, &other.restore), (&mut self.message, &other.message)]
        {
            more.latest.iter().for_each(|sample| median.add(*sample));
        }
        let (traffic, more) = (&mut self.traffic, &other.traffic);
        traffic.messages += more.messages;
        traffic.replays += more.replays;
        traffic.saves += more.saves;
        traffic.restores += more.restores;
        traffic.restarts += more.restarts;
        traffic.message_time += more.message_time;
        traffic.replay_time += more.replay_time;
        traffic.save_time += more.save_time;
        traffic.restore_time += more.restore_time;
    }

    fn note(&mut self, deed: Deed, took: Duration) {
        let traffic = &mut self.traffic;
        let (times, total, median) = match deed {
            Deed::Save => (&mut traffic.saves, &mut traffic.save_time, &mut self.save),
            Deed::Restore => (&mut traffic.restores, &mut traffic.restore_time, &mut self.restore),
            Deed::Restart => (&mut traffic.restarts, &mut traffic.restore_time, &mut self.restore),
            Deed::Message => (&mut traffic.messages, &mut traffic.message_time, &mut self.message),
            Deed::Replay => (&mut traffic.replays, &mut traffic.replay_time, &mut self.message),
        };
        *times += 1;
        *total += took;
        median.add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }

    /// What a checkpoint costs and saves, so many messages after the last one.
    pub fn price(&self, distance: u64) -> Price {
        let Traffic { messages, restores, restarts, .. } = self.traffic;
        Price {
            save: if self.traffic.saves < LEARNING { 0 } else { self.save.value() },
            restore: self.restore.value(),
            replay: self.message.value(),
            distance,
            returns: (1 + restores + restarts) * 1000 / messages.max(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_that_of_the_latest_samples() {
        let mut median = Median::default();
        assert_eq!(median.value(), 0);
        (0..3).for_each(|sample| median.add(sample));
        assert_eq!(median.value(), 1);
        (0..SAMPLES).for_each(|_| median.add(9));
        assert_eq!(median.value(), 9);
    }

    #[test]
    fn deeds_are_counted_each_by_its_kind() {
        let mut costs = Costs::default();
        for deed in [Deed::Save, Deed::Message, Deed::Message, Deed::Restart, Deed::Replay] {
            costs.measured(deed, || ());
        }
        let Traffic { saves, messages, restarts, replays, restores, .. } = costs.traffic;
        assert_eq!((saves, messages, restarts, replays, restores), (1, 2, 1, 1, 0));
        assert_eq!((costs.price(3).distance, costs.price(3).returns), (3, 1000));
    }

    #[test]
    fn one_dear_checkpoint_does_not_set_the_price() {
        let mut costs = Costs::default();
        costs.note(Deed::Save, Duration::from_millis(9));
        assert_eq!(costs.price(1).save, 0);
        (1..LEARNING).for_each(|_| costs.note(Deed::Save, Duration::from_nanos(5)));
        assert_eq!(costs.price(1).save, 5);
    }
}
