//! What we and a supervisor say to each other: one byte, a number, perhaps a text, perhaps a descriptor.

use crate::host::sys::checked;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// The longest message.
const LENGTH_MAX: usize = 4096;
/// Room for what comes beside the bytes: a descriptor, and who sent it.
const BESIDE: usize = 128;

/// What is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tag {
    /// Supervisor: the program is about to be executed. The number says what it is kept by; a diagnosis socket comes with it.
    Ready = b'R' as isize,
    /// Supervisor: the program cannot be started; the text says why.
    Failed = b'F' as isize,
    /// Supervisor: the program has ended; the number is its status.
    Ended = b'E' as isize,
    /// To the supervisor: open a socket that reaches the program. From it: here it is.
    Socket = b'S' as isize,
    /// To the supervisor: what is at the path of the Unix socket? From it: a descriptor that leads there; none, if it is not there.
    Target = b'D' as isize,
    /// Supervisor: here is who listens on the port that a client connects to.
    Port = b'P' as isize,
    /// To the supervisor: who sleeps? From it: the text says who.
    Sleepers = b'Z' as isize,
    /// To the supervisor: end the sleep of a thread, as if no time had passed. From it: done.
    Wake = b'W' as isize,
    /// As `Wake`, and it is later then.
    WakeLater = b'T' as isize,
    /// From a process that is about to become the program: the descriptor on which its questions are read; none, if
    /// the system has no such thing.
    Listener = b'L' as isize,
}

const TAGS: [Tag; 10] = [
    Tag::Ready,
    Tag::Failed,
    Tag::Ended,
    Tag::Socket,
    Tag::Target,
    Tag::Port,
    Tag::Sleepers,
    Tag::Wake,
    Tag::WakeLater,
    Tag::Listener,
];

/// Something that was said.
#[derive(Debug)]
pub(crate) struct Message {
    pub tag: Tag,
    pub number: i32,
    pub text: String,
    pub fd: Option<OwnedFd>,
    /// Who said it, as we number processes; 0 if it is not known.
    pub sender: i32,
}

/// Says something.
pub(crate) fn say(to: RawFd, tag: Tag, number: i32, text: &str, fd: Option<RawFd>) -> io::Result<()> {
    let mut bytes = vec![tag as u8];
    bytes.extend(number.to_le_bytes());
    bytes.extend(text.bytes().take(LENGTH_MAX - 5));
    let mut beside = [0u64; BESIDE / 8];
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: plain data; pointers and lengths are set below.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    (header.msg_iov, header.msg_iovlen) = (&mut part, 1);
    if let Some(fd) = fd {
        header.msg_control = beside.as_mut_ptr().cast();
        // SAFETY: computes a size.
        header.msg_controllen = unsafe { libc::CMSG_SPACE(size_of::<RawFd>() as u32) } as usize;
        // SAFETY: there is room for one header and one descriptor, aligned for both.
        unsafe {
            let first = libc::CMSG_FIRSTHDR(&header);
            (*first).cmsg_level = libc::SOL_SOCKET;
            (*first).cmsg_type = libc::SCM_RIGHTS;
            (*first).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as usize;
            libc::CMSG_DATA(first).cast::<RawFd>().write_unaligned(fd);
        }
    }
    // SAFETY: all that the header points to lives as long as the call.
    checked(unsafe { libc::sendmsg(to, &header, libc::MSG_NOSIGNAL) } as i64).map(drop)
}

/// Hears something; nothing if the other side is gone.
pub(crate) fn hear(from: &OwnedFd, flags: i32) -> io::Result<Option<Message>> {
    let (mut bytes, mut beside) = ([0u8; LENGTH_MAX], [0u64; BESIDE / 8]);
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: plain data; pointers and lengths are set below.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    (header.msg_iov, header.msg_iovlen) = (&mut part, 1);
    (header.msg_control, header.msg_controllen) = (beside.as_mut_ptr().cast(), BESIDE);
    // SAFETY: all that the header points to lives as long as the call.
    let got = checked(unsafe { libc::recvmsg(from.as_raw_fd(), &mut header, flags | libc::MSG_CMSG_CLOEXEC) } as i64)?;
    let (fd, sender) = beside_of(&header);
    let known = TAGS.into_iter().find(|tag| *tag as u8 == bytes[0]);
    let Some(tag) = known.filter(|_| got >= 5) else { return Ok(None) };
    let number = i32::from_le_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]);
    let text = String::from_utf8_lossy(&bytes[5..got as usize]).into_owned();
    Ok(Some(Message { tag, number, text, fd, sender }))
}

/// What came beside the bytes: a descriptor, and the process that sent them.
fn beside_of(header: &libc::msghdr) -> (Option<OwnedFd>, i32) {
    let (mut found, mut sender) = (None, 0);
    // SAFETY: the kernel filled these headers, and their lengths say how far they go.
    unsafe {
        let mut next = libc::CMSG_FIRSTHDR(header);
        while let Some(one) = next.as_ref() {
            let data = libc::CMSG_DATA(next);
            match (one.cmsg_level, one.cmsg_type) {
                (libc::SOL_SOCKET, libc::SCM_RIGHTS) => {
                    found = Some(OwnedFd::from_raw_fd(data.cast::<RawFd>().read_unaligned()));
                }
                (libc::SOL_SOCKET, libc::SCM_CREDENTIALS) => sender = data.cast::<libc::ucred>().read_unaligned().pid,
                _ => {}
            }
            next = libc::CMSG_NXTHDR(header, next);
        }
    }
    (found, sender)
}
