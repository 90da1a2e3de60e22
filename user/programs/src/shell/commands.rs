//! The commands.

use super::reservations;
use crate::echo::CounterClient;
use abi::boot::{MOST_NAME, name_bytes, name_text};
use abi::call::{Fact, Table, ThreadState};
use abi::object::Resource;
use abi::statistics::Counter;
use rt::arch::counter;
use rt::cap::Held;
use rt::prelude::*;
use rt::stack::Stack;
use rt::system::Row;
use rt::{Console, cap, ipc, statistics, system};
use service::CallError;

type Command = fn(&Shell, &str);

/// Name, arguments, explanation, function.
const COMMANDS: &[(&str, &str, &str, Command)] = &[
    ("ps", "", "domains and threads", ps),
    ("tree", "", "reservations of CPU time, and what they have had", reservations::tree),
    ("top", "[N]", "the same of each of the next N seconds (1)", reservations::top),
    ("set", "NAME ...", "change a reservation: 'set' says how", reservations::set),
    ("mem", "", "pools and quotas", mem),
    ("caps", "[DOMAIN]", "what a domain may name", caps),
    ("ping", "[N]", "time N round trips to the echo domain (100)", ping),
    ("count", "", "ask the counter domain how far it is", count),
    ("kill", "DOMAIN", "end a domain", kill),
    ("stats", "[reset]", "what the kernel counts", stats),
    ("uptime", "", "time since boot", uptime),
    ("help", "", "this list", help),
    ("exit", "[STATUS]", "end the run", exit),
];

/// After this time a domain that does not answer is taken for dead.
const PATIENCE: Duration = Duration::from_millis(200);

/// Most round trips of one `ping`.
const MOST_PINGS: usize = 1000;

/// What commands are run with.
pub(super) struct Shell<'a> {
    pub(super) env: &'a Env,
    pub(super) console: Console,
}

/// Runs one line.
pub fn run(env: &Env, console: Console, line: &str) {
    let line = line.trim();
    let (name, argument) = line.split_once(' ').unwrap_or((line, ""));
    let shell = Shell { env, console };
    if name.is_empty() {
        return;
    }
    match COMMANDS.iter().find(|command| command.0 == name) {
        Some((name, "", ..)) if !argument.is_empty() => {
            println!(console, "{name}: takes no argument");
        }
        Some((.., command)) => command(&shell, argument.trim()),
        None => println!(console, "{name}: no such command; 'help' lists them"),
    }
}

/// A domain's or a thread's place in the tables.
pub(super) struct Domain {
    pub(super) index: u64,
    row: Row,
}

impl Domain {
    pub(super) fn name(&self) -> [u8; MOST_NAME] {
        name_bytes([self.row.words[0], self.row.words[1]])
    }

    /// The width of its column in a table.
    fn column(&self, shell: &Shell) -> usize {
        (self.title(shell.system()).get().len() + 1).max(14)
    }

    /// The index of the domain that it is in; its own if it is one of the manifest.
    fn owner(&self) -> u64 {
        self.row.words[2] >> 32
    }

    /// The index of the domain of the manifest that it is in, or is.
    pub(super) fn outermost(&self, system: Slot) -> u64 {
        let (mut at, mut owner) = (self.index, self.owner());
        while at != owner {
            at = owner;
            owner = match system::inspect(system, Table::Domain, at) {
                Ok(row) => row.words[2] >> 32,
                Err(_) => at,
            };
        }
        at
    }
}

impl Shell<'_> {
    pub(super) fn system(&self) -> Slot {
        self.env.cap("system")
    }

    pub(super) fn rows(&self, table: Table) -> impl Iterator<Item = (u64, Row)> + use<> {
        let system = self.system();
        (0..).map_while(move |i| Some((i, system::inspect(system, table, i).ok()?)))
    }

    pub(super) fn domains(&self) -> impl Iterator<Item = Domain> + use<> {
        let rows = self.rows(Table::Domain).filter(|(_, row)| row.results[0] == 1);
        rows.map(|(index, row)| Domain { index, row })
    }

    fn domain(&self, name: &str) -> Option<Domain> {
        let found = self.domains().find(|domain| domain.title(self.system()).get() == name);
        if found.is_none() {
            println!(self.console, "there is no domain '{name}'; 'ps' lists them");
        }
        found
    }
}

fn help(shell: &Shell, _: &str) {
    for (name, arguments, what, _) in COMMANDS {
        println!(shell.console, "  {name:<7}{arguments:<10}{what}");
    }
}

fn ps(shell: &Shell, _: &str) {
    println!(shell.console, "  {:<16} {:>7} {:>9} {:>9}", "domain", "threads", "slots", "max prio");
    for domain in shell.domains() {
        let [max, words] = [domain.row.results[1], domain.row.words[3]];
        println!(
            shell.console,
            "  {:<16} {:>7} {:>4}/{:<4} {:>9}",
            domain.title(shell.system()),
            domain.row.words[2] as u32,
            words as u32,
            words >> 32,
            max
        );
    }
    print!(shell.console, "  {:<16} {:>7} {:>9}", "threads of", "number", "priority");
    println!(shell.console, " {:>12} {:>12}  state", "CPU time", "stack");
    for (index, row) in shell.rows(Table::Thread) {
        let Some(state) = ThreadState::name_of(row.results[0]) else { continue };
        let domain = shell.domains().find(|domain| domain.index == row.words[0]);
        let Some(domain) = domain else { continue };
        let title = domain.title_of(shell.system(), index);
        print!(shell.console, "  {title:<16} {index:>7} {:>9}", row.results[1] & 0xffff_ffff);
        time(shell, index);
        match Stack::around(shell.system(), row.words[0], row.words[2]) {
            Some(Stack { used, size }) => print!(shell.console, " {used:>8}/{:>2}K", size >> 10),
            None => print!(shell.console, " {:>12}", "-"),
        }
        println!(shell.console, "  {state}");
    }
}

/// Prints for how many seconds a thread has run, if the kernel counts that.
fn time(shell: &Shell, thread: u64) {
    let cpus = system::fact(Fact::Cpus).map_or(1, |fact| fact.0);
    let each = (0..cpus).map(|cpu| system::time(shell.system(), cpu, thread));
    let hz = system::fact(Fact::CounterHz).map_or(1, |fact| fact.0.max(1));
    match each.sum::<Result<u64, Error>>() {
        Ok(steps) => {
            let micros = u128::from(steps) * 1_000_000 / u128::from(hz);
            print!(shell.console, " {:>5}.{:06}", micros / 1_000_000, micros % 1_000_000);
        }
        Err(_) => print!(shell.console, " {:>12}", "-"),
    }
}

fn mem(shell: &Shell, _: &str) {
    let charged = || shell.domains().filter(|domain| domain.index != 0);
    print!(shell.console, "  {:<14}{:>12}", "", "all");
    for domain in charged() {
        print!(shell.console, "{:>1$}", domain.title(shell.system()), domain.column(shell));
    }
    println!(shell.console);
    for resource in Resource::ALL {
        let system = shell.system();
        print!(shell.console, "  {:<14}", resource.name());
        used(shell, 12, system::inspect(system, Table::Pool, resource as u64));
        for domain in charged() {
            let index = (resource as u64) << 32 | domain.index;
            used(shell, domain.column(shell), system::inspect(system, Table::Quota, index));
        }
        println!(shell.console);
    }
    println!(shell.console, "  in use/limit; frames and tables are pages of 4 KiB");
}

/// Prints a number in use and a limit, right-aligned.
fn used(shell: &Shell, width: usize, row: Result<Row, Error>) {
    match row {
        Ok(Row { results: [0, 0], .. }) => print!(shell.console, "{:>width$}", "-"),
        Ok(Row { results: [used, limit], .. }) => {
            let digits = 1 + limit.checked_ilog10().unwrap_or(0) as usize;
            let width = width.saturating_sub(digits + 1);
            print!(shell.console, "{used:>width$}/{limit}");
        }
        Err(_) => print!(shell.console, "{:>width$}", "?"),
    }
}

fn caps(shell: &Shell, name: &str) {
    let name = if name.is_empty() { shell.env.name() } else { name };
    let Some(domain) = shell.domain(name) else { return };
    println!(shell.console, "  {:>4} {:<13} {:<32} badge", "slot", "kind", "rights");
    for slot in 1..domain.row.words[3] >> 32 {
        let row = system::inspect(shell.system(), Table::Slot, slot << 32 | domain.index);
        let Ok(Row { results: [what, badge], .. }) = row else { continue };
        let Some(held) = Held::from_words(what, badge) else { continue };
        print!(shell.console, "  {slot:>4} {:<13} ", held.kind.name());
        rights(shell, held);
        println!(shell.console, " {badge}");
    }
}

fn rights(shell: &Shell, held: Held) {
    let mut width = 0;
    for (name, right) in held.kind.own_rights().iter().chain(&Rights::COMMON) {
        if held.rights.contains(*right) {
            print!(shell.console, "{}{name}", if width > 0 { " " } else { "" });
            width += name.len() + usize::from(width > 0);
        }
    }
    let rest = 32usize.saturating_sub(width);
    print!(shell.console, "{:rest$}", "");
}

fn ping(shell: &Shell, argument: &str) {
    let count = if argument.is_empty() { Ok(100) } else { argument.parse::<usize>() };
    let Some(count) = count.ok().filter(|count| (1..=MOST_PINGS).contains(count)) else {
        println!(shell.console, "ping: '{argument}' is not a number from 1 to {MOST_PINGS}");
        return;
    };
    let Some(echo) = shell.env.find_cap("echo") else {
        println!(shell.console, "ping: this system has no domain 'echo'");
        return;
    };
    if let Err(error) = ipc::call_within(echo, Message::empty(0), Wait::within(PATIENCE)) {
        println!(shell.console, "ping: echo does not answer: {}", why(error));
        return;
    }
    let mut ticks = [0u64; MOST_PINGS];
    for (i, ticks) in ticks[..count].iter_mut().enumerate() {
        let before = counter();
        let answer = ipc::call(echo, Message::short(1, [i as u64]));
        let after = counter();
        match answer {
            Ok(answer) if answer.words[0] == i as u64 => *ticks = after - before,
            Ok(answer) => {
                println!(shell.console, "ping: {i} came back as {}", answer.words[0]);
                return;
            }
            Err(error) => {
                println!(shell.console, "ping: echo does not answer: {}", why(error));
                return;
            }
        }
    }
    let ticks = &mut ticks[..count];
    ticks.sort_unstable();
    let (least, median, most) = (ticks[0], ticks[count / 2], ticks[count - 1]);
    let s = if count == 1 { "" } else { "s" };
    println!(
        shell.console,
        "  {count} round trip{s} in counter ticks: min {least}, median {median}, max {most}"
    );
}

fn count(shell: &Shell, _: &str) {
    let Some(counter) = shell.env.find_cap("count") else {
        println!(shell.console, "count: this system has no domain 'counter'");
        return;
    };
    match CounterClient::new(counter).within(PATIENCE).count() {
        Ok(count) => println!(shell.console, "  the counter is at {count}"),
        Err(CallError::Ipc(error)) => {
            println!(shell.console, "count: no answer: {}", why(error));
        }
        Err(error) => println!(shell.console, "count: no counter answers: {error:?}"),
    }
}

/// An error in words.
fn why(error: Error) -> &'static str {
    match error {
        Error::Stale => "what it receives on is gone",
        Error::Destroyed => "it was destroyed",
        Error::Timeout => "no answer in time",
        Error::Abandoned => "it dropped the call",
        _ => "the call was refused",
    }
}

fn kill(shell: &Shell, name: &str) {
    if name.is_empty() {
        println!(shell.console, "kill: which domain? 'ps' lists them");
        return;
    }
    if shell.domain(name).is_none() {
        return;
    }
    let Some(slot) = authority(shell.env, name) else {
        print!(shell.console, "kill: the shell holds no capability to '{name}'; it may end");
        let held = shell.env.caps().filter_map(|(cap, _)| cap.strip_suffix(SUFFIX));
        held.for_each(|name| print!(shell.console, " {name}"));
        println!(shell.console);
        return;
    };
    match cap::destroy(slot) {
        Ok(()) => println!(shell.console, "  {name} has ended"),
        Err(error) => println!(shell.console, "kill: {name} lives on: {error:?}"),
    }
}

/// What the names of capabilities to domains end in.
const SUFFIX: &str = "-domain";

fn authority(env: &Env, name: &str) -> Option<Slot> {
    let named = env.caps().find(|(cap, _)| cap.strip_suffix(SUFFIX) == Some(name));
    named.map(|(_, slot)| slot)
}

fn stats(shell: &Shell, argument: &str) {
    let system = shell.system();
    let result = match argument {
        "" => Counter::ALL.into_iter().try_for_each(|counter| stat(shell, counter)),
        "reset" => statistics::reset(system),
        _ => {
            println!(shell.console, "stats: '{argument}' is not 'reset'");
            return;
        }
    };
    if let Err(error) = result {
        println!(shell.console, "stats: the kernel was built without statistics ({error:?})");
    }
}

/// A counter: all CPUs together, then each.
fn stat(shell: &Shell, counter: Counter) -> Result<(), rt::Error> {
    let (system, cpus) = (shell.system(), system::fact(Fact::Cpus)?.0);
    let first = system::counter(system, counter)?;
    let others = (1..cpus).map(|cpu| system::counter_of(system, cpu, counter).unwrap_or(0));
    let all = counter.of_all(core::iter::once(first).chain(others.clone()));
    print!(shell.console, "  {:<20}{all:>12}", counter.name());
    if cpus > 1 {
        print!(shell.console, "{first:>14}");
        others.for_each(|value| print!(shell.console, "{value:>14}"));
    }
    println!(shell.console);
    Ok(())
}

fn uptime(shell: &Shell, _: &str) {
    let up = Instant::now() - Instant::BOOT;
    let kernel = system::fact(Fact::KernelName).unwrap_or((0, 0));
    println!(
        shell.console,
        "  {}.{:03} s, kernel {}",
        up.as_secs(),
        up.subsec_millis(),
        name_text(&name_bytes([kernel.0, kernel.1]))
    );
}

fn exit(shell: &Shell, argument: &str) {
    let status = if argument.is_empty() { Ok(0) } else { argument.parse::<u8>() };
    match status {
        Ok(status @ 0..=99) => {
            println!(shell.console, "  goodbye");
            let result = system::shutdown(shell.system(), u64::from(status));
            println!(shell.console, "exit: refused: {result:?}");
        }
        _ => println!(shell.console, "exit: '{argument}' is not a status from 0 to 99"),
    }
}
