//! How a comparison reads on a terminal.

use super::{Compared, Line};
use crate::commands::{counted, table};
use crate::output;
use comfy_table::{CellAlignment, ColumnConstraint};
use results::{Answer, Overall};

/// One experiment: a table and a sentence.
pub fn experiment(compared: &Compared) {
    output::line(text(compared));
}

/// What the columns mean, once, below all tables.
pub fn key(compared: &[Compared]) {
    let any = |answer: Answer| {
        let mut lines = compared.iter().flat_map(|compared| &compared.lines);
        lines.any(|line| line.difference.answer == answer)
    };
    if any(Answer::Exact) {
        output::line("exact: under every seed the same difference");
    }
    if any(Answer::Significant) || any(Answer::NotSignificant) {
        output::line(
            "interval: 95 % confidence interval of the difference; both kernels ran under the same \
             seeds\n          (paired by seed, Student's t)\n\
             effect:   Cliff's delta over all samples, from -1 to 1",
        );
    }
    if any(Answer::Unknown) {
        output::line("one seed: what scatters needs `--repeats` of 2 or more to be judged");
    }
}

/// The table of an experiment under a line of provenance, and above its summary.
pub fn text(compared: &Compared) -> String {
    let Compared { experiment, machine, unit, a, b, seeds, lines, summary, .. } = compared;
    let seeds = counted(seeds.len(), "seed");
    let mut table = table(&["mean", a, b, "difference", "%", "interval", "effect"]);
    for line in lines {
        table.add_row(cells(line));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        match index {
            0 => {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
            6 => {}
            _ => column.set_cell_alignment(CellAlignment::Right),
        }
    }
    let table = table.trim_fmt();
    format!("{experiment} on {machine}, {unit}, {seeds}\n{table}\n{summary}\n")
}

fn cells(line: &Line) -> [String; 7] {
    let difference = &line.difference;
    let effect = format!("{} ({:+.2})", difference.size(), difference.effect);
    let interval = difference
        .interval
        .map_or(String::new(), |(low, high)| format!("±{:.1}", (high - low) / 2.0));
    let more = if difference.more == 0.0 { "=".into() } else { signed(difference.more) };
    let percent = difference.percent.filter(|_| difference.more != 0.0);
    let (interval, effect) = match difference.answer {
        Answer::Identical => ("identical".into(), String::new()),
        Answer::Exact => ("exact".into(), String::new()),
        Answer::Significant => (interval, effect),
        Answer::NotSignificant => (interval, "not significant".into()),
        Answer::Unknown => ("one seed".into(), String::new()),
    };
    [
        title(line),
        spell(difference.a),
        spell(difference.b),
        more,
        percent.map_or(String::new(), |percent| format!("{percent:+.1}")),
        interval,
        effect,
    ]
}

fn title(line: &Line) -> String {
    format!("{} {}", line.metric, line.case).trim_end().to_string()
}

/// A mean, without a fraction where it has none.
fn spell(mean: f64) -> String {
    if mean.fract() == 0.0 { format!("{mean}") } else { format!("{mean:.1}") }
}

fn signed(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:+}") } else { format!("{value:+.1}") }
}

/// Who is faster and by how much, in a sentence or two.
pub fn summary(lines: &[Line], overall: Option<&Overall>, a: &str, b: &str) -> String {
    let all = lines.len();
    let with = |answer| lines.iter().filter(move |line| line.difference.answer == answer).count();
    if with(Answer::Identical) == all {
        let cases = counted(all, "case");
        return match a == b {
            true => format!("=> {a} is identical with itself in every sample of {cases}"),
            false => format!("=> {a} and {b} are identical in every sample of {cases}"),
        };
    }
    let cases = counted(all, "case");
    let unknown = with(Answer::Unknown);
    let open = match unknown {
        0 => String::new(),
        _ => format!("\n   {} cannot be judged with one seed", counted(unknown, "case")),
    };
    let differing = || lines.iter().filter(|line| line.difference.is_one());
    if differing().count() == 0 {
        return match unknown == all {
            true => format!("=> one seed cannot tell {a} and {b} apart: their samples scatter"),
            false => format!("=> no significant difference between {a} and {b} in {cases}{open}"),
        };
    }
    let dearer = differing().filter(|line| line.difference.more > 0.0).count();
    let cheaper = differing().count() - dearer;
    let count = format!("{b} takes more in {dearer}, less in {cheaper}{}", range(lines));
    let sure = if unknown > 0 { "one seed" } else { "exact" };
    let verdict = overall.map(|overall| verdict(overall, (a, b), &cases, sure) + "\n   ");
    format!("=> {}{count}{open}", verdict.unwrap_or_default())
}

/// Which kernel is faster over all cases; `sure` is what stands for an interval that there is not.
fn verdict(overall: &Overall, (a, b): (&str, &str), cases: &str, sure: &str) -> String {
    let level = match overall.interval {
        Some((low, high)) => low <= 0.0 && high >= 0.0,
        None => overall.percent == 0.0,
    };
    if level {
        return format!("{a} and {b} are level on average over {cases}");
    }
    let (faster, slower) = if overall.percent > 0.0 { (a, b) } else { (b, a) };
    // Seen from the faster one.
    let turned = |percent: f64| match overall.percent > 0.0 {
        true => percent,
        false => 100.0 / (1.0 + percent / 100.0) - 100.0,
    };
    let sure = overall.interval.map_or(sure.to_string(), |(low, high)| {
        let (low, high) = (turned(low), turned(high));
        format!("95 % interval {:.2} to {:.2}", low.min(high), low.max(high))
    });
    let percent = turned(overall.percent);
    format!(
        "{faster} is faster: {slower} takes {percent:.2} % more\n   (geometric mean of {cases}, \
         {sure})"
    )
}

/// From which to which difference, where there are several.
fn range(lines: &[Line]) -> String {
    let differences = lines.iter().filter_map(|line| Some((line.difference.percent?, line)));
    let mut sorted: Vec<(f64, &Line)> = differences.collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    match (sorted.first(), sorted.last()) {
        (Some((low, at_low)), Some((high, at_high))) if low != high => format!(
            ",\n   from {low:+.1} % ({}) to {high:+.1} % ({})",
            title(at_low),
            title(at_high)
        ),
        _ => String::new(),
    }
}
