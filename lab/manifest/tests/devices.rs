//! What a system has to control.

use abi::Rights;
use manifest::{Problems, System, Target, parse};

const SYSTEM: &str = "[system]\nname = \"plant\"\n\
     [[domain]]\nname = \"only\"\nprogram = \"idle\"\npriority = 1\n\
     maps = [{ memory = \"drive\", rights = \"rw\" }]\n\
     [[notification]]\nname = \"bell\"\n\
     [[memory]]\nname = \"shared\"\nsize = \"4K\"\n";
const DRIVE: &str = "[[device]]\nname = \"drive\"\nkind = \"pwm\"\nwire = \"drive\"\n";
const MOTOR: &str = "[plant]\nmodel = \"motor\"\nparameters = { lag = 0.5, load = 3 }\n";

fn read(text: &str) -> Result<System, Problems> {
    parse("plant.toml", &format!("{SYSTEM}{text}"))
}

#[test]
fn a_device_is_memory_with_a_line() {
    let interrupt = "[[interrupt]]\nname = \"pulse\"\ndevice = \"drive\"\nnotification = \"bell\"\n\
                     [[interrupt]]\nname = \"other\"\nirq = 23\n\
                     notification = \"bell\"\nbadge = 2\n";
    let text = format!("{DRIVE}{MOTOR}{interrupt}");
    let system = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let devices = system.devices.as_ref().expect("there are devices");
    assert_eq!((devices.setup.plant.as_str(), &devices.memories[..]), ("motor", &[1][..]));
    assert_eq!(devices.setup.parameters.number("lag", 0.0), Ok(0.5));
    assert_eq!(system.domains[0].maps[0].memory, 1);
    assert_eq!(system.memories[1].bytes, 4096);
    let line = devices.setup.devices[0].irq.map(u32::from);
    assert_eq!((line, system.interrupts[0].irq), (Some(22), 22), "23 is taken");
    assert!(system.summary().contains("drive   pwm   pulse      drive"), "{}", system.summary());
    assert!(system.domains.iter().all(|domain| {
        domain.caps.iter().all(|cap| !matches!(cap.target, Target::Interrupt(_)))
    }));
}

#[test]
fn no_device_gets_a_line_of_the_machines_own() {
    let one = |n: u32| {
        let device = DRIVE.replace("\"drive\"\nkind", &format!("\"d{n}\"\nkind"));
        let interrupt = format!("[[interrupt]]\nname = \"i{n}\"\ndevice = \"d{n}\"\n");
        format!("{device}{interrupt}notification = \"bell\"\n")
    };
    let many = |count| format!("{DRIVE}{}{MOTOR}", (0..count).map(one).collect::<String>());
    let system = read(&many(22)).unwrap_or_else(|problems| panic!("{problems}"));
    let mut lines: Vec<u32> = system.interrupts.iter().map(|it| it.irq).collect();
    lines.sort_unstable();
    assert_eq!(lines, (0..24).filter(|line| ![2, 4].contains(line)).collect::<Vec<_>>());
    let problems = read(&many(23)).expect_err("there are no more").to_string();
    assert!(problems.contains("no line is free for this one"), "{problems}");
}

#[test]
fn no_domain_can_destroy_a_device() {
    let caps = "caps = [{ name = \"it\", memory = \"drive\" },\
                { name = \"other\", memory = \"shared\" }]\n[[notification]]";
    let text = format!("{SYSTEM}{DRIVE}{MOTOR}").replace("[[notification]]", caps);
    let system = parse("plant.toml", &text).unwrap_or_else(|problems| panic!("{problems}"));
    let may: Vec<bool> =
        system.domains[0].caps.iter().map(|cap| cap.rights.contains(Rights::DESTROY)).collect();
    assert_eq!(may, [false, true]);
}

#[test]
fn devices_without_a_plant_lead_back() {
    let text = DRIVE.replace("wire = \"drive\"", "wire = \"a\"");
    let system = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(system.devices.expect("there are devices").setup.plant, "loopback");
}

#[test]
fn a_plant_of_ones_own_has_wires_of_its_own() {
    let plant = "[plant]\nmodel = { crate = \"crane\", entry = \"model::new\" }\n";
    let text = format!("{}{plant}", DRIVE.replace("\"drive\"\n", "\"hoist\"\n"));
    let text = text.replace("memory = \"drive\"", "memory = \"hoist\"");
    let text = format!("{SYSTEM}{text}").replace("memory = \"drive\"", "memory = \"hoist\"");
    let system = parse("plant.toml", &text).unwrap_or_else(|problems| panic!("{problems}"));
    let devices = system.devices.expect("there are devices");
    assert_eq!(devices.plant, Some(("crane".to_string(), "model::new".to_string())));
}

#[test]
fn what_is_wrong_is_told() {
    let device = |from: &str, to: &str| format!("{}{MOTOR}", DRIVE.replace(from, to));
    let interrupt = |keys: &str| {
        format!("{DRIVE}{MOTOR}[[interrupt]]\nname = \"pulse\"\nnotification = \"bell\"\n{keys}\n")
    };
    for (text, said) in [
        (device("pwm", "pwn"), "there is no kind of device `pwn`"),
        (device("wire = \"drive\"", "wire = \"wheel\""), "the plant has no wire `wheel`"),
        (device("wire = \"drive\"", ""), "has one wire at most, not 0"),
        (device("wire = \"drive\"", "wire = \"drive\"\nwires = [\"drive\"]"), "both `wire` and"),
        (device("wire = \"drive\"", "wire = \"drive\"\nparameters = { low = \"x\" }"), "no number"),
        (device("wire = \"drive\"", "wire = \"drive\"\nparameters = { low = 1 }"), "no parameter"),
        (format!("{DRIVE}{DRIVE}{MOTOR}"), "two memories are called `drive`"),
        (format!("{DRIVE}{}", MOTOR.replace("motor", "moter")), "no plant is called `moter`"),
        (format!("{DRIVE}{}", MOTOR.replace("lag", "leg")), "there is no parameter `leg`"),
        (format!("{DRIVE}{}", MOTOR.replace("\"motor\"", "{ elf = \"x\" }")), "this is no plant"),
        (interrupt("device = \"drives\""), "no device is called `drives`"),
        (interrupt("device = \"drive\"\nirq = 3"), "of one line, or of one device"),
        (interrupt(""), "of one line, or of one device"),
    ] {
        let problems = read(&text).expect_err(said).to_string();
        assert!(problems.contains(said), "{said}:\n{problems}");
        assert!(problems.lines().all(|line| line.chars().count() <= 80), "{problems}");
    }
    let alone = SYSTEM.replace("memory = \"drive\"", "memory = \"shared\"");
    let problems = parse("plant.toml", &format!("{alone}{MOTOR}")).expect_err("no device");
    assert!(problems.to_string().contains("no device acts on it"), "{problems}");
}
