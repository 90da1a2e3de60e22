//! Queues and the ready queue.

use super::{objects, threads};
use crate::support::board::whole;
use crate::support::host::Host;
use kernel::access::Object;
use kernel::cpu::ReadyQueue;
use kernel::list::{Linked, Links, List};
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

proptest! {
    #[test]
    fn a_list_is_a_deque(
        steps in prop::collection::vec((0..5_u8, 0..MEMBERS, 0..MEMBERS), 0..200),
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
                _ => {}
            }
            let mut seen = VecDeque::new();
            list.each(|member| seen.push_back(member.index()));
            prop_assert_eq!(&seen, &model);
            prop_assert_eq!(list.head().map(|head| head.index()), model.front().copied());
            prop_assert_eq!(list.is_empty(), model.is_empty());
            for (member, which) in members.iter().zip(0..) {
                prop_assert_eq!(member.linked(), model.contains(&which));
            }
        }
    }

    #[test]
    fn the_ready_queue_is_a_deque_per_level(
        priorities in prop::collection::vec(any::<u8>(), 1..12),
        steps in prop::collection::vec((0..4_u8, any::<prop::sample::Index>()), 0..200),
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
                    queue.insert(thread);
                    if !level.contains(&index) {
                        level.push_back(index);
                    }
                }
                2 => {
                    queue.remove(thread);
                    level.retain(|other| *other != index);
                }
                _ => {
                    queue.insert_first(thread);
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
            prop_assert_eq!(seen, expected.collect::<Vec<_>>());
        }
    }
}
