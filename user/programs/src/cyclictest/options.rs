//! Command line options, spelt as cyclictest's.

use core::fmt;

/// What to do.
#[derive(Clone, Copy)]
pub struct Options {
    /// The text that was parsed.
    pub text: &'static str,
    /// Measuring threads.
    pub threads: u64,
    /// The CPUs that they run on in turn, as bits; none: all where the program is.
    pub affinity: u64,
    /// Priority; 0 is none.
    pub priority: u64,
    /// The first thread's interval, and what each further one has more, in microseconds; none with
    /// a histogram, as by rt-tests.
    pub interval: u64,
    pub distance: Option<u64>,
    /// Nanoseconds to go on for; 0: no end.
    pub duration: u64,
    /// Samples of each thread; 0: no end.
    pub loops: u64,
    /// Bins of the histogram; 0: none.
    pub histogram: u64,
    /// Microseconds beyond which the run ends; 0: none.
    pub break_at: u64,
    /// Nothing before the end.
    pub quiet: bool,
    /// Every sample.
    pub verbose: bool,
    /// Nanoseconds instead of microseconds.
    pub nanoseconds: bool,
    /// The results as JSON.
    pub json: bool,
    /// Whether the list of options is asked for.
    pub help: bool,
}

/// Why options cannot be used.
pub enum Problem {
    /// It is unknown.
    Unknown(&'static str),
    /// Its value is missing.
    Missing(&'static str),
    /// Its value is no number, or too large.
    Number(&'static str, &'static str),
    /// Its value is no duration.
    Duration(&'static str),
    /// Its value is no set of CPUs.
    Cpus(&'static str),
    /// There is no such CPU.
    Cpu(u64, u64),
    /// The priority is out of range.
    Priority(u64),
    /// An interval of 0.
    Interval,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Problem::Unknown(name) => {
                write!(f, "there is no option `{name}`; `--help` lists them")
            }
            Problem::Missing(name) => write!(f, "option `{name}` needs a value"),
            Problem::Number(name, value) => {
                write!(f, "option `{name}` needs a whole number below 2^32, not `{value}`")
            }
            Problem::Duration(value) => {
                write!(f, "`{value}` is no duration: give a number and ms, s, m, h or d")
            }
            Problem::Cpus(value) => {
                write!(f, "`{value}` is no set of CPUs: give some such as 0-3 or 0,2")
            }
            Problem::Cpu(cpu, cpus) => {
                write!(f, "there is no CPU {cpu}; this machine has {cpus}, numbered from 0")
            }
            Problem::Priority(value) => {
                write!(f, "priority {value} is out of range: give 1 to 99, 99 is the highest")
            }
            Problem::Interval => write!(f, "an interval of 0 us is none: give `-i` at least 1"),
        }
    }
}

/// The list of options.
pub const HELP: &str = "\
-a, --affinity [CPUS]  one thread after the other on these CPUs, such as 0-3; without CPUS on all
-b, --breaktrace US    end when a latency is above this
-d, --distance US      what each thread's interval is longer than the one before's (500; 0 with -h)
-D, --duration TIME    how long: a number and ms, s, m, h or d
-h, --histogram US     print a histogram up to this
-i, --interval US      interval of the first thread (1000)
-l, --loops N          samples of each thread
-m, --mlockall         accepted: all memory is locked
-N, --nsecs            nanoseconds instead of microseconds
-p, --priority N       priority of the threads, 1 to 99
-q, --quiet            print only a summary at the end
-S, --smp              one thread on each CPU
-t, --threads [N]      this many threads; without N one for each CPU
-v, --verbose          print every sample
    --json             print the results as JSON, and nothing else but warnings
";

/// Short options with their long names.
const NAMES: [(char, &str); 16] = [
    ('a', "affinity"),
    ('b', "breaktrace"),
    ('d', "distance"),
    ('D', "duration"),
    ('h', "histogram"),
    ('i', "interval"),
    ('l', "loops"),
    ('m', "mlockall"),
    ('N', "nsecs"),
    ('n', "nanosleep"),
    ('p', "priority"),
    ('p', "prio"),
    ('q', "quiet"),
    ('S', "smp"),
    ('t', "threads"),
    ('v', "verbose"),
];

type Words = core::iter::Peekable<core::str::SplitWhitespace<'static>>;

impl Options {
    /// Parses a text such as `-m -S -p 99 -i 1000` for a machine of so many CPUs.
    pub fn parse(text: &'static str, cpus: u64) -> Result<Options, Problem> {
        let mut options = Options {
            text,
            threads: 1,
            affinity: 0,
            priority: 0,
            interval: 1000,
            distance: None,
            duration: 0,
            loops: 0,
            histogram: 0,
            break_at: 0,
            quiet: false,
            verbose: false,
            nanoseconds: false,
            json: false,
            help: false,
        };
        let mut words = text.split_whitespace().peekable();
        while let Some(word) = words.next() {
            match (word.strip_prefix("--"), word.strip_prefix('-')) {
                (Some(long), _) => options.long(word, long, &mut words)?,
                (None, Some(cluster)) if !cluster.is_empty() => {
                    options.cluster(word, cluster, &mut words)?;
                }
                _ => return Err(Problem::Unknown(word)),
            }
        }
        if options.threads == EACH_CPU {
            options.threads = cpus;
        }
        if options.affinity == ALL_CPUS {
            options.affinity = ALL_CPUS >> (64 - cpus);
        }
        let last = 63 - u64::from(options.affinity.leading_zeros()).min(63);
        match options {
            Options { affinity: 1.., .. } if last >= cpus => Err(Problem::Cpu(last, cpus)),
            Options { priority: 100.., .. } => Err(Problem::Priority(options.priority)),
            Options { interval: 0, .. } => Err(Problem::Interval),
            _ => Ok(options),
        }
    }

    fn long(
        &mut self,
        word: &'static str,
        long: &'static str,
        words: &mut Words,
    ) -> Result<(), Problem> {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        match name {
            "json" => self.json = true,
            "help" => self.help = true,
            _ => {
                let known = NAMES.iter().find(|(_, long)| *long == name);
                let (short, _) = known.ok_or(Problem::Unknown(word))?;
                self.set(*short, word, value, words)?;
            }
        }
        Ok(())
    }

    /// Short options in a row, of which the last may have its value behind it: `-mSp99`.
    fn cluster(
        &mut self,
        word: &'static str,
        mut rest: &'static str,
        words: &mut Words,
    ) -> Result<(), Problem> {
        while let Some(short) = rest.chars().next() {
            rest = &rest[short.len_utf8()..];
            let value = (takes_value(short) && !rest.is_empty()).then_some(rest);
            if value.is_some() {
                rest = "";
            }
            self.set(short, word, value, words)?;
        }
        Ok(())
    }

    fn set(
        &mut self,
        short: char,
        word: &'static str,
        value: Option<&'static str>,
        words: &mut Words,
    ) -> Result<(), Problem> {
        let mut needed = || value.or_else(|| words.next()).ok_or(Problem::Missing(word));
        match short {
            'm' | 'n' => {}
            'N' => self.nanoseconds = true,
            'q' => self.quiet = true,
            'v' => self.verbose = true,
            'S' => (self.threads, self.affinity) = (EACH_CPU, ALL_CPUS),
            'a' | 't' => {
                let given = value.or_else(|| words.next_if(|next| !next.starts_with('-')));
                match (short, given) {
                    ('a', Some(set)) => self.affinity = cpus(set).ok_or(Problem::Cpus(set))?,
                    ('a', None) => self.affinity = ALL_CPUS,
                    (_, Some(threads)) => self.threads = number(word, threads)?.max(1),
                    (_, None) => self.threads = EACH_CPU,
                }
            }
            'D' => self.duration = duration(needed()?)?,
            'b' => self.break_at = number(word, needed()?)?,
            'd' => self.distance = Some(number(word, needed()?)?),
            'h' => self.histogram = number(word, needed()?)?,
            'i' => self.interval = number(word, needed()?)?,
            'l' => self.loops = number(word, needed()?)?,
            'p' => self.priority = number(word, needed()?)?,
            _ => return Err(Problem::Unknown(word)),
        }
        Ok(())
    }

    /// The CPU of a thread, if it has one of its own.
    pub fn cpu_of(&self, thread: u64) -> Option<u64> {
        let count = u64::from(self.affinity.count_ones());
        let place = thread.checked_rem(count)?;
        (0..64).filter(|cpu| self.affinity >> cpu & 1 == 1).nth(place as usize)
    }

    /// The interval of a thread in microseconds.
    pub fn interval_of(&self, thread: u64) -> u64 {
        let distance = if self.histogram > 0 { 0 } else { self.distance.unwrap_or(DISTANCE) };
        self.interval + thread * distance
    }

    /// How many of the unit that is printed a number of nanoseconds are.
    pub fn units(&self, nanoseconds: u64) -> u64 {
        if self.nanoseconds { nanoseconds } else { nanoseconds / 1000 }
    }
}

/// What a further thread's interval is longer, in microseconds, unless it is said.
const DISTANCE: u64 = 500;
/// As many threads as there are CPUs, until it is known how many these are.
const EACH_CPU: u64 = u64::MAX;
const ALL_CPUS: u64 = u64::MAX;

/// A set of CPUs as bits: numbers and ranges such as `0-3,6`.
fn cpus(set: &str) -> Option<u64> {
    let mut bits = 0;
    for part in set.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<u32>().ok()?, last.parse::<u32>().ok()?);
        if first > last || last >= 64 {
            return None;
        }
        bits |= (ALL_CPUS >> (63 - (last - first))) << first;
    }
    Some(bits)
}

fn takes_value(short: char) -> bool {
    matches!(short, 'a' | 'b' | 'd' | 'D' | 'h' | 'i' | 'l' | 'p' | 't')
}

fn number(name: &'static str, value: &'static str) -> Result<u64, Problem> {
    let parsed = value.parse::<u32>().map_err(|_| Problem::Number(name, value));
    parsed.map(u64::from)
}

/// Nanoseconds in a duration, seconds if it has no unit.
fn duration(value: &'static str) -> Result<u64, Problem> {
    let digits = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let (count, unit) = value.split_at(digits);
    let unit = match unit {
        "ms" => 1_000_000,
        "" | "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return Err(Problem::Duration(value)),
    };
    let count = count.parse::<u64>().map_err(|_| Problem::Duration(value))?;
    count.checked_mul(unit).filter(|ns| *ns > 0).ok_or(Problem::Duration(value))
}
