//! Verdicts on claims that pages name: some machine has the same recorded.

use crate::machine::MEASURED;
use crate::scoreboard::Recorded;
use results::Verdict;

const DECIDED: [Verdict; 2] = [Verdict::Reproduced, Verdict::Contradicted];

/// What a text says of claims that no machine has recorded so, in sentences. A claim that is
/// decided on no machine may have any verdict: it is one of a host's own.
pub fn stale(text: &str, recorded: &Recorded) -> Vec<String> {
    let decided = |id: &str| -> Vec<Verdict> {
        let each = MEASURED.iter().filter_map(|machine| recorded.verdict(machine.name(), id));
        each.filter(|verdict| DECIDED.contains(verdict)).collect()
    };
    let differs = |(id, verdict): &(String, Verdict)| {
        let decided = decided(id);
        !decided.is_empty() && !decided.contains(verdict)
    };
    let said = said(text).into_iter().filter(differs);
    said.map(|(id, verdict)| format!("{id} is not {}", verdict.name())).collect()
}

/// Each claim that is named in front of a verdict in the same sentence or row.
fn said(text: &str) -> Vec<(String, Verdict)> {
    let (mut said, mut named): (Vec<(String, Verdict)>, Vec<String>) = (Vec::new(), Vec::new());
    for line in text.lines() {
        if line.is_empty() || line.starts_with('|') {
            named.clear();
        }
        for word in line.split_whitespace() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            if let Some(verdict) = DECIDED.into_iter().find(|verdict| verdict.name() == bare) {
                said.extend(named.drain(..).map(|id| (id, verdict)));
            } else if is_claim(bare) {
                named.push(bare.to_string());
            } else if let [letter @ b'a'..=b'z'] = bare.as_bytes()
                && let Some(last) = named.last()
                && let whole = last.trim_end_matches(|c: char| c.is_ascii_lowercase())
                && whole != last
            {
                // `S0-C05b, c` names two parts.
                named.push(format!("{whole}{}", char::from(*letter)));
            }
            if word.ends_with('.') {
                named.clear();
            }
        }
    }
    said
}

/// Whether a word is the ID of a claim or of a part of one, such as S0-C04b.
fn is_claim(word: &str) -> bool {
    let Some((paper, number)) = word.split_once("-C") else { return false };
    let number = number.trim_end_matches(|c: char| c.is_ascii_lowercase());
    paper.starts_with('S') && !number.is_empty() && number.bytes().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_in_front_of_a_verdict_have_it() {
        let page = "It is so (S0-C01 reproduced), and by S0-C05b, c and\nd contradicted. S0-C02 \
            says more.\n\nReproduced it was.\n\n| S1-C06 a peak | contradicted | S1-C07 |\n\
            | none | reproduced |\n";
        let ids = |wanted| {
            let of = said(page).into_iter().filter(move |(_, verdict)| *verdict == wanted);
            of.map(|(id, _)| id).collect::<Vec<_>>()
        };
        assert_eq!(ids(Verdict::Reproduced), ["S0-C01"]);
        let contradicted = ["S0-C05b", "S0-C05c", "S0-C05d", "S1-C06"];
        assert_eq!(ids(Verdict::Contradicted), contradicted);
    }

    #[test]
    fn a_verdict_is_one_that_some_machine_has() {
        let recorded = "[twin]\nS0-C01 = \"reproduced\"\nS0-C02 = \"not-observable\"\n\
            [qemu-x86_64]\nS0-C01 = \"contradicted\"\nS0-C03 = \"contradicted\"\n";
        let recorded = Recorded::parse(recorded).unwrap();
        let stale = |text: &str| stale(text, &recorded);
        assert_eq!(stale("S0-C01 reproduced; S0-C01 contradicted."), [""; 0]);
        assert_eq!(stale("S0-C02 reproduced; S0-C04 contradicted."), [""; 0]);
        assert_eq!(stale("S0-C03 reproduced."), ["S0-C03 is not reproduced"]);
    }
}
