use super::reference::{self, Came};
use super::{
    CALL, CALLS, CHAIN, CLIENTS, CRITICAL, CRITICALS, PAPER, PHASES, PI, RESPONSE, SERVER, Shape,
    client_case, server_case, task_set,
};
use crate::commands::rtsim::{Ran, cdf, system};
use crate::experiment::traced::ROOM;
use crate::experiment::{Asked, Boots, Measured, Setup};
use crate::failure::usage;
use anyhow::{Context, Result, ensure};
use manifest::Source;
use results::{Curves, Summary};
use rtsim::{Inheritance, Run, Scheduler, TaskSet};

/// Nanoseconds of a unit: long against what the kernel takes.
const UNIT: u64 = 100_000;

/// The phases that were asked for.
fn phases(asked: &Asked) -> Result<[u64; CLIENTS]> {
    let Some(given) = asked.numbers(PHASES) else { return Ok([0; CLIENTS]) };
    given.try_into().map_err(|given: Vec<u64>| {
        let count = given.len();
        usage(format!("{CLIENTS} clients have {count} phases: write `--set {PHASES}=0,300,500`"))
    })
}

pub fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let phases = phases(&setup.asked)?;
    for shape in shapes(&setup.asked) {
        let set = read(phases, shape)?;
        for pi in PI {
            let ran = run(setup, kernel, &set, pi)?;
            ensure!(ran.lost == 0, "{} events did not fit into the trace", ran.lost);
            push(&mut measured, kernel, pi, shape, &ran);
            if shape == PAPER {
                let (notes, limits) = reference::beside(phases, pi, &came(&ran)?);
                measured.notes.extend(notes);
                measured.limits.extend(limits);
            }
            measured.curves.push(curves(pi, shape, &ran));
        }
    }
    for metric in [RESPONSE, SERVER] {
        measured.units.insert(metric.to_string(), "us".to_string());
    }
    Ok(measured)
}

/// What was asked for, each with each; or else the usual ones.
fn shapes(asked: &Asked) -> Vec<Shape> {
    let [chains, calls, criticals] = [CHAIN, CALL, CRITICAL].map(|name| asked.numbers(name));
    let usual = calls.is_none() && criticals.is_none();
    let (calls, criticals) = (calls.unwrap_or(CALLS.to_vec()), criticals.unwrap_or(vec![0]));
    let mut shapes = Vec::new();
    for chain in chains.unwrap_or(vec![PAPER.chain]) {
        for &call in &calls {
            let longest = usual && call == CALLS[CALLS.len() - 1];
            let criticals = if longest { &CRITICALS[..] } else { &criticals[..] };
            shapes.extend(criticals.iter().map(|&critical| Shape { chain, call, critical }));
        }
    }
    shapes
}

/// The task set.
pub fn read(phases: [u64; CLIENTS], shape: Shape) -> Result<TaskSet> {
    let (name, text) = ("the clients and servers".to_string(), task_set::text(phases, shape));
    Ok(rtsim::parse(&Source { name, text }).map_err(manifest::Problems::from)?)
}

fn run(setup: &Setup, kernel: &str, set: &TaskSet, pi: &str) -> Result<Ran> {
    let inheritance = if pi == PI[0] { Inheritance::Mutexes } else { Inheritance::Conditions };
    let run = Run { scheduler: Scheduler::FixedPriorities, inheritance, unit: UNIT };
    let system = system(set, run, ROOM)?;
    let outcome = setup.attempt(&system, kernel)?;
    Ran::read((set.clone(), run), "pi-cv".to_string(), &system, outcome)
}

/// Rows of a run, in microseconds.
fn push(measured: &mut Measured, kernel: &str, pi: &str, shape: Shape, ran: &Ran) {
    for (index, jobs) in ran.jobs.iter().enumerate().take(CLIENTS) {
        let responses = jobs.responses().iter().map(|ns| ns / 1_000).collect();
        let case = client_case(pi, index + 1, shape);
        measured.samples.push(kernel, RESPONSE, &case, responses);
    }
    let had = ran.picture.had(CLIENTS);
    for priority in 1..=CLIENTS as u64 + 1 {
        let time = had.get(&priority).copied().unwrap_or(0) / 1_000;
        measured.samples.push(kernel, SERVER, &server_case(pi, priority, shape), vec![time]);
    }
}

/// What the model's figures stand beside.
fn came(ran: &Ran) -> Result<Came> {
    let unit = ran.run.unit as f64;
    let summary = |client: usize| {
        Summary::of(&ran.jobs[client].responses())
            .with_context(|| format!("no job of Client{} was complete", client + 1))
    };
    let had = ran.picture.had(CLIENTS);
    let server = core::array::from_fn(|index| {
        had.get(&(index as u64 + 1)).copied().unwrap_or(0) as f64 / unit
    });
    Ok(Came { clients: [summary(0)?, summary(1)?, summary(2)?], server, unit })
}

/// The distribution of the clients' responses, as the paper's Figs 7 and 8 have it.
fn curves(pi: &str, shape: Shape, ran: &Ran) -> Curves {
    let Shape { chain, call, critical } = shape;
    let (what, name) = match pi == PI[0] {
        true => ("PI on mutexes", "pi"),
        false => ("PI on mutexes and conditions", "pi-cv"),
    };
    Curves {
        name: format!("cdf-{name}-chain-{chain}-call-{call}-critical-{critical}"),
        title: format!("Responses with {what}; {shape}"),
        ..cdf(ran)
    }
}
