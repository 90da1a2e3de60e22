use super::VARIANTS;
use super::measure::{Told, limits, told};

#[test]
fn what_tasks_say_is_read() {
    let console = "twin: seed 1\r\nflight: 200 jobs, 3 late, worst response 481 us of 5000 us\r\n";
    assert_eq!(told(console, "flight").unwrap(), Told { late: 3, worst: 481 });
    assert!(told(console, "vision").is_err(), "it says nothing");
    assert!(told("flight: 200 jobs, 3 late", "flight").is_err(), "the line is cut off");
}

#[test]
fn each_way_can_fail_what_is_expected_of_it() {
    let held = |variant: usize, late, worst, bound| {
        let told = Told { late, worst };
        limits(&VARIANTS[variant], "", &told, bound).iter().all(|limit| limit.held())
    };
    assert!(held(0, 97, 482_000, None) && !held(0, 0, 400, None));
    assert!(held(2, 0, 400, Some(500)));
    assert!(!held(2, 1, 400, Some(500)) && !held(2, 0, 501, Some(500)) && !held(3, 0, 1, None));
}
