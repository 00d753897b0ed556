//! A guest sees only what was declared, changes nothing of the host, reaches nobody on it, and cannot exhaust it.

use crate::inside;
use memory::Limit;
use std::collections::BTreeMap;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use world::run::End;

const SECRET: &str = "nobody inside may read this";

/// A declared folder beside one that is not, with links from the one to the other.
struct Sides {
    declared: PathBuf,
    other: PathBuf,
}

fn sides(name: &str) -> Sides {
    let around = inside::folder(name);
    let sides = Sides { declared: around.join("declared"), other: around.join("other") };
    std::fs::create_dir_all(sides.declared.join("below")).expect("a folder can be made");
    std::fs::create_dir_all(&sides.other).expect("a folder can be made");
    std::fs::write(sides.other.join("secret"), SECRET).expect("the folder takes files");
    std::fs::write(sides.declared.join("open"), "this may be read\n").expect("the folder takes files");
    symlink("../other/secret", sides.declared.join("relative")).expect("links can be made");
    symlink(sides.other.join("secret"), sides.declared.join("absolute")).expect("links can be made");
    symlink(&sides.other, sides.declared.join("folder")).expect("links can be made");
    symlink("below/../../other", sides.declared.join("crooked")).expect("links can be made");
    sides
}

fn shell(script: &str, directory: &Path) -> inside::Seen {
    inside::inside(&["/bin/dash", "-c", script], directory)
}

/// Ways to name a file that is not declared, each as words of a shell.
const WAYS: &[&str] = &[
    "cat $OTHER/secret",
    "cat ../other/secret",
    "cat below/../../other/secret",
    "cat relative absolute folder/secret crooked/secret",
    "cat /proc/self/root/$OTHER/secret /proc/1/root/$OTHER/secret /proc/$$/root/$OTHER/secret",
    "cat /proc/self/cwd/../other/secret /proc/$HOST_PID/cwd/../other/secret /proc/$HOST_PID/root/$OTHER/secret",
    "exec 3< .; cat /proc/self/fd/3/../other/secret /dev/fd/3/relative",
    "exec 3< relative",
    "cd folder && cat secret",
    "cd -P ../other && cat secret",
    "ln $OTHER/secret mine && cat mine",
    "ln relative mine && cat mine",
    "ln -L relative mine && cat mine",
    "mv ../other mine && cat mine/secret",
    "cp -r ../other mine && cat mine/secret",
    "ln -s ../other/secret mine; cat mine",
    "mkdir here; mount --bind $OTHER here; cat here/secret",
    "chroot /proc/1/root cat $OTHER/secret",
    "find / -name secret -exec cat {} + ",
    "ls -laR .. | grep secret; cat ../*/secret",
    "tar -C $OTHER -cf - . | tar -xOf -",
    "cat /proc/$HOST_PID/environ /proc/$HOST_PID/cmdline /proc/$HOST_PID/maps",
    "grep -r 'nobody inside' / --include=secret",
];

#[test]
fn what_is_not_declared_cannot_be_read() {
    let sides = sides("contained-read");
    let places = format!("OTHER={}; HOST_PID={};", sides.other.display(), std::process::id());
    for way in WAYS {
        // Some of them are refused: also an answer.
        let script = format!("{places} {way}");
        let (_, seen) =
            inside::run_in(&mut inside::world(&sides.declared), &["/bin/dash", "-c", &script], &sides.declared);
        let shown = format!("{}{}", String::from_utf8_lossy(&seen.output), String::from_utf8_lossy(&seen.errors));
        assert!(!shown.contains("nobody inside"), "`{way}` shows the secret: {shown}");
    }
    assert_eq!(shell("cat open; cat below/../open", &sides.declared).output, b"this may be read\nthis may be read\n");
}

#[test]
fn the_hosts_devices_and_environment_are_not_there() {
    let folder = inside::folder("contained-devices");
    let seen = shell("env | sort", &folder);
    let mut expected: Vec<String> =
        inside::ENVIRONMENT.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
    expected.push(format!("PWD={}\n", folder.display()));
    expected.sort();
    assert_eq!(String::from_utf8_lossy(&seen.output), expected.concat());
    for device in
        ["/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/kvm", "/proc/kcore", "/proc/kmsg", "/dev/input"]
    {
        let seen = shell(&format!("test -e {device}"), &folder);
        assert_eq!(seen.code, 1, "{device} is there");
    }
}

/// Mode, inode, links, time of the last change, content.
type About = (u32, u64, u64, i64, i64, Vec<u8>);

/// Everything that can be seen of a folder on the host.
fn tree(folder: &Path) -> BTreeMap<PathBuf, About> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let metadata = std::fs::symlink_metadata(&path).expect("it is there");
        let content = if metadata.is_file() { std::fs::read(&path).expect("it is readable") } else { Vec::new() };
        if metadata.is_dir() {
            open.extend(std::fs::read_dir(&path).expect("it is a folder").flatten().map(|entry| entry.path()));
        }
        let about =
            (metadata.mode(), metadata.ino(), metadata.nlink(), metadata.mtime(), metadata.mtime_nsec(), content);
        found.insert(path, about);
    }
    found
}

#[test]
fn nothing_of_the_host_is_changed() {
    let sides = sides("contained-write");
    let around = sides.declared.parent().expect("it has a folder");
    let mark = format!("allways-contained-{}", std::process::id());
    let before = tree(around);
    let script = format!(
        "echo changed > open; cat open; echo more >> open; truncate -s 3 open; chmod 000 open; touch -d @5 open; \
         mkdir new; mv open new/moved; ln new/moved twice; rm -r below; ln -sf x relative; rm absolute; mkfifo pipe; \
         echo x > ../other/secret; echo x > absolute; echo x > folder/new; mkdir {other}/new; rm -rf ..; \
         echo x > /etc/{mark}; echo x > /usr/{mark}; echo x > /tmp/{mark}; rm -f /usr/bin/env; cat /tmp/{mark}; \
         dd if=/dev/zero of=/usr/bin/true bs=1 count=1 conv=notrunc 2> /dev/null; cp /bin/cat /usr/bin/{mark}; \
         python3 -c 'import mmap; f = open(\"/etc/hostname\", \"r+b\"); m = mmap.mmap(f.fileno(), 0); m[0] = 33; m.flush(); print(open(\"/etc/hostname\").read()[0])'; \
         sync; test -e /usr/bin/env; echo $?",
        other = sides.other.display()
    );
    let system: Vec<PathBuf> = ["/usr/bin/env", "/usr/bin/true", "/etc/hostname"].iter().map(PathBuf::from).collect();
    let of_system = |paths: &[PathBuf]| paths.iter().map(|path| std::fs::read(path).ok()).collect::<Vec<_>>();
    let system_before = of_system(&system);
    let seen = shell(&script, &sides.declared);
    assert_eq!(String::from_utf8_lossy(&seen.output), "changed\nx\n!\n1\n", "the guest sees its own changes: {seen:?}");
    assert_eq!(tree(around), before);
    assert!(of_system(&system) == system_before, "files of the system were changed");
    for folder in ["/etc", "/usr", "/tmp", "/usr/bin"] {
        assert!(!Path::new(folder).join(&mark).exists(), "a file appeared in {folder}");
    }
}

#[test]
fn nobody_on_the_host_is_reached() {
    let folder = inside::folder("contained-net");
    let stream = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let datagrams = UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    let local = UnixListener::bind(folder.join("socket")).expect("a socket can be made");
    stream.set_nonblocking(true).expect("it can");
    datagrams.set_nonblocking(true).expect("it can");
    local.set_nonblocking(true).expect("it can");
    let script = format!(
        "import socket
def attempt(kind, address):
    s = socket.socket(*kind)
    s.settimeout(5)
    try:
        s.connect(address); s.send(b'hello'); return 'sent'
    except OSError as error:
        return type(error).__name__
print(attempt((socket.AF_INET, socket.SOCK_STREAM), ('127.0.0.1', {stream})))
print(attempt((socket.AF_UNIX, socket.SOCK_STREAM), 'socket'))
attempt((socket.AF_INET, socket.SOCK_DGRAM), ('127.0.0.1', {datagrams}))
",
        stream = stream.local_addr().expect("it is bound").port(),
        datagrams = datagrams.local_addr().expect("it is bound").port()
    );
    let seen = inside::inside(&["/usr/bin/python3", "-c", &script], &folder);
    assert_eq!(String::from_utf8_lossy(&seen.output), "ConnectionRefusedError\nFileNotFoundError\n", "{seen:?}");
    assert!(stream.accept().is_err(), "the host's stream socket was reached");
    assert!(local.accept().is_err(), "the host's unix socket was reached");
    assert!(datagrams.recv(&mut [0; 8]).is_err(), "the host's datagram socket was reached");
}

/// Runs a script with little memory; the message with which the run ended, or what the guest said itself.
fn with_little_memory(name: &str, arguments: &[&str]) -> String {
    let folder = inside::folder(name);
    let mut world = inside::world(&folder);
    world.memory = memory::Memory::new(Limit::bytes(64 << 20));
    match inside::run_in(&mut world, arguments, &folder) {
        (End::Refused(refusal), _) => refusal.to_string(),
        (_, seen) => format!("{seen:?}"),
    }
}

#[test]
fn memory_without_end_ends_with_a_message() {
    let told = with_little_memory("contained-heap", &["/usr/bin/perl", "-e", "$x .= 'x' x 1000000 while 1"]);
    assert!(told.contains("memory limit") || told.contains("Out of memory"), "{told}");
}

#[test]
fn files_without_end_fill_a_disk_of_finite_size() {
    let told = with_little_memory("contained-disk", &["/bin/dash", "-c", "cat /dev/zero > file; wc -c < file"]);
    assert!(told.contains("No space left on device") || told.contains("memory limit"), "{told}");
}

#[test]
fn processes_without_end_end_with_a_message() {
    let told = with_little_memory(
        "contained-fork",
        &["/usr/bin/perl", "-e", "while (1) { defined fork or die \"fork: $!\" }"],
    );
    assert!(told.contains("memory limit") || told.contains("fork: "), "{told}");
}
