//! How a comparison reads on a terminal.

use super::{Compared, Line};
use crate::commands::{counted, fitted, table, wrapped};
use comfy_table::CellAlignment;
use results::{Answer, Difference, NEGLIGIBLE, Overall};

/// Differences of at least so many percent that an effect size calls negligible are explained.
const NOTABLE: f64 = 5.0;
/// So many of them in an experiment.
const EXPLAINED: usize = 5;

/// What the columns mean, once, below all tables.
pub fn key(compared: &[Compared]) -> String {
    let differences = || {
        let lines = compared.iter().flat_map(|compared| &compared.lines);
        lines.map(|line| &line.difference)
    };
    let any = |answers: &[Answer]| differences().any(|own| answers.contains(&own.answer));
    let mut key = String::new();
    if any(&[Answer::Exact]) {
        key += "exact: under every seed the same difference\n";
    }
    if any(&[Answer::Significant, Answer::NotSignificant]) {
        key += &wrapped(
            &format!(
                "+-: half of the 95 % confidence interval of B - A; both sides ran under the same \
                 seeds (paired by seed, Student's t). effect: Cliff's delta over all samples, from \
                 -1 to 1; below {NEGLIGIBLE} in size it is negligible: hardly more samples of one \
                 side are above the other's than below"
            ),
            "",
            "    ",
        );
    }
    if any(&[Answer::Unknown]) {
        key += "one seed: what scatters needs `--repeats` of 2 or more to be judged\n";
    }
    key
}

/// The table of an experiment under a line of provenance, and above its summary.
pub fn text(compared: &Compared) -> String {
    let Compared { experiment, machine, unit, a, b, seeds, lines, summary, .. } = compared;
    let seeds = counted(seeds.len(), "seed");
    let mut table = table(&["mean", "A", "B", "B - A", "%", "+-", "effect"]);
    for line in lines {
        table.add_row(cells(line));
    }
    for column in table.column_iter_mut().filter(|column| (1..6).contains(&column.index)) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let head = format!("{experiment} on {machine}, {unit}, {seeds}\nA: {a}, B: {b}");
    let why: String = explained(lines).iter().map(|why| wrapped(why, "   ", "     ")).collect();
    format!("{head}\n{}{why}{summary}\n", fitted(table))
}

fn cells(line: &Line) -> [String; 7] {
    let difference = &line.difference;
    let effect = format!("{} ({:+.2})", difference.size(), difference.effect);
    let interval = difference
        .interval
        .map_or(String::new(), |(low, high)| format!("{:.1}", (high - low) / 2.0));
    let more = if difference.more == 0.0 { "=".into() } else { signed(difference.more) };
    let percent = difference.percent.filter(|_| difference.more != 0.0);
    let (interval, effect) = match difference.answer {
        Answer::Identical => (String::new(), "identical".into()),
        Answer::Exact => (String::new(), "exact".into()),
        Answer::Significant => (interval, effect),
        Answer::NotSignificant => (interval, "not significant".into()),
        Answer::Unknown => (String::new(), "one seed".into()),
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

/// Why differences that are large in percent are called negligible.
fn explained(lines: &[Line]) -> Vec<String> {
    let is_one = |own: &Difference| {
        own.answer == Answer::Significant
            && own.effect.abs() < NEGLIGIBLE
            && own.percent.is_some_and(|percent| percent.abs() >= NOTABLE)
    };
    let why = |line: &Line| {
        let Difference { percent, effect, spread, .. } = &line.difference;
        format!(
            "{}: {:+.1} % is negligible beside the spread: single samples scatter by {}, and \
             |{effect:+.2}| is below {NEGLIGIBLE}",
            title(line),
            percent.unwrap_or_default(),
            spell(*spread)
        )
    };
    let all: Vec<&Line> = lines.iter().filter(|line| is_one(&line.difference)).collect();
    let mut told: Vec<String> = all.iter().take(EXPLAINED).map(|line| why(line)).collect();
    if all.len() > EXPLAINED {
        told.push(format!("and {} more alike", all.len() - EXPLAINED));
    }
    told
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

/// Which side is faster and by how much, in a sentence or two.
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
            ",\n   from {low:+.1} % ({})\n   to {high:+.1} % ({})",
            title(at_low),
            title(at_high)
        ),
        _ => String::new(),
    }
}
