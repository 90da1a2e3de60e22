//! Files as a typed service.
//!
//! A client opens, reads and lists by [`FilesClient`], or by [`File`], which closes itself. The
//! server of an archive is [`FileServer`]. What an archive says is checked before it is used; what
//! a client asks for takes a bounded time, and holds what is the client's own.
#![no_std]
#![forbid(unsafe_code)]

mod bytes;
mod client;
mod interface;
mod newc;
mod server;

mod volume;

pub use abi::files::{LONGEST_NAME, LONGEST_PATH, MOST, is_path};
pub use bytes::Bytes;
pub use client::{Failure, File};
pub use interface::{
    Chunk, Entry, FileError, Files, FilesClient, Handle, Kind, MOST_READ, Name, Stat,
};
pub use server::{CLIENTS, FileServer, HANDLES};
pub use service::CallError;
pub use volume::{Corrupt, Node, Volume};
