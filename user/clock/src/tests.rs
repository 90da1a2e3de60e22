use super::*;

/// A clock that is to change while it is looked at.
struct Fake {
    registers: [u8; 128],
    /// What it has behind so many reads more.
    next: Option<(u32, [u8; 128])>,
    /// Reads of the status before it stops to say that it changes.
    busy: u32,
    pauses: u32,
}

impl Registers for Fake {
    fn read(&mut self, register: u8) -> u8 {
        if let Some((left, registers)) = self.next {
            self.next = left.checked_sub(1).map(|left| (left, registers));
            if left == 0 {
                self.registers = registers;
            }
        }
        if register == 0xa && self.busy > 0 {
            self.busy -= 1;
            return 0x80;
        }
        self.registers[usize::from(register)]
    }

    fn pause(&mut self) {
        self.pauses += 1;
    }
}

/// Registers with a date, from century to second, as they stand there.
fn registers(date: [u8; 7], format: u8) -> [u8; 128] {
    let mut registers = [0; 128];
    for (at, value) in [0x32, 9, 8, 7, 4, 2, 0].into_iter().zip(date) {
        registers[at] = value;
    }
    registers[0xb] = format;
    registers
}

fn fake(date: [u8; 7], format: u8) -> Fake {
    Fake { registers: registers(date, format), next: None, busy: 0, pauses: 0 }
}

fn shown(date: [u8; 7], format: u8) -> Result<u64, NoTime> {
    read(&mut fake(date, format))
}

/// The first second of 2026.
const NEW_YEAR: u64 = 1_767_225_600;

#[test]
fn dates_are_read_in_every_format() {
    let hours = 13 * 3600 + 45 * 60 + 59;
    for (hour, format) in [(0x13, 2), (13, 6), (0x81, 0), (0x81, 4)] {
        let decimal = format & 4 == 0;
        let of = |number: u8| if decimal { ((number / 10) << 4) | (number % 10) } else { number };
        let date = [of(20), of(26), 1, 1, hour, of(45), of(59)];
        assert_eq!(shown(date, format), Ok(NEW_YEAR + hours), "format {format}");
    }
    // Twelve is the first hour of each half of a day.
    assert_eq!(shown([0x20, 0x26, 1, 1, 0x12, 0, 0], 0), Ok(NEW_YEAR));
    assert_eq!(shown([0x20, 0x26, 1, 1, 0x92, 0, 0], 0), Ok(NEW_YEAR + 12 * 3600));
    assert_eq!(shown([0x20, 0x26, 1, 1, 0x8c, 0, 0], 0), Err(NoTime::Unset));
    assert_eq!(shown([20, 26, 1, 1, 0x8c, 0, 0], 4), Ok(NEW_YEAR + 12 * 3600));
}

#[test]
fn seconds_are_counted_over_leap_years() {
    for (date, seconds) in [
        ([0x19, 0x70, 1, 1, 0, 0, 0], 0),
        ([0x19, 0x99, 0x12, 0x31, 0x23, 0x59, 0x59], 946_684_799),
        ([0x20, 0, 2, 0x29, 0, 0, 0], 951_782_400),
        ([0x20, 0, 3, 1, 0, 0, 0], 951_868_800),
        ([0x20, 0x24, 0x12, 0x31, 0, 0, 0], 1_735_603_200),
        ([0x21, 0, 2, 0x28, 0, 0, 0], 4_107_456_000),
        ([0x21, 0, 3, 1, 0, 0, 0], 4_107_542_400),
    ] {
        assert_eq!(shown(date, 2), Ok(seconds), "{date:x?}");
    }
}

#[test]
fn a_clock_without_a_century_is_of_these_years() {
    for century in [0, 0xff, 0x11] {
        assert_eq!(shown([century, 0x26, 1, 1, 0, 0, 0], 2), Ok(NEW_YEAR));
        assert_eq!(shown([century, 0x70, 1, 1, 0, 0, 0], 2), Ok(0));
    }
}

#[test]
fn what_is_no_date_is_told() {
    for date in [
        [0; 7],
        [0xff; 7],
        [0x20, 0x26, 0, 1, 0, 0, 0],
        [0x20, 0x26, 0x13, 1, 0, 0, 0],
        [0x20, 0x26, 4, 0x31, 0, 0, 0],
        [0x21, 0, 2, 0x29, 0, 0, 0],
        [0x20, 0x26, 1, 1, 0x24, 0, 0],
        [0x20, 0x26, 1, 1, 0, 0x60, 0],
        [0x20, 0x26, 1, 1, 0, 0, 0x60],
        [0x20, 0x26, 1, 1, 0, 0, 0xa],
        [0x19, 0x69, 1, 1, 0, 0, 0],
    ] {
        assert_eq!(shown(date, 2), Err(NoTime::Unset), "{date:x?}");
    }
}

#[test]
fn a_change_at_any_moment_is_not_half_seen() {
    let (old, new) = ([0x20, 0x25, 0x12, 0x31, 0x23, 0x59, 0x59], [0x20, 0x26, 1, 1, 0, 0, 0]);
    for reads in 0..40 {
        let mut clock = fake(old, 2);
        clock.next = Some((reads, registers(new, 2)));
        let seconds = read(&mut clock).expect("it is set");
        assert!([NEW_YEAR - 1, NEW_YEAR].contains(&seconds), "{seconds} behind {reads} reads");
    }
}

#[test]
fn an_update_is_waited_for_but_not_for_ever() {
    let mut clock = fake([0x20, 0x26, 1, 1, 0, 0, 0], 2);
    clock.busy = 3;
    assert_eq!((read(&mut clock), clock.pauses), (Ok(NEW_YEAR), 3));
    clock.busy = 1000;
    assert_eq!(read(&mut clock), Err(NoTime::Changing));
    assert!(clock.pauses < 20, "{}", clock.pauses);
}
