//! Pairing records into spans of time.

use crate::Recording;
use abi::results::Tag;
use anyhow::{Context, Result, bail};
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

/// The time from `a_point` in recording `a` to `b_point` in recording `b`, for every case and
/// round of a metric, less the measured overhead. Both may be the same recording.
pub fn spans(
    a: &Recording,
    a_point: u16,
    b: &Recording,
    b_point: u16,
    metric: u16,
) -> Result<Spans> {
    let pairs = some(pairs(a, a_point, b, b_point, metric)?, metric)?;
    let overhead = overhead(a)?.into_iter().chain(overhead(b)?).min().context(
        "no overhead was recorded: the program must also record pairs of back-to-back reads",
    )?;
    let mut spans = Spans { overhead, ..Spans::default() };
    for ((case, _), span) in pairs {
        spans.below_overhead += usize::from(span < spans.overhead);
        spans.cases.entry(case).or_default().push(span.saturating_sub(spans.overhead));
    }
    Ok(spans)
}

/// How long after a programmed instant, recorded as `BEFORE`, something was seen at `AFTER`, for
/// every case and round of a metric. Nothing is subtracted: only the second one is a counter read,
/// and its cost comes behind its value.
pub fn delays(recording: &Recording, metric: u16) -> Result<BTreeMap<u16, Vec<u64>>> {
    let mut cases = BTreeMap::new();
    for ((case, _), delay) in some(own_pairs(recording, metric)?, metric)? {
        cases.entry(case).or_insert_with(Vec::new).push(delay);
    }
    Ok(cases)
}

/// The least time between two counter reads in a row, where recorded.
fn overhead(recording: &Recording) -> Result<Option<u64>> {
    Ok(own_pairs(recording, Tag::OVERHEAD)?.values().min().copied())
}

/// Refuses a metric without any records.
fn some(pairs: BTreeMap<Place, u64>, metric: u16) -> Result<BTreeMap<Place, u64>> {
    if pairs.is_empty() {
        bail!("metric {metric}: nothing was recorded; did the program run this measurement?");
    }
    Ok(pairs)
}

/// Pairs whose ends are in one recording.
fn own_pairs(recording: &Recording, metric: u16) -> Result<BTreeMap<Place, u64>> {
    pairs(recording, Tag::BEFORE, recording, Tag::AFTER, metric)
}

fn pairs(
    a: &Recording,
    a_point: u16,
    b: &Recording,
    b_point: u16,
    metric: u16,
) -> Result<BTreeMap<Place, u64>> {
    let starts = times(a, metric, a_point)?;
    let mut ends = times(b, metric, b_point)?;
    let unpaired = |(case, round): Place, missing: u16| {
        format!(
            "metric {metric}, case {case}, round {round}: nothing recorded at point {missing}; \
             the program skipped it or ended in the middle of a round"
        )
    };
    let mut spans = BTreeMap::new();
    for (place, start) in starts {
        let end = ends.remove(&place).with_context(|| unpaired(place, b_point))?;
        let span = end.checked_sub(start).with_context(|| {
            let (case, round) = place;
            format!(
                "metric {metric}, case {case}, round {round}: ends at {end}, before it begins at \
                 {start}"
            )
        })?;
        spans.insert(place, span);
    }
    match ends.into_keys().next() {
        Some(place) => bail!(unpaired(place, a_point)),
        None => Ok(spans),
    }
}

/// Counter values of one metric at one point, by case and round.
fn times(recording: &Recording, metric: u16, point: u16) -> Result<BTreeMap<Place, u64>> {
    let mut times = BTreeMap::new();
    let wanted = |tag: &Tag| tag.metric == metric && tag.point == point;
    for record in recording.records.iter().filter(|record| wanted(&record.tag)) {
        let Tag { case, round, .. } = record.tag;
        if times.insert((case, round), record.time).is_some() {
            bail!(
                "metric {metric}, case {case}, round {round}: point {point} was recorded twice; \
                 count rounds from 0 in each case and record no warm-up rounds"
            );
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
        let cases: [(&[Record], &str); 4] = [
            (&[start], "nothing recorded at point 1"),
            (&[record(CALL, 3, 8, 1, 100)], "nothing recorded at point 0"),
            (&[start, start], "point 0 was recorded twice"),
            (&[start, record(CALL, 3, 8, 1, 99)], "ends at 99, before it begins at 100"),
        ];
        let refused = |one: &Recording| spans(one, Tag::BEFORE, one, Tag::AFTER, CALL).unwrap_err();
        for (records, why) in cases {
            let error = refused(&recording(&[&overhead_of(6), records].concat())).to_string();
            assert!(error.starts_with("metric 0, case 3, round 8: ") && error.contains(why));
        }
        assert!(refused(&recording(&overhead_of(6))).to_string().contains("nothing was recorded"));
        let bare = recording(&[start, record(CALL, 3, 8, 1, 180)]);
        assert!(refused(&bare).to_string().starts_with("no overhead was recorded"));
    }

    #[test]
    fn delays_are_whole_and_never_negative() {
        let mut records = overhead_of(6).to_vec();
        records.extend([record(1, 50, 0, 0, 100), record(1, 50, 0, 1, 350)]);
        records.extend([record(1, 50, 1, 0, 900), record(1, 50, 1, 1, 903)]);
        let expected = BTreeMap::from([(50, vec![250, 3])]);
        assert_eq!(delays(&recording(&records), 1).unwrap(), expected);
        assert!(delays(&recording(&records), 2).is_err());
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
