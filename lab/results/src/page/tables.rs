//! The tables of a page.

use super::headline::class;
use crate::facts::{Facts, title};
use crate::figure::grouped;
use crate::grid::{Cell, Grid, Line};
use crate::report::distinct;
use crate::table::ratio_name;
use crate::{Fact, Figure, Report, Verdict};
use maud::{Markup, html};

/// Medians by kernel beside the other systems, and all statistics folded away.
pub(super) fn figures(report: &Report, grid: &Grid) -> Markup {
    html! {
        div.sheet { table {
            thead { tr {
                th { "median " (report.unit) }
                @for name in grid.kernels.iter().chain(&grid.systems) { th.n { (name) } }
                @if let Some(name) = ratio_name(grid) { th.n { (name) } }
            } }
            @for metric in distinct(grid.lines.iter().map(|line| line.metric)) {
                tbody {
                    @for line in grid.lines.iter().filter(|line| line.metric == metric) {
                        (median_line(report, grid, line))
                    }
                }
            }
        } }
        details {
            summary { "All statistics" }
            (statistics(report))
        }
    }
}

fn median_line(report: &Report, grid: &Grid, line: &Line) -> Markup {
    let unit = report.unit_of(line.metric);
    html! {
        tr {
            td.id {
                (line.metric) " " span.soft { (line.case.text) }
                @if unit != report.unit { span.soft { " (" (unit) ")" } }
            }
            @for cell in &line.ours { td.n { (ours(cell.as_ref())) } }
            @for figure in &line.theirs {
                td.n.soft { (figure.map_or("–".into(), Figure::grouped)) }
            }
            @if ratio_name(grid).is_some() {
                @match line.ratio() {
                    Some(ratio) => td.n { span class=(class(ratio)) { (format!("{ratio:.2}")) } },
                    None => td.n.soft { "–" },
                }
            }
        }
    }
}

fn ours(cell: Option<&Cell>) -> Markup {
    html! {
        @match cell {
            Some(cell) => {
                (cell.figure.grouped())
                @if let Some(stddev) = cell.stddev {
                    span.soft { " ±" (stddev) }
                }
            }
            None => span.soft { "–" },
        }
    }
}

fn statistics(report: &Report) -> Markup {
    let names = ["min", "q1", "median", "mean", "q3", "max", "stddev", "n"];
    html! {
        div.sheet { table {
            thead { tr {
                th { "kernel" } th { "metric" } th { "case" }
                @for name in names { th.n { (name) } }
            } }
            tbody {
                @for row in &report.rows {
                    @let s = &row.summary;
                    tr {
                        td { (row.kernel) } td { (row.metric) } td { (row.case) }
                        td.n { (grouped(s.min)) } td.n { (s.q1.grouped()) }
                        td.n { (s.median.grouped()) } td.n { (s.mean) } td.n { (s.q3.grouped()) }
                        td.n { (grouped(s.max)) } td.n { (s.stddev) } td.n { (grouped(s.n)) }
                    }
                }
            }
        } }
    }
}

/// Single counts: what is the same for all kernels once, the rest by kernel.
pub(super) fn facts(report: &Report) -> Markup {
    let Facts { kernels, common, compared } = Facts::of(report);
    let named = |name: &str, fact: &Fact| html! { td { (title(name, fact)) } };
    let note = |fact: &Fact| html! { td.soft.wide { (fact.note) } };
    html! {
        @if !common.is_empty() {
            div.sheet { table { tbody {
                @for (name, fact) in &common {
                    tr { (named(name, fact)) td.n { (grouped(fact.value)) } (note(fact)) }
                }
            } } }
        }
        @if !compared.is_empty() {
            div.sheet { table {
                thead { tr { th {} @for kernel in &kernels { th.n { (kernel) } } th {} } }
                tbody {
                    @for (name, fact, values) in &compared {
                        tr {
                            (named(name, fact))
                            @for value in values {
                                td.n { (value.map_or("–".to_string(), grouped)) }
                            }
                            (note(fact))
                        }
                    }
                }
            } }
        }
    }
}

/// Bounds, and whether the figures are within them.
pub(super) fn limits(report: &Report) -> Markup {
    html! {
        ul.notes {
            @for limit in &report.limits {
                li class=(if limit.held() { "good" } else { "bad" }) { (limit.sentence()) }
            }
        }
    }
}

/// Claims and what became of them.
pub(super) fn claims(report: &Report) -> Markup {
    html! {
        div.sheet { table {
            thead { tr { th { "claim" } th { "verdict" } th { "evidence" } th { "ledger" } } }
            tbody {
                @for claim in &report.claims {
                    tr {
                        td.wide { (claim.statement) }
                        td class=(verdict_class(claim.verdict)) { (claim.verdict.words()) }
                        td.wide { (claim.evidence) }
                        td.id.soft { (claim.id) }
                    }
                }
            }
        } }
    }
}

const fn verdict_class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Reproduced => "good",
        Verdict::Contradicted => "bad",
        Verdict::NotObservable | Verdict::NotJudged => "soft",
    }
}

/// The host and its tools.
pub(super) fn host(report: &Report) -> Markup {
    html! {
        div.sheet { table { tbody {
            @for (name, value) in &report.host { tr { td { (name) } td { (value) } } }
            tr { td { "commit" } td { (report.commit) } }
        } } }
    }
}
