//! Tables for people.

use comfy_table::{CellAlignment, Table, presets};

/// An empty table: words to the left in the first column, numbers to the right in the others.
pub fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY).set_header(header);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
