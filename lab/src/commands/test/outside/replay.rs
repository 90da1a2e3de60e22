//! A run of a test that failed, made smaller and as commands that repeat it.

use super::file::Test;
use anyhow::Result;
use std::fmt;
use std::ops::Range;

/// What differs between the runs of a test.
#[derive(Clone, Debug)]
pub struct Trial {
    pub seed: u64,
    /// In how many places something is injected once; 0: never.
    pub chaos: u64,
    /// The places between which that is so; none: everywhere.
    pub chaotic: Option<Range<u64>>,
}

impl Trial {
    /// With this seed, and chaos everywhere.
    pub fn new(seed: u64, chaos: u64) -> Trial {
        Trial { seed, chaos, chaotic: None }
    }
}

impl fmt::Display for Trial {
    /// As options of `run` and `trace`.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, " --seed {}", self.seed)?;
        if self.chaos > 0 {
            write!(f, " --chaos {}", self.chaos)?;
        }
        if let Some(Range { start, end }) = &self.chaotic {
            write!(f, " --chaos-from {start} --chaos-until {end}")?;
        }
        Ok(())
    }
}

/// The smallest span of so many places in which chaos still makes a run fail: the earliest end by
/// bisection, then the latest beginning. Chaos in all of them does, and in none of them does not.
/// That takes two runs for each time that their number can be halved.
pub fn smallest(
    places: u64,
    mut fails: impl FnMut(Range<u64>) -> Result<bool>,
) -> Result<Range<u64>> {
    let (mut passes, mut end) = (0, places);
    while end - passes > 1 {
        let middle = passes.midpoint(end);
        match fails(0..middle)? {
            true => end = middle,
            false => passes = middle,
        }
    }
    let (mut begin, mut passes) = (0, end);
    while passes - begin > 1 {
        let middle = begin.midpoint(passes);
        match fails(middle..end)? {
            true => begin = middle,
            false => passes = middle,
        }
    }
    Ok(begin..end)
}

/// The options of `run` and `trace` that a test stands for; its inputs are in the file of tests.
pub fn options(test: &Test, tests: &str) -> String {
    let Test { kernel, locking, cpus, .. } = test;
    let cpus = cpus.map(|cpus| cpus.to_string());
    let input = (!test.input.is_empty()).then(|| format!("{tests}#{}", test.name));
    let one = |name, value: &Option<String>| Some((name, value.clone()?));
    let changed =
        [one("kernel", kernel), one("locking", locking), one("cpus", &cpus), one("input", &input)];
    let args = test.arguments().map(|arg| ("arg", arg));
    let faults = test.failing().map(|fault| ("fault", fault));
    let all = changed.into_iter().flatten().chain(args).chain(faults);
    all.map(|(name, value)| format!(" --{name} {}", quoted(&value))).collect()
}

/// A word as a shell reads it.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:%,+".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What remains of so many places if injections in all of these make a run fail, and in how
    /// many runs.
    fn remains(places: u64, needed: &[u64]) -> (Range<u64>, u32) {
        let mut runs = 0;
        let left = smallest(places, |span| {
            runs += 1;
            Ok(needed.iter().all(|place| span.contains(place)))
        });
        (left.unwrap(), runs)
    }

    #[test]
    fn a_span_is_shrunk_to_the_places_that_matter() {
        assert_eq!(remains(1_000, &[700]).0, 700..701);
        assert_eq!(remains(1_000, &[0, 999]).0, 0..1_000);
        assert_eq!(remains(1, &[0]), (0..1, 0));
        let (left, runs) = remains(1 << 20, &[5, 77, 4_096]);
        assert_eq!(left, 5..4_097);
        assert!(runs <= 40, "{runs}");
    }

    #[test]
    fn an_error_ends_the_search() {
        assert!(smallest(8, |_| anyhow::bail!("the twin failed")).is_err());
    }

    #[test]
    fn a_test_is_options_that_a_shell_reads() {
        let text = r#"
            name = "it's on"
            kernel = "tree"
            cpus = 2
            args = { a = 1, b = "x y" }
            faults = { shaft = "stuck after 50ms" }
            input = [{ type = "go" }]
        "#;
        let said = options(&toml::from_str(text).unwrap(), "plant/tests.toml");
        let input = r" --kernel tree --cpus 2 --input 'plant/tests.toml#it'\''s on' --arg a=1";
        let wanted = format!("{input} --arg 'b=x y' --fault 'shaft=stuck after 50ms'");
        assert_eq!(said, wanted);
        let trial = Trial { chaotic: Some(4..9), ..Trial::new(7, 10) };
        let said = trial.to_string();
        assert_eq!(said, " --seed 7 --chaos 10 --chaos-from 4 --chaos-until 9");
    }
}
