//! An SDK: a work tree with what users' systems need, whose laboratory and kernels are built.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;

/// The file in the root of an SDK that says what it is.
pub const FILE: &str = "VERSION";
/// The laboratory, from the root of an SDK.
pub const LABORATORY: &str = "bin/lab";
/// Where prebuilt kernels and programs are, from the root of an SDK.
pub const IMAGES: &str = "images";

/// What an SDK says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sdk {
    /// The version of Giusto.
    pub giusto: String,
    /// The commit that it was made from.
    pub commit: String,
    /// The host that its laboratory runs on.
    pub host: String,
}

impl Sdk {
    /// Reads the file of the SDK with this root.
    ///
    /// # Errors
    /// It is not there, or not of an SDK.
    pub fn read(root: &Path) -> Result<Sdk> {
        let path = root.join(FILE);
        let text = fs::read_to_string(&path);
        let text = text.with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("{} is of no SDK", path.display()))
    }

    /// The file's text.
    pub fn text(&self) -> String {
        toml::to_string(self).expect("words are TOML")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let place = tempfile::tempdir().unwrap();
        let [giusto, commit, host] = ["0.1.0", "0123456789ab", "here"].map(String::from);
        let sdk = Sdk { giusto, commit, host };
        assert!(Sdk::read(place.path()).is_err());
        fs::write(place.path().join(FILE), sdk.text()).unwrap();
        assert_eq!(Sdk::read(place.path()).unwrap(), sdk);
        fs::write(place.path().join(FILE), "1.2.3\n").unwrap();
        assert!(Sdk::read(place.path()).unwrap_err().to_string().ends_with("is of no SDK"));
    }
}
