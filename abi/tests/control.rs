//! What is asked and answered about a running system is understood on the other side, and anything
//! else is refused.

mod random;

use abi::control::{
    COMMAND_WORDS, Change, Command, Domain, Held, MOST_WORDS, Machine, Malformed, Reservation, Row,
    Rows, Thread, Window, number,
};
use abi::reservation::{self, Budget, Curve, SHORTEST_WINDOW, Server, Share, Timing, Windows};
use random::Random;

fn curve(random: &mut Random) -> Curve {
    Curve { slope: random.next() as u32, bend: random.next(), rest: random.next() as u32 }
}

fn share(random: &mut Random) -> Share {
    match random.below(4) {
        0 => Share::Priority(random.next() as u16),
        1 => Share::Deadline,
        2 => {
            let guaranteed = (random.below(2) == 0).then(|| curve(random));
            Share::Curve { guaranteed, share: curve(random) }
        }
        _ => Share::Partition { number: random.next() as u16, priority: random.next() as u16 },
    }
}

fn command(random: &mut Random) -> Command {
    let (slot, is_some) = (random.next() as u32, random.below(3) > 0);
    match random.below(7) {
        0 => Command::Picture { stacks: is_some },
        1 => Command::Set(Change::Priority { slot, priority: random.next() }),
        6 => {
            let class = random.next() as u32;
            Command::Set(Change::Join { slot, class, share: share(random) })
        }
        2 => Command::Set(Change::Share { slot, share: share(random) }),
        3 => {
            let server = Server::ALL[random.below(4) as usize];
            let budget = is_some.then(|| Budget::new(server, random.next(), random.next()));
            Command::Set(Change::Budget { slot, budget })
        }
        4 => {
            let mut end = 0;
            let window = |_| {
                end += SHORTEST_WINDOW + random.below(9);
                reservation::Window { end, partition: random.next() as u16 }
            };
            let list: Vec<_> = (0..1 + slot % 32).map(window).collect();
            Command::Set(Change::Windows { slot, windows: Windows::new(&list).unwrap() })
        }
        _ => {
            let timing = Timing { deadline: 1 + random.below(9), period: random.next() };
            Command::Set(Change::Timing { slot, timing: is_some.then_some(timing) })
        }
    }
}

fn row(random: &mut Random) -> Row {
    let (index, a, b) = (random.next(), random.next(), random.next());
    match random.below(6) {
        0 => Row::Machine(Machine { now: a, looks: b, ..Machine::default() }),
        1 => Row::Domain(Domain { index, name_low: a, slots: b, ..Domain::default() }),
        2 => Row::Thread(Thread { index, state: a, stack: b, name_low: a, ..Thread::default() }),
        3 => Row::Reservation(Reservation { index, node: a, share_d: b, ..Reservation::default() }),
        4 => Row::Window(Window { slot: index, end: a, partition: b }),
        _ => Row::Held(Held { slot: index, worst: a, separation: b, ..Held::default() }),
    }
}

fn written(rows: &[Row]) -> Vec<u64> {
    let words = |row: &Row| {
        let (words, length) = row.encode();
        words[..length].to_vec()
    };
    rows.iter().flat_map(words).collect()
}

#[test]
fn commands_come_back() {
    let mut random = Random(1);
    for _ in 0..10_000 {
        let command = command(&mut random);
        assert_eq!(Command::decode(command.encode()), Some(command));
    }
}

#[test]
fn any_words_are_a_command_or_none() {
    let mut random = Random(2);
    for _ in 0..100_000 {
        let mut words = command(&mut random).encode();
        let at = random.below(COMMAND_WORDS as u64) as usize;
        words[at] = random.next() >> random.below(64);
        if let Some(command) = Command::decode(words) {
            assert_eq!(Command::decode(command.encode()), Some(command));
        }
    }
    let of = |first: &[u64]| {
        let mut words = [0; COMMAND_WORDS];
        words[..first.len()].copy_from_slice(first);
        Command::decode(words)
    };
    assert_eq!(of(&[7]), None, "there is no such command");
    assert_eq!(of(&[2, 1 << 32]), None, "slots are 32 bits wide");
    assert_eq!(of(&[6, 1, 0]), None, "no windows");
    assert_eq!(of(&[6, 1, 33]), None, "more than there is room for");
    assert_eq!(of(&[6, 1, 1, 0, 0, 0, 0, 0, SHORTEST_WINDOW - 1]), None, "too short");
    assert_eq!(of(&[6, 1, 1, 0, 0, 0, 0, 0, SHORTEST_WINDOW, 1 << 16]), None, "a partition");
}

#[test]
fn rows_come_back_in_order() {
    let mut random = Random(3);
    for _ in 0..1_000 {
        let rows: Vec<Row> = (0..random.below(20)).map(|_| row(&mut random)).collect();
        let words = written(&rows);
        assert!(rows.iter().all(|row| row.encode().1 <= MOST_WORDS));
        let read: Result<Vec<Row>, Malformed> = Rows::new(&words).collect();
        assert_eq!(read, Ok(rows));
    }
}

#[test]
fn rows_that_are_cut_off_or_spoilt_end_the_reading() {
    let mut random = Random(4);
    for _ in 0..10_000 {
        let rows: Vec<Row> = (0..1 + random.below(8)).map(|_| row(&mut random)).collect();
        let mut words = written(&rows);
        let spoilt = random.below(words.len() as u64) as usize;
        if random.below(2) == 0 {
            words.truncate(spoilt);
        } else {
            words[spoilt] = random.next() >> random.below(64);
        }
        let read: Vec<_> = Rows::new(&words).collect();
        assert!(read.len() <= 1 + words.len(), "each row takes a word at least");
        let wrong = read.iter().position(Result::is_err);
        assert!(wrong.is_none_or(|wrong| wrong + 1 == read.len()), "nothing follows an error");
        // What stands in front of the spoilt word is read as it is.
        let mut whole = 0;
        for (row, read) in rows.iter().zip(&read) {
            whole += row.encode().1;
            if whole <= spoilt {
                assert_eq!(read, &Ok(*row));
            }
        }
    }
    for words in [&[0][..], &[1], &[u64::MAX], &[u64::from(u32::MAX) << 32 | 1], &[9 | 1 << 32]] {
        assert_eq!(Rows::new(words).next(), Some(Err(Malformed)), "{words:x?}");
    }
}

#[test]
fn a_number_is_taken_when_both_of_its_words_are_there() {
    assert_eq!(number(7, !7), Some(7));
    assert_eq!(number(8, !7), None);
    assert_eq!(number(0, 0), None, "memory that nobody has written to");
}
