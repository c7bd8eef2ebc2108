//! Tables for people.

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

/// A rule below the header and no other: rows of numbers are read down the columns.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// An empty table: words to the left in the first column, numbers to the right in the others.
pub fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(STYLE).set_header(header);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A whole number of these digits with its thousands apart: 1,048,576.
#[must_use]
pub fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_header_has_a_rule() {
        let mut table = table(&["", "mean", "sd"]);
        for name in ["a", "b", "c"] {
            table.add_row([name, "1.25", "0.5"]);
        }
        let text = table.to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 5, "{text}");
        assert!(lines[1].chars().all(|letter| letter == '─'), "{text}");
        assert_eq!(text.matches('─').count(), lines[1].chars().count(), "{text}");
        assert!(lines[2].trim_end().ends_with("0.5"), "{text}");
    }
}
