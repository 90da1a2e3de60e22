//! Two honest ends, each of which dies and begins again at any point.
#![forbid(unsafe_code)]

mod support;

use proptest::prelude::*;
use ring::{Held, Layout, Receiver, Sender};
use std::collections::HashMap;
use support::Plain;

const LAYOUT: Layout = Layout::new(4, 32);

#[derive(Clone, Copy, Debug)]
enum Step {
    Send,
    Collect,
    Take,
    GiveBack(usize),
    PublishSender,
    PublishReceiver,
    RestartSender,
    RestartReceiver,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => Just(Step::Send),
        6 => Just(Step::Collect),
        6 => Just(Step::Take),
        6 => (0..LAYOUT.buffers()).prop_map(Step::GiveBack),
        4 => Just(Step::PublishSender),
        4 => Just(Step::PublishReceiver),
        1 => Just(Step::RestartSender),
        1 => Just(Step::RestartReceiver),
    ]
}

/// What a buffer carries: which sender filled it, for which receiver, and its place among these.
type Item = [u32; 3];

/// Both ends, and what a plain queue knows of them.
struct Model {
    memory: Plain,
    sender: Sender<Plain>,
    receiver: Receiver<Plain>,
    /// The number of each, that of the receiver that has published, and that which the sender sees.
    numbers: [u32; 2],
    published: u32,
    seen: u32,
    made: u32,
    /// By buffer, what the receiver has of this sender.
    away: HashMap<usize, u32>,
    held: Vec<(Held, Item)>,
    last: Item,
}

impl Model {
    fn new() -> Model {
        let memory = Plain::new(LAYOUT);
        Model {
            sender: Sender::new(memory.clone(), LAYOUT),
            receiver: Receiver::new(memory.clone(), LAYOUT),
            memory,
            numbers: [1, 1],
            published: 0,
            seen: 0,
            made: 0,
            away: HashMap::new(),
            held: Vec::new(),
            last: [0; 3],
        }
    }

    fn send(&mut self) {
        let Some(owned) = self.sender.acquire() else { return };
        let item = [self.numbers[0], self.seen, self.made];
        let bytes: Vec<u8> = item.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(self.away.insert(owned.index(), self.made), None, "a buffer has two owners");
        self.sender.write(&owned, 0, &bytes);
        self.sender.fill(owned, bytes.len(), self.made);
        self.made += 1;
    }

    fn collect(&mut self) {
        let returned = self.sender.returned().expect("the receiver is honest");
        if self.seen != self.published {
            (self.seen, self.made) = (self.published, 0);
        }
        if let Some(returned) = returned {
            let item = self.away.remove(&returned.buffer).expect("it comes back once");
            assert!(returned.mark.is_none_or(|mark| mark == item), "another buffer's mark");
        }
    }

    fn take(&mut self) {
        let Some(held) = self.receiver.receive().expect("the sender is honest") else { return };
        let mut bytes = [0; 32];
        let bytes = self.receiver.read(&held, &mut bytes);
        let word = |at: usize| u32::from_le_bytes(bytes[4 * at..4 * at + 4].try_into().unwrap());
        let item = [word(0), word(1), word(2)];
        let follows = match item[..2] == self.last[..2] {
            true => item[2] == self.last[2] + 1,
            false => item[0] >= self.last[0] && item[2] == 0,
        };
        assert!(follows && item[2] == held.mark(), "{item:?} after {:?}", self.last);
        assert_eq!(item[1], self.numbers[1], "it was for another receiver");
        self.last = item;
        self.held.push((held, item));
    }

    fn play(&mut self, step: Step) {
        match step {
            Step::Send => self.send(),
            Step::Collect => self.collect(),
            Step::Take => self.take(),
            Step::GiveBack(_) if self.held.is_empty() => {}
            Step::GiveBack(at) => {
                let (held, item) = self.held.swap_remove(at % self.held.len());
                self.receiver.give_back(held, item[2]);
            }
            Step::PublishSender => drop(self.sender.publish()),
            Step::PublishReceiver => {
                let _ = self.receiver.publish();
                self.published = self.numbers[1];
            }
            Step::RestartSender => {
                self.sender = Sender::new(self.memory.clone(), LAYOUT);
                self.numbers[0] += 1;
                (self.seen, self.made) = (0, 0);
                self.away.clear();
            }
            Step::RestartReceiver => {
                self.receiver = Receiver::new(self.memory.clone(), LAYOUT);
                self.numbers[1] += 1;
                self.held.clear();
            }
        }
    }

    /// All that was sent arrives and comes back; then all buffers are free, and both may wait.
    fn comes_to_rest(&mut self) {
        for _ in 0..4 * LAYOUT.buffers() {
            for step in [
                Step::PublishSender,
                Step::Take,
                Step::GiveBack(0),
                Step::PublishReceiver,
                Step::Collect,
            ] {
                self.play(step);
            }
        }
        assert!(self.sender.may_wait() && self.receiver.may_wait());
        assert!(self.sender.is_connected() && self.receiver.is_connected());
        assert!(self.away.is_empty() && self.held.is_empty(), "{:?} are away", self.away);
        for _ in 0..LAYOUT.buffers() {
            assert!(self.sender.send(b"", 0));
        }
        assert!(!self.sender.send(b"", 0));
    }
}

proptest! {
    #[test]
    fn all_arrives_in_order_and_comes_back_once(steps in prop::collection::vec(step(), 0..200)) {
        let mut model = Model::new();
        for step in steps {
            model.play(step);
        }
        model.comes_to_rest();
    }
}

#[test]
fn counts_and_generations_wrap_around() {
    let mut model = Model::new();
    for _ in 0..70_000 {
        model.play(Step::RestartReceiver);
        for step in [Step::PublishReceiver, Step::Collect, Step::PublishSender, Step::Take] {
            model.play(step);
        }
        assert!(model.receiver.is_connected());
    }
    model.comes_to_rest();
}

#[test]
fn only_an_end_that_waits_is_signalled() {
    let mut model = Model::new();
    assert!(model.sender.publish(), "the first signal is always sent");
    assert!(!model.sender.publish(), "nothing has changed");
    assert!(!model.receiver.may_wait(), "there is a sender to look at");
    model.take();
    assert!(model.receiver.may_wait(), "the sender is the next to act");
    assert!(!model.sender.is_connected() && model.sender.may_wait());
    model.play(Step::PublishReceiver);
    assert!(!model.sender.may_wait(), "there is a receiver to look at");
    model.collect();
    assert!(model.sender.publish(), "the receiver waits");
    model.send();
    assert!(!model.sender.publish(), "it was signalled already");
    assert!(!model.receiver.may_wait());
    model.take();
    assert!(model.receiver.may_wait());
}

/// A sender with a free buffer is not woken for each that comes back, but for the last one, and for
/// a receiver that has begun again.
#[test]
fn a_sender_that_waits_for_room_is_signalled_when_it_has_none() {
    let mut model = Model::new();
    for _ in 0..3 {
        for step in [Step::PublishSender, Step::Take, Step::PublishReceiver, Step::Collect] {
            model.play(step);
        }
    }
    for sent in 1..=LAYOUT.buffers() {
        model.send();
        let _ = model.sender.publish();
        model.take();
        assert!(model.sender.may_wait_for_room());
        if sent < LAYOUT.buffers() {
            model.play(Step::GiveBack(0));
            assert!(!model.receiver.publish(), "it has room");
            model.play(Step::Collect);
            model.send();
            let _ = model.sender.publish();
            model.take();
        }
    }
    assert!(!model.sender.can_send());
    model.play(Step::GiveBack(0));
    assert!(model.receiver.publish(), "it waits for room");
    assert!(!model.sender.may_wait_for_room(), "there is some to look at");
    model.collect();
    assert!(model.sender.can_send() && model.sender.may_wait_for_room());
    let mut next = Receiver::new(model.memory.clone(), LAYOUT);
    assert!(next.publish(), "a receiver that begins signals");
}
