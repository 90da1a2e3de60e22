//! Values that consist of others.

use super::Wire;
use crate::{Incoming, Outgoing};

/// Tuples, whose parts travel in their order.
macro_rules! tuples {
    ($(($($part:ident)*))*) => {$(
        #[allow(non_snake_case)]
        impl<$($part: Wire),*> Wire for ($($part,)*) {
            const WORDS: usize = 0 $(+ $part::WORDS)*;
            const CAPABILITIES: usize = 0 $(+ $part::CAPABILITIES)*;

            #[inline(always)]
            fn put(self, _to: &mut Outgoing) {
                let ($($part,)*) = self;
                $($part.put(_to);)*
            }

            #[inline(always)]
            fn take(_from: &mut Incoming) -> Option<Self> {
                Some(($($part::take(_from)?,)*))
            }
        }
    )*};
}

tuples! { () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) }

impl<T: Wire, const N: usize> Wire for [T; N] {
    const WORDS: usize = N * T::WORDS;
    const CAPABILITIES: usize = N * T::CAPABILITIES;

    #[inline(always)]
    fn put(self, to: &mut Outgoing) {
        self.into_iter().for_each(|part| part.put(to));
    }

    #[inline(always)]
    fn take(from: &mut Incoming) -> Option<[T; N]> {
        let parts: [Option<T>; N] = core::array::from_fn(|_| T::take(from));
        match parts.iter().all(Option::is_some) {
            true => Some(parts.map(|part| part.expect("all are there"))),
            false => None,
        }
    }
}

/// A word that says whether there is a value, and its words, which are 0 if there is none.
impl<T: Wire> Wire for Option<T> {
    const WORDS: usize = 1 + T::WORDS;
    const CAPABILITIES: usize = T::CAPABILITIES;

    #[inline(always)]
    fn put(self, to: &mut Outgoing) {
        self.is_some().put(to);
        match self {
            Some(value) => value.put(to),
            None => (0..T::WORDS).for_each(|_| to.word(0)),
        }
    }

    #[inline(always)]
    fn take(from: &mut Incoming) -> Option<Option<T>> {
        if bool::take(from)? {
            return T::take(from).map(Some);
        }
        (0..T::WORDS).for_each(|_| _ = from.word());
        Some(None)
    }
}
