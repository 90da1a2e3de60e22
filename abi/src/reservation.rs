//! Reservations of CPU time: what a node of the scheduling tree is given, and how that travels in
//! message words. Times are in nanoseconds, slopes and shares of the CPU in millionths.

use crate::Error;

/// Fixed priorities that a class tells apart (S2C-07). Threads without a reservation use the lower
/// half.
pub const LEVELS: u16 = 512;
/// The slope of a whole CPU.
pub const WHOLE: u32 = 1_000_000;
/// The longest time: instants and debts never wrap.
pub const LONGEST: u64 = 1 << 62;
/// The shortest period and deadline: what follows an instant of them takes a CPU's time from
/// whichever thread runs.
pub const SHORTEST: u64 = 100_000;
/// The shortest window: its end takes a CPU's time from whatever is no more urgent.
pub const SHORTEST_WINDOW: u64 = 500_000;
/// The least budget that the kernel accepts: more than it takes of one for its return, the switch
/// to the reservation, the interrupt at its end and the switch away, on the deepest leaf. Of a
/// smaller one nothing would be left to run in. Measured by the experiment `tree-cost`.
pub const LEAST_BUDGET: u64 = 20_000;
/// The least budget, and part of one, that the scheduling tree itself tells apart.
pub const LEAST_PART: u64 = 1_000;
/// Windows that one class of time partitions can have, gaps included.
pub const WINDOWS: usize = 32;

/// What [`ReservationInspect`](crate::call::Call::ReservationInspect) takes to tell what was left
/// of budgets.
pub const UNSERVED: u64 = 2;

/// Four message words.
pub type Words = [u64; 4];

/// What becomes of a leaf while its thread runs on a lent one (S4-07).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Inheritance {
    /// No leaf is lent: each thread uses its own.
    None = 0,
    /// What the thread uses is charged to its own leaf as well.
    #[default]
    Charged = 1,
    /// It sleeps.
    Leaves = 2,
}

impl Inheritance {
    /// All approaches, in the order of their codes.
    pub const ALL: [Inheritance; 3] =
        [Inheritance::None, Inheritance::Charged, Inheritance::Leaves];

    /// The approach with this code.
    pub fn from_code(code: u64) -> Option<Inheritance> {
        Inheritance::ALL.into_iter().find(|approach| *approach as u64 == code)
    }
}

/// How a class chooses among its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Policy {
    /// The highest priority; equals take turns, a time slice each (S2C-07).
    FixedPriority = 1,
    /// The earliest deadline (S2C-07).
    EarliestDeadline = 2,
    /// Service curves (S4-04): the earliest deadline of those that must be served, else the least
    /// virtual time.
    ServiceCurves = 3,
    /// Time partitions in windows of a major frame (S2D-07).
    Partitions = 4,
}

impl Policy {
    /// All policies, in the order of their codes.
    pub const ALL: [Policy; 4] = [
        Policy::FixedPriority,
        Policy::EarliestDeadline,
        Policy::ServiceCurves,
        Policy::Partitions,
    ];

    /// The policy with this code.
    pub fn from_code(code: u64) -> Option<Policy> {
        Policy::ALL.into_iter().find(|policy| *policy as u64 == code)
    }
}

/// A service curve of two straight pieces (S4-01).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Curve {
    /// The first slope, m1.
    pub slope: u32,
    /// Where the second begins, d.
    pub bend: u64,
    /// The second slope, m2.
    pub rest: u32,
}

impl Curve {
    /// A curve of one slope.
    pub const fn linear(slope: u32) -> Curve {
        Curve { slope, bend: 0, rest: slope }
    }

    /// Whether the first slope is the steeper one.
    #[inline(always)]
    pub const fn is_concave(&self) -> bool {
        self.slope > self.rest
    }

    fn words(self) -> [u64; 2] {
        [u64::from(self.slope) << 32 | u64::from(self.rest), self.bend]
    }

    fn from_words([slopes, bend]: [u64; 2]) -> Curve {
        Curve { slope: (slopes >> 32) as u32, bend, rest: slopes as u32 }
    }
}

/// What a node is among the children of its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// Its priority, below [`LEVELS`]; greater is more urgent.
    Priority(u16),
    /// By the deadline of its job, or of its server's budget.
    Deadline,
    /// By a curve of guaranteed service, and one of shares in what is left.
    Curve {
        /// What is guaranteed; none for a node that has just its share.
        guaranteed: Option<Curve>,
        /// The share, by ratio to those of its siblings.
        share: Curve,
    },
    /// A time partition.
    Partition {
        /// Which one; 0 is the background partition (S2D-08).
        number: u16,
        /// Its priority against the background partition, if it is no class of fixed priorities:
        /// the most urgent of such a class counts.
        priority: u16,
    },
}

impl Share {
    /// The same curve for both purposes, as in S4-01.
    pub const fn curve(curve: Curve) -> Share {
        Share::Curve { guaranteed: Some(curve), share: curve }
    }

    /// Its code and its words.
    pub fn encode(self) -> (u64, Words) {
        match self {
            Share::Priority(priority) => (1, [priority.into(), 0, 0, 0]),
            Share::Deadline => (2, [0; 4]),
            Share::Curve { guaranteed, share } => {
                let code = if guaranteed.is_some() { 3 } else { 4 };
                let [a, b] = guaranteed.map_or([0; 2], Curve::words);
                let [c, d] = share.words();
                (code, [a, b, c, d])
            }
            Share::Partition { number, priority } => (5, [number.into(), priority.into(), 0, 0]),
        }
    }

    /// The share with this code and these words; none if there is no such share.
    pub fn decode(code: u64, [a, b, c, d]: Words) -> Option<Share> {
        let small = |word: u64| u16::try_from(word).ok();
        let share = Curve::from_words([c, d]);
        Some(match code {
            1 => Share::Priority(small(a)?),
            2 => Share::Deadline,
            3 => Share::Curve { guaranteed: Some(Curve::from_words([a, b])), share },
            4 => Share::Curve { guaranteed: None, share },
            5 => Share::Partition { number: small(a)?, priority: small(b)? },
            _ => return None,
        })
    }
}

/// How a server's budget comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Server {
    /// The budget at the beginning of each period (S2B-01).
    Periodic = 1,
    /// Constant bandwidth: out of budget, it waits for its deadline.
    Constant = 2,
    /// Constant bandwidth: out of budget, it goes on with a later deadline.
    ConstantSoft = 3,
    /// Each use comes back a period later.
    Sporadic = 4,
}

impl Server {
    /// All servers, in the order of their codes.
    pub const ALL: [Server; 4] =
        [Server::Periodic, Server::Constant, Server::ConstantSoft, Server::Sporadic];
}

/// A limit: how much CPU time a node may use in each period. A budget that is the period is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// How it comes back.
    pub server: Server,
    /// CPU time in each period, at least [`LEAST_BUDGET`].
    pub budget: u64,
    /// The period, at least [`SHORTEST`].
    pub period: u64,
}

impl Budget {
    /// A server of this kind.
    pub const fn new(server: Server, budget: u64, period: u64) -> Budget {
        Budget { server, budget, period }
    }

    /// Words of a limit, or of none.
    pub fn encode(limit: Option<Budget>) -> Words {
        limit.map_or([0; 4], |Budget { server, budget, period }| [server as u64, budget, period, 0])
    }

    /// A limit of these words, or none.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`]: there is no such server.
    pub fn decode([server, budget, period, _]: Words) -> Result<Option<Budget>, Error> {
        if server == 0 {
            return Ok(None);
        }
        let server = Server::ALL.into_iter().find(|known| *known as u64 == server);
        let server = server.ok_or(Error::InvalidArgument)?;
        Ok(Some(Budget { server, budget, period }))
    }
}

/// What the jobs of a leaf are like (S2C-07): one is released when the leaf becomes ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timing {
    /// From a job's release to its deadline, at least [`SHORTEST`].
    pub deadline: u64,
    /// Between two releases; one that comes earlier has the deadline of one that came in time.
    pub period: u64,
}

impl Timing {
    /// Words of a timing, or of none.
    pub fn encode(timing: Option<Timing>) -> Words {
        timing.map_or([0; 4], |Timing { deadline, period }| [deadline, period, 0, 0])
    }

    /// A timing of these words, or none.
    pub fn decode([deadline, period, ..]: Words) -> Option<Timing> {
        (deadline != 0 || period != 0).then_some(Timing { deadline, period })
    }
}

/// A window of a major frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Where it ends, from the frame's begin.
    pub end: u64,
    /// Whose it is; 0: only the background partition may run.
    pub partition: u16,
}

/// All windows of a major frame, each ending behind the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    list: [Window; WINDOWS],
    count: usize,
}

impl Windows {
    /// These windows; the frame ends with the last one.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`]: there are none or more than [`WINDOWS`], one is shorter than
    /// [`SHORTEST_WINDOW`], or the frame is longer than [`LONGEST`].
    pub fn new(windows: &[Window]) -> Result<Windows, Error> {
        let (mut list, mut begin) = ([Window { end: 0, partition: 0 }; WINDOWS], 0);
        let room = list.get_mut(..windows.len()).ok_or(Error::InvalidArgument)?;
        for (place, window) in room.iter_mut().zip(windows) {
            let length = window.end.checked_sub(begin).ok_or(Error::InvalidArgument)?;
            if length < SHORTEST_WINDOW || window.end > LONGEST {
                return Err(Error::InvalidArgument);
            }
            (*place, begin) = (*window, window.end);
        }
        let count = windows.len();
        if count == 0 { Err(Error::InvalidArgument) } else { Ok(Windows { list, count }) }
    }

    /// They, in their order.
    pub fn list(&self) -> &[Window] {
        &self.list[..self.count]
    }
}

/// What is counted of a reservation's jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Jobs {
    /// Jobs that have ended.
    pub ended: u64,
    /// Jobs that ended behind their deadline.
    pub missed: u64,
    /// The longest time from release to end.
    pub worst: u64,
    /// The longest time from deadline to end.
    pub latest: u64,
}

/// The job of a reservation that is released and has not ended, or else the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Job {
    /// Which of the reservation's jobs it is, from 1 on; 0: there was none.
    pub number: u64,
    /// The time since its release, or from there to its end, in nanoseconds.
    pub response: u64,
    /// How much of that is behind its deadline, in nanoseconds.
    pub late: u64,
    /// Whether it has ended.
    pub is_over: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let curve = Curve { slope: 1, bend: u64::MAX, rest: WHOLE };
        let guaranteed = Some(Curve { slope: 2, bend: 3, rest: 4 });
        let shares = [
            Share::Priority(511),
            Share::Deadline,
            Share::curve(curve),
            Share::Curve { guaranteed: None, share: curve },
            Share::Curve { guaranteed, share: curve },
            Share::Partition { number: 3, priority: u16::MAX },
        ];
        for share in shares {
            let (code, words) = share.encode();
            assert_eq!(Share::decode(code, words), Some(share));
        }
        assert_eq!(Share::decode(1, [1 << 16, 0, 0, 0]), None, "priorities are 16 bits wide");
        assert_eq!(Share::decode(6, [0; 4]), None);
        for server in Server::ALL {
            let limit = Some(Budget::new(server, 1, 2));
            assert_eq!(Budget::decode(Budget::encode(limit)), Ok(limit));
        }
        assert_eq!(Budget::decode([0; 4]), Ok(None));
        assert_eq!(Budget::decode([5, 1, 2, 0]), Err(Error::InvalidArgument));
        for timing in [None, Some(Timing { deadline: 1, period: 0 })] {
            assert_eq!(Timing::decode(Timing::encode(timing)), timing);
        }
        for policy in Policy::ALL {
            assert_eq!(Policy::from_code(policy as u64), Some(policy));
        }
    }

    /// Programs in C and those of other versions have the same words: what is swapped on both sides
    /// here is seen there.
    #[test]
    fn each_number_has_its_word() {
        let [guaranteed, share] =
            [[1, 2, 3], [4, 5, 6]].map(|[slope, bend, rest]| (slope, u64::from(bend), rest));
        let curve = |(slope, bend, rest)| Curve { slope, bend, rest };
        let share = Share::Curve { guaranteed: Some(curve(guaranteed)), share: curve(share) };
        assert_eq!(share.encode(), (3, [1 << 32 | 3, 2, 4 << 32 | 6, 5]));
        assert_eq!(Share::Partition { number: 3, priority: 7 }.encode(), (5, [3, 7, 0, 0]));
        assert_eq!(Share::Priority(7).encode(), (1, [7, 0, 0, 0]));
        let limit = Budget::new(Server::Sporadic, 5, 6);
        assert_eq!(Budget::encode(Some(limit)), [4, 5, 6, 0]);
        assert_eq!(Timing::encode(Some(Timing { deadline: 8, period: 9 })), [8, 9, 0, 0]);
    }
}
