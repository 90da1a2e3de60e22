//! Host threads and the CPUs that they are pinned to.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The host's CPUs that this process may use.
pub fn available() -> Result<Vec<usize>, String> {
    let set = sched_getaffinity(None).map_err(|error| format!("cannot ask for CPUs: {error}"))?;
    Ok((0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect())
}

/// So many of them, or one sentence that says why not.
pub fn choose(wanted: u32) -> Result<Vec<usize>, String> {
    let mut cpus = available()?;
    if (wanted as usize) > cpus.len() {
        let (has, noun) = (cpus.len(), if cpus.len() == 1 { "CPU" } else { "CPUs" });
        return Err(format!(
            "{wanted} CPUs were asked for, but this process may use {has} {noun} of the host; ask \
             for at most {has}"
        ));
    }
    cpus.truncate(wanted as usize);
    Ok(cpus)
}

/// The socket of a CPU; 0 where the host does not say.
pub fn socket(cpu: usize) -> usize {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}

/// Pins the calling thread.
pub fn pin(cpu: usize) -> Result<(), String> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|error| format!("cannot pin to CPU {cpu}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_cpus_are_refused_in_a_sentence() {
        let has = available().unwrap().len() as u32;
        assert_eq!(choose(has).unwrap().len() as u32, has);
        let error = choose(has + 1).unwrap_err();
        assert!(error.contains(&format!("ask for at most {has}")), "{error}");
    }
}
