//! Small systems over the keys that notes name, at random, and their manifests.

use analysis::Random;
use std::fmt::Write;

/// Where all that any CPU may run is.
pub const SHARED: &str = "cpus";

/// A system as it is meant, before it is a manifest.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub cpus: u32,
    pub shared_priority: u32,
    /// The supervisor's priority, if it is stated.
    pub supervisor: Option<u32>,
    /// Whether each endpoint has a notification.
    pub endpoints: Vec<bool>,
    pub nodes: Vec<Node>,
    pub domains: Vec<Domain>,
}

/// A reservation; times are in milliseconds.
#[derive(Clone, Debug, Default)]
pub struct Node {
    pub name: String,
    /// The class that it is in, by its name; none: the root of its CPU.
    pub class: Option<String>,
    pub cpu: u32,
    pub policy: Option<&'static str>,
    pub priority: Option<u32>,
    pub budget: Option<u64>,
    pub period: u64,
    pub server: Option<&'static str>,
    pub overrun: Option<&'static str>,
    pub deadline: bool,
    pub execution: Option<u64>,
    /// What it keeps at least.
    pub adaptive: Option<u64>,
    /// Offsets and lengths.
    pub windows: Vec<(u64, u64)>,
    pub background: bool,
    /// Its curve, in percent.
    pub curve: Option<u64>,
}

/// A domain.
#[derive(Clone, Debug, Default)]
pub struct Domain {
    pub name: String,
    pub priority: u32,
    pub cpu: u32,
    pub threads: u32,
    pub more_threads: u32,
    pub reservation: Option<String>,
    /// Another reservation that it may use.
    pub named: Option<String>,
    /// For each endpoint whether it may send, and receive.
    pub rights: Vec<(bool, bool)>,
    /// Whether it may write the memory.
    pub writes: bool,
    /// Whether its jobs are stated, and the endpoints that these call.
    pub declared: Option<Vec<usize>>,
    pub fault_handler: Option<usize>,
    /// Whether it is supervised, and whether it has a heartbeat.
    pub restart: Option<bool>,
}

impl Plan {
    /// A system at random.
    pub fn of(random: &mut Random) -> Plan {
        let mut draw = Draw(random);
        let mut plan = Plan {
            cpus: draw.one([1, 2, 2, 2, 2, 9]),
            shared_priority: draw.one([256, 300, 40]),
            supervisor: draw.one([None, None, Some(60), Some(255)]),
            endpoints: (0..draw.below(3)).map(|_| draw.in_(6)).collect(),
            ..Plan::default()
        };
        if draw.in_(2) {
            (0..1 + draw.below(5)).for_each(|at| plan.nodes.push(draw.node(&plan, at)));
        }
        (0..1 + draw.below(5)).for_each(|at| plan.domains.push(draw.domain(&plan, at)));
        plan
    }

    /// The reservation of a name.
    pub fn node(&self, name: &str) -> &Node {
        self.nodes.iter().find(|node| node.name == name).expect("it is there")
    }

    /// A reservation and the classes around it.
    pub fn around<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Node> {
        let above = |node: &&Node| {
            node.class.as_deref().filter(|class| *class != SHARED).map(|class| self.node(class))
        };
        std::iter::successors(Some(self.node(name)), above)
    }

    /// What is in a class.
    pub fn inside<'a>(&'a self, class: &'a str) -> impl Iterator<Item = &'a Node> {
        self.nodes.iter().filter(move |node| node.class.as_deref() == Some(class))
    }

    /// The manifest.
    pub fn text(&self) -> String {
        let (cpus, shared) = (self.cpus, self.shared_priority);
        let mut text = format!(
            "[system]\nname = \"plan\"\ncpus = {cpus}\n[[memory]]\nname = \"m\"\nsize = \"4K\"\n"
        );
        if self.nodes.iter().any(|node| node.class.as_deref() == Some(SHARED)) {
            text = text.replace("[[memory]]", &format!("shared_priority = {shared}\n[[memory]]"));
        }
        if self.endpoints.contains(&true) {
            text += "[[notification]]\nname = \"n\"\n";
        }
        if let (Some(priority), true) = (self.supervisor, self.is_supervised()) {
            write!(text, "[supervisor]\npriority = {priority}\n").expect("it is a text");
        }
        for (at, has_notification) in self.endpoints.iter().enumerate() {
            let told = if *has_notification { "notification = \"n\"\n" } else { "" };
            write!(text, "[[endpoint]]\nname = \"e{at}\"\n{told}").expect("it is a text");
        }
        self.nodes.iter().for_each(|node| text += &node.text());
        self.domains.iter().for_each(|domain| text += &domain.text());
        text
    }

    /// Whether there is a supervisor.
    pub fn is_supervised(&self) -> bool {
        self.domains.iter().any(|domain| domain.restart.is_some())
    }
}

/// Lines of the keys that are given.
fn lines<const N: usize>(keys: [(&str, Option<String>); N]) -> String {
    let given = keys.into_iter().filter_map(|(key, value)| Some(format!("{key} = {}\n", value?)));
    given.collect()
}

fn time(milliseconds: u64) -> String {
    format!("\"{milliseconds}ms\"")
}

fn quoted(word: &str) -> String {
    format!("{word:?}")
}

impl Node {
    /// Whether it is a class of this policy.
    pub fn is(&self, policy: &str) -> bool {
        self.policy == Some(policy)
    }

    fn text(&self) -> String {
        let has_period = self.budget.or(self.execution).is_some() || self.deadline;
        let is_in_root = self.class.is_none();
        let window = |(offset, duration): &(u64, u64)| {
            format!("{{ offset = {}, duration = {} }}", time(*offset), time(*duration))
        };
        let windows: Vec<String> = self.windows.iter().map(window).collect();
        let keys = [
            ("name", Some(quoted(&self.name))),
            ("in", self.class.as_deref().map(quoted)),
            ("cpu", is_in_root.then(|| self.cpu.to_string())),
            ("policy", self.policy.map(quoted)),
            ("major_frame", self.is("partitions").then(|| time(FRAME))),
            ("priority", self.priority.map(|it| it.to_string())),
            ("budget", self.budget.map(time)),
            ("period", has_period.then(|| time(self.period))),
            ("server", self.server.map(quoted)),
            ("overrun", self.overrun.map(quoted)),
            ("deadline", self.deadline.then(|| time(self.period))),
            ("execution", self.execution.map(time)),
            (
                "adaptive",
                self.adaptive.map(|it| format!("{{ importance = 1, least = {} }}", time(it))),
            ),
            ("windows", (!windows.is_empty()).then(|| format!("[{}]", windows.join(", ")))),
            ("background", self.background.then(|| "true".to_string())),
            ("curve", self.curve.map(|percent| format!("\"{percent}%\""))),
        ];
        format!("[[reservation]]\n{}", lines(keys))
    }
}

impl Domain {
    fn text(&self) -> String {
        let cap = |(at, (send, receive)): (usize, &(bool, bool))| {
            let rights = [("\"send\"", *send), ("\"receive\"", *receive)];
            let rights: Vec<_> = rights.iter().filter(|it| it.1).map(|it| it.0).collect();
            let rights = (!rights.is_empty()).then(|| rights.join(", "))?;
            Some(format!("{{ name = \"c{at}\", endpoint = \"e{at}\", rights = [{rights}] }}"))
        };
        let named = self.named.as_ref().map(|name| {
            format!("{{ name = \"r\", reservation = {name:?}, rights = [\"reserve\"] }}")
        });
        let caps: Vec<_> = self.rights.iter().enumerate().filter_map(cap).chain(named).collect();
        let section = |at: &usize| format!("{{ endpoint = \"e{at}\", length = \"1us\" }}");
        let calls = self.declared.iter().flatten().map(section).collect::<Vec<_>>();
        let jobs = self.declared.as_ref().map(|_| quoted("1ms"));
        let keys = [
            ("name", Some(quoted(&self.name))),
            ("program", Some(quoted("busy"))),
            ("priority", Some(self.priority.to_string())),
            ("cpu", Some(self.cpu.to_string())),
            ("threads", Some(self.threads.to_string())),
            ("reservation", self.reservation.as_deref().map(quoted)),
            ("execution", jobs),
            ("period", self.declared.as_ref().map(|_| quoted("400ms"))),
            ("sections", (!calls.is_empty()).then(|| format!("[{}]", calls.join(", ")))),
            ("fault_handler", self.fault_handler.map(|at| format!("\"e{at}\""))),
            ("restart", self.restart.map(|_| quoted("on-failure"))),
            ("heartbeat", self.restart.filter(|it| *it).map(|_| quoted("50ms"))),
            ("maps", self.writes.then(|| "[{ memory = \"m\", rights = \"rw\" }]".to_string())),
            ("caps", Some(format!("[{}]", caps.join(", ")))),
            (
                "quota",
                (self.more_threads > 0)
                    .then(|| format!("{{ threads = {} }}", self.threads - 1 + self.more_threads)),
            ),
        ];
        format!("[[domain]]\n{}", lines(keys))
    }
}

/// The major frame of all partitions, in milliseconds.
pub const FRAME: u64 = 20;

struct Draw<'a>(&'a mut Random);

impl Draw<'_> {
    fn below(&mut self, most: u64) -> u64 {
        self.0.below(most)
    }

    /// Once in so many times.
    fn in_(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    fn one<T: Clone, const N: usize>(&mut self, all: [T; N]) -> T {
        all[self.below(N as u64) as usize].clone()
    }

    fn some<T>(&mut self, times: u64, value: T) -> Option<T> {
        self.in_(times).then_some(value)
    }

    fn node(&mut self, plan: &Plan, at: u64) -> Node {
        let classes: Vec<&Node> = plan.nodes.iter().filter(|it| it.policy.is_some()).collect();
        let inner = match classes.len() as u64 {
            0 => None,
            count => (!self.in_(3)).then(|| classes[self.below(count) as usize]),
        };
        let class = inner.map(|it| it.name.clone()).or(self.some(6, SHARED.to_string()));
        let above = match (inner, &class) {
            (Some(inner), _) => inner.policy.expect("it is a class"),
            (None, Some(_)) => "edf",
            (None, None) => "fixed-priority",
        };
        let policies = ["fixed-priority", "edf", "service-curves", "partitions", "partitions"];
        // Windows are of a CPU's time.
        let (inside, outside) = (self.one([0, 1, 2]), self.one([0, 1, 2, 3, 4]));
        let chosen = policies[if class.is_some() { inside } else { outside }];
        let policy = self.in_(if at == 0 { 2 } else { 4 }).then_some(chosen);
        let period = self.one([10, 20, 50]);
        let budget = self.some(2, self.0.clone().below(period / 5) + 1);
        let budget = if self.in_(10) { Some(period) } else { budget };
        let budget = budget.filter(|_| policy != Some("partitions"));
        let is_leaf = policy.is_none();
        let limited = budget.filter(|budget| *budget < period);
        let cpu = inner.map_or(self.below(u64::from(plan.cpus)) as u32, |inner| inner.cpu);
        let mut node = Node {
            name: format!("r{at}"),
            cpu: if class.as_deref() == Some(SHARED) { 0 } else { cpu },
            policy,
            priority: (above == "fixed-priority").then(|| self.one([30, 280, 301, 302])),
            budget,
            period,
            deadline: is_leaf && self.in_(2),
            execution: (is_leaf && self.in_(3)).then(|| limited.unwrap_or(2)),
            background: above == "partitions" && self.in_(3),
            curve: (above == "service-curves").then_some(20),
            class,
            ..Node::default()
        };
        if above == "edf" && limited.is_none() {
            node.deadline = is_leaf;
        }
        if above == "partitions" && !node.background && !self.in_(3) {
            let taken: u64 = plan.nodes.iter().map(|it| it.windows.len() as u64).sum();
            let all = self.in_(5) && taken == 0;
            node.windows = vec![if all { (0, FRAME) } else { (taken * 5, 5) }];
        }
        if limited.is_some() {
            node.overrun = self.some(6, "background");
            node.server = self.some(6, "constant-soft").filter(|_| node.overrun.is_none());
            node.adaptive = self.some(3, 1).filter(|_| ["fixed-priority", "edf"].contains(&above));
        }
        node
    }

    fn domain(&mut self, plan: &Plan, at: u64) -> Domain {
        let leaves: Vec<&Node> = plan.nodes.iter().filter(|it| it.policy.is_none()).collect();
        let mut leaf = || match leaves.len() as u64 {
            0 => None,
            count => Some(leaves[self.below(count) as usize]),
        };
        let (own, other) = (leaf(), leaf());
        let own = own.filter(|_| !self.in_(3));
        let cpu = own.map_or(self.below(u64::from(plan.cpus)) as u32, |own| own.cpu);
        let rights: Vec<(bool, bool)> =
            plan.endpoints.iter().map(|_| (!self.in_(3), self.in_(3))).collect();
        let calls = (0..rights.len()).filter(|at| rights[*at].0 && self.in_(2)).collect();
        Domain {
            name: format!("d{at}"),
            priority: self.one([10, 50, 60, 100]),
            cpu,
            threads: self.one([1, 1, 2]),
            more_threads: self.one([0, 0, 0, 1]),
            named: other.filter(|_| self.in_(6)).map(|other| other.name.clone()),
            writes: self.in_(3),
            declared: (own.is_none() && self.in_(3)).then_some(calls),
            fault_handler: (!rights.is_empty() && self.in_(8)).then_some(0),
            restart: self.in_(4).then(|| self.in_(2)),
            reservation: own.map(|own| own.name.clone()),
            rights,
        }
    }
}
