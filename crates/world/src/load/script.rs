//! Scripts: files that begin with `#!` and name their interpreter (`execve(2)`).

/// Linux reads no more of the first line.
const LINE_MAX: usize = 256;

/// The interpreter of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Script {
    /// Its path.
    pub interpreter: Vec<u8>,
    /// The one argument that may follow it.
    pub argument: Option<Vec<u8>>,
}

/// Reads the first line, if it begins with `#!` and names something.
#[must_use]
pub fn parse(file: &[u8]) -> Option<Script> {
    let line = &file.strip_prefix(b"#!")?[..file.len().min(LINE_MAX) - 2];
    let line = line.split(|byte| *byte == b'\n').next()?.trim_ascii();
    let end = line.iter().position(|byte| byte.is_ascii_whitespace() || *byte == 0).unwrap_or(line.len());
    let (interpreter, rest) = line.split_at(end);
    let rest = rest.trim_ascii();
    let argument = (!rest.is_empty()).then(|| rest.to_vec());
    (!interpreter.is_empty()).then(|| Script { interpreter: interpreter.to_vec(), argument })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, expected: Option<(&str, Option<&str>)>) {
        let script = parse(file.as_bytes());
        let found = script.as_ref().map(|script| {
            let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).unwrap();
            (text(&script.interpreter), script.argument.as_ref().map(text))
        });
        assert_eq!(found, expected.map(|(path, argument)| (path.to_owned(), argument.map(str::to_owned))), "{file:?}");
    }

    #[test]
    fn the_first_line_names_interpreter_and_one_argument() {
        check("#!/bin/sh\necho", Some(("/bin/sh", None)));
        check("#! /usr/bin/env  python3 -u \n", Some(("/usr/bin/env", Some("python3 -u"))));
        check("#!/bin/sh", Some(("/bin/sh", None)));
        check("#!\n/bin/sh", None);
        check("#!", None);
        check("", None);
        check("echo", None);
    }
}
