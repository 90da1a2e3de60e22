//! QEMU with an x86_64 processor, on the boards `microvm` and `q35`.

use super::attached::{Forward, Plug, Plugged};
use super::{
    Count, Debugger, Does, Emulator, Exit, Finding, Launch, Machine, Platform, Remains, x86_64,
};
use anyhow::Result;
use results::Origin;
use std::ffi::OsString;
use std::path::Path;

/// Physical addresses below this are offsets in the memory file on every board.
const LOW_MEMORY: u64 = 2 << 30;

/// The board that has places for devices.
const MICROVM: &str = "microvm";
/// The system's address in the network of QEMU, which its forwarded ports lead to.
const STATION: &str = "10.0.2.15";

/// What QEMU says when a debugger kills the guest.
const KILLED: &str = "Terminated via GDBstub";

/// The machine.
pub struct QemuX86_64;

impl Platform for QemuX86_64 {
    fn name(&self) -> &'static str {
        "qemu-x86_64"
    }

    fn unit(&self) -> &'static str {
        "instructions"
    }

    fn origin(&self) -> Origin {
        Origin::EMULATED
    }
}

impl Machine for QemuX86_64 {
    fn boards(&self) -> &'static [&'static str] {
        &[MICROVM, "q35"]
    }

    fn most_cpus(&self) -> u32 {
        8
    }

    fn emulator(&self) -> Option<&dyn Emulator> {
        Some(self)
    }
}

impl Emulator for QemuX86_64 {
    fn target(&self) -> &'static str {
        "x86_64-unknown-none"
    }

    fn port(&self) -> &'static str {
        "x86_64-port"
    }

    fn kernel_binary(&self) -> &'static str {
        "giusto-kernel"
    }

    fn program(&self) -> &'static str {
        "qemu-system-x86_64"
    }

    fn emulator_package(&self) -> &'static str {
        "qemu-system-x86"
    }

    fn least_version(&self) -> (u32, u32) {
        (7, 2)
    }

    fn has_places(&self, board: &str) -> bool {
        board == MICROVM
    }

    fn arguments(&self, launch: &Launch) -> Vec<OsString> {
        let mut arguments = Vec::new();
        let mut add = |name: &str, value: OsString| {
            arguments.push(name.into());
            arguments.push(value);
        };
        let bytes = launch.memory;
        let shared = if launch.memory_file.is_some() { ",memory-backend=ram" } else { "" };
        // With one I/O APIC, to whose lines the places for devices are wired then.
        let lines = if launch.devices.is_empty() { "" } else { ",ioapic2=off" };
        add("-M", format!("{}{lines}{shared}", launch.board).into());
        add("-cpu", "max".into());
        add("-smp", launch.cpus.to_string().into());
        add("-m", format!("{}K", bytes.div_ceil(1024)).into());
        if let Some(file) = launch.memory_file {
            let ram = format!("memory-backend-file,id=ram,size={bytes},share=on,mem-path=");
            let mut object = OsString::from(ram);
            object.push(file);
            add("-object", object);
        }
        add("-kernel", launch.kernel.into());
        add("-initrd", launch.archive.into());
        add("-append", launch.command_line.into());
        add("-display", "none".into());
        add("-chardev", "stdio,id=console,signal=off".into());
        add("-serial", "chardev:console".into());
        add("-device", "isa-debug-exit,iobase=0xf4,iosize=4".into());
        if let Some(socket) = launch.debugger {
            let mut chardev = OsString::from("socket,id=debugger,server=on,wait=off,path=");
            chardev.push(socket);
            add("-chardev", chardev);
            add("-gdb", "chardev:debugger".into());
        }
        if let Some(plugin) = launch.plugin {
            let mut loaded = OsString::from(&plugin.object);
            plugin.arguments.iter().for_each(|argument| loaded.push(format!(",{argument}")));
            add("-plugin", loaded);
        }
        if !launch.devices.is_empty() {
            add("-global", "virtio-mmio.force-legacy=false".into());
        }
        for device in launch.devices {
            attached(device).into_iter().for_each(|(name, value)| add(name, value));
        }
        if let Some(seed) = launch.icount {
            add("-icount", "shift=0,sleep=off".into());
            add("-seed", seed.to_string().into());
            add("-rtc", "base=2026-01-01T00:00:00,clock=vm".into());
        }
        arguments.extend(["-no-reboot", "-nodefaults", "-no-user-config"].map(OsString::from));
        arguments.extend(launch.debugger.map(|_| "-S".into()));
        arguments
    }

    fn memory_offset(&self, physical: u64) -> Option<u64> {
        (physical < LOW_MEMORY).then_some(physical)
    }

    fn kernel_memory(&self, address: u64) -> Option<u64> {
        x86_64::physical_address(address)
    }

    fn decode(&self, code: Option<i32>, complaints: &str) -> Exit {
        match code {
            Some(0) if complaints.contains(KILLED) => Exit::Interrupted,
            // The exit device makes every status odd.
            Some(code) if code & 1 == 1 => match (code >> 1) as u32 {
                abi::boot::EXIT_PANIC => Exit::Panic,
                status => Exit::Done(status),
            },
            Some(_) => Exit::Emulator(
                "the machine reset or stopped without an exit status, as after a triple fault"
                    .to_string(),
            ),
            None => Exit::Emulator("the emulator was killed".to_string()),
        }
    }

    fn inspect(&self, remains: &Remains) -> Result<Vec<Finding>> {
        x86_64::inspect(remains)
    }

    fn count_round_trip(
        &self,
        debugger: &mut Debugger,
        kernel: &Path,
        skip: usize,
    ) -> Result<Vec<Count>> {
        x86_64::count_round_trip(debugger, kernel, skip)
    }

    fn does(&self, bytes: &[u8]) -> Does {
        x86_64::does(bytes)
    }

    fn counter_reads(&self, code: &[u8], at: u64) -> Vec<u64> {
        x86_64::counter_reads(code, at)
    }

    fn is_kernel(&self, address: u64) -> bool {
        address >> 63 == 1
    }
}

/// What is behind a device, and the device in its place.
fn attached(device: &Plugged) -> [(&'static str, OsString); 2] {
    let Plugged { place, plug } = device;
    let id = format!("device{place}");
    let (backend, front) = match plug {
        Plug::Entropy => {
            let backend = ("-object", format!("rng-builtin,id={id}").into());
            (backend, format!("virtio-rng-device,rng={id}"))
        }
        Plug::Disk(file) => {
            let mut drive = OsString::from(format!("if=none,id={id},format=raw,file="));
            drive.push(file.path());
            (("-drive", drive), format!("virtio-blk-device,drive={id}"))
        }
        Plug::Network(forwards) => {
            let forward =
                |it: &Forward| format!(",hostfwd=udp:127.0.0.1:{}-{STATION}:{}", it.host, it.guest);
            let forwards: String = forwards.iter().map(forward).collect();
            let network = format!("user,id={id}{forwards}");
            (("-netdev", network.into()), format!("virtio-net-device,netdev={id}"))
        }
    };
    let front = format!("{front},bus=virtio-mmio-bus.{place}");
    [backend, ("-device", front.into())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_decoded() {
        let decode = |code| QemuX86_64.decode(code, "");
        assert_eq!(decode(Some(1)), Exit::Done(0));
        assert_eq!(decode(Some(7)), Exit::Done(3));
        assert_eq!(decode(Some(203)), Exit::Panic);
        assert!(matches!(decode(Some(0)), Exit::Emulator(_)));
        assert!(matches!(decode(None), Exit::Emulator(_)));
        assert_eq!(QemuX86_64.decode(Some(0), "QEMU: Terminated via GDBstub"), Exit::Interrupted);
    }
}
