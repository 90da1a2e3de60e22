//! `herd`: how late the highest thread runs while a herd of hostile threads attacks it, by their
//! number.

mod measure;
mod slope;
#[cfg(test)]
mod tests;

use super::parameter::Parameter;
use super::{Cpus, Experiment, Measure};

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "herd",
    about: "How late the highest thread runs under attack, by the number of hostile threads",
    ledger: &["X-12", "X-13"],
    machines: &[Measure::Emulated(measure::measure), Measure::Simulated(measure::several)],
    cpus: Cpus::OneOf(&[1, 4]),
    kernels: &KERNELS,
    metrics: &[DELAY, WORST, SERVICE, SLOPE, SLOPE_WORST, SLOPE_SERVICE],
    parameters: &[
        Parameter::count("threads", [1, MOST], &THREADS, "of the herd"),
        Parameter::choice("attack", &ATTACKS, "of the herd"),
        Parameter::samples(&[10], "samples"),
    ],
    conditions: &[
        ("victim", "priority 250; its server 240; the herd 30 to 199, or a class at 200"),
        ("rights of the herd", "quotas, a call to the victim's server, `divide` of its own class"),
        ("tick and time slice", "1 s"),
        ("attacks in a loop", "the event is 5 to 35 us ahead, at random"),
        ("blows at an instant", "every other event is at that instant, the others behind it"),
        ("warm-up", "one sample of each event that is not recorded"),
    ],
    notes: &[
        "From the event to the counter read of the thread that waited for it: the instant that a \
         timer or a timeout was set for, or the counter that the server read before its signal or \
         answer. Nothing is subtracted.",
        "`service` is from the instant at which the server is to signal, or begins to serve its \
         queue, to the victim: where endpoints are served by arrival, the herd's calls are before \
         the victim's.",
        "`slope`, `slope-worst` and `slope-service` are the rise of the straight line of least \
         squares through the medians, through the worst delays and through the medians of \
         `service`, for 1,000 threads; 0 also where it falls.",
        "On 4 CPUs, in the simulation, whose CPUs run at one time, the herd's threads are on all \
         in turn, its leader on the second, and the victim and its server on the first; the \
         locking is `fine`. Attacks by reservations are left out.",
        "No device of these machines interrupts at an instant that a program knows: a timer and a \
         timeout are what the timer's interrupt brings.",
    ],
    ..Experiment::USUAL
};

/// One with a fast path, one whose ready queue is exact, one that sorts senders, and the tree.
const KERNELS: [&str; 4] = ["fastpath", "strict-eager", SORTING, manifest::TREE];
/// The kernel that serves senders by priority: of it one attack is measured.
const SORTING: &str = "ipc-heap";

/// From an event to the thread.
const DELAY: &str = "delay";
/// The longest.
const WORST: &str = "delay-worst";
/// From when the server is to signal, or begins to serve, to the victim.
const SERVICE: &str = "service";
/// How the medians of a metric grow.
const SLOPE_SERVICE: &str = "slope-service";
const SLOPE: &str = "slope";
const SLOPE_WORST: &str = "slope-worst";

/// The most threads of a herd.
const MOST: u64 = 4_000;
/// Threads of the herd, usually: as many as fill each queue, and a run of some seconds can have.
const THREADS: [u64; 3] = [1, 16, 128];

/// All attacks, in the order of the program's.
const ATTACKS: [&str; 16] = [
    "none",
    "queue",
    "timers",
    "timeouts",
    "notifications",
    "priorities",
    "cancellations",
    "chains",
    "rings",
    "futex-domain",
    "futex-shared",
    "futex-inherit",
    "creation",
    "budgets",
    "curves",
    "misses",
];
/// Those that take reservations.
const OF_TREE: [&str; 3] = ["budgets", "curves", "misses"];

/// Events, as the program numbers them from 1.
const EVENTS: [&str; 5] = ["timer", "timeout", "signal", "answer", "reservation"];

/// Whether a kernel is measured under an attack, on so many CPUs.
fn suffers(kernel: &str, attack: &str, cpus: u32) -> bool {
    match kernel {
        // A class is of one CPU, and so are all who run on its leaves.
        _ if cpus > 1 && OF_TREE.contains(&attack) => false,
        SORTING => attack == "queue",
        manifest::TREE => true,
        _ => !OF_TREE.contains(&attack),
    }
}

/// What a case is but for the herd's threads.
fn scene(event: &str, attack: &str) -> String {
    format!("event={event} attack={attack}")
}

/// A case.
fn case(scene: &str, threads: u64) -> String {
    format!("{scene} threads={threads}")
}
