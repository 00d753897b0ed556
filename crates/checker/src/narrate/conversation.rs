//! What peers answered along a schedule, for the record.

use crate::system::programs::Programs;
use explore::graph::FootprintSystem;
use kernel::net::far::{PeerId, Place};
use peer::Heard;
use std::sync::Arc;
use trace::{Choice, PeerRef};

impl Programs {
    /// Peers, as they behave along a schedule; as far as it can be executed.
    pub fn conversations(&mut self, schedule: &[Choice]) -> Vec<PeerRef> {
        if self.workload.peers.is_empty() {
            return Vec::new();
        }
        let mut asked: Vec<Vec<(Place, Arc<Heard>)>> = vec![Vec::new(); self.workload.peers.len()];
        let mut state = self.initial().state;
        self.note_places(&mut asked);
        for choice in schedule {
            let Some(taken) = self.step(&state, *choice) else { break };
            state = taken.reached.state;
            self.become_state(&state);
            self.note_places(&mut asked);
        }
        let peers = self.workload.peers.iter().zip(&self.workload.shapes).zip(&asked);
        peers.map(|((peer, shape), asked)| peer::record(&**peer, shape, asked)).collect()
    }

    /// Notes where the conversations are now, and what was answered there.
    fn note_places(&self, asked: &mut [Vec<(Place, Arc<Heard>)>]) {
        let far = &self.state.world.kernel.net.far;
        for (index, known) in asked.iter_mut().enumerate() {
            let peer = PeerId(index as u32);
            let shared = far.places.get(&peer).copied().unwrap_or_default();
            let own = far.conversations(peer).into_iter().map(|(_, place)| place);
            for place in [shared].into_iter().chain(own) {
                if known.iter().all(|(other, _)| *other != place)
                    && let Ok(heard) = self.workload.peers[index].heard(place)
                {
                    known.push((place, heard));
                }
            }
        }
    }
}
