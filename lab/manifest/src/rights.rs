//! How manifests spell rights.

use abi::{Kind, Rights};

use crate::target::Target;

/// The rights that capabilities to a kind of object can have, with their names.
pub fn rights_of(kind: Kind) -> Vec<(&'static str, Rights)> {
    // No domain can end the console or the machine's capability for the others.
    let common = match kind {
        Kind::Console | Kind::System => &Rights::COMMON[..1],
        _ => &Rights::COMMON[..],
    };
    [kind.own_rights(), common].concat()
}

/// The rights that a capability has which lists none: to know where memory lies is asked for by
/// name.
pub(crate) fn by_default(target: Target) -> Rights {
    let all = of(target).into_iter().fold(Rights::NONE, |all, (_, one)| all.or(one));
    match target.kind() {
        Kind::Memory => all.and(Rights::ALL),
        _ => all,
    }
}

/// The rights that a capability to this object can have: nothing ends the root of a CPU.
pub(crate) fn of(target: Target) -> Vec<(&'static str, Rights)> {
    let all = rights_of(target.kind()).into_iter();
    let is_root = matches!(target, Target::Root(_));
    all.filter(|(_, right)| !is_root || *right != Rights::DESTROY).collect()
}

/// A kind of object with its article.
pub(crate) fn with_article(kind: Kind) -> String {
    let article = match kind {
        Kind::Console | Kind::System => "the",
        Kind::Endpoint | Kind::Interrupt => "an",
        _ => "a",
    };
    format!("{article} {}", kind.name())
}

/// A set of rights as manifests list it, separated by spaces.
pub fn spell_rights(kind: Kind, rights: Rights) -> String {
    let held = rights_of(kind).into_iter().filter(|(_, right)| rights.contains(*right));
    held.map(|(name, _)| name).collect::<Vec<_>>().join(" ")
}

/// The rights of a mapping as three letters at most, for instance `rw`.
pub(crate) fn spell_mapping(rights: Rights) -> String {
    let letters = [(Rights::READ, 'r'), (Rights::WRITE, 'w'), (Rights::EXECUTE, 'x')];
    letters.iter().filter(|(right, _)| rights.contains(*right)).map(|(_, letter)| letter).collect()
}
