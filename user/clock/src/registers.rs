//! Reading the clock while it goes on.

use crate::NoTime;
use crate::calendar::Date;

/// Numbers of registers: seconds, minutes, hours, day of the month, month, year of the century.
const DATE: [u8; 6] = [0, 2, 4, 7, 8, 9];
/// The register that PCs keep the century in, if they do.
const CENTURY: u8 = 0x32;
const STATUS: u8 = 0xa;
/// In it: the registers are about to change.
const UPDATES: u8 = 0x80;
const FORMAT: u8 = 0xb;
/// In it: numbers are binary, not two decimal digits; hours go to 23, not to 12.
const BINARY: u8 = 4;
const ALL_DAY: u8 = 2;
/// In an hour of twelve: it is one of the afternoon.
const AFTERNOON: u8 = 0x80;

/// How often the clock is looked at before that is given up: an update takes 2 ms, once a second.
const ATTEMPTS: u32 = 10;

/// The clock's registers.
pub trait Registers {
    /// What a register has.
    fn read(&mut self, register: u8) -> u8;
    /// Waits for a millisecond or so.
    fn pause(&mut self);
}

/// Reads the clock: seconds since the beginning of 1970. Two looks in a row have to agree, as the
/// reader may be interrupted for any time while it looks.
pub fn read(clock: &mut impl Registers) -> Result<u64, NoTime> {
    let mut last = None;
    for _ in 0..ATTEMPTS {
        let now = look(clock);
        match now {
            Some(look) if now == last => return look.seconds().ok_or(NoTime::Unset),
            Some(_) => {}
            None => clock.pause(),
        }
        last = now;
    }
    Err(NoTime::Changing)
}

/// What the registers have.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Look {
    date: [u8; 6],
    century: u8,
    format: u8,
}

/// Looks at all registers; none, if they are about to change.
fn look(clock: &mut impl Registers) -> Option<Look> {
    if clock.read(STATUS) & UPDATES != 0 {
        return None;
    }
    let date = DATE.map(|register| clock.read(register));
    Some(Look { date, century: clock.read(CENTURY), format: clock.read(FORMAT) })
}

impl Look {
    fn seconds(self) -> Option<u64> {
        let [second, minute, hour, day, month, year] = self.date;
        let date = Date {
            year: self.year(self.number(year)?),
            month: self.number(month)?,
            day: self.number(day)?,
            hour: self.hour(hour)?,
            minute: self.number(minute)?,
            second: self.number(second)?,
        };
        date.seconds()
    }

    /// A number below 100.
    fn number(self, value: u8) -> Option<u64> {
        let (tens, ones) = match self.format & BINARY {
            0 => (value >> 4, value & 15),
            _ => (value / 10, value % 10),
        };
        (tens < 10 && ones < 10).then_some(u64::from(tens) * 10 + u64::from(ones))
    }

    fn hour(self, value: u8) -> Option<u64> {
        if self.format & ALL_DAY != 0 {
            return self.number(value);
        }
        let hour = self.number(value & !AFTERNOON).filter(|hour| (1..=12).contains(hour))?;
        Some(hour % 12 + if value & AFTERNOON != 0 { 12 } else { 0 })
    }

    /// The year: where no century is kept, one from 1970 to 2069.
    fn year(self, year: u64) -> u64 {
        match self.number(self.century) {
            Some(century @ 19..=29) => century * 100 + year,
            _ if year < 70 => 2000 + year,
            _ => 1900 + year,
        }
    }
}
