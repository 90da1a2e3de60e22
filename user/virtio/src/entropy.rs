//! What the driver of a source of random bytes can be asked.

use service::{Wire, service};

/// Why there are no random words.
#[derive(Wire, Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEntropy {
    /// The device did not answer in time.
    Silent,
    /// The device has broken a rule, and was reset.
    Broken,
}

/// Random words of a device, as good as that is.
#[service]
pub trait Entropy {
    /// Words that no client has had. A client that needs many starts a generator with them.
    fn take(&mut self) -> Result<[u64; 4], NoEntropy>;
}
