//! Which word a misspelt one was meant to be: the one place that compares words.

use strsim::damerau_levenshtein;

use crate::problem::quote;

/// No longer word is compared with anything.
const LONGEST: usize = 64;

/// The candidate that is nearest to a word, if one is near enough to be a misspelling.
pub fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    if length > LONGEST {
        return None;
    }
    candidates
        .iter()
        .map(|candidate| (damerau_levenshtein(&word, &candidate.to_lowercase()), *candidate))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance <= (length / 3).max(1))
        .map(|(_, candidate)| candidate)
}

/// A hint for a word that is none of the candidates: the one that was meant, or all of them.
pub fn hint(word: &str, what: &str, candidates: &[&str]) -> String {
    if let Some(candidate) = nearest(word, candidates) {
        return format!("did you mean {}?", quote(candidate));
    }
    format!("{what}: {}", list(candidates))
}

/// A list of quoted words, of which a long one is shortened.
pub fn list(words: &[&str]) -> String {
    const SHOWN: usize = 24;
    let mut quoted: Vec<String> = words.iter().take(SHOWN).map(|word| quote(word)).collect();
    if words.len() > SHOWN {
        quoted.push(format!("and {} more", words.len() - SHOWN));
    }
    quoted.join(", ")
}
