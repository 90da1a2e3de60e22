//! Judges the page tables that a run has left: what must never be mapped, and how.

use super::tables::{Leaf, Space, USER_END, walk};
use crate::machine::{Finding, Remains};
use abi::PAGE;
use abi::boot::protection::{NO_EXECUTE, NO_USER_ACCESS, NO_USER_EXECUTE, WRITE_PROTECT};
use abi::boot::{HEADER_WORDS, Record, WORD_CPUS, WORD_PROTECTION, WORD_RECORDS, WORD_ROOTS};
use abi::object::Resource;
use anyhow::{Context, Result, bail, ensure};
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::BTreeSet;
use std::ops::Range;

/// Kernel image: virtual minus physical address.
const IMAGE: u64 = 0xffff_ffff_8000_0000;
/// Where physical memory begins in the kernel's half.
const DIRECT: u64 = 0xffff_8000_0000_0000;

/// The physical address of memory that the kernel has at an address: of its image, or of RAM.
pub fn physical_address(address: u64) -> Option<u64> {
    address.checked_sub(IMAGE).or_else(|| address.checked_sub(DIRECT))
}

/// Fewer pages than any system has mean that the walk missed some.
const FEWEST_LEAVES: usize = 100;

/// Guard pages: how far below or above which stack's top, in pages.
const GUARDS: [(&str, i64); 6] = [
    ("__boot_stack_top", -5),
    ("__boot_stack_top", 0),
    ("__fault_stack_top", -3),
    ("__fault_stack_top", 0),
    ("__trap_stack_top", -2),
    ("__trap_stack_top", 0),
];

/// Protection that must be switched on.
const PROTECTION: [(u64, &str); 4] = [
    (NO_USER_EXECUTE, "the kernel cannot execute user pages"),
    (NO_USER_ACCESS, "the kernel cannot reach user pages"),
    (WRITE_PROTECT, "read-only pages bind the kernel"),
    (NO_EXECUTE, "pages can be not executable"),
];

/// Everything that the rules look at.
struct World {
    spaces: Vec<Space>,
    /// Physical addresses of all page tables.
    tables: BTreeSet<u64>,
    kernel: Kernel,
    /// Physical memory that programs may reach.
    programs: Vec<Range<u64>>,
    protection: u64,
}

/// Where the kernel image lies, at its virtual addresses.
struct Kernel {
    image: Range<u64>,
    init: Range<u64>,
    /// Sections that no mode may write.
    constant: Vec<Range<u64>>,
    guards: Vec<u64>,
}

/// Checks the page tables in what is left of a run.
pub fn inspect(remains: &Remains) -> Result<Vec<Finding>> {
    Ok(World::read(remains)?.judge())
}

impl World {
    fn read(remains: &Remains) -> Result<World> {
        let kernel = Kernel::read(remains.kernel)?;
        let word = |index: usize| {
            remains.word(index).with_context(|| format!("the archive ends before word {index}"))
        };
        let first = word(WORD_ROOTS)?;
        ensure!(first != 0, "the kernel did not say where its root tables lie");
        let pools = Pools::read(remains)?;
        let table = |frame: u64| -> Result<Vec<u64>> {
            let bytes = remains.physical(frame, PAGE)?;
            let words = bytes.chunks_exact(8);
            Ok(words.map(|word| u64::from_le_bytes(word.try_into().expect("8 bytes"))).collect())
        };
        let roots = (0..pools.of(Resource::Domains) + 1).map(|slot| first + slot * PAGE);
        let spaces = roots.map(|root| walk(&table, root)).collect::<Result<Vec<Space>>>()?;
        let tables = spaces.iter().flat_map(|space| space.tables.iter().copied()).collect();
        let pooled = pools.pages_below(first, word(WORD_CPUS)?);
        let programs = std::iter::once(pooled).chain(pools.memories).collect();
        Ok(World { spaces, tables, kernel, programs, protection: word(WORD_PROTECTION)? })
    }

    fn leaves(&self) -> impl Iterator<Item = &Leaf> {
        self.spaces.iter().flat_map(|space| &space.leaves)
    }

    fn judge(&self) -> Vec<Finding> {
        let constant =
            |leaf: &Leaf| self.kernel.constant.iter().any(|range| overlaps(leaf, &physical(range)));
        let user_half = |leaf: &Leaf| leaf.at + leaf.bytes <= USER_END;
        let image = physical(&self.kernel.image);
        let user = || self.leaves().filter(|leaf| leaf.user);
        let mut findings = vec![self.walked()];
        let mut rule = |name: &str, offence: Option<&Leaf>| {
            findings.push((name.to_string(), offence.map_or(Ok(()), |leaf| Err(shown(leaf)))));
        };
        rule(
            "no page is both writable and executable",
            self.leaves().find(|leaf| leaf.writable && leaf.executable),
        );
        rule(
            "no page of the kernel's code or constants is writable anywhere",
            self.leaves().find(|leaf| leaf.writable && constant(leaf)),
        );
        rule(
            "code that only boot needs is unmapped",
            self.leaves().find(|leaf| touches(leaf, &self.kernel.init)),
        );
        rule("no user page lies above the user half", user().find(|leaf| !user_half(leaf)));
        rule("no user page is the kernel image", user().find(|leaf| overlaps(leaf, &image)));
        rule(
            "no user page is a page table",
            user().find(|leaf| self.tables.range(leaf.to..leaf.to + leaf.bytes).next().is_some()),
        );
        rule(
            "user pages are frames, message buffers or memory of the manifest",
            user().find(|leaf| !self.programs.iter().any(|range| inside(leaf, range))),
        );
        rule(
            "guard pages around the kernel's stacks are absent",
            self.leaves().find(|leaf| {
                self.kernel.guards.iter().any(|guard| {
                    // Behind the image the direct map has RAM that is in use.
                    let direct = guard - IMAGE + DIRECT;
                    let aliases =
                        [Some(*guard), (*guard < self.kernel.image.end).then_some(direct)];
                    aliases.iter().flatten().any(|at| touches(leaf, &(*at..*at + PAGE)))
                })
            }),
        );
        findings.extend(PROTECTION.iter().map(|(bit, name)| {
            let on = self.protection & bit != 0;
            (name.to_string(), if on { Ok(()) } else { Err("it is switched off".to_string()) })
        }));
        findings
    }

    /// That the walk saw what must be there.
    fn walked(&self) -> Finding {
        let all = self.leaves().count();
        let user = self.leaves().filter(|leaf| leaf.user).count();
        let text = physical(&self.kernel.constant[0]);
        let kernel = self.leaves().any(|leaf| leaf.executable && overlaps(leaf, &text));
        let name = format!(
            "{all} pages in {} address spaces walked, {user} of them user pages",
            self.spaces.len()
        );
        let missed = match (all >= FEWEST_LEAVES, user > 0, kernel) {
            (false, ..) => "too few to be all",
            (_, false, _) => "no program has a page",
            (.., false) => "the kernel's own code is not mapped",
            _ => return (name, Ok(())),
        };
        (name, Err(missed.to_string()))
    }
}

impl Kernel {
    fn read(path: &std::path::Path) -> Result<Kernel> {
        let data = fs_err::read(path)?;
        let file = object::File::parse(&*data)?;
        let section = |name: &str| {
            let section = file.section_by_name(name);
            let section = section.with_context(|| format!("the kernel image has no `{name}`"))?;
            anyhow::Ok(section.address()..section.address() + section.size())
        };
        let symbol = |name: &str| {
            let mut symbols = file.symbols();
            let found = symbols.find(|symbol| symbol.name() == Ok(name));
            let found = found.with_context(|| format!("the kernel image has no `{name}`"))?;
            anyhow::Ok(found.address())
        };
        let guard = |(top, pages): (&str, i64)| -> Result<u64> {
            Ok(symbol(top)?.wrapping_add_signed(pages * PAGE as i64))
        };
        let init = section(".init")?;
        let guards: BTreeSet<u64> = GUARDS.into_iter().map(guard).collect::<Result<_>>()?;
        Ok(Kernel {
            image: symbol("__image")?..symbol("__image_end")?,
            constant: vec![section(".text")?, init.clone(), section(".rodata")?],
            init,
            guards: guards.into_iter().collect(),
        })
    }
}

/// What the archive says about memory.
struct Pools {
    sizes: Vec<u64>,
    memories: Vec<Range<u64>>,
}

impl Pools {
    fn read(remains: &Remains) -> Result<Pools> {
        let mut pools = Pools { sizes: Vec::new(), memories: Vec::new() };
        let word =
            |at: usize| remains.word(at).with_context(|| format!("the archive ends at word {at}"));
        let mut at = HEADER_WORDS;
        for _ in 0..word(WORD_RECORDS)? {
            let Some(record) = Record::from_code(word(at)? as u32) else {
                bail!("the archive has no record at word {at}");
            };
            match record {
                Record::Pools => {
                    let sizes = (1..=Resource::COUNT).map(|field| word(at + field));
                    pools.sizes = sizes.collect::<Result<_>>()?;
                }
                Record::Memory => {
                    let (pages, first) = (word(at + 2)?, word(at + 5)?);
                    pools.memories.push(first..first + pages * PAGE);
                }
                Record::Device => {
                    let (pages, first) = (word(at + 2)?, word(at + 4)?);
                    pools.memories.push(first..first + pages * PAGE);
                }
                _ => {}
            }
            at += record.words();
        }
        ensure!(pools.sizes.len() == Resource::COUNT, "the archive has no pools");
        Ok(pools)
    }

    fn of(&self, resource: Resource) -> u64 {
        self.sizes[resource as usize]
    }

    /// Message buffers, those of each CPU's idle thread too, and then the frames of memory objects:
    /// they lie right below the first root.
    fn pages_below(&self, root: u64, cpus: u64) -> Range<u64> {
        let pages = self.of(Resource::Threads) + cpus + self.of(Resource::Frames);
        root.saturating_sub(pages * PAGE)..root
    }
}

/// Where an image range lies in physical memory.
fn physical(range: &Range<u64>) -> Range<u64> {
    range.start - IMAGE..range.end - IMAGE
}

/// Whether a page's memory lies in a physical range, in part.
fn overlaps(leaf: &Leaf, range: &Range<u64>) -> bool {
    leaf.to < range.end && range.start < leaf.to + leaf.bytes
}

/// Whether a page's memory lies in a physical range, all of it.
fn inside(leaf: &Leaf, range: &Range<u64>) -> bool {
    range.start <= leaf.to && leaf.to + leaf.bytes <= range.end
}

/// Whether a page covers part of a virtual range.
fn touches(leaf: &Leaf, range: &Range<u64>) -> bool {
    // The last page ends where addresses end.
    leaf.at < range.end && range.start <= leaf.at + (leaf.bytes - 1)
}

fn shown(leaf: &Leaf) -> String {
    let Leaf { at, to, bytes, writable, executable, user } = leaf;
    let right = |has: &bool, letter: &'static str| if *has { letter } else { "-" };
    format!(
        "the page of {bytes:#x} bytes at {at:#x}, which is {to:#x} in memory: {}{}{}",
        right(writable, "w"),
        right(executable, "x"),
        right(user, "u")
    )
}

#[cfg(test)]
mod tests {
    use super::super::tables::testing::*;
    use super::*;

    const INIT: u64 = IMAGE + 0x20_0000;
    const TEXT: u64 = INIT + 0x1000;
    const RODATA: u64 = TEXT + 0x1000;
    const DATA: u64 = RODATA + 0x1000;
    const GUARD: u64 = DATA + 0x1000;
    const END: u64 = GUARD + 0x1000;
    /// Where the tables lie, and where programs have memory.
    const TABLES: u64 = 0x60_0000;
    const FRAMES: u64 = 0x80_0000;

    /// A system without a fault, and its root.
    fn sound() -> (Memory, u64) {
        let mut memory = Memory::new(TABLES);
        let root = memory.table();
        for page in 0..FEWEST_LEAVES as u64 {
            let at = 0x20_0000 + page * PAGE;
            memory.map(root, at, FRAMES + page * PAGE, 0, USER_DATA);
        }
        memory.map(root, 0x40_0000, FRAMES + 0x20_0000, 0, USER_TEXT);
        memory.map(root, TEXT, TEXT - IMAGE, 0, KERNEL_TEXT);
        memory.map(root, RODATA, RODATA - IMAGE, 0, KERNEL_TEXT | 1 << 63);
        memory.map(root, DATA, DATA - IMAGE, 0, KERNEL_DATA);
        memory.map(root, DIRECT, 0, 1, KERNEL_DATA);
        memory.map(root, DIRECT + (DATA - IMAGE), DATA - IMAGE, 0, KERNEL_DATA);
        memory.map(root, DIRECT + (TEXT - IMAGE), TEXT - IMAGE, 0, KERNEL_TEXT | 1 << 63);
        memory.map(root, DIRECT + TABLES, TABLES, 1, KERNEL_DATA);
        (memory, root)
    }

    fn judged(memory: &Memory, root: u64) -> Vec<Finding> {
        let spaces = vec![memory.walk(root).unwrap()];
        let kernel = Kernel {
            image: INIT..END,
            init: INIT..TEXT,
            constant: vec![TEXT..RODATA, INIT..TEXT, RODATA..DATA],
            guards: vec![GUARD],
        };
        let tables = spaces[0].tables.clone();
        let programs = std::iter::once(FRAMES..FRAMES + 0x40_0000).collect();
        World { spaces, tables, kernel, programs, protection: 0xf }.judge()
    }

    /// The rules that a seeded violation breaks.
    fn broken(seed: impl FnOnce(&mut Memory, u64)) -> Vec<String> {
        let (mut memory, root) = sound();
        seed(&mut memory, root);
        let failed = judged(&memory, root).into_iter().filter(|(_, result)| result.is_err());
        failed.map(|(name, _)| name).collect()
    }

    #[test]
    fn a_sound_system_breaks_no_rule() {
        assert!(broken(|_, _| {}).is_empty());
        let (memory, root) = sound();
        let findings = judged(&memory, root);
        assert_eq!(findings[0].0, "108 pages in 1 address spaces walked, 101 of them user pages");
        assert_eq!(findings.len(), 13);
    }

    #[test]
    fn writable_code_is_found_wherever_it_is() {
        let both = "no page is both writable and executable";
        let constant = "no page of the kernel's code or constants is writable anywhere";
        assert_eq!(broken(|m, r| m.map(r, 0x70_0000, FRAMES, 0, EVERYTHING)), [both]);
        assert_eq!(broken(|m, r| m.map(r, DATA, DATA - IMAGE, 0, KERNEL_TEXT | 2)), [both]);
        let alias = DIRECT + 0x1000_0000;
        assert_eq!(broken(|m, r| m.map(r, alias, 0x20_0000, 1, KERNEL_DATA)), [constant]);
        let direct = DIRECT + (RODATA - IMAGE);
        assert_eq!(broken(|m, r| m.map(r, direct, RODATA - IMAGE, 0, KERNEL_DATA)), [constant]);
    }

    #[test]
    fn what_user_mode_must_not_reach_is_found() {
        let frames = "user pages are frames, message buffers or memory of the manifest";
        let map = |to: u64| broken(|m, r| m.map(r, 0x70_0000, to, 0, USER_DATA));
        assert_eq!(map(DATA - IMAGE), ["no user page is the kernel image", frames]);
        assert_eq!(map(TABLES + 0x1000), ["no user page is a page table", frames]);
        assert_eq!(map(FRAMES - 0x1000), [frames]);
        let above = broken(|m, r| {
            m.map(r, DIRECT + FRAMES, FRAMES, 0, USER_DATA);
            m.map(r, DIRECT + TABLES, TABLES, 1, KERNEL_DATA);
            m.set_user_to(r, DIRECT + FRAMES);
        });
        assert_eq!(above, ["no user page lies above the user half"]);
    }

    #[test]
    fn each_cpu_has_an_idle_thread_with_a_message_buffer() {
        let mut sizes = vec![0; Resource::COUNT];
        sizes[Resource::Threads as usize] = 3;
        sizes[Resource::Frames as usize] = 10;
        let pools = Pools { sizes, memories: Vec::new() };
        assert_eq!(pools.pages_below(TABLES, 1), TABLES - 14 * PAGE..TABLES);
        assert_eq!(pools.pages_below(TABLES, 8), TABLES - 21 * PAGE..TABLES);
    }

    #[test]
    fn what_must_be_absent_is_found() {
        let guards = "guard pages around the kernel's stacks are absent";
        assert_eq!(broken(|m, r| m.map(r, GUARD, GUARD - IMAGE, 0, KERNEL_DATA)), [guards]);
        let direct = DIRECT + (GUARD - IMAGE);
        assert_eq!(broken(|m, r| m.map(r, direct, GUARD - IMAGE, 0, KERNEL_DATA)), [guards]);
        let init = broken(|m, r| m.map(r, INIT, INIT - IMAGE, 0, KERNEL_TEXT));
        assert_eq!(init, ["code that only boot needs is unmapped"]);
    }

    #[test]
    fn a_walk_that_sees_too_little_fails() {
        let mut memory = Memory::new(TABLES);
        let root = memory.table();
        memory.map(root, TEXT, TEXT - IMAGE, 0, KERNEL_TEXT);
        let (_, result) = &judged(&memory, root)[0];
        assert_eq!(*result, Err("too few to be all".to_string()));
        let (mut memory, root) = sound();
        memory.set_root_flags(root, 0, 0);
        for page in 0..FEWEST_LEAVES as u64 {
            memory.map(root, DIRECT + FRAMES + page * PAGE, FRAMES, 0, KERNEL_DATA);
        }
        let (_, result) = &judged(&memory, root)[0];
        assert_eq!(*result, Err("no program has a page".to_string()));
    }
}
