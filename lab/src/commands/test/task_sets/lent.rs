//! Task sets whose threads run on reservations of one class, by deadlines or by priorities, and
//! share mutexes and a server that serves.

use super::draw::{BEGIN, END, UNTIL, among, shares};
use analysis::Random;
use std::fmt::Write;

/// What a job executes beside its steps, and a section beside its work: calls that lend leaves.
const OF_JOB: u64 = 10;
const OF_SECTION: u64 = 8;

/// What a job does in a step, for so many us.
type Step = (Way, u64);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Alone,
    Mutex(u64),
    Server,
}

struct Drawn {
    period: u64,
    deadline: u64,
    first: u64,
    steps: Vec<Step>,
}

impl Drawn {
    fn of(random: &mut Random, share: f64, ways: u64) -> Drawn {
        let period = (20.0 * 20f64.powf(random.uniform())) as u64 * 100;
        let works = ((period as f64 * share) as u64).max(100);
        let first = if random.below(3) == 0 { BEGIN } else { BEGIN + random.below(2_000) };
        let pieces = among(random, 1, 5);
        let way = |random: &mut Random| match (random.below(2), random.below(ways)) {
            (0, _) => Way::Alone,
            (_, 2) => Way::Server,
            (_, number) => Way::Mutex(number),
        };
        let steps: Vec<Step> = (0..pieces).map(|_| (way(random), works / pieces)).collect();
        let mut drawn = Drawn { period, deadline: period, first, steps };
        let least = drawn.execution().min(period);
        drawn.deadline -= (period - least) * random.below(2) * random.below(50) / 100;
        drawn
    }

    fn execution(&self) -> u64 {
        let of = |(way, length): &Step| length + if *way == Way::Alone { 0 } else { OF_SECTION };
        OF_JOB + self.steps.iter().map(of).sum::<u64>()
    }

    fn argument(&self) -> String {
        let step = |(way, length): &Step| match way {
            Way::Alone => format!("w{}", length * 1_000),
            Way::Mutex(number) => format!("i{},{number}", length * 1_000),
            Way::Server => format!("s{}", length * 1_000),
        };
        let steps: Vec<_> = self.steps.iter().map(step).collect();
        format!("20 {} {} {}", self.period, self.first, steps.join(";"))
    }

    fn sections(&self) -> String {
        let section = |(way, length): &Step| {
            let what = match way {
                Way::Alone => return None,
                Way::Mutex(number) => format!("mutex = \"m{number}\""),
                Way::Server => "endpoint = \"server\"".to_string(),
            };
            Some(format!("{{ {what}, length = \"{}us\" }}", length + OF_SECTION))
        };
        self.steps.iter().filter_map(section).collect::<Vec<_>>().join(", ")
    }
}

/// The manifest of a seed.
pub fn set(seed: u64) -> String {
    let mut random = Random::stream(seed, 1);
    let policy = if random.below(3) < 2 { "edf" } else { "fixed-priority" };
    let ways = 2 + random.below(2);
    let count = among(&mut random, 2, 5);
    let load = 0.1 + 0.3 * random.uniform();
    let parts = shares(&mut random, count, load);
    let mut tasks: Vec<Drawn> =
        parts.into_iter().map(|share| Drawn::of(&mut random, share, ways)).collect();
    tasks.sort_by_key(|task| std::cmp::Reverse(task.deadline));
    let calls = tasks.iter().any(|task| task.steps.iter().any(|(way, _)| *way == Way::Server));
    let mut text = format!(
        "[system]\nname = \"lent-{seed}\"\nkernel = \"tree\"\n\n[[mutex]]\nname = \"m0\"\n\n\
         [[mutex]]\nname = \"m1\"\n\n[[reservation]]\nname = \"class\"\npolicy = \"{policy}\"\n\
         priority = 300\n\n[[memory]]\nname = \"tasks\"\nsize = \"4K\"\n"
    );
    let mut caps = "{ name = \"me\", thread = \"tasks\" }".to_string();
    let (mut arguments, mut own) = (Vec::new(), String::new());
    for (place, task) in tasks.iter().enumerate() {
        let times = format!("period = \"{}us\"\ndeadline = \"{}us\"\n", task.period, task.deadline);
        let priority = match policy {
            "edf" => String::new(),
            _ => format!("priority = {}\n", 10 + place),
        };
        write!(
            text,
            "\n[[reservation]]\nname = \"tasks-{place}\"\nin = \"class\"\n{times}{priority}"
        )
        .expect("it is text");
        write!(
            own,
            "\n[[domain.task]]\nname = \"task-{place}\"\npriority = 20\n\
             reservation = \"tasks-{place}\"\nexecution = \"{}us\"\n{times}sections = [{}]\n",
            task.execution(),
            task.sections()
        )
        .expect("it is text");
        caps += &format!(", {{ name = \"leaf-{place}\", reservation = \"tasks-{place}\" }}");
        arguments.push(task.argument());
    }
    if calls {
        text += "\n[[endpoint]]\nname = \"server\"\nserves = true\n";
        caps += ", { name = \"server\", endpoint = \"server\", rights = [\"send\"] }";
        own += "\n[[domain]]\nname = \"server\"\nprogram = \"task-set-server\"\npriority = 10\n\
                args = { serves = 1 }\n\
                caps = [{ name = \"server\", endpoint = \"server\", rights = [\"receive\"] }]\n";
    }
    text + &format!(
        "\n[[domain]]\nname = \"tasks\"\nprogram = \"task-set\"\npriority = 20\n\
         threads = {count}\nquota = {{ threads = {} }}\n\
         args = {{ tasks = \"{}\", until = {UNTIL} }}\n\
         maps = [{{ memory = \"tasks\", rights = \"rw\" }}]\ncaps = [{caps}]\n{own}\
         \n[[domain]]\nname = \"end\"\nprogram = \"task-set-end\"\npriority = 1\n\
         args = {{ at = {END}, domains = \"tasks\" }}\n\
         maps = [{{ memory = \"tasks\", rights = \"r\" }}]\n\
         caps = [{{ name = \"console\", console = true }}, \
         {{ name = \"system\", system = true }}]\n",
        count - 1,
        arguments.join("|")
    )
}
