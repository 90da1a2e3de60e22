//! Devices and plants against what the manual says of them.

use crate::{Fault, KINDS, Panel, Parameters, Rng, STEP, Setup, What, Wired};
use abi::device::{adc, can, encoder, gpio, pwm};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

fn wired(kind: &str, wires: &[&str], parameters: &[(&str, &str)], faults: &[Fault]) -> Wired {
    let text = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
    Wired {
        name: kind.to_string(),
        kind: kind.to_string(),
        parameters: Parameters(parameters.iter().map(text).collect()),
        wires: wires.iter().map(|wire| wire.to_string()).collect(),
        irq: Some(5),
        faults: faults.to_vec(),
    }
}

fn panel(plant: &str, devices: Vec<Wired>) -> Panel {
    let setup = Setup { plant: plant.to_string(), parameters: Parameters::default(), devices };
    Panel::new(&setup, &[], 1).unwrap_or_else(|error| panic!("{error}"))
}

/// A fault from the start and for ever.
fn always(what: What) -> Fault {
    Fault { what, after: None, lasts: None }
}

/// One after and for so many milliseconds.
fn within(what: What, after: u64, lasts: u64) -> Fault {
    Fault { what, after: Some(after * MS), lasts: Some(lasts * MS) }
}

/// A motor whose encoder has faults, driven for some time; what it counts each millisecond.
fn counts(faults: &[Fault]) -> Vec<i64> {
    let drive = wired("pwm", &["drive"], &[], &[]);
    let shaft = wired("encoder", &["angle"], &[("counts", "1000")], faults);
    let mut panel = panel("motor", vec![drive, shaft]);
    panel.write(0, pwm::DUTY, 50_000, 0);
    panel.write(0, pwm::CONTROL, pwm::ON, 0);
    (1..200).map(|ms| panel.read(1, encoder::COUNT, ms * MS) as i64).collect()
}

#[test]
fn faults_do_what_they_say() {
    let right = counts(&[]);
    assert!(right.is_sorted() && right[198] > 5_000, "{right:?}");
    let stuck = counts(&[within(What::Stuck, 50, 100)]);
    assert_eq!(stuck[..49], right[..49]);
    assert!(stuck[49..148].iter().all(|count| *count == stuck[49]), "{stuck:?}");
    assert_eq!(stuck[150..], right[150..]);
    let late = counts(&[always(What::Late(10 * MS))]);
    assert_eq!(late[10..], right[..189]);
    let noisy = counts(&[always(What::Noisy(10_000))]);
    let off = noisy.iter().zip(&right).map(|(a, b)| a.abs_diff(*b)).max();
    assert!((5..=11).contains(&off.expect("there are some")), "{off:?}");
    assert_eq!(noisy, counts(&[always(What::Noisy(10_000))]), "by the seed");
}

#[test]
fn a_lost_request_is_lost_until_the_device_asks_anew() {
    let mut panel =
        panel("loopback", vec![wired("gpio", &["a"], &[], &[within(What::Lost(1), 0, 5)])]);
    panel.write(0, gpio::DRIVEN, 1, 0);
    panel.write(0, gpio::RISES, 1, 0);
    let mut press = |ms: u64| {
        panel.write(0, gpio::OUT, 0, ms * MS);
        panel.pass_to(ms * MS + STEP);
        panel.write(0, gpio::OUT, 1, ms * MS + STEP);
        panel.pass_to(ms * MS + 3 * STEP);
        let lines = panel.lines();
        (lines, panel.read(0, gpio::EDGES, ms * MS + 3 * STEP))
    };
    assert_eq!(press(1), (0, 1), "the device knows");
    assert_eq!(press(6), (0, 1), "its reason is still there");
    panel.write(0, gpio::EDGES, 1, 7 * MS);
    assert_eq!(panel.lines(), 0);
    panel.write(0, gpio::OUT, 0, 8 * MS);
    panel.pass_to(9 * MS);
    panel.write(0, gpio::OUT, 1, 9 * MS);
    panel.pass_to(10 * MS);
    assert_eq!(panel.lines(), 1 << 5);
}

#[test]
fn a_frame_takes_the_bus_for_its_bits() {
    let mut panel =
        panel("loopback", vec![wired("can", &[], &[], &[]), wired("can", &[], &[], &[])]);
    for node in [0, 1] {
        panel.write(node, can::SEND_LEN, 2, 0);
        panel.write(node, can::CONTROL, can::SEND, 0);
    }
    let time = (can::BITS + 16) * can::BIT;
    let status = |panel: &mut Panel, node, at| panel.read(node, can::STATUS, at) & can::SENDING;
    assert_eq!(status(&mut panel, 0, time - 1), can::SENDING);
    assert_eq!(status(&mut panel, 0, time), 0);
    assert_eq!(status(&mut panel, 1, 2 * time - 1), can::SENDING, "it waits for the bus");
    assert_eq!(status(&mut panel, 1, 2 * time), 0);
    panel.write(0, can::SEND_ID, 0xffff, 2 * time);
    assert_eq!(panel.read(0, can::SEND_ID, 2 * time), 0x7ff);
}

#[test]
fn periods_lie_on_a_grid_however_late_they_are_looked_at() {
    let mut panel = panel("loopback", vec![wired("pwm", &["a"], &[], &[])]);
    panel.write(0, pwm::PERIOD, 1_000, 0);
    panel.write(0, pwm::CONTROL, pwm::ON | pwm::INTERRUPT, 0);
    assert_eq!(panel.next(), Some(1_000));
    // Ten seconds of periods that nothing looks at are one.
    panel.pass_to(10_000 * MS + 300);
    assert_eq!((panel.lines(), panel.next()), (1 << 5, None));
    panel.write(0, pwm::STATUS, pwm::ENDED, 10_000 * MS + 300);
    assert_eq!((panel.lines(), panel.next()), (0, Some(10_000 * MS + 1_000)));
}

#[test]
fn a_converter_measures_its_range() {
    let range = [("low", "-10"), ("high", "10")];
    let mut panel = panel("boiler", vec![wired("adc", &["temperature"], &range, &[])]);
    panel.write(0, adc::CONTROL, adc::START, 0);
    assert_eq!(panel.read(0, adc::STATUS, adc::TIME - 1), adc::BUSY);
    assert_eq!(panel.read(0, adc::STATUS, adc::TIME), adc::DONE);
    assert_eq!(panel.read(0, adc::RESULT, adc::TIME), adc::GREATEST, "20 degrees are above it");
    assert_eq!(panel.read(0, adc::STATUS, adc::TIME), 0);
}

#[test]
fn what_is_wrong_is_told() {
    let error = |plant: &str, device: Wired| {
        let setup = Setup { plant: plant.into(), devices: vec![device], ..Setup::default() };
        Panel::new(&setup, &[], 1).err().unwrap_or_default()
    };
    let right = || wired("pwm", &["drive"], &[], &[]);
    assert_eq!(error("motor", right()), "");
    for (plant, device, said) in [
        ("moter", right(), "no plant is called `moter`"),
        ("motor", wired("pwm", &["speeed"], &[], &[]), "the plant has no wire `speeed`"),
        ("motor", wired("pwn", &["drive"], &[], &[]), "no kind is called `pwn`"),
        ("motor", wired("pwm", &[], &[], &[]), "has one wire at most, not 0"),
        ("motor", wired("can", &["drive"], &[], &[]), "has 0 wires at most, not 1"),
        ("motor", wired("adc", &["angle"], &[("low", "x")], &[]), "`low` is no number: x"),
        ("motor", wired("adc", &["angle"], &[("low", "200")], &[]), "`low` is 200 and `high` 100"),
        ("motor", wired("gpio", &["reverse"], &[("low", "1")], &[]), "no parameter `low`"),
    ] {
        let error = error(plant, device);
        assert!(error.contains(said), "{error}");
    }
}

fn any_panel(faults: &[Fault]) -> Panel {
    let wires: [&[&str]; KINDS.len()] = [&["a"], &["a"], &["b"], &["a", "b", "c"], &[]];
    let device = |(kind, wires): (&&str, &&[&str])| Wired {
        faults: faults.to_vec(),
        ..wired(kind, wires, &[], &[])
    };
    panel("loopback", KINDS.iter().zip(&wires).map(device).collect())
}

proptest! {
    /// Whatever programs write: time goes on, and what is to come is to come.
    #[test]
    fn no_access_stops_time(
        accesses in prop::collection::vec((0..KINDS.len(), 0usize..10, any::<u64>(), 0..MS), 1..80),
        small in any::<bool>(),
    ) {
        let lasting = [What::Late(3 * MS), What::Noisy(1_000_000), What::Lost(2)].map(always);
        let mut panel = any_panel(&[&lasting[..], &[within(What::Stuck, 5, 5)]].concat());
        let mut now = 0;
        for (device, register, value, passes) in accesses {
            now += passes;
            panel.write(device, register, if small { value % 8 } else { value }, now);
            panel.read(device, register, now);
            panel.lines();
            prop_assert!(panel.next().is_none_or(|next| next > now));
        }
    }

    /// A plant does the same, whenever it is looked at.
    #[test]
    fn looking_changes_nothing(
        looks in prop::collection::vec(0..3 * STEP, 1..200),
        seed in any::<u64>(),
    ) {
        let run = |looks: &[u64]| {
            let [noisy, late] = [What::Noisy(100_000), What::Late(MS)].map(always);
            let drive = wired("pwm", &["drive"], &[], &[noisy]);
            let setup = Setup {
                plant: "motor".to_string(),
                devices: vec![drive, wired("encoder", &["angle"], &[], &[noisy, late])],
                ..Setup::default()
            };
            let mut panel = Panel::new(&setup, &[], seed).expect("it is right");
            panel.record_every(STEP);
            panel.write(0, pwm::DUTY, 20_000, 0);
            panel.write(0, pwm::CONTROL, pwm::ON, 0);
            let mut now = 0;
            for look in looks {
                now += look;
                panel.read(1, encoder::COUNT, now);
            }
            panel.pass_to(600 * STEP);
            panel.take_record()
        };
        prop_assert_eq!(run(&looks), run(&[]));
    }
}

#[test]
fn chances_are_as_often_as_they_say() {
    let dice = Rng::new(3);
    let hits = (0..30_000).filter(|_| dice.once_in(3)).count();
    assert!((9_500..10_500).contains(&hits), "{hits}");
    assert!(!dice.once_in(0));
}
