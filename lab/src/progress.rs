//! Says on standard error what is going on: a spinner on a terminal, plain lines elsewhere.

use crate::output;
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
            output::error(format_args!("{title} ...\n"));
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

/// A step that cargo takes if it has something to compile, and that is announced then.
pub struct Late {
    title: String,
    step: Option<Step>,
}

impl Late {
    /// A step that may be taken.
    pub fn new(title: impl Into<String>) -> Late {
        Late { title: title.into(), step: None }
    }

    /// Cargo says what it is doing.
    pub fn said(&mut self, line: &str) {
        let line = line.trim();
        if self.step.is_none() && line.starts_with("Compiling ") {
            self.step = Some(Step::start(&self.title));
        }
        if let Some(step) = &self.step {
            step.detail(line);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_up_to_date_is_not_said_to_be_built() {
        let mut step = Late::new("building");
        let mut announced = |line: &str| {
            step.said(line);
            step.step.is_some()
        };
        assert!(!announced("    Blocking waiting for file lock"));
        assert!(!announced("    Finished `test` profile"));
        assert!(announced("   Compiling abi v0.1.0") && announced("    Finished"));
    }
}
