//! The locks and the toy kernel on real threads, against a plain reference.
#![cfg(not(feature = "loom"))]
#![forbid(unsafe_code)]

mod toy;

use locks::{
    Big, BigReader, Clh, Elision, Fine, Kind, Line, LockPolicy, NoTransactions, Pause, Relax,
    Ticket, Unlocked,
};
use proptest::prelude::*;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use toy::{ENDPOINTS, Step, THREADS, Toy, Word, reference};

/// Threads live for milliseconds, or for minutes where they are interpreted on a busy host.
const LONG: Duration = Duration::from_secs(if cfg!(miri) { 3600 } else { 60 });

/// Gives up when a lock has not come for so long that it was lost.
struct Patient;

impl Relax for Patient {
    fn relax() {
        thread_local! {
            static BEGAN: Instant = Instant::now();
        }
        assert!(BEGAN.with(Instant::elapsed) < LONG, "no CPU gets on any more: a lock was lost");
        Pause::relax();
        // There may be fewer processors than threads.
        thread::yield_now();
    }
}

impl Word for AtomicU64 {
    fn new(value: u64) -> AtomicU64 {
        AtomicU64::new(value)
    }
    fn get(&self) -> u64 {
        self.load(Relaxed)
    }
    fn set(&self, value: u64) {
        self.store(value, Relaxed);
    }
}

/// Runs `work` on that many threads, which begin together.
fn together(cpus: usize, work: impl Fn(usize) + Sync) {
    let start = Barrier::new(cpus);
    thread::scope(|scope| {
        for cpu in 0..cpus {
            let (start, work) = (&start, &work);
            scope.spawn(move || {
                start.wait();
                work(cpu);
            });
        }
    });
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let send =
        (0..THREADS, 0..ENDPOINTS).prop_map(|(from, endpoint)| Step::Send { from, endpoint });
    prop::collection::vec(prop_oneof![9 => send, 1 => Just(Step::Manage)], 1..300)
}

fn plans() -> impl Strategy<Value = Vec<Vec<Step>>> {
    prop::collection::vec(steps(), 1..5)
}

fn check<G: LockPolicy>(plans: &[Vec<Step>])
where
    G::Shared: Send,
{
    let toy = Toy::<G, AtomicU64>::new(plans.len());
    together(plans.len(), |cpu| {
        let local = G::local(cpu);
        for &step in &plans[cpu] {
            toy.step(&local, step);
        }
    });
    assert_eq!(toy.shown(), reference(plans.iter().flatten()), "{}", G::NAME);
}

/// A failure is a race: what it was found with need not find it again. On a busy host each wait for
/// a lock may take a time slice, so there are fewer cases than elsewhere.
fn config() -> ProptestConfig {
    let cases = ProptestConfig::default().cases.div_ceil(4);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_policy_comes_to_what_one_cpu_comes_to(plans in plans()) {
        check::<Unlocked>(&plans[..1]);
        check::<Big<Patient, 8>>(&plans);
        check::<Fine<Patient, 4>>(&plans);
        check::<Elision<NoTransactions, Patient, 8>>(&plans);
    }

    #[test]
    fn counters_under_locks_lose_nothing(rounds in prop::collection::vec(1..300_u64, 1..5)) {
        let [queued, ticketed, written] = [(); 3].map(|()| Line::new(AtomicU64::new(0)));
        let (queue, ticket) = (Clh::<8>::new(), Ticket::new());
        let cpus = rounds.len();
        let big_reader = BigReader::<4>::new(cpus);
        together(cpus, |cpu| {
            let seat = Clh::<8>::seat(cpu);
            for round in 0..rounds[cpu] {
                queue.acquire::<Patient>(&seat);
                queued.add(1);
                queue.release(&seat);
                ticket.acquire::<Patient>();
                ticketed.add(1);
                ticket.release();
                if round.is_multiple_of(4) {
                    big_reader.write::<Patient>();
                    written.add(1);
                    big_reader.write_end();
                } else {
                    big_reader.read::<Patient>(cpu);
                    let before = written.get();
                    assert_eq!(before, written.get());
                    big_reader.read_end(cpu);
                }
            }
        });
        let all: u64 = rounds.iter().sum();
        let writes: u64 = rounds.iter().map(|rounds| rounds.div_ceil(4)).sum();
        prop_assert_eq!([queued.get(), ticketed.get(), written.get()], [all, all, writes]);
        prop_assert!(!queue.is_held() && !ticket.is_held());
    }
}

/// An owner of the kernel learns that another CPU waits, and only then.
fn tells_who_waits<G: LockPolicy>() {
    for kind in [Kind::Reader, Kind::Writer] {
        let (shared, local) = (G::shared(3), G::local(2));
        G::begin(&shared, &local, Kind::Writer);
        assert!(!G::is_waited_for(&shared, &local), "no other CPU waits");
        thread::scope(|scope| {
            scope.spawn(|| {
                let other = G::local(1);
                G::begin(&shared, &other, kind);
                assert!(!G::is_waited_for(&shared, &other), "the owner before has gone");
                G::end(&shared, &other, kind);
            });
            while !G::is_waited_for(&shared, &local) {
                Patient::relax();
            }
            G::end(&shared, &local, Kind::Writer);
        });
    }
}

#[test]
fn an_owner_learns_that_another_cpu_waits() {
    tells_who_waits::<Big<Patient, 4>>();
    tells_who_waits::<Fine<Patient, 4>>();
    tells_who_waits::<Elision<NoTransactions, Patient, 4>>();
}
