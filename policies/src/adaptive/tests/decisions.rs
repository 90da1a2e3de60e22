//! Who gets what in a single class: numbers by hand, and what is refused.

use super::*;

const SUPPLY: u32 = 600_000;

/// The case study's class in overload: the most important server gets what it wants.
#[test]
fn the_least_important_is_throttled_first() {
    let servers = [
        soft(SUPPLY, 3, [MS, 4 * MS, 20 * MS]),
        soft(SUPPLY, 2, [MS, 20 * MS, 100 * MS]),
        soft(SUPPLY, 1, [MS, 15 * MS, 75 * MS]),
    ];
    let budgets = |wanted| about(&servers, 0, wanted).expect("it fits").budgets().to_vec();
    assert_eq!(budgets(5 * MS), [5 * MS, 20 * MS, 11_250_000], "5 % of the third");
    assert_eq!(budgets(9 * MS), [9 * MS, 13_666_600, MS], "all but its least, then the second");
    assert_eq!(budgets(20 * MS), [11_533_320, MS, MS], "what is left to it");
    let least = about(&servers, 2, 75 * MS).expect("it fits");
    assert_eq!(least.budgets(), [4 * MS, 20 * MS, 15 * MS], "the least important takes from none");
}

/// What one gives back at an instant is there for those that ask for more at the same one.
#[test]
fn what_is_given_back_is_taken_before_others_lose() {
    let servers = [
        soft(SUPPLY, 3, [MS, 4 * MS, 20 * MS]),
        soft(SUPPLY, 2, [MS, 20 * MS, 100 * MS]),
        soft(SUPPLY, 1, [MS, 15 * MS, 75 * MS]),
    ];
    let decision = decide(&servers, &[Some(6 * MS), Some(10 * MS), None]).expect("it fits");
    assert_eq!(decision.budgets(), [6 * MS, 10 * MS, 15 * MS]);
    assert_eq!(decision.asked(), [6 * MS, 10 * MS, 15 * MS]);
    assert!(decision.changes().eq([(1, 10 * MS), (0, 6 * MS)]), "less comes first");
}

/// A leaf with a deadline before the end of its period is promised its budget by that.
#[test]
fn a_shorter_deadline_takes_more() {
    let own = Server { within: 5, ..soft(SUPPLY, 1, [1, 2, 10]) };
    let decision = about(&[own], 0, 9).expect("it fits");
    assert_eq!(decision.budgets(), [3], "3 in 5 are 60 %");
    let whole = Server { within: 5, ..soft(1_000_000, 1, [1, 2, 10]) };
    assert_eq!(about(&[whole], 0, 9).expect("it fits").budgets(), [5], "all of the CPU");
}

#[test]
fn what_is_not_sound_is_refused() {
    let own = soft(1_000_000, 1, [1, 2, 10]);
    let refused = |servers: &[Server]| about(servers, 0, 5).err();
    assert_eq!(refused(&[own; MOST + 1]), Some(Refused::TooMany));
    assert_eq!(decide(&[own], &[]), Err(Refused::Unsound));
    let unsound = [
        soft(1_000_000, 1, [0, 2, 10]),
        soft(1_000_000, 1, [3, 2, 10]),
        soft(1_000_000, 1, [1, 10, 10]),
        soft(1_000_000, 1, [0, 0, 0]),
        Server { within: 0, ..own },
        Server { above: Above::Adaptive(1), ..own },
        Server { above: Above::Adaptive(2), ..own },
        // Its least budget, 1 in 10, does not hold what is inside.
        Server { taken: 100_001, ..own },
    ];
    for unsound in unsound {
        assert_eq!(refused(&[own, unsound]), Some(Refused::Unsound), "{unsound:?}");
    }
    let inside =
        |least, budget| Server { above: Above::Adaptive(0), ..soft(0, 1, [least, budget, 10]) };
    assert_eq!(refused(&[own, inside(2, 2)]), Some(Refused::Unsound), "its class keeps 1");
    assert_eq!(refused(&[own, inside(1, 3)]), Some(Refused::Overcommitted));
    assert_eq!(refused(&[own, inside(1, 2)]), None);
    assert_eq!(refused(&[soft(199_999, 1, [1, 2, 10])]), Some(Refused::Overcommitted));
    assert_eq!(refused(&[soft(200_000, 1, [1, 2, 10])]), None);
    assert_eq!(decide(&[], &[]).map(|decision| decision.changes().count()), Ok(0));
}

#[test]
fn the_greatest_numbers_do_not_overflow() {
    let supply = 999_999;
    let servers = [soft(supply, u32::MAX, [1, 1, u64::MAX]), soft(supply, 0, [1, 1, 2])];
    let decision = about(&servers, 0, u64::MAX).expect("it fits");
    assert_eq!(decision.budgets()[1..], [1]);
    let rate = model::rate(decision.budgets()[0], u64::MAX);
    assert_eq!(rate, 499_999, "half a CPU, but for what is not in the supply");
    let asked = u64::MAX;
    let class = Server { asked, ..soft(1_000_000, 1, [1 << 62, 1 << 62, u64::MAX]) };
    let child = Server { above: Above::Adaptive(0), asked, ..soft(0, 1, [1, 1, u64::MAX]) };
    let decision = decide(&[class, child], &[Some(u64::MAX), Some(u64::MAX)]).expect("it fits");
    assert_eq!(decision.budgets()[0], u64::MAX - 1);
    assert_eq!(decision.asked(), [u64::MAX; 2]);
}
