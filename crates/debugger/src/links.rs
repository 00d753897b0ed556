//! Paths without symbolic links: mappings have them, and gdb names libraries by the path that they were asked for.

use kernel::host::HostFiles;

/// Symbolic links on the way, at most (`ELOOP`).
const LINKS_MAX: usize = 40;

/// The path that an absolute one leads to, as the process sees files; nothing if its links have no end.
pub fn resolved(host: &dyn HostFiles, path: &[u8]) -> Option<Vec<u8>> {
    let mut left = reversed(path);
    let (mut done, mut links) = (Vec::new(), 0);
    while let Some(name) = left.pop() {
        if name == b".." {
            let parent = done.iter().rposition(|byte| *byte == b'/');
            done.truncate(parent.unwrap_or(0));
            continue;
        }
        let next = [&done[..], b"/", &name].concat();
        let target = host.entry(&next).map(|entry| entry.target).unwrap_or_default();
        if target.is_empty() {
            done = next;
            continue;
        }
        links += 1;
        if links > LINKS_MAX {
            return None;
        }
        if target.starts_with(b"/") {
            done.clear();
        }
        left.extend(reversed(&target));
    }
    Some(done)
}

/// The names of a path, last first.
fn reversed(path: &[u8]) -> Vec<Vec<u8>> {
    let names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty() && *name != b".");
    let mut names: Vec<Vec<u8>> = names.map(<[u8]>::to_vec).collect();
    names.reverse();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::host::HostEntry;
    use std::sync::Arc;

    /// `/lib` leads to `usr/lib`, `/usr/lib/one` to `../two`, `/loop` to itself.
    struct Links;

    impl HostFiles for Links {
        fn entry(&self, path: &[u8]) -> Option<HostEntry> {
            let links: [(&[u8], &[u8]); 3] =
                [(b"/lib", b"usr/lib"), (b"/usr/lib/one", b"../two"), (b"/loop", b"/loop")];
            let (_, target) = links.iter().find(|(from, _)| *from == path)?;
            let (mode, uid, gid, size, links, inode, modified) = (0, 0, 0, 0, 1, 1, 0);
            Some(HostEntry { mode, uid, gid, size, links, inode, modified, target: target.to_vec() })
        }
        fn list(&self, _: &[u8]) -> Vec<Vec<u8>> {
            Vec::new()
        }
        fn content(&self, _: &[u8]) -> Option<Arc<[u8]>> {
            None
        }
    }

    #[test]
    fn links_are_followed_to_their_end() {
        let cases: [(&[u8], Option<&[u8]>); 5] = [
            (b"/lib/one", Some(b"/usr/two")),
            (b"/usr//lib/./x", Some(b"/usr/lib/x")),
            (b"/../../x", Some(b"/x")),
            (b"/loop/x", None),
            (b"", Some(b"")),
        ];
        for (path, expected) in cases {
            assert_eq!(resolved(&Links, path).as_deref(), expected, "{}", String::from_utf8_lossy(path));
        }
    }
}
