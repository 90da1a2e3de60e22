use super::{Imported, import};
use abi::reservation::Policy;
use manifest::{Problems, Source, System};

fn read(name: &str, text: &str) -> Result<Imported, Problems> {
    import(&Source { name: name.into(), text: text.into() })
}

/// The system that a file becomes, and the notes.
fn system(name: &str, text: &str) -> (System, Vec<String>) {
    let imported = read(name, text).unwrap_or_else(|error| panic!("{error}"));
    (manifest::parse(name, &imported.manifest).unwrap(), imported.notes)
}

/// The argument that tells a domain its task.
fn task<'s>(system: &'s System, name: &str) -> &'s str {
    let domain = system.domains.iter().find(|domain| domain.name == name).expect(name);
    &domain.args.iter().find(|(key, _)| key == "tasks").unwrap().1
}

fn domain(system: &System, name: &str) -> usize {
    system.domains.iter().position(|domain| domain.name == name).expect(name)
}

const ROBOT: &str = include_str!("../../../../tests/import/robot.json");

#[test]
fn a_workload_of_rt_app_becomes_a_system() {
    let (system, notes) = system("robot.json", &ROBOT.replace("true", "false"));
    assert_eq!((&*system.name, &*system.kernel, system.cpus), ("robot", "tree", 1));
    // Locks, 400 us, unlocks, 600 us; each 5 ms, by the second highest priority.
    let control = task(&system, "control");
    assert!(control.ends_with(" 5000000 0 1009 0 1,5000000:l0;f400;k0;f600"), "{control}");
    let load = system.domains[domain(&system, "control")].load.unwrap();
    assert_eq!((load.execution, load.period, load.deadline), (1_030_000, 5_000_000, 5_000_000));
    // It begins 1 ms later.
    let logger = task(&system, "logger");
    assert!(logger.starts_with("logger 238 0 11000000 20000000 0 "), "{logger}");
    let [first, second] = ["burst-0", "burst-1"].map(|name| task(&system, name));
    let phases = "4,8000000:f200/2,12000000:f600";
    assert!(first.ends_with(phases) && second.ends_with(phases), "{first}, {second}");
    // Three rounds of six jobs.
    assert!(first.starts_with("burst-0 237 0 10000000 8000000 18 "), "{first}");
    let vision = system.domains[domain(&system, "vision")].reservation.unwrap();
    let leaf = &system.reservations[vision];
    let limit = leaf.limit.unwrap();
    assert_eq!((limit.budget, limit.period), (2_000_000, 10_000_000));
    assert_eq!(leaf.timing.unwrap().deadline, 8_000_000);
    assert_eq!(system.reservations[leaf.class.unwrap()].policy, Some(Policy::EarliestDeadline));
    assert!(notes.iter().any(|note| note.starts_with("robot.json:25: timers are absolute")));
    assert!(notes.iter().any(|note| note.contains("SCHED_OTHER is a priority below")), "{notes:?}");
}

#[test]
fn mutexes_inherit_where_the_workload_says_so() {
    let (system, _) = system("robot.json", ROBOT);
    let tasks = &system.domains[domain(&system, "tasks")].tasks;
    let [section] = &tasks[0].sections[..] else { panic!("{tasks:?}") };
    assert_eq!((&*tasks[0].name, section.length), ("control", 410_000));
    assert_eq!(system.mutexes[0].protocol, manifest::Protocol::Inheritance);
}

/// A workload of one task with these keys.
fn one(keys: &str) -> String {
    format!("{{\"tasks\": {{\"A\": {{\n{keys}\n}} }}, \"global\": {{\"duration\": 1}} }}")
}

#[test]
fn jobs_end_at_timers() {
    let timer = |period| format!("\"timer\": {{ \"ref\": \"t\", \"period\": {period} }}");
    let code = |keys: &str| {
        let text = one(keys);
        task(&system("a.json", &text).0, "A").split(' ').skip(3).collect::<Vec<_>>().join(" ")
    };
    // Without a timer jobs are one behind the other.
    assert_eq!(code("\"run\": 5, \"sleep\": 7"), "10000000 forever 0 1009 0 1,0:f5;D7");
    assert_eq!(code("\"loop\": 3, \"run\": 5"), "10000000 forever 3 1009 0 1,0:f5");
    // A timer at the beginning: the first job comes a period later.
    let first = format!("{}, \"run\": 5", timer(300));
    assert_eq!(code(&first), "10300000 300000 0 1009 0 1,300000:f5");
    // Two timers are two jobs.
    let both = format!("\"run1\": 5, {}, \"run2\": 6, {}", timer(300), timer(400));
    assert_eq!(code(&both), "10000000 300000 0 1009 0 1,300000:f5/1,400000:f6");
    // What is before a phase with a timer is part of its first job.
    let phases = format!(
        "\"phases\": {{ \"a\": {{ \"run\": 9 }}, \"b\": {{ \"loop\": 3, \"run\": 5, {} }} }}",
        timer(300)
    );
    assert_eq!(code(&phases), "10000000 300000 0 1009 0 1,300000:f9;f5/2,300000:f5");
    let sync = "\"sync\": { \"ref\": \"c\", \"mutex\": \"m\" }, \"signal\": \"c\"";
    assert_eq!(code(sync), "10000000 forever 0 1009 0 1,0:l0;s0,2;w0,2;k0;s0,2");
}

#[test]
fn what_rt_app_has_and_giusto_has_not_is_refused_with_its_line() {
    for (keys, line, what) in [
        ("\"run\": 5,\n\"mem\": 4096", 3, "there is no event `mem`"),
        ("\"barrier\": \"b\"", 2, "there is no event `barrier`"),
        ("\"run\": -5", 2, "a time is below 0"),
        ("\"run\": 5.5", 2, "`run` is no whole number"),
        ("\"run\": 5,\n\"policy\": \"SCHED_BATCH\"", 3, "there is no policy `SCHED_BATCH`"),
        ("\"run\": 5, \"policy\": \"SCHED_FIFO\", \"priority\": 100", 2, "no such priority"),
        ("\"run\": 5, \"policy\": \"SCHED_DEADLINE\"", 2, "no such budget"),
        ("\"cpus\": [],\n\"run\": 5", 2, "no list of CPUs"),
        ("\"wait\": \"c\"", 2, "a wait needs a condition and a mutex"),
        ("\"timer\": { \"ref\": \"t\" }", 2, "a timer needs a period"),
        (
            "\"phases\": { \"a\": { \"run\": 5 },\n\"b\": { \"run\": 5, \"cpus\": [1] } }",
            3,
            "of one of several phases",
        ),
        (
            "\"phases\": { \"a\": { \"loop\": -1, \"run\": 5 }, \"b\": { \"run\": 5 } }",
            2,
            "a phase without an end",
        ),
        ("\"run\": 5 \"sleep\" 5", 2, "this is no JSON"),
        ("\"loop\": 3", 1, "no task of the file runs"),
    ] {
        let error = read("a.json", &one(keys)).expect_err(keys);
        let problem = &error.0[0];
        assert!(problem.message.contains(what), "{keys}: {error}");
        assert_eq!(problem.line, line, "{keys}: {error}");
        assert!(!problem.help.is_empty());
    }
    let two = one("\"mem\": 5,\n\"iorun\": 6");
    assert_eq!(read("a.json", &two).unwrap_err().0.len(), 2, "all that is wrong is told");
}

const THREE: &str = include_str!("../../../../tests/import/three.xml");
const PARTITIONED: &str = include_str!("../../../../tests/import/partitioned.xml");

#[test]
fn a_task_set_of_simso_becomes_a_system() {
    let (system, notes) = system("three.xml", THREE);
    assert_eq!((&*system.kernel, system.cpus, notes.len()), ("tree", 1, 0));
    let second = task(&system, "T2");
    assert!(second.contains(" 11500000 20000000 0 ") && second.ends_with("1,0:f5000"), "{second}");
    let timing = |name: &str| {
        let leaf = system.domains[domain(&system, name)].reservation.unwrap();
        let timing = system.reservations[leaf].timing.unwrap();
        (timing.deadline, timing.period, system.reservations[leaf].execution)
    };
    assert_eq!(timing("T2"), (15_000_000, 20_000_000, Some(5_020_000)));
    // Released at 12, 52, 92 and 120 ms.
    let alarm = task(&system, "Alarm");
    assert!(alarm.contains(" 22000000 28000000 4 "), "{alarm}");
    assert!(alarm.ends_with(" 2,40000000:f1250/1,28000000:f1250/1,0:f1250"), "{alarm}");
    assert_eq!(timing("Alarm").1, 28_000_000);
}

#[test]
fn tasks_get_cpus_and_follow_each_other() {
    let (system, notes) = system("partitioned.xml", PARTITIONED);
    assert_eq!((&*system.kernel, system.cpus), ("fastpath", 2));
    let first = task(&system, "TASK-T1");
    assert!(first.starts_with("TASK-T1 240 0 "), "{first}");
    assert!(first.ends_with(":f6000;l0;i4;s0,2;k0"), "{first}");
    assert!(task(&system, "Chained").ends_with("1,0:l0;c0,2,4;d4;k0;f1000"));
    assert_eq!(system.domains[domain(&system, "TASK-T2")].cpu, 1);
    for (line, what) in [
        (2, "each job takes its WCET"),
        (3, "CPUs by the first fit of decreasing shares: TASK-T1 0, TASK-T2 1, Chained 0"),
        (9, "`TASK T1` is called `TASK-T1`"),
        (9, "a job that misses its deadline goes on"),
    ] {
        let note = format!("partitioned.xml:{line}: {what}");
        assert!(notes.iter().any(|own| own.starts_with(&note)), "{note}: {notes:?}");
    }
}

#[test]
fn what_simso_has_and_giusto_has_not_is_refused_with_its_line() {
    for (from, to, line, what) in [
        ("schedulers.EDF", "schedulers.LLREF", 3, "there is no scheduler `LLREF`"),
        ("period=\"10.0\"", "", 8, "the task has no `period`"),
        ("WCET=\"5.0\"", "WCET=\"x\"", 11, "`x` is no time"),
        ("Sporadic", "Bursty", 12, "there is no type `Bursty`"),
        ("speed=\"1.0\"", "speed=\"2.0\"", 5, "all processors are equally fast"),
        ("12.0, 52.0", "12.0, 12.0", 13, "the task has no list of releases"),
        ("</tasks>", "", 16, "this is no XML"),
        ("duration=\"200000000\"", "duration=\"0\"", 2, "there is no such duration"),
        ("etm=\"wcet\"", "><x", 1, ""),
    ] {
        let text = THREE.replace(from, to);
        assert_ne!(text, THREE, "{from}");
        let error = read("three.xml", &text).expect_err(to);
        let problem = &error.0[0];
        assert!(problem.message.contains(what), "{to}: {error}");
        assert!(problem.line == line || what.is_empty(), "{to}: {error}");
    }
    let global = PARTITIONED.replace("P_RM.py", "EDF.py");
    let error = read("p.xml", &global).unwrap_err().to_string();
    assert!(error.contains("under `EDF` jobs go from CPU to CPU"), "{error}");
    let alone = PARTITIONED.replace(" followed_by=\"3\"", "");
    let notes = read("p.xml", &alone).unwrap().notes;
    assert!(notes.iter().any(|note| note.contains("nothing releases `Chained`")), "{notes:?}");
}
