//! `lock-scaling`: how many messages a second several CPUs get through, by locking and think time
//! (S1-E02 to E04), beside what the queueing model makes of it.

mod beyond;
mod curves;
mod points;
mod simulated;

#[cfg(test)]
pub use points::{PAPER, Point, case};
pub use points::{Scene, facts, hold};

use super::{Cpus, Experiment, Hardware, Measure, Measured, claims};
use crate::machine::native::{Host, Throughput};
use anyhow::Result;
use model::Distribution;
use results::{Fact, Limit, Origin};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "lock-scaling",
    about: "Messages a second of several CPUs, each with a client and a server of its own",
    ledger: &[
        "S1-E02", "S1-E03", "S1-E04", "S1-12", "S1-C03", "S1-C04", "S1-C05", "S1-C06", "S1-C07",
        "S1-C08", "S1-C09", "S1-C10", "S1-C11",
    ],
    machines: &[Measure::Hardware(measure), Measure::Simulated(simulated::measure)],
    cpus: Cpus::Any,
    kernels: &["fastpath"],
    metrics: &[METRIC, points::PAPER, points::ARM, points::EXPONENTIAL, points::DETERMINISTIC],
    cases: &[],
    parameters: &[
        ("think", "0 and 500 to 32,000 ticks in powers of two, exponential, before each message"),
        ("window", "2 ms, longer with much think time, after 0.5 ms; twin: 20,000 messages"),
        ("windows", "25 that the host left alone, points taking turns; twin: 5"),
        (
            "CPUs",
            "those of the host; twin: 1, 2, 4, 7, 10, 14, 20, 28 on two sockets, 1 to 4 on one",
        ),
    ],
    notes: &[
        "A message is one way: a call, or a reply that waits. Client and server both think between \
         receiving and sending, so that a message is a think time and a pass through the lock.",
        "A window is disturbed if the host ran something else on one of the CPUs for more than 1 % \
         of it, or let it come late. Rows are of the other windows, as long as there are any.",
        "On native more CPUs than the host has are simulated on the same plot: the twin, with \
         exponential sections as long as the model has found, without lines of memory.",
        "On the twin a tick is a modelled instruction, a thousand millions of them a second. \
         `throughput` is of two sockets of 14 CPUs. `throughput-paper` is of them with sections as \
         long as the paper's: 164 ticks, and 1.69 lines from the lock's last owner, which makes \
         358 within a socket. `throughput-arm` is of one socket of 4 CPUs with barriers of 12 \
         ticks. The others are of CPUs to which nothing is far and sections of 358 ticks in the \
         mean.",
    ],
    golden: false,
    modelled: false,
    claims: claims::lock_scaling::all,
};

/// The metric.
pub const METRIC: &str = "throughput";
/// Think times of S1-E02 and E04, in ticks.
pub const THINK: [u64; 8] = [0, 500, 1000, 2000, 4000, 8000, 16_000, 32_000];
/// The think time at which lockings are compared (S1-E03).
pub const COMPARED: u64 = 4000;

/// Windows that each point is to have.
const WINDOWS: &str = "25";
/// The least share of perfect scaling that these lockings may have at [`COMPARED`] on two CPUs.
const SCALING: [(&str, f64); 2] = [("elided", 0.95), ("fine", 0.95)];

fn measure(setup: &Hardware, kernel: &str) -> Result<Measured> {
    let cpus = match &setup.asked.cpus {
        Some(cpus) => cpus.clone(),
        None => (1..=std::thread::available_parallelism()?.get()).collect(),
    };
    let (cpus, think, seed) = (list(&cpus), list(&THINK), setup.asked.seed.to_string());
    let options = [
        "scaling", "--kernel", kernel, "--cpus", &cpus, "--think", &think, "--rounds", WINDOWS,
        "--seed", &seed,
    ];
    let host = setup.run::<Vec<Throughput>>(&options)?;
    let mut measured = Measured {
        unit: Some("messages per second".to_string()),
        facts: counted(&host),
        ..Measured::default()
    };
    measured.host.insert("processor".to_string(), host.processor.clone());
    for point in &host.found {
        let values = |all: bool| -> Vec<u64> {
            let windows = point.windows.iter().filter(|window| all || !window.disturbed);
            windows.map(|window| window.per_second).collect()
        };
        let case = points::case(&point.locking, point.think, point.cpus);
        let alone = Some(values(false)).filter(|values| !values.is_empty());
        if alone.is_none() {
            measured.notes.push(format!("{case}: the host disturbed every window"));
        }
        measured.samples.push(kernel, METRIC, &case, alone.unwrap_or_else(|| values(true)));
    }
    if !host.transactions {
        let note = "THIS PROCESSOR HAS NO TRANSACTIONS: `elided` runs on its fall-back, the lock.";
        measured.notes.push(note.to_string());
    }
    let scene = Scene::of(METRIC, &measured.samples.rows(), &measured.facts);
    measured.limits = limits(&scene);
    let fits = curves::fits(&mut measured, "", &scene, &curves::BOTH);
    let exponential = fits.iter().find(|fit| fit.distribution == Distribution::Exponential);
    let more = exponential.map(|fit| beyond::simulate(setup, kernel, &scene, fit)).transpose()?;
    let mut shown = vec![(Origin::HARDWARE, &scene)];
    shown.extend(more.iter().map(|scene| (Origin::SIMULATED, scene)));
    curves::thinks(&mut measured, "", &shown, &fits);
    curves::lockings(&mut measured, "", &scene, Origin::HARDWARE);
    Ok(measured)
}

fn list<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

fn counted(host: &Host<Vec<Throughput>>) -> Vec<Fact> {
    let windows = || host.found.iter().flat_map(|point| &point.windows);
    let disturbed = windows().filter(|window| window.disturbed).count();
    let fact = |name: &str, value: u64, unit: &str, note: &str| Fact {
        name: name.to_string(),
        value,
        unit: unit.to_string(),
        note: note.to_string(),
    };
    vec![
        fact(facts::HERTZ, host.hertz, "per second", "ticks in which think times are counted"),
        fact(facts::CPUS, host.sockets.len() as u64, "", "that the measurement may use"),
        fact(facts::IN_SOCKET, host.in_socket() as u64, "", "of those"),
        fact("windows", windows().count() as u64, "", "in all"),
        fact("disturbed windows", disturbed as u64, "", "left out"),
        fact(
            "messages",
            windows().map(|window| window.messages).sum(),
            "",
            "in all windows; client and server have checked each",
        ),
    ]
}

/// How near lockings that let CPUs in together come to perfect scaling.
fn limits(scene: &Scene) -> Vec<Limit> {
    let limit = |(locking, bound): &(&str, f64)| {
        let share = scene.throughput(locking, COMPARED, 2)?
            / (2.0 * scene.throughput(locking, COMPARED, 1)?);
        Some(Limit {
            name: format!("{locking} on 2 CPUs, think {COMPARED}"),
            value: (share * 1000.0).round() / 1000.0,
            bound: *bound,
            least: true,
            unit: "of perfect scaling".to_string(),
        })
    };
    SCALING.iter().filter_map(limit).collect()
}
