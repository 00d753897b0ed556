//! The bits of `open(2)` and `poll(2)`.

/// `open(2)`: the bits that tell reading from writing.
pub const O_ACCMODE: u32 = 0o3;
/// Reading only.
pub const O_RDONLY: u32 = 0o0;
/// Writing only.
pub const O_WRONLY: u32 = 0o1;
/// Both.
pub const O_RDWR: u32 = 0o2;
/// Create if it does not exist.
pub const O_CREAT: u32 = 0o100;
/// Fail if it exists.
pub const O_EXCL: u32 = 0o200;
/// Do not become the controlling terminal.
pub const O_NOCTTY: u32 = 0o400;
/// Empty the file.
pub const O_TRUNC: u32 = 0o1000;
/// Write at the end.
pub const O_APPEND: u32 = 0o2000;
/// Never wait.
pub const O_NONBLOCK: u32 = 0o4000;
/// Synchronised data.
pub const O_DSYNC: u32 = 0o10000;
/// `SIGIO` when something can be read or written.
pub const O_ASYNC: u32 = 0o20000;
/// Past the page cache; for pipes: packets.
pub const O_DIRECT: u32 = 0o40000;
/// Large files, always on with 64 bits.
pub const O_LARGEFILE: u32 = 0o100_000;
/// Only a directory will do.
pub const O_DIRECTORY: u32 = 0o200_000;
/// Do not follow a symbolic link at the end.
pub const O_NOFOLLOW: u32 = 0o400_000;
/// Do not note that the file was read.
pub const O_NOATIME: u32 = 0o1_000_000;
/// Close when a program is executed.
pub const O_CLOEXEC: u32 = 0o2_000_000;
/// Synchronised data and metadata.
pub const O_SYNC: u32 = 0o4_010_000;
/// A place in the tree, not its content.
pub const O_PATH: u32 = 0o10_000_000;
/// A file without name.
pub const O_TMPFILE: u32 = 0o20_200_000;

/// `poll(2)`: there is something to read.
pub const POLLIN: u16 = 0x001;
/// Something urgent to read.
pub const POLLPRI: u16 = 0x002;
/// There is room to write.
pub const POLLOUT: u16 = 0x004;
/// An error.
pub const POLLERR: u16 = 0x008;
/// The other side is gone.
pub const POLLHUP: u16 = 0x010;
/// Not open.
pub const POLLNVAL: u16 = 0x020;
/// As [`POLLIN`], for normal data.
pub const POLLRDNORM: u16 = 0x040;
/// As [`POLLOUT`], for normal data.
pub const POLLWRNORM: u16 = 0x100;
/// The other side will send no more.
pub const POLLRDHUP: u16 = 0x2000;
