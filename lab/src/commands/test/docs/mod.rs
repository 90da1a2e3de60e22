//! Pages show the truth: every block of commands is executed and what it shows is compared, every
//! table of figures is what is recorded, and commands in the text can be given.
//!
//! A block of `sh` holds commands; a block of `text` right behind it is what the last one prints.
//! What is measured may differ a little: see `measured.rs`.
//! A comment above a block or table says what is special, several things with `;` between them:
//!
//! - `deep`: it takes long; `alone`: it follows the host's time, so nothing runs beside it
//! - `copy`: it changes the source, so a copy is used
//! - `status: N`: the last command ends with this status instead of 0
//! - `numbers: any`: numbers depend on the host; `file: NAME`: the block is this file's text
//! - `run by: JOB`: a job of this name does the same; `not run: REASON`: nothing does
//! - `figures: EXPERIMENT` and rules: see `figures.rs`; `by hand: REASON`: no golden figures
//!
//! A comment behind a figure in a sentence names it: see `prose.rs`.

mod figures;
mod measured;
mod output;
mod page;
mod pages;
mod prose;
mod script;
mod verdicts;

pub use pages::{jobs, left, update};
