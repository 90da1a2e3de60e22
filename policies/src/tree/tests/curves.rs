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
