//! Names that are nearly the one that was written.

/// `: did you mean ...?` if a name is close enough to be a slip, else nothing.
pub fn hint<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    closest(name, known).map_or_else(String::new, |name| format!(": did you mean `{name}`?"))
}

/// The known name that is closest, if a third of the letters or fewer differ.
fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.map(|other| (distance(name, other), other));
    let (slips, other) = near.min_by_key(|(slips, other)| (*slips, *other))?;
    (slips <= name.chars().count().div_ceil(3)).then_some(other)
}

/// How many letters must be added, removed or changed to get from one to the other.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, letter) in one.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, there) in other.iter().enumerate() {
            let changed = diagonal + usize::from(letter != *there);
            let least = changed.min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], least);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_the_name_and_another_word_finds_nothing() {
        let known = ["server", "client", "state"];
        let hint = |name| hint(name, known.into_iter());
        assert_eq!(hint("sevrer"), ": did you mean `server`?");
        assert_eq!(hint("stat"), ": did you mean `state`?");
        assert_eq!(hint("banana"), "");
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
