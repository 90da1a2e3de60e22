//! How many messages a second several CPUs get through, each with a client and a server of its own
//! (S1-E02 to E04).
//!
//! All CPUs measure in one window by the counter that they share, and each says how much of it the
//! host took for something else.

use crate::driver::{self, Drive, Share};
use crate::request::Request;
use crate::think::{Think, random};
use crate::{counter, kernels, pin};
use serde::Serialize;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::thread::{self, ScopedJoinHandle};

/// A window of which a CPU has lost more than one part in so many to the host is disturbed.
const DISTURBED: u64 = 100;
/// Windows that are tried for each one that is wanted, until enough were left alone.
const PATIENCE: u64 = 4;

/// So is one for which a CPU came later than one part in so many: more than a chunk is long.
const LATE: u64 = 50;
/// Messages of each CPU in a window at least, about.
const MESSAGES: u64 = 300;
/// Ticks between two looks at the counter, about, and most messages in between.
const CHUNK: u64 = 8192;
/// See [`CHUNK`].
const MOST_IN_CHUNK: u64 = 32;

/// What happened in a window of time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Window {
    /// Messages of all CPUs.
    pub messages: u64,
    /// Messages of all CPUs in a second: the sum of each CPU's own.
    pub per_second: u64,
    /// Whether the host ran something else on one of the CPUs meanwhile.
    pub disturbed: bool,
}

impl Window {
    /// A window of so many ticks, by what each CPU did.
    fn of(shares: &[Share], hertz: u64, length: u64) -> Window {
        let rate = |share: &Share| {
            u128::from(share.messages) * u128::from(hertz) / u128::from(share.ticks.max(1))
        };
        let away = |share: &Share| {
            let lost = u128::from(share.lost) * u128::from(hertz) / 1_000_000_000;
            lost * u128::from(DISTURBED) > u128::from(length) || share.late * LATE > length
        };
        Window {
            messages: shares.iter().map(|share| share.messages).sum(),
            per_second: shares.iter().map(rate).sum::<u128>() as u64,
            disturbed: shares.iter().any(away),
        }
    }
}

/// What a locking, a think time and a number of CPUs gave.
#[derive(Serialize)]
pub struct Throughput {
    /// The locking.
    pub locking: &'static str,
    /// The mean think time in ticks.
    pub think: u64,
    /// How many CPUs.
    pub cpus: u32,
    /// All windows, in order.
    pub windows: Vec<Window>,
}

/// A booted system and the points that are measured on it.
struct Rig {
    cpus: Vec<Box<dyn Drive>>,
    points: Vec<Throughput>,
}

/// Measures. Points take turns in rounds, so that what the host does meanwhile meets all alike.
pub fn measure(request: &Request, hertz: u64) -> Result<Vec<Throughput>, String> {
    let most = request.cpus.iter().copied().max().unwrap_or(1);
    let host = pin::choose(most)?;
    let mut rigs = Vec::new();
    for locking in &request.lockings {
        // A kernel without locks is for one CPU.
        let fits = |cpus: &&u32| **cpus == 1 || !locking.starts_with("none");
        for cpus in request.cpus.iter().filter(fits) {
            let booted = kernels::boot(&request.kernel, locking, hertz, *cpus)?;
            let point = |think| Throughput { locking, think, cpus: *cpus, windows: Vec::new() };
            let points = request.think.iter().copied().map(point).collect();
            rigs.push(Rig { cpus: booted, points });
        }
    }
    for round in 0..request.rounds * PATIENCE {
        for rig in &mut rigs {
            for point in &mut rig.points {
                let left_alone = point.windows.iter().filter(|window| !window.disturbed).count();
                if (left_alone as u64) < request.rounds {
                    let seed = request.seed ^ round << 32 ^ point.think;
                    let (cpus, timing) = (&mut rig.cpus, (hertz, seed));
                    let window = measure_window(cpus, point.think, request, &host, timing)?;
                    point.windows.push(window);
                }
            }
        }
    }
    Ok(rigs.into_iter().flat_map(|rig| rig.points).collect())
}

/// One window, after a warm-up, with a pinned thread for each CPU.
fn measure_window(
    cpus: &mut [Box<dyn Drive>],
    think: u64,
    request: &Request,
    host: &[usize],
    (hertz, seed): (u64, u64),
) -> Result<Window, String> {
    let ticks = |microseconds: u64| microseconds * hertz / 1_000_000;
    let window = driver::Window {
        begins: AtomicU64::new(0),
        ticks: ticks(request.window).max(think * MESSAGES),
        chunk: (CHUNK / (think + 1)).clamp(1, MOST_IN_CHUNK),
    };
    let (mut seed, count, here) = (seed, cpus.len(), AtomicUsize::new(0));
    let shares: Vec<Share> = thread::scope(|scope| {
        let mut threads: Vec<ScopedJoinHandle<Result<Share, String>>> = Vec::new();
        for (cpu, own) in cpus.iter_mut().zip(host) {
            cpu.set_think(Think::new(think, request.scatter, random(&mut seed)));
            let (window, here) = (&window, &here);
            threads.push(scope.spawn(move || {
                let pinned = pin::pin(*own);
                // The last one to arrive says when it begins.
                if here.fetch_add(1, AcqRel) + 1 == count {
                    window.begins.store(counter::now() + ticks(request.warm_up), Release);
                }
                while window.begins.load(Acquire) == 0 {
                    std::hint::spin_loop();
                }
                pinned.map(|()| cpu.run(window))
            }));
        }
        let join = |thread: ScopedJoinHandle<_>| {
            thread.join().map_err(|_| "a CPU has panicked".to_string())?
        };
        threads.into_iter().map(join).collect::<Result<_, String>>()
    })?;
    Ok(Window::of(&shares, hertz, window.ticks))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::LOCKINGS;

    fn measured(line: &str) -> Result<Vec<Throughput>, String> {
        let words: Vec<String> = line.split_whitespace().map(String::from).collect();
        measure(&Request::parse(&words).expect("a command line"), counter::hertz())
    }

    #[test]
    fn all_cpus_get_messages_through() {
        let found = measured("scaling --think 0,500 --rounds 1 --window 300").unwrap();
        assert_eq!(found.len(), 2 * LOCKINGS.len());
        for point in &found {
            assert!(point.windows.iter().any(|window| window.messages > 0), "{}", point.locking);
        }
    }

    #[test]
    fn a_window_is_the_sum_of_its_cpus() {
        let share = |messages, lost| Share { messages, ticks: 2000, late: 0, lost };
        let window = Window::of(&[share(10, 0), share(20, 10_000)], 1_000_000, 1_000);
        assert_eq!(window, Window { messages: 30, per_second: 15_000, disturbed: false });
        let lost = [share(10, 0), share(1, 11_000)];
        assert!(Window::of(&lost, 1_000_000, 1_000).disturbed);
        let late = [share(10, 0), Share { late: 21, ..share(1, 0) }];
        assert!(Window::of(&late, 1_000_000, 1_000).disturbed);
    }

    #[test]
    fn more_cpus_than_the_host_has_are_refused() {
        let error = measured("scaling --lockings big --cpus 1024").err().expect("it is refused");
        assert!(error.starts_with("1024 CPUs were asked for"), "{error}");
    }
}
