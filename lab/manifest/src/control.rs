//! The domain that shows and changes how a running system is scheduled, added on demand.

use abi::reservation::{Budget, LEVELS, SHORTEST, Server, Share};
use abi::{PRIORITIES, Rights, control};

use crate::TREE;
use crate::problem::{Problem, Span};
use crate::schema::{Manifest, Number};
use crate::system::{Capability, Domain, Map, Reaction, Reservation, System};
use crate::target::Target;
use crate::units::spell_duration;
use crate::values::Values;

/// What its domain, its program and its memory are called.
pub const NAME: &str = "control";

const MILLISECOND: u64 = 1_000_000;
/// The longest time between two looks: a host waits for an answer.
const LONGEST: u64 = 1_000 * MILLISECOND;
/// Its stack.
const STACK: u64 = 32 << 10;

/// How the program runs. Times are in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices {
    /// The priority of its reservation, or without a scheduling tree of its thread; none: the
    /// highest.
    pub priority: Option<u16>,
    /// From one look for a request to the next.
    pub poll: u64,
    /// CPU time in each period, under the scheduling tree.
    pub budget: u64,
    /// That period.
    pub period: u64,
}

impl Default for Choices {
    fn default() -> Choices {
        let (poll, budget, period) = (20 * MILLISECOND, MILLISECOND, 20 * MILLISECOND);
        Choices { priority: None, poll, budget, period }
    }
}

/// Reads `[control]`.
pub fn choices(values: &Values, manifest: &Manifest) -> Result<Choices, Problem> {
    let usual = Choices::default();
    let Some(given) = &manifest.control else { return Ok(usual) };
    let time = |word: &Option<_>, usual: u64, least: u64| {
        word.as_ref().map_or(Ok(usual), |word| values.duration(word, least..=LONGEST))
    };
    let last = u64::from(LEVELS) - 1;
    let priority = given
        .priority
        .as_ref()
        .map(|number: &Number| values.within(number, 0..=last))
        .transpose()?;
    let choices = Choices {
        priority: priority.map(|priority| priority as u16),
        poll: time(&given.poll, usual.poll, MILLISECOND)?,
        budget: given
            .budget
            .as_ref()
            .map_or(Ok(usual.budget), |word| values.budget(word, LONGEST))?,
        period: time(&given.period, usual.period, SHORTEST)?,
    };
    if choices.budget > choices.period {
        let [budget, period] = [choices.budget, choices.period].map(spell_duration);
        let message = format!("a budget of {budget} exceeds its period of {period}");
        let at = given.budget.as_ref().or(given.period.as_ref()).map_or(0..0, |it| it.span());
        return Err(values.source.problem(&at, message, "lower `budget`, or lengthen `period`"));
    }
    Ok(choices)
}

/// What the control domain was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Control {
    /// The name of the memory through which it is asked.
    pub memory: String,
    /// The name of its domain, and of its reservation if it has one.
    pub domain: String,
    /// What it holds, by slot.
    pub slots: Vec<(u32, Target)>,
}

impl System {
    /// Adds the domain `control`, which holds the machine, all reservations and each domain's first
    /// thread, and a memory for what the host asks, for which the machine gets more RAM. Pools grow
    /// as needed.
    pub fn add_control(&mut self) -> Control {
        let place = self.supervisor.unwrap_or(self.domains.len());
        self.make_room(place);
        self.memory += control::BYTES.next_multiple_of(1 << 20);
        let memory = self.memories.len();
        let name = self.add_memory(NAME, control::BYTES);
        let taken = |name: &str| {
            let mut domains = self.domains.iter().map(|domain| &domain.name);
            domains.any(|other| other == name)
                || self.reservations.iter().any(|one| one.name == name)
        };
        let domain = free(NAME, taken);
        let reservation = (self.kernel == TREE).then(|| self.add_own(&domain));
        let caps = self.control_caps();
        let slots = (1..).zip(caps.iter().map(|cap| cap.target)).collect();
        let priority = self.control.priority.filter(|_| reservation.is_none());
        let highest = (PRIORITIES - 1) as u8;
        let priority = priority.map_or(highest, |it| u8::try_from(it).unwrap_or(highest));
        let microseconds = (self.control.poll / 1_000).to_string();
        let own = Domain {
            // It sets the priorities of others.
            max_priority: highest,
            slots: 1 + caps.len() as u32,
            reservation,
            stack: STACK,
            args: vec![("memory".to_string(), name.clone()), ("poll".to_string(), microseconds)],
            maps: vec![Map { memory, rights: Rights::READ.or(Rights::WRITE) }],
            caps,
            ..Domain::own(&domain, NAME, priority)
        };
        self.domains.insert(place, own);
        self.pools.iter_mut().for_each(|pool| pool.given_at = None);
        Control { memory: name, domain, slots }
    }

    /// The domains from this place on move by one.
    fn make_room(&mut self, place: usize) {
        let moved = |index: usize| if index < place { index } else { index + 1 };
        self.supervisor = self.supervisor.map(moved);
        self.domains.iter_mut().for_each(|domain| domain.renumber(moved));
    }

    /// A reservation for the program alone, so that it runs while others use up theirs.
    fn add_own(&mut self, name: &str) -> usize {
        let Choices { priority, budget, period, .. } = self.control;
        let limit = Budget::new(Server::Periodic, budget, period);
        self.add_leaf(name, priority.unwrap_or(LEVELS - 1), limit)
    }

    /// A leaf below the root of CPU 0 that the manifest does not have.
    pub(crate) fn add_leaf(&mut self, name: &str, priority: u16, limit: Budget) -> usize {
        self.reservations.push(Reservation {
            name: name.to_string(),
            class: None,
            cpu: 0,
            policy: None,
            share: Share::Priority(priority),
            limit: Some(limit),
            timing: None,
            windows: Vec::new(),
            execution: None,
            overrun: Reaction::Usual,
            miss: Reaction::Usual,
            monitor: None,
            adaptive: None,
            at: Span::default(),
        });
        self.reservations.len() - 1
    }

    /// Names begin with a kind, as a domain may be called as a reservation.
    fn control_caps(&self) -> Vec<Capability> {
        let cap = |name: String, target, rights| Capability {
            name,
            target,
            rights,
            badge: 0,
            is_kept: false,
        };
        let mut caps = vec![cap("system".to_string(), Target::System, Rights::CONTROL)];
        caps.extend(self.reservations.iter().enumerate().map(|(index, one)| {
            let name = format!("reservation.{}", one.name);
            cap(name, Target::Reservation(index), Rights::CONTROL | Rights::DIVIDE)
        }));
        // The domain that is being added stands in front of the supervisor, which is the last.
        let added = self.supervisor.map(|supervisor| supervisor - 1);
        let booted = self.supervisor.unwrap_or(self.domains.len());
        caps.extend(self.domains[..booted].iter().enumerate().map(|(index, domain)| {
            let index = if added.is_some_and(|added| index >= added) { index + 1 } else { index };
            cap(format!("thread.{}", domain.name), Target::Thread(index), Rights::CONTROL)
        }));
        caps
    }
}

/// The name that is wished, or with a number behind it if that is taken.
pub(crate) fn free(wish: &str, taken: impl Fn(&str) -> bool) -> String {
    let names = (0..).map(|n| if n == 0 { wish.into() } else { format!("{wish}-{n}") });
    names.into_iter().find(|name: &String| !taken(name)).expect("numbers do not end")
}
