//! The binary as users meet it: verbs, reports, limits, hostile surroundings, SPIN beside it.
#![allow(clippy::disallowed_methods, reason = "tests use the host")]

mod arrows;
mod check_programs;
mod cli;
mod engines;
mod faults;
mod folder;
mod knots;
mod limits;
mod migration_hints;
mod models;
mod native_peers;
mod peer_demos;
mod peers;
mod peers_checkpoint;
mod peers_client;
mod peers_file;
mod peers_orders;
mod peers_reach;
mod peers_rest;
mod peers_room;
mod peers_run;
mod peers_strict;
mod peers_terms;
mod peers_udp;
mod peers_unix;
mod peers_user;
mod programs;
mod readme;
mod replays;
mod robust;
mod spin;
mod stock;
mod tidy;
mod told;
