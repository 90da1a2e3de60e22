//! Folders for files that a command needs while it runs. Each is locked by its process; one that
//! no process has locked is left from a command that was killed, and the next one removes it.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use tempfile::{Builder, TempDir};

/// How the names of the folders begin.
const PREFIX: &str = "giusto-scratch-";
/// Characters behind that.
const RANDOM: usize = 8;

/// A folder that vanishes with this value.
pub struct Scratch {
    folder: TempDir,
    _locked: File,
}

impl Scratch {
    /// A new folder for temporary files.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub fn new() -> io::Result<Scratch> {
        Scratch::below(&std::env::temp_dir())
    }

    /// A new folder in this one: what is made there can be moved to other places in it.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub fn below(place: &Path) -> io::Result<Scratch> {
        remove_left(place);
        loop {
            let folder = Builder::new().prefix(PREFIX).rand_bytes(RANDOM).tempdir_in(place)?;
            let locked = File::open(folder.path()).and_then(|file| file.lock().map(|()| file));
            match locked {
                // Another command may have found it before it was locked.
                Ok(locked) if folder.path().exists() => {
                    return Ok(Scratch { folder, _locked: locked });
                }
                Err(error) if folder.path().exists() => return Err(error),
                _ => {}
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Removes folders without an owner. What cannot be removed, as it is another user's, stays.
fn remove_left(place: &Path) {
    for entry in fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let random = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let is_ours = random.is_some_and(|random| random.len() == RANDOM);
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let path = entry.path();
            if let Ok(folder) = File::open(&path)
                && folder.try_lock().is_ok()
            {
                let _ = fs::remove_dir_all(&path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_command_left_is_removed_and_what_another_uses_stays() {
        let place = tempfile::tempdir().unwrap();
        let used = Scratch::below(place.path()).unwrap();
        let left = |name: &str| {
            fs::create_dir_all(place.path().join(name).join("inside")).unwrap();
            fs::write(place.path().join(name).join("inside/file"), "").unwrap();
            place.path().join(name)
        };
        let killed = left(&format!("{PREFIX}{}", "x".repeat(RANDOM)));
        let others = [left("giusto-mine"), left(&format!("{PREFIX}of-mine-alone"))];
        let next = Scratch::below(place.path()).unwrap();
        assert!(!killed.exists());
        assert!(others.iter().all(|other| other.join("inside/file").exists()));
        assert!(used.path().exists() && next.path().exists());
        let path = used.path().to_path_buf();
        drop(used);
        assert!(!path.exists() && next.path().exists());
    }
}
