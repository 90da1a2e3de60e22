//! Tasks of RTSim's language (S2G-08), as the laboratory gives them to the program that carries
//! them out: [fields](Fields) with blanks between them, `|` between tasks. The code of a job is
//! steps with `;` between them, each a letter and numbers with `,` between them.

use core::fmt;

/// The most objects of a task set.
pub const OBJECTS: usize = 64;
/// Words of shared memory that each object has.
pub const OBJECT_WORDS: usize = 256;
/// Words of a message in a queue: what it refers to.
pub const MESSAGE_WORDS: usize = 3;
/// The most messages in a queue, behind the two words that count what came and what went.
pub const MESSAGES: usize = (OBJECT_WORDS - 2) / MESSAGE_WORDS;
/// Words that the record of a job has: nanoseconds since boot at its release, when it began, and
/// when it was complete. The first word of the memory counts jobs.
pub const JOB_WORDS: usize = 3;
/// The most numbers of a step.
pub const NUMBERS: usize = 4;

/// What a step does. Objects are told by their index, twice, plus one if what the pointer with this
/// index refers to is meant. Lengths of time are in units of the task set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Act {
    /// Computes for a length of time.
    Fixed = b'f',
    /// From one length to another.
    Uniform = b'u',
    /// With this mean.
    Exponential = b'e',
    /// Sleeps for a length of time.
    Delay = b'D',
    /// The same, at random.
    DelayUniform = b'U',
    /// The same.
    DelayExponential = b'E',
    /// Locks a mutex.
    Lock = b'l',
    /// Unlocks it.
    Unlock = b'k',
    /// Waits, with a mutex, for a condition.
    Wait = b'w',
    /// Wakes a task that waits so.
    Signal = b's',
    /// Adds one to a counter.
    Inc = b'i',
    /// Takes one from it.
    Dec = b'd',
    /// Sets it to a value.
    Set = b'v',
    /// Waits, with a mutex, for a condition, until a counter is not 0.
    WaitCounter = b'c',
    /// The same, until a queue is not empty.
    WaitQueue = b'q',
    /// Appends a message to a queue.
    Push = b'p',
    /// Takes one.
    Pop = b'o',
    /// Appends a message that refers to three objects.
    PushReferences = b'P',
    /// Takes one, and has three pointers refer to what it refers to.
    PopReferences = b'O',
}

impl Act {
    /// All of them.
    pub const ALL: [Act; 19] = [
        Act::Fixed,
        Act::Uniform,
        Act::Exponential,
        Act::Delay,
        Act::DelayUniform,
        Act::DelayExponential,
        Act::Lock,
        Act::Unlock,
        Act::Wait,
        Act::Signal,
        Act::Inc,
        Act::Dec,
        Act::Set,
        Act::WaitCounter,
        Act::WaitQueue,
        Act::Push,
        Act::Pop,
        Act::PushReferences,
        Act::PopReferences,
    ];
}

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it does.
    pub act: Act,
    /// With what; those that it has no use for are 0.
    pub numbers: [u64; NUMBERS],
}

impl Step {
    /// The step that a text says, if it says one.
    pub fn parse(text: &str) -> Option<Step> {
        let letter = *text.as_bytes().first()?;
        let act = Act::ALL.into_iter().find(|act| *act as u8 == letter)?;
        let mut numbers = [0; NUMBERS];
        for (index, number) in text.get(1..)?.split(',').enumerate() {
            *numbers.get_mut(index)? = number.parse().ok()?;
        }
        Some(Step { act, numbers })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let last = self.numbers.iter().rposition(|number| *number != 0).unwrap_or(0);
        write!(f, "{}{}", char::from(self.act as u8), self.numbers[0])?;
        self.numbers[1..=last].iter().try_for_each(|number| write!(f, ",{number}"))
    }
}

/// When the jobs of a task are released. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// Once in each period, but where a [phase](Phase) has another one.
    Period(u64),
    /// Each right behind the one before it.
    Forever,
}

/// Jobs that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phase<'t> {
    /// How many, at least 1.
    pub jobs: u64,
    /// From the release of each to that of the next job, in nanoseconds; 0: the task's period.
    pub period: u64,
    /// The steps of a job.
    pub steps: &'t str,
}

impl<'t> Phase<'t> {
    /// What a part of the code of a task says, if it is one.
    pub fn parse(text: &'t str) -> Option<Phase<'t>> {
        let (times, steps) = text.split_once(':')?;
        let (jobs, period) = times.split_once(',')?;
        Some(Phase { jobs: jobs.parse().ok()?, period: period.parse().ok()?, steps })
    }
}

impl fmt::Display for Phase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{},{}:{}", self.jobs, self.period, self.steps)
    }
}

/// What a program is told of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields<'t> {
    /// Its name, which is that of the memory for the records of its jobs, and, if it is a thread
    /// with a reservation, that of the capability to this.
    pub name: &'t str,
    /// Its priority on the kernel.
    pub priority: u64,
    /// The CPU that it runs on.
    pub cpu: u64,
    /// When the first job is released, in nanoseconds since boot.
    pub release: u64,
    /// When the others are.
    pub activation: Activation,
    /// How many jobs there are; 0: no end of them.
    pub jobs: u64,
    /// The seed of its random times.
    pub seed: u64,
    /// A bit for the index of each condition that it helps (S2G-02).
    pub helps: u64,
    /// Its [phases](Phase) with `/` between them: what its jobs do, again and again.
    pub code: &'t str,
}

impl<'t> Fields<'t> {
    /// The task with this place in a text, if it is there.
    pub fn parse(text: &'t str, place: usize) -> Option<Fields<'t>> {
        let mut fields = text.split('|').nth(place)?.split(' ');
        let mut next = || fields.next();
        let name = next()?;
        let mut number = || next()?.parse().ok();
        let (priority, cpu, release) = (number()?, number()?, number()?);
        let activation = match next()? {
            "forever" => Activation::Forever,
            period => Activation::Period(period.parse().ok()?),
        };
        let mut number = || next()?.parse().ok();
        let (jobs, seed, helps) = (number()?, number()?, number()?);
        let code = next()?;
        Some(Fields { name, priority, cpu, release, activation, jobs, seed, helps, code })
    }
}

impl fmt::Display for Fields<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Fields { name, priority, cpu, release, activation, jobs, seed, helps, code } = self;
        write!(f, "{name} {priority} {cpu} {release} ")?;
        match activation {
            Activation::Period(period) => write!(f, "{period}")?,
            Activation::Forever => f.write_str("forever")?,
        }
        write!(f, " {jobs} {seed} {helps} {code}")
    }
}
