//! Devices that the emulator is given.

#[path = "support/mod.rs"]
mod support;

use abi::boot::{Cache, NO_OWNER, Record};
use manifest::{Function, Problems, System, mapped, pack, parse};

const SYSTEM: &str = "[system]\nname = \"board\"\n\
     [[notification]]\nname = \"bell\"\n\
     [[domain]]\nname = \"driver\"\nprogram = \"greeter\"\npriority = 1\n";
const DICE: &str = "[[device]]\nname = \"dice\"\nkind = \"virtio-rng\"\n";
const DISK: &str = "[[device]]\nname = \"vda\"\nkind = \"virtio-blk\"\ndisk = { size = \"64K\" }\n";
const CARD: &str = "[[device]]\nname = \"card\"\nkind = \"virtio-net\"\nforward = [7, 53]\n";

fn read(text: &str) -> Result<System, Problems> {
    parse("board.toml", &format!("{SYSTEM}{text}"))
}

fn system(text: &str) -> System {
    read(text).unwrap_or_else(|problems| panic!("{problems}"))
}

/// An interrupt of a device, or of a line.
fn interrupt(name: &str, of: &str) -> String {
    format!("[[interrupt]]\nname = \"{name}\"\n{of}\nnotification = \"bell\"\n")
}

#[test]
fn a_device_is_registers_in_a_page_and_a_line() {
    let maps = "maps = [{ memory = \"vda\", rights = \"rw\" }, \
                { memory = \"card\", rights = \"rw\" }]\n";
    let line = interrupt("frames", "device = \"card\"");
    let system = system(&format!("{maps}{DICE}{DISK}{CARD}{line}"));
    let places: Vec<u32> = system.attached.iter().map(|device| device.place).collect();
    assert_eq!((places, system.interrupts[0].irq), (vec![0, 1, 2], 18));
    // Each driver finds its own registers, in pages of which no two are at one address.
    let found: Vec<_> = mapped(&system, &system.domains[0]).collect();
    let first = found[0].1 - 0x200;
    assert_eq!(found[0], ("vda", first + 0x200, 0x200));
    assert_eq!(found[1], ("card", first + 0x2000 + 0x400, 0x200));
    let archive = pack(&system, &support::program, 0).unwrap_or_else(|wrong| panic!("{wrong}"));
    let words: Vec<u64> =
        archive.bytes.as_chunks().0.iter().copied().map(u64::from_le_bytes).collect();
    let page = [Record::Device.head(), NO_OWNER, 1, Cache::Uncached as u64, 0xfeb0_0000];
    assert_eq!(words.windows(page.len()).filter(|some| *some == page).count(), 3);
    let summary = system.summary();
    assert!(summary.contains("card    virtio-net  18   frames"), "{summary}");
    assert!(summary.contains("4K at 0xfeb00400, uncached"), "{summary}");
}

#[test]
fn a_place_whose_line_is_taken_stays_free() {
    let lines = interrupt("own", "irq = 16") + &interrupt("dice", "device = \"dice\"");
    let system = system(&format!("{DICE}{lines}"));
    assert_eq!((system.attached[0].place, system.interrupts[1].irq), (1, 17));
}

#[test]
fn what_is_behind_a_device_is_as_the_manifest_says() {
    let system = system(&format!("{DISK}{CARD}"));
    let [disk, card] = [0, 1].map(|index| &system.attached[index].function);
    assert!(matches!(disk, Function::Disk { contents, bytes: 0x1_0000 } if contents.is_empty()));
    assert!(matches!(card, Function::Network { forward } if forward[..] == [7, 53]));
}

#[test]
fn what_is_wrong_is_told() {
    let many: String = (0..9).map(|n| DICE.replace("dice", &format!("dice-{n}"))).collect();
    let drive = "[[device]]\nname = \"drive\"\nkind = \"pwm\"\nwire = \"a\"\n";
    let page = "[[memory]]\nname = \"page\"\nsize = \"4K\"\nat = 0xfeb00000\n";
    for (text, said) in [
        (many, "the board has 8 places for devices"),
        (format!("{DICE}{drive}"), "no machine has this device beside simulated ones"),
        (format!("{DICE}[plant]\nmodel = \"motor\"\n"), "beside simulated ones"),
        (DICE.replace("-rng", "-gpu"), "there is no kind of device `virtio-gpu`"),
        (format!("{DICE}wire = \"a\"\n"), "a device of this kind has no `wire`"),
        (format!("{DICE}disk = {{ size = \"4K\" }}\n"), "has no `disk`"),
        (format!("{DISK}forward = [7]\n"), "has no `forward`"),
        (format!("{drive}forward = [7]\n"), "this device has no such key"),
        (DISK.replace("disk = { size = \"64K\" }", ""), "this device has no `disk`"),
        (DISK.replace("64K", "63K"), "is not a multiple of 4K"),
        (DISK.replace("size = \"64K\"", ""), "`size` is missing"),
        (DISK.replace("size = \"64K\"", "files = \"nowhere\""), "cannot be packed"),
        (CARD.replace("53", "0"), "`0` is out of range"),
        (format!("{DICE}{page}"), "the devices of the board lie there"),
    ] {
        let problems = read(&text).expect_err(said).to_string();
        assert!(problems.contains(said), "{said}:\n{problems}");
        assert!(problems.lines().all(|line| line.chars().count() <= 80), "{problems}");
    }
}
