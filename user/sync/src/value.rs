//! Values that lie in shared words.

use rt::Words;

/// A value that an [`InheritQueue`](crate::InheritQueue) or [`InheritCalls`](crate::InheritCalls)
/// carries, as a number of words. Numbers, arrays and pairs of values are some.
///
/// ```
/// use rt::Words;
/// use sync::Value;
///
/// /// What a sensor has measured, and when.
/// struct Sample {
///     value: u64,
///     at: u64,
/// }
///
/// impl Value for Sample {
///     const WORDS: usize = 2;
///
///     fn store(self, words: Words) {
///         (self.value, self.at).store(words);
///     }
///
///     fn load(words: Words) -> Sample {
///         let (value, at) = Value::load(words);
///         Sample { value, at }
///     }
/// }
/// ```
pub trait Value {
    /// How many words it takes.
    const WORDS: usize;

    /// Writes it to that many words.
    fn store(self, words: Words);

    /// The value that [`Value::store`] has written there.
    fn load(words: Words) -> Self;
}

impl Value for u64 {
    const WORDS: usize = 1;

    fn store(self, words: Words) {
        words.set(0, self);
    }

    fn load(words: Words) -> u64 {
        words.get(0)
    }
}

impl<const N: usize> Value for [u64; N] {
    const WORDS: usize = N;

    fn store(self, words: Words) {
        self.into_iter().enumerate().for_each(|(index, word)| words.set(index, word));
    }

    fn load(words: Words) -> [u64; N] {
        core::array::from_fn(|index| words.get(index))
    }
}

impl<A: Value, B: Value> Value for (A, B) {
    const WORDS: usize = A::WORDS + B::WORDS;

    fn store(self, words: Words) {
        self.0.store(words.part(0, A::WORDS));
        self.1.store(words.part(A::WORDS, B::WORDS));
    }

    fn load(words: Words) -> (A, B) {
        (A::load(words.part(0, A::WORDS)), B::load(words.part(A::WORDS, B::WORDS)))
    }
}
