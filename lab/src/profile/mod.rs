//! Profiles: where the time of a run went, from samples (S0-42, S0-43).

pub mod exact;
mod flame;
mod part;
mod symbols;

pub use flame::{folded, line, svg};
pub use part::Part;

use crate::image::Images;
use crate::machine::{Emulator, Mode, Sample, Samples};
use anyhow::Result;
use exact::{Code, Event};
use manifest::System;
use part::Parts;
use serde::Serialize;
use std::collections::BTreeMap;
use symbols::Symbols;

/// The name of what no symbol is known for.
const UNKNOWN: &str = "unknown";
/// What kernel code is listed under.
const KERNEL: &str = "kernel";
/// What an idle processor is listed under.
const IDLE: &str = "idle";

/// A share of the samples.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Share {
    /// Samples.
    pub samples: u64,
    /// Of all, in percent.
    pub percent: f64,
    /// Its standard error, in percentage points.
    pub error: f64,
}

impl Share {
    /// So many samples of all. The error is that of independent samples; one sample a block
    /// strays less.
    pub fn new(samples: u64, all: u64) -> Share {
        let part = samples as f64 / all.max(1) as f64;
        let error = (part * (1.0 - part) / all.max(1) as f64).sqrt();
        Share { samples, percent: part * 100.0, error: error * 100.0 }
    }
}

/// A row of a profile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The domain, `kernel` or `idle`.
    pub domain: String,
    /// The function; none in a row of a whole domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Its share.
    #[serde(flatten)]
    pub share: Share,
}

/// A profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// All samples.
    pub all: u64,
    /// Samples by domain and function.
    pub functions: BTreeMap<(String, String), u64>,
    /// Samples by part of the kernel, by source line.
    pub parts: BTreeMap<Part, u64>,
    /// The same by function.
    pub symbols: BTreeMap<Part, u64>,
}

impl Profile {
    /// Attributes the samples of a system's run.
    pub fn new(samples: &Samples, images: &Images, system: &System) -> Result<Profile> {
        let mut parts = Parts::load(&images.kernel)?;
        let kernel = Symbols::load(&images.kernel)?;
        let programs = images.programs.iter().map(|(name, path)| {
            let used = system.domains.iter().any(|domain| domain.program == *name);
            Ok((name.as_str(), if used { Symbols::load(path)? } else { Symbols::default() }))
        });
        let programs: BTreeMap<&str, Symbols> = programs.collect::<Result<_>>()?;
        let mut profile = Profile::default();
        for sample in &samples.taken {
            let (domain, function) = match sample.mode {
                Mode::Idle => (IDLE, IDLE),
                Mode::Kernel => (KERNEL, kernel.find(sample.at).unwrap_or(UNKNOWN)),
                Mode::User => user(sample, system, &programs),
            };
            if sample.mode == Mode::Kernel {
                *profile.parts.entry(parts.of(sample.at, function)).or_default() += 1;
                *profile.symbols.entry(part::by_function(function)).or_default() += 1;
            }
            profile.add(domain, function);
        }
        Ok(profile)
    }

    fn add(&mut self, domain: &str, function: &str) {
        self.add_all(domain, function, 1);
    }

    /// Adds so many samples of a function.
    fn add_all(&mut self, domain: &str, function: &str, samples: u64) {
        self.all += samples;
        *self.functions.entry((domain.to_string(), function.to_string())).or_default() += samples;
    }

    /// Attributes all events of a run, by how often each instruction was executed.
    pub fn of_events(
        codes: &[Code],
        event: Event,
        emulator: &dyn Emulator,
        images: &Images,
        system: &System,
    ) -> Result<Profile> {
        let kernel = Symbols::load(&images.kernel)?;
        let programs = exact::programs::load(images, system)?;
        let mut profile = Profile::default();
        let count = |code: &Code| code.count * event.of(&emulator.does(&code.bytes));
        let (own, others): (Vec<&Code>, Vec<&Code>) =
            codes.iter().partition(|code| emulator.is_kernel(code.address));
        for code in own {
            let function = kernel.find(code.address).unwrap_or(UNKNOWN);
            profile.add_all(KERNEL, function, count(code));
        }
        for (domain, function, code) in exact::programs::attributed(&programs, others) {
            profile.add_all(&domain, &function, count(code));
        }
        profile.functions.retain(|_, count| *count > 0);
        Ok(profile)
    }

    /// The share of several parts.
    pub fn parts_share(&self, parts: &[Part]) -> Share {
        let samples = |part| self.parts.get(part).copied().unwrap_or(0);
        Share::new(parts.iter().map(samples).sum(), self.all)
    }

    /// The share of the functions of a part.
    pub fn symbols_share(&self, part: Part) -> Share {
        Share::new(self.symbols.get(&part).copied().unwrap_or(0), self.all)
    }

    /// A row for each domain, the largest first.
    pub fn by_domain(&self) -> Vec<Row> {
        let mut domains: BTreeMap<&str, u64> = BTreeMap::new();
        for ((domain, _), samples) in &self.functions {
            *domains.entry(domain).or_default() += samples;
        }
        let row = |(domain, samples): (&str, u64)| Row {
            domain: domain.to_string(),
            function: None,
            share: Share::new(samples, self.all),
        };
        sorted(domains.into_iter().map(row).collect())
    }

    /// A row for each function, the largest first.
    pub fn by_function(&self) -> Vec<Row> {
        let rows = self.functions.iter().map(|((domain, function), samples)| Row {
            domain: domain.clone(),
            function: Some(function.clone()),
            share: Share::new(*samples, self.all),
        });
        sorted(rows.collect())
    }

    /// The share of a domain, or of `kernel` or `idle`.
    pub fn of_domain(&self, domain: &str) -> Share {
        let own = self.functions.iter().filter(|((name, _), _)| name == domain);
        Share::new(own.map(|(_, samples)| samples).sum(), self.all)
    }
}

fn sorted(mut rows: Vec<Row>) -> Vec<Row> {
    rows.sort_by_key(|row| std::cmp::Reverse(row.share.samples));
    rows
}

/// The domain and the function of a program that was interrupted. The kernel's own domain is
/// number 0; those that a program has created come behind the manifest's.
fn user<'a>(
    sample: &Sample,
    system: &'a System,
    programs: &'a BTreeMap<&str, Symbols>,
) -> (&'a str, &'a str) {
    let index = (sample.domain as usize).checked_sub(1);
    let Some(domain) = index.and_then(|index| system.domains.get(index)) else {
        return ("created at run time", UNKNOWN);
    };
    let symbols = programs.get(domain.program.as_str());
    (&domain.name, symbols.and_then(|symbols| symbols.find(sample.at)).unwrap_or(UNKNOWN))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile(functions: &[(&str, &str, u64)]) -> Profile {
        let mut profile = Profile::default();
        for (domain, function, samples) in functions {
            (0..*samples).for_each(|_| profile.add(domain, function));
        }
        profile
    }

    #[test]
    fn rows_are_sorted_and_sum_up() {
        let profile = profile(&[("a", "f", 1), ("a", "g", 2), ("kernel", "h", 5), ("b", "f", 2)]);
        let rows = profile.by_domain();
        let names: Vec<_> = rows.iter().map(|row| (&*row.domain, row.share.samples)).collect();
        assert_eq!(names, [("kernel", 5), ("a", 3), ("b", 2)]);
        assert_eq!(rows[0].share.percent, 50.0);
        assert_eq!(profile.by_function()[0].function.as_deref(), Some("h"));
        assert_eq!(profile.of_domain("a").samples, 3);
        assert_eq!(profile.of_domain("none").percent, 0.0);
    }

    #[test]
    fn the_error_shrinks_with_the_root_of_the_samples() {
        let [few, many] = [100, 10_000].map(|all| Share::new(all / 2, all));
        assert!((few.error - 5.0).abs() < 1e-9, "{few:?}");
        assert!((many.error - 0.5).abs() < 1e-9, "{many:?}");
        assert_eq!(Share::new(0, 0).error, 0.0);
    }
}
