//! Assertions that cost little text.

/// `panic!` in a function of its own: where the code around it is inlined, only a call is repeated,
/// not what the message needs.
macro_rules! panic_cold {
    ($message:literal) => {{
        #[cold]
        #[inline(never)]
        fn fails() -> ! {
            panic!($message)
        }
        fails()
    }};
}

/// `assert!` that fails by [`panic_cold`].
macro_rules! assert_cold {
    ($condition:expr, $message:literal) => {
        if !$condition {
            $crate::assertion::panic_cold!($message)
        }
    };
}

pub(crate) use {assert_cold, panic_cold};
