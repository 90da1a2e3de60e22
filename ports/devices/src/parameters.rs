//! Numbers that a manifest gives a plant or a device.

use serde::{Deserialize, Serialize};

/// Names with values, in the order of the manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameters(pub Vec<(String, String)>);

impl Parameters {
    /// The number of this name, or one that stands for it.
    ///
    /// # Errors
    ///
    /// The value is no number; why, in words.
    pub fn number(&self, name: &str, default: f64) -> Result<f64, String> {
        let Some((_, value)) = self.0.iter().find(|(known, _)| known == name) else {
            return Ok(default);
        };
        let number = value.parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| format!("parameter `{name}` is no number: {value}"))
    }

    /// Refuses a name that is none of these.
    ///
    /// # Errors
    ///
    /// There is another one; which, in words.
    pub fn only(&self, known: &[&str]) -> Result<(), String> {
        let unknown = self.0.iter().find(|(name, _)| !known.contains(&name.as_str()));
        match unknown {
            None => Ok(()),
            Some((name, _)) if known.is_empty() => {
                Err(format!("there is no parameter `{name}`: it takes none"))
            }
            Some((name, _)) => {
                Err(format!("there is no parameter `{name}`, only {}", known.join(", ")))
            }
        }
    }
}
