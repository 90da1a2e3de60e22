//! The logs that domains leave ([`abi::log`]), merged in the order of time. What stands in a log is
//! its domain's word and nothing else is: whose it is says the manifest.

use crate::machine::word_at;
use abi::log::{
    HEADER_WORDS, Level, MAGIC, NUMBER, RECORD_WORDS, SHAPE, Shape, TEXT, TIME, WORD_BOOT, WORD_HZ,
    WORD_LINES, WORD_MAGIC,
};
use manifest::{Domain, Memory, System};
use serde::Serialize;
use std::collections::BTreeMap;

/// A line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// Nanoseconds since boot.
    pub time: u64,
    /// What its level is called.
    pub level: &'static str,
    /// The domain that wrote it.
    pub domain: String,
    /// What it says; control characters are spelled out, so that it is one line.
    pub text: String,
}

/// All lines of a run.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Logs {
    /// Those that are important enough, in the order of time.
    pub lines: Vec<Line>,
    /// How many lines of a domain are not in its log any more, or are damaged.
    pub lost: BTreeMap<String, u64>,
}

/// Reads the logs of a system from what a run has left, down to a level.
pub fn read(memories: &BTreeMap<String, Vec<u8>>, system: &System, least: Level) -> Logs {
    read_in(memories, system, least, System::log_of)
}

/// Reads what programs have left of their panics, in their logs or what stands in for those.
pub fn read_panics(memories: &BTreeMap<String, Vec<u8>>, system: &System) -> Vec<Line> {
    read_in(memories, system, Level::Error, place_of_panics).lines
}

/// The memory in which a domain's program leaves why it panicked.
fn place_of_panics<'a>(system: &'a System, domain: &Domain) -> Option<&'a Memory> {
    system.log_of(domain).or_else(|| system.panics_of(domain))
}

/// Reads what is laid out as logs in the memories of domains.
fn read_in(
    memories: &BTreeMap<String, Vec<u8>>,
    system: &System,
    least: Level,
    place: for<'a> fn(&'a System, &Domain) -> Option<&'a Memory>,
) -> Logs {
    let mut logs = Logs::default();
    for domain in &system.domains {
        let left = place(system, domain).and_then(|memory| memories.get(&memory.name));
        let Some(log) = left.and_then(|bytes| Log::open(bytes)) else { continue };
        let records: Vec<_> = log.records().collect();
        let lost = log.word(WORD_LINES).saturating_sub(records.len() as u64);
        if lost > 0 {
            logs.lost.insert(domain.name.clone(), lost);
        }
        let wanted = records.into_iter().filter(|(_, shape, _)| shape.level <= least);
        logs.lines.extend(wanted.map(|(time, shape, text)| Line {
            time,
            level: shape.level.name(),
            domain: domain.name.clone(),
            text,
        }));
    }
    logs.lines.sort_by_key(|line| line.time);
    logs
}

/// One domain's log.
struct Log<'a>(&'a [u8]);

impl<'a> Log<'a> {
    /// `None`: the program has not opened it.
    fn open(bytes: &'a [u8]) -> Option<Log<'a>> {
        (word_at(bytes, WORD_MAGIC) == Some(MAGIC)).then_some(Log(bytes))
    }

    fn word(&self, index: usize) -> u64 {
        word_at(self.0, index).unwrap_or(0)
    }

    /// Time, shape and text of the lines that are there, in the order of their numbers.
    fn records(&self) -> impl Iterator<Item = (u64, Shape, String)> {
        let room = ((self.0.len() / 8).saturating_sub(HEADER_WORDS) / RECORD_WORDS) as u64;
        let end = self.word(WORD_LINES);
        (end.saturating_sub(room)..end).filter_map(move |number| {
            let at = HEADER_WORDS + (number % room) as usize * RECORD_WORDS;
            // One that was being written when the run ended, or that another took the place of.
            let whole = self.word(at + NUMBER) == number.wrapping_add(1);
            let shape = Shape::from_word(self.word(at + SHAPE)).filter(|_| whole)?;
            let from = 8 * (at + TEXT);
            let text = spelled(&self.0[from..from + shape.length], shape.cut);
            Some((self.nanoseconds(self.word(at + TIME)), shape, text))
        })
    }

    fn nanoseconds(&self, counter: u64) -> u64 {
        let passed = u128::from(counter.saturating_sub(self.word(WORD_BOOT)));
        let time = passed * 1_000_000_000 / u128::from(self.word(WORD_HZ).max(1));
        u64::try_from(time).unwrap_or(u64::MAX)
    }
}

/// Characters that change how others are shown, or are not seen.
const DIRECTIONS: [std::ops::RangeInclusive<char>; 4] = [
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{feff}'..='\u{feff}',
];

/// A text in one line.
fn spelled(bytes: &[u8], cut: bool) -> String {
    let mut text = String::new();
    for c in String::from_utf8_lossy(bytes).chars() {
        match c.is_control() || DIRECTIONS.iter().any(|range| range.contains(&c)) {
            true => text.extend(c.escape_default()),
            false => text.push(c),
        }
    }
    text + if cut { "..." } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYSTEM: &str = "[system]\nname = \"plant\"\n\
        [[domain]]\nname = \"pump\"\nprogram = \"echo\"\npriority = 1\nlog = \"4K\"\n\
        [[domain]]\nname = \"fan\"\nprogram = \"echo\"\npriority = 1\nlog = \"4K\"\n";

    /// A log with these lines: counter, level, text.
    fn log(lines: &[(u64, Level, &str)]) -> Vec<u8> {
        let mut words = vec![0u64; 512];
        (words[WORD_MAGIC], words[WORD_HZ], words[WORD_BOOT]) = (MAGIC, 500_000_000, 100);
        words[WORD_LINES] = lines.len() as u64;
        for (number, (time, level, text)) in lines.iter().enumerate() {
            let record = &mut words[HEADER_WORDS + number % 31 * RECORD_WORDS..][..RECORD_WORDS];
            let shape = Shape { level: *level, length: text.len(), cut: false };
            (record[NUMBER], record[TIME], record[SHAPE]) =
                (number as u64 + 1, *time, shape.word());
            for (word, bytes) in record[TEXT..].iter_mut().zip(text.as_bytes().chunks(8)) {
                let mut all = [0; 8];
                all[..bytes.len()].copy_from_slice(bytes);
                *word = u64::from_le_bytes(all);
            }
        }
        words.into_iter().flat_map(u64::to_le_bytes).collect()
    }

    fn read_logs(pump: Vec<u8>, fan: Vec<u8>, least: Level) -> Logs {
        let system = manifest::parse("plant.toml", SYSTEM).unwrap();
        let memories = [("log-pump".to_string(), pump), ("log-fan".to_string(), fan)];
        read(&memories.into_iter().collect(), &system, least)
    }

    fn told(logs: &Logs) -> Vec<String> {
        let told =
            |line: &Line| format!("{} {} {}: {}", line.time, line.level, line.domain, line.text);
        logs.lines.iter().map(told).collect()
    }

    #[test]
    fn lines_of_all_domains_are_in_the_order_of_time() {
        let pump = log(&[(110, Level::Info, "on"), (150, Level::Error, "too hot: 90 degrees")]);
        let fan = log(&[(120, Level::Debug, "off"), (130, Level::Warn, "")]);
        let logs = read_logs(pump.clone(), fan.clone(), Level::Debug);
        let all = [
            "20 info pump: on",
            "40 debug fan: off",
            "60 warn fan: ",
            "100 error pump: too hot: 90 degrees",
        ];
        assert_eq!(told(&logs), all);
        assert!(logs.lost.is_empty());
        assert_eq!(told(&read_logs(pump, fan, Level::Warn)), [all[2], all[3]]);
    }

    #[test]
    fn what_is_lost_is_counted() {
        let lines: Vec<_> = (0..40).map(|n| (100 + n, Level::Info, "x")).collect();
        let mut pump = log(&lines);
        let logs = read_logs(pump.clone(), Vec::new(), Level::Info);
        assert_eq!((logs.lines.len(), logs.lost["pump"]), (31, 9));
        // The last line was being written.
        pump[8 * (HEADER_WORDS + 39 % 31 * RECORD_WORDS)] = 0;
        let logs = read_logs(pump, Vec::new(), Level::Info);
        assert_eq!((logs.lines.len(), logs.lost["pump"]), (30, 10));
    }

    #[test]
    fn a_log_can_hold_anything_and_be_told() {
        let evil = log(&[(100, Level::Info, "x\n0 info fan: all is well\x1b[2J")]);
        let logs = read_logs(evil.clone(), Vec::new(), Level::Info);
        assert_eq!(told(&logs), ["0 info pump: x\\n0 info fan: all is well\\u{1b}[2J"]);
        for word in 1..HEADER_WORDS + RECORD_WORDS {
            let mut spoilt = evil.clone();
            spoilt[8 * word..8 * word + 8].fill(0xff);
            assert!(read_logs(spoilt, Vec::new(), Level::Debug).lines.len() <= 1, "word {word}");
        }
        assert_eq!(read_logs(vec![0xff; 4096], vec![0; 4096], Level::Debug), Logs::default());
        assert_eq!(read_logs(MAGIC.to_le_bytes().to_vec(), Vec::new(), Level::Debug).lines, []);
    }
}
