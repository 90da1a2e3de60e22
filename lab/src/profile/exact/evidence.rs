//! What the plugin has written (`lab/exact/src/lib.rs`).

use anyhow::{Context, Result};
use std::collections::BTreeMap;

/// An instruction that was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// Its address in the guest.
    pub address: u64,
    /// The page that holds it, by a number that means nothing else.
    pub page: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// How often it was executed, if that was asked for.
    pub count: u64,
}

/// One execution by the CPU of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executed {
    /// How many instructions of all CPUs it lies before the end of the window.
    pub back: u64,
    /// The instruction's place in [`Evidence::codes`].
    pub code: usize,
}

/// What was taken of a run.
#[derive(Debug, Default)]
pub struct Evidence {
    /// The instructions.
    pub codes: Vec<Code>,
    /// What was executed in each window that was kept, by its number.
    pub windows: BTreeMap<usize, Vec<Executed>>,
}

impl Evidence {
    /// Reads the plugin's file.
    ///
    /// # Errors
    /// A line that it never writes.
    pub fn parse(text: &str) -> Result<Evidence> {
        let mut evidence = Evidence::default();
        for line in text.lines() {
            let wrong = || format!("the plugin has written `{line:.60}`");
            evidence.read(line).with_context(wrong)?;
        }
        Ok(evidence)
    }

    fn read(&mut self, line: &str) -> Option<()> {
        let mut words = line.split(' ');
        if words.next()? == "code" {
            let hexadecimal = |word| u64::from_str_radix(word, 16).ok();
            let (address, page) = (hexadecimal(words.next()?)?, hexadecimal(words.next()?)?);
            let bytes = words.next()?;
            let byte = |at: usize| u8::from_str_radix(bytes.get(at..at + 2)?, 16).ok();
            let bytes = (0..bytes.len()).step_by(2).map(byte).collect::<Option<_>>()?;
            self.codes.push(Code { address, page, bytes, count: words.next()?.parse().ok()? });
            return Some(());
        }
        let number = words.next()?.parse().ok()?;
        let executed = |word: &str| {
            let (back, code) = word.split_once(':')?;
            let code = code.parse().ok().filter(|code| *code < self.codes.len())?;
            Some(Executed { back: back.parse().ok()?, code })
        };
        let window = words.map(executed).collect::<Option<_>>()?;
        self.windows.insert(number, window);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_plugin_writes_is_read() {
        let text = "code ffff 7f 0f31 3\ncode 10 7e 90 0\nwindow 1 7:0 2:1\n";
        let evidence = Evidence::parse(text).unwrap();
        let first = Code { address: 0xffff, page: 0x7f, bytes: vec![0x0f, 0x31], count: 3 };
        assert_eq!(evidence.codes[0], first);
        let executed = [(7, 0), (2, 1)].map(|(back, code)| Executed { back, code });
        assert_eq!(evidence.windows[&1], executed);
        for wrong in ["code 10 7e 9 0", "window 0 0:2", "window", "code x y 90 0"] {
            assert!(Evidence::parse(&format!("{text}{wrong}\n")).is_err(), "{wrong}");
        }
    }
}
