//! Decoding a recording: the memory object in which a program left raw counter values.

use abi::results::{
    HEADER_WORDS, MAGIC, RECORD_WORDS, Tag, WORD_COUNT, WORD_DONE, WORD_DROPPED, WORD_HZ,
    WORD_KERNEL, WORD_MAGIC,
};
use anyhow::{Context, Result, ensure};

/// One counter value and what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Metric, case, round and point.
    pub tag: Tag,
    /// The counter value.
    pub time: u64,
}

/// A complete recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The name that the running kernel reported.
    pub kernel: String,
    /// The counter's frequency in Hz.
    pub hz: u64,
    /// The records in the order of writing.
    pub records: Vec<Record>,
}

impl Recording {
    /// Decodes a recording from the bytes of its memory object.
    pub fn decode(bytes: &[u8]) -> Result<Recording> {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |index: usize| u64::from_le_bytes(words[index]);
        let truncated = |expected: u64| {
            let found = bytes.len();
            format!("the recording is truncated: it needs {expected} bytes and has {found}")
        };
        ensure!(words.len() >= HEADER_WORDS, truncated(bytes_for(0)));
        let (first, count, dropped) = (word(WORD_MAGIC), word(WORD_COUNT), word(WORD_DROPPED));
        ensure!(
            first == MAGIC,
            "the recording was never opened (first word {first:#x}): the program did not start, \
             or the manifest maps another memory object"
        );
        ensure!(
            word(WORD_DONE) == 1,
            "the recording is not finished: the program stopped after {count} records; look for \
             its error on the console"
        );
        ensure!(
            dropped == 0,
            "the recording dropped {dropped} records: give its memory object at least {} bytes \
             in the manifest",
            bytes_for(count.saturating_add(dropped))
        );
        let (records, _) = words[HEADER_WORDS..].as_chunks::<RECORD_WORDS>();
        let records = usize::try_from(count)
            .ok()
            .and_then(|count| records.get(..count))
            .with_context(|| truncated(bytes_for(count)))?;
        let decode = |[tag, time]: &[[u8; 8]; RECORD_WORDS]| Record {
            tag: Tag::from_word(u64::from_le_bytes(*tag)),
            time: u64::from_le_bytes(*time),
        };
        Ok(Recording {
            kernel: name_in([word(WORD_KERNEL), word(WORD_KERNEL + 1)])
                .context("the recording names no kernel: its name is not zero-padded text")?,
            hz: word(WORD_HZ),
            records: records.iter().map(decode).collect(),
        })
    }
}

/// Bytes of a recording with this many records.
fn bytes_for(records: u64) -> u64 {
    records.saturating_mul(RECORD_WORDS as u64 * 8).saturating_add(HEADER_WORDS as u64 * 8)
}

/// The name that a kernel has left in two words; `None`: they are no zero-padded text.
pub fn name_in(words: [u64; 2]) -> Option<String> {
    let bytes = abi::boot::name_bytes(words);
    let end = bytes.iter().rposition(|byte| *byte != 0)? + 1;
    let name = &bytes[..end];
    name.iter().all(u8::is_ascii_graphic).then(|| String::from_utf8_lossy(name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{encode, record};
    use proptest::prelude::*;

    fn with_word(mut bytes: Vec<u8>, index: usize, value: u64) -> Vec<u8> {
        bytes[index * 8..][..8].copy_from_slice(&value.to_le_bytes());
        bytes
    }

    fn sample() -> Vec<u8> {
        encode("direct-lazy", &[record(1, 2, 3, Tag::BEFORE, 40), record(1, 2, 3, 1, 90)])
    }

    #[test]
    fn decodes_what_a_program_writes() {
        let mut bytes = sample();
        bytes.extend([0xaa; 100]);
        let recording = Recording::decode(&bytes).unwrap();
        assert_eq!(recording.kernel, "direct-lazy");
        assert_eq!(recording.hz, 1_000_000_000);
        assert_eq!(recording.records[1], record(1, 2, 3, Tag::AFTER, 90));
        assert_eq!(recording.records.len(), 2);
    }

    #[test]
    fn says_what_is_wrong() {
        let cases = [
            (vec![0; 4096], "never opened (first word 0x0)"),
            (with_word(sample(), WORD_DONE, 0), "stopped after 2 records"),
            (with_word(sample(), WORD_DROPPED, 5), "dropped 5 records: give its memory object at"),
            (with_word(sample(), WORD_COUNT, 3), "it needs 112 bytes and has 96"),
            (with_word(sample(), WORD_COUNT, u64::MAX), "is truncated"),
            (sample()[..40].to_vec(), "it needs 64 bytes and has 40"),
            (with_word(sample(), WORD_KERNEL, 0), "names no kernel"),
        ];
        for (bytes, message) in cases {
            let error = Recording::decode(&bytes).unwrap_err().to_string();
            assert!(error.contains(message), "{error:?} should say {message:?}");
        }
    }

    proptest! {
        #[test]
        fn never_panics_on_arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Recording::decode(&bytes);
        }

        #[test]
        fn never_panics_on_a_damaged_recording(
            words in prop::collection::vec((0..12usize, any::<u64>()), 0..4),
            length in 0..97usize,
        ) {
            let damaged = words.iter().fold(sample(), |b, &(at, word)| with_word(b, at, word));
            let _ = Recording::decode(&damaged[..length.min(damaged.len())]);
        }

        #[test]
        fn round_trips(tags in prop::collection::vec(any::<(u64, u64)>(), 0..50)) {
            let records: Vec<Record> = tags
                .iter()
                .map(|&(tag, time)| Record { tag: Tag::from_word(tag), time })
                .collect();
            prop_assert_eq!(Recording::decode(&encode("k", &records)).unwrap().records, records);
        }
    }
}
