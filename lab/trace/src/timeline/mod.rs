//! A trace drawn with characters: one line per thread, time from left to right.

mod axis;
mod bars;
mod events;

pub(crate) use events::{error_name, point_name};

use crate::reservations::On;
use crate::{Lives, Names, Sections, State, Trace};
use bars::Bar;

/// No line is longer.
const MOST_COLUMNS: usize = 160;
/// No drawing is narrower, whatever was asked for.
const LEAST_COLUMNS: usize = 40;
/// Where the sentences of the list of events begin.
const EVENT_INDENT: &str = "                ";
/// Names are cut to this many characters.
const LONGEST_NAME: usize = 22;

/// What of a trace to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Columns of the terminal; at most 160 are used.
    pub width: usize,
    /// Where to begin, in ns since boot; from the trace's beginning if `None`.
    pub from: Option<u64>,
    /// Where to end; at the trace's end if `None`.
    pub to: Option<u64>,
    /// At most so many threads, the busiest; the others are counted.
    pub threads: usize,
    /// At most so many notable events, the first; the others are counted, unless this is 0.
    pub events: usize,
}

impl Default for View {
    fn default() -> View {
        View { width: 80, from: None, to: None, threads: 16, events: 24 }
    }
}

/// The window that is drawn, and its columns.
#[derive(Clone, Copy)]
struct Window {
    from: u64,
    to: u64,
    columns: usize,
}

impl Window {
    /// When a column begins.
    fn start(&self, column: usize) -> u64 {
        let length = u128::from(self.to - self.from);
        self.from + (length * column as u128 / self.columns as u128) as u64
    }

    /// The part of a stretch that lies in it.
    fn clip(&self, from: u64, to: u64) -> (u64, u64) {
        (from.clamp(self.from, self.to), to.clamp(self.from, self.to))
    }
}

/// Draws a trace.
pub fn timeline(trace: &Trace, names: &Names, view: &View) -> String {
    let Some((first, last)) = trace.span() else {
        return format!("The trace holds no records.\n{}", lost(trace));
    };
    // Boot takes long where other CPUs must start.
    let first = if trace.held().len() > 1 { trace.begun().unwrap_or(first) } else { first };
    let (from, to) = (view.from.unwrap_or(first), view.to.unwrap_or(last));
    let (from, to) = (from.min(to).min(u64::MAX - 1), from.max(to));
    let to = to.max(from + 1);
    let (lives, sections) = (Lives::of(trace, names), Sections::of(trace));
    let mut window = Window { from, to, columns: 1 };
    let (chosen, others) = choose(&lives, names, window, view.threads);
    let titles: Vec<String> =
        chosen.iter().map(|&life| title(&lives, names, life, window)).collect();
    let cpus: Vec<String> = trace.held().map(|cpu| format!("CPU {cpu}")).collect();
    let widest = titles.iter().chain(&cpus).map(|title| title.chars().count()).max().unwrap_or(0);
    let width = view.width.clamp(LEAST_COLUMNS, MOST_COLUMNS);
    window.columns = width - widest - 2;
    let mut text = wrapped(&(axis::head(trace, window) + &lost(trace)), width, "");
    text += &line("", widest, &axis::ruler(window));
    for (title, number) in cpus.iter().zip(trace.held()) {
        let bar = bars::cpu((trace, number), &sections, &lives, window);
        text += &line(title, widest, &bar);
    }
    for (title, &life) in titles.iter().zip(&chosen) {
        text += &line(title, widest, &Bar::of(&lives.all[life], window).draw());
    }
    if others > 0 {
        let threads = if others == 1 { "thread" } else { "threads" };
        text += &format!("... and {others} more {threads}, less busy\n");
    }
    text += &wrapped(bars::LEGEND, width, "         ");
    text += &wrapped(&reserved(&lives, names, &chosen, window), width, "         ");
    text + &wrapped(&events::list(trace, names, &lives, window, view.events), width, EVENT_INDENT)
}

/// Lines that are no longer than the terminal is wide, further ones behind an indentation.
fn wrapped(text: &str, width: usize, indent: &str) -> String {
    let options = textwrap::Options::new(width).subsequent_indent(indent);
    text.lines().map(|line| textwrap::fill(line, &options) + "\n").collect()
}

/// What is missing, in a line of its own.
fn lost(trace: &Trace) -> String {
    match (trace.lost(), trace.keep) {
        (0, _) => String::new(),
        (lost, abi::trace::Keep::First) => {
            format!("{lost} records lost after the end: the trace was full\n")
        }
        (lost, abi::trace::Keep::Last) => {
            format!("{lost} records lost before the beginning: newer ones took their place\n")
        }
    }
}

fn line(title: &str, width: usize, bar: &str) -> String {
    format!("{title:<width$}  {bar}").trim_end().to_string() + "\n"
}

/// Where threads run that have reservations at the end of the window, a line for each.
fn reserved(lives: &Lives, names: &Names, chosen: &[usize], window: Window) -> String {
    let line = |life: &usize| {
        let place = names.place_of(on(lives, names, *life, window))?;
        Some(format!("{} runs on {place}\n", names.life(lives, *life)))
    };
    chosen.iter().filter_map(line).collect()
}

/// What a thread runs on by itself in what it does last in the window.
fn on(lives: &Lives, names: &Names, life: usize, window: Window) -> On {
    let stretches = &lives.all[life].stretches;
    let behind = stretches.partition_point(|stretch| stretch.from <= window.to);
    let last = stretches.get(behind.saturating_sub(1)).map_or(0, |stretch| stretch.first);
    names.on(lives, life, last)
}

/// A thread's priority, or that of what it runs on in its CPU's root.
fn level(lives: &Lives, names: &Names, life: usize, window: Window) -> Option<u16> {
    match on(lives, names, life, window) {
        On::Leaf(leaf) => Some(names.level(leaf)),
        On::Made => None,
        On::Priority => lives.all[life].priority,
    }
}

/// A thread's name with its priority.
fn title(lives: &Lives, names: &Names, life: usize, window: Window) -> String {
    let name = names.life(lives, life);
    let priority = match level(lives, names, life, window) {
        Some(priority) if priority != abi::trace::NO_THREAD => format!(" {priority}"),
        _ => String::new(),
    };
    let room = LONGEST_NAME - priority.len();
    let cut: String = match name.chars().count() > room {
        true => name.chars().take(room - 1).chain(['~']).collect(),
        false => name,
    };
    cut + &priority
}

/// The threads that ran longest in the window, in the order of their priorities, and how many more
/// there were.
fn choose(lives: &Lives, names: &Names, window: Window, most: usize) -> (Vec<usize>, usize) {
    let mut busy: Vec<(u64, usize)> = Vec::new();
    for (index, life) in
        lives.all.iter().enumerate().filter(|(_, l)| lives.idles(l.thread).is_none())
    {
        let inside = life.stretches.iter().filter(|s| s.to >= window.from && s.from <= window.to);
        let mut inside = inside.peekable();
        if inside.peek().is_none() {
            continue;
        }
        let ran = inside.filter(|stretch| stretch.state == State::Running);
        let ran = ran.map(|stretch| {
            let (from, to) = window.clip(stretch.from, stretch.to);
            to - from
        });
        busy.push((ran.sum(), index));
    }
    busy.sort_by_key(|&(ran, index)| (std::cmp::Reverse(ran), index));
    let others = busy.len().saturating_sub(most);
    busy.truncate(most);
    let mut chosen: Vec<usize> = busy.into_iter().map(|(_, index)| index).collect();
    chosen.sort_by_key(|&index| (std::cmp::Reverse(level(lives, names, index, window)), index));
    (chosen, others)
}

#[cfg(test)]
mod tests;
