//! Who gets what: against the model, and what always holds.

use super::*;
use proptest::prelude::*;
use proptest::sample::Index;

/// Children whose budgets fit the supply that comes with them.
fn classes(
    periods: std::ops::Range<u64>,
) -> impl Strategy<Value = (Vec<Sibling>, u32, usize, u64)> {
    let child = (
        periods,
        0u32..1000,
        0u32..1000,
        prop_oneof![3 => (0u32..4).prop_map(Some), 1 => Just(None)],
    );
    let children = prop::collection::vec(child, 0..7);
    (children, 0u32..1000, 0u32..4, any::<Index>(), 0u64..8_000).prop_map(
        |(children, slack, importance, own, wanted)| {
            let share = |period: u64, part: u32| (period - 1) * u64::from(part) / 8_000;
            let mut all: Vec<Sibling> = children
                .iter()
                .map(|(period, budget, least, importance)| {
                    let budget = share(*period, *budget).max(1);
                    let least = (budget * u64::from(*least) / 1000).max(1);
                    match importance {
                        Some(importance) => soft(*importance, least, budget, *period),
                        None => hard(budget, *period),
                    }
                })
                .collect();
            let at = own.index(all.len() + 1);
            all.insert(at, soft(importance, 1, 20, 4_000));
            let budgets: Vec<u64> = all.iter().map(|it| it.budget).collect();
            let used = model::rates(&all, &budgets) as u32;
            let supply = used + (1_000_000 - used) / 1000 * slack;
            (all, supply, at, wanted)
        },
    )
}

proptest! {
    #[test]
    fn agrees_with_the_model((siblings, supply, adapted, wanted) in classes(1_000..6_000)) {
        let decision = decide(&siblings, supply, adapted, wanted).expect("it fits");
        prop_assert_eq!(decision.budgets(), model::decide(&siblings, supply, adapted, wanted));
    }

    /// What no decision breaks, whatever is wanted.
    #[test]
    fn rules_hold((siblings, supply, adapted, _) in classes(1_000..1 << 40), wanted: u64) {
        let decision = decide(&siblings, supply, adapted, wanted).expect("it fits");
        let new = decision.budgets();
        prop_assert!(model::rates(&siblings, new) <= u64::from(supply), "the class has that");
        let mut is_cut = false;
        for at in 0..siblings.len() {
            if at == adapted {
                continue;
            }
            if model::is_less(&siblings, at, adapted) {
                let bounds = model::least(&siblings[at])..=siblings[at].budget;
                prop_assert!(bounds.contains(&new[at]));
            } else {
                prop_assert_eq!(new[at], siblings[at].budget, "hard and more important ones");
            }
        }
        // From the most important one on: behind one that lost something, all have their least.
        let less = (0..siblings.len()).filter(|at| model::is_less(&siblings, *at, adapted));
        let mut less: Vec<usize> = less.collect();
        let below = |at: usize| {
            (0..siblings.len()).filter(|it| model::is_less(&siblings, *it, at)).count()
        };
        less.sort_by_key(|at| below(*at));
        for at in less.into_iter().rev() {
            let least = model::least(&siblings[at]);
            prop_assert!(!is_cut || new[at] == least, "least important first");
            is_cut |= new[at] < siblings[at].budget;
        }
        prop_assert!(new[adapted] >= model::least(&siblings[adapted]));
        prop_assert!(!is_cut || new[adapted] > siblings[adapted].budget, "none loses for nothing");
    }

    /// In the order of the changes, the class never promises more than it has.
    #[test]
    fn changes_can_be_made_one_by_one(
        (siblings, supply, adapted, wanted) in classes(1_000..6_000),
    ) {
        let decision = decide(&siblings, supply, adapted, wanted).expect("it fits");
        let mut budgets: Vec<u64> = siblings.iter().map(|it| it.budget).collect();
        for (at, budget) in decision.changes() {
            prop_assert_ne!(budgets[at], budget);
            budgets[at] = budget;
            prop_assert!(model::rates(&siblings, &budgets) <= u64::from(supply));
        }
        prop_assert_eq!(&budgets[..], decision.budgets());
    }
}

/// The case study's class in overload: the most important server gets what it wants.
#[test]
fn the_least_important_is_throttled_first() {
    let servers = [
        soft(3, MS, 4 * MS, 20 * MS),
        soft(2, MS, 20 * MS, 100 * MS),
        soft(1, MS, 15 * MS, 75 * MS),
    ];
    let budgets =
        |wanted| decide(&servers, 600_000, 0, wanted).expect("it fits").budgets().to_vec();
    assert_eq!(budgets(5 * MS), [5 * MS, 20 * MS, 11_250_000], "5 % of the third");
    assert_eq!(budgets(9 * MS), [9 * MS, 13_666_600, MS], "all but its least, then the second");
    assert_eq!(budgets(20 * MS), [11_533_320, MS, MS], "what is left to it");
    let least = decide(&servers, 600_000, 2, 75 * MS).expect("it fits");
    assert_eq!(least.budgets(), [4 * MS, 20 * MS, 15 * MS], "the least important takes from none");
}

#[test]
fn what_is_not_sound_is_refused() {
    let own = soft(1, 1, 2, 10);
    let refused =
        |siblings: &[Sibling], supply, adapted| decide(siblings, supply, adapted, 5).err();
    assert_eq!(refused(&[own; 17], 1_000_000, 0), Some(Refused::TooMany));
    assert_eq!(refused(&[own], 1_000_000, 1), Some(Refused::NotSoft));
    assert_eq!(refused(&[hard(1, 2)], 1_000_000, 0), Some(Refused::NotSoft));
    for unsound in [soft(1, 0, 2, 10), soft(1, 3, 2, 10), hard(10, 10), hard(0, 0)] {
        assert_eq!(refused(&[own, unsound], 1_000_000, 0), Some(Refused::Unsound));
    }
    assert_eq!(refused(&[own], 199_999, 0), Some(Refused::Overcommitted));
    assert_eq!(refused(&[own], 200_000, 0), None);
    assert_eq!(refused(&[], 1_000_000, 0), Some(Refused::NotSoft));
}

#[test]
fn the_greatest_numbers_do_not_overflow() {
    let siblings = [soft(u32::MAX, 1, 1, u64::MAX), hard(1, u64::MAX), soft(0, 1, 1, 2)];
    let decision = decide(&siblings, 1_000_000, 0, u64::MAX).expect("it fits");
    assert_eq!(decision.budgets()[1..], [1, 1]);
    let rate = model::rate(decision.budgets()[0], u64::MAX);
    assert_eq!(rate, 499_999, "half a CPU, but for the hard one's millionth");
}
