use super::points::{self, facts};
use super::{COMPARED, METRIC, Scene, THINK, beyond, curves};
use crate::experiment::measured::fact;
use crate::experiment::{Hardware, Measured};
use crate::machine::native::{Host, Throughput};
use anyhow::Result;
use model::Distribution;
use results::{Fact, Limit, Origin};

/// The least share of perfect scaling that these lockings may have at [`COMPARED`] on two CPUs.
const SCALING: [(&str, f64); 2] = [("elided", 0.95), ("fine", 0.95)];

pub fn measure(setup: &Hardware, kernel: &str) -> Result<Measured> {
    let cpus = match &setup.asked.cpus {
        Some(cpus) => cpus.clone(),
        None => (1..=std::thread::available_parallelism()?.get()).collect(),
    };
    let think = setup.asked.numbers("think").unwrap_or(THINK.to_vec());
    let windows = setup.asked.number("windows", 25).to_string();
    let (cpus, think, seed) = (list(&cpus), list(&think), setup.asked.seed.to_string());
    let options = [
        "scaling", "--kernel", kernel, "--cpus", &cpus, "--think", &think, "--rounds", &windows,
        "--seed", &seed,
    ];
    let host = setup.run::<Vec<Throughput>>(&options)?;
    let mut measured = Measured {
        unit: Some("messages per second".to_string()),
        facts: counted(&host),
        ..Measured::default()
    };
    measured.on_host(&host);
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
    let messages = windows().map(|window| window.messages).sum();
    let checked = "in all windows; client and server have checked each";
    vec![
        fact(facts::HERTZ, host.hertz, "per second", "ticks in which think times are counted"),
        fact(facts::CPUS, host.sockets.len() as u64, "", "that the measurement may use"),
        fact(facts::IN_SOCKET, host.in_socket() as u64, "", "of those"),
        fact("windows", windows().count() as u64, "", "in all"),
        fact("disturbed windows", disturbed as u64, "", "left out"),
        fact("messages", messages, "", checked),
    ]
}

/// How near lockings that let CPUs in together come to perfect scaling.
fn limits(scene: &Scene) -> Vec<Limit> {
    let limit = |(locking, bound): &(&str, f64)| {
        let share = scene.throughput(locking, COMPARED, 2)?
            / (2.0 * scene.throughput(locking, COMPARED, 1)?);
        let name = format!("{locking} on 2 CPUs, think {COMPARED}");
        let share = (share * 1000.0).round() / 1000.0;
        Some(Limit::least(name, share, *bound, "of perfect scaling"))
    };
    SCALING.iter().filter_map(limit).collect()
}
