//! What the tests of this crate share.

use crate::{Claim, Fact, Origin, Record, Report, Samples, Verdict, baselines};
use abi::results::{HEADER_WORDS, MAGIC, Tag, WORD_COUNT, WORD_DONE, WORD_HZ, WORD_KERNEL};

pub(crate) fn record(metric: u16, case: u16, round: u16, point: u16, time: u64) -> Record {
    Record { tag: Tag { metric, case, round, point }, time }
}

/// The bytes that a program would have left.
pub(crate) fn encode(kernel: &str, records: &[Record]) -> Vec<u8> {
    let mut header = [0; HEADER_WORDS];
    header[0] = MAGIC;
    header[WORD_COUNT] = records.len() as u64;
    header[WORD_DONE] = 1;
    header[WORD_HZ] = 1_000_000_000;
    let body = records.iter().flat_map(|record| [record.tag.word(), record.time]);
    let mut bytes: Vec<u8> = header.into_iter().chain(body).flat_map(u64::to_le_bytes).collect();
    bytes[WORD_KERNEL * 8..][..kernel.len()].copy_from_slice(kernel.as_bytes());
    bytes
}

/// A text in lines of some 80 columns, for snapshots.
pub(crate) fn folded(text: &str) -> String {
    let (mut folded, mut column) = (String::new(), 0);
    for word in text.split(' ') {
        let gap = if column == 0 { "" } else { " " };
        let gap = if column + word.len() > 80 { "\n" } else { gap };
        folded.extend([gap, word]);
        let line = folded.rsplit('\n').next().unwrap_or_default();
        column = line.len();
    }
    folded
}

/// A message sweep with made-up figures, shaped like the real experiment.
pub(crate) fn ping_pong() -> (Report, Samples) {
    let mut samples = Samples::default();
    for (kernel, base, reply) in [("fastpath", 118, 122), ("direct-lazy", 170, 181)] {
        for (metric, base) in [("call", base), ("reply-wait", reply)] {
            for (place, less) in [("across", 0), ("same", 9)] {
                for words in [0, 4, 8, 16, 32, 64] {
                    let value = base - less + if words > 4 { 60 + 3 * words } else { 0 };
                    let case = format!("{place} words={words}");
                    samples.push(kernel, metric, &case, vec![value; 1000]);
                }
            }
        }
    }
    (report("ping-pong", &samples), samples)
}

/// A flat list of operations with made-up figures, one of them scattered.
pub(crate) fn micro() -> (Report, Samples) {
    let mut samples = Samples::default();
    let figures = [
        ("null-call", 62),
        ("send-higher", 310),
        ("notify-higher", 240),
        ("notify-lower", 120),
        ("interrupt", 170),
        ("yield", 130),
        ("fault-deliver", 300),
        ("fault-resume", 280),
        ("fault-round-trip", 560),
        ("map", 760),
        ("protect", 210),
        ("cap-revoke", 90),
    ];
    for (metric, value) in figures {
        let scattered = metric == "interrupt";
        let values = (0..1000).map(|round| value + if scattered { round % 7 } else { 0 });
        samples.push("fastpath", metric, "", values.collect());
    }
    (report("micro", &samples), samples)
}

fn report(experiment: &str, samples: &Samples) -> Report {
    let text = |text: &str| text.to_string();
    Report {
        commit: text("0123456789abcdef0123456789abcdef01234567"),
        host: [("cpu".into(), text("a model")), ("cpus".into(), text("2"))].into(),
        rows: samples.rows(),
        claims: vec![
            Claim {
                id: text("S0-C04"),
                statement: text("The fast path is faster than the general path."),
                verdict: Verdict::Reproduced,
                evidence: text("118 against 170 instructions."),
                judged: Vec::new(),
            },
            Claim {
                id: text("S0-C05e"),
                statement: text("The cost per hop rises with the working set."),
                verdict: Verdict::NotObservable,
                evidence: text("Instruction counts see no caches."),
                judged: Vec::new(),
            },
        ],
        baselines: baselines(experiment),
        facts: vec![
            Fact {
                name: text("kernel text"),
                value: 41_216,
                unit: text("bytes"),
                note: text("one kernel"),
            },
            Fact {
                name: text("page-table loads per round trip"),
                value: 2,
                unit: String::new(),
                note: String::new(),
            },
        ],
        notes: vec![text("16 warm-up rounds precede each case.")],
        ..Report::new(experiment, "bench", Origin::EMULATED, "instructions")
    }
}
