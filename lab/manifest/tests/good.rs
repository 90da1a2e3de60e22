//! Right manifests, and what is made of them.

mod support;

use abi::reservation::Inheritance;
use expect_test::expect;
use manifest::{Target, parse};

#[test]
fn threads_take_turns_unless_there_is_no_slice() {
    let text = "[system]\nname = \"small\"\ntick = \"1s\"\ntimeslice = \"none\"\n\
                [[domain]]\nname = \"only\"\nprogram = \"idle\"\npriority = 1\n";
    let system = parse("small.toml", text).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(system.timeslice / system.tick, u64::from(abi::call::NO_SLICE));
    assert!(system.summary().contains("time slice none"), "{}", system.summary());
}

#[test]
fn the_smallest_manifest_has_defaults() {
    let text = "[system]\nname = \"small\"\n\
                [[domain]]\nname = \"only\"\nprogram = \"idle\"\npriority = 1\n";
    let system = parse("small.toml", text).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!((system.kernel.as_str(), system.memory), ("fastpath", 256 << 20));
    assert_eq!((system.tick, system.timeslice), (1_000_000, 10_000_000));
    let domain = &system.domains[0];
    assert_eq!((domain.priority, domain.max_priority), (1, 1));
    assert_eq!((domain.slots, domain.stack, domain.threads), (64, 16 << 10, 1));
    assert!(domain.caps.is_empty() && domain.maps.is_empty() && domain.fault_handler.is_none());
    expect![[r#"
        kernel fastpath, 256M of memory, tick 1ms, time slice 10ms

        domain  program  priority  max  threads  slots
        only    idle            1    1        1   0/64

        pool           boot  quotas  used  size
        domains           1       0     1     1
        threads           1       0     1     1
        endpoints         0       0     0     0
        notifications     0       0     0     0
        interrupts        0       0     0     0
        memories          6       0     6     6
        mappings          6       0     6     6
        timers            0       0     0     0
        frames            0       0     0     0
        tables           11       0    11    11
        slots            64       0    64    64
        reservations      0       0     0     0
        trains            0       0     0     0
        stacks            0       0     0     0
    "#]]
    .assert_eq(&system.summary());
}

#[test]
fn a_system_says_what_becomes_of_a_leaf_while_another_is_lent() {
    let said = |line: &str| {
        let text = format!(
            "[system]\nname = \"small\"\n{line}\n\
             [[domain]]\nname = \"only\"\nprogram = \"idle\"\npriority = 1\n"
        );
        parse("small.toml", &text).map(|system| system.inheritance)
    };
    assert_eq!(said("").ok(), Some(Inheritance::Charged));
    assert_eq!(said("inheritance = \"none\"").ok(), Some(Inheritance::None));
    assert_eq!(said("inheritance = \"charged\"").ok(), Some(Inheritance::Charged));
    assert_eq!(said("inheritance = \"leaves\"").ok(), Some(Inheritance::Leaves));
    assert!(said("inheritance = \"some\"").is_err());
}

#[test]
fn the_latency_that_a_manifest_asks_for_is_in_nanoseconds() {
    let said = |line: &str| {
        let text = format!(
            "[system]\n{line}\nname = \"small\"\n\
             [[domain]]\nname = \"only\"\nprogram = \"idle\"\npriority = 1\n"
        );
        parse("small.toml", &text).map(|system| system.max_latency)
    };
    assert_eq!(said("").unwrap(), None);
    let at = |line: &str| said(line).unwrap().map(|(ns, at)| (ns, at.start));
    assert_eq!(at("max_latency = \"1.5us\""), Some((1_500, "[system]\nmax_latency = ".len())));
    assert_eq!(at("max_latency = \"900ns\"").map(|it| it.0), Some(900));
    assert!(said("max_latency = \"2 seconds\"").is_err());
    assert!(said("max_latency = 2").is_err());
}

#[test]
fn a_domain_says_which_cpus_it_may_use() {
    let text = |cpus: &str| {
        format!(
            "[system]\nname = \"small\"\ncpus = 4\n\
             [[domain]]\nname = \"only\"\nprogram = \"idle\"\npriority = 1\ncpu = 2\n{cpus}\n"
        )
    };
    let cpus = |line| parse("small.toml", &text(line)).expect("it is right").domains[0].cpus;
    assert_eq!(cpus(""), None);
    assert_eq!(cpus("cpus = [3, 2]"), Some(0b1100));
}

#[test]
fn a_rich_manifest_is_resolved() {
    let system = parse("rich.toml", support::RICH).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(system.domains[0].caps[0].target, Target::Endpoint(0));
    assert_eq!(system.domains[0].caps[4].target, Target::Thread(1));
    assert_eq!(system.timers[0].badge, 1 << 63);
    assert_eq!(system.domains[0].fault_handler.as_ref().map(|fault| fault.badge), Some(3));
    expect![[r#"
        kernel tree, 128M of memory, tick 500us, time slice 5ms

        domain   program  priority  max  threads  slots
        server   greeter       100  120        3  11/16
        client   visitor         0    0        1   2/64
        camera   visitor         3    3        1   0/64
        watcher  visitor         9    9        1   0/64

        reservation     share                           limit                  policy or domains
        cpu0                                                                   fixed priorities
          flight        priority 300                    3ms in 10ms, periodic  EDF
            control     due in 4ms                      1ms in 5ms, sporadic   server
          -             priority 0                                             client
          -             priority 9                                             watcher
        cpu1                                                                   fixed priorities
          frames        priority 256                                           time partitions
            vision      windows 8ms of 20ms
            rest        background, priority 7                                 service curves
              pictures  50% for 10ms, 20.5%, share 30%
              sounds    share 10%
              guest     40%                             1ms in 2ms, periodic
            camera      windows 2ms of 20ms                                    camera

        domain  slot  capability    object              rights
        server  1     peer          endpoint greeting   send grant, badge 0x7
        server  2     console       console             control copy
        server  3     system        system              control copy
        server  4     other         domain client       control copy revoke destroy
        server  5     other-thread  thread client       control destroy
        server  6     mem           memory recording    read write copy
        server  7     keys          notification keys   signal, badge 0x2
        server  8     uart          interrupt uart      control copy revoke destroy
        server  9     alarm         timer alarm         control copy revoke destroy
        server  10    cpu0          root of CPU 0       control reserve divide copy revoke
        server  11    frames        reservation frames  control divide
        client  1     greeting      endpoint greeting   receive
        client  2     faults        endpoint faults     receive

        memory     size  mapped by
        recording  4M    server (rw), the host
        shared     12K   server (rx), client (r)
        shaft      4K
        pins       4K

        device  kind     interrupt  wires of motor
        shaft   encoder  turned     angle
        pins    gpio                reverse, at_stop

        pool           boot  quotas  used  size
        domains           4       1     5     5
        threads           4       2     6  4096
        endpoints         2       0     2   100
        notifications     1       0     1     1
        interrupts        2       0     2     2
        memories         30       0    30    30
        mappings         29       0    29    29
        timers            1       0     1     1
        frames            0      16    16    16
        tables           50       0    50    50
        slots           208      32   240   240
        reservations      9       4    13    13
        trains            0       0     0     0
        stacks            0       0     0     0
    "#]]
    .assert_eq(&system.summary());
}

#[test]
fn every_project_system_is_right() {
    for path in support::systems() {
        let system = manifest::load(&path).unwrap_or_else(|problem| panic!("{problem}"));
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        assert_eq!(Some(system.name.as_str()), stem, "a system is called as its file is");
        assert!(!system.about.is_empty(), "{} says what it is about", system.name);
        assert!(system.summary().lines().all(|line| line.chars().count() <= 100));
    }
}

#[test]
fn a_system_can_begin_with_classes_of_service_curves() {
    let text = "[system]\nname = \"classes\"\ndefault_classes = true\ncpus = 2\n\
                [[reservation]]\nname = \"video\"\nin = \"C1\"\ncurve = \"4%\"\n\
                [[domain]]\nname = \"one\"\nprogram = \"idle\"\npriority = 1\n\
                [[domain]]\nname = \"two\"\nprogram = \"idle\"\npriority = 1\n\
                reservation = \"video\"\n\
                [[domain]]\nname = \"three\"\nprogram = \"idle\"\npriority = 1\ncpu = 1\n";
    let system = parse("classes.toml", text).unwrap_or_else(|problem| panic!("{problem}"));
    let tree = system.summary();
    let tree: Vec<&str> =
        tree.lines().skip_while(|line| !line.starts_with("reservation")).collect();
    expect![[r#"
        reservation  share         limit  policy or domains
        cpu0                              fixed priorities
          hfsc       priority 256         service curves
            C0       90%                  service curves
              one    0.1%                 one
            C1       10%                  service curves
              video  4%                   two"#]]
    .assert_eq(&tree[..7].join("\n"));
    assert_eq!(system.domains[2].reservation, None, "it runs on another CPU");
}
