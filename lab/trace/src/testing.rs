//! What the tests of this crate share: traces made up record by record.

use crate::Trace;
use abi::trace::{
    Event, HEADER_WORDS, Keep, MAGIC, PAGE_RECORDS, Record, WORD_CAPACITY, WORD_COST, WORD_CPU,
    WORD_CPUS, WORD_EVENTS, WORD_HZ, WORD_KEEP, WORD_KERNEL, WORD_MAGIC, WORD_START, WORD_TURN,
    entry,
};

/// The counter at boot, so that stamps soon wrap.
pub(crate) const START: u64 = (7 << 48) - 5000;
/// The counter's frequency: a step is a nanosecond.
pub(crate) const HZ: u64 = 1_000_000_000;
/// What a record takes beyond its cost when it fills a page.
pub(crate) const TURN: u64 = 24;

/// A trace in the making. Times are steps since boot.
pub(crate) struct Maker {
    pub(crate) now: u64,
    pub(crate) cost: u64,
    pub(crate) records: Vec<Record>,
}

impl Maker {
    pub(crate) fn new() -> Maker {
        Maker { now: 0, cost: 10, records: Vec::new() }
    }

    /// Time passes.
    pub(crate) fn pass(&mut self, steps: u64) -> &mut Maker {
        self.now += steps;
        self
    }

    /// A record, which takes its time.
    pub(crate) fn note(
        &mut self,
        event: Event,
        thread: u16,
        argument: u32,
        extra: u16,
    ) -> &mut Maker {
        let time = (START + self.now) & ((1 << 48) - 1);
        self.records.push(Record { time, thread, argument, extra, event, cpu: 0 });
        let fills = self.records.len().is_multiple_of(PAGE_RECORDS);
        self.pass(self.cost + if fills { TURN } else { 0 })
    }

    pub(crate) fn thread(&mut self, thread: u16, domain: u32, priority: u16) -> &mut Maker {
        self.note(Event::Thread, thread, domain, priority)
    }

    pub(crate) fn enter(&mut self, thread: u16, code: u32) -> &mut Maker {
        self.note(Event::Enter, thread, code, 0)
    }

    pub(crate) fn exit(&mut self, thread: u16) -> &mut Maker {
        self.note(Event::Exit, thread, 0, 0)
    }

    pub(crate) fn switch(&mut self, to: u16, from: u16, priority: u16) -> &mut Maker {
        self.note(Event::Switch, to, u32::from(from), priority).pass(50)
    }

    /// `from` calls `to`, which has been waiting.
    pub(crate) fn call(&mut self, from: u16, to: u16, priority: u16) -> &mut Maker {
        self.enter(from, 1).pass(60);
        self.note(Event::Message, from, u32::from(to), 2).note(Event::Wake, to, 0, 0);
        self.note(Event::Block, from, 0, 5).switch(to, from, priority).exit(to)
    }

    /// `from` replies to `to` and waits.
    pub(crate) fn reply(&mut self, from: u16, to: u16, priority: u16) -> &mut Maker {
        self.enter(from, 2).pass(60);
        self.note(Event::Message, from, u32::from(to), 0).note(Event::Wake, to, 0, 0);
        self.note(Event::Block, from, 0, 4).switch(to, from, priority).exit(to)
    }

    /// The timer interrupts `from`, wakes `to` and goes over to it.
    pub(crate) fn timer_wakes(&mut self, from: u16, to: u16, priority: u16) -> &mut Maker {
        self.enter(from, entry::TIMER).pass(100);
        self.note(Event::Expire, to, 30, 0).pass(80).note(Event::Wake, to, 0, 0).pass(20);
        self.note(Event::Insert, to, 0, 2).pass(30).switch(to, from, priority).exit(to)
    }

    /// The bytes that a kernel with room for so many records would have left.
    pub(crate) fn bytes(&self, keep: Keep, capacity: usize) -> Vec<u8> {
        encode(&self.records, keep, capacity, self.cost)
    }

    /// The same under the kernel with a scheduling tree, whose switches name no priorities.
    pub(crate) fn of_tree(&self) -> Trace {
        let mut bytes = self.bytes(Keep::First, self.records.len());
        bytes[8 * WORD_KERNEL..][..8].copy_from_slice(b"tree\0\0\0\0");
        Trace::decode(&bytes).unwrap()
    }

    /// The trace with room for all.
    pub(crate) fn trace(&self) -> Trace {
        Trace::decode(&self.bytes(Keep::First, self.records.len())).unwrap()
    }
}

/// What a kernel leaves that wanted to write these records.
pub(crate) fn encode(records: &[Record], keep: Keep, capacity: usize, cost: u64) -> Vec<u8> {
    encode_cpu(records, keep, capacity, cost, [0, 1])
}

/// [`encode`] of one CPU of so many.
pub(crate) fn encode_cpu(
    records: &[Record],
    keep: Keep,
    capacity: usize,
    cost: u64,
    [cpu, cpus]: [u8; 2],
) -> Vec<u8> {
    let mut words = vec![0; HEADER_WORDS + 2 * capacity];
    words[WORD_MAGIC] = MAGIC;
    words[WORD_KERNEL] = u64::from_le_bytes(*b"fastpath");
    words[WORD_CAPACITY] = capacity as u64;
    words[WORD_EVENTS] = records.len() as u64;
    words[WORD_HZ] = HZ;
    words[WORD_START] = START;
    words[WORD_CPU] = cpu.into();
    words[WORD_CPUS] = cpus.into();
    words[WORD_KEEP] = keep as u64;
    words[WORD_COST] = cost;
    words[WORD_TURN] = TURN;
    for (number, record) in records.iter().enumerate() {
        if number < capacity || keep == Keep::Last && capacity > 0 {
            let place = HEADER_WORDS + 2 * (number % capacity);
            words[place..place + 2].copy_from_slice(&record.words());
        }
    }
    words.into_iter().flat_map(u64::to_le_bytes).collect()
}

/// Two threads that talk, a timer that wakes a third, and one of everything notable.
pub(crate) fn conversation() -> Maker {
    let mut m = Maker::new();
    m.thread(0, 0, u16::MAX).thread(1, 1, 100).thread(2, 2, 90).thread(3, 2, 200);
    m.pass(300).note(Event::Switch, 3, 0, 200).exit(3).pass(200);
    m.enter(3, 0).pass(90).note(Event::Block, 3, 0, 4).note(Event::Arm, u16::MAX, 9000, 0);
    m.note(Event::LookUp, 2, 0, 0).switch(2, 3, 90).exit(2).pass(150);
    m.enter(2, 0).pass(80).note(Event::Block, 2, 0, 4).note(Event::LookUp, 1, 0, 0);
    m.switch(1, 2, 100).exit(1);
    for round in 0..6 {
        m.pass(400).call(1, 2, 90).note(Event::Donate, 2, 1, 0);
        m.pass(600 + 10 * round).reply(2, 1, 100);
    }
    m.timer_wakes(1, 3, 200).pass(500).enter(3, 60).note(Event::Mark, 3, 42, 0).exit(3).pass(200);
    m.enter(3, 0).pass(90).note(Event::Block, 3, 0, 4).note(Event::LazyDequeue, 2, 0, 0).pass(700);
    m.note(Event::Preempt, 2, 0, 0).pass(90).note(Event::LookUp, 1, 7, 0).switch(1, 3, 100).exit(1);
    m.pass(800).enter(1, entry::IRQ_0 + 4).note(Event::Signal, u16::MAX, 3, 0).pass(90).exit(1);
    m.pass(900).enter(1, entry::FAULT).note(Event::Fault, 1, 14, 0).note(Event::Block, 1, 0, 3);
    m.note(Event::Queue, 1, 5, 1).note(Event::LookUp, 0, 0, 0).switch(0, 1, u16::MAX).exit(0);
    m.pass(5000).enter(0, entry::TIMER).pass(40).note(Event::Tick, 0, 0, 0).pass(60).exit(0);
    m
}

/// A supervisor (`ping-client/1`) makes a domain and a thread twice at the same place, and a call
/// of the thread fails.
pub(crate) fn made() -> Maker {
    use abi::trace::name_part;
    let part = |text: &[u8; 4]| u32::from_le_bytes(*text);
    let mut m = Maker::new();
    m.thread(0, 0, u16::MAX).thread(1, 1, 100);
    m.pass(100).note(Event::Switch, 1, 0, 100).exit(1).pass(100);
    for (name, worker) in [(b"pump", *b"tick"), (b"fan\0", [0; 4])] {
        m.enter(1, 40).note(Event::Domain, 1, 3, 1).pass(30).exit(1).pass(20);
        m.enter(1, 54).note(Event::Name, 3, part(name), name_part(0, true)).exit(1);
        m.enter(1, 42).thread(5, 3, 50).exit(1).pass(20);
        m.enter(1, 54).note(Event::Name, 5, part(&worker), name_part(0, false)).exit(1);
        m.enter(1, 0).note(Event::Block, 1, 0, 4).switch(5, 1, 50).exit(5).pass(100);
        m.enter(5, 17).note(Event::Fail, 5, abi::Error::Stale as u32, 0).exit(5).pass(40);
        m.enter(5, 256).note(Event::Wake, 1, 0, 0).switch(1, 5, 100).exit(1);
    }
    m
}

/// The threads of [`inversion`].
pub(crate) const CONTROL: u16 = 1;
pub(crate) const PLANNER: u16 = 2;
pub(crate) const LOGGER: u16 = 3;
/// The call that waits for a mutex.
pub(crate) const WAIT: u32 = 64;

/// A mutex whose owner inherits, as records name it.
pub(crate) fn bus() -> u32 {
    abi::trace::Awaited::InheritMutex.at(0x8000_0040)
}

/// The logger holds the bus, for which control waits; the planner wakes meanwhile, and is of
/// medium priority. Then the logger hands the bus over.
pub(crate) fn inversion() -> Maker {
    let mut m = Maker::new();
    m.thread(0, 0, u16::MAX).thread(CONTROL, 1, 100).thread(PLANNER, 1, 80);
    m.thread(LOGGER, 1, 60).pass(100).note(Event::Switch, CONTROL, 0, 100).exit(CONTROL);
    for (thread, next, priority) in [(CONTROL, PLANNER, 80), (PLANNER, LOGGER, 60)] {
        m.pass(50).enter(thread, 0).note(Event::Block, thread, 0, 4);
        m.switch(next, thread, priority).exit(next);
    }
    m.pass(400).timer_wakes(LOGGER, CONTROL, 100).pass(100);
    m.enter(CONTROL, WAIT).note(Event::Wait, CONTROL, bus(), LOGGER);
    m.note(Event::Priority, LOGGER, 0, 100).note(Event::Block, CONTROL, 0, 6);
    m.switch(LOGGER, CONTROL, 100).exit(LOGGER).pass(300);
    // The planner's instant: the logger goes on.
    m.enter(LOGGER, entry::TIMER).pass(40).note(Event::Expire, PLANNER, 30, 0);
    m.note(Event::Wake, PLANNER, 0, 0).exit(LOGGER).pass(700);
    m.enter(LOGGER, 65).note(Event::Priority, LOGGER, 0, 60).note(Event::Wake, CONTROL, 0, 0);
    m.switch(CONTROL, LOGGER, 100).exit(CONTROL).pass(200);
    m.enter(CONTROL, 0).note(Event::Block, CONTROL, 0, 4).switch(PLANNER, CONTROL, 80);
    m.exit(PLANNER).pass(300);
    m
}
