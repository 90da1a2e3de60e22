//! The experiments S4-E01 and S4-E02, against the figures of the reference model.

use super::*;

fn shares(tree: &Tree<'_>, leaves: &[NodeId]) -> Vec<u64> {
    leaves.iter().map(|leaf| (tree.service(*leaf) + MS / 2) / MS).collect()
}

/// S4-E01 as the reference model has it.
#[test]
fn sharing_dynamics_of_three_curves() {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let class =
        tree.create(tree.root(0), Some(Policy::ServiceCurves), Share::Priority(10)).expect("fits");
    let second = 1_000 * MS;
    let curves = [
        Curve { slope: 10_000, bend: 3 * second, rest: 90_000 },
        Curve::linear(45_000),
        Curve { slope: 90_000, bend: 3 * second, rest: 10_000 },
    ];
    let leaves = curves.map(|curve| tree.create(class, None, Share::curve(curve)).expect("fits"));
    leaves.iter().for_each(|leaf| assert!(tree.wake(*leaf, 0)));
    let mut now = 0;
    for (at, expected) in [
        (100, [9, 31, 60]),
        (300, [27, 91, 182]),
        (435, [39, 132, 264]),
        (600, [130, 185, 285]),
        (1000, [373, 306, 321]),
        (2000, [979, 610, 411]),
    ] {
        run(&mut tree, now, at * MS);
        now = at * MS;
        for (had, model) in shares(&tree, &leaves).into_iter().zip(expected) {
            assert!(had.abs_diff(model) <= 3, "{at} ms: {:?} {expected:?}", shares(&tree, &leaves));
        }
    }
}

/// S4-E02: delay of 30 ms of work every 3 s at 2 %.
fn delay(own: Curve, hog: Curve) -> Vec<u64> {
    let mut storage = Storage::new(8);
    let mut tree = storage.tree();
    let class =
        tree.create(tree.root(0), Some(Policy::ServiceCurves), Share::Priority(10)).expect("fits");
    let responder = tree.create(class, None, Share::curve(own)).expect("fits");
    let hog = tree.create(class, None, Share::curve(hog)).expect("fits");
    tree.wake(hog, 0);
    let mut now = 0;
    let mut delays = Vec::new();
    for packet in 0..20 {
        let arrival = (1000 + 3000 * packet) * MS;
        run(&mut tree, now, arrival);
        tree.wake(responder, arrival);
        let until = tree.service(responder) + 30 * MS;
        now = arrival;
        while tree.service(responder) < until {
            let pick = tree.pick(0, now);
            let left = until - tree.service(responder);
            let step = if pick.leaf == Some(responder) { left } else { u64::MAX };
            now = pick.until.min(now.saturating_add(step));
            tree.account(0, now);
        }
        tree.block(responder, now, true);
        delays.push((now - arrival) / MS);
    }
    delays
}

#[test]
fn a_concave_curve_brings_a_short_delay_at_a_low_rate() {
    let linear = delay(Curve::linear(20_000), Curve::linear(980_000));
    assert!(linear.iter().all(|delay| (1440..=1470).contains(delay)), "{linear:?}");
    let bend = 50 * MS;
    let concave = delay(
        Curve { slope: 900_000, bend, rest: 20_000 },
        Curve { slope: 100_000, bend, rest: 980_000 },
    );
    assert!(concave.iter().all(|delay| (32..=35).contains(delay)), "{concave:?}");
}

/// A leaf: its slopes in millionths with the microseconds between them, and the millisecond at
/// which it becomes ready for ever.
type Begun = (u32, u64, u32, u64);

/// What the reference model says that each has had at an instant, in milliseconds.
type Reading = (u64, &'static [u64]);

/// Curves that are flat at first, and newcomers to siblings that guarantees have brought far ahead.
const NEWCOMERS: [(&[Begun], [Reading; 3]); 4] = [
    (
        &[
            (0, 33_000, 307_100, 50),
            (0, 517_000, 5_400, 401),
            (279_800, 517_000, 79_300, 900),
            (332_700, 517_000, 280_500, 0),
        ],
        [(450, &[194, 1, 0, 255]), (1200, &[540, 5, 84, 571]), (2000, &[887, 10, 214, 889])],
    ),
    (
        &[
            (0, 111_100, 160_500, 0),
            (0, 7_700, 23_900, 173),
            (0, 111_100, 112_700, 173),
            (0, 1_300_000, 45_300, 50),
            (57_600, 7_700, 157_600, 0),
        ],
        [
            (450, &[190, 7, 31, 19, 203]),
            (1200, &[448, 43, 189, 64, 456]),
            (2000, &[704, 81, 369, 136, 710]),
        ],
    ),
    (
        &[
            (160_200, 7_700, 84_800, 0),
            (0, 7_700, 352_100, 50),
            (218_900, 1_300_000, 14_400, 0),
            (210_700, 111_100, 249_100, 900),
        ],
        [(450, &[67, 213, 170, 0]), (1200, &[159, 592, 374, 75]), (2000, &[269, 1051, 406, 274])],
    ),
    (
        &[
            (0, 33_000, 122_400, 3),
            (385_100, 517_000, 126_100, 900),
            (0, 1_300_000, 70_200, 0),
            (30_300, 33_000, 234_200, 50),
            (0, 111_100, 228_100, 0),
            (0, 1_300_000, 73_100, 0),
        ],
        [
            (450, &[55, 0, 32, 94, 236, 33]),
            (1200, &[173, 116, 68, 306, 466, 71]),
            (2000, &[276, 273, 141, 505, 659, 146]),
        ],
    ),
];

#[test]
fn newcomers_have_what_the_reference_model_says() {
    for (begun, readings) in NEWCOMERS {
        let mut storage = Storage::new(10);
        let mut tree = storage.tree();
        let class = class(&mut tree, Policy::ServiceCurves);
        let curve = |&(slope, bend, rest, _): &Begun| Curve { slope, bend: bend * US, rest };
        let create = |one| leaf(&mut tree, class, Share::curve(curve(one)));
        let leaves: Vec<NodeId> = begun.iter().map(create).collect();
        let mut events: Vec<(u64, Option<NodeId>)> =
            leaves.iter().zip(begun).map(|(leaf, begun)| (begun.3, Some(*leaf))).collect();
        events.extend(readings.iter().map(|reading| (reading.0, None)));
        events.sort();
        let mut now = 0;
        for (at, woken) in events {
            run(&mut tree, now, at * MS);
            now = at * MS;
            match woken {
                Some(leaf) => assert!(tree.wake(leaf, now)),
                None => {
                    let model = readings.iter().find(|reading| reading.0 == at).expect("it is one");
                    let had = shares(&tree, &leaves);
                    let apart = had.iter().zip(model.1).map(|(had, model)| had.abs_diff(*model));
                    assert!(apart.max() <= Some(3), "{at} ms: {had:?} {:?}", model.1);
                }
            }
        }
    }
}
