//! Where buffers lie, for a device that reads or writes them itself.
#![forbid(unsafe_code)]

mod support;

use ring::{Layout, Memory, Receiver, Sender};
use support::Plain;

const LAYOUT: Layout = Layout::new(4, 16);

/// Two ends that have found each other.
fn ends(memory: &Plain) -> (Sender<Plain>, Receiver<Plain>) {
    let mut sender = Sender::new(memory.clone(), LAYOUT);
    let mut receiver = Receiver::new(memory.clone(), LAYOUT);
    for _ in 0..2 {
        let _ = (receiver.receive(), sender.returned());
        let _ = (receiver.publish(), sender.publish());
    }
    let _ = sender.returned();
    (sender, receiver)
}

#[test]
fn what_is_written_where_a_buffer_lies_is_in_it() {
    let memory = Plain::new(LAYOUT);
    let (mut sender, mut receiver) = ends(&memory);
    for number in 0..LAYOUT.buffers() as u8 {
        let owned = sender.acquire().expect("a free buffer");
        memory.write(sender.place(&owned), &[number; 16]);
        sender.fill(owned, 16, 0);
    }
    let _ = sender.publish();
    let mut places = Vec::new();
    for number in 0..LAYOUT.buffers() as u8 {
        let held = receiver.receive().expect("no lie").expect("it was filled");
        let place = receiver.place(&held).expect("its sender is there");
        let mut bytes = [0; 16];
        memory.read(place, &mut bytes);
        assert_eq!((bytes, place % 8), ([number; 16], 0));
        places.push(place);
        receiver.give_back(held, 0);
    }
    places.sort_unstable();
    assert!(places.windows(2).all(|two| two[0] + 16 <= two[1]), "no two lie in one place");
    assert!(places[3] + 16 <= 8 * LAYOUT.words());
}

#[test]
fn a_buffer_of_a_sender_that_is_gone_lies_nowhere() {
    let memory = Plain::new(LAYOUT);
    let (mut sender, mut receiver) = ends(&memory);
    assert!(sender.send(b"from the first", 0));
    let _ = sender.publish();
    let held = receiver.receive().expect("no lie").expect("it was filled");
    let mut second = Sender::new(memory.clone(), LAYOUT);
    assert!(receiver.place(&held).is_some(), "nobody has begun yet");
    let _ = (second.returned(), second.publish());
    assert_eq!(receiver.place(&held), None, "also before the receiver looks");
    let _ = receiver.receive();
    assert_eq!(receiver.place(&held), None);
}

/// What a device still reads of a sender is not in the hands of its successor.
#[test]
fn a_sender_that_has_begun_again_has_no_buffers_before_the_receiver_wants_it() {
    let memory = Plain::new(LAYOUT);
    let (mut sender, mut receiver) = ends(&memory);
    assert!(sender.send(b"from the first", 0));
    let _ = sender.publish();
    let held = receiver.receive_same().expect("no lie").expect("it was filled");
    let mut second = Sender::new(memory.clone(), LAYOUT);
    for _ in 0..4 {
        let _ = (second.returned(), second.publish());
        assert!(second.acquire().is_none());
        assert_eq!(receiver.receive_same(), Ok(None));
        let _ = receiver.publish();
        assert!(receiver.may_wait() && !receiver.is_connected());
    }
    receiver.give_back(held, 7);
    for _ in 0..2 {
        let _ = (second.returned(), second.publish());
        assert_eq!(receiver.receive(), Ok(None));
        let _ = receiver.publish();
    }
    assert_eq!(second.returned(), Ok(None), "what went back was not its own");
    assert!(second.send(b"from the second", 0));
    let _ = second.publish();
    let held = receiver.receive_same().expect("no lie").expect("it was filled");
    assert_eq!(receiver.read(&held, &mut [0; 16]), b"from the second");
}
