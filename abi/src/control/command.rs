//! What the host asks for.

use crate::reservation::{Budget, Share, Timing, WINDOWS, Window, Windows};

/// Words before those of windows.
const HEAD: usize = 8;
/// Words of a command.
pub const COMMAND_WORDS: usize = HEAD + 2 * WINDOWS;

/// A command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there is one, and programs have no heap")]
pub enum Command {
    /// All rows.
    Picture {
        /// With how much of its stack each thread has used, which takes some thousand system calls.
        stacks: bool,
    },
    /// A change of the schedule.
    Set(Change),
}

/// A change of how a thread or a reservation is scheduled. Slots are the program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "there is one, and programs have no heap")]
pub enum Change {
    /// A thread gets another priority.
    Priority {
        /// The slot of the thread.
        slot: u32,
        /// Its new priority.
        priority: u64,
    },
    /// A reservation gets another share among its siblings.
    Share {
        /// The slot of the reservation.
        slot: u32,
        /// Its new share.
        share: Share,
    },
    /// A reservation joins a class, which may be the one that it is in.
    Join {
        /// The slot of the reservation.
        slot: u32,
        /// The slot of the class.
        class: u32,
        /// Its share there.
        share: Share,
    },
    /// A reservation gets another limit, or none.
    Budget {
        /// The slot of the reservation.
        slot: u32,
        /// Its new limit.
        budget: Option<Budget>,
    },
    /// The jobs of a leaf get another deadline and separation, or none.
    Timing {
        /// The slot of the reservation.
        slot: u32,
        /// What its jobs are like from now on.
        timing: Option<Timing>,
    },
    /// A class of time partitions gets other windows, the first of which begins at once.
    Windows {
        /// The slot of the reservation.
        slot: u32,
        /// Its new windows.
        windows: Windows,
    },
}

const PICTURE: u64 = 1;
const PRIORITY: u64 = 2;
const SHARE: u64 = 3;
const BUDGET: u64 = 4;
const TIMING: u64 = 5;
const WINDOWS_OF: u64 = 6;
const JOIN: u64 = 7;

impl Command {
    /// Its words.
    pub fn encode(&self) -> [u64; COMMAND_WORDS] {
        let mut words = [0; COMMAND_WORDS];
        let (code, slot, kind, [a, b, c, d]) = match *self {
            Command::Picture { stacks } => (PICTURE, 0, stacks.into(), [0; 4]),
            Command::Set(Change::Priority { slot, priority }) => (PRIORITY, slot, priority, [0; 4]),
            Command::Set(Change::Share { slot, share }) => {
                let (code, words) = share.encode();
                (SHARE, slot, code, words)
            }
            Command::Set(Change::Join { slot, class, share }) => {
                words[HEAD - 1] = class.into();
                let (code, words) = share.encode();
                (JOIN, slot, code, words)
            }
            Command::Set(Change::Budget { slot, budget }) => {
                (BUDGET, slot, 0, Budget::encode(budget))
            }
            Command::Set(Change::Timing { slot, timing }) => {
                (TIMING, slot, 0, Timing::encode(timing))
            }
            Command::Set(Change::Windows { slot, windows }) => {
                let list = windows.list();
                for (place, window) in words[HEAD..].chunks_exact_mut(2).zip(list) {
                    place.copy_from_slice(&[window.end, window.partition.into()]);
                }
                (WINDOWS_OF, slot, list.len() as u64, [0; 4])
            }
        };
        words[..HEAD - 1].copy_from_slice(&[code, slot.into(), kind, a, b, c, d]);
        words
    }

    /// The command of these words; none if there is no such command.
    pub fn decode(all: [u64; COMMAND_WORDS]) -> Option<Command> {
        let [code, slot, kind, a, b, c, d, class, windows @ ..] = all;
        let (slot, words) = (u32::try_from(slot).ok()?, [a, b, c, d]);
        Some(match code {
            PICTURE => Command::Picture { stacks: kind != 0 },
            PRIORITY => Command::Set(Change::Priority { slot, priority: kind }),
            SHARE => Command::Set(Change::Share { slot, share: Share::decode(kind, words)? }),
            JOIN => {
                let (class, share) = (u32::try_from(class).ok()?, Share::decode(kind, words)?);
                Command::Set(Change::Join { slot, class, share })
            }
            BUDGET => Command::Set(Change::Budget { slot, budget: Budget::decode(words).ok()? }),
            TIMING => Command::Set(Change::Timing { slot, timing: Timing::decode(words) }),
            WINDOWS_OF => {
                Command::Set(Change::Windows { slot, windows: windows_of(&windows, kind)? })
            }
            _ => return None,
        })
    }
}

/// So many windows of these words.
fn windows_of(words: &[u64], count: u64) -> Option<Windows> {
    let count = usize::try_from(count).ok().filter(|count| *count <= WINDOWS)?;
    let mut list = [Window { end: 0, partition: 0 }; WINDOWS];
    for (window, words) in list[..count].iter_mut().zip(words.chunks_exact(2)) {
        *window = Window { end: words[0], partition: u16::try_from(words[1]).ok()? };
    }
    Windows::new(&list[..count]).ok()
}
