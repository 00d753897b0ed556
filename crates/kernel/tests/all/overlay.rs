//! Files of the host, seen through the overlay: read as they are, changed only inside, and nothing else reached.

use crate::guest::Guest;
use kernel::files::{self, base};
use kernel::host::{Host, HostEntry, HostFiles};
use std::sync::Arc;

const ENOENT: i64 = -2;
const ENOTEMPTY: i64 = -39;
const AT_FDCWD: u64 = -100i64 as u64;
const O_RDWR: u64 = 2;
const O_CREAT: u64 = 0o100;

/// A host with a few files: path, mode, target or content.
struct Few;

const ENTRIES: &[(&str, u32, &str)] = &[
    ("/data", 0o040_755, ""),
    ("/data/hello", 0o100_644, "hello from the host"),
    ("/data/twin", 0o100_600, "linked twice"),
    ("/data/other", 0o100_600, "linked twice"),
    ("/data/sub", 0o040_700, ""),
    ("/data/sub/deep", 0o100_644, "deep"),
    ("/data/out", 0o120_777, "../../../../secret"),
    ("/data/up", 0o120_777, "/proc/self/root/../secret"),
];

impl Few {
    fn find(path: &[u8]) -> Option<&'static (&'static str, u32, &'static str)> {
        ENTRIES.iter().find(|entry| entry.0.as_bytes() == path)
    }
}

impl HostFiles for Few {
    fn entry(&self, path: &[u8]) -> Option<HostEntry> {
        // A walk never asks for anything but plain absolute paths.
        assert!(path.starts_with(b"/") && !path.windows(2).any(|pair| pair == b".." || pair == b"//"));
        let (name, mode, text) = Self::find(path)?;
        let is_twin = matches!(*name, "/data/twin" | "/data/other");
        Some(HostEntry {
            mode: *mode,
            uid: 7,
            gid: 8,
            size: text.len() as u64,
            links: if is_twin { 2 } else { 1 },
            inode: if is_twin { 42 } else { 100 + name.len() as u64 },
            modified: 1_000_000_007,
            target: if *mode == 0o120_777 { text.as_bytes().to_vec() } else { Vec::new() },
        })
    }

    fn list(&self, path: &[u8]) -> Vec<Vec<u8>> {
        let below = |entry: &&(&str, u32, &str)| {
            entry
                .0
                .as_bytes()
                .strip_prefix(path)
                .is_some_and(|rest| rest.iter().filter(|byte| **byte == b'/').count() == 1)
        };
        ENTRIES.iter().filter(below).map(|entry| entry.0.as_bytes()[path.len() + 1..].to_vec()).collect()
    }

    fn content(&self, path: &[u8]) -> Option<Arc<[u8]>> {
        Self::find(path).map(|entry| entry.2.as_bytes().into())
    }
}

fn guest() -> Guest {
    let mut guest = Guest::new();
    guest.kernel.host = Host(Arc::new(Few));
    guest
}

fn path(guest: &mut Guest, text: &str) -> u64 {
    guest.put(&[text.as_bytes(), b"\0"].concat())
}

fn open(guest: &mut Guest, text: &str, flags: u64) -> i64 {
    let name = path(guest, text);
    guest.call("openat", &[AT_FDCWD, name, flags, 0o644])
}

fn text(guest: &mut Guest, name: &str) -> String {
    let fd = open(guest, name, 0);
    assert!(fd >= 0, "{name}: {fd}");
    let bytes = guest.read(fd, 64).expect("it can be read");
    guest.call("close", &[fd as u64]);
    String::from_utf8(bytes).expect("a text")
}

fn names(guest: &mut Guest, directory: &str) -> Vec<String> {
    let id = files::resolve(&guest.kernel, base::root(), directory.as_bytes(), true).expect("it is there");
    guest.kernel.entries(id).into_keys().map(|name| String::from_utf8(name).expect("a text")).collect()
}

fn one(guest: &mut Guest, name: &str, first: &str) -> i64 {
    let first = path(guest, first);
    guest.call(name, &[first])
}

fn two(guest: &mut Guest, name: &str, first: &str, second: &str) -> i64 {
    let (first, second) = (path(guest, first), path(guest, second));
    guest.call(name, &[first, second])
}

#[test]
fn a_host_file_is_read_as_it_is() {
    let mut guest = guest();
    assert_eq!(text(&mut guest, "/data/hello"), "hello from the host");
    let (name, result) = (path(&mut guest, "/data/hello"), guest.room(144));
    assert_eq!(guest.call("stat", &[name, result]), 0);
    assert_eq!(guest.get_u32(result + 24), 0o100_644);
    assert_eq!((guest.get_u32(result + 28), guest.get_u32(result + 32)), (7, 8));
    assert_eq!(guest.get_u32(result + 48), 19);
    assert_eq!((guest.get_u32(result + 88), guest.get_u32(result + 96)), (1, 7));
}

#[test]
fn reading_the_host_changes_no_state() {
    let mut guest = guest();
    let before = guest.kernel.files.clone();
    assert_eq!(text(&mut guest, "/data/sub/deep"), "deep");
    assert_eq!(names(&mut guest, "/data").len(), 6);
    assert_eq!(guest.kernel.files, before);
}

#[test]
fn a_write_stays_inside() {
    let mut guest = guest();
    let fd = open(&mut guest, "/data/hello", O_RDWR);
    assert_eq!(guest.write(fd, b"HELLO"), 5);
    assert_eq!(text(&mut guest, "/data/hello"), "HELLO from the host");
    assert_eq!(&*Few.content(b"/data/hello").expect("it is there"), b"hello from the host");
}

#[test]
fn names_of_one_host_file_are_one_file_inside() {
    let mut guest = guest();
    let fd = open(&mut guest, "/data/twin", O_RDWR);
    guest.write(fd, b"LINKED");
    assert_eq!(text(&mut guest, "/data/other"), "LINKED twice");
    assert_eq!(one(&mut guest, "unlink", "/data/twin"), 0);
    assert_eq!(text(&mut guest, "/data/other"), "LINKED twice");
}

#[test]
fn a_removed_host_file_stays_removed() {
    let mut guest = guest();
    assert_eq!(one(&mut guest, "unlink", "/data/hello"), 0);
    assert_eq!(open(&mut guest, "/data/hello", 0), ENOENT);
    assert!(!names(&mut guest, "/data").contains(&"hello".to_string()));
    let fd = open(&mut guest, "/data/hello", O_RDWR | O_CREAT);
    assert_eq!(guest.write(fd, b"new"), 3);
    assert_eq!(text(&mut guest, "/data/hello"), "new");
}

#[test]
fn a_renamed_host_directory_takes_its_files_along() {
    let mut guest = guest();
    assert_eq!(two(&mut guest, "rename", "/data/sub", "/moved"), 0);
    assert_eq!(text(&mut guest, "/moved/deep"), "deep");
    assert_eq!(open(&mut guest, "/data/sub/deep", 0), ENOENT);
    assert_eq!(one(&mut guest, "chdir", "/moved"), 0);
    let result = guest.room(16);
    assert_eq!(guest.call("getcwd", &[result, 16]), 7);
    assert_eq!(guest.get(result, 6), b"/moved");
    assert_eq!(one(&mut guest, "rmdir", "/moved"), ENOTEMPTY);
    assert_eq!(one(&mut guest, "unlink", "deep"), 0);
    assert_eq!(one(&mut guest, "rmdir", "/moved"), 0);
}

#[test]
fn links_and_dots_do_not_lead_out() {
    let mut guest = guest();
    let ways = [
        "/data/out",
        "/data/up",
        "/../secret",
        "/data/../../secret",
        "/proc/self/root/secret",
        "/proc/self/cwd/../secret",
    ];
    for way in ways {
        assert_eq!(open(&mut guest, way, 0), ENOENT, "{way}");
    }
    // Inside, the same ways lead to the world's own files.
    let fd = open(&mut guest, "/secret", O_RDWR | O_CREAT);
    guest.write(fd, b"inside");
    for way in ways {
        assert_eq!(text(&mut guest, way), "inside", "{way}");
    }
}

#[test]
fn standard_directories_exist_without_a_host() {
    let mut guest = Guest::new();
    for name in ["/tmp", "/dev", "/proc", "/sys", "/run", "/var/tmp", "/dev/shm", "/dev/null", "/proc/self/status"] {
        let name = path(&mut guest, name);
        assert_eq!(guest.call("access", &[name, 0]), 0);
    }
    let fd = open(&mut guest, "/tmp/file", O_RDWR | O_CREAT);
    assert_eq!(guest.write(fd, b"x"), 1);
}

#[test]
fn a_file_can_be_put_in_place_before_anything_runs() {
    let mut guest = guest();
    files::create_file(&mut guest.kernel, &mut guest.memory, b"/new/place/file", 0o600, b"given").expect("it fits");
    assert_eq!(text(&mut guest, "/new/place/file"), "given");
    files::create_file(&mut guest.kernel, &mut guest.memory, b"/data/hello", 0o600, b"replaced").expect("it fits");
    assert_eq!(text(&mut guest, "/data/hello"), "replaced");
}

#[test]
fn work_in_different_directories_commutes() {
    let make = |order: [&str; 2]| {
        let mut guest = guest();
        let first = guest.spawn();
        let second = guest.tid;
        // The paths are there before either order begins.
        let names = [path(&mut guest, "/tmp"), path(&mut guest, "/data/sub/new"), path(&mut guest, "/run/new")];
        for which in order {
            guest.tid = if which == "first" { first } else { second };
            let name = if which == "first" { names[1] } else { names[2] };
            assert_eq!(guest.call("mkdir", &[name, 0o755]), 0);
        }
        guest.kernel
    };
    assert_eq!(make(["first", "second"]), make(["second", "first"]));
}

#[test]
fn a_file_that_came_and_went_leaves_no_trace() {
    let mut guest = guest();
    let fd = open(&mut guest, "/tmp/file", O_RDWR | O_CREAT);
    guest.call("close", &[fd as u64]);
    one(&mut guest, "unlink", "/tmp/file");
    assert!(guest.kernel.files.directories.is_empty());
    let tmp = files::resolve(&guest.kernel, base::root(), b"/tmp", true).expect("it is there");
    assert_eq!(guest.kernel.files.inodes.keys().copied().collect::<Vec<_>>(), [tmp]);
    two(&mut guest, "rename", "/data/hello", "/data/there");
    two(&mut guest, "rename", "/data/there", "/data/hello");
    assert!(guest.kernel.files.directories.is_empty());
}
