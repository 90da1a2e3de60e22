//! The terminal table: medians by kernel, the other systems beside them.

use crate::grid::{Cell, Grid, Line};
use crate::{Figure, Report};
use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle,
};

/// No line is longer.
const COLUMNS: u16 = 100;

/// Rules above, below and under the header.
const RULES: TableStyle = TableStyle::new()
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// Kernels beside each other; further ones follow in a table of their own.
const KERNELS: usize = 3;

/// The report as a table of medians, at most 100 columns wide, under one line of provenance.
pub fn table(report: &Report) -> String {
    let grid = Grid::of(report);
    let kernels: Vec<usize> = (0..grid.kernels.len()).collect();
    let tables = kernels.chunks(KERNELS).map(|kernels| block(&grid, kernels));
    report.provenance() + "\n" + &tables.collect::<String>()
}

/// A table of some of the kernels.
fn block(grid: &Grid, kernels: &[usize]) -> String {
    let mut table = Table::new();
    table.load_style(RULES);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(COLUMNS);
    table.set_header(header(grid, kernels));
    let swept = grid.lines.windows(2).any(|pair| pair[0].metric == pair[1].metric);
    for (index, line) in grid.lines.iter().enumerate() {
        // Long lists read better with the metrics apart.
        if swept && index > 0 && grid.lines[index - 1].metric != line.metric {
            table.add_row([""]);
        }
        table.add_row(cells(grid, kernels, line));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        if index == 0 {
            column.set_constraint(ColumnConstraint::ContentWidth);
        } else {
            column.set_cell_alignment(CellAlignment::Right);
            column.set_padding((2, 0));
        }
    }
    table.lines().map(|line| line.trim_end().to_string() + "\n").collect()
}

fn header(grid: &Grid, kernels: &[usize]) -> Vec<String> {
    // Names of many kernels fit only on several lines.
    let narrow = |name: &str| match kernels.len() {
        0..=3 => name.to_string(),
        _ => name.replace('-', "-\n"),
    };
    let mut header = vec!["median".to_string()];
    header.extend(kernels.iter().map(|kernel| narrow(grid.kernels[*kernel])));
    header.extend(grid.systems.iter().map(|system| system.replacen(' ', "\n", 1)));
    header.extend(ratio_in(grid, kernels).map(|name| narrow(&name).replace(" / ", "\n/ ")));
    header
}

/// The name of the column that divides the first kernel by the first system, in the first table.
fn ratio_in(grid: &Grid, kernels: &[usize]) -> Option<String> {
    ratio_name(grid).filter(|_| kernels.contains(&0))
}

/// What the column of ratios divides, where there is something to compare.
pub(crate) fn ratio_name(grid: &Grid) -> Option<String> {
    Some(format!("{} / {}", grid.kernels.first()?, grid.systems.first()?))
}

fn cells(grid: &Grid, kernels: &[usize], line: &Line) -> Vec<String> {
    let mut cells = vec![line.title()];
    cells.extend(kernels.iter().map(|kernel| line.ours[*kernel].map_or("-".into(), ours)));
    cells.extend(line.theirs.iter().map(|cell| cell.map_or("-".into(), Figure::grouped)));
    let ratio = || line.ratio().map_or("-".into(), |ratio| format!("{ratio:.2}"));
    cells.extend(ratio_in(grid, kernels).map(|_| ratio()));
    cells
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
        expect![[r#"
            ping-pong on bench (emulated), instructions, n = 1000, seed 1, commit 0123456789
            ────────────────────────────────────────────────────────────────────────────────────
             median                        fastpath   direct-lazy    seL4        seL4   fastpath
                                                                            slow path     / seL4
            ────────────────────────────────────────────────────────────────────────────────────
             call across words=0                118           170     184         720       0.64
             call across words=4                118           170       -           -          -
             call across words=8                202           254       -           -          -
             call across words=10                 -             -     802         794          -
             call across words=16               226           278       -           -          -
             call across words=32               274           326       -           -          -
             call across words=64               370           422       -           -          -
             call same words=0                  109           161     182         719       0.60
             call same words=4                  109           161       -           -          -
             call same words=8                  193           245       -           -          -
             call same words=16                 217           269       -           -          -
             call same words=32                 265           317       -           -          -
             call same words=64                 361           413       -           -          -

             reply-wait across words=0          122           181     211         686       0.58
             reply-wait across words=4          122           181       -           -          -
             reply-wait across words=8          206           265       -           -          -
             reply-wait across words=10           -             -     770         758          -
             reply-wait across words=16         230           289       -           -          -
             reply-wait across words=32         278           337       -           -          -
             reply-wait across words=64         374           433       -           -          -
             reply-wait same words=0            113           172     209         685       0.54
             reply-wait same words=4            113           172       -           -          -
             reply-wait same words=8            197           256       -           -          -
             reply-wait same words=16           221           280       -           -          -
             reply-wait same words=32           269           328       -           -          -
             reply-wait same words=64           365           424       -           -          -

             pair across words=0                240           351     395       1,406       0.61
             pair across words=4                240           351       -           -          -
             pair across words=8                408           519       -           -          -
             pair across words=10                 -             -   1,572       1,552          -
             pair across words=16               456           567       -           -          -
             pair across words=32               552           663       -           -          -
             pair across words=64               744           855       -           -          -
             pair same words=0                  222           333     391       1,404       0.57
             pair same words=4                  222           333       -           -          -
             pair same words=8                  390           501       -           -          -
             pair same words=16                 438           549       -           -          -
             pair same words=32                 534           645       -           -          -
             pair same words=64                 726           837       -           -          -
            ────────────────────────────────────────────────────────────────────────────────────
        "#]]
        .assert_eq(&table(&ping_pong().0));
    }

    #[test]
    fn a_flat_list_with_spread() {
        expect![[r#"
            micro on bench (emulated), instructions, n = 1000, seed 1, commit 0123456789
            ────────────────────────────────────────────────────────────
             median              fastpath    seL4        seL4   fastpath
                                                    slow path     / seL4
            ────────────────────────────────────────────────────────────
             null-call                 62     100           -       0.62
             send-higher              310     700         695       0.44
             notify-higher            240     509         505       0.47
             notify-lower             120     353         349       0.34
             interrupt             173 ±2     356         366       0.49
             yield                    130     268         263       0.49
             fault-deliver            300     606         617       0.50
             fault-resume             280     704         614       0.40
             fault-round-trip         560   1,303       1,224       0.43
             map                      760     734         727       1.04
             protect                  210     734         727       0.29
             cap-revoke                90       -           -          -
            ────────────────────────────────────────────────────────────
        "#]]
        .assert_eq(&table(&micro().0));
    }

    #[test]
    fn nine_kernels_fit_a_hundred_columns() {
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
        let text = table(&report);
        for line in text.lines() {
            assert!(line.chars().count() <= usize::from(COLUMNS), "too wide: {line}");
        }
        assert_eq!(text.matches("12,345").count(), 9, "a figure was broken:\n{text}");
    }

    #[test]
    fn no_rows_make_no_panic() {
        let (mut report, _) = micro();
        report.rows.clear();
        assert!(table(&report).contains("no samples"));
    }
}
