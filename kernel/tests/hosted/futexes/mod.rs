//! Futexes: random programs against a plain reference model, with words that are corrupted at any
//! moment, and stories.

mod model;
mod random;
mod stories;
