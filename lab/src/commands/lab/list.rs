//! `lab list`: the experiments on a screen, or all that there is to know of some.

use crate::commands::{print_json, table};
use crate::experiment::user_system::UserSystem;
use crate::experiment::{self, EXPERIMENTS, Experiment};
use crate::output;
use comfy_table::ColumnConstraint;
use serde_json::{Value, json};

/// Lists all experiments, or describes those that are named.
pub fn list(names: &[String], long: bool, as_json: bool) {
    let known = |name: &String| experiment::find(name).expect("the command line knows them");
    let named: Vec<&Experiment> = match names {
        [] => EXPERIMENTS.to_vec(),
        names => names.iter().map(known).collect(),
    };
    if as_json {
        let described: Vec<Value> = named.into_iter().map(describe).collect();
        return print_json(&described);
    }
    if !long && names.is_empty() {
        let mut table = table(&["experiment", "measures", "on"]);
        for experiment in named {
            let machines = experiment.platforms().collect::<Vec<_>>().join(", ");
            table.add_row([experiment.name, experiment.about, &machines]);
        }
        if let Some(column) = table.column_mut(0) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
        output::line(super::super::fitted(table).trim_end());
        return output::line("`./giusto lab list NAME` tells more, `--long` all of each");
    }
    named.into_iter().for_each(|experiment| output::line(details(experiment)));
}

/// All there is to know of an experiment, in words.
fn details(experiment: &Experiment) -> String {
    let mut text = format!("{}: {}\n", experiment.name, experiment.about);
    let mut table = table(&[]);
    let mut row = |name: &str, values: Vec<String>, between: &str| {
        if !values.is_empty() {
            table.add_row([format!("  {name}"), values.join(between)]);
        }
    };
    let words = |words: &[&str]| {
        let named = words.iter().filter(|word| !word.is_empty());
        named.map(ToString::to_string).collect::<Vec<_>>()
    };
    row("machines", experiment.platforms().map(str::to_string).collect(), ", ");
    row("kernels", words(experiment.kernels), ", ");
    row("metrics", words(experiment.metrics), ", ");
    row("cases", words(experiment.cases), "; ");
    let parameters = experiment.parameters.iter();
    row("--set", parameters.map(|one| format!("{one} ({})", one.about)).collect(), "\n");
    let user_system = experiment.user_system.iter();
    let platforms = |one: &UserSystem| one.platforms().map(str::to_string).collect::<Vec<_>>();
    row("--system", user_system.flat_map(platforms).collect(), ", ");
    let conditions = experiment.conditions.iter();
    row("always", conditions.map(|(name, value)| format!("{name}: {value}")).collect(), "\n");
    let claims = (experiment.claims)().into_iter();
    row(
        "claims",
        claims.map(|claim| format!("{} ({})", claim.statement, claim.id)).collect(),
        "\n",
    );
    row("notes", words(experiment.notes), "\n");
    row("ledger", words(experiment.ledger), ", ");
    text += super::super::fitted(table).trim_end();
    text + "\n"
}

fn describe(experiment: &Experiment) -> Value {
    let conditions: std::collections::BTreeMap<_, _> =
        experiment.conditions.iter().copied().collect();
    json!({
        "name": experiment.name,
        "about": experiment.about,
        "ledger": experiment.ledger,
        "machines": experiment.platforms().collect::<Vec<_>>(),
        "kernels": experiment.kernels,
        "metrics": experiment.metrics,
        "cases": experiment.cases,
        "parameters": experiment.parameters,
        "user_system": experiment.user_system.as_ref().map(|one| {
            json!({"machines": one.platforms().collect::<Vec<_>>(), "parameters": one.parameters})
        }),
        "conditions": conditions,
        "notes": experiment.notes,
        "claims": (experiment.claims)().iter().map(|claim| claim.id).collect::<Vec<_>>(),
    })
}
