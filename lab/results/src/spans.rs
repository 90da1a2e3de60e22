//! Pairing records into spans of time.

use crate::Recording;
use abi::results::Tag;
use std::collections::BTreeMap;

/// Case and round of a record.
type Place = (u16, u16);

/// The spans of one metric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    /// By case, in the order of rounds, without the overhead of measuring.
    pub cases: BTreeMap<u16, Vec<u64>>,
    /// What two counter reads in a row cost.
    pub overhead: u64,
    /// How many spans were shorter than the overhead and count as 0.
    pub below_overhead: usize,
}

impl Spans {
    /// A sentence for the report when the overhead swallowed spans.
    pub fn warning(&self) -> Option<String> {
        (self.below_overhead > 0).then(|| {
            format!(
                "{} spans were shorter than the measuring overhead of {} and count as 0.",
                self.below_overhead, self.overhead
            )
        })
    }
}

/// Why records do not pair up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpanError {
    /// One end of a span is missing.
    #[error(
        "metric {metric}, case {case}, round {round}: nothing recorded at point {missing}; the \
         program skipped it or ended in the middle of a round"
    )]
    Unpaired {
        /// The metric of the span.
        metric: u16,
        /// Its case.
        case: u16,
        /// Its round.
        round: u16,
        /// The point that has no record.
        missing: u16,
    },
    /// A point was recorded twice.
    #[error(
        "metric {metric}, case {case}, round {round}: point {point} was recorded twice; count \
         rounds from 0 in each case and record no warm-up rounds"
    )]
    Twice {
        /// The metric of the record.
        metric: u16,
        /// Its case.
        case: u16,
        /// Its round.
        round: u16,
        /// Its point.
        point: u16,
    },
    /// The span ends before it begins.
    #[error(
        "metric {metric}, case {case}, round {round}: ends at {end}, before it begins at {start}"
    )]
    Backwards {
        /// The metric of the span.
        metric: u16,
        /// Its case.
        case: u16,
        /// Its round.
        round: u16,
        /// Counter value at the beginning.
        start: u64,
        /// Counter value at the end.
        end: u64,
    },
    /// The metric does not occur.
    #[error("metric {metric}: nothing was recorded; did the program run this measurement?")]
    Nothing {
        /// The metric asked for.
        metric: u16,
    },
    /// The cost of measuring is unknown.
    #[error("no overhead was recorded: the program must also record pairs of back-to-back reads")]
    NoOverhead,
}

/// The time from `a_point` in recording `a` to `b_point` in recording `b`, for every case and
/// round of a metric, less the measured overhead. Both may be the same recording.
pub fn spans(
    a: &Recording,
    a_point: u16,
    b: &Recording,
    b_point: u16,
    metric: u16,
) -> Result<Spans, SpanError> {
    let pairs = pairs(a, a_point, b, b_point, metric)?;
    if pairs.is_empty() {
        return Err(SpanError::Nothing { metric });
    }
    let overhead = overhead(a)?.into_iter().chain(overhead(b)?).min();
    let mut spans = Spans { overhead: overhead.ok_or(SpanError::NoOverhead)?, ..Spans::default() };
    for ((case, _), span) in pairs {
        spans.below_overhead += usize::from(span < spans.overhead);
        spans.cases.entry(case).or_default().push(span.saturating_sub(spans.overhead));
    }
    Ok(spans)
}

/// How long after a programmed instant, recorded as `BEFORE`, something was seen at `AFTER`, for
/// every case and round of a metric. Nothing is subtracted: only the second one is a counter read,
/// and its cost comes behind its value.
pub fn delays(recording: &Recording, metric: u16) -> Result<BTreeMap<u16, Vec<u64>>, SpanError> {
    let pairs = pairs(recording, Tag::BEFORE, recording, Tag::AFTER, metric)?;
    if pairs.is_empty() {
        return Err(SpanError::Nothing { metric });
    }
    let mut cases = BTreeMap::new();
    for ((case, _), delay) in pairs {
        cases.entry(case).or_insert_with(Vec::new).push(delay);
    }
    Ok(cases)
}

/// The least time between two counter reads in a row, where recorded.
fn overhead(recording: &Recording) -> Result<Option<u64>, SpanError> {
    let pairs = pairs(recording, Tag::BEFORE, recording, Tag::AFTER, Tag::OVERHEAD)?;
    Ok(pairs.values().min().copied())
}

fn pairs(
    a: &Recording,
    a_point: u16,
    b: &Recording,
    b_point: u16,
    metric: u16,
) -> Result<BTreeMap<Place, u64>, SpanError> {
    let starts = times(a, metric, a_point)?;
    let mut ends = times(b, metric, b_point)?;
    let mut spans = BTreeMap::new();
    for ((case, round), start) in starts {
        let missing = SpanError::Unpaired { metric, case, round, missing: b_point };
        let end = ends.remove(&(case, round)).ok_or(missing)?;
        let backwards = SpanError::Backwards { metric, case, round, start, end };
        spans.insert((case, round), end.checked_sub(start).ok_or(backwards)?);
    }
    match ends.into_keys().next() {
        Some((case, round)) => Err(SpanError::Unpaired { metric, case, round, missing: a_point }),
        None => Ok(spans),
    }
}

/// Counter values of one metric at one point, by case and round.
fn times(
    recording: &Recording,
    metric: u16,
    point: u16,
) -> Result<BTreeMap<Place, u64>, SpanError> {
    let mut times = BTreeMap::new();
    let wanted = |tag: &Tag| tag.metric == metric && tag.point == point;
    for record in recording.records.iter().filter(|record| wanted(&record.tag)) {
        let Tag { case, round, .. } = record.tag;
        if times.insert((case, round), record.time).is_some() {
            return Err(SpanError::Twice { metric, case, round, point });
        }
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Record;
    use crate::testing::record;
    use proptest::prelude::*;

    const CALL: u16 = 0;

    fn recording(records: &[Record]) -> Recording {
        Recording { kernel: "fastpath".into(), hz: 1_000_000_000, records: records.to_vec() }
    }

    fn overhead_of(least: u64) -> [Record; 4] {
        let tag = Tag::OVERHEAD;
        [
            record(tag, 0, 0, Tag::BEFORE, 10),
            record(tag, 0, 0, Tag::AFTER, 10 + least + 4),
            record(tag, 0, 1, Tag::BEFORE, 30),
            record(tag, 0, 1, Tag::AFTER, 30 + least),
        ]
    }

    #[test]
    fn pairs_two_recordings_by_round() {
        let mut client = overhead_of(6).to_vec();
        client.extend([record(CALL, 0, 1, 0, 200), record(CALL, 0, 0, 0, 100)]);
        client.push(record(CALL, 7, 0, 0, 500));
        let server = recording(&[
            record(CALL, 0, 0, 1, 150),
            record(CALL, 0, 1, 1, 260),
            record(CALL, 7, 0, 1, 590),
        ]);
        let spans = spans(&recording(&client), Tag::BEFORE, &server, Tag::AFTER, CALL).unwrap();
        assert_eq!(spans.overhead, 6);
        assert_eq!(spans.cases, BTreeMap::from([(0, vec![44, 54]), (7, vec![84])]));
        assert_eq!(spans.warning(), None);
    }

    #[test]
    fn spans_below_the_overhead_count_as_zero_and_say_so() {
        let mut records = overhead_of(6).to_vec();
        records.extend([record(1, 0, 0, 0, 100), record(1, 0, 0, 1, 105)]);
        records.extend([record(1, 0, 1, 0, 200), record(1, 0, 1, 1, 206)]);
        let one = recording(&records);
        let spans = spans(&one, Tag::BEFORE, &one, Tag::AFTER, 1).unwrap();
        assert_eq!(spans.cases[&0], [0, 0]);
        assert!(spans.warning().unwrap().starts_with("1 spans were shorter than the measuring"));
    }

    #[test]
    fn errors_name_case_and_round() {
        let start = record(CALL, 3, 8, 0, 100);
        let cases: [(&[Record], SpanError); 4] = [
            (&[start], SpanError::Unpaired { metric: CALL, case: 3, round: 8, missing: 1 }),
            (
                &[record(CALL, 3, 8, 1, 100)],
                SpanError::Unpaired { metric: CALL, case: 3, round: 8, missing: 0 },
            ),
            (&[start, start], SpanError::Twice { metric: CALL, case: 3, round: 8, point: 0 }),
            (
                &[start, record(CALL, 3, 8, 1, 99)],
                SpanError::Backwards { metric: CALL, case: 3, round: 8, start: 100, end: 99 },
            ),
        ];
        for (records, error) in cases {
            let one = recording(&[&overhead_of(6), records].concat());
            assert_eq!(spans(&one, 0, &one, 1, CALL), Err(error.clone()));
            assert!(error.to_string().contains("case 3, round 8"));
        }
        let idle = recording(&overhead_of(6));
        assert_eq!(spans(&idle, 0, &idle, 1, CALL), Err(SpanError::Nothing { metric: CALL }));
        let bare = recording(&[start, record(CALL, 3, 8, 1, 180)]);
        assert_eq!(spans(&bare, 0, &bare, 1, CALL), Err(SpanError::NoOverhead));
    }

    #[test]
    fn delays_are_whole_and_never_negative() {
        let mut records = overhead_of(6).to_vec();
        records.extend([record(1, 50, 0, 0, 100), record(1, 50, 0, 1, 350)]);
        records.extend([record(1, 50, 1, 0, 900), record(1, 50, 1, 1, 903)]);
        let expected = BTreeMap::from([(50, vec![250, 3])]);
        assert_eq!(delays(&recording(&records), 1), Ok(expected));
        assert_eq!(delays(&recording(&records), 2), Err(SpanError::Nothing { metric: 2 }));
        // A timer that fires before its time is an error of the machine, not a short delay.
        records.extend([record(1, 50, 2, 0, 900), record(1, 50, 2, 1, 899)]);
        assert!(delays(&recording(&records), 1).unwrap_err().to_string().contains("before it"));
    }

    proptest! {
        #[test]
        fn pairing_ignores_the_order_of_records(
            lengths in prop::collection::vec(20..10_000u64, 1..40),
            shuffle in any::<prop::sample::Index>(),
        ) {
            let mut records = overhead_of(6).to_vec();
            for (round, length) in (0..).zip(&lengths) {
                let start = u64::from(round) * 100_000;
                records.push(record(CALL, 1, round, 0, start));
                records.push(record(CALL, 1, round, 1, start + length));
            }
            let middle = shuffle.index(records.len());
            records.rotate_left(middle);
            let one = recording(&records);
            let expected: Vec<u64> = lengths.iter().map(|length| length - 6).collect();
            prop_assert_eq!(&spans(&one, 0, &one, 1, CALL).unwrap().cases[&1], &expected);
        }
    }
}
