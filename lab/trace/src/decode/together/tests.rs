use super::*;
use crate::testing::{START, encode_cpu};
use abi::trace::{NO_THREAD, Record};

/// What one CPU writes: the event, its argument and when.
type Wrote = (Event, u32, u64);

/// The memory of two CPUs, each of which is alone where it has the lock.
fn memory(cpus: [&[Wrote]; 2]) -> Vec<u8> {
    memory_of(cpus, [Way::Alone; 2])
}

/// The memory of two CPUs, each of which takes the lock in a way.
fn memory_of(cpus: [&[Wrote]; 2], ways: [Way; 2]) -> Vec<u8> {
    let ring = |(cpu, wrote): (u8, &[Wrote])| {
        let record = |&(event, argument, at): &Wrote| Record {
            time: (START + at) & ((1 << 48) - 1),
            thread: NO_THREAD,
            argument,
            extra: ways[usize::from(cpu)].extra(None),
            event,
            cpu,
        };
        let records: Vec<Record> = wrote.iter().map(record).collect();
        encode_cpu(&records, Keep::First, PAGE_RECORDS, 0, [cpu, 2])
    };
    (0..).zip(cpus).flat_map(ring).collect()
}

/// Two sections of the lock, and an interrupt from CPU 0 to CPU 1.
const FIRST: [Wrote; 3] = [(Event::Lock, 0, 100), (Event::Unlock, 0, 150), (Event::Ipi, 1, 160)];
const SECOND: [Wrote; 3] =
    [(Event::Lock, 20, 170), (Event::Enter, entry::IPI, 172), (Event::Unlock, 0, 190)];

#[test]
fn all_moments_are_in_the_order_of_time() {
    let traces = Traces::decode(&memory([&FIRST, &SECOND])).unwrap();
    let order: Vec<(u64, u8)> = traces.all.moments.iter().map(|m| (m.steps, m.cpu)).collect();
    assert_eq!(order, [(100, 0), (150, 0), (160, 0), (170, 1), (172, 1), (190, 1)]);
    assert_eq!((traces.each.len(), traces.all.events, traces.lost()), (2, 6, 0));
    assert_eq!((traces.all.held(), traces.each[1].held()), (0..2, 1..2));
}

#[test]
fn a_lock_is_not_taken_before_it_is_released() {
    let early: Vec<Wrote> = SECOND.iter().map(|&(e, a, at)| (e, a, at - 30)).collect();
    let error = Traces::decode(&memory([&FIRST, &early])).unwrap_err().to_string();
    assert!(error.ends_with("step 140: CPU 1 takes the lock 10 before CPU 0 lets go"), "{error}");
}

#[test]
fn sections_that_share_the_lock_may_overlap() {
    let early: Vec<Wrote> = SECOND.iter().map(|&(e, a, at)| (e, a, at - 30)).collect();
    let early = [&FIRST[..2], &early[..1], &early[2..]];
    let read = |ways| {
        let second = [early[1], early[2]].concat();
        Traces::decode(&memory_of([early[0], &second], ways))
    };
    for way in [Way::Reader, Way::Transaction] {
        assert!(read([way; 2]).is_ok(), "{way:?}");
    }
    for ways in [[Way::Reader, Way::Alone], [Way::FallBack, Way::Reader], [Way::FallBack; 2]] {
        let error = read(ways).unwrap_err().to_string();
        assert!(error.contains("contradict each other, at counter step 140"), "{ways:?}: {error}");
    }
}

#[test]
fn an_interrupt_is_not_taken_before_it_is_sent() {
    let late = [FIRST[0], FIRST[1], (Event::Ipi, 1, 173)];
    let error = Traces::decode(&memory([&late, &SECOND])).unwrap_err();
    assert!(error.to_string().contains("an IPI that no CPU has sent yet"), "{error}");
    // One interrupt may stand for several that were sent, not the other way round.
    let twice = [SECOND, SECOND.map(|(e, a, at)| (e, a, at + 100))].concat();
    assert!(Traces::decode(&memory([&FIRST, &twice])).is_err());
    let often = [&FIRST[..], &[(Event::Ipi, 1, 165)]].concat();
    assert!(Traces::decode(&memory([&often, &SECOND])).is_ok());
}

#[test]
fn traces_of_other_runs_are_refused() {
    let both = memory([&FIRST, &SECOND]);
    let half = both.len() / 2;
    let twice = [&both[..half], &both[..half]].concat();
    let error = |bytes: &[u8]| Traces::decode(bytes).unwrap_err().to_string();
    let stranger = "the trace of CPU 1 is not one of 2 of the same run: the CPU differs";
    assert_eq!(error(&twice), stranger);
    assert!(error(&both[..half]).starts_with("the trace is truncated"));
}
