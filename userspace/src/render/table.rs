//! Rows of text under their headings, columns aligned. Knows nothing of what they mean.

/// Lines of a table: columns as wide as their widest cell, two spaces between, to the right as numbers stand.
pub(super) fn lines<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> Vec<String> {
    let mut widths = head.map(|cell| cell.chars().count());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: [&str; N]| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:>width$}"));
        padded.collect::<Vec<_>>().join("  ")
    };
    let body = rows.iter().map(|row| line(row.each_ref().map(String::as_str)));
    std::iter::once(line(head)).chain(body).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["0".to_owned(), "1,000".to_owned()], ["10".to_owned(), "–".to_owned()]];
        assert_eq!(lines(["queue", "n"], &rows), ["queue      n", "    0  1,000", "   10      –"]);
    }
}
