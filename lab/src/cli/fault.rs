//! What goes wrong with a device, in words.

use devices::{Fault, What};
use units::{NANOSECONDS, whole};

/// Reads `stuck`, `late 2ms`, `noisy 0.5` or `lost 10`, each with `after 50ms` or `for 20ms` behind
/// it, or both.
pub fn parse(text: &str) -> Result<Fault, String> {
    let mut words = text.split_whitespace();
    let kind = words.next().unwrap_or_default();
    let mut argument = |what: &str| words.next().ok_or_else(|| format!("`{kind}` needs {what}"));
    let what = match kind {
        "stuck" => What::Stuck,
        "late" => What::Late(time(argument("a time: `late 2ms`")?)?),
        "noisy" => What::Noisy(millionths(argument("a number: `noisy 0.5`")?)?),
        "lost" => What::Lost(count(argument("a number: `lost 10`")?)?),
        _ => return Err(format!("no fault is called `{kind}`: stuck, late, noisy or lost")),
    };
    let mut fault = Fault { what, after: None, lasts: None };
    while let Some(word) = words.next() {
        let when = match word {
            "after" => &mut fault.after,
            "for" => &mut fault.lasts,
            _ => return Err(format!("`{word}` says nothing of a fault: `after` or `for`")),
        };
        let given = words.next().ok_or_else(|| format!("`{word}` needs a time"))?;
        if when.replace(time(given)?).is_some() {
            return Err(format!("`{word}` stands there twice"));
        }
    }
    Ok(fault)
}

fn time(text: &str) -> Result<u64, String> {
    let time = whole(text, &NANOSECONDS);
    time.ok_or_else(|| format!("`{text}` is no time: a whole number and ns, us, ms or s"))
}

fn millionths(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| (0.0..1e9).contains(number));
    let number: f64 = number.ok_or_else(|| format!("`{text}` is no number from 0 on"))?;
    Ok((number * 1e6) as u64)
}

fn count(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("`{text}` is no whole number from 1 on"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read() {
        let fault = |what, after, lasts| Ok(Fault { what, after, lasts });
        assert_eq!(parse("late 2ms after 5ns"), fault(What::Late(2_000_000), Some(5), None));
        assert_eq!(parse("noisy 0.5 for 7ns"), fault(What::Noisy(500_000), None, Some(7)));
        assert_eq!(parse("lost 10"), fault(What::Lost(10), None, None));
        let both = fault(What::Stuck, Some(50_000_000), Some(20_000_000));
        assert_eq!(parse("stuck for 20ms after 50ms"), both);
        for text in ["", "slow", "late", "late 2", "noisy x", "noisy -1", "lost 0", "stuck when 2s"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
        for text in ["stuck after", "stuck after 1s after 2s"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
