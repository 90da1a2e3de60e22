//! Decoding a recording: the memory object in which a program left raw counter values.

use abi::results::{
    HEADER_WORDS, MAGIC, RECORD_WORDS, Tag, WORD_COUNT, WORD_DONE, WORD_DROPPED, WORD_HZ,
    WORD_KERNEL, WORD_MAGIC,
};

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

/// Why a recording cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// The magic word is missing.
    #[error(
        "the recording was never opened (first word {first:#x}): the program did not start, or \
         the manifest maps another memory object"
    )]
    NotOpened {
        /// What stands in place of the magic word.
        first: u64,
    },
    /// The program did not get to its end.
    #[error(
        "the recording is not finished: the program stopped after {count} records; look for its \
         error on the console"
    )]
    NotFinished {
        /// Records written so far.
        count: u64,
    },
    /// The memory object was too small.
    #[error(
        "the recording dropped {dropped} records: give its memory object at least {bytes} bytes \
         in the manifest"
    )]
    Dropped {
        /// Records that did not fit.
        dropped: u64,
        /// Bytes that would have held them all.
        bytes: u64,
    },
    /// The bytes end early.
    #[error("the recording is truncated: it needs {expected} bytes and has {found}")]
    Truncated {
        /// Bytes that header and count ask for.
        expected: u64,
        /// Bytes at hand.
        found: u64,
    },
    /// The kernel's name is not text.
    #[error("the recording names no kernel: {bytes:02x?} is not zero-padded text")]
    NoKernel {
        /// What stands in its place.
        bytes: [u8; 16],
    },
}

impl Recording {
    /// Decodes a recording from the bytes of its memory object.
    pub fn decode(bytes: &[u8]) -> Result<Recording, RecordingError> {
        let (words, _) = bytes.as_chunks::<8>();
        let word = |index: usize| u64::from_le_bytes(words[index]);
        let truncated = |expected| RecordingError::Truncated { expected, found: size(bytes.len()) };
        if words.len() < HEADER_WORDS {
            return Err(truncated(size(HEADER_WORDS * 8)));
        }
        if word(WORD_MAGIC) != MAGIC {
            return Err(RecordingError::NotOpened { first: word(WORD_MAGIC) });
        }
        let (count, dropped) = (word(WORD_COUNT), word(WORD_DROPPED));
        if word(WORD_DONE) != 1 {
            return Err(RecordingError::NotFinished { count });
        }
        if dropped != 0 {
            let bytes = bytes_for(count.saturating_add(dropped));
            return Err(RecordingError::Dropped { dropped, bytes });
        }
        let (records, _) = words[HEADER_WORDS..].as_chunks::<RECORD_WORDS>();
        let records = usize::try_from(count)
            .ok()
            .and_then(|count| records.get(..count))
            .ok_or_else(|| truncated(bytes_for(count)))?;
        let decode = |[tag, time]: &[[u8; 8]; RECORD_WORDS]| Record {
            tag: Tag::from_word(u64::from_le_bytes(*tag)),
            time: u64::from_le_bytes(*time),
        };
        Ok(Recording {
            kernel: kernel_name(words[WORD_KERNEL], words[WORD_KERNEL + 1])?,
            hz: word(WORD_HZ),
            records: records.iter().map(decode).collect(),
        })
    }
}

/// Bytes of a recording with this many records.
fn bytes_for(records: u64) -> u64 {
    records.saturating_mul(size(RECORD_WORDS * 8)).saturating_add(size(HEADER_WORDS * 8))
}

/// A host size as the target counts it.
fn size(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn kernel_name(first: [u8; 8], second: [u8; 8]) -> Result<String, RecordingError> {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&first);
    bytes[8..].copy_from_slice(&second);
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    let (name, padding) = bytes.split_at(end);
    let printable = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    if !printable || padding.iter().any(|&byte| byte != 0) {
        return Err(RecordingError::NoKernel { bytes });
    }
    Ok(String::from_utf8_lossy(name).into_owned())
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
