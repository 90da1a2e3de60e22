//! The start of a device, against a model of its registers.

use std::cell::{Cell, RefCell};
use virtio::mmio::{Device, Registers, Unusable, VERSION_1};
use virtio::queue::Layout;

const KIND: u32 = 4;
const FEATURE: u64 = 1 << 5;

/// A device that obeys, with these registers.
struct Model {
    first: [u32; 3],
    features: u64,
    agrees: bool,
    most: u32,
    status: Cell<u32>,
    selected: Cell<u32>,
    chosen: Cell<u64>,
    writes: RefCell<Vec<(usize, u32)>>,
    /// Its configuration changes all the time.
    restless: bool,
    generation: Cell<u32>,
    /// Its reset does not end.
    stuck: bool,
    /// What it interrupts for.
    reasons: u32,
}

impl Model {
    fn new() -> Model {
        Model {
            first: [0x7472_6976, 2, KIND],
            features: VERSION_1 | FEATURE,
            agrees: true,
            most: 64,
            status: Cell::new(0),
            selected: Cell::new(0),
            chosen: Cell::new(0),
            writes: RefCell::default(),
            restless: false,
            generation: Cell::new(0),
            stuck: false,
            reasons: 1,
        }
    }

    fn written(&self, offset: usize) -> Vec<u32> {
        let writes = self.writes.borrow();
        writes.iter().filter(|(at, _)| *at == offset).map(|(_, value)| *value).collect()
    }
}

impl Registers for &Model {
    fn read(&self, offset: usize) -> u32 {
        match offset {
            0..=8 => self.first[offset / 4],
            0x10 => (self.features >> (32 * self.selected.get())) as u32,
            0x34 => self.most,
            0x44 => 0,
            0x60 => self.reasons,
            0xfc => {
                self.generation.set(self.generation.get() + u32::from(self.restless));
                self.generation.get()
            }
            0x100 => 0x9abc_def0,
            0x104 => 0x1234_5678,
            0x70 => self.status.get(),
            _ => panic!("a driver does not read {offset:#x}"),
        }
    }

    fn write(&self, offset: usize, value: u32) {
        self.writes.borrow_mut().push((offset, value));
        match offset {
            0x14 | 0x24 => self.selected.set(value),
            0x20 => {
                let half = u64::from(value) << (32 * self.selected.get());
                self.chosen.set(self.chosen.get() | half);
            }
            0x70 if self.stuck && value == 0 => {}
            0x70 if self.agrees => self.status.set(value),
            0x70 => self.status.set(value & !8),
            _ => {}
        }
    }
}

#[test]
fn a_device_begins_in_the_order_that_the_specification_wants() {
    let model = Model::new();
    let (device, got) = Device::begin(&model, KIND, FEATURE | 1 << 40).expect("it is usable");
    assert_eq!((got, model.chosen.get()), (VERSION_1 | FEATURE, VERSION_1 | FEATURE));
    device.set_queue(0, 8, 0x1_2345_6000).expect("there is a queue");
    device.start();
    assert_eq!(model.written(0x70), [0, 1, 3, 11, 15]);
    let Layout { available, used, .. } = Layout::of(8);
    for (register, part) in [(0x80, 0), (0x90, available), (0xa0, used)] {
        assert_eq!(model.written(register), [(0x2345_6000 + part) as u32]);
        assert_eq!(model.written(register + 4), [1]);
    }
    assert_eq!((model.written(0x38), model.written(0x44)), (vec![8], vec![1]));
    device.notify(0);
    assert_eq!((device.acknowledge(), model.written(0x64)), (false, vec![1]));
}

#[test]
fn what_cannot_be_used_is_told() {
    let begin = |model: &Model| Device::begin(model, KIND, 0).err();
    assert_eq!(begin(&Model::new()), None);
    assert_eq!(begin(&Model { first: [0, 2, KIND], ..Model::new() }), Some(Unusable::NoPlace));
    let old = Model { first: [0x7472_6976, 1, KIND], ..Model::new() };
    assert_eq!(begin(&old), Some(Unusable::Version(1)));
    let other = Model { first: [0x7472_6976, 2, 0], ..Model::new() };
    assert_eq!(begin(&other), Some(Unusable::Kind(0)));
    let legacy = Model { features: FEATURE, ..Model::new() };
    assert_eq!(begin(&legacy), Some(Unusable::Features));
    assert_eq!(legacy.status.get() & 128, 128, "it learns that it is given up");
    assert_eq!(begin(&Model { agrees: false, ..Model::new() }), Some(Unusable::Features));
    let stuck = Model { stuck: true, status: Cell::new(15), ..Model::new() };
    assert_eq!(begin(&stuck), Some(Unusable::Reset));
    let small = Model { most: 4, ..Model::new() };
    let (device, _) = Device::begin(&small, KIND, 0).expect("it is usable");
    assert_eq!(device.set_queue(0, 8, 0), Err(Unusable::Queue(0)));
}

#[test]
fn a_configuration_is_read_as_a_whole() {
    let read = |model: &Model| {
        let (device, _) = Device::begin(model, KIND, 0).expect("it is usable");
        device.configuration(0)
    };
    assert_eq!(read(&Model::new()), Ok(0x1234_5678_9abc_def0));
    let restless = Model { restless: true, ..Model::new() };
    assert_eq!(read(&restless), Err(Unusable::Configuration));
}

#[test]
fn a_device_that_needs_a_reset_is_broken() {
    for (reasons, status, broken) in [(1, 15, false), (2, 15, false), (3, 15 | 64, true)] {
        let model = Model { reasons, ..Model::new() };
        let (device, _) = Device::begin(&model, KIND, 0).expect("it is usable");
        model.status.set(status);
        assert_eq!(device.acknowledge(), broken, "{reasons}, {status}");
        assert_eq!(model.written(0x64), [reasons]);
    }
}
