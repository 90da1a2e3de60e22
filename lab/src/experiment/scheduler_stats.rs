//! `scheduler-stats`: what client/server loads ask of the scheduler and of send queues (S0-34,
//! S0-E01 to S0-E03), by the counters that a kernel with statistics keeps.
//!
//! A row's one sample is the whole run.

use super::run::recording;
use super::{Boots, Cpus, Emulated, Experiment, Measure, Measured, Setup, claims};
use crate::image::Extra;
use abi::results::Tag;
use abi::statistics::{Counter, LENGTHS, MAGIC, WORD_COUNTERS, WORD_LENGTHS, WORDS};
use anyhow::{Context, Result, bail, ensure};
use results::Fact;

/// The experiment.
pub static EXPERIMENT: Experiment = Experiment {
    name: "scheduler-stats",
    about: "What client/server loads ask of the scheduler and of send queues, by counters",
    ledger: &["S0-33", "S0-34", "S0-E01", "S0-E02", "S0-E03", "S0-C02", "S0-C03", "S0-C06"],
    machines: &[Measure::Emulated(emulated), Measure::Simulated(measure)],
    cpus: Cpus::One,
    kernels: &manifest::KERNELS,
    metrics: &METRICS,
    cases: &CASES,
    parameters: &[
        ("clients", "5 of equal priority; the server is above them, a tick of 4 ms above it"),
        ("work between messages", "61,244, 39,733 and 9,311 instructions, +- 50 % by seed"),
        (
            "waits",
            "at a tick or for a device's server of the clients' priority, one after 6.6, 11.8 \
                   and 42.8 million instructions of a client and the server",
        ),
        ("time", "1 s, from the first tick on; 4 s under direct-lazy, which claims rest on"),
    ],
    notes: &[
        "Rates count in 1000 s of the machine's own time, in which an instruction is a nanosecond; \
         ppm are millionths.",
        "What is avoided counts as 0 where a kernel does more than eager queueing would, or more \
         look-ups than switches.",
        "Work between messages is the time of one less half a round trip of ping-pong under the \
         same kernel without statistics; the overhead is that half's part of the time.",
        "The load fixes work, waits and priorities: how long queues get follows.",
    ],
    golden: false,
    modelled: false,
    claims: claims::scheduler_stats::all,
};

/// The loads, which are systems of the same names.
pub const CASES: [&str; 3] = ["complete", "database", "udpserver"];

/// Part of queue operations of eager queueing that were not made.
pub const AVOIDED: &str = "avoided-ppm";
/// Part of insertions into the ready queue that were deferred ones.
pub const DEFERRED_ENQUEUES: &str = "enqueues-deferred-ppm";
/// Part of removals from it that were, by insertions.
pub const DEFERRED_DEQUEUES: &str = "dequeues-deferred-ppm";
/// Part of switches that took no look-up.
pub const LOOK_UPS_AVOIDED: &str = "look-ups-avoided-ppm";
/// Messages.
pub const MESSAGES: &str = "messages-per-1000s";
/// Messages that had to queue.
pub const QUEUED: &str = "queued-messages-per-1000s";
/// The longest queue of senders.
pub const LONGEST: &str = "longest-send-queue";

const RATES: [(&str, Counter); 8] = [
    ("eager-per-1000s", Counter::Eager),
    ("actual-per-1000s", Counter::Actual),
    ("deferred-enqueues-per-1000s", Counter::DeferredEnqueues),
    ("deferred-dequeues-per-1000s", Counter::DeferredDequeues),
    ("switches-per-1000s", Counter::Switches),
    ("look-ups-per-1000s", Counter::LookUps),
    (MESSAGES, Counter::Messages),
    (QUEUED, Counter::QueuedMessages),
];

const METRICS: [&str; 18] = [
    RATES[0].0,
    RATES[1].0,
    AVOIDED,
    RATES[2].0,
    DEFERRED_ENQUEUES,
    RATES[3].0,
    DEFERRED_DEQUEUES,
    RATES[4].0,
    RATES[5].0,
    LOOK_UPS_AVOIDED,
    MESSAGES,
    "work-between-messages",
    "overhead-ppm",
    QUEUED,
    LONGEST,
    "ready-queue-median",
    "ready-queue-most-frequent",
    "ready-queue-longest",
];

/// The kernel that the thesis counted in, and that claims rest on.
pub const COUNTED: &str = "direct-lazy";
/// Milliseconds that a load runs: a tick, then what is counted.
const MILLISECONDS: u64 = 1010;
/// The same under the kernel that claims rest on: chance has less part in it.
const LONG: u64 = 4010;
/// The word of memory `totals` where the statistics begin.
const STATISTICS: usize = 2;
/// The system whose round trip says what a message costs.
const PING: &str = "ping-across";
/// The number under which its programs record rounds.
const ROUND_TRIP: u16 = 1;

/// On the emulator, where kernels with and without statistics differ.
fn emulated(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let mut measured = measure(setup, kernel)?;
    let pair = pair(setup, None, kernel)?;
    let counting = self::pair(setup, Some(Extra::Statistics), kernel)?;
    let fact = Fact {
        name: format!("{kernel} statistics"),
        value: counting.saturating_sub(pair),
        unit: "instructions".to_string(),
        note: format!("more for a pair of ping-pong than the {pair} without statistics"),
    };
    measured.facts.insert(0, fact);
    Ok(measured)
}

fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let milliseconds = if kernel == COUNTED { LONG } else { MILLISECONDS };
    let pair = pair(setup, None, kernel)?;
    for load in CASES {
        let outcome = setup.boot_with(Some(Extra::Statistics), load, kernel, &mut |system| {
            let args = system.domains.iter_mut().flat_map(|domain| &mut domain.args);
            for (_, value) in args.filter(|(name, _)| name == "milliseconds") {
                *value = milliseconds.to_string();
            }
        })?;
        let totals = outcome.memories.get("totals");
        let totals = totals.with_context(|| format!("`{load}` has no memory `totals`"))?;
        let counted = Counted::decode(totals).with_context(|| format!("`{load}` on {kernel}"))?;
        for (metric, value) in counted.figures(pair / 2)? {
            measured.samples.push(kernel, metric, load, vec![value]);
            let unit = unit_of(metric).map(|unit| (metric.to_string(), unit.to_string()));
            measured.units.extend(unit);
        }
        measured.facts.push(counted.lengths_fact(kernel, load));
    }
    Ok(measured)
}

/// What a call and its reply take in ping-pong across domains, with no words: the medians.
fn pair(setup: &Setup, extra: Option<Extra>, kernel: &str) -> Result<u64> {
    let outcome = setup.boot_with(extra, PING, kernel, &mut |_| {})?;
    let client = recording(&outcome, "client-recording", kernel)?;
    let server = recording(&outcome, "server-recording", kernel)?;
    let call = results::spans(&client, Tag::BEFORE, &server, Tag::AFTER, ROUND_TRIP)?;
    let reply = results::spans(&server, Tag::BEFORE, &client, Tag::AFTER, ROUND_TRIP)?;
    let mut pair = 0;
    for mut spans in [call, reply] {
        let values = spans.cases.get_mut(&0).context("the programs recorded no first case")?;
        values.sort_unstable();
        pair += values.get(values.len() / 2).context("the programs recorded no round")?;
    }
    Ok(pair)
}

/// What a load left.
struct Counted {
    counters: [u64; Counter::ALL.len()],
    lengths: [u64; LENGTHS],
}

impl Counted {
    /// Reads memory `totals`.
    fn decode(totals: &[u8]) -> Result<Counted> {
        let (words, _) = totals.as_chunks::<8>();
        let words = words.get(STATISTICS..STATISTICS + WORDS);
        let words = words.context("memory `totals` is too small for the statistics")?;
        let word = |index: usize| u64::from_le_bytes(words[index]);
        if word(0) != MAGIC {
            bail!("the kernel keeps no statistics; build it with the port's feature `statistics`");
        }
        Ok(Counted {
            counters: std::array::from_fn(|counter| word(WORD_COUNTERS + counter)),
            lengths: std::array::from_fn(|length| word(WORD_LENGTHS + length)),
        })
    }

    fn get(&self, counter: Counter) -> u64 {
        self.counters[counter as usize]
    }

    /// Everything that becomes a row; `message` is what one costs.
    fn figures(&self, message: u64) -> Result<Vec<(&'static str, u64)>> {
        use Counter::{Actual, DeferredDequeues, DeferredEnqueues, Eager, LookUps, Switches};
        let (time, messages) = (self.get(Counter::Time), self.get(Counter::Messages));
        ensure!(time > 0 && messages > 0, "nothing was counted: {messages} messages in {time} ns");
        let mut figures = RATES
            .map(|(metric, counter)| (metric, share(self.get(counter), time, 1_000_000_000_000)))
            .to_vec();
        let avoided = |made, of| MILLION.saturating_sub(self.ppm(made, of));
        let each = time / messages;
        figures.extend([
            (AVOIDED, avoided(Actual, Eager)),
            (DEFERRED_ENQUEUES, self.ppm(DeferredEnqueues, Actual)),
            (DEFERRED_DEQUEUES, self.ppm(DeferredDequeues, Actual)),
            (LOOK_UPS_AVOIDED, avoided(LookUps, Switches)),
            ("work-between-messages", each.saturating_sub(message)),
            ("overhead-ppm", share(message, each, MILLION)),
            (LONGEST, self.get(Counter::LongestQueue)),
        ]);
        let most = |length: &usize| (self.lengths[*length], std::cmp::Reverse(*length));
        let frequent = (0..LENGTHS).max_by_key(most).unwrap_or(0);
        let longest = self.lengths.iter().rposition(|&times| times > 0).unwrap_or(0);
        figures.extend([
            ("ready-queue-median", self.median() as u64),
            ("ready-queue-most-frequent", frequent as u64),
            ("ready-queue-longest", longest as u64),
        ]);
        Ok(figures)
    }

    fn ppm(&self, part: Counter, of: Counter) -> u64 {
        share(self.get(part), self.get(of), MILLION)
    }

    /// The length that half the operations do not exceed.
    fn median(&self) -> usize {
        let all: u64 = self.lengths.iter().sum();
        let mut below = 0;
        let reaches = |times: &u64| {
            below += times;
            2 * below >= all
        };
        self.lengths.iter().position(reaches).unwrap_or(0)
    }

    /// The histogram as a fact.
    fn lengths_fact(&self, kernel: &str, load: &str) -> Fact {
        let all: u64 = self.lengths.iter().sum();
        let met = self.lengths.iter().enumerate().filter(|(_, times)| **times > 0);
        let bars: Vec<String> = met
            .map(|(length, &times)| {
                let tenths = share(times, all, 1000);
                format!("{length}: {}.{} %", tenths / 10, tenths % 10)
            })
            .collect();
        Fact {
            name: format!("{kernel} queue, {load}"),
            value: all,
            unit: "operations".to_string(),
            note: format!("they found the lengths {}", bars.join(", ")),
        }
    }
}

const MILLION: u64 = 1_000_000;

/// What a metric counts; nothing for times, which are in the unit of the machine.
fn unit_of(metric: &str) -> Option<&'static str> {
    let suffixes = [
        ("-ppm", "millionths"),
        ("-per-1000s", "events in 1000 s"),
        ("-queue", "threads"),
        ("-median", "threads"),
        ("-most-frequent", "threads"),
        ("-longest", "threads"),
    ];
    suffixes.into_iter().find_map(|(suffix, unit)| metric.ends_with(suffix).then_some(unit))
}

/// A part of a whole in units of `1 / unit`, rounded; 0 of nothing.
fn share(part: u64, whole: u64, unit: u64) -> u64 {
    let exact = u128::from(part) * u128::from(unit) + u128::from(whole / 2);
    exact.checked_div(u128::from(whole)).map_or(0, |share| share.try_into().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory `totals` with these counters and lengths.
    fn totals(counters: &[(Counter, u64)], lengths: &[u64]) -> Vec<u8> {
        let mut words = vec![0; STATISTICS + WORDS];
        words[STATISTICS] = MAGIC;
        for (counter, value) in counters {
            words[STATISTICS + WORD_COUNTERS + *counter as usize] = *value;
        }
        words[STATISTICS + WORD_LENGTHS..][..lengths.len()].copy_from_slice(lengths);
        words.into_iter().flat_map(u64::to_le_bytes).collect()
    }

    fn figure(totals: &[u8], metric: &str) -> u64 {
        let figures = Counted::decode(totals).unwrap().figures(350).unwrap();
        figures.into_iter().find(|(name, _)| *name == metric).expect("there is such a row").1
    }

    #[test]
    fn the_papers_table_recomputes() {
        // A hundred seconds of `complete`.
        let counters = [
            (Counter::Eager, 675_760),
            (Counter::Actual, 28_096),
            (Counter::DeferredEnqueues, 8_888),
            (Counter::DeferredDequeues, 18_185),
            (Counter::Switches, 704_025),
            (Counter::LookUps, 36_394),
            (Counter::Messages, 649_419),
            (Counter::QueuedMessages, 64),
            (Counter::LongestQueue, 1),
            // At 400 MHz, one nanosecond for each cycle.
            (Counter::Time, 40_000_000_000),
        ];
        let totals = totals(&counters, &[]);
        let expected = [
            (AVOIDED, 958_423),
            (DEFERRED_ENQUEUES, 316_344),
            (DEFERRED_DEQUEUES, 647_245),
            (LOOK_UPS_AVOIDED, 948_306),
            ("work-between-messages", 61_243),
            ("overhead-ppm", 5_682),
            (QUEUED, 1_600),
            (LONGEST, 1),
        ];
        for (metric, value) in expected {
            assert_eq!(figure(&totals, metric), value, "{metric}");
        }
    }

    #[test]
    fn lengths_have_a_median_a_mode_and_an_end() {
        let time = [(Counter::Time, 1), (Counter::Messages, 1)];
        let totals = totals(&time, &[0, 30, 25, 40, 0, 1]);
        let all = ["median", "most-frequent", "longest"];
        let found = all.map(|what| figure(&totals, &format!("ready-queue-{what}")));
        assert_eq!(found, [2, 3, 5]);
        let fact = Counted::decode(&totals).unwrap().lengths_fact("k", "load");
        assert_eq!(fact.value, 96);
        assert!(fact.note.ends_with("1: 31.3 %, 2: 26.0 %, 3: 41.7 %, 5: 1.0 %"), "{}", fact.note);
    }

    #[test]
    fn a_kernel_without_statistics_is_said_so() {
        let mut bytes = totals(&[], &[]);
        bytes[8 * STATISTICS] = 0;
        let error = Counted::decode(&bytes).err().expect("nothing was left").to_string();
        assert!(error.contains("keeps no statistics"), "{error}");
        assert!(Counted::decode(&bytes[..8 * WORDS]).is_err(), "too small");
    }

    #[test]
    fn a_run_without_messages_is_no_result() {
        let counted = Counted::decode(&totals(&[(Counter::Time, 5)], &[])).unwrap();
        assert!(counted.figures(350).is_err());
    }

    #[test]
    fn rows_are_what_the_experiment_names() {
        let time = [(Counter::Time, 1), (Counter::Messages, 1)];
        let counted = Counted::decode(&totals(&time, &[])).unwrap();
        let mut found: Vec<&str> =
            counted.figures(1).unwrap().into_iter().map(|(metric, _)| metric).collect();
        let mut named = METRICS.to_vec();
        found.sort_unstable();
        named.sort_unstable();
        assert_eq!(found, named);
    }
}
