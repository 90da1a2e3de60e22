//! What cyclictest prints: a line for each thread, the histogram, single samples, and JSON.

use super::options::Options;
use super::tally::Tally;
use abi::call::Fact;
use rt::{Console, Words, print, println, system};

/// Looks between two refreshments of the lines.
const REFRESH: u64 = 10;

/// The output of a run.
pub struct Lines {
    console: Console,
    options: Options,
    tallies: Words,
    looks: u64,
    shown: bool,
}

impl Lines {
    pub fn new(console: Console, options: Options, tallies: Words) -> Lines {
        Lines { console, options, tallies, looks: 0, shown: false }
    }

    fn tally(&self, thread: u64) -> Tally {
        Tally::of(self.tallies, thread, &self.options)
    }

    fn all(&self) -> impl Iterator<Item = Tally> + '_ {
        (0..self.options.threads).map(|thread| self.tally(thread))
    }

    /// Shows how far it is, now and then, unless it is to be quiet.
    pub fn refresh(&mut self) {
        self.looks += 1;
        let Options { quiet, verbose, json, .. } = self.options;
        if !quiet && !verbose && !json && self.looks.is_multiple_of(REFRESH) {
            self.threads();
        }
    }

    /// The results.
    pub fn end(&mut self) {
        if self.options.json {
            self.warnings();
            return self.json();
        }
        if self.options.verbose {
            self.samples();
        }
        // As cyclictest: where it is quiet, a histogram stands for the lines.
        if !(self.options.quiet && self.options.histogram > 0) {
            self.threads();
        }
        if self.options.histogram > 0 {
            self.histogram();
        }
        for (thread, tally) in self.all().enumerate().filter(|(_, tally)| tally.broke() > 0) {
            println!(self.console, "# Break thread: {thread}");
            println!(self.console, "# Break value: {}", tally.broke());
        }
        self.warnings();
    }

    /// A line for each thread, over those that were shown before.
    fn threads(&mut self) {
        let Options { threads, priority, nanoseconds, .. } = self.options;
        if self.shown {
            print!(self.console, "\x1b[{threads}A");
        }
        self.shown = true;
        let wide = if nanoseconds { 8 } else { 5 };
        for thread in 0..threads {
            let (tally, interval) = (self.tally(thread), self.options.interval_of(thread));
            print!(self.console, "T:{thread:2} ({:5}) P:{priority:2} I:{interval} ", thread + 1);
            let (count, least, last) = (tally.count(), tally.least(), tally.last());
            print!(self.console, "C:{count:7} Min:{least:7} Act:{last:wide$} ");
            println!(self.console, "Avg:{:wide$} Max:{:8}", tally.mean() / 100, tally.most());
        }
    }

    fn samples(&self) {
        for (thread, tally) in self.all().enumerate() {
            for (cycle, value) in tally.samples().enumerate() {
                println!(self.console, "{thread:8}:{cycle:8}:{value:8}");
            }
        }
    }

    /// To the byte as cyclictest of rt-tests 2.8 prints it without `--histofall`: bins without a
    /// sample of any thread are left out, and as many cycles of overflows are named as there are
    /// bins. Where that is all of them, rt-tests still adds that there are 0 others.
    fn histogram(&self) {
        let (console, bins) = (self.console, self.options.histogram);
        println!(console, "# Histogram");
        let is_met = |bin: &usize| self.all().any(|tally| tally.bin(*bin) > 0);
        for bin in (0..bins as usize).filter(is_met) {
            print!(console, "{bin:06}");
            for (thread, tally) in self.all().enumerate() {
                let gap = if thread == 0 { ' ' } else { '\t' };
                print!(console, "{gap}{:06}", tally.bin(bin));
            }
            println!(console);
        }
        type Figure = fn(&Tally) -> u64;
        let row = |name: &str, figure: Figure| {
            print!(console, "# {name}:");
            self.all().for_each(|tally| print!(console, " {:05}", figure(&tally)));
            println!(console);
        };
        row("Min Latencies", Tally::least);
        row("Avg Latencies", |tally| tally.mean() / 100);
        row("Max Latencies", Tally::most);
        row("Histogram Overflows", Tally::overflows);
        println!(console, "# Histogram Overflow at cycle number:");
        for (thread, tally) in self.all().enumerate() {
            print!(console, "# Thread {thread}: ");
            for (index, cycle) in tally.overflow_cycles().enumerate() {
                let gap = if index == 0 { "" } else { " " };
                print!(console, "{gap}{cycle:05}");
            }
            if tally.overflows() >= bins {
                print!(console, " # {:05} others", tally.overflows() - bins);
            }
            println!(console);
        }
        println!(console);
    }

    /// What the results cannot be trusted in.
    fn warnings(&self) {
        let console = self.console;
        for (thread, tally) in self.all().enumerate() {
            let (count, over, missed) = (tally.count(), tally.overflows(), tally.missed());
            if over > 0 {
                let enough = tally.most() + 1;
                println!(
                    console,
                    "WARN: {over} of {count} samples of thread {thread} are beyond the histogram; \
                     give -h {enough}"
                );
            }
            if missed > 0 {
                println!(console, "WARN: thread {thread} came too late for {missed} instants");
            }
            let kept = tally.samples().count() as u64;
            if self.options.verbose && kept < count {
                println!(console, "WARN: of thread {thread} only {kept} samples were kept");
            }
        }
    }

    /// In the shape of rt-tests' files.
    fn json(&self) {
        let console = self.console;
        let kernel = system::fact(Fact::KernelName).unwrap_or((0, 0));
        let name = [kernel.0.to_le_bytes(), kernel.1.to_le_bytes()];
        let name = core::str::from_utf8(name.as_flattened()).unwrap_or("");
        let name = name.trim_end_matches('\0');
        println!(console, "{{\n  \"file_version\": 1,");
        println!(console, "  \"cmdline:\": \"cyclictest {}\",", self.options.text);
        println!(console, "  \"rt_test_version:\": \"{}\",", env!("CARGO_PKG_VERSION"));
        println!(console, "  \"sysinfo\": {{\n    \"sysname\": \"Giusto\",");
        println!(console, "    \"release\": \"{name}\",\n    \"realtime\": 1\n  }},");
        println!(console, "  \"num_threads\": {},", self.options.threads);
        let resolution = self.options.nanoseconds;
        println!(console, "  \"resolution_in_ns\": {},\n  \"thread\": {{", u64::from(resolution));
        for (thread, tally) in self.all().enumerate() {
            print!(console, "    \"{thread}\": {{\n      \"histogram\": {{");
            let mut gap = "\n";
            for bin in 0..self.options.histogram as usize {
                if tally.bin(bin) > 0 {
                    print!(console, "{gap}        \"{bin}\": {}", tally.bin(bin));
                    gap = ",\n";
                }
            }
            println!(console, "}},\n      \"cycles\": {},", tally.count());
            println!(console, "      \"min\": {},", tally.least());
            println!(console, "      \"max\": {},", tally.most());
            let mean = tally.mean();
            println!(console, "      \"avg\": {}.{:02},", mean / 100, mean % 100);
            let cpu = self.options.cpu_of(thread as u64).unwrap_or(0);
            println!(console, "      \"cpu\": {cpu},\n      \"node\": 0");
            let last = thread as u64 + 1 == self.options.threads;
            println!(console, "    }}{}", if last { "" } else { "," });
        }
        println!(console, "  }},\n  \"return_code\": 0\n}}");
    }
}
