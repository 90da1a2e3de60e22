//! Domains that programs have made, and the names that they gave.

use abi::trace::NAME_PART;
use std::collections::BTreeMap;

/// A domain that a program has made.
#[derive(Clone, Debug, PartialEq, Eq)]
struct One {
    /// The moment at which it was made.
    born: usize,
    /// The index of the manifest's domain that it is in.
    outermost: u16,
    name: Option<String>,
    /// The index of the reservation that its threads run on, if not on its owner's.
    reservation: Option<u32>,
}

/// Domains that programs have made, by index, in the order of time: an index is used again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Made(BTreeMap<u32, Vec<One>>);

impl Made {
    /// A domain is made.
    pub fn begin(&mut self, domain: u32, outermost: u16, born: usize) {
        self.0.entry(domain).or_default().push(One {
            born,
            outermost,
            name: None,
            reservation: None,
        });
    }

    /// A part of the name of the domain that has this index now.
    pub fn name(&mut self, domain: u32, part: u16, bytes: u32) {
        if let Some(one) = self.0.get_mut(&domain).and_then(|all| all.last_mut()) {
            add_part(&mut one.name, part, bytes);
        }
    }

    /// The threads of the domain that has this index now will run on a reservation.
    pub fn reserve(&mut self, domain: u32, reservation: u32) {
        if let Some(one) = self.0.get_mut(&domain).and_then(|all| all.last_mut()) {
            one.reservation = Some(reservation).filter(|index| *index > 0);
        }
    }

    /// The reservation of the domain that has this index at a moment, if it has one of its own.
    pub fn reservation(&self, domain: u32, moment: usize) -> Option<u32> {
        self.one(domain, moment)?.reservation
    }

    /// Of the domain that has this index at a moment, if a program has made it: the index of the
    /// manifest's domain that it is in, and its name.
    pub fn at(&self, domain: u32, moment: usize) -> Option<(u16, Option<&str>)> {
        let one = self.one(domain, moment)?;
        Some((one.outermost, one.name.as_deref()))
    }

    fn one(&self, domain: u32, moment: usize) -> Option<&One> {
        let all = self.0.get(&domain)?;
        let later = all.partition_point(|one| one.born <= moment);
        all.get(later.checked_sub(1)?)
    }
}

/// Adds a part to a name; the first one begins it anew.
pub(crate) fn add_part(name: &mut Option<String>, part: u16, bytes: u32) {
    if part == 0 {
        *name = None;
    }
    let bytes: [u8; NAME_PART] = bytes.to_le_bytes();
    // The kernel lets no others through; a file may hold anything.
    let text = bytes.into_iter().filter(|byte| byte.is_ascii_graphic()).map(char::from);
    let text: String = text.collect();
    if !text.is_empty() {
        name.get_or_insert_default().push_str(&text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: &[u8; 4]) -> u32 {
        u32::from_le_bytes(*text)
    }

    #[test]
    fn an_index_that_is_used_again_is_another_domain() {
        let mut made = Made::default();
        made.name(4, 0, part(b"lost"));
        assert_eq!(made.at(4, 9), None, "who made it is not known");
        made.begin(4, 2, 10);
        assert_eq!(made.at(4, 11), Some((2, None)));
        made.name(4, 0, part(b"sens"));
        made.name(4, 1, part(b"or\0\0"));
        made.begin(4, 3, 20);
        made.name(4, 0, part(b"pump"));
        assert_eq!((made.at(4, 9), made.at(5, 30)), (None, None));
        assert_eq!(
            (made.at(4, 19), made.at(4, 20)),
            (Some((2, Some("sensor"))), Some((3, Some("pump"))))
        );
    }

    #[test]
    fn a_first_part_begins_the_name_again() {
        let mut name = None;
        add_part(&mut name, 0, part(b"a\x1b[b"));
        add_part(&mut name, 1, part(b"\n\xffcd"));
        assert_eq!(name.as_deref(), Some("a[bcd"));
        add_part(&mut name, 0, part(b"next"));
        assert_eq!(name.as_deref(), Some("next"));
        add_part(&mut name, 0, 0);
        assert_eq!(name, None, "an empty name takes it away");
    }
}
