//! Pages that open offline: style and images are inside.

mod headline;
mod notes;
mod tables;

use crate::chart::Chart;
use crate::grid::Grid;
use crate::{Report, Samples, charts};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use std::io;

const STYLE: &str = include_str!("style.css");

/// The page of one report.
pub(crate) fn report(report: &Report, charts: &[Chart]) -> io::Result<String> {
    Ok(page(&report.title(), content(report, charts)?).into_string())
}

/// One page with several reports; each has its charts.
pub(crate) fn index(runs: &[(Report, Samples)]) -> io::Result<String> {
    let contents = runs.iter().map(|(report, samples)| {
        let charts = charts::charts(report, Some(samples));
        content(report, &charts)
    });
    let contents = contents.collect::<io::Result<Vec<Markup>>>()?;
    let body = html! {
        h1 { "Giusto: measurements" }
        nav {
            @for (index, (report, _)) in runs.iter().enumerate() {
                a href={ "#report-" (index) } { (report.title()) }
            }
        }
        @for (index, content) in contents.iter().enumerate() {
            section.report id={ "report-" (index) } { (content) }
        }
    };
    Ok(page("Giusto: measurements", body).into_string())
}

fn page(title: &str, body: Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (body) } }
        }
    }
}

fn content(report: &Report, charts: &[Chart]) -> io::Result<Markup> {
    let grid = Grid::of(report);
    let svgs = charts.iter().map(Chart::svg).collect::<io::Result<Vec<String>>>()?;
    Ok(html! {
        header {
            h1 { (report.title()) }
            p.lead { (headline::sentence(report, &grid)) }
            (labels(report))
        }
        (headline::cards(&grid))
        @if !charts.is_empty() {
            h2 { "Charts" }
            @for (chart, svg) in charts.iter().zip(&svgs) {
                figure { h3 { (chart.title) } (PreEscaped(inline(svg))) }
            }
        }
        h2 { "Figures" }
        (tables::figures(report, &grid))
        @if !report.limits.is_empty() { h2 { "Limits" } (tables::limits(report)) }
        @if !report.facts.is_empty() { h2 { "Facts" } (tables::facts(report)) }
        @if !report.claims.is_empty() { h2 { "Claims" } (tables::claims(report)) }
        details {
            summary { "How to read these figures" }
            (notes::notes(report))
        }
        @if !report.host.is_empty() { details { summary { "Host" } (tables::host(report)) } }
    })
}

/// Where the figures come from, as labels.
fn labels(report: &Report) -> Markup {
    let seed = format!("seed {}", report.seed);
    let commit = format!("commit {}", report.short_commit());
    let labels = [report.machine.clone(), report.unit.clone()].into_iter();
    let labels = labels.chain(report.caches()).chain([report.sample_count(), seed, commit]);
    html! {
        ul.labels {
            li.kind { (report.kind()) }
            @for label in labels { li { (label) } }
        }
    }
}

/// An image without what only a file of its own needs: size and name space.
fn inline(svg: &str) -> String {
    let Some((tag, rest)) = svg.split_once('>') else { return svg.to_string() };
    let needed = |attribute: &&str| {
        !["width=", "height=", "xmlns="].iter().any(|own| attribute.starts_with(own))
    };
    // The values of these attributes have no spaces but for the box, which stays whole.
    tag.split(' ').filter(needed).collect::<Vec<_>>().join(" ") + ">" + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{folded, micro, ping_pong};
    use expect_test::expect;

    #[test]
    fn inlined_images_fit_the_page() {
        let svg = "<svg width=\"8\" height=\"4\" viewBox=\"0 0 8 4\" xmlns=\"http://x\"><g/></svg>";
        assert_eq!(inline(svg), "<svg viewBox=\"0 0 8 4\"><g/></svg>");
        assert_eq!(inline("nonsense"), "nonsense");
    }

    #[test]
    fn text_is_escaped() {
        let (mut hostile, _) = micro();
        hostile.notes.push("<script>alert(1)</script>".into());
        hostile.rows[0].metric = "<i>".into();
        let page = report(&hostile, &charts::charts(&hostile, None)).unwrap();
        assert!(!page.contains("<script>") && !page.contains("<i>"));
        assert!(page.contains("&lt;script&gt;") && page.contains("&lt;i&gt;"));
    }

    #[test]
    fn provenance_is_on_the_page() {
        let (report, _) = ping_pong();
        expect![[r#"
            <ul class="labels"> <li class="kind">emulated</li> <li>bench</li>
            <li>instructions</li> <li>n = 1000</li> <li>seed 1</li> <li>commit
            0123456789</li> </ul>"#]]
        .assert_eq(&folded(&labels(&report).into_string().replace("><", "> <")));
    }

    #[test]
    fn the_headline_compares_what_can_be_compared() {
        let sentence =
            |report: &Report| headline::sentence(report, &Grid::of(report)).into_string();
        expect![[r#"
            A round trip (across words=0) takes <strong>240 instructions</strong> with the
            kernel fastpath; seL4 takes 395."#]]
        .assert_eq(&folded(&sentence(&ping_pong().0)));
        expect![[r#"
            fastpath is level with or ahead of seL4 in <strong>10 of 11</strong> figures that
            both have."#]]
        .assert_eq(&folded(&sentence(&micro().0)));
        let (mut alone, _) = micro();
        alone.baselines.clear();
        expect!["Figures of 12 cases under: fastpath"].assert_eq(&folded(&sentence(&alone)));
        alone.rows.clear();
        expect!["Figures of 0 cases under: "].assert_eq(&folded(&sentence(&alone)));
    }

    #[test]
    fn notes_say_what_the_machine_cannot_see() {
        expect![[r#"
            <ul class="notes"><li>Emulated: a count is the length of the path. It sees no
            caches, no missing translations and not what privileged, locked or serialising
            operations cost, so compare counts with counts, and read the facts beside
            them.</li><li>Figures are medians, computed on the host from the counter values
            that the programs recorded; what reading the counter costs is subtracted. Warm-up
            rounds are not recorded.</li><li>Quartiles are medians of the lower and the upper
            half. The standard deviation is shown where it is not 0; on a deterministic
            machine it mostly is.</li><li>16 warm-up rounds precede each
            case.</li><li><strong>seL4</strong>: 16.0-dev, release, its own benchmark suite,
            same QEMU, icount, no Meltdown window.</li><li><strong>seL4</strong>, null-call:
            16.0-dev, release, as the others but with its Meltdown window on; not measured
            without.</li><li><strong>seL4 slow path</strong>: as seL4, with its fast path
            off.</li></ul>"#]]
        .assert_eq(&folded(&notes::notes(&micro().0).into_string()));
    }

    #[test]
    fn facts_and_claims_are_tables() {
        let (report, _) = ping_pong();
        let tables = tables::facts(&report).into_string() + &tables::claims(&report).into_string();
        expect![[r#"
            <div class="sheet"> <table> <tbody> <tr> <td>kernel text (bytes)</td> <td
            class="n">41,216</td> <td class="soft wide">one kernel</td> </tr> <tr>
            <td>page-table loads per round trip</td> <td class="n">2</td> <td class="soft
            wide"> </td> </tr> </tbody> </table> </div> <div class="sheet"> <table> <thead>
            <tr> <th>claim</th> <th>verdict</th> <th>evidence</th> <th>ledger</th> </tr>
            </thead> <tbody> <tr> <td class="wide">The fast path is faster than the general
            path.</td> <td class="good">reproduced</td> <td class="wide">118 against 170
            instructions.</td> <td class="id soft">S0-C04</td> </tr> <tr> <td
            class="wide">The cost per hop rises with the working set.</td> <td
            class="soft">not observable</td> <td class="wide">Instruction counts see no
            caches.</td> <td class="id soft">S0-C05e</td> </tr> </tbody> </table> </div>"#]]
        .assert_eq(&folded(&tables.replace("><", "> <")));
    }
}
