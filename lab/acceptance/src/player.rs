//! Plays a set on the scheduling tree in virtual time: threads wake and block at exact instants,
//! each decision comes when it is due, and nothing else takes time.

use crate::arrivals::{Arrivals, Jobs, Miss};
use crate::planted::{Planted, plant, size};
use crate::{QUANTUM, Time};
use analysis::tree::Class;
use policies::tree::{Frame, NEVER, Node, NodeId, Tree, TreeCpu, TreeError};
use thiserror::Error;

/// Room for classes of time partitions.
const FRAMES: usize = 2;
/// The time slice of equals under fixed priorities, in ns.
const SLICE: Time = 10_000_000;
/// Decisions at one instant before it is clear that they are due for ever.
const DECISIONS: u32 = 10_000;

/// Why a set cannot be played.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlayError {
    /// The tree has refused it.
    #[error("the tree refuses what was to be played: {0:?}")]
    Refused(TreeError),
    /// The tree asks for decisions without end.
    #[error("CPU {cpu}: decisions are due for ever at {now} ns")]
    Stuck {
        /// The CPU.
        cpu: usize,
        /// The instant.
        now: Time,
    },
    /// Nothing was missed, and the tree has counted a miss.
    #[error("the tree counts {missed} misses of `{task}`, which was in time")]
    Counted {
        /// The task's name.
        task: String,
        /// What the tree counts.
        missed: u64,
    },
}

/// Plays one class on each CPU until an instant; the first job that is late, if one is.
///
/// # Errors
/// The tree refuses a class, asks for decisions without end, or counts misses where none was.
pub fn play(
    classes: &[&Class],
    arrivals: &mut Arrivals,
    horizon: Time,
) -> Result<Option<Miss>, PlayError> {
    let room: usize = classes.iter().map(|class| size(class) + 1).sum();
    let mut nodes = vec![Node::vacant(); room + 1];
    let mut frames = vec![Frame::EMPTY; FRAMES];
    let mut cpus = vec![TreeCpu::NEW; classes.len() + 1];
    let mut tree = Tree::new(&mut nodes, &mut frames, &mut cpus, SLICE, QUANTUM);
    let mut all = Vec::new();
    for (number, class) in classes.iter().enumerate() {
        let planted = plant(&mut tree, number, class).map_err(PlayError::Refused)?;
        all.push(Cpu::new(number, planted, &mut tree, arrivals));
    }
    // CPUs in the order of their next instants.
    while let Some(cpu) = all.iter_mut().min_by_key(|cpu| cpu.next) {
        if cpu.next > horizon {
            break;
        }
        if let Some(miss) = cpu.step(&mut tree, arrivals)? {
            return Ok(Some(miss));
        }
    }
    let mut played = all.iter().flat_map(|cpu| &cpu.jobs);
    if let Some(miss) = played.clone().find_map(|(_, jobs)| jobs.end(horizon)) {
        return Ok(Some(miss));
    }
    let counted = |(leaf, jobs): &(NodeId, Jobs)| {
        let missed = tree.inspect(*leaf).map_or(0, |state| state.jobs.missed);
        let task = jobs.task.name.clone();
        (missed > 0).then_some(PlayError::Counted { task, missed })
    };
    played.find_map(counted).map_or(Ok(None), Err)
}

/// A CPU and the tasks on it.
struct Cpu {
    number: usize,
    jobs: Vec<(NodeId, Jobs)>,
    /// Which of them runs, and since when.
    running: Option<usize>,
    since: Time,
    /// When something happens next.
    next: Time,
}

impl Cpu {
    fn new(number: usize, planted: Planted, tree: &mut Tree<'_>, arrivals: &mut Arrivals) -> Cpu {
        for leaf in planted.open {
            tree.wake(leaf, 0);
        }
        let jobs = planted.tasks.into_iter().map(|(leaf, task)| (leaf, Jobs::new(&task, arrivals)));
        Cpu { number, jobs: jobs.collect(), running: None, since: 0, next: 0 }
    }

    /// What happens at the next instant, and the decision after that.
    fn step(
        &mut self,
        tree: &mut Tree<'_>,
        arrivals: &mut Arrivals,
    ) -> Result<Option<Miss>, PlayError> {
        let now = self.next;
        if let Some((leaf, jobs)) = self.running.take().map(|running| &mut self.jobs[running]) {
            jobs.left -= now - self.since;
            if jobs.left == 0 {
                tree.block(*leaf, now, true);
                if let Some(miss) = jobs.complete(now) {
                    return Ok(Some(miss));
                }
            }
        }
        for (leaf, jobs) in self.jobs.iter_mut().filter(|(_, jobs)| jobs.next <= now) {
            if let Some(miss) = jobs.arrive(arrivals) {
                return Ok(Some(miss));
            }
            tree.wake(*leaf, now);
        }
        self.decide(tree, now)?;
        Ok(None)
    }

    fn decide(&mut self, tree: &mut Tree<'_>, now: Time) -> Result<(), PlayError> {
        let mut decisions = 0..DECISIONS;
        let stuck = PlayError::Stuck { cpu: self.number, now };
        let pick = loop {
            decisions.next().ok_or(stuck.clone())?;
            let pick = tree.pick(self.number, now);
            if pick.until > now {
                break pick;
            }
        };
        let arrival = self.jobs.iter().map(|(_, jobs)| jobs.next).min().unwrap_or(NEVER);
        self.next = pick.until.min(arrival);
        self.since = now;
        self.running = self.jobs.iter().position(|(leaf, _)| Some(*leaf) == pick.leaf);
        if let Some(running) = self.running {
            self.next = self.next.min(now + self.jobs[running].1.left);
        }
        Ok(())
    }
}
