//! Flame graphs: domain, then function. Stacks are not sampled, so there are two levels.

use super::Profile;
use anyhow::Result;
use inferno::flamegraph::{Options, from_lines};

/// One line for each function: `domain;function samples`, as tools for flame graphs take it.
pub fn folded(profile: &Profile) -> Vec<String> {
    let rows = profile.functions.iter();
    rows.map(|((domain, function), samples)| {
        let [domain, function] = [domain, function].map(|name| name.replace([';', ' '], "_"));
        format!("{domain};{function} {samples}")
    })
    .collect()
}

/// A picture of it that opens in any browser.
pub fn svg(profile: &Profile, title: &str) -> Result<Vec<u8>> {
    let lines = folded(profile);
    let mut options = Options::default();
    options.title = title.to_string();
    options.count_name = "samples".to_string();
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
        let picture = String::from_utf8(svg(&profile(), "a title").unwrap()).unwrap();
        assert!(picture.starts_with("<?xml"), "{picture}");
        for name in ["a title", "client_one", "kernel", "f&lt;a__b&gt;"] {
            assert!(picture.contains(name), "{name}");
        }
    }
}
