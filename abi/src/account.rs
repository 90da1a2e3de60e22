//! What the kernel leaves about reservations when the system is shut down, for the host to read: a
//! memory that no program can name.
//!
//! The memory holds 64-bit words: a header of [`HEADER_WORDS`], then records of [`RECORD_WORDS`],
//! one for each place of the reservations' pool, as many as there is room for. The first places are
//! the roots of the CPUs, then come the manifest's reservations in their order.

/// First word of accounts that were written.
pub const MAGIC: u64 = u64::from_le_bytes(*b"GIUSTOA1");

/// Words in the header.
pub const HEADER_WORDS: usize = 8;
/// Words in a record.
pub const RECORD_WORDS: usize = 8;

/// Header word with [`MAGIC`].
pub const WORD_MAGIC: usize = 0;
/// Header word with the number of roots, which come first.
pub const WORD_ROOTS: usize = 1;
/// Header word with the number of records.
pub const WORD_RECORDS: usize = 2;
/// Header word with the nanoseconds since boot.
pub const WORD_NOW: usize = 3;

/// Word of a record: 1 if the reservation is there.
pub const EXISTS: usize = 0;
/// Word of a record: CPU time that it has had, in nanoseconds.
pub const SERVICE: usize = 1;
/// Word of a record: how often its budget was used up.
pub const OVERRUNS: usize = 2;
/// Word of a record: jobs that have ended.
pub const ENDED: usize = 3;
/// Word of a record: jobs that ended behind their deadline, or have not ended and are late.
pub const MISSED: usize = 4;
/// Word of a record: the longest time from a job's release to its end, in nanoseconds; up to now of
/// one that is late and has not ended.
pub const WORST: usize = 5;
/// Word of a record: the longest time from a deadline to the job's end, in nanoseconds; likewise.
pub const LATEST: usize = 6;
