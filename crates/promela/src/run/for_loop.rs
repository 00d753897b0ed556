//! The statements that a `for` stands for, told apart: all of them have its head as their text.

use crate::ir::{Action, Assign, Expr, Place};

/// What a statement whose text is `head` does if a `for` stands for it: `i = 0`, `i <= 3`, `i++`.
pub fn part_of_for(head: &str, action: &Action) -> Option<String> {
    let inside = head.strip_prefix("for")?.trim_start().strip_prefix('(')?.trim_end().strip_suffix(')')?;
    let is_next = |assign: &Assign| matches!(&assign.value, Expr::Binary(_, left, _) if reads(left, &assign.place));
    if let Some((variable, range)) = inside.split_once(':') {
        let (variable, (from, to)) = (variable.trim(), range.split_once("..")?);
        return match action {
            Action::Condition(_) => Some(format!("{variable} <= {}", to.trim())),
            Action::Assign(assign) if is_next(assign) => Some(format!("{variable}++")),
            Action::Assign(_) => Some(format!("{variable} = {}", from.trim())),
            _ => None,
        };
    }
    let part = match action {
        Action::Condition(_) => "is there another",
        Action::Assign(assign) if is_next(assign) => "next",
        Action::Assign(_) => "first",
        Action::Receive(_) => "take it out",
        Action::Send(_) => "put it back",
        _ => return None,
    };
    Some(format!("{head}: {part}"))
}

fn reads(expr: &Expr, place: &Place) -> bool {
    matches!(expr, Expr::Load(read) if read.offset == place.offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Binary, Scalar, Space};

    #[test]
    fn the_statements_of_a_for_are_told_apart() {
        let place = Place { space: Space::Global, offset: 4, indices: Vec::new(), scalar: Scalar::Byte };
        let assign = |value| Action::Assign(Assign { place: place.clone(), value });
        let counted = Expr::Binary(Binary::Add, Box::new(Expr::Load(place.clone())), Box::new(Expr::Constant(1)));
        let cases = [
            ("for (i : 0 .. N-1)", assign(Expr::Constant(0)), Some("i = 0")),
            ("for (i : 0 .. N-1)", Action::Condition(Expr::Constant(1)), Some("i <= N-1")),
            ("for (i : 0 .. N-1)", assign(counted.clone()), Some("i++")),
            ("for (i in a)", assign(counted), Some("for (i in a): next")),
            ("forks = 2", assign(Expr::Constant(2)), None),
        ];
        for (head, action, expected) in cases {
            assert_eq!(part_of_for(head, &action).as_deref(), expected, "{head}");
        }
    }
}
