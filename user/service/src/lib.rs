//! Typed calls: a trait is what a client calls and what a server implements.
//!
//! ```
//! use rt::prelude::*;
//! use service::{CallError, Wire, service};
//!
//! /// The sum is too large.
//! #[derive(Wire, Clone, Copy, Debug, PartialEq)]
//! pub struct Overflow;
//!
//! /// Adds.
//! #[service]
//! pub trait Adder {
//!     /// The sum of two numbers.
//!     fn add(&mut self, a: u64, b: u64) -> Result<u64, Overflow>;
//! }
//!
//! // The server.
//! struct Sums;
//!
//! impl Adder for Sums {
//!     fn add(&mut self, a: u64, b: u64) -> Result<u64, Overflow> {
//!         a.checked_add(b).ok_or(Overflow)
//!     }
//! }
//!
//! fn server(env: &Env) {
//!     Sums.serve(env.cap("adder"));
//! }
//!
//! // The client.
//! fn client(env: &Env) -> Result<u64, CallError<Overflow>> {
//!     AdderClient::new(env.cap("adder")).within(100.ms()).add(20, 22)
//! }
//! ```
//!
//! # What the attribute makes
//!
//! | item | what |
//! |---|---|
//! | `Adder` | the trait as it is written, with two methods more, which have bodies |
//! | `Adder::dispatch(&mut self, &Request) -> Message` | answers one request, for a loop by hand |
//! | `Adder::serve(&mut self, Slot) -> Error` | answers requests until none can be received |
//! | `AdderClient` | a method for each of the trait's, which makes the call |
//! | `AdderClient::ADD` | the label of `add` |
//!
//! The client's methods return `Result<T, CallError<E>>` where the trait has `Result<T, E>` or,
//! with [`Infallible`] as `E`, just `T`. [`CallError`] says what went wrong and where.
//!
//! # What travels
//!
//! | type | words |
//! |---|---|
//! | `u8` to `u64`, `i8` to `i64`, `bool`, `char`, [`Duration`], [`Instant`], [`rt::Error`] | 1 |
//! | `()` | 0 |
//! | tuples, arrays, structures with `#[derive(Wire)]` | those of their parts |
//! | enumerations with `#[derive(Wire)]`, whose variants have no fields | 1 |
//! | `Option<T>` | 1 and those of `T` |
//! | a last argument `&str` or `&[u8]`, of [`MAX_BYTES`] at most | 1 and one for 8 bytes |
//! | [`Capability`], [`Lent`] memory: one of these in a message | 0, 1 |
//! | an argument [`Badge`], which the server gets from the kernel and no client passes | 0 |
//!
//! What is none of these does not compile:
//!
//! ```compile_fail,E0277
//! #[service::service]
//! trait Scale {
//!     fn weigh(&self) -> f64;
//! }
//! ```
//!
//! Up to four words go in registers. With more, up to [`MAX_WORDS`], client (`with_buffer`) and
//! server ([`Server::with_buffer`]) need the message buffers of their threads;
//! `AdderClient::LONGEST` is the length of the longest message. `serve`, which has no buffer, does
//! not compile then:
//!
//! ```
//! # use rt::prelude::*;
//! # use service::service;
//! #[service]
//! trait Log {
//!     fn note(&mut self, text: &str);
//! }
//!
//! # struct Notes;
//! # impl Log for Notes {
//! #     fn note(&mut self, _: &str) {}
//! # }
//! # fn server(env: &Env) {
//! let server = Server::new(env.cap("log")).with_buffer(env.buffer(0));
//! server.run(|request| Notes.dispatch(request));
//! # }
//! ```
//!
//! ```compile_fail,E0080
//! # use rt::prelude::*;
//! # use service::service;
//! # #[service]
//! # trait Log {
//! #     fn note(&mut self, text: &str);
//! # }
//! # struct Notes;
//! # impl Log for Notes {
//! #     fn note(&mut self, _: &str) {}
//! # }
//! # fn server(env: &Env) {
//! Notes.serve(env.cap("log"));
//! # }
//! # fn main() {
//! #     core::hint::black_box(server as fn(&Env));
//! # }
//! ```
//!
//! # The messages
//!
//! The label of a request is its method's number, from 1 in the order of the trait; its words are
//! the arguments in order. An answer has the label [`DONE`] and the value, [`REFUSED`] and the
//! error, or [`UNKNOWN`] alone. So a method that is put last leaves the others' labels as they are.
//!
//! A server answers whatever comes: an unknown label, a wrong length, and a word that is no value
//! of its type are answered with [`UNKNOWN`], before the implementation is asked.
//!
//! [`Duration`]: core::time::Duration
//! [`Infallible`]: core::convert::Infallible
//! [`Instant`]: rt::Instant
//! [`MAX_WORDS`]: rt::abi::message::MAX_WORDS
//! [`Server::with_buffer`]: rt::Server::with_buffer
//!
//! A request that is longer than any message does not compile either:
//!
//! ```compile_fail,E0080
//! #[service::service]
//! trait Store {
//!     fn put(&self, words: [u64; 129]);
//! }
//! ```
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;
// What the macros write names this crate.
extern crate self as service;

mod answer;
mod call;
mod capability;
mod returns;
#[cfg(test)]
mod tests;
mod wire;
mod words;

pub use answer::{Badge, DONE, REFUSED, UNKNOWN};
#[doc(hidden)]
pub use answer::{answer, longest, serve, unknown};
#[doc(hidden)]
pub use call::Caller;
pub use call::{CallError, Called};
pub use capability::{Capability, Lent};
#[doc(hidden)]
pub use returns::Returns;
#[doc(hidden)]
pub use rt::{Buffer, Error, Message, Request, Slot, SlotPool, Wait};
pub use service_macro::{Wire, service};
pub use wire::Wire;
pub use words::{Incoming, MAX_BYTES, Outgoing};
