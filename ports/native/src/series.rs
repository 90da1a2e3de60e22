//! Series of operations of many threads on one CPU: hops of a ring ([`ring`]), and
//! clients that queue for a server ([`queue`]).

use crate::request::{Command, Request};
use crate::{kernels, pin, queue, ring};
use serde::Serialize;

/// Rounds that are not recorded.
const WARM_UP: u64 = 2;

/// A load that runs in series of different sizes.
pub trait Workload {
    /// Runs a series of this size; returns its ticks.
    fn series(&mut self, size: u64) -> u64;
    /// Operations in such a series.
    fn operations(&self, size: u64) -> u64;
}

/// Series of one size.
#[derive(Serialize)]
pub struct Series {
    /// Potatoes, or clients.
    pub size: u64,
    /// Hops, or clients served, in each.
    pub operations: u64,
    /// Ticks of each.
    pub ticks: Vec<u64>,
}

/// Measures. Sizes take turns, so that what the host does meanwhile meets all alike.
pub fn measure(request: &Request, hertz: u64) -> Result<Vec<Series>, String> {
    pin::pin(pin::choose(1)?[0])?;
    let largest = request.sizes.iter().copied().max().unwrap_or(1);
    let mut load = match request.command {
        Command::Ring => {
            let &Request { threads, hops, seed, .. } = request;
            if largest >= threads {
                return Err(format!("{largest} potatoes in a ring of {threads} cannot move"));
            }
            let of = ring::Load { threads, hops, seed };
            kernels::boot_load(&request.kernel, hertz, &of)?
        }
        _ => {
            if largest > request.threads {
                return Err(format!("{largest} of {} clients cannot queue", request.threads));
            }
            let of = queue::Load { clients: request.threads, seed: request.seed };
            kernels::boot_load(&request.kernel, hertz, &of)?
        }
    };
    let series = |size: &u64| Series {
        size: *size,
        operations: load.operations(*size),
        ticks: Vec::with_capacity(request.rounds as usize),
    };
    let mut all: Vec<Series> = request.sizes.iter().map(series).collect();
    for round in 0..WARM_UP + request.rounds {
        for series in &mut all {
            let ticks = load.series(series.size);
            if round >= WARM_UP {
                series.ticks.push(ticks);
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter;

    fn measured(line: &str) -> Result<Vec<Series>, String> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        measure(&Request::parse(&words).expect("a command line"), counter::hertz())
    }

    #[test]
    fn every_kernel_passes_potatoes_on() {
        for kernel in kernels::KERNELS {
            let line =
                format!("ring --kernel {kernel} --threads 20 --hops 100 --sizes 1,7,19 --rounds 2");
            let found = measured(&line).expect(kernel);
            assert_eq!(found.iter().map(|series| series.size).collect::<Vec<_>>(), [1, 7, 19]);
            for series in found {
                assert_eq!((series.operations, series.ticks.len()), (100, 2), "{kernel}");
                assert!(series.ticks.iter().all(|ticks| *ticks > 0), "{kernel}");
            }
            let line =
                format!("ring --kernel {kernel} --threads 300 --hops 600 --sizes 3,299 --rounds 1");
            assert_eq!(measured(&line).expect(kernel).len(), 2);
        }
    }

    #[test]
    fn every_kernel_serves_a_queue() {
        for kernel in kernels::KERNELS {
            let line = format!("queue --kernel {kernel} --threads 50 --sizes 1,50 --rounds 2");
            let found = measured(&line).expect(kernel);
            assert_eq!(found.iter().map(|s| s.operations).collect::<Vec<_>>(), [1, 50]);
            assert!(found.iter().all(|series| series.ticks.len() == 2));
        }
    }

    #[test]
    fn what_cannot_run_is_refused() {
        let error = measured("ring --threads 20 --sizes 20").err().expect("it cannot move");
        assert!(error.contains("20 potatoes in a ring of 20"), "{error}");
        let error = measured("queue --threads 20 --sizes 21").err().expect("they are too few");
        assert!(error.contains("21 of 20 clients"), "{error}");
    }
}
