//! Source files by the names that a dashboard knows: relative to the root of the repository.

/// Where a check ran, and what paths are told relative to.
///
/// A compiler writes absolute names into debug information, and a model is named as the user did; a dashboard knows neither.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Paths {
    /// The folder of the check, absolute; empty if files are to be named as they are.
    pub here: String,
    /// The folder that names are relative to, absolute.
    pub root: String,
}

impl Paths {
    /// The name of a file below the root; its absolute name if it lies elsewhere.
    pub(crate) fn relative(&self, file: &str) -> String {
        if self.here.is_empty() {
            return file.to_owned();
        }
        let absolute = if file.starts_with('/') { plain(file) } else { plain(&format!("{}/{file}", self.here)) };
        let below = absolute.strip_prefix(&plain(&self.root)).and_then(|rest| rest.strip_prefix('/'));
        below.map_or(absolute.clone(), str::to_owned)
    }
}

/// The same path without `.`, `..` and doubled slashes. Links are not looked at: this is about names.
fn plain(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    parts.iter().map(|part| format!("/{part}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_from_the_root_of_the_repository() {
        let paths = Paths { here: "/repo/models".to_owned(), root: "/repo/".to_owned() };
        let table = [
            ("bank.pml", "models/bank.pml"),
            ("./bank.pml", "models/bank.pml"),
            ("../src/bank.c", "src/bank.c"),
            ("/repo/src//bank.c", "src/bank.c"),
            ("/usr/include/stdio.h", "/usr/include/stdio.h"),
            ("/repository/a.c", "/repository/a.c"),
            ("../../../../etc/passwd", "/etc/passwd"),
        ];
        for (file, meant) in table {
            assert_eq!(paths.relative(file), meant);
        }
        assert_eq!(Paths::default().relative("../a.c"), "../a.c");
    }

    #[test]
    fn everything_is_below_the_root_of_the_machine() {
        let paths = Paths { here: "/a".to_owned(), root: "/".to_owned() };
        assert_eq!(paths.relative("b.c"), "a/b.c");
    }
}
