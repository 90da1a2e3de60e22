//! The command line of `cyclictest`, with the original's options.

use super::{all_kernels, machines, seed};
use crate::machine::{self, MACHINES};
use clap::{ArgAction, Args};
use units::{Unit, whole};

/// What to measure, and how.
#[derive(Debug, Args)]
pub struct Cyclictest {
    /// Run one thread after the other on these CPUs, such as 0-3 or 0,2; without CPUS on all.
    #[arg(short, long, value_name = "CPUS", num_args = 0..=1, default_missing_value = "",
          value_parser = cpu_set)]
    pub affinity: Option<String>,
    /// End when a latency is above this many microseconds.
    #[arg(short, long, value_name = "US")]
    pub breaktrace: Option<u32>,
    /// What each thread's interval is longer than the one before's; 500 without it, 0 with -h.
    #[arg(short, long, value_name = "US")]
    pub distance: Option<u32>,
    /// How long to measure: a number and ms, s, m, h or d.
    #[arg(short = 'D', long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<String>,
    /// Print a histogram of latencies up to this many microseconds, or of what is printed.
    #[arg(short = 'h', long, value_name = "US",
          value_parser = clap::value_parser!(u32).range(..=MOST_BINS))]
    pub histogram: Option<u32>,
    /// The interval of the first thread; 1000 without it.
    #[arg(short, long, value_name = "US", value_parser = clap::value_parser!(u32).range(1..))]
    pub interval: Option<u32>,
    /// Samples of each thread.
    #[arg(short, long, value_name = "N")]
    pub loops: Option<u32>,
    /// Accepted, since all memory is locked.
    #[arg(short, long)]
    pub mlockall: bool,
    /// Print nanoseconds instead of microseconds; so it is without being asked for where
    /// instructions count as time, as a wake-up takes less than a microsecond of them.
    #[arg(short = 'N', long)]
    pub nsecs: bool,
    /// The priority of the threads, 1 to 99.
    #[arg(short, long, visible_alias = "prio", value_name = "N",
          value_parser = clap::value_parser!(u32).range(0..=99))]
    pub priority: Option<u32>,
    /// Print nothing before the end.
    #[arg(short, long)]
    pub quiet: bool,
    /// Run one thread on each CPU.
    #[arg(short = 'S', long)]
    pub smp: bool,
    /// How many threads; without N one for each CPU.
    #[arg(short, long, value_name = "N", num_args = 0..=1, default_missing_value = "",
          value_parser = thread_count)]
    pub threads: Option<String>,
    /// Print each sample.
    #[arg(short, long)]
    pub verbose: bool,
    /// How many CPUs the machine has; those that -a names without it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=8))]
    pub cpus: Option<u32>,
    /// The machine.
    #[arg(long, value_name = "M", value_parser = machines(), default_value = MACHINES[0].name())]
    pub machine: String,
    /// The kernel; strict-eager without it.
    #[arg(long, value_name = "K", value_parser = all_kernels())]
    pub kernel: Option<String>,
    /// Count instructions as time: exactly repeatable, but not at the pace of the clock.
    #[arg(long)]
    pub icount: bool,
    /// The seed of the machine, where it repeats exactly.
    #[arg(long, value_name = "S", value_parser = seed)]
    pub seed: Option<u64>,
    /// Print this help.
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
}

/// CPUs of the largest machine, and threads that the system has room for.
const MOST: u32 = 8;
/// Words that the system has for histograms, and those of each thread beside its bins and as many
/// cycles of overflows.
const WORDS: u32 = 65_536;
const COUNTERS: u32 = 18;
/// Bins for which a single thread has room.
const MOST_BINS: i64 = most_bins(1) as i64;

/// Bins for which each of so many threads has room.
const fn most_bins(threads: u32) -> u32 {
    (WORDS / threads - COUNTERS) / 2
}

/// Milliseconds in the units of the original; without one a number is in seconds.
const MILLISECONDS: [Unit; 6] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("", 1_000)];

/// A number and one of these units, not 0.
fn duration(text: &str) -> Result<String, String> {
    let most = u64::MAX / 1_000_000;
    let known = whole(text, &MILLISECONDS).is_some_and(|all| (1..=most).contains(&all));
    let why = "give a number, which is not 0, and ms, s, m, h or d, such as 10s";
    known.then(|| text.to_string()).ok_or_else(|| why.to_string())
}

/// A set of CPUs such as `0-3,6`, or nothing for all.
fn cpu_set(text: &str) -> Result<String, String> {
    let cpu = |cpu: &str| cpu.parse::<u32>().ok().filter(|cpu| *cpu < MOST);
    let is_part = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        cpu(first).zip(cpu(last)).is_some_and(|(first, last)| first <= last)
    };
    let known = text.is_empty() || text.split(',').all(is_part);
    let why = format!("give CPUs below {MOST}, such as 0-3 or 0,2");
    known.then(|| text.to_string()).ok_or(why)
}

/// A number of threads, or nothing for one on each CPU.
fn thread_count(text: &str) -> Result<String, String> {
    let fits = |threads| (1..=MOST).contains(&threads);
    let known = text.is_empty() || text.parse().is_ok_and(fits);
    known.then(|| text.to_string()).ok_or_else(|| format!("give 1 to {MOST}"))
}

impl Cyclictest {
    /// Whether an emulator is to count instructions.
    pub fn is_repeatable(&self) -> bool {
        self.icount || self.seed.is_some()
    }

    /// Whether instructions count as time, be it modelled ones.
    pub fn counts_instructions(&self) -> bool {
        let emulated = machine::find(&self.machine).is_some_and(|one| one.emulator().is_some());
        self.is_repeatable() || !emulated
    }

    /// The options of the program that measures, as one text.
    pub fn options(&self) -> String {
        let flag = |set: bool, name: &str| set.then(|| name.to_string());
        let value = |value: &Option<u32>, name: &str| value.map(|value| format!("{name} {value}"));
        let text = |value: &Option<String>, name: &str| {
            value.as_ref().map(|value| format!("{name} {value}").trim_end().to_string())
        };
        let all = [
            flag(self.mlockall, "-m"),
            flag(self.smp, "-S"),
            text(&self.threads, "-t"),
            text(&self.affinity, "-a"),
            value(&self.priority, "-p"),
            value(&self.interval, "-i"),
            value(&self.distance, "-d"),
            value(&self.loops, "-l"),
            text(&self.duration, "-D"),
            value(&self.histogram, "-h"),
            value(&self.breaktrace, "-b"),
            flag(self.nsecs || self.counts_instructions(), "-N"),
            flag(self.quiet, "-q"),
            flag(self.verbose, "-v"),
        ];
        all.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// The last of the CPUs that -a names, if it names any.
    fn last_cpu(&self) -> Option<u32> {
        let named = self.affinity.iter().flat_map(|set| set.split([',', '-']));
        named.filter_map(|cpu| cpu.parse::<u32>().ok()).max()
    }

    /// How many CPUs the machine is to have: what was asked for, or as many as -a names.
    pub fn machine_cpus(&self) -> u32 {
        self.cpus.unwrap_or(self.last_cpu().map_or(1, |last| last + 1))
    }

    /// What is wrong with options that are right by themselves.
    pub fn problem(&self) -> Option<String> {
        let cpus = self.machine_cpus();
        if let Some(last) = self.last_cpu().filter(|last| *last >= cpus) {
            return Some(format!("-a names CPU {last}, and --cpus {cpus} gives 0 to {}", cpus - 1));
        }
        let threads = match &self.threads {
            Some(count) => count.parse().unwrap_or(cpus),
            None => {
                if self.smp {
                    cpus
                } else {
                    1
                }
            }
        };
        let most = most_bins(threads);
        let wrong = || format!("-h: {threads} threads have room for {most} bins each");
        (self.histogram? > most).then(wrong)
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use crate::commands::Command;
    use clap::Parser;

    /// The options that a command line gives the program, and how many CPUs the machine.
    fn asked(words: &str) -> (String, u32) {
        let words = format!("giusto cyclictest {words}");
        match Cli::try_parse_from(words.split(' ')).unwrap().command {
            Command::Cyclictest(asked) => (asked.options(), asked.machine_cpus()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn options_are_spelt_as_the_originals() {
        let asked = |words| {
            let (options, cpus) = asked(words);
            format!("{options}; {cpus}")
        };
        assert_eq!(asked("-mSp99 -i1000 -h 100 -q"), "-m -S -p 99 -i 1000 -h 100 -q; 1");
        assert_eq!(asked("-t -a 0-3 -D 10s --prio 9"), "-t -a 0-3 -p 9 -D 10s; 4");
        assert_eq!(asked("-t4 -a --cpus 2 -l 7 -vN"), "-t 4 -a -l 7 -N -v; 2");
        assert_eq!(asked("--affinity=0,2 -b 50 -d 0"), "-a 0,2 -d 0 -b 50; 3");
    }

    #[test]
    fn where_instructions_are_time_latencies_are_in_nanoseconds() {
        assert_eq!(asked("-l 5").0, "-l 5");
        assert_eq!(asked("-l 5 --icount").0, "-l 5 -N");
        assert_eq!(asked("-l 5 --machine twin").0, "-l 5 -N");
        assert_eq!(asked("-l 5 --seed 3").0, "-l 5 -N");
        assert_eq!(asked("-N --icount").0, "-N", "once is enough");
    }

    #[test]
    fn what_is_no_option_is_refused() {
        for words in [
            "-x", "-p 100", "-i 0", "--cpus 9", "extra", "-a 0-8", "-a 1-x", "-a 1-2-3", "-a 3-1",
            "-t 9",
        ] {
            let words = format!("giusto cyclictest {words}");
            assert!(Cli::try_parse_from(words.split(' ')).is_err(), "{words}");
        }
        for words in ["-D 0s", "-D 1x", "-D s", "-D 9999999999999d", "-h 4294967295", "-h 32760"] {
            let words = format!("giusto cyclictest {words}");
            assert!(Cli::try_parse_from(words.split(' ')).is_err(), "{words}");
        }
        for (words, wrong) in [
            ("-a 5 --cpus 2", true),
            ("-a 0-1 --cpus 2", false),
            ("-h 32759", false),
            ("-t 8 -h 4088", true),
            ("-t 8 -h 4087", false),
        ] {
            let words = format!("giusto cyclictest {words}");
            match Cli::try_parse_from(words.split(' ')).unwrap().command {
                Command::Cyclictest(asked) => assert_eq!(asked.problem().is_some(), wrong),
                other => panic!("{other:?}"),
            }
        }
    }
}
