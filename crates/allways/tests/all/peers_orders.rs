//! All connections of a peer share one order, and all orders are shown to it: as many as the multinomial says.

use crate::folder::Folder;
use std::collections::BTreeSet;

/// The ends of the server, which are the numbers of the orders that it saw (`programs/peers/alphabet_order.c`).
fn orders(folder: &Folder, connections: &str, messages: &str, more: &[&str]) -> BTreeSet<u32> {
    let peer = format!("server:7000=./alphabet_order {connections} {messages} 0");
    let start = ["check", "--no-save", "--format", "json", "--peer", &peer];
    let told = folder.run(&[&start, more, &["--", "./alphabet_client", connections, messages, "order"]].concat());
    assert_eq!(told.code, Some(0), "{more:?}: {}{}", told.out, told.err);
    let codes = told.out.split("ends with exit code ").skip(1);
    codes
        .map(|rest| rest.split(|it: char| !it.is_ascii_digit()).next().expect("digits").parse().expect("a code"))
        .collect()
}

#[test]
fn every_engine_shows_a_peer_every_order_of_its_connections() {
    let folder = Folder::new("peers-orders");
    folder.compile("alphabet_client", &[], "programs/peers/alphabet_client.c");
    folder.compile("alphabet_order", &[], "programs/peers/alphabet_order.c");
    for more in [&[][..], &["-j2"], &["--engine", "dpor"], &["--reduction", "off"]] {
        // Two connections, three events each: 6! / (3! 3!).
        assert_eq!(orders(&folder, "2", "1", more), (0..20).collect(), "{more:?}");
    }
    // Four events each: 8! / (4! 4!).
    assert_eq!(orders(&folder, "2", "2", &[]), (0..70).collect());
}
