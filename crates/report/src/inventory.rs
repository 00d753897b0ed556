//! What a state of programs holds, in words: groups of names and what is said of each.

use crate::events::bytes_text;
use trace::{
    ChannelState, Ending, FileContent, FileState, Inventory, LockState, OpenDescriptor, OpenFile, SocketState,
    ThreadRef, ThreadState,
};

/// A group, as a page shows it: its title, and what is in it.
pub type Group = (&'static str, Vec<(String, String)>);

/// The groups of an inventory that have something in them, what people ask for most first.
#[must_use]
pub fn inventory_groups(all: &Inventory) -> Vec<Group> {
    let groups: [Group; 5] = [
        ("Threads", all.threads.iter().map(thread).collect()),
        ("Locks", all.locks.iter().map(lock).collect()),
        ("In flight", all.channels.iter().map(channel).collect()),
        ("Descriptors", all.descriptors.iter().map(descriptor).collect()),
        ("Changed files", all.files.iter().map(file).collect()),
    ];
    groups.into_iter().filter(|(_, entries)| !entries.is_empty()).collect()
}

/// A thread with its stack, a function on each line.
fn thread(state: &ThreadState) -> (String, String) {
    let text = match &state.ending {
        Some(Ending::Exited(code)) => format!("has ended: exit code {code}; nobody has waited for it"),
        Some(Ending::Killed(signal)) => format!("was killed: {signal}; nobody has waited for it"),
        Some(Ending::Ended) => "has ended".to_owned(),
        None => state.stack.join("\n"),
    };
    (state.thread.name.clone(), text)
}

fn lock(state: &LockState) -> (String, String) {
    let holder = match &state.holder {
        Some(holder) => format!("held by {}", holder.name),
        None => "free".to_owned(),
    };
    let since = state.since.map(|step| format!(" since step {step}")).unwrap_or_default();
    let waiters: Vec<&str> = state.waiters.iter().map(|ThreadRef { name, .. }| name.as_str()).collect();
    let waits = match waiters.len() {
        0 => String::new(),
        1 => format!("; {} waits for it", waiters[0]),
        _ => format!("; {} wait for it", waiters.join(", ")),
    };
    (state.name.clone(), format!("{holder}{since}{waits}"))
}

/// A channel is known by who can receive from it.
fn channel(state: &ChannelState) -> (String, String) {
    let name = match &state.receiver {
        Some((process, fd)) => format!("to {process}, fd {fd}"),
        None => "to a connection that was not accepted".to_owned(),
    };
    let packets: Vec<String> = state.packets.iter().map(bytes_text).collect();
    (name, packets.join(", "))
}

fn descriptor(open: &OpenDescriptor) -> (String, String) {
    let text = match &open.file {
        OpenFile::File { path, offset: 0 } => path.clone(),
        OpenFile::File { path, offset } => format!("{path}, at byte {offset}"),
        OpenFile::Pipe { is_reader, number } => {
            format!("{} pipe {number}", if *is_reader { "reads" } else { "writes" })
        }
        OpenFile::Socket(socket) => socket_text(socket),
        OpenFile::Other(name) => name.clone(),
    };
    (format!("{} {}", open.process, open.number), text)
}

fn socket_text(socket: &SocketState) -> String {
    let local = socket.local.as_deref().unwrap_or("no address");
    match (&socket.remote, socket.backlog) {
        (_, Some(0)) => format!("{} {local}, listens", socket.kind),
        (_, Some(1)) => format!("{} {local}, listens, 1 connection not accepted yet", socket.kind),
        (_, Some(count)) => format!("{} {local}, listens, {count} connections not accepted yet", socket.kind),
        (Some(remote), None) => format!("{} {local} to {remote}", socket.kind),
        (None, None) => format!("{} {local}", socket.kind),
    }
}

fn file(state: &FileState) -> (String, String) {
    let text = match &state.content {
        FileContent::Removed => "removed".to_owned(),
        FileContent::Regular(bytes) if bytes.start.is_some() => {
            format!("{}, {}", crate::number::bytes(bytes.length), bytes_text(bytes))
        }
        FileContent::Regular(bytes) => crate::number::bytes(bytes.length),
        FileContent::Directory => "a directory".to_owned(),
        FileContent::Link(target) => format!("a link to {target}"),
        FileContent::Special => "a FIFO, socket or device".to_owned(),
    };
    (state.path.clone(), text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::Bytes;

    fn named(actor: u32, name: &str) -> ThreadRef {
        ThreadRef { actor, name: name.to_owned() }
    }

    #[test]
    fn a_lock_names_its_holder_and_who_waits() {
        let told = |waiters: Vec<ThreadRef>| {
            lock(&LockState { name: "m".to_owned(), holder: Some(named(1, "T1")), since: Some(4), waiters }).1
        };
        assert_eq!(told(Vec::new()), "held by T1 since step 4");
        assert_eq!(told(vec![named(2, "T2")]), "held by T1 since step 4; T2 waits for it");
        assert_eq!(told(vec![named(2, "T2"), named(3, "T3")]), "held by T1 since step 4; T2, T3 wait for it");
    }

    #[test]
    fn a_descriptor_says_what_it_refers_to() {
        let told = |file| descriptor(&OpenDescriptor { process: "server".to_owned(), number: 3, file });
        let socket = |remote: Option<&str>, backlog| {
            let (local, remote) = (Some("127.0.0.1:7000".to_owned()), remote.map(str::to_owned));
            OpenFile::Socket(SocketState { kind: "TCP", local, remote, backlog })
        };
        let listens = told(socket(None, Some(1)));
        assert_eq!(listens.0, "server 3");
        assert_eq!(listens.1, "TCP 127.0.0.1:7000, listens, 1 connection not accepted yet");
        assert_eq!(told(socket(Some("127.0.0.1:40001"), None)).1, "TCP 127.0.0.1:7000 to 127.0.0.1:40001");
        assert_eq!(told(OpenFile::File { path: "log".to_owned(), offset: 7 }).1, "log, at byte 7");
    }

    #[test]
    fn empty_groups_are_not_shown() {
        let packets = vec![Bytes::beginning_with(b"hi\n", 3), Bytes::unreadable(2)];
        let channels = vec![ChannelState { receiver: Some(("client".to_owned(), 3)), packets }];
        let groups = inventory_groups(&Inventory { channels, ..Inventory::default() });
        let expected = ("to client, fd 3".to_owned(), "\"hi\\n\", 2 bytes".to_owned());
        assert_eq!(groups, vec![("In flight", vec![expected])]);
    }
}
