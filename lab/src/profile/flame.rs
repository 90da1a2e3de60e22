//! Flame graphs: domain, then function. Stacks are not sampled, so there are two levels.

use super::Profile;
use anyhow::Result;
use inferno::flamegraph::{Options, from_lines};

/// One line for each function: `domain;function samples`, as tools for flame graphs take it.
pub fn folded(profile: &Profile) -> Vec<String> {
    let rows = profile.functions.iter();
    rows.map(|((domain, function), samples)| line([domain, function], *samples)).collect()
}

/// A line of a stack, the outermost function first, with its count.
pub fn line<'a>(stack: impl IntoIterator<Item = &'a String>, count: u64) -> String {
    let names = stack.into_iter().map(|name| name.replace([';', ' '], "_"));
    format!("{} {count}", names.collect::<Vec<_>>().join(";"))
}

/// A picture of such lines, whose counts are of these, that opens in any browser.
pub fn svg(lines: &[String], title: &str, counted: &str) -> Result<Vec<u8>> {
    let mut options = Options::default();
    options.title = title.to_string();
    options.count_name = counted.to_string();
    let mut picture = Vec::new();
    from_lines(&mut options, lines.iter().map(String::as_str), &mut picture)?;
    Ok(picture)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> Profile {
        let mut profile = Profile::default();
        profile.add("client one", "f<a; b>");
        profile.add("client one", "f<a; b>");
        profile.add("kernel", "g");
        profile
    }

    #[test]
    fn lines_have_two_levels() {
        assert_eq!(folded(&profile()), ["client_one;f<a__b> 2", "kernel;g 1"]);
    }

    #[test]
    fn the_picture_names_domains_and_functions() {
        let picture = svg(&folded(&profile()), "a title", "samples").unwrap();
        let picture = String::from_utf8(picture).unwrap();
        assert!(picture.starts_with("<?xml"), "{picture}");
        for name in ["a title", "client_one", "kernel", "f&lt;a__b&gt;"] {
            assert!(picture.contains(name), "{name}");
        }
    }
}
