use super::{ACROSS, IN_SOCKET, LOCAL, PING, SOCKETS, WITHIN};
use crate::experiment::measured::fact;
use crate::experiment::{Hardware, Measured};
use crate::machine::native::Lines;
use anyhow::Result;

pub fn measure(setup: &Hardware, kernel: &str) -> Result<Measured> {
    let cpus = match &setup.asked.cpus {
        Some(cpus) => cpus.iter().copied().max().unwrap_or(1),
        None => std::thread::available_parallelism()?.get(),
    };
    let rounds = setup.asked.number("rounds", 2000).to_string();
    let options = ["lines", "--cpus", &cpus.to_string(), "--rounds", &rounds];
    let host = setup.run::<Lines>(&options)?;
    let mut measured = Measured::default();
    measured.on_host(&host);
    let socket = |cpu: usize| host.sockets.get(cpu).copied().unwrap_or(0);
    let distance = |a: usize, b: usize| match (a == b, socket(a) == socket(b)) {
        (true, _) => LOCAL,
        (_, true) => WITHIN,
        _ => ACROSS,
    };
    let mut sizes: Vec<(&str, u64)> = Vec::new();
    for level in &host.found.levels {
        let ticks = level.hundredths.iter().map(|hundredths| (hundredths + 50) / 100).collect();
        let place = distance(level.writer, level.reader);
        measured.samples.join(kernel, &level.level, place, ticks);
        if !sizes.contains(&(&level.level, level.bytes)) {
            sizes.push((&level.level, level.bytes));
        }
    }
    for ping in &host.found.pings {
        let [a, b] = ping.between;
        measured.samples.join(kernel, PING, distance(a, b), ping.ticks.clone());
    }
    let mut sockets = host.sockets.clone();
    sockets.sort_unstable();
    sockets.dedup();
    measured.facts.push(fact(SOCKETS, sockets.len() as u64, "", "with CPUs to use"));
    measured.facts.push(fact(IN_SOCKET, host.in_socket() as u64, "", "that may be used"));
    measured.facts.extend(sizes.into_iter().map(|(level, bytes)| {
        fact(format!("{level} buffer"), bytes, "bytes", "what was written and then read")
    }));
    Ok(measured)
}
