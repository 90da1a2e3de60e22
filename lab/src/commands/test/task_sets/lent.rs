//! Task sets whose threads run on reservations by deadlines, by priorities or under service curves,
//! or some of them on their priorities, and share mutexes and a server that serves.

use super::draw::{BEGIN, OF_JOB, UNTIL, among, shares};
use analysis::Random;
use std::fmt::Write;

/// What a section executes beside its work for each mutex, and the kernel in a job, in us: calls
/// that lend leaves.
const OF_SECTION: u64 = 8;
const OF_KERNEL: u64 = 40;
/// The priority of the first thread, and of the server.
const LEAST: usize = 20;
const SERVER: u64 = 10;

/// How long after the last release responses are told, in us.
const LAST: u64 = 400_000;

/// Where threads run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// On leaves of one class.
    Together,
    /// On leaves with budgets of their own, of one class of priorities.
    Budgets,
    /// On leaves of two classes, and on their priorities.
    Apart,
    /// On leaves of a class of service curves.
    Curves,
}

impl Form {
    /// By how much periods are longer: bounds under curves have many quanta in them.
    fn stretch(self) -> u64 {
        if self == Form::Curves { 10 } else { 1 }
    }

    /// From when on no job is released, in us since boot.
    fn until(self) -> u64 {
        BEGIN + (UNTIL - BEGIN) * self.stretch().div_ceil(5)
    }
}

/// What a job does in a step, for so many us.
type Step = (Way, u64);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Alone,
    Mutex(u64),
    Both,
    Server,
}

impl Way {
    fn of(random: &mut Random, ways: &[Way]) -> Way {
        let place = random.below(ways.len() as u64) as usize;
        if random.below(2) == 0 { Way::Alone } else { ways[place] }
    }

    /// What it takes beside its work.
    fn beside(self) -> u64 {
        match self {
            Way::Alone => 0,
            Way::Mutex(_) | Way::Server => OF_SECTION,
            Way::Both => 2 * OF_SECTION,
        }
    }
}

struct Drawn {
    period: u64,
    deadline: u64,
    first: u64,
    steps: Vec<Step>,
}

impl Drawn {
    fn of(random: &mut Random, share: f64, ways: &[Way], form: Form) -> Drawn {
        let period = (20.0 * 20f64.powf(random.uniform())) as u64 * 100 * form.stretch();
        let works = ((period as f64 * share) as u64).max(100);
        let first = if random.below(3) == 0 { BEGIN } else { BEGIN + random.below(2_000) };
        let pieces = among(random, 1, 5);
        let steps: Vec<Step> =
            (0..pieces).map(|_| (Way::of(random, ways), works / pieces)).collect();
        let mut drawn = Drawn { period, deadline: period, first, steps };
        let least = drawn.execution().min(period);
        drawn.deadline -= (period - least) * random.below(2) * random.below(50) / 100;
        drawn
    }

    fn execution(&self) -> u64 {
        OF_JOB + self.steps.iter().map(|(way, length)| length + way.beside()).sum::<u64>()
    }

    /// The longest section that is of this way.
    fn longest(&self, way: Way) -> u64 {
        let own = self.steps.iter().filter(|(other, _)| *other == way);
        own.map(|(way, length)| length + way.beside()).max().unwrap_or(0)
    }

    fn argument(&self, place: usize) -> String {
        let step = |(way, length): &Step| match way {
            Way::Alone => format!("w{}", length * 1_000),
            Way::Mutex(number) => format!("i{},{number}", length * 1_000),
            Way::Both => format!("n{},0,1", length * 1_000),
            Way::Server => format!("s{}", length * 1_000),
        };
        let steps: Vec<_> = self.steps.iter().map(step).collect();
        format!("{} {} {} {}", LEAST + place, self.period, self.first, steps.join(";"))
    }

    fn sections(&self) -> String {
        let section = |(way, length): &Step| {
            let what = match way {
                Way::Alone => return None,
                Way::Mutex(number) => format!("mutex = \"m{number}\""),
                Way::Both => "mutexes = [\"m0\", \"m1\"]".to_string(),
                Way::Server => "endpoint = \"server\"".to_string(),
            };
            Some(format!("{{ {what}, length = \"{}us\" }}", length + way.beside()))
        };
        self.steps.iter().filter_map(section).collect::<Vec<_>>().join(", ")
    }
}

/// The tasks of a set, the least urgent first.
struct Set {
    form: Form,
    tasks: Vec<Drawn>,
    /// The classes with their policies and priorities, of which leaves are in the first one or in
    /// any.
    classes: Vec<(&'static str, &'static str, u64)>,
}

impl Set {
    fn of(random: &mut Random, form: Form) -> Set {
        let policy = |random: &mut Random| match random.below(3) {
            0 => "fixed-priority",
            _ => "edf",
        };
        let mut classes = vec![("class", policy(random), 300)];
        match form {
            Form::Budgets => classes[0].1 = "fixed-priority",
            Form::Curves => classes[0].1 = "service-curves",
            Form::Together | Form::Apart => {}
        }
        if form == Form::Apart {
            classes.push(("other", policy(random), among(random, 290, 310)));
        }
        let mut ways = vec![Way::Mutex(0), Way::Mutex(1)];
        let more: &[Way] = match form {
            Form::Budgets => &[],
            Form::Curves => &[Way::Server],
            Form::Together | Form::Apart => &[Way::Server, Way::Both],
        };
        ways.extend(more.iter().filter(|_| random.below(2) == 0));
        let (most, load) = match form {
            Form::Together if !ways.contains(&Way::Both) => (5, 0.1),
            Form::Together | Form::Apart => (4, 0.05),
            Form::Budgets => (3, 0.04),
            Form::Curves => (3, 0.02),
        };
        let count = among(random, 2, most);
        let load = load + 3.0 * load * random.uniform();
        let parts = shares(random, count, load);
        let mut tasks: Vec<Drawn> =
            parts.into_iter().map(|share| Drawn::of(random, share, &ways, form)).collect();
        tasks.sort_by_key(|task| std::cmp::Reverse(task.deadline));
        Set { form, tasks, classes }
    }

    /// What a leaf has of its own: for two jobs with what others do for them, or about that.
    fn budget(&self, random: &mut Random, place: usize) -> String {
        if self.form != Form::Budgets {
            return String::new();
        }
        let task = &self.tasks[place];
        let others = |way: Way| {
            let others = self.tasks.iter().enumerate().filter(|(other, _)| *other != place);
            others.map(|(_, other)| other.longest(way)).sum::<u64>()
        };
        let lent: u64 = task.steps.iter().map(|(way, _)| others(*way)).sum();
        let both = 2 * (task.execution() + lent + OF_KERNEL);
        let budget = both * among(random, 9, 12) / 10;
        format!("budget = \"{}us\"\n", budget.min(task.period))
    }

    /// The curve of a leaf: linear, or with another first slope.
    fn curve(&self, random: &mut Random) -> String {
        let most = 96 / self.tasks.len() as u64;
        let [first, rest] = [among(random, 5, most), among(random, 10, most)];
        match random.below(3) {
            0 => format!("curve = {{ m1 = \"{first}%\", d = \"4ms\", m2 = \"{rest}%\" }}\n"),
            _ => format!("curve = \"{rest}%\"\n"),
        }
    }

    /// The leaf of a task, if it has one, and what the manifest says of the task.
    fn task(&self, random: &mut Random, place: usize) -> (String, String) {
        let task = &self.tasks[place];
        let times = format!("period = \"{}us\"\ndeadline = \"{}us\"\n", task.period, task.deadline);
        let own = |name: &str, leaf: &str| {
            format!(
                "\n[[domain.task]]\nname = \"{name}\"\npriority = {}\n{leaf}\
                 execution = \"{}us\"\n{times}sections = [{}]\n",
                LEAST + place,
                task.execution(),
                task.sections()
            )
        };
        let class = match self.form {
            Form::Apart => random.below(1 + self.classes.len() as u64) as usize,
            _ => 0,
        };
        let name = format!("tasks-{place}");
        let Some((class, policy, _)) = self.classes.get(class) else {
            return (String::new(), own(&name, ""));
        };
        let urgent = match *policy {
            "edf" => String::new(),
            "service-curves" => self.curve(random),
            _ => format!("priority = {place}\n"),
        };
        let budget = self.budget(random, place);
        let leaf = format!(
            "\n[[reservation]]\nname = \"{name}\"\nin = \"{class}\"\n{times}{urgent}{budget}"
        );
        (leaf, own(&format!("task-{place}"), &format!("reservation = \"{name}\"\n")))
    }
}

/// The manifest of a seed: leaves that go by priorities or deadlines.
pub fn set(seed: u64) -> String {
    let mut random = Random::stream(seed, 1);
    let form = [Form::Together, Form::Budgets, Form::Apart][random.below(3) as usize];
    manifest_of(&mut random, form, &format!("lent-{seed}"))
}

/// The manifest of a seed: leaves under service curves.
pub fn curved(seed: u64) -> String {
    manifest_of(&mut Random::stream(seed, 2), Form::Curves, &format!("curved-{seed}"))
}

fn manifest_of(random: &mut Random, form: Form, name: &str) -> String {
    let (set, until) = (Set::of(random, form), form.until());
    let calls = set.tasks.iter().any(|task| task.longest(Way::Server) > 0);
    let mut text = format!(
        "[system]\nname = \"{name}\"\nkernel = \"tree\"\n\n[[mutex]]\nname = \"m0\"\n\n\
         [[mutex]]\nname = \"m1\"\n\n[[memory]]\nname = \"tasks\"\nsize = \"4K\"\n"
    );
    for (name, policy, priority) in &set.classes {
        write!(
            text,
            "\n[[reservation]]\nname = \"{name}\"\npolicy = \"{policy}\"\npriority = {priority}\n"
        )
        .expect("it is text");
    }
    let mut caps = "{ name = \"me\", thread = \"tasks\" }".to_string();
    let (mut arguments, mut own) = (Vec::new(), String::new());
    for (place, task) in set.tasks.iter().enumerate() {
        let (leaf, of_task) = set.task(random, place);
        if !leaf.is_empty() {
            caps += &format!(", {{ name = \"leaf-{place}\", reservation = \"tasks-{place}\" }}");
        }
        text += &leaf;
        own += &of_task;
        arguments.push(task.argument(place));
    }
    if calls {
        text += "\n[[endpoint]]\nname = \"server\"\nserves = true\n";
        caps += ", { name = \"server\", endpoint = \"server\", rights = [\"send\"] }";
        own += &format!(
            "\n[[domain]]\nname = \"server\"\nprogram = \"task-set-server\"\npriority = {SERVER}\n\
             args = {{ serves = 1 }}\n\
             caps = [{{ name = \"server\", endpoint = \"server\", rights = [\"receive\"] }}]\n"
        );
    }
    let count = set.tasks.len();
    text + &format!(
        "\n[[domain]]\nname = \"tasks\"\nprogram = \"task-set\"\npriority = {LEAST}\n\
         max_priority = {}\nthreads = {count}\nquota = {{ threads = {} }}\n\
         args = {{ tasks = \"{}\", until = {until} }}\n\
         maps = [{{ memory = \"tasks\", rights = \"rw\" }}]\ncaps = [{caps}]\n{own}\
         \n[[domain]]\nname = \"end\"\nprogram = \"task-set-end\"\npriority = 1\n\
         args = {{ at = {}, domains = \"tasks\" }}\n\
         maps = [{{ memory = \"tasks\", rights = \"r\" }}]\n\
         caps = [{{ name = \"console\", console = true }}, \
         {{ name = \"system\", system = true }}]\n",
        LEAST + count - 1,
        count - 1,
        arguments.join("|"),
        until + LAST
    )
}
