//! What a board has: device memory, memory for devices, I/O ports, interrupts of a CPU.

#[path = "support/mod.rs"]
mod support;

use abi::boot::{Cache, NO_OWNER, Record};
use abi::{PAGE, Rights};
use manifest::{Medium, System, pack, parse};

const SYSTEM: &str = "[system]\nname = \"board\"\ncpus = 2\n\
     [[notification]]\nname = \"bell\"\n\
     [[interrupt]]\nname = \"line\"\nirq = 9\nnotification = \"bell\"\ncpu = 1\n\
     [[memory]]\nname = \"queue\"\nsize = \"8K\"\n\
     [[memory]]\nname = \"picture\"\nsize = \"12K\"\nat = 0xfd000000\n\
     cache = \"write-combining\"\n\
     [[memory]]\nname = \"registers\"\nsize = \"4K\"\nat = 0xfeb00000\n\
     [[memory]]\nname = \"clock\"\nport = 0x70\nports = 2\n\
     [[memory]]\nname = \"speaker\"\nport = 0x61\nports = 1\n\
     [[domain]]\nname = \"driver\"\nprogram = \"greeter\"\npriority = 1\n\
     maps = [{ memory = \"registers\", rights = \"rw\" }]\n\
     caps = [{ name = \"queue\", memory = \"queue\" },\
     { name = \"known\", memory = \"queue\", rights = [\"read\", \"physical\"] },\
     { name = \"clock\", memory = \"clock\" }]\n";

fn system() -> System {
    parse("board.toml", SYSTEM).unwrap_or_else(|problems| panic!("{problems}"))
}

#[test]
fn device_memory_goes_into_the_archive_as_it_is() {
    let archive = pack(&system(), &support::program, 0).unwrap_or_else(|wrong| panic!("{wrong}"));
    let words: Vec<u64> =
        archive.bytes.as_chunks().0.iter().copied().map(u64::from_le_bytes).collect();
    let has = |record: &[u64]| words.windows(record.len()).any(|some| some == record);
    let combining = Cache::WriteCombining as u64;
    assert!(has(&[Record::Device.head(), NO_OWNER, 3, combining, 0xfd00_0000]));
    assert!(has(&[Record::Device.head(), NO_OWNER, 1, Cache::Uncached as u64, 0xfeb0_0000]));
    // The words in which their addresses are.
    let places = archive.memories.iter().map(|memory| words[memory.address_offset / 8]);
    assert_eq!(places.collect::<Vec<_>>(), [0, 0xfd00_0000, 0xfeb0_0000, 0x70, 0x61]);
}

#[test]
fn ports_have_a_record_and_no_page() {
    let system = system();
    let archive = pack(&system, &support::program, 0).unwrap_or_else(|wrong| panic!("{wrong}"));
    let words: Vec<u64> =
        archive.bytes.as_chunks().0.iter().copied().map(u64::from_le_bytes).collect();
    let clock = [Record::Ports.head(), NO_OWNER, 2, 0x70];
    assert!(words.windows(clock.len()).any(|some| some == clock));
    assert_eq!(system.memories[3].medium, Medium::Ports { first: 0x70, number: 2 });
    assert!(system.memories[3].bytes == 0 && !system.memories[3].is_ram());
    let summary = system.summary();
    assert!(summary.contains("2 I/O ports from 0x70 on"), "{summary}");
    assert!(summary.contains("I/O port 0x61"), "{summary}");
}

#[test]
fn device_memory_takes_no_ram() {
    let large = SYSTEM.replace("12K", "24M").replace("[system]", "[system]\nmemory = \"16M\"");
    let system = parse("board.toml", &large).unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(system.memories[1].bytes, 24 << 20);
    assert!(!system.memories[1].is_ram() && system.memories[0].is_ram());
    let summary = system.summary();
    assert!(summary.contains("4K at 0xfeb00000, uncached"), "{summary}");
    let registers = Medium::Device { at: 0xfeb0_0000, cache: Cache::Uncached };
    assert_eq!((system.memories[2].medium, system.memories[2].bytes), (registers, PAGE));
}

#[test]
fn where_memory_lies_is_told_to_who_asks_for_it() {
    let system = system();
    let rights: Vec<Rights> = system.domains[0].caps.iter().map(|cap| cap.rights).collect();
    assert_eq!(rights, [Rights::ALL, Rights::READ.or(Rights::PHYSICAL), Rights::ALL]);
}

#[test]
fn an_interrupt_comes_to_its_cpu() {
    let archive = pack(&system(), &support::program, 0).unwrap_or_else(|wrong| panic!("{wrong}"));
    let words: Vec<u64> =
        archive.bytes.as_chunks().0.iter().copied().map(u64::from_le_bytes).collect();
    let at = words.iter().position(|word| *word == Record::Interrupt.head()).expect("a record");
    assert_eq!((words[at + 2], words[at + 5]), (9, 1));
}

/// The CPU of the interrupt where domains of these CPUs hold it, or what is wrong.
fn comes_to(cpu: &str, holders: [(&str, &str); 2]) -> Result<u32, String> {
    let domain = |(cpus, rights): (&str, &str)| {
        let first = cpus.split(',').next().expect("a list has a first one");
        format!(
            "[[domain]]\nname = \"on{cpus}\"\nprogram = \"greeter\"\npriority = 1\n\
             cpu = {first}\ncpus = [{cpus}]\n\
             caps = [{{ name = \"line\", interrupt = \"line\", rights = [{rights}] }}]\n"
        )
    };
    let text = SYSTEM.replace("cpus = 2", "cpus = 4").replace("cpu = 1\n", cpu);
    let domains = holders.map(domain).concat().replace("on1,2", "one-two").replace("on1,3", "odd");
    match parse("board.toml", &format!("{text}{domains}")) {
        Ok(system) => Ok(system.interrupts[0].cpu),
        Err(problems) => Err(problems.0[0].message.clone()),
    }
}

#[test]
fn an_interrupt_comes_to_a_cpu_of_all_that_acknowledge_it() {
    let control = "\"control\"";
    let [both, odd] = [("1,2", control), ("1,3", control)];
    assert_eq!(comes_to("", [both, odd]), Ok(1));
    assert_eq!(comes_to("", [both, ("2", control)]), Ok(2));
    assert_eq!(comes_to("cpu = 3\n", [odd, ("3", control)]), Ok(3));
    // Who cannot acknowledge it may not have it interrupt, and may be elsewhere.
    assert_eq!(comes_to("", [both, ("0", "\"copy\"")]), Ok(1));
    assert_eq!(comes_to("cpu = 0\n", [("1,2", "\"copy\""), ("0", control)]), Ok(0));
    let apart = "the domains that control it have no CPU in common".to_string();
    assert_eq!(comes_to("", [odd, ("2", control)]), Err(apart));
    let elsewhere = "domain `odd` controls it, and may not use CPU 2".to_string();
    assert_eq!(comes_to("cpu = 2\n", [both, odd]), Err(elsewhere));
}

#[test]
fn an_interrupt_comes_to_the_cpu_of_a_reservation() {
    let on = |number: u32, more: &str| {
        format!(
            "[[domain]]\nname = \"d{number}{more}\"\nprogram = \"greeter\"\npriority = 1\n\
             cpu = {number}\n\
             caps = [{{ name = \"line\", interrupt = \"line\", rights = [\"control\"] }}]\n\
             reservation = {{ priority = 1 }}\n"
        )
    };
    let read = |cpu: &str, domains: &[String]| {
        let text = SYSTEM.replace("cpu = 1\n", cpu);
        match parse("board.toml", &format!("{text}{}", domains.concat())) {
            Ok(system) => Ok(system.interrupts[0].cpu),
            Err(problems) => Err(problems.0[0].message.clone()),
        }
    };
    assert_eq!(read("", &[on(1, "")]), Ok(1));
    assert_eq!(read("", &[on(1, ""), on(1, "x")]), Ok(1));
    let elsewhere = "domain `d1` controls it, and may not use CPU 0".to_string();
    assert_eq!(read("cpu = 0\n", &[on(1, "")]), Err(elsewhere));
    let apart = "the domains that control it have no CPU in common".to_string();
    assert_eq!(read("", &[on(0, ""), on(1, "")]), Err(apart));
    // What any CPU runs may be anywhere.
    let shared = "in = \"cpus\", budget = \"1ms\", period = \"9ms\"";
    let everywhere = on(0, "").replace("priority = 1 }", &format!("{shared} }}"));
    assert_eq!(read("", &[everywhere, on(1, "")]), Ok(1));
}
