//! How the model's answers read on a terminal, and as JSON.

use super::curves::{Case, Curves};
use super::units::Units;
use crate::commands::{counted, fitted, table, wrapped};
use comfy_table::{CellAlignment, Table};
use model::{Curve, Distribution, Fit, Interval, Simulated, Solution};
use results::rounded;
use serde_json::{Value, json};

/// Shares of a state below this are not printed.
const RARE: f64 = 0.0005;
/// States on a line.
const STATES: usize = 5;

/// Everything, as JSON: times in `unit`, throughputs per `unit`.
pub fn json(curves: &Curves, fits: &[Fit], units: &Units) -> Value {
    json!({
        "unit": if units.in_cycles { "cycle" } else { "ns" },
        "units_per_second": units.per_second,
        "topology": curves.machine.map(|machine| machine.name),
        "fits": fits,
        "cases": curves.cases,
    })
}

/// Everything, as text that fits the terminal.
pub fn text(curves: &Curves, fits: &[Fit], units: &Units) -> String {
    let mut text: String = fits.iter().map(|fit| self::fit(fit, units)).collect();
    for case in &curves.cases {
        text += &format!("{}\n\n", curves.name(case, units));
        for curve in &case.curves {
            text += &self::curve(curve, curves.is_fitted, units);
        }
        if let Some(machine) = curves.machine {
            let head = format!("hand-offs on {} ({}), simulated", machine.name, machine.about);
            text += &wrapped(&head, "", "  ");
            text += &hand_offs(case, units);
        }
    }
    text + &key(curves)
}

/// A fit: parameters, goodness, residuals.
fn fit(fit: &Fit, units: &Units) -> String {
    let parameter = |interval: Interval, error: f64| {
        // The sign of what is added stands before it.
        let value = if fit.is_extra { interval.value.abs() } else { interval.value };
        let [value, reach, error] =
            [(value, 5), (interval.reach(), 2), (error, 2)].map(|(n, d)| rounded(n, d));
        format!("{value} ±{reach} {} (standard error {error})", units.name())
    };
    let think = match fit.is_extra {
        true if fit.think.value < 0.0 => "a = delay -",
        true => "a = delay +",
        false => "a =",
    };
    let mut text = format!(
        "fit, {} service ({}): {}\n  s = {}\n  {think} {}\n  \
         r^2 = {:.6}, residuals scatter by {} {}\n",
        fit.distribution.name(),
        fit.distribution.kendall(),
        counted(fit.residuals.len(), "point"),
        parameter(fit.service, fit.service_error),
        parameter(fit.think, fit.think_error),
        fit.r_squared,
        units.throughput(fit.scatter),
        units.rate(),
    );
    if fit.is_vague() {
        text += "  these points hardly tell s from a: an interval includes zero\n";
    }
    let rate = units.rate();
    let mut headings = vec!["CPUs".to_string()];
    headings.extend(fit.is_extra.then(|| "delay".to_string()));
    headings.extend(["measured", "fitted", "residual"].map(|what| format!("{what} {rate}")));
    headings.push("%".to_string());
    let mut table = table(&headings.iter().map(String::as_str).collect::<Vec<_>>());
    for residual in &fit.residuals {
        let point = residual.point;
        let mut row = vec![point.cpus.to_string()];
        row.extend(point.think.map(|think| rounded(think, 4)));
        row.push(units.throughput(point.throughput));
        row.push(units.throughput(residual.fitted));
        row.push(signed(units.scaled(residual.residual), 4));
        row.push(signed(100.0 * residual.residual / point.throughput, 2));
        table.add_row(row);
    }
    text + &laid_out(table)
}

/// A small number with its sign, unless it is zero.
fn signed(value: f64, decimals: usize) -> String {
    let text = format!("{value:+.decimals$}");
    if text.chars().any(|c| ('1'..='9').contains(&c)) { text } else { "0".to_string() }
}

/// A curve under what belongs to the model.
fn curve(curve: &Curve, is_fitted: bool, units: &Units) -> String {
    let Curve { distribution, model, knee, saturation, .. } = curve;
    let mut text = format!("{} service ({})\n", distribution.name(), distribution.kendall());
    text += &format!("  s = {}, ", units.spell(model.service()));
    if is_fitted {
        text += &format!("a = {}, ", units.spell(model.think()));
    }
    let (saturation, rate) = (units.throughput(*saturation), units.rate());
    text += &format!("knee N* = {knee:.1},\n  saturation 1/s = {saturation} {rate}\n");
    let each_second = units.per_second.is_some();
    let mut headings = vec!["CPUs".to_string()];
    headings.extend(each_second.then(|| "X per second".to_string()));
    headings.extend([format!("X {rate}"), "of bound %".into(), "w".into()]);
    headings.extend([format!("R {}", units.name()), "busy %".into()]);
    if !curve.simulated.is_empty() {
        headings.extend([format!("simulated {rate}"), "±".into(), "same CPU %".into()]);
    }
    let mut table = table(&headings.iter().map(String::as_str).collect::<Vec<_>>());
    for (index, solution) in curve.solutions.iter().enumerate() {
        let mut row = vec![solution.cpus.to_string()];
        row.extend(units.each_second(solution.throughput));
        row.push(units.throughput(solution.throughput));
        row.push(percent(solution.throughput / model.bound(solution.cpus)));
        row.push(rounded(solution.at_lock, 3));
        row.push(rounded(solution.response, 4));
        row.push(percent(solution.busy));
        if let Some(simulated) = curve.simulated.get(index) {
            row.extend(units.within(simulated.throughput));
            row.push(percent(simulated.reacquired));
        }
        table.add_row(row);
    }
    text += &laid_out(table);
    match curve.solutions.as_slice() {
        [alone] => text + &states(alone),
        _ => text,
    }
}

/// P_k of one solution.
fn states(solution: &Solution) -> String {
    let mut text = String::new();
    let common = |(_, share): &(usize, &f64)| **share >= RARE;
    let states: Vec<_> = solution.states.iter().enumerate().filter(common).collect();
    for (index, (k, share)) in states.iter().enumerate() {
        let separator =
            if index % STATES == 0 { if index > 0 { "\n " } else { " " } } else { "  " };
        text += &format!("{separator}P_{k} {share:.3}");
    }
    let rest = solution.cpus + 1 - states.len();
    if rest > 0 {
        text += &format!("\n {} below {RARE}", counted(rest, "further state"));
    }
    text + "\n\n"
}

fn hand_offs(case: &Case, units: &Units) -> String {
    let rate = units.rate();
    let mut headings = vec!["CPUs".to_string()];
    headings.extend(units.per_second.map(|_| "X per second".to_string()));
    headings.extend([format!("X {rate}"), "±".into(), format!("R {}", units.name()), "±".into()]);
    headings.extend([format!("mean s {}", units.name()), "same CPU %".into()]);
    headings.push("across sockets %".to_string());
    let mut table = table(&headings.iter().map(String::as_str).collect::<Vec<_>>());
    for simulated in &case.hand_offs {
        let Simulated { cpus, throughput, response, service, reacquired, crossed, .. } = simulated;
        let mut row = vec![cpus.to_string()];
        row.extend(units.each_second(throughput.value));
        row.extend(units.within(*throughput));
        row.extend([rounded(response.value, 4), reach_of(*response)]);
        row.push(rounded(*service, 4));
        row.extend([percent(*reacquired), percent(*crossed)]);
        table.add_row(row);
    }
    laid_out(table)
}

/// Half the width of an interval; what is only rounding is zero.
fn reach_of(interval: Interval) -> String {
    let reach = interval.reach();
    rounded(if reach < 1e-9 * interval.value { 0.0 } else { reach }, 2)
}

/// A share in percent.
fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// Figures to the right, an empty line below.
fn laid_out(mut table: Table) -> String {
    table.column_iter_mut().for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    fitted(table) + "\n"
}

/// What the columns mean.
fn key(curves: &Curves) -> String {
    let mut key = "X: passes through the lock. of bound: of the lower asymptote, N/(a+s) or 1/s. \
                   w: CPUs at the lock. R: mean time at the lock, waiting included. busy: share \
                   of time in which it is held."
        .to_string();
    let is_single = |curve: &Curve| curve.solutions.len() == 1;
    if curves.cases.iter().flat_map(|case| &case.curves).any(is_single) {
        key += " P_k: share of time in which k CPUs hold the lock or wait for it.";
    }
    let simulated = |case: &Case| case.curves.iter().any(|curve| !curve.simulated.is_empty());
    let is_simulated = curves.machine.is_some() || curves.cases.iter().any(simulated);
    if is_simulated || curves.is_fitted {
        key += " ±: half of the 95 % confidence interval.";
    }
    if is_simulated {
        key += " same CPU: passes to the CPU that had the lock last.";
    }
    let both = |case: &Case| {
        case.curves.iter().any(|curve| curve.distribution == Distribution::Deterministic)
    };
    if curves.cases.iter().any(|case| case.curves.len() > 1 && both(case)) {
        key += " Where service times scatter, but less than exponentially, expect X between both.";
    }
    wrapped(&key, "", "")
}
