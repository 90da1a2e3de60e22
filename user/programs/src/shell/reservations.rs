//! The scheduling tree: what is in it, live, and changes of it.

use super::commands::Shell;
use super::text::Text;
use abi::call::Table;
use abi::reservation::{Budget, Curve, Policy, Server, Share, WHOLE};
use rt::prelude::*;
use rt::system::Row;
use rt::{Kind, cap, reservation, system, time};

/// Most reservations that are shown.
const MOST: usize = 64;
/// Most times that `top` looks.
const MOST_LOOKS: u64 = 3_600;

/// What is known of a reservation.
#[derive(Clone, Copy)]
struct Known {
    index: u64,
    node: u32,
    class: u32,
    policy: Option<Policy>,
    is_throttled: bool,
    server: u64,
    service: u64,
    overruns: u32,
    late: u32,
    budget: u64,
    period: u64,
}

impl Known {
    fn read(shell: &Shell, index: u64) -> Option<Option<Known>> {
        let row = system::inspect(shell.system(), Table::Reservation, index).ok()?;
        let ([what, place], [service, events, budget, period]) = (row.results, row.words);
        let known = Known {
            index,
            node: place as u32,
            class: (place >> 32) as u32,
            policy: Policy::from_code(what >> 8 & 0xff),
            is_throttled: what >> 16 & 1 != 0,
            server: what >> 24 & 0xff,
            service,
            overruns: events as u32,
            late: (events >> 32) as u32,
            budget,
            period,
        };
        Some((what != 0).then_some(known))
    }

    /// Whether it is the class that all CPUs share: of the roots that one alone goes by deadlines.
    fn is_shared(&self) -> bool {
        self.class == u32::MAX && self.policy == Some(Policy::EarliestDeadline)
    }
}

/// All reservations, as they were at one instant, more or less.
struct Picture {
    all: [Option<Known>; MOST],
    count: usize,
    at: Instant,
}

impl Picture {
    fn take(shell: &Shell) -> Picture {
        let mut picture = Picture { all: [None; MOST], count: 0, at: Instant::now() };
        let rows = (0..).map_while(|index| Known::read(shell, index));
        for (place, known) in picture.all.iter_mut().zip(rows.flatten()) {
            *place = Some(known);
            picture.count += 1;
        }
        picture
    }

    fn below(&self, class: u32) -> impl Iterator<Item = &Known> {
        self.all[..self.count].iter().flatten().filter(move |known| known.class == class)
    }

    /// The CPU time that a node had had.
    fn service(&self, node: u32) -> u64 {
        let found = self.all.iter().flatten().find(|known| known.node == node);
        found.map_or(0, |known| known.service)
    }
}

/// `tree`: classes and reservations with what they have had since boot, how often their budget was
/// spent, and how many of their jobs were late.
pub fn tree(shell: &Shell, _: &str) {
    show(shell, &Picture::take(shell), None);
}

/// `top [LOOKS]`: the same each second, with what each has had since the look before.
pub fn top(shell: &Shell, argument: &str) {
    let looks = if argument.is_empty() { Ok(1) } else { argument.parse::<u64>() };
    let Some(looks) = looks.ok().filter(|looks| (1..=MOST_LOOKS).contains(looks)) else {
        println!(shell.console, "top: '{argument}' is not a number from 1 to {MOST_LOOKS}");
        return;
    };
    let mut before = Picture::take(shell);
    for _ in 0..looks {
        time::sleep(1.s());
        let now = Picture::take(shell);
        show(shell, &now, Some(&before));
        before = now;
    }
}

fn show(shell: &Shell, picture: &Picture, before: Option<&Picture>) {
    if picture.count == 0 {
        println!(shell.console, "  this kernel has no scheduling tree; 'uptime' names it");
        return;
    }
    println!(
        shell.console,
        "  {:<16} {:<24} {:<18}{:>6} {:>5} {:>4}",
        "reservation",
        "share",
        "limit",
        "CPU %",
        "spent",
        "late"
    );
    let is_used = |root: &&Known| !root.is_shared() || picture.below(root.node).next().is_some();
    let roots = picture.below(u32::MAX).filter(is_used);
    roots.for_each(|root| node(shell, picture, before, (root, 0)));
}

fn node(
    shell: &Shell,
    picture: &Picture,
    before: Option<&Picture>,
    (known, depth): (&Known, usize),
) {
    let since = before.map_or(0, |before| before.service(known.node));
    let span = picture.at - before.map_or(Instant::BOOT, |before| before.at);
    let had = known.service.saturating_sub(since);
    let percent = 1_000 * u128::from(had) / span.as_nanos().max(1);
    let name = Label { shell, known };
    print!(shell.console, "  {:depth$}{name:<width$} ", "", width = 16usize.saturating_sub(depth));
    share(shell, known);
    limit(shell, known);
    let (whole, tenth) = (percent / 10, percent % 10);
    print!(shell.console, " {whole:>3}.{tenth} {:>5} {:>4}", known.overruns, known.late);
    println!(shell.console, "{}", if known.is_throttled { "  waits" } else { "" });
    picture.below(known.node).for_each(|child| node(shell, picture, before, (child, depth + 1)));
}

/// What a reservation is called: by the shell's capability to it, or by its number.
struct Label<'a> {
    shell: &'a Shell<'a>,
    known: &'a Known,
}

impl core::fmt::Display for Label<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut text = Text::<24>::new();
        let policy = match self.known.policy {
            None => "",
            Some(Policy::FixedPriority) => " (priorities)",
            Some(Policy::EarliestDeadline) => " (EDF)",
            Some(Policy::ServiceCurves) => " (curves)",
            Some(Policy::Partitions) => " (windows)",
        };
        self.shell.write_name(self.known, &mut text)?;
        core::fmt::write(&mut text, format_args!("{policy}"))?;
        f.pad(text.get())
    }
}

fn share(shell: &Shell, known: &Known) {
    let mut text = Text::<24>::new();
    let row = system::inspect(shell.system(), Table::Share, known.index).ok();
    let share = row.and_then(|row| Share::decode(row.results[0], row.words));
    let share = share.filter(|_| known.class != u32::MAX || known.is_shared());
    let percent = |slope: u32| slope / (WHOLE / 100);
    let _ = match share {
        None => Ok(()),
        Some(Share::Priority(priority)) => {
            core::fmt::write(&mut text, format_args!("priority {priority}"))
        }
        Some(Share::Deadline) => core::fmt::write(&mut text, format_args!("deadline")),
        Some(Share::Curve { guaranteed, share }) => {
            let Curve { slope, bend, rest } = guaranteed.unwrap_or(share);
            let (first, then, after) = (percent(slope), percent(rest), bend / 1_000_000);
            core::fmt::write(&mut text, format_args!("{first}%, {then}% after {after}ms"))
        }
        Some(Share::Partition { number: 0, .. }) => {
            core::fmt::write(&mut text, format_args!("background"))
        }
        Some(Share::Partition { number, .. }) => {
            core::fmt::write(&mut text, format_args!("partition {number}"))
        }
    };
    print!(shell.console, "{:<24} ", text.get());
}

fn limit(shell: &Shell, known: &Known) {
    let mut text = Text::<24>::new();
    if known.server != 0 {
        let (budget, period) = (known.budget / 1_000, known.period / 1_000);
        let _ = core::fmt::write(&mut text, format_args!("{budget} of {period} us"));
    }
    print!(shell.console, "{:<18}", text.get());
}

/// `set NAME priority N`, `set NAME budget MICROSECONDS PERIOD`, `set NAME unlimited`: changes a
/// reservation that the shell holds a capability to.
pub fn set(shell: &Shell, argument: &str) {
    let mut words = argument.split_whitespace();
    let (name, what) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
    let Some(slot) = shell.reservation(name) else {
        print!(shell.console, "set: which reservation? the shell may change");
        shell.reservations().for_each(|(name, _)| print!(shell.console, " {name}"));
        println!(shell.console);
        return;
    };
    let done = match (what, number(), number()) {
        ("priority", Some(priority), None) if priority < 512 => {
            reservation::set_share(slot, Share::Priority(priority as u16))
        }
        ("budget", Some(budget), Some(period)) => {
            let limit = Budget::new(Server::Periodic, budget * 1_000, period * 1_000);
            reservation::set_budget(slot, Some(limit))
        }
        ("unlimited", None, None) => reservation::set_budget(slot, None),
        _ => {
            println!(shell.console, "set: {name} priority N | budget MICROS PERIOD | unlimited");
            return;
        }
    };
    match done {
        Ok(()) => println!(shell.console, "  {argument}"),
        Err(error) => println!(shell.console, "set: {name} stays as it is: {error:?}"),
    }
}

impl<'a> Shell<'a> {
    /// The reservations that the shell can name.
    fn reservations(&self) -> impl Iterator<Item = (&'static str, Slot)> + use<'a> {
        let is_one = |slot| cap::inspect(slot).is_ok_and(|held| held.kind == Kind::Reservation);
        self.env.caps().filter(move |(_, slot)| is_one(*slot))
    }

    fn reservation(&self, name: &str) -> Option<Slot> {
        self.reservations().find(|(known, _)| *known == name).map(|(_, slot)| slot)
    }

    /// Prints what a reservation is called: as the shell's capability to it, else as a domain whose
    /// thread runs on it, else by its number.
    fn write_name(&self, known: &Known, to: &mut Text<24>) -> core::fmt::Result {
        let names = |slot: Slot| reservation::usage(slot).is_ok_and(|it| it.node == known.node);
        if let Some((name, _)) = self.reservations().find(|(_, slot)| names(*slot)) {
            return core::fmt::write(to, format_args!("{name}"));
        }
        let runs = |row: &Row| row.results[0] != 0 && row.words[3] == u64::from(known.node) + 1;
        let thread = self.rows(Table::Thread).find(|(_, row)| runs(row));
        let domain = thread.and_then(|(_, row)| self.domains().find(|it| it.index == row.words[0]));
        match domain {
            Some(domain) => core::fmt::write(to, format_args!("{}", domain.title(self.system()))),
            None if known.is_shared() => core::fmt::write(to, format_args!("all CPUs")),
            None if known.class == u32::MAX => {
                core::fmt::write(to, format_args!("CPU {}", known.index))
            }
            None => core::fmt::write(to, format_args!("number {}", known.index)),
        }
    }
}
