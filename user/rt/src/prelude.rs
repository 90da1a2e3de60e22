//! What most programs need: `use rt::prelude::*;`.

pub use crate::time::{Instant, Units};
pub use crate::{
    Env, Error, Message, Received, Request, Rights, Server, Slot, Ticker, Wait, debug, error, info,
    print, println, warn,
};
pub use core::time::Duration;
