//! Words that keys can have: pages list those that the manifest's reader takes, and no others.

use std::collections::BTreeSet;

const MANIFEST: &str = include_str!("../../../docs/manifest.md");
const SUPERVISOR: &str = include_str!("../../../docs/supervisor.md");

/// What is no word of any key, and near to none.
const WRONG: &str = "=\"wrong-word-for-this-key\"";

/// The page, the beginning of its row or item, and manifests with a wrong word for the key.
const KEYS: [(&str, &str, &str); 10] = [
    (MANIFEST, "\n- `kernel` is", "kernel WRONG\nDOMAIN"),
    (MANIFEST, "\n- `locking` is", "locking WRONG\ncpus = 2\nDOMAIN"),
    (MANIFEST, "\n| `inheritance` |", "inheritance WRONG\nkernel = \"tree\"\nDOMAIN"),
    (
        MANIFEST,
        "\n| `policy` |",
        "[[reservation]]\nname = \"r\"\npriority = 300\npolicy WRONG\nDOMAIN",
    ),
    (MANIFEST, "\n| `server` |", "LIMITED\nserver WRONG\nDOMAIN"),
    (MANIFEST, "\n| `overrun` |", "LIMITED\noverrun WRONG\nDOMAIN"),
    (MANIFEST, "\n| `miss` |", "LIMITED\ndeadline = \"10ms\"\nmiss WRONG\nDOMAIN"),
    (
        MANIFEST,
        "\n| `keep` |",
        "[[memory]]\nname=\"m\"\nsize=\"8K\"\n[trace]\nmemory=\"m\"\nkeep WRONG\nDOMAIN",
    ),
    (MANIFEST, "\n| `protocol` |", "[[mutex]]\nname = \"m\"\nprotocol WRONG\nDOMAIN"),
    (SUPERVISOR, "\n| `restart` |", "DOMAIN\nrestart WRONG"),
];
/// A reservation with a budget.
const LIMITED: &str =
    "[[reservation]]\nname = \"r\"\npriority = 300\nbudget = \"1ms\"\nperiod = \"10ms\"";

/// A domain: a system needs one.
const DOMAIN: &str = "[[domain]]\nname = \"d\"\nprogram = \"p\"\npriority = 1";

/// The words that a message offers instead of a wrong one.
fn taken(text: &str) -> BTreeSet<String> {
    let text = text.replace("LIMITED", LIMITED).replace("DOMAIN", DOMAIN).replace(" WRONG", WRONG);
    let text = format!("[system]\nname = \"s\"\n{text}\n");
    let said = manifest::parse("s.toml", &text).expect_err("it is wrong").to_string();
    let help = said.split_once(" is one of: ");
    let (_, help) = help.unwrap_or_else(|| panic!("no words are offered: {said}"));
    // It may have several lines; another message stands behind an empty one.
    let help = help.split("\n\n").next().unwrap_or_default();
    help.split('`').skip(1).step_by(2).map(String::from).collect()
}

/// The quoted words of a row or an item.
fn listed(page: &str, begins: &str) -> BTreeSet<String> {
    let (_, rest) = page.split_once(begins).unwrap_or_else(|| panic!("no {begins}"));
    let end = ["\n|", "\n-", "\n\n"].into_iter().filter_map(|next| rest.find(next)).min();
    let quoted = |code: &str| Some(code.strip_prefix('"')?.strip_suffix('"')?.to_string());
    rest[..end.unwrap_or(rest.len())].split('`').skip(1).step_by(2).filter_map(quoted).collect()
}

#[test]
fn pages_list_the_words_of_each_key() {
    for (page, begins, text) in KEYS {
        assert_eq!(listed(page, begins), taken(text), "{begins}");
    }
}
