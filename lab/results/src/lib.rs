//! What an experiment leaves behind: from the raw timestamps that programs write to checked
//! figures, tables, plots and pages.
//!
//! ```text
//! bytes -> Recording -> Spans -> Samples -> Row  \
//!                                      baselines  > Report -> table, result.json, SVG, HTML
//!                                  claims, facts /        \-> Golden::check
//! ```
//!
//! Every figure is computed here, on the host, from counter values that the programs recorded.
//! Counts stay integers from end to end; only means and standard deviations are floats.
#![forbid(unsafe_code)]

mod baseline;
mod bounded;
mod chart;
mod charts;
mod claim;
mod compare;
mod curves;
mod facts;
mod figure;
mod gantt;
mod golden;
mod grid;
mod output;
mod page;
mod paper;
mod parameter;
mod recording;
mod report;
mod samples;
mod spans;
mod statistics;
mod table;
#[cfg(test)]
mod testing;
mod wires;

pub use baseline::{Baseline, baselines};
pub use bounded::{Bounded, bounded_svg, bounded_text};
pub use chart::Mark;
pub use claim::{Bound, Claim, Judged, Verdict};
pub use compare::{Answer, Difference, NEGLIGIBLE, Overall, Pair};
pub use curves::{Case, Curves, Points, Source};
pub use facts::facts;
pub use figure::{Figure, grouped, rounded};
pub use gantt::{Gantt, Track};
pub use golden::{Deviation, Golden};
pub use output::{read_report, read_samples, write_index, write_run};
pub use parameter::{Value, parameters};
pub use recording::{Record, Recording, name_in};
pub use report::{
    Fact, Limit, Origin, PAIR, Report, Row, SCHEMA, SYSTEM, WAKE_UP, WAKE_UP_P99, WAKE_UP_WORST,
};
pub use samples::{Samples, Series};
pub use spans::{Spans, delays, spans};
pub use statistics::{Summary, p99};
pub use table::{Column, beside, fitted, plain_table, table};
pub use wires::wires_svg;
