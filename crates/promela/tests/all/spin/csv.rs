//! Tables with a heading and, where need be, quoted cells.

use std::collections::BTreeMap;
use std::path::Path;

/// A row: cells by the name of their column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row(BTreeMap<String, String>);

impl Row {
    /// A cell; the column must exist.
    pub fn get(&self, column: &str) -> &str {
        self.0.get(column).unwrap_or_else(|| panic!("no column `{column}`"))
    }

    /// A cell with a number in it.
    pub fn number(&self, column: &str) -> Option<u64> {
        self.get(column).parse().ok()
    }

    /// Whether a cell has a word in it.
    pub fn has(&self, column: &str, word: &str) -> bool {
        self.get(column).split_whitespace().any(|found| found == word)
    }
}

/// The rows of a file.
pub fn read(path: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut lines = cells(&text).into_iter();
    let heading = lines.next().expect("a heading");
    lines.map(|line| Row(heading.iter().cloned().zip(line).collect())).collect()
}

fn cells(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    for letter in text.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            '\r' if !quoted => {}
            _ => cell.push(letter),
        }
    }
    rows
}

#[test]
fn a_comma_inside_quotes_does_not_end_a_cell() {
    assert_eq!(cells("a,\"b, c\",\nd,e,f\n"), [["a", "b, c", ""], ["d", "e", "f"]]);
}
