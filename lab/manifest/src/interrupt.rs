//! `[[interrupt]]`: an IRQ, and the CPU that it comes to.

use abi::Rights;
use abi::boot::ALL_CPUS;

use crate::devices;
use crate::problem::Problem;
use crate::resolve::signalled;
use crate::schema::{self, Manifest};
use crate::system::{Domain, Interrupt, System};
use crate::target::Target;
use crate::values::Values;

/// The highest IRQ.
const LAST_IRQ: u64 = 23;
/// The IRQ of the interval timer, which is no program's: it takes the samples of a profile and ends
/// the time slices of an emulator.
pub const INTERVAL_TIMER: u8 = 2;

/// Reads an interrupt. Its CPU is known when all domains are.
pub fn read(
    values: &Values,
    system: &System,
    given: &schema::Interrupt,
) -> Result<Interrupt, Problem> {
    let irq = match (&given.irq, &given.device) {
        (Some(irq), None) => {
            let number = values.within(irq, 0..=LAST_IRQ)?;
            if number == INTERVAL_TIMER.into() {
                let message = format!("IRQ {number} is that of the interval timer");
                return Err(values.problem(irq, message, "the kernel has it: take another one"));
            }
            number as u32
        }
        (None, Some(device)) => devices::line(values, system, device)?,
        _ => {
            let message = "an interrupt is of one line, or of one device";
            return Err(values.problem(&given.name, message, "give it `irq` or `device`"));
        }
    };
    Ok(Interrupt {
        name: given.name.get_ref().clone(),
        irq,
        notification: values.find("notification", &given.notification)?,
        badge: signalled(values, &given.badge)?,
        cpu: values.number(&given.cpu, 0, 0..=u64::from(system.cpus) - 1)? as u32,
    })
}

/// Has each interrupt come to the CPU that the manifest names, else to the first on which all
/// domains that control it may run: each acknowledgement lets it interrupt that CPU once more.
pub fn place(values: &Values, manifest: &Manifest, system: &mut System) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, given) in manifest.interrupt.iter().enumerate() {
        let mut left = match given.cpu {
            Some(_) => 1 << system.interrupts[index].cpu,
            None => u64::MAX >> (u64::BITS - system.cpus),
        };
        let excludes = |domain: &&Domain| {
            left &= usable(system, domain);
            left == 0
        };
        let mut domains = system.domains.iter().filter(|domain| controls(domain, index));
        let Some(domain) = domains.find(excludes) else {
            system.interrupts[index].cpu = left.trailing_zeros();
            continue;
        };
        let help = "who acknowledges an interrupt lets it interrupt its CPU: that must be among \
                    the `cpus` of all that control it, and that of their reservations";
        problems.push(match &given.cpu {
            Some(cpu) => {
                let (name, number) = (&domain.name, cpu.get_ref());
                let message = format!("domain `{name}` controls it, and may not use CPU {number}");
                values.problem(cpu, message, help)
            }
            None => {
                let message = "the domains that control it have no CPU in common";
                values.problem(&given.name, message, help)
            }
        });
    }
    problems
}

/// The CPUs on which a domain's threads may run.
fn usable(system: &System, domain: &Domain) -> u64 {
    let cpu = domain.reservation.map(|at| system.reservations[at].cpu);
    let own = cpu.filter(|cpu| *cpu != ALL_CPUS).map_or(u64::MAX, |cpu| 1 << cpu);
    own & domain.cpus.unwrap_or(u64::MAX)
}

/// Whether a domain may acknowledge an interrupt.
fn controls(domain: &Domain, interrupt: usize) -> bool {
    let mut caps = domain.caps.iter();
    caps.any(|cap| {
        cap.target == Target::Interrupt(interrupt) && cap.rights.contains(Rights::CONTROL)
    })
}
