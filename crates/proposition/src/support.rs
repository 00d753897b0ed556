//! The support of a proposition: the facts that it asks for, whatever it makes of them.
//!
//! A step that changes none of them cannot change the proposition, in whatever order it comes with independent ones; one that
//! leaves the proposition as it is may well, in another order.

use crate::facts::Facts;
use crate::tree::{Expression, Kind};
use std::hash::{DefaultHasher, Hash, Hasher};

/// A fingerprint of all facts that an expression asks for.
pub(crate) fn fingerprint(tree: &Expression, facts: &mut dyn Facts) -> u64 {
    let mut hasher = DefaultHasher::new();
    let processes = facts.processes();
    tree.visit(&mut |part| match &part.kind {
        Kind::Exited(_) | Kind::Crashed(_) | Kind::Running(_) => {
            let lives = |process: &String| (facts.exited(process), facts.crashed(process), facts.is_running(process));
            processes.iter().map(lives).collect::<Vec<_>>().hash(&mut hasher);
        }
        Kind::Blocked(_) => {
            processes.iter().map(|process| facts.is_blocked(process)).collect::<Vec<_>>().hash(&mut hasher);
        }
        Kind::Output(stream, _) => {
            processes.iter().map(|process| facts.output(process, *stream)).collect::<Vec<_>>().hash(&mut hasher);
        }
        Kind::Exists(path) => facts.exists(path).hash(&mut hasher),
        Kind::Size(path) => facts.size(path).hash(&mut hasher),
        Kind::Content(path) => facts.content(path).hash(&mut hasher),
        Kind::Variable { process, path } => {
            for name in process.iter().chain(if process.is_none() { &processes[..] } else { &[] }) {
                format!("{:?}", facts.variable(name, path).ok().flatten()).hash(&mut hasher);
            }
        }
        _ => {}
    });
    hasher.finish()
}

/// Whether an expression asks for files, whose names and contents steps change one by one.
pub(crate) fn reads_files(tree: &Expression) -> bool {
    let mut reads = false;
    tree.visit(&mut |part| reads |= matches!(part.kind, Kind::Exists(_) | Kind::Content(_) | Kind::Size(_)));
    reads
}

/// Files whose content an expression asks for.
pub(crate) fn contents(tree: &Expression) -> Vec<String> {
    let mut paths = Vec::new();
    tree.visit(&mut |part| paths.extend(if let Kind::Content(path) = &part.kind { Some(path.clone()) } else { None }));
    paths
}

/// Whether any step may matter to an expression: it asks who is blocked, for the last step, or for what a pointer leads to.
pub(crate) fn depends_on_all(tree: &Expression) -> bool {
    let mut depends = false;
    tree.visit(&mut |part| {
        depends |= match &part.kind {
            Kind::Blocked(_) | Kind::Called(..) => true,
            Kind::Variable { path, .. } => path.contains("->"),
            _ => false,
        };
    });
    depends
}
