//! Against lists that are searched from end to end.
#![forbid(unsafe_code)]

use flows::{Dropped, End, Flow, Id, Key, NotRemoved, Reservations, TooMany};
use proptest::prelude::*;

const BUFFERS: usize = 16;

#[derive(Clone, Debug)]
enum Step {
    Set(Flow, u32),
    SetNull(u32),
    Remove(Flow),
    Reset(Flow),
    Packet(usize, Flow),
    Duplicate(usize),
    Release(usize, bool),
}

/// Few flows, so that they meet; many ports, so that hashes collide.
fn flow() -> impl Strategy<Value = Flow> {
    let port = prop_oneof![2 => Just(0), 4 => 8000..8004u16, 3 => 0..100u16];
    (prop::sample::select(vec![6, 17]), port).prop_map(|(protocol, port)| Flow { protocol, port })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (flow(), 0..4u32).prop_map(|(flow, limit)| Step::Set(flow, limit)),
        1 => (0..3u32).prop_map(Step::SetNull),
        2 => flow().prop_map(Step::Remove),
        1 => flow().prop_map(Step::Reset),
        8 => (0..BUFFERS, flow()).prop_map(|(buffer, flow)| Step::Packet(buffer, flow)),
        2 => (0..BUFFERS).prop_map(Step::Duplicate),
        6 => (0..BUFFERS, any::<bool>()).prop_map(|(buffer, read)| Step::Release(buffer, read)),
    ]
}

/// A reservation, the null one without a flow: units, strays that keep one, packets dropped.
#[derive(Clone, Default)]
struct Plain {
    flow: Option<Flow>,
    limit: u32,
    strays: u32,
    dropped: u64,
}

#[derive(Default)]
struct Oracle {
    all: Vec<Plain>,
    /// Buffers, the flows of their reservations, and their references.
    buffers: Vec<(usize, Option<Flow>, u32)>,
}

impl Oracle {
    fn of(&mut self, flow: Option<Flow>) -> Option<&mut Plain> {
        self.all.iter_mut().find(|one| one.flow == flow)
    }

    fn in_use(&self, flow: Option<Flow>) -> u32 {
        self.buffers.iter().filter(|one| one.1 == flow).count() as u32
    }

    fn set(&mut self, flow: Flow, limit: u32) -> Result<(), TooMany> {
        if self.of(Some(flow)).is_none() {
            if self.all.len() == 33 {
                return Err(TooMany);
            }
            self.all.push(Plain { flow: Some(flow), ..Plain::default() });
        }
        self.of(Some(flow)).unwrap().limit = limit;
        Ok(())
    }

    fn remove(&mut self, flow: Flow) -> Result<(), NotRemoved> {
        self.of(Some(flow)).ok_or(NotRemoved::Unknown)?;
        if self.in_use(Some(flow)) > 0 {
            return Err(NotRemoved::InUse);
        }
        self.all.retain(|one| one.flow != Some(flow));
        Ok(())
    }

    fn packet(&mut self, buffer: usize, flow: Flow) -> Result<(), Dropped> {
        let candidates = [Some(flow), Some(Flow { port: 0, ..flow }), None];
        let flow = candidates.into_iter().find(|one| self.of(*one).is_some()).unwrap();
        let in_use = self.in_use(flow);
        let one = self.of(flow).unwrap();
        if in_use + one.strays >= one.limit {
            one.dropped += 1;
            return Err(Dropped);
        }
        self.buffers.push((buffer, flow, 1));
        Ok(())
    }

    fn release(&mut self, buffer: usize, read: bool) {
        let Some(at) = self.buffers.iter().position(|one| one.0 == buffer) else { return };
        self.buffers[at].2 -= 1;
        if self.buffers[at].2 == 0 {
            let (_, flow, _) = self.buffers.swap_remove(at);
            self.of(flow).unwrap().strays += u32::from(!read);
        }
    }
}

fn play(steps: Vec<Step>) {
    let mut reservations = Reservations::new();
    let mut oracle = Oracle { all: vec![Plain::default()], ..Oracle::default() };
    for step in steps {
        match step {
            Step::Set(flow, limit) => {
                assert_eq!(reservations.set(flow, limit), oracle.set(flow, limit));
            }
            Step::SetNull(limit) => {
                reservations.set_null(limit);
                oracle.all[0].limit = limit;
            }
            Step::Remove(flow) => assert_eq!(reservations.remove(flow), oracle.remove(flow)),
            Step::Reset(flow) => {
                // That of the packets of the flow.
                let id = reservations.find(Key::new(flow.protocol, flow.port));
                let found = reservations.get(id).and_then(|one| one.flow);
                reservations.reset(id);
                oracle.of(found).unwrap().strays = 0;
            }
            Step::Packet(buffer, _) if oracle.buffers.iter().any(|one| one.0 == buffer) => {}
            Step::Packet(buffer, flow) => {
                let id = reservations.find(Key::new(flow.protocol, flow.port));
                assert_eq!(reservations.take(buffer, id), oracle.packet(buffer, flow));
            }
            Step::Duplicate(buffer) => {
                reservations.duplicate(buffer);
                let mut all = oracle.buffers.iter_mut();
                all.by_ref().filter(|one| one.0 == buffer).for_each(|one| one.2 += 1);
            }
            Step::Release(buffer, read) => {
                let end = if read { End::Read } else { End::NoReceiver };
                reservations.release(buffer, end);
                oracle.release(buffer, read);
            }
        }
        assert_eq!(reservations.iter().count(), oracle.all.len());
        for one in reservations.iter() {
            let buffers = oracle.in_use(one.flow);
            let plain = oracle.of(one.flow).expect("no other one exists");
            let current = buffers + plain.strays;
            assert_eq!((one.limit, one.current, one.buffers), (plain.limit, current, buffers));
            assert_eq!(one.dropped, plain.dropped);
        }
    }
}

proptest! {
    #[test]
    fn units_are_counted_as_by_hand(steps in prop::collection::vec(step(), 0..150)) {
        play(steps);
    }

    /// No frame of any content panics, and a header's port is found behind options.
    #[test]
    fn a_frame_has_the_flow_that_its_header_says(
        junk in prop::collection::vec(any::<u8>(), 0..80),
        words in 5..15u8,
        port: u16,
        later in 0..3u16,
    ) {
        let _ = Key::of(&junk);
        let mut frame = vec![0; 14 + 4 * usize::from(words) + 8];
        frame[12] = 8;
        frame[14] = 0x40 | words;
        frame[20..22].copy_from_slice(&later.to_be_bytes());
        frame[23] = 17;
        let at = 14 + 4 * usize::from(words) + 2;
        frame[at..at + 2].copy_from_slice(&port.to_be_bytes());
        let expected = if later == 0 { port } else { 0 };
        prop_assert_eq!(Key::of(&frame), Some(Key::new(17, expected)));
        frame[13] = 6;
        prop_assert_eq!(Key::of(&frame), None);
    }
}

#[test]
fn stray_packets_use_up_their_reservation_alone() {
    let mut reservations = Reservations::new();
    let (stray, other) = (Flow { protocol: 17, port: 8001 }, Flow { protocol: 17, port: 8010 });
    reservations.set(stray, 3).unwrap();
    reservations.set(other, 2).unwrap();
    let id = reservations.find(Key::new(17, 8001));
    for buffer in 0..3 {
        reservations.take(buffer, id).unwrap();
        reservations.release(buffer, End::NoReceiver);
    }
    assert_eq!(reservations.take(0, id), Err(Dropped));
    let other = reservations.find(Key::new(17, 8010));
    assert_eq!(reservations.take(0, other), Ok(()));
    reservations.reset(id);
    assert_eq!(reservations.take(1, id), Ok(()));
    assert_eq!(reservations.find(Key::new(17, 9)), Id::NULL);
    assert_eq!(reservations.take(2, Id::NULL), Err(Dropped));
}
