//! Task sets.

/// A task set. Times are in units of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskSet {
    /// What a system of it is called.
    pub name: String,
    /// Objects in the order of the file; operands are their indices.
    pub objects: Vec<(String, Object)>,
    /// Tasks in the order of the file.
    pub tasks: Vec<Task>,
    /// Which task helps which condition (S2G-02): indices of both, each pair once.
    pub helpers: Vec<(usize, usize)>,
    /// How long the run takes.
    pub duration: u64,
    /// The seed of random times.
    pub seed: u64,
    /// How long a wait takes before it blocks.
    pub blocking: u64,
}

/// A kind of object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Object {
    /// A mutex.
    Mutex,
    /// A condition variable.
    Condition,
    /// A counter, 0 at first.
    Counter,
    /// A queue of messages without synchronisation.
    Queue,
    /// A reference to an object that a message has brought.
    Pointer,
}

/// An object, or what a pointer refers to, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The index of the object.
    pub object: usize,
    /// Whether the object that this pointer refers to is meant.
    pub through: bool,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its name.
    pub name: String,
    /// Its priority; 1 is the most urgent.
    pub priority: u64,
    /// When its jobs are released.
    pub activation: Activation,
    /// How many jobs there are at most, if there is an end of them.
    pub jobs: Option<u64>,
    /// The instant of the first job.
    pub phase: u64,
    /// From a job's release to its deadline, if one is told.
    pub deadline: Option<u64>,
    /// A limit of its CPU time, if it has one: the budget, and the period in which it has it.
    pub budget: Option<(u64, u64)>,
    /// The CPU that it runs on.
    pub cpu: u64,
    /// Whether it goes by deadlines, also where others go by priorities.
    pub by_deadline: bool,
    /// What its jobs do, phase by phase, and again from the first one.
    pub phases: Vec<Phase>,
}

/// Jobs that are alike, one behind the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// How many.
    pub jobs: u64,
    /// From the release of each to that of the next job, if it is not the task's period.
    pub period: Option<u64>,
    /// The code of a job.
    pub code: Vec<Instruction>,
}

/// When the jobs of a task are released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// Once for each period.
    Period(u64),
    /// Again and again.
    Forever,
    /// Once.
    Once,
}

/// A length of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    /// Always the same.
    Fixed(u64),
    /// From one length to another, both included, each equally likely.
    Uniform(u64, u64),
    /// Exponential with this mean.
    Exponential(u64),
}

/// An instruction (S2G-08).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Instruction {
    /// Computes.
    Compute(Time),
    /// Suspends the task.
    Delay(Time),
    /// Locks a mutex.
    Lock(Operand),
    /// Unlocks it.
    Unlock(Operand),
    /// Releases the mutex and waits for the condition.
    Wait(Operand, Operand),
    /// Wakes a task that waits for the condition.
    Signal(Operand, Operand),
    /// Adds one to a counter.
    Inc(Operand),
    /// Takes one from it.
    Dec(Operand),
    /// Sets it.
    Set(Operand, u64),
    /// Waits until a counter is not 0.
    WaitCounter(Operand, Operand, Operand),
    /// Appends a message to a queue.
    Push(Operand),
    /// Takes one.
    Pop(Operand),
    /// Appends a message that refers to a queue, a condition and a mutex, which stand behind it.
    PushReferences(Operand, [Operand; 3]),
    /// Takes one, and leaves its references in three pointers.
    PopReferences(Operand, [Operand; 3]),
    /// Waits until a queue is not empty.
    WaitQueue(Operand, Operand, Operand),
}

impl Instruction {
    /// The objects that it names.
    pub fn operands(&self) -> Vec<Operand> {
        use Instruction::*;
        match *self {
            Compute(_) | Delay(_) => Vec::new(),
            Lock(one) | Unlock(one) | Inc(one) | Dec(one) | Set(one, _) | Push(one) | Pop(one) => {
                vec![one]
            }
            Wait(mutex, condition) | Signal(mutex, condition) => vec![mutex, condition],
            WaitCounter(mutex, condition, on) | WaitQueue(mutex, condition, on) => {
                vec![mutex, condition, on]
            }
            PushReferences(queue, [one, two, three]) | PopReferences(queue, [one, two, three]) => {
                vec![queue, one, two, three]
            }
        }
    }
}
