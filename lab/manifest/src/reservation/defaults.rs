//! The classes of service curves that a system can begin with (S4-02): C0 with 90 % and C1 with
//! 10 % of CPU 0, and in C0 a leaf of 0.1 % for each domain that names no reservation.

use toml::Spanned;

use crate::problem::Span;
use crate::schema::{Manifest, Reservation, Word, WordOr};

/// The class that both are in, above all threads without a reservation.
const ALL: &str = "hfsc";
const PRIORITY: i128 = 256;
const FIRST: &str = "C0";
const CLASSES: [(&str, &str); 2] = [(FIRST, "90%"), ("C1", "10%")];
/// What a domain is guaranteed in C0.
const LEAST: &str = "0.1%";

/// Adds them where the manifest asks for them. Problems with them are told at that place.
pub fn add(manifest: &mut Manifest) {
    let asked = manifest.system.get_ref().default_classes.as_ref();
    let Some(at) = asked.filter(|asked| *asked.get_ref()).map(Spanned::span) else { return };
    let word = |text: &str| Some(Word::new(at.clone(), text.to_string()));
    let class = |name| Reservation {
        name: word(name),
        policy: word("service-curves"),
        ..Reservation::default()
    };
    let priority = Some(Spanned::new(at.clone(), PRIORITY));
    let mut all = vec![Reservation { priority, ..class(ALL) }];
    all.extend(CLASSES.map(|(name, curve)| inside(ALL, curve, &at, class(name))));
    manifest.reservation.extend(all.into_iter().map(|it| Spanned::new(at.clone(), it)));
    for domain in &mut manifest.domain {
        let domain = domain.get_mut();
        let is_elsewhere = domain.cpu.as_ref().is_some_and(|cpu| *cpu.get_ref() != 0);
        if domain.reservation.is_none() && !is_elsewhere {
            let leaf = inside(FIRST, LEAST, &at, Reservation::default());
            domain.reservation = Some(Spanned::new(at.clone(), WordOr::Table(Box::new(leaf))));
        }
    }
}

/// A reservation with a curve in a class.
fn inside(class: &str, curve: &str, at: &Span, one: Reservation) -> Reservation {
    let curve = Some(Spanned::new(at.clone(), WordOr::Word(curve.to_string())));
    Reservation { class: Some(Word::new(at.clone(), class.to_string())), curve, ..one }
}
