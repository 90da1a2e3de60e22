use super::*;
use crate::machine::MACHINES;
use crate::waits::Objects;
use abi::control::{
    BYTES, Held, Machine, WORD_ANSWER_CHECK, WORD_CUT, WORD_LENGTH, WORD_STATUS as STATUS,
};
use abi::reservation::Share;
use analysis::Random;
use std::path::PathBuf;

/// Where the shared memory begins.
const BASE: u64 = 8192;

/// A channel to memory that no machine has, and a file that stands for the running system.
fn channel(folder: &tempfile::TempDir) -> Channel {
    let path = folder.path().join("entry.json");
    std::fs::write(&path, "").unwrap();
    let entry = Entry {
        pid: 1,
        system: "made-up".to_string(),
        manifest: PathBuf::new(),
        machine: MACHINES[0].name().to_string(),
        ram: PathBuf::new(),
        nonce: 0,
        address_at: 0,
        bytes: BYTES,
        control: "control".to_string(),
        held: Vec::new(),
        objects: Objects::default(),
        path,
    };
    Channel { ram: SharedFile::new(BASE + BYTES).unwrap(), base: BASE, entry }
}

/// Answers the next request with these words: status, length, whether rows are missing; and rows.
fn play(channel: &Channel, header: [u64; 3], rows: &[u64]) -> Command {
    let asked = || {
        let request = number(channel.word(WORD_REQUEST)?, channel.word(WORD_REQUEST_CHECK)?);
        Ok(request.filter(|request| Some(*request) != channel.answered().unwrap_or(None)))
    };
    let request = within(PATIENCE, asked).unwrap().expect("a request");
    let word = |index: usize| channel.word(WORD_COMMAND + index).unwrap();
    let command = Command::decode(std::array::from_fn(word)).expect("a command");
    for (index, word) in rows.iter().enumerate() {
        channel.set(WORD_ROWS + index, *word).unwrap();
    }
    let at = [STATUS, WORD_LENGTH, WORD_CUT];
    at.into_iter().zip(header).for_each(|(at, word)| channel.set(at, word).unwrap());
    channel.set(WORD_ANSWER_CHECK, !request).unwrap();
    channel.set(WORD_ANSWER, request).unwrap();
    command
}

/// Asks a player that answers so.
fn asked(command: Command, header: [u64; 3], rows: &[u64]) -> (Result<Answer>, Command) {
    let folder = tempfile::tempdir().unwrap();
    let channel = channel(&folder);
    thread::scope(|scope| {
        let player = scope.spawn(|| play(&channel, header, rows));
        (channel.ask(command), player.join().unwrap())
    })
}

fn words(row: Row) -> Vec<u64> {
    let (words, length) = row.encode();
    words[..length].to_vec()
}

const PICTURE: Command = Command::Picture { stacks: true };

#[test]
fn a_command_arrives_and_its_answer_comes_back() {
    let rows = [Row::Machine(Machine { now: 5, ..Machine::default() }), Row::Held(Held::default())];
    let sent: Vec<u64> = rows.into_iter().flat_map(words).collect();
    let (answer, command) = asked(PICTURE, [0, sent.len() as u64, 0], &sent);
    assert_eq!(command, PICTURE);
    assert_eq!(answer.unwrap(), Answer { refused: None, rows: rows.to_vec(), cut: false });
    let set = Command::Set(abi::control::Change::Share { slot: 3, share: Share::Priority(7) });
    let (answer, command) = asked(set, [Error::Overcommitted as u64, 0, 1], &[]);
    assert_eq!(command, set);
    let refused = Some(Error::Overcommitted);
    assert_eq!(answer.unwrap(), Answer { refused, rows: Vec::new(), cut: true });
}

#[test]
fn hostile_answers_are_told_as_such_and_read_nothing_else() {
    let full = (BYTES / 8) as usize - WORD_ROWS;
    let row = words(Row::Held(Held::default()));
    let cases: [([u64; 3], Vec<u64>); 6] = [
        ([u64::MAX, 0, 0], vec![]),
        ([0, 1, 0], vec![0]),
        ([0, u64::MAX, 0], vec![u64::MAX; full]),
        ([0, row.len() as u64 - 1, 0], row.clone()),
        ([0, row.len() as u64 + 1, 0], [row.clone(), vec![77]].concat()),
        ([0, full as u64 + 5, 0], vec![3 | 8 << 32; 8]),
    ];
    for (header, rows) in cases {
        let (answer, _) = asked(PICTURE, header, &rows);
        let said = format!("{:#}", answer.expect_err("it means nothing"));
        assert!(said.starts_with("domain control of made-up has answered what means"), "{said}");
    }
}

#[test]
fn any_bytes_are_an_answer_or_an_error() {
    let mut random = Random::of(9);
    for round in 0..2_000usize {
        let mut bytes = words(Row::Machine(Machine::default()));
        for word in &mut bytes {
            if random.below(16) == 0 {
                *word = random.below(u64::MAX) >> random.below(64);
            }
        }
        let bytes: Vec<u8> = bytes.iter().flat_map(|word| word.to_le_bytes()).collect();
        let part = &bytes[..bytes.len() - round % 9];
        if let Ok(answer) = decoded(random.below(30), part, false) {
            assert!(answer.rows.len() <= 1);
        }
    }
}

#[test]
fn a_number_that_is_being_written_is_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let channel = channel(&folder);
    assert_eq!(channel.answered().unwrap(), None);
    channel.set(WORD_ANSWER, 1).unwrap();
    assert_eq!(channel.answered().unwrap(), None);
    channel.set(WORD_ANSWER_CHECK, !1).unwrap();
    assert_eq!(channel.answered().unwrap(), Some(1));
}

#[test]
fn a_system_that_ends_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let channel = channel(&folder);
    std::fs::remove_file(&channel.entry.path).unwrap();
    let begun = Instant::now();
    let said = channel.ask(PICTURE).expect_err("nobody answers").to_string();
    assert_eq!(said, "made-up has ended");
    assert!(begun.elapsed() < PATIENCE);
}
