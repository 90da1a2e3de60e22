use super::*;
use proptest::prelude::*;

fn pairs(seeds: &[(&[u64], &[u64])]) -> Vec<Pair> {
    seeds.iter().map(|(a, b)| Pair { a: a.to_vec(), b: b.to_vec() }).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}

#[test]
fn what_every_seed_repeats_is_exact() {
    let same = pairs(&[(&[200, 200], &[250, 250]), (&[200, 200], &[250, 250])]);
    let difference = Difference::of(&same).unwrap();
    assert_eq!((difference.answer, difference.interval), (Answer::Exact, None));
    assert_eq!((difference.more, difference.percent), (50.0, Some(25.0)));
    assert_eq!((difference.effect, difference.size()), (1.0, "large"));
    // Samples that scatter alike on both sides differ exactly too.
    let alike = pairs(&[(&[10, 12], &[13, 15]), (&[20, 40, 60], &[23, 43, 63])]);
    let difference = Difference::of(&alike).unwrap();
    assert_eq!((difference.answer, difference.more), (Answer::Exact, 3.0));
    assert!(difference.is_one());
}

#[test]
fn the_same_samples_are_identical() {
    let difference = Difference::of(&pairs(&[(&[7, 9], &[7, 9]), (&[3, 4], &[3, 4])])).unwrap();
    assert_eq!((difference.answer, difference.more), (Answer::Identical, 0.0));
    assert_eq!((difference.effect, difference.size()), (0.0, "negligible"));
    assert!(!difference.is_one());
    // The same means are not enough for that.
    let level = Difference::of(&pairs(&[(&[7, 9], &[8, 8])])).unwrap();
    assert_eq!(level.answer, Answer::Unknown);
    let level = Difference::of(&pairs(&[(&[7, 9], &[8, 8]), (&[7, 9], &[8, 8])])).unwrap();
    assert_eq!((level.answer, level.is_one()), (Answer::Exact, false));
}

#[test]
fn the_interval_is_that_of_paired_samples() {
    // Student's own data of 1908: extra sleep of ten patients under two drugs, in tenths of an
    // hour and raised by 20. His difference is 1.58, t is 4.0621 with 9 degrees of freedom, and
    // the interval is that which any package gives.
    let first = [27, 4, 18, 8, 19, 54, 57, 28, 20, 40];
    let second = [39, 28, 31, 21, 19, 64, 75, 36, 66, 54];
    let seeds: Vec<Pair> =
        std::iter::zip(first, second).map(|(a, b)| Pair { a: vec![a], b: vec![b] }).collect();
    let difference = Difference::of(&seeds).unwrap();
    let (low, high) = difference.interval.unwrap();
    assert!(close(difference.more, 15.8), "{difference:?}");
    assert!((low - 7.001_142).abs() < 1e-4 && (high - 24.598_858).abs() < 1e-4, "{low} {high}");
    assert_eq!(difference.answer, Answer::Significant);
}

#[test]
fn a_common_workload_hides_no_difference() {
    // The seeds scatter far more than the kernels differ.
    let paired = pairs(&[(&[100], &[101]), (&[200], &[202]), (&[300], &[301])]);
    let difference = Difference::of(&paired).unwrap();
    assert_eq!(difference.answer, Answer::NotSignificant);
    let more = pairs(&[(&[100], &[101]), (&[200], &[202]), (&[300], &[301]), (&[150], &[151])]);
    let difference = Difference::of(&more).unwrap();
    assert_eq!(difference.answer, Answer::Significant);
    assert_eq!(difference.size(), "small");
    assert_eq!(difference.spread, 0.0);
    let scattered = Difference::of(&pairs(&[(&[10, 14], &[10, 14]), (&[5, 9], &[5, 9])])).unwrap();
    assert!(close(scattered.spread, 8f64.sqrt()), "{}", scattered.spread);
}

#[test]
fn chance_is_no_difference() {
    let chance = pairs(&[(&[10], &[15]), (&[20], &[14]), (&[15], &[16])]);
    let difference = Difference::of(&chance).unwrap();
    assert_eq!((difference.answer, difference.is_one()), (Answer::NotSignificant, false));
    let once = Difference::of(&pairs(&[(&[1, 2], &[5, 6])])).unwrap();
    assert_eq!((once.answer, once.is_one()), (Answer::Unknown, false));
    assert_eq!(Difference::of(&[]), None);
    assert_eq!(Difference::of(&pairs(&[(&[], &[1])])), None);
}

#[test]
fn cases_are_averaged_as_ratios() {
    let twice = pairs(&[(&[10], &[20])]);
    let half = pairs(&[(&[20], &[10])]);
    let level = Overall::of(&[&twice, &half]).unwrap();
    assert!(close(level.percent, 0.0) && level.interval.is_none());
    let both = Overall::of(&[&twice, &twice]).unwrap();
    assert!(close(both.percent, 100.0));
    let varying = pairs(&[(&[10], &[20]), (&[10], &[22]), (&[10], &[21])]);
    let (low, high) = Overall::of(&[&varying]).unwrap().interval.unwrap();
    assert!(86.0 < low && low < 87.0 && 136.0 < high && high < 137.0, "{low} {high}");
    assert_eq!(Overall::of(&[]), None);
    assert_eq!(Overall::of(&[&pairs(&[(&[0], &[1])])]), None);
}

proptest! {
    #[test]
    fn swapping_the_sides_turns_every_sign(
        seeds in prop::collection::vec((prop::collection::vec(0..99u64, 1..6),
                                        prop::collection::vec(0..99u64, 1..6)), 1..6)
    ) {
        let there: Vec<Pair> =
            seeds.iter().map(|(a, b)| Pair { a: a.clone(), b: b.clone() }).collect();
        let back: Vec<Pair> =
            seeds.iter().map(|(a, b)| Pair { a: b.clone(), b: a.clone() }).collect();
        let (there, back) = (Difference::of(&there).unwrap(), Difference::of(&back).unwrap());
        prop_assert_eq!(there.answer, back.answer);
        prop_assert!(close(there.more, -back.more) && close(there.effect, -back.effect));
        prop_assert!((-1.0..=1.0).contains(&there.effect));
    }
}
