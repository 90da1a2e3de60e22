//! Says on standard error what is going on: a spinner on a terminal, plain lines elsewhere.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// A step under way. Dropping it removes the spinner.
pub struct Step {
    bar: Option<ProgressBar>,
    title: String,
}

impl Step {
    /// Announces a step.
    pub fn start(title: impl Into<String>) -> Step {
        let title = title.into();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}");
            bar.set_style(style.expect("the template is valid"));
            bar.set_message(title.clone());
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        if bar.is_none() {
            eprintln!("{title} ...");
        }
        Step { bar, title }
    }

    /// Shows a detail behind the title; only on a terminal.
    pub fn detail(&self, detail: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{}: {detail}", self.title));
        }
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
