//! Bars: what a thread, or the CPU, did in each column.

use super::Window;
use crate::lives::{Life, Lives, State};
use crate::{Sections, Trace};

/// What the characters mean.
pub(super) const LEGEND: &str = "\
CPU: K kernel, at least half of the column, k less; - a thread runs; . idle
threads: # running, at least half of the column, + less; = ready;
         . receiving, c calling, s sending, w waiting for a mutex or condition,
         z suspended, b blocked otherwise
";

/// What a bar tells apart, in the order in which it is preferred.
const STATES: [(State, char); 8] = [
    (State::Running, '#'),
    (State::Ready, '='),
    (State::Calling, 'c'),
    (State::Sending, 's'),
    (State::Waiting, 'w'),
    (State::Receiving, '.'),
    (State::Suspended, 'z'),
    (State::Blocked, 'b'),
];

/// For each column, how long each state lasted.
pub(super) struct Bar {
    columns: Vec<[u64; STATES.len()]>,
}

impl Bar {
    /// The bar of one thread.
    pub(super) fn of(life: &Life, window: Window) -> Bar {
        let mut bar = Bar { columns: vec![[0; STATES.len()]; window.columns] };
        for stretch in &life.stretches {
            let state = STATES.iter().position(|&(state, _)| state == stretch.state);
            spread(window, stretch.from, stretch.to, |column, part| {
                bar.columns[column][state.unwrap_or(STATES.len() - 1)] += part;
            });
        }
        bar
    }

    /// The bar as characters.
    pub(super) fn draw(&self) -> String {
        self.columns.iter().map(draw).collect()
    }
}

fn draw(parts: &[u64; STATES.len()]) -> char {
    let all: u64 = parts.iter().sum();
    match parts[0] {
        0 => {
            // The longest; of equals the first.
            let longest = (1..STATES.len()).rev().max_by_key(|&state| parts[state]);
            longest.filter(|&state| parts[state] > 0).map_or(' ', |state| STATES[state].1)
        }
        ran if ran * 2 >= all => STATES[0].1,
        _ => '+',
    }
}

/// A CPU's line.
pub(super) fn cpu(
    (trace, number): (&Trace, u8),
    sections: &Sections,
    lives: &Lives,
    window: Window,
) -> String {
    let mut kernel = vec![0; window.columns];
    for section in sections.whole.iter().filter(|s| trace.moments[s.first].cpu == number) {
        let [from, to] = [section.first, section.last].map(|moment| trace.moments[moment].ns);
        spread(window, from, to, |column, part| kernel[column] += part);
    }
    let mut idle = vec![0; window.columns];
    let idles = lives
        .all
        .iter()
        .filter(|life| life.thread == u16::from(number))
        .flat_map(|life| &life.stretches);
    for stretch in idles.filter(|stretch| stretch.state == State::Running) {
        spread(window, stretch.from, stretch.to, |column, part| idle[column] += part);
    }
    let length = |column| window.start(column + 1) - window.start(column);
    let (first, last) = trace.span().unwrap_or_default();
    let columns = (0..window.columns).map(|column| match (kernel[column], idle[column]) {
        (kernel, _) if kernel > 0 && kernel * 2 >= length(column) => 'K',
        (1.., _) => 'k',
        (0, idle) if idle > 0 && idle * 2 >= length(column) => '.',
        _ if window.start(column + 1) <= first || window.start(column) >= last => ' ',
        _ => '-',
    });
    columns.collect()
}

/// Tells for each column what part of a stretch lies in it.
fn spread(window: Window, from: u64, to: u64, mut each: impl FnMut(usize, u64)) {
    if to <= window.from || from >= window.to {
        return;
    }
    let (from, to) = window.clip(from, to);
    let length = u128::from(window.to - window.from);
    let guess = u128::from(from - window.from) * window.columns as u128 / length;
    let mut column = (guess as usize).min(window.columns - 1);
    while column < window.columns && window.start(column) < to {
        let (start, end) = (window.start(column).max(from), window.start(column + 1).min(to));
        if end > start {
            each(column, end - start);
        }
        column += 1;
    }
}
