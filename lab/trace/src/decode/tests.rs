use super::*;
use crate::testing::{HZ, Maker, START, TURN, conversation, encode};
use proptest::prelude::*;

fn with_word(mut bytes: Vec<u8>, index: usize, value: u64) -> Vec<u8> {
    bytes[index * 8..][..8].copy_from_slice(&value.to_le_bytes());
    bytes
}

fn sample() -> Vec<u8> {
    conversation().bytes(Keep::First, 200)
}

#[test]
fn decodes_what_the_kernel_writes() {
    let m = conversation();
    let trace = Trace::decode(&m.bytes(Keep::Last, 200)).unwrap();
    assert_eq!(trace.kernel, "fastpath");
    assert_eq!((trace.hz, trace.start, trace.lost()), (HZ, START, 0));
    assert_eq!((trace.cost, trace.turn), (10, TURN));
    assert_eq!(trace.moments.len(), m.records.len());
    // The stamps wrap on the way.
    assert!(m.records.windows(2).any(|pair| pair[1].time < pair[0].time));
    assert!(trace.moments.windows(2).all(|pair| pair[0].steps + 10 <= pair[1].steps));
    assert_eq!(trace.span(), Some((0, m.now - 10)));
}

#[test]
fn steps_become_nanoseconds_by_the_frequency() {
    let bytes = with_word(sample(), WORD_HZ, 3_000_000_000);
    let trace = Trace::decode(&bytes).unwrap();
    assert!(trace.moments.iter().all(|moment| moment.ns == moment.steps / 3));
    assert_eq!(trace.ns(u64::MAX), u64::MAX / 3);
}

#[test]
fn says_what_is_wrong() {
    let event = HEADER_WORDS + 2 * 7 + 1;
    let cases = [
        (Vec::new(), "it needs 4096 bytes and has 0"),
        (vec![0; 100], "never begun (first word 0x0)"),
        (vec![0; 8192], "never begun (first word 0x0)"),
        (sample()[..64].to_vec(), "it needs 4096 bytes and has 64"),
        (sample()[..5000].to_vec(), "it needs 7296 bytes and has 5000"),
        (with_word(sample(), WORD_CAPACITY, u64::MAX), "is truncated"),
        (with_word(sample(), WORD_KERNEL, 0), "the kernel's name is 0x0"),
        (with_word(sample(), WORD_KEEP, 2), "what is kept is 0x2"),
        (with_word(sample(), WORD_CPU, 256), "the CPU is 0x100"),
        (with_word(sample(), WORD_HZ, 0), "frequency is 0x0"),
        (with_word(sample(), event, 77 << 8), "record 7 of the trace has the unknown event 77"),
        (with_word(sample(), event, 1), "record 7 of the trace is torn: it says CPU 1"),
        (with_word(sample(), event - 1, START << 16), "record 7 of the trace is torn: it is"),
    ];
    for (bytes, message) in cases {
        let error = Trace::decode(&bytes).unwrap_err().to_string();
        assert!(error.contains(message), "{error:?} should say {message:?}");
    }
}

#[test]
fn every_record_of_a_long_trace_is_a_moment() {
    let mut maker = Maker::new();
    (0..5000).for_each(|number| {
        maker.note(Event::Mark, 1, number, 0);
    });
    let trace = Trace::decode(&encode(&maker.records, Keep::First, 5000, 10)).unwrap();
    let numbers: Vec<u32> = trace.moments.iter().map(|moment| moment.argument).collect();
    assert!(numbers.iter().copied().eq(0..5000), "{} moments", numbers.len());
}

#[test]
fn a_crash_leaves_what_was_counted() {
    let crashed = with_word(sample(), WORD_EVENTS, 20);
    // The record after the last that counts is half written.
    let crashed = with_word(crashed, HEADER_WORDS + 2 * 20 + 1, u64::MAX);
    let trace = Trace::decode(&crashed).unwrap();
    assert_eq!(trace.moments, Trace::decode(&sample()).unwrap().moments[..20]);
}

fn record() -> impl Strategy<Value = Record> {
    let event = (0..Event::ALL.len()).prop_map(|number| Event::ALL[number]);
    let fields = (any::<u16>(), any::<u32>(), any::<u16>(), event);
    (0..1u64 << 40, fields).prop_map(|(time, (thread, argument, extra, event))| Record {
        time,
        thread,
        argument,
        extra,
        event,
        cpu: 0,
    })
}

/// Records whose `time` was a distance, one after the other.
fn in_order(mut records: Vec<Record>) -> Vec<Record> {
    let mut now = START;
    for record in &mut records {
        now += record.time;
        record.time = now & STAMP;
    }
    records
}

proptest! {
    #[test]
    fn a_record_is_its_words(record in record()) {
        prop_assert_eq!(Record::from_words(record.words()), Some(record));
    }

    #[test]
    fn what_is_kept_and_what_is_lost_is_exact(
        records in prop::collection::vec(record(), 0..60),
        capacity in 0..60usize,
        last in any::<bool>(),
    ) {
        let records = in_order(records);
        let keep = if last { Keep::Last } else { Keep::First };
        let trace = Trace::decode(&encode(&records, keep, capacity, 3)).unwrap();
        let lost = records.len().saturating_sub(capacity);
        prop_assert_eq!(trace.lost(), lost as u64);
        let kept = if last { &records[lost..] } else { &records[..records.len() - lost] };
        prop_assert_eq!(trace.moments.len(), kept.len());
        for (moment, record) in trace.moments.iter().zip(kept) {
            prop_assert_eq!(moment.steps.wrapping_add(START) & STAMP, record.time);
            let Moment { thread, argument, extra, event, .. } = *moment;
            let Record { time, cpu, .. } = *record;
            prop_assert_eq!(Record { time, thread, argument, extra, event, cpu }, *record);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..9000)) {
        prop_assert!(Trace::decode(&bytes).is_err());
    }

    #[test]
    fn a_damaged_trace_never_panics(
        words in prop::collection::vec((0..HEADER_WORDS + 400, any::<u64>()), 0..3),
        header in prop::collection::vec((0..WORD_TURN + 1, 0..300u64), 0..3),
        length in 0..7297usize,
    ) {
        let damaged = words.iter().chain(&header).fold(sample(), |b, &(at, w)| with_word(b, at, w));
        let _ = Trace::decode(&damaged[..length.min(damaged.len())]);
        everything(&damaged);
    }

    #[test]
    fn any_records_can_be_shown(records in prop::collection::vec(record(), 0..80)) {
        let records = in_order(records);
        everything(&encode(&records, Keep::First, records.len(), 3));
    }
}

/// Everything that is made of a trace, if the bytes are one.
fn everything(bytes: &[u8]) {
    let Ok(trace) = Trace::decode(bytes) else { return };
    let names = crate::Names::of(["one", "two"]);
    let text = crate::timeline(&trace, &names, &crate::View::default());
    assert!(!text.is_empty() && !crate::perfetto(&trace, &names).is_empty());
    assert!(crate::overheads(&trace).table(80).lines().count() > 7);
    crate::kernel_times_table(&crate::kernel_times(&trace), 80);
    let (programmed, ran) = trace.span().unwrap_or_default();
    let sample = crate::Sample { programmed, ran, thread: 1 };
    let _ = crate::blame(&trace, &names, &sample).to_string();
}

#[test]
fn a_maker_without_records_is_an_empty_trace() {
    let trace = Maker::new().trace();
    assert_eq!((trace.span(), trace.lost()), (None, 0));
}
