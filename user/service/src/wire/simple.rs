//! Values of one word.

use super::Wire;
use crate::{Incoming, Outgoing};
use core::convert::Infallible;
use core::time::Duration;
use rt::{Error, Instant};

/// Types that become a word, and that some words are values of.
macro_rules! words {
    ($($(#[$note:meta])* $type:ty: |$value:ident| $word:expr, |$from:ident| $back:expr;)*) => {$(
        $(#[$note])*
        impl Wire for $type {
            const WORDS: usize = 1;

            #[inline(always)]
            fn put(self, to: &mut Outgoing) {
                let $value = self;
                to.word($word);
            }

            #[inline(always)]
            fn take(from: &mut Incoming) -> Option<$type> {
                let $from = from.word();
                $back
            }
        }
    )*};
}

words! {
    u64: |value| value, |word| Some(word);
    u32: |value| value.into(), |word| word.try_into().ok();
    u16: |value| value.into(), |word| word.try_into().ok();
    u8: |value| value.into(), |word| word.try_into().ok();
    i64: |value| value as u64, |word| Some(word as i64);
    i32: |value| i64::from(value) as u64, |word| (word as i64).try_into().ok();
    i16: |value| i64::from(value) as u64, |word| (word as i64).try_into().ok();
    i8: |value| i64::from(value) as u64, |word| (word as i64).try_into().ok();
    bool: |value| value.into(), |word| (word < 2).then_some(word == 1);
    char: |value| u32::from(value).into(), |word| char::from_u32(word.try_into().ok()?);
    Instant: |value| value.as_nanos(), |word| Some(Instant::from_nanos(word));
    /// In nanoseconds: what is longer than `u64::MAX` of them, 584 years, arrives as that.
    Duration: |value| u64::try_from(value.as_nanos()).unwrap_or(u64::MAX),
        |word| Some(Duration::from_nanos(word));
    Error: |value| value as u64, |word| Error::from_code(word.try_into().ok()?);
}

/// No value arrives: the error of methods that cannot fail.
impl Wire for Infallible {
    const WORDS: usize = 0;

    #[inline(always)]
    fn put(self, _: &mut Outgoing) {
        match self {}
    }

    #[inline(always)]
    fn take(_: &mut Incoming) -> Option<Infallible> {
        None
    }
}
