//! Values of options: times, seeds, files.

use std::path::{Path, PathBuf};
use units::{NANOSECONDS, scaled};

/// A duration in nanoseconds, or with a unit.
pub fn duration(text: &str) -> Result<u64, String> {
    let parsed = scaled(text, &NANOSECONDS).or_else(|| scaled(text, &[("", 1)]));
    let parsed = parsed.map(|nanoseconds| nanoseconds as u64);
    parsed.ok_or_else(|| "give a number with a unit, such as 2us or 1.5ms".to_string())
}

/// A duration that is not zero.
pub fn threshold(text: &str) -> Result<u64, String> {
    match duration(text)? {
        0 => Err("give a time above zero, such as 2us".to_string()),
        threshold => Ok(threshold),
    }
}

/// A sampling period in nanoseconds.
pub fn period(text: &str) -> Result<u64, String> {
    let period = duration(text)?;
    let known = (10_000..=25_000_000).contains(&period);
    known.then_some(period).ok_or_else(|| "give a time from 10us to 25ms, such as 25us".to_string())
}

/// A seed in decimal or, behind `0x`, in hexadecimal.
pub fn seed(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| "give a number, such as 31 or 0x1f".to_string())
}

/// A file that will be written: its folder is there, and it is none itself.
pub fn written(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.is_dir();
    match path.parent().filter(is_missing) {
        Some(folder) => Err(format!("there is no folder {}", folder.display())),
        None if text.is_empty() => Err("name a file".to_string()),
        None if path.is_dir() => Err(format!("{text} is a folder; name a file in it")),
        None => Ok(path),
    }
}

/// [`written`], with a plot.
pub fn plot(text: &str) -> Result<PathBuf, String> {
    let path = written(text)?;
    let is_plot = path.extension().is_some_and(|end| end == "svg");
    is_plot.then_some(path).ok_or_else(|| "give a name that ends in .svg".to_string())
}

/// What goes wrong with a device, as `DEVICE=FAULT` says; which devices there are is judged later.
pub fn fault(text: &str) -> Result<String, String> {
    let (_, fault) = text.split_once('=').ok_or("write DEVICE=FAULT")?;
    super::fault::parse(fault).map(|_| text.to_string())
}

/// [`written`], with what wires had: its ending says as what.
pub fn wires(text: &str) -> Result<PathBuf, String> {
    let path = written(text)?;
    let known = path.extension().is_some_and(|end| end == "svg" || end == "csv");
    known.then_some(path).ok_or_else(|| "give a name that ends in .svg or .csv".to_string())
}

/// [`written`], with a flame graph: its ending says as what.
pub fn flame(text: &str) -> Result<PathBuf, String> {
    let path = written(text)?;
    let known = path.extension().is_some_and(|end| FLAMES.iter().any(|known| end == *known));
    known.then_some(path).ok_or_else(|| "give a name that ends in .svg or .folded".to_string())
}

/// Endings of files with flame graphs.
const FLAMES: [&str; 2] = ["svg", "folded"];
