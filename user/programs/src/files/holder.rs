//! A client that reads no answers, opens as many files as it may, and ends without closing them.

use crate::random::Random;
use files::{File, FileError, FilesClient, HANDLES};
use rt::prelude::*;
use rt::{Info, ipc, time};
use service::CallError;

/// Words of memory `lives`: how many lives there were, and whether the last one is done.
pub const LIVES: usize = 0;
/// See [`LIVES`].
pub const DONE: usize = 1;

/// Requests in a life whose answers are not read.
const REQUESTS: u64 = 200;

/// The client: capability `files` (send); memory `lives`; argument `lives`, how many end so.
pub fn main(env: &Env) {
    let (lives, slot) = (env.mem("lives"), env.cap("files"));
    let life = lives.add(LIVES, 1);
    let mut random = Random::new(life);
    for _ in 0..REQUESTS {
        let (label, length) = (random.below(9) as u32, random.below(5) as usize);
        let words = core::array::from_fn(|_| random.below(20));
        let message = Message { info: Info::new(label, length), words };
        // A server that is not there to take it misses nothing.
        let _ = ipc::send(slot, message, Wait::ZERO);
        let _ = ipc::call_within(slot, message, Wait::ZERO);
    }
    let files = FilesClient::new(slot).with_buffer(env.buffer(0));
    files.begin().expect("the server is up");
    let open: [_; HANDLES] = core::array::from_fn(|_| File::open(files, ""));
    assert!(open.iter().all(Result::is_ok), "a client has {HANDLES} handles");
    assert!(File::open(files, "").err() == Some(CallError::Server(FileError::TooManyHandles)));
    if life < env.number("lives", 3) {
        // No destructor runs, so no handle is closed.
        panic!("as ordered");
    }
    lives.set(DONE, 1);
    time::sleep(Duration::from_secs(1_000));
}
