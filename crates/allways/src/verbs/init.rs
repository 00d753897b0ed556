//! `allways init`: a file with one check to begin with.

use crate::exit::Exit;
use crate::output::Output;
use crate::programs::config::FILE;
use std::path::Path;

/// A check with everything that it may say, explained.
const TEMPLATE: &str = r#"# Checks of this folder: `allways check NAME`. Flags of `allways check` win over what is said here.

[check.main]
# What to look for; all of these, if nothing is said.
# check = ["deadlock", "assert", "crash", "exit", "race", "misuse"]
# never = ["broken"]                 # propositions that must not become true in any state
# files = ["testdata"]               # read-only, beside the system and this folder
# time = "10m"                       # stop after this time
# timeouts = 1                       # let a timed wait end while others can move, once in a run
# reads = "short"                    # let reads of pipes and connections return less than there is
# wakes = "longest"                  # a signal wakes the one who waits longest, not any
# engine = "dpor"                    # one run of each class of schedules; "sample": runs at random
# preemptions = 2                    # only schedules with so few interruptions

[check.main.service.program]
command = ["./program", "argument"]

# More services run in the same world, each with its own processes:
# [check.main.service.server]
# command = ["./server", "7000"]
# healthcheck = { test = "listening:7000" }
# expected_final_state = "idle"      # it may wait for requests at the end; "running": it must not end
#
# [check.main.service.client]
# command = ["./client", "put", "k", "v"]
# replicas = 2                       # client.1 and client.2
# depends_on = { server = { condition = "service_healthy" } }
# environment = { SEED = "0" }
# working_dir = "."

# Names for propositions:
# [check.main.let]
# broken = 'exited(client.1) == 0 && stdout(client.2) =~ "refused"'

# What a job does differently: `allways check --profile ci main`.
# [profile.ci]
# time = "10m"
# report = { junit = "target/allways.xml" }
"#;

/// Writes the file, unless there is one.
pub fn init(output: &Output) -> Exit {
    if Path::new(FILE).exists() {
        output.error(&format!("{FILE} is there already"));
        return Exit::Usage;
    }
    match std::fs::write(FILE, TEMPLATE) {
        Ok(()) => {
            output.note(&format!("wrote {FILE}: put the path of your program in it, then run `allways check main`"));
            Exit::Fine
        }
        Err(error) => {
            output.error(&format!("cannot write {FILE}: {error}"));
            Exit::Usage
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::config::Config;

    #[test]
    fn what_is_written_can_be_read_with_and_without_its_comments() {
        let bare = Config::parse(Path::new(FILE), TEMPLATE).expect("it is right");
        assert!(bare.check.contains_key("main"));
        let keys = TEMPLATE.lines().map(|line| match line.strip_prefix("# ") {
            Some(rest) if rest.starts_with('[') || rest.contains(" = ") => rest,
            _ => line,
        });
        let text = keys.collect::<Vec<_>>().join("\n");
        let all = Config::parse(Path::new(FILE), &text).expect("it is right, too");
        assert_eq!(all.check["main"].service["client"].replicas, Some(2));
    }
}
