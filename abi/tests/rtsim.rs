//! Steps of tasks say the same as text.

use abi::rtsim::{Act, Activation, Fields, NUMBERS, Phase, Step};

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
        cpu: 1,
        release: 10,
        activation: Activation::Forever,
        jobs: 1,
        seed: 7,
        helps: 5,
        code: "1,0:f1;l0",
    };
    let all = [one, Fields { activation: Activation::Period(9), code: "3,5:f1/1,0:f2", ..one }];
    let text = all.iter().map(ToString::to_string).collect::<Vec<_>>().join("|");
    for (place, task) in all.iter().enumerate() {
        assert_eq!(Fields::parse(&text, place), Some(*task));
    }
    for wrong in ["", "A", "A 1 0 2 x 0 4 5 1,0:f1", "A 1 0 2 forever 0 4 5"] {
        assert_eq!(Fields::parse(wrong, 0), None, "{wrong}");
    }
    assert_eq!(Fields::parse(&text, 2), None);
}

#[test]
fn phases_read_as_they_were_written() {
    let phase = Phase { jobs: 3, period: 5, steps: "f1;l0" };
    assert_eq!(Phase::parse(&phase.to_string()), Some(phase));
    for wrong in ["", "f1", "3:f1", "x,5:f1", "3,:f1"] {
        assert_eq!(Phase::parse(wrong), None, "{wrong}");
    }
}
