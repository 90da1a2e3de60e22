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
    assert!(server.phases[0].code.contains(&Instruction::Lock(through("pM"))));
    let own = |code: &[Instruction]| code.contains(&Instruction::Compute(Time::Fixed(50)));
    assert!(set.tasks[..3].iter().all(|client| own(&client.phases[0].code)));
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
    let code = &set.unwrap().tasks[0].phases[0].code;
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
fn each_mechanism_goes_with_each_other_one() {
    for scheduler in [Scheduler::FixedPriorities, Scheduler::EarliestDeadline] {
        for inheritance in [Inheritance::None, Inheritance::Mutexes, Inheritance::Conditions] {
            for (budget, cpu) in
                [("", 0), ("budget 20 50", 0), ("", 1), ("budget 20 50", 1), ("budget 20 100", 0)]
            {
                let text = format!(
                    "duration 900; mutex M; condition C; helpers C B;
                    task A priority 1 period 100 {budget} {{ lock(M); fixed(1); }}
                    task B priority 2 period 200 {{ lock(M); fixed(1); }}
                    task D priority 3 period 300 cpu {cpu} {{ fixed(1); }}"
                );
                let run = Run { scheduler, inheritance, unit: 100_000 };
                let text = manifest(&read(&text).unwrap(), run).unwrap();
                let system =
                    manifest::parse("a set", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
                let has_tree = scheduler == Scheduler::EarliestDeadline || !budget.is_empty();
                assert_eq!(system.kernel == "tree", has_tree, "{text}");
                assert_eq!(u64::from(system.cpus), cpu + 1);
            }
        }
    }
}

#[test]
fn what_the_kernel_does_not_lend_is_refused() {
    let with = |scheduler, budget: &str, share: &str| {
        let text = format!(
            "duration 9; mutex M, N; queue Q; pointer P;
            task A priority 1 period 5 {budget} {{ lock(M); fixed(1); }}
            task B priority 2 period 5 cpu 1 {{ lock({share}); fixed(1); }}"
        );
        let run = Run { scheduler, inheritance: Inheritance::Mutexes, unit: 100_000 };
        manifest(&read(&text).unwrap(), run)
    };
    let why = "tasks A and B of two CPUs share M, and across CPUs the kernel lends nothing";
    for (scheduler, budget) in
        [(Scheduler::EarliestDeadline, ""), (Scheduler::FixedPriorities, "budget 1 5")]
    {
        for shared in ["M", "*P"] {
            assert!(with(scheduler, budget, shared).unwrap_err().starts_with(why));
        }
        assert!(with(scheduler, budget, "N").is_ok());
    }
    assert!(with(Scheduler::FixedPriorities, "", "M").is_ok());
    let text = "duration 9; task A priority 1 period 5 { fixed(1); }";
    let (scheduler, inheritance) = (Scheduler::FixedPriorities, Inheritance::Conditions);
    let none = manifest(&read(text).unwrap(), Run { scheduler, inheritance, unit: 1_000 });
    assert!(none.unwrap_err().contains("no condition has helpers"));
}

#[test]
fn the_analysis_is_told_what_the_code_says() {
    let text = "duration 900; mutex M, N;
        task A priority 1 period 100 deadline 50 { lock(M); fixed(3); lock(N); fixed(1); }
        task B priority 2 period 200 { lock(N); fixed(2); unlock(N); fixed(uniform(1, 2)); }
        task C priority 3 forever { fixed(1); }";
    let run = |inheritance| Run { scheduler: Scheduler::FixedPriorities, inheritance, unit: 1_000 };
    let text = manifest(&read(text).unwrap(), run(Inheritance::None)).unwrap();
    let system = manifest::parse("a set", &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let loads: Vec<_> = system.domains.iter().map(|domain| domain.load).collect();
    // Twenty for the job, ten for each mutex.
    let own = loads[0].expect("its code has fixed lengths");
    assert_eq!((own.execution, own.period, own.deadline), (44_000, 100_000, 50_000));
    assert_eq!((loads[1], loads[2]), (None, None));
    let [section] = &system.domains[0].sections[..] else { panic!("{text}") };
    assert_eq!(section.length, 24_000);
}
