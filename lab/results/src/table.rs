//! The terminal table: medians by kernel, the other systems beside them.

use crate::grid::{Cell, Grid};
use crate::{Figure, Report};
use comfy_table::{
    Cell as TableCell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Row, Table,
    TableStyle, Width, presets,
};

/// Rules above, below and under the header.
const RULES: TableStyle = TableStyle::new()
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// An empty table without rules under these headings, to be shown by [`fitted`].
pub fn plain_table(headings: &[&str], width: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_width(width as u16);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_header(headings);
    table
}

/// A table as text that fits its width: columns become narrower, but no word is split. `padding` is
/// how many characters its cells have beside their content.
pub fn fitted(mut table: Table, padding: u16) -> String {
    let head: Vec<String> =
        table.header().into_iter().flat_map(Row::cell_iter).map(TableCell::content).collect();
    for (index, heading) in head.iter().enumerate() {
        let cells = table.column_cells_iter(index).flatten().map(TableCell::content);
        let longest = |text: &str| text.split(' ').map(|word| word.chars().count()).max();
        let words = cells.chain([heading.clone()]).filter_map(|text| longest(&text));
        let least = words.max().unwrap_or(0) as u16 + padding;
        if let Some(column) = table.column_mut(index).filter(|own| own.constraint().is_none()) {
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least)));
        }
    }
    text_of(&table)
}

/// The lines of a table without what is blank at their ends.
fn text_of(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_string() + "\n").collect()
}

/// A column of a table: its name above its cells.
pub struct Column {
    name: String,
    cells: Vec<String>,
}

impl Column {
    /// A column of these cells; its name may have several lines.
    pub fn new(name: &str, cells: impl Iterator<Item = String>) -> Column {
        Column { name: name.to_string(), cells: cells.collect() }
    }

    /// Characters across, with the gap before it.
    fn width(&self) -> usize {
        let lines = self.name.lines().chain(self.cells.iter().map(String::as_str));
        lines.map(|line| line.chars().count()).max().unwrap_or(0) + 2
    }
}

/// Columns beside their titles, as many as fit the width; the others follow in tables of their
/// own. The last columns belong to the first table. Rows without a title are left empty.
pub fn beside(titles: &Column, columns: &[Column], last: &[Column], width: usize) -> String {
    let mut text = String::new();
    let (mut rest, mut last) = (columns, last);
    while !rest.is_empty() || !last.is_empty() || text.is_empty() {
        let mut room = width.saturating_sub(titles.width());
        room = room.saturating_sub(last.iter().map(Column::width).sum());
        let fits = |column: &&Column| {
            let own = column.width();
            let fits = own <= room;
            room = room.saturating_sub(own);
            fits
        };
        let count = rest.iter().take_while(fits).count();
        // One that fits nowhere stands alone, in narrower columns.
        let count = if count == 0 && last.is_empty() { rest.len().min(1) } else { count };
        let (here, further) = rest.split_at(count);
        text += &block(titles, &here.iter().chain(last).collect::<Vec<_>>(), width);
        (rest, last) = (further, &[]);
    }
    text
}

fn block(titles: &Column, columns: &[&Column], width: usize) -> String {
    let mut table = Table::new();
    table.load_style(RULES);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width as u16);
    table.set_header([titles].iter().chain(columns).map(|column| &column.name));
    for (index, title) in titles.cells.iter().enumerate() {
        let cells = columns.iter().map(|column| column.cells[index].as_str());
        let cells = cells.filter(|_| !title.is_empty());
        table.add_row([title.as_str()].into_iter().chain(cells));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for column in table.column_iter_mut() {
        column.set_padding(if column.index == 0 { (1, 0) } else { (2, 0) });
    }
    text_of(&table)
}

/// The report as tables of medians that fit a width, under a line or two of provenance.
pub fn table(report: &Report, width: usize) -> String {
    let grid = Grid::of(report);
    // Long lists read better with the metrics apart.
    let is_swept = grid.lines.windows(2).any(|pair| pair[0].metric == pair[1].metric);
    let mut lines = Vec::new();
    for (index, line) in grid.lines.iter().enumerate() {
        if is_swept && index > 0 && grid.lines[index - 1].metric != line.metric {
            lines.push(None);
        }
        lines.push(Some(line));
    }
    let column = |name: &str, cell: &dyn Fn(&crate::grid::Line) -> Option<String>| {
        let spelt = |line: &crate::grid::Line| cell(line).unwrap_or("-".into());
        Column::new(name, lines.iter().map(|line| line.map_or(String::new(), spelt)))
    };
    let titles = column("median", &|line| Some(line.title()));
    let kernels = grid.kernels.iter().enumerate();
    let kernels = kernels.map(|(i, name)| column(name, &|line| line.ours[i].map(ours)));
    let systems = grid.systems.iter().enumerate().map(|(i, name)| {
        column(&name.replacen(' ', "\n", 1), &|line| line.theirs[i].map(Figure::grouped))
    });
    let ratio = ratio_name(&grid).map(|name| {
        let ratio = |line: &crate::grid::Line| line.ratio().map(|ratio| format!("{ratio:.2}"));
        column(&name.replace(" / ", "\n/ "), &ratio)
    });
    let systems: Vec<Column> = systems.chain(ratio).collect();
    let kernels: Vec<Column> = kernels.collect();
    let provenance = textwrap::fill(&report.provenance(), width);
    provenance + "\n" + &beside(&titles, &kernels, &systems, width)
}

/// What the column of ratios divides, where there is something to compare.
pub(crate) fn ratio_name(grid: &Grid) -> Option<String> {
    Some(format!("{} / {}", grid.kernels.first()?, grid.systems.first()?))
}

/// A median, with the standard deviation of its samples where they differ.
fn ours(cell: Cell) -> String {
    let spread = cell.stddev.map_or(String::new(), |stddev| format!(" ±{stddev}"));
    cell.figure.grouped() + &spread
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Samples;
    use crate::testing::{micro, ping_pong};
    use expect_test::expect;

    #[test]
    fn a_sweep_with_a_baseline_beside() {
        let (mut report, _) = ping_pong();
        report.rows.retain(|row| row.case.ends_with("=0"));
        expect![[r#"
            ping-pong on bench (emulated), instructions, n = 1000, seed 1, commit 0123456789
            ───────────────────────────────────────────────────────────────────────────────────
             median                       fastpath   direct-lazy    seL4        seL4   fastpath
                                                                           slow path     / seL4
            ───────────────────────────────────────────────────────────────────────────────────
             call across words=0               118           170     184         720       0.64
             call across words=10                -             -     802         794          -
             call same words=0                 109           161     182         719       0.60

             reply-wait across words=0         122           181     211         686       0.58
             reply-wait across words=10          -             -     770         758          -
             reply-wait same words=0           113           172     209         685       0.54

             pair across words=0               240           351     395       1,406       0.61
             pair across words=10                -             -   1,572       1,552          -
             pair same words=0                 222           333     391       1,404       0.57
            ───────────────────────────────────────────────────────────────────────────────────
        "#]]
        .assert_eq(&table(&report, 90));
    }

    #[test]
    fn a_flat_list_with_spread() {
        expect![[r#"
            micro on bench (emulated), instructions, n = 1000, seed 1, commit 0123456789
            ───────────────────────────────────────────────────────────
             median             fastpath    seL4        seL4   fastpath
                                                   slow path     / seL4
            ───────────────────────────────────────────────────────────
             null-call                62     100           -       0.62
             send-higher             310     700         695       0.44
             notify-higher           240     509         505       0.47
             notify-lower            120     353         349       0.34
             interrupt            173 ±2     356         366       0.49
             yield                   130     268         263       0.49
             fault-deliver           300     606         617       0.50
             fault-resume            280     704         614       0.40
             fault-round-trip        560   1,303       1,224       0.43
             map                     760     734         727       1.04
             protect                 210     734         727       0.29
             cap-revoke               90       -           -          -
            ───────────────────────────────────────────────────────────
        "#]]
        .assert_eq(&table(&micro().0, 80));
    }

    #[test]
    fn nine_kernels_fit_eighty_columns() {
        let mut samples = Samples::default();
        let (mut report, _) = ping_pong();
        for kernel in ["fastpath", "slowpath", "direct-lazy", "direct-eager", "strict-lazy"]
            .into_iter()
            .chain(["strict-eager", "ipc-scan", "ipc-ordered", "ipc-heap"])
        {
            samples.push(kernel, "call", "across words=0", vec![12_345, 12_345]);
            samples.push(kernel, "reply-wait", "across words=0", vec![12_345, 12_347]);
        }
        report.rows = samples.rows();
        let text = table(&report, 80);
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "too wide: {line}");
        }
        assert_eq!(text.matches("12,345").count(), 9, "a figure was broken:\n{text}");
    }

    #[test]
    fn no_rows_make_no_panic() {
        let (mut report, _) = micro();
        report.rows.clear();
        assert!(table(&report, 80).contains("no samples"));
    }
}
