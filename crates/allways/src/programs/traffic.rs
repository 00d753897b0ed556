//! What was carried out with peers, in words.

use checker::Programs;
use peer::{Outside, Traffic};
use report::short_count;
use std::sync::Arc;
use std::time::Duration;

/// Peers, with how much was said to them: the same for every checkpoint strategy.
pub fn peers(programs: &Programs) -> Vec<String> {
    let told = |peer: &Arc<dyn Outside>| format!("{} ({}{})", peer.name(), peer.told(), ends(&peer.statuses()));
    programs.peers().iter().map(told).collect()
}

/// What was carried out with each peer, and how long it took.
pub fn traffic(programs: &Programs) -> Vec<Vec<String>> {
    programs.peers().iter().map(|peer| words(peer.name(), &peer.traffic())).collect()
}

/// What was carried out so far with all peers, for a line about progress; nothing without peers.
pub fn so_far(peers: &[Arc<dyn Outside>]) -> Option<String> {
    let all: Vec<Traffic> = peers.iter().map(|peer| peer.traffic()).collect();
    let sum = |count: fn(&Traffic) -> u64| short_count(all.iter().map(count).sum());
    let (messages, replays) = (sum(|traffic| traffic.messages), sum(|traffic| traffic.replays));
    let returns = sum(|traffic| traffic.restores + traffic.restarts);
    (!all.is_empty()).then(|| format!("{messages} messages to peers, {replays} said again, {returns} returns"))
}

/// How a peer has ended in all orders that were asked for.
fn ends(statuses: &[i32]) -> String {
    let end = |status: &i32| match status & 0x7f {
        0 => format!("ends with exit code {}", (status >> 8) & 0xff),
        signal => format!("is ended by {}", world::strace::signal_name(signal as u64)),
    };
    statuses.iter().map(|status| format!(", {}", end(status))).collect()
}

fn words(name: &str, traffic: &Traffic) -> Vec<String> {
    let Traffic { messages, replays, saves, restores, restarts, .. } = traffic;
    vec![
        format!("{name}: {messages} messages ({})", took(traffic.message_time)),
        format!("{replays} said again ({})", took(traffic.replay_time)),
        format!("{saves} checkpoints ({})", took(traffic.save_time)),
        format!("{restores} restores, {restarts} restarts ({})", took(traffic.restore_time)),
    ]
}

fn took(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::net::far::{Place, Said};
    use peer::{Heard, Trouble};

    /// A peer of which only the traffic is known.
    struct Busy(Traffic);

    impl Outside for Busy {
        fn name(&self) -> &'static str {
            "busy"
        }

        fn after(&self, place: Place, _: &Said) -> Place {
            place
        }

        fn heard(&self, _: Place) -> Result<Arc<Heard>, Trouble> {
            Err(Trouble::Stopped)
        }

        fn traffic(&self) -> Traffic {
            self.0
        }

        fn told(&self) -> String {
            String::new()
        }
    }

    #[test]
    fn progress_sums_what_all_peers_were_told() {
        let peer = |messages, replays, restores, restarts| {
            let traffic = Traffic { messages, replays, restores, restarts, ..Traffic::default() };
            Arc::new(Busy(traffic)) as Arc<dyn Outside>
        };
        assert_eq!(so_far(&[]), None);
        let told = so_far(&[peer(40, 3, 2, 1), peer(5, 0, 0, 4)]);
        assert_eq!(told.as_deref(), Some("45 messages to peers, 3 said again, 7 returns"));
    }
}
