//! The command line of `lab compare`.

use super::{all_kernels, experiments, machines, repeats};
use clap::Args;

/// What to compare.
#[derive(Debug, Args)]
pub struct Compare {
    /// A kernel, a locking, a commit, or a saved run: its directory or EXPERIMENT/NUMBER.
    #[arg(value_name = "A")]
    pub a: String,
    /// What to compare it with.
    #[arg(value_name = "B")]
    pub b: String,
    /// Only these experiments, such as micro,ping-pong; may be given several times.
    #[arg(long, value_name = "E", value_parser = experiments(), value_delimiter = ',')]
    #[arg(hide_possible_values = true)]
    pub experiment: Vec<String>,
    /// The machine; by default the emulator, for lockings where their experiments usually run.
    #[arg(long, value_name = "M", value_parser = machines())]
    pub machine: Option<String>,
    /// The kernel under which lockings and commits are compared.
    #[arg(long, value_name = "K", value_parser = all_kernels())]
    pub kernel: Option<String>,
    /// Most seeds to repeat with where anything varies.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = repeats())]
    pub repeats: u64,
}
