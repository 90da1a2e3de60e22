//! Seconds from dates.

const DAYS: [u64; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// A date and a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    pub year: u64,
    /// From 1.
    pub month: u64,
    /// From 1.
    pub day: u64,
    pub hour: u64,
    pub minute: u64,
    pub second: u64,
}

impl Date {
    /// Seconds since the beginning of 1970; none if there is no such date from there on.
    pub fn seconds(self) -> Option<u64> {
        let month = usize::try_from(self.month).ok()?.checked_sub(1)?;
        let long = u64::from(month == 1 && is_leap(self.year));
        let is_day = (1..=*DAYS.get(month)? + long).contains(&self.day);
        if self.year < 1970 || !is_day || self.hour > 23 || self.minute > 59 || self.second > 59 {
            return None;
        }
        let before = |year: u64| 365 * year + year / 4 - year / 100 + year / 400;
        let leap_day = u64::from(month > 1 && is_leap(self.year));
        let in_year = DAYS[..month].iter().sum::<u64>() + leap_day + self.day - 1;
        let days = before(self.year - 1) - before(1969) + in_year;
        Some(((days * 24 + self.hour) * 60 + self.minute) * 60 + self.second)
    }
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}
