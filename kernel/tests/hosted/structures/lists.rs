//! Queues and the ready queue.

use super::{objects, threads};
use crate::support::board::whole;
use crate::support::host::Host;
use kernel::access::Object;
use kernel::cpu::ReadyQueue;
use kernel::list::{Linked, Links, List, Ring};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

struct Here;
struct Member(Links<Member>);

impl Object for Member {
    type Header = Links<Member>;
    fn header(&self) -> &Links<Member> {
        &self.0
    }
}

impl Linked<Here> for Member {
    fn links(header: &Links<Member>) -> &Links<Member> {
        header
    }
}

const MEMBERS: u32 = 9;

/// Mostly one of few, so that most levels have several threads; on both sides of words and of all.
fn priority() -> impl Strategy<Value = u8> {
    prop_oneof![4 => prop::sample::select(vec![0, 63, 64, 255]), 1 => any::<u8>()]
}

/// A ring seen from one of its members.
fn turned(ring: &VecDeque<u32>, head: u32) -> VecDeque<u32> {
    let mut ring = ring.clone();
    let at = ring.iter().position(|member| *member == head).expect("it is in this ring");
    ring.rotate_left(at);
    ring
}

proptest! {
    #[test]
    fn a_list_is_a_deque(
        steps in prop::collection::vec((0..7_u8, 0..MEMBERS, 0..MEMBERS), 0..200),
    ) {
        let members = objects(MEMBERS, || Member(Links::new()));
        let list: List<Member, Here> = List::new();
        let mut model = VecDeque::new();
        for (step, which, other) in steps {
            let member = members[which as usize];
            match step {
                0 | 1 if !model.contains(&which) => {
                    list.push_back(member);
                    model.push_back(which);
                }
                2 => {
                    list.remove(member);
                    model.retain(|other| *other != which);
                }
                3 if !model.contains(&which) => {
                    list.push_front(member);
                    model.push_front(which);
                }
                4 if !model.contains(&which) => {
                    if let Some(place) = model.iter_mut().find(|place| **place == other) {
                        list.replace(members[other as usize], member);
                        *place = which;
                    }
                }
                5 if !model.contains(&which) => {
                    list.insert_before(member, |at| at.index() == other);
                    let place = model.iter().position(|at| *at == other).unwrap_or(model.len());
                    model.insert(place, which);
                }
                6 if model.contains(&which) => {
                    list.move_back(member);
                    model.retain(|at| *at != which);
                    model.push_back(which);
                }
                _ => {}
            }
            let mut seen = VecDeque::new();
            list.each(|member| seen.push_back(member.index()));
            prop_assert_eq!(&seen, &model);
            prop_assert_eq!(list.head().map(|head| head.index()), model.front().copied());
            prop_assert_eq!(list.is_empty(), model.is_empty());
            for (member, which) in members.iter().zip(0..) {
                prop_assert_eq!(member.linked(), model.contains(&which));
                prop_assert_eq!(list.holds_only(*member), model == [which]);
            }
        }
    }

    /// Rings of several members that are joined anywhere.
    #[test]
    fn a_ring_is_a_deque_that_turns(
        steps in prop::collection::vec((0..5_u8, 0..MEMBERS, 0..MEMBERS), 0..200),
    ) {
        let members = objects(MEMBERS, || Member(Links::new()));
        let mut rings: Vec<VecDeque<u32>> = Vec::new();
        for (step, which, other) in steps {
            let member = members[which as usize];
            let ring = |rings: &[VecDeque<u32>], at| rings.iter().position(|it| it.contains(&at));
            match (step, ring(&rings, which), ring(&rings, other)) {
                (0 | 1, None, _) => {
                    Ring::<Member, Here>::form(member);
                    rings.push(VecDeque::from([which]));
                }
                (2 | 3, Some(one), Some(behind)) if one != behind => {
                    Ring::<Member, Here>::splice(member, members[other as usize]);
                    let mut joined = turned(&rings[one], which);
                    joined.extend(turned(&rings[behind], other));
                    rings[one] = joined;
                    rings.swap_remove(behind);
                }
                (4, Some(one), _) => {
                    let mut left = turned(&rings[one], which);
                    left.pop_front();
                    let next = Ring::<Member, Here>::leave(member).map(|next| next.index());
                    prop_assert_eq!(next, left.front().copied());
                    rings[one] = left;
                    rings.retain(|ring| !ring.is_empty());
                }
                _ => {}
            }
            for ring in &rings {
                for head in ring {
                    let mut seen = VecDeque::new();
                    let at = members[*head as usize];
                    Ring::<Member, Here>::each(at, |at| seen.push_back(at.index()));
                    prop_assert_eq!(seen, turned(ring, *head));
                }
            }
        }
    }

    #[test]
    fn the_ready_queue_is_a_deque_per_level(
        priorities in prop::collection::vec(priority(), 1..12),
        steps in prop::collection::vec((0..5_u8, any::<prop::sample::Index>()), 0..200),
    ) {
        let threads = threads(priorities.len() as u32);
        for (thread, priority) in threads.iter().zip(&priorities) {
            thread.priority.set(&whole(), i16::from(*priority));
        }
        let queue: ReadyQueue<Host> = ReadyQueue::new();
        let mut model: BTreeMap<u8, VecDeque<u32>> = BTreeMap::new();
        for (step, which) in steps {
            let which = which.index(threads.len());
            let (thread, index) = (threads[which], which as u32);
            let level = model.entry(priorities[which]).or_default();
            match step {
                0 | 1 => {
                    prop_assert_eq!(queue.insert(thread), !level.contains(&index));
                    if !level.contains(&index) {
                        level.push_back(index);
                    }
                }
                2 => {
                    prop_assert_eq!(queue.remove(thread), level.contains(&index));
                    level.retain(|other| *other != index);
                }
                3 if level.contains(&index) => {
                    queue.move_back(thread);
                    level.retain(|other| *other != index);
                    level.push_back(index);
                }
                _ => {
                    prop_assert_eq!(queue.insert_first(thread), !level.contains(&index));
                    if !level.contains(&index) {
                        level.push_front(index);
                    }
                }
            }
            model.retain(|_, level| !level.is_empty());
            let first = model.values().next_back().map(|level| level[0]);
            prop_assert_eq!(queue.first().map(|thread| thread.index()), first);
            prop_assert_eq!(queue.is_empty(), model.is_empty());
            let mut seen = Vec::new();
            queue.each(|level, thread| seen.push((level, thread.index())));
            let expected = model
                .iter()
                .flat_map(|(level, queue)| queue.iter().map(|index| (*level, *index)));
            let expected: Vec<_> = expected.collect();
            for ((thread, priority), index) in threads.iter().zip(&priorities).zip(0..) {
                let heads = model.get(priority).is_some_and(|level| level[0] == index);
                prop_assert_eq!(queue.is_first(*thread), heads);
                prop_assert_eq!(queue.holds_only(*thread), expected == [(*priority, index)]);
            }
            prop_assert_eq!(seen, expected);
        }
    }
}
