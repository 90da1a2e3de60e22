//! Clients and servers of a service, against each other and against what means nothing.

mod machine;

use crate::{Badge, CallError, DONE, REFUSED, UNKNOWN, Wire, service};
use machine::BADGE;
use proptest::prelude::*;
use rt::abi::call::Timeout;
use rt::prelude::*;
use rt::server::NOT_SENT;
use rt::{Buffer, Info};
use std::string::{String, ToString};
use std::vec::Vec;

const DOOR: Slot = Slot(5);

#[derive(Wire, Clone, Copy, Debug, PartialEq)]
enum Mood {
    Calm = 3,
    Cross = -2,
}

#[derive(Wire, Clone, Copy, Debug, PartialEq)]
struct Reading {
    at: Instant,
    value: i32,
}

#[derive(Wire, Clone, Copy, Debug, PartialEq)]
struct Pair(u8, Option<char>);

/// Parts of one type, which nothing but their order tells apart.
#[derive(Wire, Clone, Copy, Debug, PartialEq)]
struct Span {
    from: u64,
    to: u64,
}

/// A service with methods of every form.
#[service]
trait Desk {
    fn nothing(&self);
    fn add(&mut self, a: u64, b: u64) -> Result<u64, Mood>;
    fn who(&mut self, who: Badge, mood: Mood) -> (u64, Mood);
    fn reading(&mut self, reading: Reading, pair: Pair) -> Result<Reading, Pair>;
    fn sum(&mut self, numbers: [u32; 20], request: bool) -> [u32; 20];
    fn note(&mut self, message: u16, text: &str) -> usize_of::Length;
    fn store(&mut self, bytes: &[u8]) -> Result<(), [u8; 9]>;
    fn r#type(&self, room: Duration) -> Duration;
    fn apart(&mut self, a: u64, who: Badge, b: u64, c: u64) -> Result<[u64; 4], [u64; 4]>;
    fn span(&mut self, span: Span, of: Span, text: &str) -> (Span, Span, u64, u64);
}

/// A type with a path.
mod usize_of {
    pub type Length = u64;
}

#[derive(Default)]
struct Clerk {
    calls: usize,
    noted: String,
    stored: Vec<u8>,
}

impl Desk for Clerk {
    fn nothing(&self) {}

    fn add(&mut self, a: u64, b: u64) -> Result<u64, Mood> {
        self.calls += 1;
        a.checked_add(b).ok_or(Mood::Cross)
    }

    fn who(&mut self, who: Badge, mood: Mood) -> (u64, Mood) {
        self.calls += 1;
        (who.0, mood)
    }

    fn reading(&mut self, reading: Reading, pair: Pair) -> Result<Reading, Pair> {
        self.calls += 1;
        if pair.1.is_some() { Ok(reading) } else { Err(pair) }
    }

    fn sum(&mut self, numbers: [u32; 20], request: bool) -> [u32; 20] {
        self.calls += 1;
        numbers.map(|number| number ^ u32::from(request))
    }

    fn note(&mut self, message: u16, text: &str) -> u64 {
        self.calls += 1;
        self.noted = text.to_string();
        u64::from(message) + text.len() as u64
    }

    fn store(&mut self, bytes: &[u8]) -> Result<(), [u8; 9]> {
        self.calls += 1;
        self.stored = bytes.to_vec();
        if bytes.is_empty() { Err([7; 9]) } else { Ok(()) }
    }

    fn r#type(&self, room: Duration) -> Duration {
        room
    }

    // None of these may depend on two arguments alike: what is swapped on the way is seen.
    fn apart(&mut self, a: u64, who: Badge, b: u64, c: u64) -> Result<[u64; 4], [u64; 4]> {
        self.calls += 1;
        let all = [a, who.0, b, c];
        if a < c { Ok(all) } else { Err(all) }
    }

    fn span(&mut self, span: Span, of: Span, text: &str) -> (Span, Span, u64, u64) {
        self.calls += 1;
        (span, of, self.calls as u64, text.len() as u64)
    }
}

fn desk() -> DeskClient {
    DeskClient::new(DOOR)
}

/// A request of these words, of which those beyond the fourth are in the buffer.
fn request(info: Info, words: &[u64], buffer: Option<Buffer>) -> Request {
    let mut first = [0; 4];
    for (index, word) in words.iter().enumerate() {
        match (index, buffer) {
            (0..4, _) => first[index] = *word,
            (_, Some(buffer)) if index < 128 => buffer.0.set(index, *word),
            _ => (),
        }
    }
    Request::new(Received { badge: 0, info, words: first }, buffer)
}

proptest! {
    #[test]
    fn what_a_method_is_given_and_returns_arrives(
        (a, b, at, value, pair) in any::<(u64, u64, u64, i32, (u8, Option<char>))>(),
        (numbers, flip, message) in any::<([u32; 20], bool, u16)>(),
        text in "\\PC{0,120}",
        bytes in prop::collection::vec(any::<u8>(), 0..=480),
        nanoseconds: u64,
        calm: bool,
    ) {
        let machine = machine::install(Clerk::default());
        let desk = desk().with_buffer(machine.buffer());
        prop_assert_eq!(desk.nothing(), Ok(()));
        let sum = a.checked_add(b).ok_or(CallError::Server(Mood::Cross));
        prop_assert_eq!(desk.add(a, b), sum);
        let mood = if calm { Mood::Calm } else { Mood::Cross };
        prop_assert_eq!(desk.who(mood), Ok((BADGE, mood)));
        let reading = Reading { at: Instant::from_nanos(at), value };
        let pair = Pair(pair.0, pair.1);
        let expected = if pair.1.is_some() { Ok(reading) } else { Err(CallError::Server(pair)) };
        prop_assert_eq!(desk.reading(reading, pair), expected);
        prop_assert_eq!(desk.sum(numbers, flip), Ok(numbers.map(|n| n ^ u32::from(flip))));
        let length = text.len() as u64;
        prop_assert_eq!(desk.note(message, &text), Ok(u64::from(message) + length));
        let stored = if bytes.is_empty() { Err(CallError::Server([7; 9])) } else { Ok(()) };
        prop_assert_eq!(desk.store(&bytes), stored);
        let length = Duration::from_nanos(nanoseconds);
        prop_assert_eq!(desk.r#type(length), Ok(length));
        let apart = [a, BADGE, b, at];
        let apart = if a < at { Ok(apart) } else { Err(CallError::Server(apart)) };
        prop_assert_eq!(desk.apart(a, b, at), apart);
        let [span, of] = [Span { from: a, to: b }, Span { from: at, to: nanoseconds }];
        let calls = machine.with(|clerk| clerk.calls as u64 + 1);
        let spans = (span, of, calls, text.len() as u64);
        prop_assert_eq!(desk.span(span, of, &text), Ok(spans));
        machine.with(|clerk: &mut Clerk| {
            assert_eq!((&clerk.noted, &clerk.stored), (&text, &bytes));
        });
    }

    #[test]
    fn no_request_harms_a_server(
        label in prop_oneof![0u32..12, any::<u32>()],
        sent in 0usize..256,
        words in prop::collection::vec(prop_oneof![0u64..500, any::<u64>()], 128),
        flags in 0u64..2,
        buffer: bool,
    ) {
        let machine = machine::install(Clerk::default());
        let buffer = buffer.then(|| machine.buffer());
        let info = Info(Info::new(label, sent).0 | (flags * Info::CAPABILITY));
        let answer = Clerk::default().dispatch(&request(info, &words, buffer));
        prop_assert!([DONE, REFUSED, UNKNOWN, NOT_SENT].contains(&answer.info.label()));
        // The lengths that are right.
        let fixed = [(1, 0), (2, 2), (3, 1), (4, 5), (5, 21), (8, 1), (9, 3)];
        let known = fixed.contains(&(label, sent)) || (label, sent > 1) == (6, true);
        let known = known || (label, sent > 0) == (7, true) || (label, sent > 4) == (10, true);
        if !known || (sent > 4 && buffer.is_none()) {
            prop_assert_eq!(answer, Message::empty(UNKNOWN));
        }
    }

    #[test]
    fn no_answer_harms_a_client(
        label in prop_oneof![0u32..3, Just(UNKNOWN), any::<u32>()],
        sent in 0usize..=128,
        words: [u64; 4],
        buffer: bool,
    ) {
        let machine = machine::install(Clerk::default());
        machine.lie(Message::long(label, sent, words));
        let desk = if buffer { desk().with_buffer(machine.buffer()) } else { desk() };
        let mood = |word| match word {
            3 => Some(Mood::Calm),
            word => (word as i64 == -2).then_some(Mood::Cross),
        };
        let expected = match (label, sent) {
            (DONE, 1) => Ok(words[0]),
            (REFUSED, 1) => Err(mood(words[0]).map_or(CallError::Unknown, CallError::Server)),
            _ => Err(CallError::Unknown),
        };
        prop_assert_eq!(desk.add(1, 2), expected);
        let nothing = if (label, sent) == (DONE, 0) { Ok(()) } else { Err(CallError::Unknown) };
        prop_assert_eq!(desk.nothing(), nothing);
        let reading = Reading { at: Instant::BOOT, value: 0 };
        let _ = (desk.store(&[]), desk.reading(reading, Pair(0, None)));
    }
}

#[test]
fn words_that_are_no_value_are_refused_and_no_method_is_called() {
    let machine = machine::install(Clerk::default());
    let mut clerk = Clerk::default();
    for (label, words) in [
        (DeskClient::WHO, &[4][..]),
        (DeskClient::READING, &[0, 1 << 31, 0, 0, 0]),
        (DeskClient::READING, &[0, 0, 256, 0, 0]),
        (DeskClient::READING, &[0, 0, 0, 2, 0]),
        (DeskClient::READING, &[0, 0, 0, 1, 0xd800]),
        (DeskClient::SUM, &[0; 20]),
        (DeskClient::SUM, &[2; 21]),
        (DeskClient::SUM, &[1 << 32; 21]),
        (DeskClient::NOTE, &[1 << 16, 0]),
        (DeskClient::NOTE, &[0, 1]),
        (DeskClient::NOTE, &[0, 0, 0]),
        (DeskClient::NOTE, &[0, 1, 0xff]),
        (DeskClient::STORE, &[9, 0]),
        (DeskClient::STORE, &[481; 62]),
        (DeskClient::STORE, &[u64::MAX; 62]),
        (DeskClient::STORE, &[]),
        (DeskClient::ADD, &[1]),
        (DeskClient::ADD, &[1, 2, 3]),
        (DeskClient::APART, &[1, 2]),
        (DeskClient::SPAN, &[1, 2, 3, 4]),
        (0, &[]),
        (11, &[]),
    ] {
        let info = Info::new(label, words.len());
        let answer = clerk.dispatch(&request(info, words, Some(machine.buffer())));
        assert_eq!(answer, Message::empty(UNKNOWN), "{label} {words:?}");
    }
    assert_eq!(clerk.calls, 0);
    let info = Info::new(DeskClient::NOTE, 3);
    let answer = clerk.dispatch(&request(info, &[1, 2, 0x6968], None));
    assert_eq!((answer, &*clerk.noted), (Message::short(DONE, [3]), "hi"));
    // In the order of the arguments, without who asks.
    for (words, label) in [([1, 2, 3], DONE), ([3, 2, 1], REFUSED)] {
        let request = request(Info::new(DeskClient::APART, 3), &words, None);
        let [a, b, c] = words;
        assert_eq!(clerk.dispatch(&request), Message::short(label, [a, 0, b, c]));
    }
}

#[test]
fn labels_and_lengths_are_said() {
    let labels = [DeskClient::NOTHING, DeskClient::ADD, DeskClient::WHO, DeskClient::TYPE];
    assert_eq!((labels, DeskClient::APART, DeskClient::SPAN), ([1, 2, 3, 8], 9, 10));
    // The fixed words of `span`, a length, and the longest text.
    assert_eq!(DeskClient::LONGEST, 65);
    assert_eq!((Mood::WORDS, Reading::WORDS, Pair::WORDS), (1, 2, 3));
    assert_eq!((<[(u8, bool); 3]>::WORDS, <()>::WORDS), (6, 0));
}

#[test]
fn what_needs_a_buffer_says_so() {
    let machine = machine::install(Clerk::default());
    let none = CallError::Ipc(Error::NoBuffer);
    assert_eq!(desk().sum([0; 20], true), Err(none));
    assert_eq!(desk().note(0, "of 17 characters!"), Err(none));
    assert_eq!(desk().note(0, "of 16 characters"), Ok(16));
    let long = [0; crate::MAX_BYTES + 1];
    let store = desk().with_buffer(machine.buffer()).store(&long);
    assert_eq!(store, Err(CallError::Ipc(Error::TooLong)));
    // A server without one cannot answer.
    let info = Info::new(DeskClient::STORE, 1);
    let answer = Clerk::default().dispatch(&request(info, &[0], None));
    assert_eq!(answer, Message::empty(NOT_SENT));
    assert_eq!(machine.calls(), 1);
}

#[test]
fn a_call_that_fails_says_why() {
    let machine = machine::install(Clerk::default());
    for error in Error::ALL {
        machine.fail(error);
        assert_eq!(desk().within(1.ms()).add(1, 2), Err(CallError::Ipc(error)));
        machine.fail(error);
        assert_eq!(desk().wait(Wait::ZERO).nothing(), Err(CallError::Ipc(error)));
        machine.fail(error);
        assert_eq!(desk().nothing(), Err(CallError::Ipc(error)));
    }
    assert_eq!(desk().within(1.ms()).add(1, 2), Ok(3));
    assert_eq!(machine.waits(), [Timeout::Never, Timeout::Zero, Timeout::At]);
}
