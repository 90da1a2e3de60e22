//! From tokens to a task set.

use crate::set::{Activation, Instruction, Object, Operand, Phase, Task, TaskSet, Time};
use crate::token::{Kind, Token, tokens};
use Object::{Condition, Counter, Mutex, Pointer, Queue};
use abi::rtsim::OBJECTS;
use manifest::{Problem, Source, Span, nearest};

/// What stands at the top of a file.
const TOP: &str =
    "mutex, condition, counter, queue, pointer, helpers, duration, seed, blocking, task";
/// All instructions.
const INSTRUCTIONS: [&str; 15] = [
    "fixed", "delay", "lock", "unlock", "wait", "signal", "inc", "dec", "set", "waitc", "push",
    "pop", "pushptr", "popptr", "waitq",
];

/// The most tasks, and CPUs.
pub const MOST_TASKS: usize = 64;
const MOST_CPUS: u64 = 64;
/// The most helpers of a condition, as the kernel has them.
const MOST_HELPERS: usize = 4;
/// The longest time, in units: all sums of times stay far below 2^64 ns.
const LONGEST: u64 = u32::MAX as u64;

struct Parser<'a> {
    source: &'a Source,
    tokens: Vec<Token>,
    at: usize,
    set: TaskSet,
    /// Conditions, and the tasks that help them, which may stand below.
    helpers: Vec<(usize, String, Span)>,
}

/// Reads a task set; the first thing that is wrong with it is told.
///
/// # Errors
///
/// What is wrong, where, and how to mend it.
pub fn parse(source: &Source) -> Result<TaskSet, Problem> {
    let (objects, tasks, helpers) = (Vec::new(), Vec::new(), Vec::new());
    let name = "rtsim".to_string();
    let set = TaskSet { name, objects, tasks, helpers, duration: 0, seed: 1, blocking: 0 };
    let mut parser = Parser { source, tokens: tokens(source)?, at: 0, set, helpers: Vec::new() };
    while parser.peek().kind != Kind::End {
        parser.item()?;
    }
    if parser.set.duration == 0 {
        let span = parser.peek().span.clone();
        return Err(source.problem(&span, "the file has no duration", "write `duration 1000;`"));
    }
    if parser.set.tasks.is_empty() {
        let span = parser.peek().span.clone();
        let help = "write `task A priority 1 period 100 { fixed(10); }`";
        return Err(source.problem(&span, "the file has no task", help));
    }
    parser.resolve_helpers()?;
    Ok(parser.set)
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn wrong<T>(&self, span: &Span, what: impl Into<String>, help: &str) -> Result<T, Problem> {
        Err(self.source.problem(span, what, help))
    }

    fn sign(&mut self, sign: char) -> Result<(), Problem> {
        let token = self.next();
        match token.kind {
            Kind::Sign(found) if found == sign => Ok(()),
            _ => self.wrong(&token.span, format!("`{sign}` is missing"), "write it here"),
        }
    }

    fn is_sign(&self, sign: char) -> bool {
        self.peek().kind == Kind::Sign(sign)
    }

    fn word(&mut self, help: &str) -> Result<(String, Span), Problem> {
        let token = self.next();
        match token.kind {
            Kind::Word(word) => Ok((word, token.span)),
            _ => self.wrong(&token.span, "a name is missing", help),
        }
    }

    fn number(&mut self, least: u64) -> Result<u64, Problem> {
        let token = self.next();
        match token.kind {
            Kind::Number(number) if number > LONGEST => {
                self.wrong(&token.span, "the number is too great", "write one below 4294967296")
            }
            Kind::Number(number) if number >= least => Ok(number),
            Kind::Number(_) => self.wrong(&token.span, "the number is too small", &least_is(least)),
            _ => self.wrong(&token.span, "a number is missing", "write a whole number"),
        }
    }

    fn item(&mut self) -> Result<(), Problem> {
        let (word, span) = self.word(TOP)?;
        match word.as_str() {
            "mutex" => self.objects(Mutex)?,
            "condition" => self.objects(Condition)?,
            "counter" => self.objects(Counter)?,
            "queue" => self.objects(Queue)?,
            "pointer" => self.objects(Pointer)?,
            "duration" => self.set.duration = self.number(1)?,
            "seed" => self.set.seed = self.number(0)?,
            "blocking" => self.set.blocking = self.number(0)?,
            "task" => return self.task(),
            "helpers" => self.helpers()?,
            "inherit" => {
                let help = "leave it out, and run with --pi, or with --pi --pi-cv";
                return self.wrong(&span, "a run inherits as a whole, or not at all", help);
            }
            _ => return self.wrong(&span, format!("`{word}` begins nothing"), TOP),
        }
        self.sign(';')
    }

    /// A condition, and the tasks that are able to make it true.
    fn helpers(&mut self) -> Result<(), Problem> {
        let condition = self.object(Condition)?;
        if condition.through {
            let span = self.peek().span.clone();
            return self.wrong(&span, "a pointer has no helpers", "name a condition");
        }
        loop {
            let (name, span) = self.word("name the task")?;
            self.helpers.push((condition.object, name, span));
            if !self.is_sign(',') {
                return Ok(());
            }
            self.next();
        }
    }

    /// Finds the tasks that help.
    fn resolve_helpers(&mut self) -> Result<(), Problem> {
        for (condition, name, span) in std::mem::take(&mut self.helpers) {
            let task = self.set.tasks.iter().position(|task| task.name == name);
            let Some(task) = task else {
                let help = "name a task of the file";
                return self.wrong(&span, format!("there is no task `{name}`"), help);
            };
            if self.set.helpers.contains(&(condition, task)) {
                let what = format!("`{name}` helps the condition already");
                return self.wrong(&span, what, "leave it out");
            }
            let own = self.set.helpers.iter().filter(|(other, _)| *other == condition);
            if own.count() == MOST_HELPERS {
                let what = "these are more helpers of a condition than 4";
                return self.wrong(&span, what, "leave some out");
            }
            self.set.helpers.push((condition, task));
        }
        Ok(())
    }

    fn objects(&mut self, object: Object) -> Result<(), Problem> {
        loop {
            let (name, span) = self.word("name the object")?;
            if self.set.objects.iter().any(|(other, _)| *other == name) {
                return self.wrong(&span, format!("`{name}` is there twice"), "rename one");
            }
            if self.set.objects.len() == OBJECTS {
                return self.wrong(&span, "these are more objects than 64", "leave some out");
            }
            self.set.objects.push((name, object));
            if !self.is_sign(',') {
                return Ok(());
            }
            self.next();
        }
    }

    fn task(&mut self) -> Result<(), Problem> {
        let (name, at) = self.word("name the task")?;
        if self.set.tasks.iter().any(|task| task.name == name) {
            return self.wrong(&at, format!("there are two tasks `{name}`"), "rename one");
        }
        let mut task = self.header(name, &at)?;
        self.sign('{')?;
        let mut code = Vec::new();
        while !self.is_sign('}') {
            code.push(self.instruction()?);
            self.sign(';')?;
        }
        self.sign('}')?;
        if code.is_empty() {
            return self.wrong(&at, "the task does nothing", "write `fixed(10);` between { and }");
        }
        if self.set.tasks.len() == MOST_TASKS {
            return self.wrong(&at, "these are more tasks than 64", "leave some out");
        }
        task.phases.push(Phase { jobs: 1, period: None, code });
        self.set.tasks.push(task);
        Ok(())
    }

    /// What stands between the name of a task and its code.
    fn header(&mut self, name: String, at: &Span) -> Result<Task, Problem> {
        let (mut priority, mut activation) = (None, None);
        let (mut phase, mut deadline, mut budget, mut cpu) = (0, None, None, 0);
        while !self.is_sign('{') {
            let help = "priority, period, forever, once, phase, deadline, budget or cpu, \
                        and then the code in { }";
            let (key, span) = self.word(help)?;
            match key.as_str() {
                "priority" => priority = Some(self.number(1)?),
                "period" => activation = Some(Activation::Period(self.number(1)?)),
                "forever" => activation = Some(Activation::Forever),
                "once" => activation = Some(Activation::Once),
                "phase" => phase = self.number(0)?,
                "deadline" => deadline = Some(self.number(1)?),
                "budget" => budget = Some((self.number(1)?, self.number(1)?)),
                "cpu" => cpu = self.number(0)?,
                _ => return self.wrong(&span, format!("a task has no `{key}`"), help),
            }
            if cpu >= MOST_CPUS {
                return self.wrong(&span, "there is no such CPU", "write 0 to 63");
            }
        }
        let Some(priority) = priority else {
            return self.wrong(at, "the task has no priority", "write `priority 1`");
        };
        let Some(activation) = activation else {
            return self.wrong(at, "when does it run?", "write `period 100`, `forever` or `once`");
        };
        let (jobs, by_deadline) = ((activation == Activation::Once).then_some(1), false);
        let phases = Vec::new();
        Ok(Task {
            name,
            priority,
            activation,
            jobs,
            phase,
            deadline,
            budget,
            cpu,
            by_deadline,
            phases,
        })
    }

    fn instruction(&mut self) -> Result<Instruction, Problem> {
        let (word, span) = self.word(&INSTRUCTIONS.join(", "))?;
        if word.starts_with("helpers_") {
            let help = "write `helpers CV A, B;` above the tasks";
            return self.wrong(&span, "helpers stay the same for the whole run", help);
        }
        if !INSTRUCTIONS.contains(&word.as_str()) {
            let near = nearest(&word, &INSTRUCTIONS);
            let near = near.map(|near| format!("did you mean `{near}`?"));
            let help = near.unwrap_or_else(|| INSTRUCTIONS.join(", "));
            return self.wrong(&span, format!("`{word}` is no instruction"), &help);
        }
        self.sign('(')?;
        let made = match word.as_str() {
            "fixed" => Instruction::Compute(self.time()?),
            "delay" => Instruction::Delay(self.time()?),
            "lock" => Instruction::Lock(self.object(Mutex)?),
            "unlock" => Instruction::Unlock(self.object(Mutex)?),
            "wait" => Instruction::Wait(self.object(Mutex)?, self.then(Condition)?),
            "signal" => Instruction::Signal(self.object(Mutex)?, self.then(Condition)?),
            "inc" => Instruction::Inc(self.object(Counter)?),
            "dec" => Instruction::Dec(self.object(Counter)?),
            "set" => {
                let counter = self.object(Counter)?;
                self.sign(',')?;
                Instruction::Set(counter, self.number(0)?)
            }
            "waitc" => {
                let (mutex, condition) = (self.object(Mutex)?, self.then(Condition)?);
                Instruction::WaitCounter(mutex, condition, self.then(Counter)?)
            }
            "waitq" => {
                let (mutex, condition) = (self.object(Mutex)?, self.then(Condition)?);
                Instruction::WaitQueue(mutex, condition, self.then(Queue)?)
            }
            "push" => Instruction::Push(self.object(Queue)?),
            "pop" => Instruction::Pop(self.object(Queue)?),
            "pushptr" => {
                let queue = self.object(Queue)?;
                let references = [self.then(Queue)?, self.then(Condition)?, self.then(Mutex)?];
                Instruction::PushReferences(queue, references)
            }
            _ => {
                let queue = self.object(Queue)?;
                let pointers = [self.then(Pointer)?, self.then(Pointer)?, self.then(Pointer)?];
                Instruction::PopReferences(queue, pointers)
            }
        };
        self.sign(')')?;
        Ok(made)
    }

    fn then(&mut self, object: Object) -> Result<Operand, Problem> {
        self.sign(',')?;
        self.object(object)
    }

    /// An object of a kind, or a pointer behind `*`, whose reference is known when the task runs.
    fn object(&mut self, wanted: Object) -> Result<Operand, Problem> {
        let through = self.is_sign('*');
        if through {
            self.next();
        }
        let (name, span) = self.word("name an object")?;
        let found = self.set.objects.iter().position(|(other, _)| *other == name);
        let Some(object) = found else {
            let help = "declare it above the task, such as `mutex M;`";
            return self.wrong(&span, format!("there is no object `{name}`"), help);
        };
        let (wanted, kind) = (if through { Pointer } else { wanted }, self.set.objects[object].1);
        if kind != wanted {
            let (kind, wanted) = (format!("{kind:?}"), format!("{wanted:?}"));
            let what = format!("`{name}` is a {}", kind.to_lowercase());
            let help = format!("name a {} here", wanted.to_lowercase());
            return self.wrong(&span, what, &help);
        }
        Ok(Operand { object, through })
    }

    fn time(&mut self) -> Result<Time, Problem> {
        if let Kind::Number(_) = self.peek().kind {
            return Ok(Time::Fixed(self.number(0)?));
        }
        let help = "write a number, uniform(5, 9) or exponential(20)";
        let (word, span) = self.word(help)?;
        self.sign('(')?;
        let first = self.number(0)?;
        let time = match word.as_str() {
            "exponential" => Time::Exponential(first),
            "uniform" => {
                self.sign(',')?;
                Time::Uniform(first, self.number(first)?)
            }
            _ => return self.wrong(&span, format!("`{word}` is no distribution"), help),
        };
        self.sign(')')?;
        Ok(time)
    }
}

fn least_is(least: u64) -> String {
    format!("{least} is the least here")
}
