//! A server of files that the manifest packs, and clients that try it.

pub mod check;
pub mod holder;
mod text;

use files::FileServer;
use rt::prelude::*;

/// The server: memory named by argument `memory`, capability `files` (receive), perhaps `console`.
/// Its clients have badges from 1 on.
pub fn main(env: &Env) {
    let archive = env.mem(env.arg("memory").unwrap_or("files"));
    // Handles of a former life mean nothing in this one.
    let mut files = FileServer::new(archive, Instant::now().as_nanos());
    match files.corrupt() {
        Some(why) => println!(env.console(), "files: the archive is corrupt: {why:?}"),
        None => println!(env.console(), "files: {} files and folders", files.count()),
    }
    let server = Server::new(env.cap("files")).with_buffer(env.buffer(0));
    let why = server.run(|request| files::Files::dispatch(&mut files, request));
    panic!("no more requests: {why:?}");
}
