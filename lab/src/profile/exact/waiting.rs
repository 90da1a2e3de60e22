//! When a CPU waits for the kernel's lock: in the spin loops of the crate `locks`, which pause.

/// What is listed in the place of the lock's functions.
pub const WAITING: &str = "waiting for the kernel's lock";

/// Beginnings of the names of the crate's functions.
const LOCKS: [&str; 2] = ["locks::", "<locks::"];
/// The module of those that pause.
const PAUSES: &str = "locks::relax::";

/// Follows what a CPU executes.
#[derive(Debug, Default)]
pub struct Waiting(bool);

impl Waiting {
    /// Whether it waits when it executes what is of these functions: from the first pause on, until
    /// it has left the lock's code.
    pub fn executes(&mut self, functions: &[String]) -> bool {
        let pauses = || functions.iter().any(|name| name.contains(PAUSES));
        self.0 = functions.iter().any(|name| is_of_lock(name)) && (self.0 || pauses());
        self.0
    }
}

/// These functions of one that waits, with what is listed for the lock's.
pub fn listed(functions: Vec<String>) -> Vec<String> {
    let users = functions.into_iter().take_while(|name| !is_of_lock(name));
    users.chain([WAITING.to_string()]).collect()
}

fn is_of_lock(function: &str) -> bool {
    LOCKS.iter().any(|start| function.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTER: &str = "kernel::entry::Entry<S>::begin";
    const ACQUIRE: &str = "locks::clh::Clh<_>::acquire";
    const PAUSE: &str = "<locks::relax::Pause as locks::relax::Relax>::relax";

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn a_cpu_waits_from_its_first_pause_until_it_has_the_lock() {
        let [work, acquire, pause] =
            [&[ENTER][..], &[ENTER, ACQUIRE], &[ENTER, ACQUIRE, PAUSE]].map(names);
        let mut waiting = Waiting::default();
        let executed = [&work, &acquire, &pause, &acquire, &pause, &acquire, &work, &acquire];
        let waits = executed.map(|functions| waiting.executes(functions));
        assert_eq!(waits, [false, false, true, true, true, true, false, false]);
        assert_eq!(listed(pause), [ENTER, WAITING]);
    }
}
