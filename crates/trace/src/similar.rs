//! Names that are nearly the one that was written: "did you mean".

/// `: did you mean ...?` if a name is close enough to be a slip, else nothing.
#[must_use]
pub fn hint<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    closest(name, known).map_or_else(String::new, |near| format!(": did you mean `{near}`?"))
}

/// The known name with the fewest slips, if there is one slip or fewer in every three letters.
///
/// Any two names of one or two letters are near each other, which says nothing: those have no closest one.
#[must_use]
pub fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let slips_max = name.chars().count() / 3;
    let near = known.into_iter().map(|other| (slips(name, other), other));
    near.filter(|(slips, _)| *slips <= slips_max).min().map(|(_, other)| other)
}

/// How many slips lead from one name to the other; two letters the wrong way round are one.
fn slips(one: &str, other: &str) -> usize {
    if is_swap(one, other) { 1 } else { distance(one, other) }
}

/// Whether two words differ in the order of two neighbours only.
fn is_swap(one: &str, other: &str) -> bool {
    let pairs = one.chars().zip(other.chars()).enumerate();
    let differ: Vec<(usize, (char, char))> = pairs.filter(|(_, (left, right))| left != right).collect();
    match differ[..] {
        [(first, (a, b)), (second, (c, d))] => one.len() == other.len() && second == first + 1 && (a, b) == (d, c),
        _ => false,
    }
}

/// Levenshtein's distance: letters to add, remove or change.
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
        let known = ["server", "client", "state", "ncrit"];
        let table = [
            ("sevrer", Some("server")),
            ("stat", Some("state")),
            ("clientt", Some("client")),
            ("banana", None),
            ("critical", None),
            ("", None),
        ];
        for (name, meant) in table {
            assert_eq!(closest(name, known), meant, "{name}");
        }
        assert_eq!(hint("sevrer", known), ": did you mean `server`?");
        assert_eq!(hint("banana", known), "");
    }

    #[test]
    fn short_names_have_no_closest_one() {
        assert_eq!(closest("i", ["x"]), None);
        assert_eq!(closest("rd", ["fd"]), None);
        assert_eq!(closest("los", ["loss"]), Some("loss"));
    }

    #[test]
    fn of_two_that_are_as_near_the_order_of_the_alphabet_decides() {
        assert_eq!(closest("tun", ["turn", "tune"]), Some("tune"));
        assert_eq!(closest("tun", ["tune", "turn"]), Some("tune"));
    }

    #[test]
    fn slips_are_counted_in_letters() {
        assert_eq!(slips("kitten", "sitting"), 3);
        assert_eq!(slips("agian", "again"), 1);
        assert_eq!(slips("grün", "grin"), 1);
    }
}
