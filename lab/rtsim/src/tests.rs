use crate::{Activation, Inheritance, Instruction, Operand, Run, Scheduler, TaskSet, Time};
use crate::{manifest, parse, priority};
use manifest::{Problem, Source};

fn read(text: &str) -> Result<TaskSet, Problem> {
    parse(&Source { name: "t.rts".into(), text: text.into() })
}

#[test]
fn the_papers_clients_and_server_are_read() {
    let set = read(include_str!("../../../tests/rtsim/client-server.rts")).unwrap();
    let names: Vec<&str> = set.tasks.iter().map(|task| task.name.as_str()).collect();
    assert_eq!(names, ["Client1", "Client2", "Client3", "Server"]);
    assert_eq!((set.duration, set.tasks[2].activation), (200_000, Activation::Period(687)));
    let server = &set.tasks[3];
    assert_eq!((server.priority, server.activation), (4, Activation::Forever));
    let through = |name: &str| {
        let object = set.objects.iter().position(|(other, _)| other == name).unwrap();
        Operand { object, through: true }
    };
    assert!(server.code.contains(&Instruction::Lock(through("pM"))));
    let own = |code: &[Instruction]| code.contains(&Instruction::Compute(Time::Fixed(50)));
    assert!(set.tasks[..3].iter().all(|client| own(&client.code)));
}

#[test]
fn the_scenarios_are_read() {
    let tasks = |text: &str| read(text).unwrap().tasks.len();
    assert_eq!(tasks(include_str!("../../../tests/rtsim/mutex.rts")), 3);
    assert_eq!(tasks(include_str!("../../../tests/rtsim/condition.rts")), 3);
    assert_eq!(tasks(include_str!("../../../tests/rtsim/periodic.rts")), 3);
}

#[test]
fn times_may_be_random() {
    let set = read("duration 9; task A priority 1 once { fixed(uniform(2, 4)); delay(3); }");
    let code = &set.unwrap().tasks[0].code;
    let expected = [Instruction::Compute(Time::Uniform(2, 4)), Instruction::Delay(Time::Fixed(3))];
    assert_eq!(code[..], expected);
}

#[test]
fn what_is_wrong_has_its_place_and_a_mend() {
    let task = |code: &str| format!("duration 9; mutex M;\ntask A priority 1 once {{ {code} }}");
    for (text, line, column, what) in [
        (task("lok(M);"), 2, 26, "`lok` is no instruction"),
        (task("lock(N);"), 2, 31, "there is no object `N`"),
        (task("inc(M);"), 2, 30, "`M` is a mutex"),
        (task("lock(*M);"), 2, 32, "`M` is a mutex"),
        (task("fixed(uniform(4, 2));"), 2, 43, "the number is too small"),
        (task("fixed(9)"), 2, 35, "`;` is missing"),
        (task("fixed(4294967296);"), 2, 32, "the number is too great"),
        ("duration 9; task A priority 1 cpu 64 once { fixed(1); }".into(), 1, 31, "no such CPU"),
        ("duration 9; task A priority 1 budget 5 once".into(), 1, 40, "a number is missing"),
        (task("helpers_add(M, A);"), 2, 26, "stay the same for the whole run"),
        (task(""), 2, 6, "the task does nothing"),
        ("inherit mutexes;".into(), 1, 1, "inherits as a whole"),
        ("mutex M; helpers M A;".into(), 1, 18, "`M` is a mutex"),
        (format!("condition C; helpers C B; {}", task("fixed(1);")), 1, 24, "no task `B`"),
        (format!("condition C; helpers C A, A; {}", task("fixed(1);")), 1, 27, "helps the cond"),
        ("duration 9; duration 12x;".into(), 1, 22, "`12x` is neither"),
        ("duration 9; mutex M, M;".into(), 1, 22, "`M` is there twice"),
        ("mutex M; ?".into(), 1, 10, "`?` has no meaning"),
        ("mutex M;".into(), 1, 9, "the file has no duration"),
        ("duration 9; task A once { fixed(1); }".into(), 1, 18, "no priority"),
    ] {
        let problem = read(&text).unwrap_err();
        assert!(problem.message.contains(what), "{text}: {}", problem.message);
        assert_eq!((problem.line, problem.column), (line, column), "{text}");
        assert!(!problem.help.is_empty(), "{text}");
    }
}

#[test]
fn a_task_set_becomes_a_system_that_the_manifest_knows() {
    let text = include_str!("../../../tests/rtsim/budget.rts");
    let set = read(text).unwrap();
    for scheduler in [Scheduler::FixedPriorities, Scheduler::EarliestDeadline] {
        let text = manifest(&set, Run { scheduler, inheritance: Inheritance::None, unit: 100_000 })
            .unwrap();
        let system = manifest::parse("a task set", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!((system.domains.len(), &*system.kernel), (3, "tree"));
    }
}

#[test]
fn only_the_order_of_priorities_counts() {
    let text = "duration 9; task A priority 70 once { fixed(1); }
        task B priority 3000 once { fixed(1); } task C priority 70 once { fixed(1); }";
    let set = read(text).unwrap();
    let of = |task: usize| priority(&set, &set.tasks[task]);
    assert_eq!([of(0), of(1), of(2)], [240, 239, 240]);
}

#[test]
fn where_priorities_are_lent_tasks_are_threads_of_one_domain() {
    let set = read(include_str!("../../../tests/rtsim/mutex.rts")).unwrap();
    let run =
        |inheritance| Run { scheduler: Scheduler::FixedPriorities, inheritance, unit: 100_000 };
    let text = manifest(&set, run(Inheritance::Mutexes)).unwrap();
    let system = manifest::parse("a task set", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!((system.domains.len(), system.domains[0].threads), (2, 4));
}

#[test]
fn what_cannot_inherit_is_refused() {
    let with = |scheduler, keys: &str| {
        let text = format!("duration 9; task A priority 1 period 5 {keys} {{ fixed(1); }}");
        let run = Run { scheduler, inheritance: Inheritance::Mutexes, unit: 1_000 };
        manifest(&read(&text).unwrap(), run).unwrap_err()
    };
    let fixed = Scheduler::FixedPriorities;
    assert!(with(Scheduler::EarliestDeadline, "").contains("by EDF nothing is inherited"));
    assert!(with(fixed, "budget 1 5").contains("task A has a budget"));
    assert!(with(fixed, "cpu 1").contains("several CPUs"));
}
