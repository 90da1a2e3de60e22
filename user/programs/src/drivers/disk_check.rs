//! A client of a disk: what is on it is read, what is written is read again, also behind a restart
//! of the driver; and what a block costs.

use rt::arch::counter;
use rt::prelude::*;
use rt::system;
use supervision::{Name, SupervisionClient};
use virtio::block::{BLOCK, Disk, Failure, LAYOUT};

/// How long the driver may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// What an archive of files begins with.
const MAGIC: &[u8] = b"070701";
/// Blocks that are read to find what one costs.
const READS: u32 = 16;
/// The word in which `idle` has what it has run.
const IDLE: usize = 0;
/// Units between two looks of `idle` with nothing between.
const LOOK: u64 = 32;

/// The client: memories `link` and `idle`; capabilities `driver` (signal), `ready` (receive),
/// `supervisor`, `console`, `system`; argument `blocks`, how many the disk has.
pub fn main(env: &Env) {
    let (driver, ready) = (env.cap("driver"), env.cap("ready"));
    let mut disk = Disk::new(env.mem("link"), driver, ready, PATIENCE);
    let status = match check(env, &mut disk) {
        Ok(()) => 0,
        Err(error) => {
            println!(env.console(), "disk: {error:?}");
            1
        }
    };
    let _ = system::shutdown(env.cap("system"), status);
}

fn check(env: &Env, disk: &mut Disk) -> Result<(), Failure> {
    let (console, blocks) = (env.console(), env.number("blocks", 16) as u32);
    let mut bytes = [0; BLOCK];
    disk.read(0, &mut bytes)?;
    assert!(bytes.starts_with(MAGIC), "block 0 begins with {:?}", &bytes[..MAGIC.len()]);
    println!(console, "disk: block 0 has the files of the manifest");
    for block in blocks / 2..blocks {
        disk.write(block, &pattern(block))?;
    }
    written(disk, blocks)?;
    println!(console, "disk: what was written is read");
    for beyond in [blocks, u32::MAX] {
        assert!(disk.read(beyond, &mut bytes) == Err(Failure::Refused), "block {beyond} is read");
        assert!(disk.write(beyond, &bytes) == Err(Failure::Refused), "and written");
    }
    println!(console, "disk: blocks that are not there are refused");
    costs(env, disk)?;
    let supervisor = SupervisionClient::new(env.cap("supervisor"));
    supervisor.kill(Name::new("disk")).expect("the supervisor ends it");
    written(disk, blocks)?;
    println!(console, "disk: the restarted driver reads what was written");
    Ok(())
}

fn pattern(block: u32) -> [u8; BLOCK] {
    core::array::from_fn(|at| (at as u32 * 7 + block * 31) as u8)
}

fn written(disk: &mut Disk, blocks: u32) -> Result<(), Failure> {
    let mut bytes = [0; BLOCK];
    for block in blocks / 2..blocks {
        disk.read(block, &mut bytes)?;
        assert!(bytes == pattern(block), "block {block} has something else");
    }
    Ok(())
}

/// Prints what a read costs, without what `idle` ran meanwhile, and what a copy of it alone does.
fn costs(env: &Env, disk: &mut Disk) -> Result<(), Failure> {
    let (idle, mut bytes) = (env.mem("idle"), [0; BLOCK]);
    let now = || counter() - idle.get(IDLE);
    disk.read(0, &mut bytes)?;
    let before = now();
    for block in 0..READS {
        disk.read(block, &mut bytes)?;
    }
    let read = (now() - before) / u64::from(READS);
    let (link, before) = (env.mem("link"), counter());
    link.read(8 * LAYOUT.words(), &mut bytes);
    let copy = counter() - before;
    println!(env.console(), "cost: read of {BLOCK} bytes {read}, copy {copy}");
    Ok(())
}

/// Runs whenever nothing else does, and says how long: memory `idle`. So the machine's time goes on
/// with what is executed alone while a device is waited for.
pub fn idle(env: &Env) {
    let (idle, mut ran, mut last) = (env.mem("idle"), 0, counter());
    loop {
        let now = counter();
        // More passed while others ran.
        ran += if now - last < LOOK { now - last } else { 0 };
        last = now;
        idle.set(IDLE, ran);
    }
}
