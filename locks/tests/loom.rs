//! Models of the locks: `loom` runs them through all interleavings, and through all values that
//! the memory model lets a load return. Built with the feature `loom`; `./giusto test` does so.
#![cfg(feature = "loom")]
#![forbid(unsafe_code)]

use locks::{
    Abort, Attempt, BigReader, Cause, Clh, Elided, Fine, Holding, Indexed, Kind, LockPolicy,
    ObjectLock, Ordered, Registers, Relax, Seat, Ticket, Transactions,
};
use loom::model::Builder;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering::Relaxed};
use loom::thread;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

struct Yield;

impl Relax for Yield {
    fn relax() {
        thread::yield_now();
    }
}

/// Something that one CPU may change at a time, or several look at: even, unless it changes.
/// Relaxed, so that a lock that orders too little shows old values.
struct Data(AtomicU32);

impl Data {
    fn new() -> Data {
        Data(AtomicU32::new(0))
    }

    fn look(&self) -> u32 {
        let value = self.0.load(Relaxed);
        assert!(value.is_multiple_of(2), "two CPUs are inside");
        value
    }

    fn is_changed(&self, times: u32) {
        assert_eq!(self.look(), 2 * times, "a change was lost");
    }

    fn change(&self) {
        let value = self.look();
        self.0.store(value + 1, Relaxed);
        self.0.store(value + 2, Relaxed);
    }
}

/// Explores what some CPUs do with a state, and looks at what it came to. `preemptions` bounds how
/// often a CPU is interrupted, where three that spin on one word have endless interleavings.
fn explore<S: Send + Sync + 'static>(
    cpus: usize,
    preemptions: Option<usize>,
    make: impl Fn() -> S + Send + Sync + 'static,
    work: impl Fn(&S, usize) + Copy + Send + Sync + 'static,
    result: impl Fn(&S) + Send + Sync + 'static,
) {
    let mut builder = Builder::new();
    builder.preemption_bound = preemptions;
    builder.check(move || {
        let state = Arc::new(make());
        let other = |cpu: usize| {
            let state = state.clone();
            thread::spawn(move || work(&state, cpu))
        };
        let others: Vec<_> = (1..cpus).map(other).collect();
        work(&state, 0);
        others.into_iter().for_each(|cpu| cpu.join().unwrap());
        result(&state);
    });
}

fn change_under_queue_lock(lock: &Clh<4>, seat: &Seat, data: &Data) {
    lock.acquire::<Yield>(seat);
    data.change();
    lock.release(seat);
}

#[test]
fn queue_lock_of_two_cpus_that_come_again() {
    let make = || (Clh::<4>::new(), Data::new());
    explore(
        2,
        None,
        make,
        |(lock, data), cpu| {
            let seat = Clh::<4>::seat(cpu);
            change_under_queue_lock(lock, &seat, data);
            change_under_queue_lock(lock, &seat, data);
        },
        |(_, data)| data.is_changed(4),
    );
}

#[test]
fn queue_lock_of_three_cpus() {
    let make = || (Clh::<4>::new(), Data::new());
    explore(
        3,
        None,
        make,
        |(lock, data), cpu| {
            change_under_queue_lock(lock, &Clh::<4>::seat(cpu), data);
        },
        |(_, data)| data.is_changed(3),
    );
}

#[test]
fn ticket_lock_of_two_cpus_that_come_again() {
    explore(
        2,
        None,
        || (Ticket::new(), Data::new()),
        |(lock, data), _| {
            for _ in 0..2 {
                lock.acquire::<Yield>();
                data.change();
                lock.release();
            }
        },
        |(_, data)| data.is_changed(4),
    );
}

#[test]
fn ticket_lock_of_three_cpus() {
    explore(
        3,
        Some(1),
        || (Ticket::new(), Data::new()),
        |(lock, data), _| {
            lock.acquire::<Yield>();
            data.change();
            lock.release();
        },
        |(_, data)| data.is_changed(3),
    );
}

#[test]
fn a_writer_is_alone_and_readers_are_not() {
    static TOGETHER: AtomicBool = AtomicBool::new(false);
    let make = || (BigReader::<4>::new(3), Data::new(), AtomicU32::new(0));
    explore(
        3,
        None,
        make,
        |(lock, data, readers), cpu| {
            if cpu == 0 {
                lock.write::<Yield>();
                data.change();
                lock.write_end();
                return;
            }
            lock.read::<Yield>(cpu);
            data.look();
            if readers.fetch_add(1, Relaxed) == 1 {
                TOGETHER.store(true, SeqCst);
            }
            readers.fetch_sub(1, Relaxed);
            lock.read_end(cpu);
        },
        |(_, data, _)| data.is_changed(1),
    );
    assert!(TOGETHER.load(SeqCst), "no interleaving has two readers inside");
}

#[test]
fn a_writer_excludes_a_reader_that_comes_again() {
    explore(
        2,
        None,
        || (BigReader::<2>::new(2), Data::new()),
        |(lock, data), cpu| {
            if cpu == 0 {
                lock.write::<Yield>();
                data.change();
                lock.write_end();
                return;
            }
            for _ in 0..2 {
                lock.read::<Yield>(cpu);
                data.look();
                lock.read_end(cpu);
            }
        },
        |(_, data)| data.is_changed(1),
    );
}

#[test]
fn two_writers_do_not_deadlock() {
    explore(
        2,
        None,
        || (BigReader::<2>::new(2), Data::new()),
        |(lock, data), _| {
            lock.write::<Yield>();
            data.change();
            lock.write_end();
        },
        |(_, data)| data.is_changed(2),
    );
}

/// Transactions that never commit.
struct Hopeless;

impl Transactions for Hopeless {
    const AVAILABLE: bool = true;
    fn is_usable() -> bool {
        true
    }
    fn begin() -> Attempt {
        Attempt::Aborted(Abort::Conflict)
    }
    fn commit() {
        unreachable!("nothing has begun");
    }
    fn abort<const CODE: u8>() -> Abort {
        unreachable!("nothing has begun");
    }
    fn is_active() -> bool {
        false
    }
}

#[test]
fn sections_that_fall_back_exclude_each_other() {
    let make = || {
        let lock = Elided::<Hopeless, 4>::new();
        lock.set_attempts(2);
        (lock, Data::new())
    };
    explore(
        2,
        None,
        make,
        |(lock, data), cpu| {
            let seat = Elided::<Hopeless, 4>::seat(cpu);
            lock.begin::<Yield>(&seat);
            data.change();
            lock.end(&seat);
            assert_eq!((seat.counts().fall_backs(), seat.counts().aborts(Cause::Conflict)), (1, 2));
        },
        |(_, data)| data.is_changed(2),
    );
}

#[test]
fn objects_in_any_order_do_not_deadlock() {
    let make = || ([(); 2].map(|()| Ticket::new()), Data::new());
    explore(
        2,
        None,
        make,
        |([a, b], data), cpu| {
            let held = Ordered::new(Kind::Reader);
            let named = if cpu == 0 { [a, b] } else { [b, a] };
            named.into_iter().for_each(|lock| held.add(lock));
            held.take::<Yield>();
            data.change();
            held.let_go();
        },
        |(_, data)| data.is_changed(2),
    );
}

#[test]
fn a_reader_that_holds_an_object_and_a_writer_exclude_each_other() {
    type Kernel = Fine<Yield, 2>;
    let make = || (Kernel::shared(2), Ticket::new(), Data::new());
    explore(
        2,
        None,
        make,
        |(shared, object, data), cpu| {
            let local = Kernel::local(cpu);
            let kind = if cpu == 0 { Kind::Writer } else { Kind::Reader };
            Kernel::begin(shared, &local, kind);
            let held = Ordered::new(kind);
            if kind == Kind::Reader {
                held.add(object);
            }
            held.take::<Yield>();
            data.change();
            held.let_go();
            Kernel::end(shared, &local, kind);
        },
        |(_, _, data)| data.is_changed(2),
    );
}

#[test]
fn a_plan_stands_when_its_objects_are_held() {
    // The partner is what the word says; each CPU moves it on under the partner's lock.
    type State = (AtomicU32, [(Ticket, Data); 2]);
    let make = || -> State { (AtomicU32::new(0), [(); 2].map(|()| (Ticket::new(), Data::new()))) };
    explore(
        2,
        Some(3),
        make,
        |(partner, objects), _| {
            for _ in 0..2 {
                let held = Ordered::new(Kind::Reader);
                let look = || Some(partner.load(Relaxed) as usize);
                let planned = held
                    .take_planned::<Yield, _>(look, |held, at: &usize| held.add(&objects[*at].0));
                let at = planned.expect("the other CPU moves the partner on twice");
                objects[at].1.change();
                partner.store(1 - at as u32, Relaxed);
                held.let_go();
            }
        },
        |(_, objects)| objects.iter().for_each(|(_, data)| data.is_changed(2)),
    );
}

/// Two device registers behind an index.
struct Device {
    selected: AtomicU32,
    registers: [AtomicU32; 2],
}

impl Indexed for Device {
    fn select(&self, index: u32) {
        self.selected.store(index, Relaxed);
    }
    fn write(&self, value: u32) {
        self.registers[self.selected.load(Relaxed) as usize].store(value, Relaxed);
    }
}

/// Each of two CPUs writes a register of its own.
fn registers_of_two<L: ObjectLock + Send>() {
    let registers = || [AtomicU32::new(0), AtomicU32::new(0)];
    let device = move || Device { selected: AtomicU32::new(0), registers: registers() };
    explore(
        2,
        None,
        move || Registers::new(device(), L::new()),
        |pair, cpu| pair.write::<Yield, 1>([(cpu as u32, cpu as u32 + 1)]),
        |pair| {
            let values = [0, 1].map(|n: usize| pair.device().registers[n].load(Relaxed));
            assert_eq!(values, [1, 2], "a CPU writes the other one's register");
        },
    );
}

#[test]
fn registers_behind_an_index_are_not_mixed_up() {
    registers_of_two::<Ticket>();
}

/// The model sees what the lock is for.
#[test]
#[should_panic(expected = "a CPU writes the other one's register")]
fn registers_behind_an_index_need_a_lock() {
    registers_of_two::<()>();
}
