//! Reservations in a class of earliest deadlines are made, changed, moved and removed at random
//! instants: a sibling whose jobs fit its budget keeps its deadlines.

use super::changes::{HARD, Scene};
use super::*;
use proptest::prelude::*;

/// Places for reservations beside the victim's.
const PLACES: usize = 2;

#[derive(Clone, Copy, Debug)]
enum Change {
    Make(Budget),
    Limit(Option<Budget>),
    Jobs(u64),
    Leave,
    Come,
    Remove,
    Sleep,
    Wake,
}

fn limits() -> impl Strategy<Value = Budget> {
    let server =
        prop_oneof![Just(HARD[0]), Just(HARD[1]), Just(HARD[2]), Just(Server::ConstantSoft)];
    let period = prop_oneof![Just(1u64), Just(10), Just(33), Just(100), Just(400)];
    let percent = prop_oneof![Just(1u64), Just(25), Just(49), Just(50)];
    (server, period, percent).prop_map(|(server, period, percent)| {
        Budget::new(server, period * 10 * percent * US, period * MS)
    })
}

fn time() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..3, 0u64..200]
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => limits().prop_map(Change::Make),
        3 => prop::option::of(limits()).prop_map(Change::Limit),
        1 => (1u64..400).prop_map(|time| Change::Jobs(time * MS)),
        1 => Just(Change::Leave),
        1 => Just(Change::Come),
        4 => Just(Change::Remove),
        1 => Just(Change::Sleep),
        2 => Just(Change::Wake),
    ]
}

fn make(scene: &mut Scene<'_, '_>, place: usize, places: &mut [Option<NodeId>], what: Change) {
    let now = scene.now;
    let Some(own) = places[place] else {
        let Change::Make(limits) = what else { return };
        let own = leaf(scene.tree, scene.class, Share::Deadline);
        // What does not fit has no limit, and is behind all that have one.
        let _ = scene.tree.set_budget(own, Some(limits), now);
        scene.tree.wake(own, now);
        places[place] = Some(own);
        return;
    };
    // What does not fit stays as it is.
    let _ = match what {
        Change::Make(limits) | Change::Limit(Some(limits)) => {
            scene.tree.set_budget(own, Some(limits), now)
        }
        Change::Limit(None) => scene.tree.set_budget(own, None, now),
        Change::Jobs(time) => {
            let timing = Timing { deadline: time, period: time };
            scene.tree.set_timing(own, Some(timing), now)
        }
        Change::Leave => {
            let root = scene.tree.root(0);
            scene.tree.join(own, root, Share::Priority(1), now)
        }
        Change::Come => scene.tree.join(own, scene.class, Share::Deadline, now),
        Change::Remove => {
            places[place] = None;
            scene.tree.remove_node(own, now)
        }
        Change::Sleep => {
            scene.tree.block(own, now, true);
            Ok(())
        }
        Change::Wake => {
            scene.tree.wake(own, now);
            Ok(())
        }
    };
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 4))]

    #[test]
    fn what_is_promised_is_kept_whatever_is_changed(
        period in prop_oneof![Just(10 * MS), Just(100 * MS), Just(300 * MS)],
        steps in prop::collection::vec((0..PLACES, change(), time()), 1..16),
    ) {
        let mut storage = Storage::new(8);
        let mut tree = storage.tree();
        let mut scene = Scene::new(&mut tree, period);
        let mut places = [None; PLACES];
        for (place, what, time) in steps {
            make(&mut scene, place, &mut places, what);
            let end = scene.now + time * MS;
            scene.play(end);
        }
        scene.keeps_its_deadlines("changes");
    }
}
