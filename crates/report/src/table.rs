//! Columns that share the width of a terminal.

use crate::fit::{clean, pad, width};

/// Shrinks the widest columns until all fit into `room`, none below `least`; `None` if that cannot be done.
///
/// The widest first, so columns end up of equal width unless they needed less: what is short is
/// never cut for what is long. Takes one round for each column of the terminal that is missing.
pub(crate) fn share(natural: &[usize], room: usize, least: usize) -> Option<Vec<usize>> {
    let mut widths = natural.to_vec();
    while widths.iter().sum::<usize>() > room {
        let widest = widths.iter_mut().max().filter(|widest| **widest > least)?;
        *widest -= 1;
    }
    Some(widths)
}

/// A table without frames: columns as wide as their widest cell, two blanks between them.
#[must_use]
pub fn plain_table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| width(&clean(cell))).max();
    let widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, &room)| pad(&clean(cell), room));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_columns_give_way_first() {
        assert_eq!(share(&[5, 30, 20], 100, 8), Some(vec![5, 30, 20]));
        assert_eq!(share(&[5, 30, 20], 35, 8), Some(vec![5, 15, 15]));
        assert_eq!(share(&[10, 30, 20], 20, 8), None);
    }

    #[test]
    fn cells_of_a_column_stand_below_each_other() {
        let rows = [vec!["id".to_owned(), "file".to_owned()], vec!["7f3a".to_owned(), "a.pml".to_owned()]];
        assert_eq!(plain_table(&rows), "id    file\n7f3a  a.pml\n");
    }
}
