//! The domain that shows and changes a running system.

mod support;

use abi::reservation::{Budget, Server, Share};
use abi::{Kind, Rights};
use manifest::{Choices, System, TREE, Target, parse};

fn system(text: &str) -> System {
    parse("control.toml", text).unwrap_or_else(|problem| panic!("{problem}"))
}

const PLAIN: &str = "[system]\nname = \"plain\"\n\
    [[domain]]\nname = \"control\"\nprogram = \"idle\"\npriority = 1\n\
    caps = [{ name = \"me\", thread = \"last\" }]\n\
    [[domain]]\nname = \"last\"\nprogram = \"idle\"\npriority = 2\n";

#[test]
fn it_holds_all_threads_and_the_machine_and_has_a_name_of_its_own() {
    let mut system = system(PLAIN);
    let before = (system.memory, system.memories.len());
    let control = system.add_control();
    assert_eq!((control.domain.as_str(), control.memory.as_str()), ("control-1", "control"));
    assert_eq!((system.memory, system.memories.len()), (before.0 + (1 << 20), before.1 + 1));
    assert!(system.memories[before.1].host);
    let own = system.domains.last().unwrap();
    assert_eq!((own.priority, own.max_priority, own.reservation), (255, 255, None));
    assert_eq!(own.caps[0].target, Target::System);
    assert_eq!(control.slots[1..], [(2, Target::Thread(0)), (3, Target::Thread(1))]);
    assert!(own.caps.iter().all(|cap| cap.rights == Rights::CONTROL));
    assert_eq!(own.args[1], ("poll".to_string(), "20000".to_string()));
}

#[test]
fn under_the_tree_it_has_a_reservation_above_all_others() {
    let mut system = system(include_str!("wrong/reservations.toml"));
    assert_eq!(system.kernel, TREE);
    let before = system.reservations.len();
    let control = system.add_control();
    let own = &system.reservations[before];
    assert_eq!((own.name.as_str(), own.share), ("control-1", Share::Priority(511)));
    assert_eq!(own.limit, Some(Budget::new(Server::Periodic, 1_000_000, 20_000_000)));
    let held = control.slots.iter().filter(|(_, target)| target.kind() == Kind::Reservation);
    assert_eq!(held.count(), before + 1);
    let domain = system.domains.iter().find(|domain| domain.name == control.domain).unwrap();
    assert_eq!(domain.reservation, Some(before));
}

#[test]
fn domains_that_stand_behind_it_are_still_found() {
    let mut system = system(support::RICH);
    let (before, supervisor) = (system.clone(), system.supervisor);
    let control = system.add_control();
    let moved = supervisor.unwrap_or(before.domains.len());
    assert_eq!(system.domains[moved].name, control.domain);
    assert_eq!(system.supervisor, supervisor.map(|index| index + 1));
    let names = |system: &System, target| system.target_name(target);
    for domain in &before.domains {
        let after = system.domains.iter().find(|it| it.name == domain.name).unwrap();
        for (then, now) in domain.caps.iter().zip(&after.caps) {
            assert_eq!(names(&before, then.target), names(&system, now.target), "{}", then.name);
        }
    }
    for (slot, target) in &control.slots {
        let own = &system.domains[moved].caps[*slot as usize - 1];
        assert_eq!(own.target, *target);
        if let Target::Thread(index) = target {
            assert_eq!(own.name, format!("thread.{}", system.domains[*index].name));
            assert!(*index < system.booted().len(), "it boots");
        }
    }
}

#[test]
fn the_manifest_chooses_how_it_runs() {
    let text = format!(
        "{PLAIN}[control]\npriority = 40\npoll = \"5ms\"\nbudget = \"2ms\"\nperiod = \"10ms\"\n"
    );
    let mut system = system(&text);
    let (poll, budget, period) = (5_000_000, 2_000_000, 10_000_000);
    assert_eq!(system.control, Choices { priority: Some(40), poll, budget, period });
    system.add_control();
    let own = system.domains.last().unwrap();
    assert_eq!((own.priority, own.max_priority), (40, 255));
    assert_eq!(own.args[1], ("poll".to_string(), "5000".to_string()));
}

#[test]
fn a_choice_that_cannot_be_is_told_with_its_place() {
    for (line, said) in [
        ("budget = \"30ms\"", "a budget of 30ms exceeds its period of 20ms"),
        ("poll = \"1us\"", "`1us` is out of range"),
        ("priority = 512", "`512` is out of range"),
        ("pol = \"1ms\"", "`pol` is not a key here"),
    ] {
        let text = format!("{PLAIN}[control]\n{line}\n");
        let problems = parse("control.toml", &text).expect_err(line);
        let first = &problems.0[0];
        assert_eq!((first.message.as_str(), first.line), (said, 13), "{problems}");
    }
}
