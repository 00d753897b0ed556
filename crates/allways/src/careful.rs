//! Files that somebody else may have prepared: nothing endless is read, and no link is followed when something is written.
//!
//! A counterexample's folder may be in a directory that others can write to (a shared checkout,
//! `/tmp`). Names are opened without following links, files are made anew and renamed into place:
//! rename(2) is atomic, so a reader sees the old file or the new one, never half of one.

use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// `open(2)`: does not wait for the other end of a FIFO.
const O_NONBLOCK: i32 = 0o4_000;
/// `open(2)`: the last component is no symbolic link.
const O_NOFOLLOW: i32 = 0o400_000;

/// Bytes of a source file that is shown in part.
const SOURCE_MAX: u64 = 16 << 20;

/// Opens a regular file; a device or a FIFO may never end.
pub fn open_regular(path: &Path) -> Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(O_NONBLOCK).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(Error::new(ErrorKind::InvalidInput, "not a regular file")) }
}

/// The text of a source file, if it is a regular one of usual size.
pub fn source(path: &Path) -> Result<String> {
    let mut text = String::new();
    open_regular(path)?.take(SOURCE_MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// Bytes of standard input for programs.
const INPUT_MAX: u64 = 16 << 20;

/// What programs are given as their standard input: the bytes of a file or FIFO, or our own standard input for `-`.
pub fn input(path: &Path) -> Result<Vec<u8>> {
    match path == Path::new("-") {
        true => bounded(std::io::stdin().lock()),
        false => bounded(File::open(path)?),
    }
}

/// All bytes there are, unless they are too many.
fn bounded(from: impl Read) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(INPUT_MAX + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > INPUT_MAX {
        true => Err(Error::new(ErrorKind::InvalidInput, format!("longer than {} MiB", INPUT_MAX >> 20))),
        false => Ok(bytes),
    }
}

/// Writes a whole file, or nothing: a file or link that is there under this name is replaced, never written through.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    replace_as(path, &std::process::id().to_string(), &mut |file| file.write_all(bytes))
}

/// The same for what is written piece by piece and has to outlast a power failure: the new file is on the disk before it takes
/// the place of the old one.
pub fn replace_by(path: &Path, write: &mut dyn FnMut(&mut File) -> Result<()>) -> Result<()> {
    let mark = std::process::id().to_string();
    replace_as(path, &mark, &mut |file| write(file).and_then(|()| file.sync_all()))?;
    // Where folders cannot be synchronised the name may be that of the old file for a while, which is whole.
    let _ = File::open(folder_of(path)).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Removes what processes have left behind that were killed while they wrote a file: it may be large.
pub fn remove_left_behind(path: &Path) {
    let (Some(name), Ok(there)) = (path.file_name(), fs::read_dir(folder_of(path))) else { return };
    let prefix = [name.as_encoded_bytes(), b"."].concat();
    for entry in there.flatten() {
        let own = entry.file_name();
        let number = own.as_encoded_bytes().strip_prefix(&prefix[..]).and_then(|rest| rest.strip_suffix(b".new"));
        let number = number.and_then(|number| std::str::from_utf8(number).ok()?.parse::<u32>().ok());
        if number.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn replace_as(path: &Path, mark: &str, write: &mut dyn FnMut(&mut File) -> Result<()>) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{mark}.new"));
    let new = path.with_file_name(name);
    // Left behind by one that was killed, or put there by somebody else: removed, not followed.
    let _ = fs::remove_file(&new);
    let options = OpenOptions::new().write(true).create_new(true).custom_flags(O_NOFOLLOW).open(&new);
    let written = options.and_then(|mut file| write(&mut file)).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

/// Writes a whole file that the user has named. Folders above it are made; only a regular file is replaced, so neither a link
/// is followed nor `/dev/null` lost.
pub fn deliver(path: &Path, bytes: &[u8]) -> Result<()> {
    may_be_replaced(path).map_err(|why| Error::new(ErrorKind::InvalidInput, why))?;
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    replace(path, bytes)
}

/// Whether there is something under a name, which can only be a regular file.
///
/// # Errors
/// If it is something else, and what.
pub fn may_be_replaced(path: &Path) -> std::result::Result<bool, &'static str> {
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => Err("it is a folder"),
        Ok(there) if there.is_symlink() => Err("it is a link, which is not followed"),
        Ok(there) if !there.is_file() => Err("it is not a regular file"),
        _ if path.file_name().is_none() => Err("it names no file"),
        there => Ok(there.is_ok()),
    }
}

/// Makes a folder unless it is there; a link to one elsewhere is refused.
pub fn folder(path: &Path) -> Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => real_folder(path),
        made => made,
    }
}

/// Whether something is a folder itself, and no link to one.
pub fn real_folder(path: &Path) -> Result<()> {
    if fs::symlink_metadata(path)?.is_dir() {
        return Ok(());
    }
    Err(Error::new(ErrorKind::NotADirectory, format!("`{}` is not a folder; a link is not followed", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn place(name: &str) -> std::path::PathBuf {
        let place = std::env::temp_dir().join(format!("allways-careful-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        fs::create_dir(&place).expect("can be made");
        place
    }

    #[test]
    fn what_a_link_leads_to_is_not_written() {
        let place = place("link");
        let (victim, link) = (place.join("victim"), place.join("latest"));
        fs::write(&victim, "precious").expect("can be written");
        symlink(&victim, &link).expect("can be made");
        replace(&link, b"new").expect("can be replaced");
        assert_eq!(fs::read_to_string(&victim).expect("still there"), "precious");
        assert_eq!(fs::read_to_string(&link).expect("is there"), "new");
        assert!(fs::symlink_metadata(&link).expect("is there").is_file());
        fs::remove_dir_all(place).expect("cleans up");
    }

    #[test]
    fn a_report_replaces_a_file_and_nothing_else() {
        let place = place("deliver");
        let path = place.join("deep/er/report.xml");
        deliver(&path, b"one").and_then(|()| deliver(&path, b"two")).expect("can be written");
        assert_eq!(fs::read_to_string(&path).expect("is there"), "two");
        let link = place.join("link");
        symlink(&path, &link).expect("can be made");
        for (path, why) in [
            (link.as_path(), "a link"),
            (Path::new("/dev/null"), "not a regular file"),
            (&place, "a folder"),
            (Path::new("/"), "a folder"),
            (Path::new(".."), "a folder"),
        ] {
            let error = deliver(path, b"three").expect_err("refused").to_string();
            assert!(error.contains(why), "{}: {error}", path.display());
        }
        assert_eq!(fs::read_to_string(&path).expect("is there"), "two");
        fs::remove_dir_all(place).expect("cleans up");
    }

    #[test]
    fn a_folder_that_is_a_link_is_refused() {
        let place = place("folder");
        symlink("/", place.join("elsewhere")).expect("can be made");
        assert!(folder(&place.join("elsewhere")).is_err_and(|error| error.to_string().contains("elsewhere")));
        assert!(folder(&place.join("own")).is_ok() && folder(&place.join("own")).is_ok());
        fs::remove_dir_all(place).expect("cleans up");
    }

    #[test]
    fn only_regular_files_are_read() {
        assert!(open_regular(Path::new("/dev/zero")).is_err());
        assert!(source(Path::new("/dev/zero")).is_err());
        assert!(open_regular(&std::env::current_exe().expect("has a path")).is_ok());
    }
}
