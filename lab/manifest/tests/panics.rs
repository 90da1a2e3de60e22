//! Where programs leave why they panicked that have neither a log nor a console.

mod support;

use abi::object::Resource;
use manifest::{System, Target, pack, parse};

/// Domains that tell by a console or a log, one that does not, and a supervised one, beside
/// pools without room for more.
const TEXT: &str = r#"
[system]
name = "quiet"

[pools]
memories = 40
mappings = 40

[[domain]]
name = "loud"
program = "echo"
priority = 1
caps = [{ name = "console", console = true }]

[[domain]]
name = "noted"
program = "echo"
priority = 1
log = "4K"

[[domain]]
name = "mute"
program = "echo"
priority = 1

[[domain]]
name = "child"
program = "echo"
priority = 1
restart = "on-failure"
"#;

#[test]
fn programs_without_log_and_console_get_a_place_for_the_reason() {
    let mut system = parse("quiet.toml", TEXT).unwrap_or_else(|wrong| panic!("{wrong}"));
    let before = system.clone();
    system.add_panics();
    let place = |name: &str| {
        let domain = system.domains.iter().find(|domain| domain.name == name).unwrap();
        system.panics_of(domain).map(|memory| memory.name.clone())
    };
    assert_eq!([place("loud"), place("noted"), place("supervisor")], [None, None, None]);
    assert_eq!(place("mute").as_deref(), Some("panics-mute"));
    assert_eq!(place("child").as_deref(), Some("panics-child"));
    let maker = &system.domains[system.supervisor.unwrap()];
    let held = maker.caps.iter().find(|cap| cap.name == "child.map.panics-child").unwrap();
    let memory = system.memories.iter().position(|memory| memory.name == "panics-child");
    assert_eq!(Some(held.target), memory.map(Target::Memory));
    assert!(system.memories[memory.unwrap()].host);
    for resource in [Resource::Memories, Resource::Mappings] {
        let given = system.pools[resource as usize].given_at.is_some();
        assert!(given, "{resource:?}: what a manifest gives stays given");
    }
    let packed = |system: &System| pack(system, &support::program, 1).unwrap();
    let (then, now) = (packed(&before), packed(&system));
    for (then, now) in then.pools.iter().zip(&now.pools) {
        let spare = |pool: &manifest::Pool| pool.size - pool.used();
        assert!(spare(now) >= spare(then), "as much room as before: {then:?}, {now:?}");
    }
    let key = b"\npanics=";
    let told = |bytes: &[u8]| bytes.windows(key.len()).filter(|part| *part == key).count();
    assert_eq!((told(&then.bytes), told(&now.bytes)), (0, 2), "programs are told where it is");
}
