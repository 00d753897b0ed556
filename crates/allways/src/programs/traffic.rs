//! What was carried out with peers, in words.

use checker::Programs;
use peer::{Outside, Traffic};
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

/// How a peer has ended in all orders that were asked for.
fn ends(statuses: &[i32]) -> String {
    let end = |status: &i32| match status & 0x7f {
        0 => format!("ends with exit code {}", (status >> 8) & 0xff),
        signal => format!("is ended by signal {signal}"),
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
