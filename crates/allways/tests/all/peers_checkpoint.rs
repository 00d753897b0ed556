//! Checkpoint strategies decide time and memory, and nothing else.

use crate::folder::Folder;

const STRATEGIES: [&str; 6] = ["restart", "after-connect", "after-io", "after-nondeterminism", "always", "adaptive"];

/// A number in the line about the peer: the one before a word.
fn number(out: &str, word: &str) -> u64 {
    let line = out.split("peer     count: ").nth(1).unwrap_or_else(|| panic!("no line about the peer: {out}"));
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|other| other.trim_end_matches(',') == word).expect("the line has it");
    words[at - 1].parse().expect("a number")
}

/// States, steps and depth, in the report's words.
fn covered(out: &str) -> &str {
    let line = out.lines().find(|line| line.contains(" . exhaustive")).unwrap_or_else(|| panic!("no end: {out}"));
    line.split(" . exhaustive").next().expect("it was found")
}

#[test]
fn every_strategy_and_engine_gives_the_same_verdict_states_and_messages() {
    let folder = Folder::new("peers-strategies");
    folder.compile("server", &["-g"], crate::peers::SERVER);
    folder.compile("client", &["-g", "-pthread"], crate::peers::CLIENT);
    for engine in [&["-j1"][..], &["--engine", "dpor"], &["-j1", "--reduction", "off"]] {
        let mut first: Option<(String, u64)> = None;
        for strategy in STRATEGIES {
            let start = ["check", "--no-save", "--peer", "count:7000=./server", "--checkpoint", strategy];
            let told = folder.run(&[&start, engine, &["--", "./client"]].concat());
            assert_eq!(told.code, Some(0), "{strategy} {engine:?}: {}{}", told.out, told.err);
            let found = (covered(&told.out).to_owned(), number(&told.out, "messages"));
            assert_eq!(*first.get_or_insert_with(|| found.clone()), found, "{strategy} {engine:?}: {}", told.out);
            let (saves, again) = (number(&told.out, "checkpoints"), number(&told.out, "said"));
            match strategy {
                "restart" | "after-nondeterminism" => assert!(saves == 1 && again > 0, "{}", told.out),
                "always" => assert!(saves == found.1 + 1 && again == 0, "{}", told.out),
                "after-connect" => assert!(saves > 1 && again > 0, "{}", told.out),
                "after-io" => assert!(saves > 1, "{}", told.out),
                // What it keeps is decided by measured time.
                _ => assert!(saves > 0, "{}", told.out),
            }
        }
    }
}
