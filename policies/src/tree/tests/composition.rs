//! Policies inside each other: deadlines inside a bandwidth server inside service curves inside a
//! time partition. Each level keeps its limit, and the innermost jobs their deadlines.

use super::*;

const FRAME: u64 = 20 * MS;
const WINDOW: u64 = 10 * MS;

/// A task: its leaf, period and work in each, and how many jobs it has begun.
struct Task {
    leaf: NodeId,
    period: u64,
    work: u64,
    jobs: u64,
}

impl Task {
    fn new(tree: &mut Tree<'_>, class: NodeId, period: u64, work: u64) -> Task {
        let leaf = leaf(tree, class, Share::Deadline);
        let timing = Timing { deadline: period, period };
        assert_eq!(tree.set_timing(leaf, Some(timing), 0), Ok(()));
        Task { leaf, period, work, jobs: 0 }
    }

    /// Ends the job that has had its work, and begins the one that is due.
    fn serve(&mut self, tree: &mut Tree<'_>, now: u64) {
        if tree.service(self.leaf) == self.jobs * self.work {
            tree.block(self.leaf, now, true);
            if now >= self.jobs * self.period {
                tree.wake(self.leaf, now);
                self.jobs += 1;
            }
        }
    }

    /// What the job that is open still needs.
    fn left(&self, tree: &Tree<'_>) -> u64 {
        self.jobs * self.work - tree.service(self.leaf)
    }
}

#[test]
fn four_levels_keep_what_each_promises() {
    let mut storage = Storage::new(16);
    let mut tree = storage.tree();
    let frame = class(&mut tree, Policy::Partitions);
    let windows = [Window { end: WINDOW, partition: 1 }, Window { end: FRAME, partition: 0 }];
    for window in windows {
        assert_eq!(tree.add_window(frame, window, 0), Ok(()));
    }
    let partition = |number, priority| Share::Partition { number, priority };
    let curves = tree.create(frame, Some(Policy::ServiceCurves), partition(1, 1)).expect("fits");
    let background = leaf(&mut tree, frame, partition(0, 0));
    let percent = |percent: u32| Share::curve(Curve::linear(percent * 10_000));
    let served = tree.create(curves, Some(Policy::EarliestDeadline), percent(30)).expect("fits");
    let hog = leaf(&mut tree, curves, percent(15));
    let limit = Budget::new(Server::Constant, 4 * MS, FRAME);
    assert_eq!(tree.set_budget(served, Some(limit), 0), Ok(()));
    let greedy = leaf(&mut tree, served, Share::Deadline);
    // Its one job is due behind the end: a late one would go first.
    let late = Timing { deadline: 10_000 * MS, period: 10_000 * MS };
    assert_eq!(tree.set_timing(greedy, Some(late), 0), Ok(()));
    let mut tasks =
        [Task::new(&mut tree, served, FRAME, MS), Task::new(&mut tree, served, 2 * FRAME, 2 * MS)];
    for leaf in [background, hog, greedy] {
        tree.wake(leaf, 0);
    }
    let (mut now, end) = (0, 100 * FRAME);
    while now < end {
        tasks.iter_mut().for_each(|task| task.serve(&mut tree, now));
        let pick = decide(&mut tree, now);
        let chosen = tasks.iter().find(|task| Some(task.leaf) == pick.leaf);
        let ends = chosen.map_or(NEVER, |task| now + task.left(&tree));
        let release = (now / FRAME + 1) * FRAME;
        now = pick.until.min(ends).min(release).min(end);
        tree.account(0, now);
        for window in 1..=now / FRAME {
            // In each frame, and never more.
            assert!(tree.service(curves) >= (window - 1) * WINDOW, "the partition's windows");
        }
    }
    let had = |leaf| tree.service(leaf);
    let frames = end / FRAME;
    assert_eq!((had(curves), had(background)), (frames * WINDOW, frames * (FRAME - WINDOW)));
    assert!(had(served) <= (frames + 1) * 4 * MS, "the server's budget");
    assert!(had(served) >= (frames - 1) * 4 * MS, "and all of it, as the greedy one wants it");
    assert_eq!(had(hog), had(curves) - had(served), "the rest of the windows");
    for task in &tasks {
        let jobs = tree.inspect(task.leaf).expect("it exists").jobs;
        assert_eq!(jobs.missed, 0, "{jobs:?}");
        assert!(jobs.ended + 1 >= end / task.period, "{jobs:?}");
    }
}
