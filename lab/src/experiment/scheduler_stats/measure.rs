use super::{
    ACCURACY, AVOIDED, CASES, COUNTED, DEFERRED_DEQUEUES, DEFERRED_ENQUEUES, LONGEST,
    LOOK_UPS_AVOIDED, OF_EQUALS, RATES, SECOND, TRACED,
};
use crate::experiment::measured::{fact, pair};
use crate::experiment::traced::{ROOM, Traced, traced};
use crate::experiment::{Boots, Emulated, Measured, Setup};
use crate::image::Watch;
use crate::systems;
use abi::statistics::{Counter, LENGTHS, MAGIC, WORD_COUNTERS, WORD_LENGTHS, WORDS};
use anyhow::{Context, Result, ensure};
use manifest::TREE;
use results::{Fact, Limit, Samples, Series};
use trace::OutOfOrder;

/// Milliseconds that a load runs before it is counted: a tick.
const BEFORE: u64 = 10;
/// How many times as long the kernel runs that claims rest on: chance has less part in it.
const LONGER: u64 = 4;
/// The word of memory `totals` where the statistics begin.
pub const STATISTICS: usize = 2;
/// The system whose round trip says what a message costs.
const PING: &str = "ping-across";

/// On the emulator, where kernels with and without statistics differ.
pub fn emulated(setup: &Emulated, kernel: &str) -> Result<Measured> {
    let mut measured = measure(setup, kernel)?;
    let pair = ping(setup, Watch::Nothing, kernel)?;
    let counting = ping(setup, Watch::Statistics, kernel)?;
    let note = format!("more for a pair of ping-pong than the {pair} without statistics");
    let more = counting.saturating_sub(pair);
    measured.facts.insert(0, fact(format!("{kernel} statistics"), more, "instructions", note));
    if setup.asked.set.is_empty() {
        measured.limits = limits(&measured.samples, kernel);
    }
    Ok(measured)
}

/// How equal equals are under a kernel, in millionths: as docs/results/loads.md says.
fn of_equals(kernel: &str) -> [u64; 2] {
    match kernel {
        "strict-eager" | TREE => [990_000, 1_000_000],
        "strict-lazy" => [800_000, 950_000],
        _ => [700_000, 860_000],
    }
}

/// The bounds of accuracies.
fn limits(samples: &Samples, kernel: &str) -> Vec<Limit> {
    let bounds = |metric: &str| match metric {
        ACCURACY => [1_000_000; 2],
        _ => of_equals(kernel),
    };
    let accuracies = |series: &&Series| [ACCURACY, OF_EQUALS].contains(&series.metric.as_str());
    let both = |series: &Series| {
        let [least, most] = bounds(&series.metric).map(|bound| bound as f64);
        let name = format!("{kernel} {} {}", series.metric, series.case);
        let value = series.values.first().map_or(0.0, |value| *value as f64);
        let above = Limit::least(&name, value, least, "millionths");
        // None is above a million.
        [Some(above), (most < 1e6).then(|| Limit::most(&name, value, most, "millionths"))]
    };
    samples.series.iter().filter(accuracies).flat_map(both).flatten().collect()
}

pub fn measure(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let usual = if kernel == COUNTED { LONGER * SECOND } else { SECOND };
    let milliseconds = BEFORE + setup.asked.number("time", usual) / 1_000_000;
    let pair = ping(setup, Watch::Nothing, kernel)?;
    for load in CASES {
        let outcome = setup.boot_with(Watch::Statistics, load, kernel, &mut |system| {
            systems::set(system, "milliseconds", &milliseconds.to_string());
        })?;
        let totals = outcome.memories.get("totals");
        let totals = totals.with_context(|| format!("`{load}` has no memory `totals`"))?;
        let counted = Counted::decode(totals).with_context(|| format!("`{load}` on {kernel}"))?;
        push(&mut measured, kernel, load, counted.figures(pair / 2)?);
        measured.facts.push(counted.lengths_fact(kernel, load));
        let milliseconds = BEFORE + setup.asked.number("time", TRACED).min(TRACED) / 1_000_000;
        let traced = traced(setup, load, kernel, ROOM, &mut |system| {
            systems::set(system, "milliseconds", &milliseconds.to_string());
        })?;
        push_accuracy(&mut measured, kernel, load, &traced);
    }
    Ok(measured)
}

/// Adds how accurate the choices of a run were, and what was the worst.
fn push_accuracy(measured: &mut Measured, kernel: &str, case: &str, traced: &Traced) {
    let found = trace::accuracy(&traced.traces.all, &traced.names);
    let figures = vec![(ACCURACY, found.order()), (OF_EQUALS, found.equals())];
    push(measured, kernel, case, figures);
    if let Some(OutOfOrder { ran, ready, ns, .. }) = found.worst {
        let note =
            format!("the longest run of a thread, {ran}, while a higher one, {ready}, was ready");
        let name = format!("{kernel} out of order, {case}");
        measured.facts.push(fact(name.trim_end_matches(", "), ns, "ns", note));
    }
}

/// The same of a user's system, in which a program leaves the statistics in a memory that the host
/// reads; without what a message of ping-pong has a part in.
pub fn of_user_system(setup: &impl Boots, kernel: &str) -> Result<Measured> {
    let mut measured = Measured::default();
    let system = setup.user_system()?;
    match traced(setup, system, kernel, ROOM, &mut |_| {}) {
        Ok(traced) => push_accuracy(&mut measured, kernel, "", &traced),
        Err(error) => measured.notes.push(format!("{kernel}: no accuracy: {error:#}")),
    }
    let outcome = setup.boot_with(Watch::Statistics, system, kernel, &mut |_| {})?;
    match outcome.memories.values().find_map(|memory| Counted::find(memory)) {
        Some(counted) => {
            push(&mut measured, kernel, "", counted.counts()?);
            measured.facts.push(counted.lengths_fact(kernel, system));
        }
        None => {
            let missing = format!(
                "{kernel}: no counts: no program of `{system}` has left statistics in a memory \
                 with `host = true`; see `statistics::leave` in docs/statistics.md"
            );
            ensure!(!measured.samples.series.is_empty(), missing);
            measured.notes.push(missing);
        }
    }
    Ok(measured)
}

/// Adds figures as rows of a case.
fn push(measured: &mut Measured, kernel: &str, case: &str, figures: Vec<(&'static str, u64)>) {
    for (metric, value) in figures {
        let unit = unit_of(metric).map(|unit| (metric.to_string(), unit.to_string()));
        measured.units.extend(unit);
        measured.samples.push(kernel, metric, case, vec![value]);
    }
}

/// What a metric counts; nothing for times, which are in the unit of the machine.
fn unit_of(metric: &str) -> Option<&'static str> {
    let suffixes = [
        ("-ppm", "millionths"),
        (ACCURACY, "millionths"),
        (OF_EQUALS, "millionths"),
        ("-per-1000s", "events in 1000 s"),
        ("-queue", "threads"),
        ("-median", "threads"),
        ("-most-frequent", "threads"),
        ("-longest", "threads"),
    ];
    suffixes.into_iter().find_map(|(suffix, unit)| metric.ends_with(suffix).then_some(unit))
}

/// What a call and its reply take in ping-pong across domains.
fn ping(setup: &Setup, watch: Watch, kernel: &str) -> Result<u64> {
    pair(&setup.boot_with(watch, PING, kernel, &mut |_| {})?, kernel)
}

/// What a load left.
pub struct Counted {
    counters: [u64; Counter::ALL.len()],
    lengths: [u64; LENGTHS],
}

impl Counted {
    /// Reads memory `totals`.
    pub fn decode(totals: &[u8]) -> Result<Counted> {
        let (words, _) = totals.as_chunks::<8>();
        let words = words.get(STATISTICS..STATISTICS + WORDS);
        let words = words.context("memory `totals` is too small for the statistics")?;
        Counted::of(words).context(
            "the kernel keeps no statistics; build it with the port's feature `statistics`",
        )
    }

    /// Looks for statistics in a memory, at any word.
    pub fn find(memory: &[u8]) -> Option<Counted> {
        memory.as_chunks::<8>().0.windows(WORDS).find_map(Counted::of)
    }

    /// The statistics in these words; `None`: they hold none.
    fn of(words: &[[u8; 8]]) -> Option<Counted> {
        let word = |index: usize| u64::from_le_bytes(words[index]);
        (word(0) == MAGIC).then(|| Counted {
            counters: std::array::from_fn(|counter| word(WORD_COUNTERS + counter)),
            lengths: std::array::from_fn(|length| word(WORD_LENGTHS + length)),
        })
    }

    fn get(&self, counter: Counter) -> u64 {
        self.counters[counter as usize]
    }

    /// Everything that becomes a row of a load; `message` is what one costs.
    pub fn figures(&self, message: u64) -> Result<Vec<(&'static str, u64)>> {
        let mut figures = self.counts()?;
        let (time, messages) = (self.get(Counter::Time), self.get(Counter::Messages));
        ensure!(messages > 0, "nothing was counted: no message in {time} ns");
        let each = time / messages;
        figures.extend([
            ("work-between-messages", each.saturating_sub(message)),
            ("overhead-ppm", share(message, each, MILLION)),
        ]);
        Ok(figures)
    }

    /// What the counters say by themselves.
    pub fn counts(&self) -> Result<Vec<(&'static str, u64)>> {
        use Counter::{Actual, DeferredDequeues, DeferredEnqueues, Eager, LookUps, Switches};
        let time = self.get(Counter::Time);
        ensure!(time > 0, "nothing was counted: no time has passed since the counters began");
        let mut figures = RATES
            .map(|(metric, counter)| (metric, share(self.get(counter), time, 1_000_000_000_000)))
            .to_vec();
        let avoided = |made, of| MILLION.saturating_sub(self.ppm(made, of));
        let most = |length: &usize| (self.lengths[*length], std::cmp::Reverse(*length));
        let frequent = (0..LENGTHS).max_by_key(most).unwrap_or(0);
        let longest = self.lengths.iter().rposition(|&times| times > 0).unwrap_or(0);
        figures.extend([
            (AVOIDED, avoided(Actual, Eager)),
            (DEFERRED_ENQUEUES, self.ppm(DeferredEnqueues, Actual)),
            (DEFERRED_DEQUEUES, self.ppm(DeferredDequeues, Actual)),
            (LOOK_UPS_AVOIDED, avoided(LookUps, Switches)),
            (LONGEST, self.get(Counter::LongestQueue)),
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
    pub fn lengths_fact(&self, kernel: &str, load: &str) -> Fact {
        let all: u64 = self.lengths.iter().sum();
        let met = self.lengths.iter().enumerate().filter(|(_, times)| **times > 0);
        let bars: Vec<String> = met
            .map(|(length, &times)| {
                let tenths = share(times, all, 1000);
                format!("{length}: {}.{} %", tenths / 10, tenths % 10)
            })
            .collect();
        let note = format!("they found the lengths {}", bars.join(", "));
        fact(format!("{kernel} queue, {load}"), all, "operations", note)
    }
}

const MILLION: u64 = 1_000_000;

/// A part of a whole in units of `1 / unit`, rounded; 0 of nothing.
fn share(part: u64, whole: u64, unit: u64) -> u64 {
    let exact = u128::from(part) * u128::from(unit) + u128::from(whole / 2);
    exact.checked_div(u128::from(whole)).map_or(0, |share| share.try_into().unwrap_or(u64::MAX))
}
