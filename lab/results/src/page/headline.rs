//! What a reader should take away.

use crate::Report;
use crate::grid::{Grid, Line};
use crate::report::PAIR;
use maud::{Markup, html};

/// How many figures stand out at the top.
const CARDS: usize = 4;

/// The result in a sentence.
pub(super) fn sentence(report: &Report, grid: &Grid) -> Markup {
    let (Some(kernel), Some(system)) = (grid.kernels.first(), grid.systems.first()) else {
        let kernels = grid.kernels.join(", ");
        return html! { "Figures of " (grid.lines.len()) " cases under: " (kernels) };
    };
    let pair = compared(grid).find(|line| line.metric == PAIR);
    if let Some((line, (ours, theirs))) = pair.and_then(|line| Some((line, figures(line)?))) {
        return html! {
            "A round trip (" (line.case.text) ") takes "
            strong { (ours) " " (report.unit) } " with the kernel " (kernel) "; "
            (system) " takes " (theirs) "."
        };
    }
    let ratios: Vec<f64> = compared(grid).filter_map(Line::ratio).collect();
    let held = ratios.iter().filter(|ratio| **ratio <= 1.0).count();
    html! {
        (kernel) " is level with or ahead of " (system) " in " strong { (held) " of "
        (ratios.len()) } " figures that both have."
    }
}

/// The figures that stand out, each beside the other system's.
pub(super) fn cards(grid: &Grid) -> Markup {
    let mut lines: Vec<&Line> = compared(grid).collect();
    lines.sort_by_key(|line| line.metric != PAIR);
    html! {
        @if let Some(system) = grid.systems.first() {
            div.cards {
                @for line in lines.into_iter().take(CARDS) {
                    @if let (Some((ours, theirs)), Some(ratio)) = (figures(line), line.ratio()) {
                        div.card {
                            p { (line.title()) }
                            b { (ours) }
                            p {
                                (system) " " (theirs) " · "
                                span class=(class(ratio)) {
                                    (format!("{ratio:.2}")) "×"
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The class of a figure by how it compares; less is better in every unit that we report.
pub(super) fn class(ratio: f64) -> &'static str {
    if ratio <= 1.0 { "good" } else { "bad" }
}

/// Lines with a figure on both sides.
fn compared<'a>(grid: &'a Grid<'a>) -> impl Iterator<Item = &'a Line<'a>> {
    grid.shortest().filter(|line| line.ratio().is_some())
}

/// The first figure of each side.
fn figures(line: &Line) -> Option<(String, String)> {
    let ours = line.ours.first()?.as_ref()?.figure.grouped();
    Some((ours, line.theirs.first()?.as_ref()?.grouped()))
}
