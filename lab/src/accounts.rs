//! What reservations had in a run, from what the kernel leaves when the system is shut down
//! ([`abi::account`]), beside the bounds that `check` finds.

use crate::machine::{Outcome, word_at};
use crate::output;
use abi::account::{
    ENDED, EXISTS, HEADER_WORDS, LATEST, MAGIC, MISSED, OVERRUNS, RECORD_WORDS, SERVICE,
    WORD_MAGIC, WORD_NOW, WORD_RECORDS, WORD_ROOTS, WORST,
};
use manifest::{System, spell_duration};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;

/// What all reservations of the manifest had.
#[derive(Debug, Default, Serialize)]
pub struct Accounts {
    /// Nanoseconds since boot; 0 if the system was not shut down by a program.
    pub now_ns: u64,
    /// Those that were there in the end, in the order of the manifest.
    pub reservations: Vec<Account>,
}

/// What one reservation had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Its name.
    pub name: String,
    /// Whether threads run on it; else it is a class.
    pub is_leaf: bool,
    /// CPU time.
    pub service_ns: u64,
    /// How often its budget was used up; none without a limit.
    pub overruns: Option<u64>,
    /// Jobs that have ended.
    pub jobs: u64,
    /// Jobs that were late; none if they have no deadline.
    pub missed: Option<u64>,
    /// The longest time from a job's release to its end.
    pub worst_ns: u64,
    /// The longest time from a deadline to the job's end.
    pub latest_ns: u64,
    /// What that can be at most by the analysis; none if that says nothing.
    pub bound_ns: Option<u64>,
    /// What jobs must not do for that to hold, behind "unless it"; none if the manifest declares
    /// all that they may wait for.
    pub unless: Option<String>,
    /// What follows when the budget is used up, if that is not to wait.
    pub overrun: Option<&'static str>,
    /// What follows when a job is late, if that is not to go on.
    pub miss: Option<&'static str>,
}

/// What the analysis says of jobs, by the names of their reservations.
#[derive(Debug, Default)]
pub struct Bounds {
    /// Within which time they end, in ns.
    pub within: BTreeMap<String, u64>,
    /// What they must not do for that to hold, behind "unless it".
    pub unless: BTreeMap<String, String>,
}

impl Account {
    /// Whether a job took longer than it can by the analysis.
    pub fn exceeds(&self) -> bool {
        self.bound_ns.is_some_and(|bound| self.worst_ns > bound)
    }

    /// The condition behind a bound; nothing without one.
    fn unless(&self) -> String {
        let unless = self.unless.as_ref().filter(|_| self.bound_ns.is_some());
        unless.map_or_else(String::new, |unless| format!(", unless it {unless}"))
    }
}

impl Accounts {
    /// Reads the accounts of a run, where the system was asked for them in this memory.
    pub fn told(
        outcome: &Outcome,
        system: &System,
        memory: Option<&String>,
        bounds: &Bounds,
    ) -> Accounts {
        let left = memory.and_then(|memory| outcome.memories.get(memory));
        let mut accounts = left.map_or_else(Accounts::default, |bytes| read(bytes, system));
        for account in &mut accounts.reservations {
            account.bound_ns =
                bounds.within.get(&account.name).copied().filter(|_| account.is_leaf);
            account.unless = bounds.unless.get(&account.name).cloned().filter(|_| account.is_leaf);
        }
        accounts
    }

    /// The account of a reservation.
    pub fn of(&self, name: &str) -> Option<&Account> {
        self.reservations.iter().find(|account| account.name == name)
    }
}

fn read(bytes: &[u8], system: &System) -> Accounts {
    let word = |index: usize| word_at(bytes, index).unwrap_or(0);
    if word(WORD_MAGIC) != MAGIC {
        return Accounts::default();
    }
    let (roots, records) = (word(WORD_ROOTS) as usize, word(WORD_RECORDS) as usize);
    let account = |(index, node): (usize, &manifest::Reservation)| {
        let record = roots + index;
        let field = |field: usize| word(HEADER_WORDS + record * RECORD_WORDS + field);
        let is_limited = node.limit().is_some();
        let [overrun, miss] = node.reactions();
        (record < records && field(EXISTS) == 1).then(|| Account {
            name: node.name.clone(),
            is_leaf: node.policy.is_none(),
            service_ns: field(SERVICE),
            overruns: is_limited.then(|| field(OVERRUNS)),
            jobs: field(ENDED),
            missed: node.timing.map(|_| field(MISSED)),
            worst_ns: field(WORST),
            latest_ns: field(LATEST),
            bound_ns: None,
            unless: None,
            overrun,
            miss,
        })
    };
    let reservations = system.reservations.iter().enumerate().filter_map(account).collect();
    Accounts { now_ns: word(WORD_NOW), reservations }
}

impl fmt::Display for Accounts {
    /// A table of those on which threads run; nothing without any.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let leaves: Vec<_> = self.reservations.iter().filter(|account| account.is_leaf).collect();
        if leaves.is_empty() {
            return Ok(());
        }
        let titles = ["reservation", "CPU time", "overruns", "jobs", "late", "longest", "bound"];
        let mut rows = results::plain_table(&titles, output::columns());
        for account in leaves {
            let number = |number: Option<u64>| number.map_or("-".to_string(), |it| it.to_string());
            let share = account.service_ns as f64 / self.now_ns.max(1) as f64;
            let timed = account.missed.map(|_| spell_duration(rounded(account.worst_ns)));
            let bound = account
                .bound_ns
                .map(|bound| format!("<= {}{}", spell_duration(bound), account.unless()));
            rows.add_row([
                account.name.clone(),
                format!("{:.1}%", 100.0 * share),
                then(number(account.overruns), account.overrun),
                number(account.missed.map(|_| account.jobs)),
                then(number(account.missed), account.miss),
                timed.unwrap_or("-".to_string()),
                bound.unwrap_or("-".to_string()),
            ]);
        }
        writeln!(f, "{}", results::fitted(rows, 2).trim_end())?;
        for account in self.reservations.iter().filter(|account| account.exceeds()) {
            let bound = spell_duration(account.bound_ns.unwrap_or(0));
            let worst = spell_duration(account.worst_ns);
            let (name, unless) = (&account.name, account.unless());
            writeln!(f, "{name}: a job took {worst}, and by the analysis {bound} at most{unless}")?;
        }
        Ok(())
    }
}

/// How often something has happened, and what follows it, if that is said.
pub fn then(count: String, reaction: Option<&str>) -> String {
    reaction.map_or(count.clone(), |reaction| format!("{count}, {reaction}"))
}

/// Whole microseconds, if it is as long as that: what is below tells nothing in a table.
fn rounded(time: u64) -> u64 {
    if time < 1_000 { time } else { time.div_ceil(1_000) * 1_000 }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A system with a class, and a task in it.
    pub const TWO: &str = r#"
        [system]
        name = "two"
        [[reservation]]
        name = "class"
        policy = "edf"
        priority = 300
        [[reservation]]
        name = "task"
        in = "class"
        deadline = "5ms"
        period = "5ms"
        budget = "1ms"
        [[domain]]
        name = "task"
        program = "periodic"
        priority = 1
        reservation = "task"
    "#;

    fn system() -> System {
        manifest::parse("two.toml", TWO).expect("it is right")
    }

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn what_the_kernel_leaves_is_read_behind_the_roots() {
        let mut words = vec![MAGIC, 1, 3, 1_000, 0, 0, 0, 0];
        words.extend([1, 9, 0, 0, 0, 0, 0, 0]);
        words.extend([1, 8, 0, 0, 0, 0, 0, 0]);
        words.extend([1, 7, 6, 5, 4, 30, 2, 0]);
        let mut accounts = read(&bytes(&words), &system());
        assert_eq!(accounts.now_ns, 1_000);
        let task = accounts.of("task").expect("it exists").clone();
        assert_eq!((task.service_ns, task.overruns, task.jobs), (7, Some(6), 5));
        assert_eq!((task.missed, task.worst_ns, task.latest_ns), (Some(4), 30, 2));
        let class = accounts.of("class").expect("it exists");
        assert!(!class.is_leaf && class.missed.is_none() && class.service_ns == 8);
        assert!(!task.exceeds(), "there is no bound");
        for (bound, exceeds) in [(29, true), (30, false)] {
            accounts.reservations[1].bound_ns = Some(bound);
            let said = accounts.to_string();
            assert_eq!(said.contains("by the analysis"), exceeds, "{said}");
        }
        // A bound is said with its condition, in the table and where it did not hold.
        accounts.reservations[1] = Account { bound_ns: Some(29), ..task };
        accounts.reservations[1].unless = Some("calls `requests`".to_string());
        let said = accounts.to_string();
        let condition = "unless it calls `requests`";
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("<= 0us, unless it calls"), "{said}");
        assert!(said.contains(&format!("at most, {condition}\n")), "{said}");
    }

    #[test]
    fn what_is_not_there_or_cut_off_is_left_out() {
        assert!(read(&[], &system()).reservations.is_empty());
        let mut words = vec![MAGIC, 1, 3, 1_000, 0, 0, 0, 0];
        words.extend([1, 9, 0, 0, 0, 0, 0, 0]);
        words.extend([0, 8, 0, 0, 0, 0, 0, 0]);
        assert!(read(&bytes(&words), &system()).reservations.is_empty());
        words[0] = 0;
        assert_eq!(read(&bytes(&words), &system()).now_ns, 0);
    }
}
