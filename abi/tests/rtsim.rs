//! Steps of tasks say the same as text.

use abi::rtsim::{Act, Activation, Fields, NUMBERS, Step};

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

#[test]
fn tasks_read_as_they_were_written() {
    let one = Fields {
        name: "A",
        priority: 240,
        release: 10,
        activation: Activation::Once,
        seed: 7,
        helps: 5,
        code: "f1;l0",
    };
    let others = [Activation::Forever, Activation::Period(9)];
    let all = [Activation::Once].into_iter().chain(others);
    let all: Vec<Fields> = all.map(|activation| Fields { activation, ..one }).collect();
    let text = all.iter().map(ToString::to_string).collect::<Vec<_>>().join("|");
    for (place, task) in all.iter().enumerate() {
        assert_eq!(Fields::parse(&text, place), Some(*task));
    }
    for wrong in ["", "A", "A 1 2 x 4 5 f1", "A 1 2 once 4 5"] {
        assert_eq!(Fields::parse(wrong, 0), None, "{wrong}");
    }
    assert_eq!(Fields::parse(&text, 3), None);
}
