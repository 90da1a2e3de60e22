//! Axes: from which value to which, and the values that they name.

use crate::figure::grouped;

/// An axis.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// What it shows, with the unit.
    pub label: String,
    /// How values become places.
    pub scale: Scale,
    /// Where it begins; else at 0 or, where it is logarithmic, at the least value.
    pub from: Option<f64>,
    /// The values that it names; empty for round ones.
    pub ticks: Vec<f64>,
    /// Whether values are differences in percent.
    pub percent: bool,
}

/// How values become places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// As they are.
    #[default]
    Linear,
    /// By their logarithm.
    Logarithmic,
}

impl Axis {
    /// From which value to which the axis goes; `room` is the share that stays free at its end.
    pub(super) fn range(&self, values: impl Iterator<Item = f64> + Clone, room: f64) -> (f64, f64) {
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(f64::NEG_INFINITY, f64::max);
        let (from, to) = match self.scale {
            _ if least > most => (0.0, 1.0),
            Scale::Linear => (self.from.unwrap_or(0.0), most),
            Scale::Logarithmic => (self.from.unwrap_or(least).max(f64::MIN_POSITIVE), most),
        };
        match self.scale {
            Scale::Linear => (from, to + (to - from).abs().max(f64::MIN_POSITIVE) * room),
            Scale::Logarithmic => (from, to * (to / from).max(1.0 + room).powf(room)),
        }
    }

    /// Where a value lies between two, from 0 to 1.
    pub(super) fn share(&self, value: f64, (from, to): (f64, f64)) -> f64 {
        let place = |value: f64| match self.scale {
            Scale::Linear => value,
            Scale::Logarithmic => value.max(f64::MIN_POSITIVE).ln(),
        };
        let share = (place(value) - place(from)) / (place(to) - place(from));
        if share.is_finite() { share } else { 0.0 }
    }

    /// The values that it names between two.
    pub(super) fn named(&self, (from, to): (f64, f64), wanted: f64) -> Vec<f64> {
        let within = |value: &f64| (from..=to).contains(value);
        if !self.ticks.is_empty() {
            return self.ticks.iter().copied().filter(within).collect();
        }
        if self.scale == Scale::Logarithmic {
            let decades = from.log10().floor() as i32..=to.log10().ceil() as i32;
            let dense: &[f64] = if to / from < 300.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
            let values = decades.flat_map(|e| dense.iter().map(move |d| d * 10f64.powi(e)));
            return values.filter(within).collect();
        }
        let rough = ((to - from) / wanted).max(f64::MIN_POSITIVE);
        let decade = 10f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * decade);
        let step = steps.into_iter().find(|step| *step >= rough).unwrap_or(rough);
        let numbers = (from / step).ceil() as i64..=(to / step).floor() as i64;
        numbers.map(|number| number as f64 * step).collect()
    }

    /// A value as the axis names it, without digits that say nothing.
    pub(super) fn spell(&self, value: f64) -> String {
        let rounded = format!("{value:.6}");
        let short = rounded.trim_end_matches('0').trim_end_matches('.');
        match short.parse::<u64>() {
            _ if self.percent && value == 0.0 => "0".to_string(),
            _ if self.percent => format!("{:+} %", short.parse().unwrap_or(value)),
            Ok(whole) => grouped(whole),
            Err(_) => short.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_name_round_values_without_spurious_digits() {
        let linear = Axis::default();
        assert_eq!(linear.named((0.0, 1050.0), 6.0), [0.0, 200.0, 400.0, 600.0, 800.0, 1000.0]);
        for (value, shown) in [(0.5, "0.5"), (12_000.0, "12,000"), (0.1 + 0.2, "0.3"), (0.0, "0")] {
            assert_eq!(linear.spell(value), shown);
        }
        let percent = Axis { percent: true, ..Axis::default() };
        assert_eq!([-20.0, 0.0, 7.5].map(|v| percent.spell(v)), ["-20 %", "0", "+7.5 %"]);
        let log = Axis { scale: Scale::Logarithmic, ..Axis::default() };
        assert_eq!(log.named((0.7, 60.0), 6.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
        assert_eq!(log.named((1.0, 5e4), 6.0), [1.0, 10.0, 100.0, 1e3, 1e4]);
    }

    #[test]
    fn an_axis_begins_at_zero_unless_it_is_told_otherwise() {
        let values = [100.0, 200.0];
        let range = |axis: &Axis| axis.range(values.into_iter(), 0.0);
        assert_eq!(range(&Axis::default()), (0.0, 200.0));
        assert_eq!(range(&Axis { from: Some(90.0), ..Axis::default() }), (90.0, 200.0));
        let log = Axis { scale: Scale::Logarithmic, ..Axis::default() };
        assert_eq!(range(&log), (100.0, 200.0));
        assert_eq!(log.range([].into_iter(), 0.0).0, 0.0);
    }
}
