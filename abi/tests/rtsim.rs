//! Steps of tasks say the same as text.

use abi::rtsim::{Act, NUMBERS, Step};

#[test]
fn each_step_reads_as_it_was_written() {
    for act in Act::ALL {
        for numbers in [[0; NUMBERS], [7, 0, 0, 0], [1, 0, 3, 0], [1, 2, 3, u64::MAX]] {
            let step = Step { act, numbers };
            assert_eq!(Step::parse(&step.to_string()), Some(step));
        }
    }
}

#[test]
fn what_is_no_step_is_refused() {
    for text in ["", "x1", "f", "f1,", "f1,2,3,4,5", "fx", "\u{e9}1", "f-1"] {
        assert_eq!(Step::parse(text), None, "{text}");
    }
}
