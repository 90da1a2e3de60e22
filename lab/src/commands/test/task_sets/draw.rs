//! Task sets at random, as manifests: what a seed gives is the same on every host.
//!
//! All instants are whole microseconds. Tasks on their priorities are threads of one domain, which
//! share mutexes and a server; beside them, under the kernel `tree`, each task on a reservation is
//! a domain of its own.

use analysis::Random;
use std::fmt::Write;

/// When jobs begin, until when they are released and when responses are told, in us since boot.
pub const BEGIN: u64 = 20_000;
pub const UNTIL: u64 = BEGIN + 300_000;
pub const END: u64 = UNTIL + 100_000;
/// What a job executes beside its steps, in us: calls of the program.
pub const OF_JOB: u64 = 10;
/// What a section executes beside its work.
const OF_SECTION: u64 = 4;
/// The priority of the least urgent task, and of the server, which is above all tasks.
const LEAST: u64 = 20;
const SERVER: u64 = 90;

/// A stretch of a job.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Alone,
    Inheriting(u64),
    Ceiling(u64),
    Server,
}

/// A task: its period and first release, and what its jobs do one after the other.
struct Drawn {
    period: u64,
    deadline: u64,
    first: u64,
    steps: Vec<(Way, u64)>,
}

/// The manifest of a seed: every second one is of the kernel `tree`.
pub fn set(seed: u64) -> String {
    let mut random = Random::of(seed);
    let has_tree = seed.is_multiple_of(2);
    let kernel = if has_tree { "tree" } else { "strict-lazy" };
    let mut text = format!("[system]\nname = \"set-{seed}\"\nkernel = \"{kernel}\"\n");
    let mut domains = Vec::new();
    if has_tree {
        reserved(&mut random, &mut text, &mut domains);
    }
    if !has_tree || random.below(2) == 0 {
        let load = if has_tree { 0.25 } else { 0.4 + 0.5 * random.uniform() };
        threads(&mut random, load, &mut text);
        domains.push("tasks".to_string());
    }
    for domain in &domains {
        write!(text, "\n[[memory]]\nname = \"{domain}\"\nsize = \"4K\"\n").expect("it is text");
    }
    let maps = domains.iter().map(|name| format!("{{ memory = \"{name}\", rights = \"r\" }}"));
    let maps: Vec<_> = maps.collect();
    let (maps, names) = (maps.join(", "), domains.join(" "));
    text + &format!(
        "\n[[domain]]\nname = \"end\"\nprogram = \"task-set-end\"\npriority = 1\n\
         args = {{ at = {END}, domains = \"{names}\" }}\nmaps = [{maps}]\n\
         caps = [{{ name = \"console\", console = true }}, \
         {{ name = \"system\", system = true }}]\n"
    )
}

/// A number from one to another, both included.
pub fn among(random: &mut Random, least: u64, most: u64) -> u64 {
    least + random.below(most - least + 1)
}

/// A period from 2 to 40 ms, log-uniform, and a first release: every third one is at the beginning,
/// others are a little later, so that they find less urgent jobs in their sections.
fn drawn(random: &mut Random, share: f64, ways: &[Way]) -> Drawn {
    let period = (20.0 * 20f64.powf(random.uniform())) as u64 * 100;
    let works = ((period as f64 * share) as u64).max(100);
    let first = match random.below(3) {
        0 => BEGIN,
        _ => BEGIN + random.below(2_000),
    };
    let mut steps = vec![(Way::Alone, works)];
    if !ways.is_empty() {
        let pieces = among(random, 1, 5);
        let way = |random: &mut Random| match random.below(2) {
            0 => Way::Alone,
            _ => ways[random.below(ways.len() as u64) as usize],
        };
        steps = (0..pieces).map(|_| (way(random), works / pieces)).collect();
    }
    let least = execution(&steps).min(period);
    let deadline = match random.below(2) {
        0 => period,
        _ => period - (period - least) * random.below(50) / 100,
    };
    Drawn { period, deadline, first, steps }
}

/// How long a job executes at most.
fn execution(steps: &[(Way, u64)]) -> u64 {
    let sections = steps.iter().filter(|(way, _)| *way != Way::Alone).count() as u64;
    let works: u64 = steps.iter().map(|(_, length)| length).sum();
    works + OF_JOB + sections * OF_SECTION
}

/// Shares of the CPU that are `whole` together.
pub fn shares(random: &mut Random, count: u64, whole: f64) -> Vec<f64> {
    let parts: Vec<f64> = (0..count).map(|_| 0.1 + random.uniform()).collect();
    let all: f64 = parts.iter().sum();
    parts.iter().map(|part| whole * part / all).collect()
}

/// Threads of one domain, the least urgent first.
struct Sharing(Vec<Drawn>);

impl Sharing {
    fn priority(place: usize) -> u64 {
        LEAST + 10 * place as u64
    }

    /// The priority of the most urgent that works in this way.
    fn highest(&self, way: Way) -> Option<u64> {
        let works = |task: &Drawn| task.steps.iter().any(|(of, _)| *of == way);
        self.0.iter().rposition(works).map(Sharing::priority)
    }

    /// The mutexes among these ways, for the manifest.
    fn mutexes(&self, ways: &[Way]) -> String {
        let mutex = |way: &Way| {
            let (number, protocol) = match way {
                Way::Inheriting(number) => (number, "protocol = \"inheritance\"".to_string()),
                Way::Ceiling(number) => {
                    let ceiling = self.highest(*way).unwrap_or(LEAST);
                    (number, format!("protocol = \"ceiling\"\nceiling = {ceiling}"))
                }
                Way::Alone | Way::Server => return None,
            };
            Some(format!("\n[[mutex]]\nname = \"m{number}\"\n{protocol}\n"))
        };
        ways.iter().filter_map(mutex).collect()
    }

    /// What the program is told of its tasks.
    fn arguments(&self) -> String {
        let step = |(way, length): &(Way, u64)| match way {
            Way::Alone => format!("w{}", length * 1_000),
            Way::Inheriting(number) => format!("i{},{number}", length * 1_000),
            Way::Ceiling(number) => {
                format!("c{},{number},{}", length * 1_000, self.highest(*way).unwrap_or(LEAST))
            }
            Way::Server => format!("s{}", length * 1_000),
        };
        let task = |(place, task): (usize, &Drawn)| {
            let steps: Vec<_> = task.steps.iter().map(step).collect();
            let priority = Sharing::priority(place);
            format!("{priority} {} {} {}", task.period, task.first, steps.join(";"))
        };
        self.0.iter().enumerate().map(task).collect::<Vec<_>>().join("|")
    }

    /// What the manifest says of each task.
    fn tasks(&self) -> String {
        let section = |(way, length): &(Way, u64)| {
            let what = match way {
                Way::Alone => return None,
                Way::Inheriting(number) | Way::Ceiling(number) => format!("mutex = \"m{number}\""),
                Way::Server => "endpoint = \"server\"".to_string(),
            };
            Some(format!("{{ {what}, length = \"{}us\" }}", length + OF_SECTION))
        };
        let task = |(place, task): (usize, &Drawn)| {
            let sections: Vec<_> = task.steps.iter().filter_map(section).collect();
            format!(
                "\n[[domain.task]]\nname = \"tasks-{place}\"\npriority = {}\n\
                 execution = \"{}us\"\nperiod = \"{}us\"\ndeadline = \"{}us\"\nsections = [{}]\n",
                Sharing::priority(place),
                execution(&task.steps),
                task.period,
                task.deadline,
                sections.join(", ")
            )
        };
        self.0.iter().enumerate().map(task).collect()
    }
}

/// Threads on their priorities, which share mutexes and perhaps a server: the shorter the period,
/// the more urgent.
fn threads(random: &mut Random, load: f64, text: &mut String) {
    let has_server = random.below(2) == 0;
    let mut ways = vec![Way::Inheriting(0), Way::Inheriting(1), Way::Ceiling(2), Way::Ceiling(3)];
    ways.extend(has_server.then_some(Way::Server));
    let count = among(random, 2, 5);
    let shares = shares(random, count, load);
    let mut tasks: Vec<Drawn> = shares.iter().map(|share| drawn(random, *share, &ways)).collect();
    tasks.sort_by_key(|task| std::cmp::Reverse(task.deadline));
    let sharing = Sharing(tasks);
    *text += &sharing.mutexes(&ways);
    let calls = sharing.highest(Way::Server).is_some();
    let caps = if calls {
        *text += "\n[[endpoint]]\nname = \"server\"\n";
        "caps = [{ name = \"server\", endpoint = \"server\", rights = [\"send\"] }]\n"
    } else {
        ""
    };
    *text += &format!(
        "\n[[domain]]\nname = \"tasks\"\nprogram = \"task-set\"\npriority = {LEAST}\n\
         max_priority = {}\nthreads = {count}\nquota = {{ threads = {} }}\n\
         args = {{ tasks = \"{}\", until = {UNTIL} }}\n\
         maps = [{{ memory = \"tasks\", rights = \"rw\" }}]\n{caps}{}",
        Sharing::priority(sharing.0.len() - 1),
        count - 1,
        sharing.arguments(),
        sharing.tasks()
    );
    if calls {
        *text += &format!(
            "\n[[domain]]\nname = \"server\"\nprogram = \"task-set-server\"\npriority = {SERVER}\n\
             caps = [{{ name = \"server\", endpoint = \"server\", rights = [\"receive\"] }}]\n"
        );
    }
}

/// Tasks on reservations: by deadlines, by priorities within a budget, or by curves.
fn reserved(random: &mut Random, text: &mut String, domains: &mut Vec<String>) {
    let (policy, class) = match random.below(4) {
        0 | 1 => ("edf", String::new()),
        2 => ("fixed-priority", "budget = \"1400us\"\nperiod = \"2ms\"\n".to_string()),
        _ => ("service-curves", String::new()),
    };
    *text += &format!(
        "\n[[reservation]]\nname = \"class\"\npolicy = \"{policy}\"\npriority = 300\n{class}"
    );
    let count = among(random, 2, 4);
    let load = 0.2 + 0.4 * random.uniform();
    for (place, share) in shares(random, count, load).into_iter().enumerate() {
        let name = format!("r{place}");
        let task = drawn(random, share, &[]);
        let (execution, period) = (execution(&task.steps), task.period);
        let extra = match policy {
            // A budget that is whole at each release, a larger one, or none.
            "edf" => match random.below(3) {
                0 => String::new(),
                1 => format!("budget = \"{execution}us\"\n"),
                _ => format!("budget = \"{}us\"\n", execution + execution / 4),
            },
            "fixed-priority" => format!("priority = {}\n", 401 - period / 100),
            _ => format!("curve = \"{}%\"\n", (160.0 * share).ceil().max(3.0)),
        };
        *text += &format!(
            "\n[[reservation]]\nname = \"{name}\"\nin = \"class\"\nexecution = \"{execution}us\"\n\
             period = \"{period}us\"\ndeadline = \"{}us\"\n{extra}",
            task.deadline
        );
        let works: u64 = task.steps.iter().map(|(_, length)| length * 1_000).sum();
        *text += &format!(
            "\n[[domain]]\nname = \"{name}\"\nprogram = \"task-set\"\npriority = 10\n\
             reservation = \"{name}\"\n\
             args = {{ tasks = \"10 {period} {} w{works}\", until = {UNTIL} }}\n\
             maps = [{{ memory = \"{name}\", rights = \"rw\" }}]\n",
            task.first
        );
        domains.push(name);
    }
}
