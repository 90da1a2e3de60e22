//! Random task sets for sweeps over utilisation.

use crate::error::require;
use crate::random::Random;
use crate::{AnalysisError, Task, Time};

/// Draws that may have a task above 1 before a set is given up.
const DRAWS: u32 = 100_000;

/// What sets are like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recipe {
    /// Tasks in a set, 1 to 10,000.
    pub tasks: usize,
    /// Their utilisation together, above 0 and at most `tasks`; above 1 for several CPUs.
    pub utilisation: f64,
    /// The shortest period, in ns, at least 1.
    pub shortest: Time,
    /// The longest period, in ns, at most 2^52. Periods between are log-uniform.
    pub longest: Time,
    /// Deadlines are between this part of the period, 0 to 1, and all of it, uniformly; never
    /// below the execution time.
    pub deadline: f64,
}

/// A task set: utilisations by UUniFast-discard (sets with a task above 1 are drawn again),
/// periods log-uniform, priorities by deadline, the shortest the most urgent. The execution times
/// are rounded to whole ns, at least 1, so the sum of utilisations is near to what was asked for.
/// Fails on a recipe that means nothing or cannot be met.
pub fn generate(recipe: &Recipe, random: &mut Random) -> Result<Vec<Task>, AnalysisError> {
    const NAME: &str = "recipe";
    let Recipe { tasks: count, utilisation, shortest, longest, deadline } = *recipe;
    require((1..=10_000).contains(&count), NAME, "number of tasks", "1 to 10,000", count as u64)?;
    let good = utilisation > 0.0 && utilisation <= count as f64;
    let percent = (utilisation * 100.0) as u64;
    require(good, NAME, "utilisation in %", "above 0, and at most 100 a task", percent)?;
    require(shortest > 0, NAME, "shortest period", "above zero", shortest)?;
    let good = (shortest..=1 << 52).contains(&longest);
    require(good, NAME, "longest period", "from the shortest to 2^52 ns", longest)?;
    let good = (0.0..=1.0).contains(&deadline);
    require(good, NAME, "deadline in %", "0 to 100", (deadline * 100.0) as u64)?;
    let mut drawn = (0..DRAWS).map(|_| uunifast(count, utilisation, random));
    let shares = drawn.find(|shares: &Vec<f64>| shares.iter().all(|share| *share <= 1.0));
    let shares = shares.ok_or(AnalysisError::TooLong(DRAWS.into()))?;
    let mut tasks: Vec<Task> =
        (0..).zip(shares).map(|(n, share)| task(recipe, n, share, random)).collect();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|index| std::cmp::Reverse(tasks[*index].deadline));
    for (priority, index) in (1..).zip(order) {
        tasks[index].priority = priority;
    }
    Ok(tasks)
}

/// Bini and Buttazzo: utilisations that are uniform among those with this sum.
fn uunifast(count: usize, utilisation: f64, random: &mut Random) -> Vec<f64> {
    let mut left = utilisation;
    let mut share = |index: usize| {
        let rest = (count - 1 - index) as f64;
        let next = if rest > 0.0 { left * random.uniform().powf(1.0 / rest) } else { 0.0 };
        let share = left - next;
        left = next;
        share
    };
    (0..count).map(&mut share).collect()
}

fn task(recipe: &Recipe, number: usize, share: f64, random: &mut Random) -> Task {
    let (shortest, longest) = (recipe.shortest as f64, recipe.longest as f64);
    let period = (shortest * (longest / shortest).powf(random.uniform())).round() as Time;
    let period = period.clamp(recipe.shortest, recipe.longest);
    let execution = ((period as f64 * share).round() as Time).clamp(1, period);
    let part = recipe.deadline + (1.0 - recipe.deadline) * random.uniform();
    let deadline = ((period as f64 * part).round() as Time).clamp(execution, period);
    Task::new(&format!("t{number}"), execution, period).deadline(deadline)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECIPE: Recipe = Recipe {
        tasks: 10,
        utilisation: 0.7,
        shortest: 1_000_000,
        longest: 1_000_000_000,
        deadline: 1.0,
    };

    fn utilisation(tasks: &[Task]) -> f64 {
        tasks.iter().map(|task| task.execution as f64 / task.period as f64).sum()
    }

    #[test]
    fn sets_are_what_the_recipe_says() {
        let mut random = Random::of(1);
        let sets: Vec<_> = (0..1000).map(|_| generate(&RECIPE, &mut random).unwrap()).collect();
        let periods = || sets.iter().flatten().map(|task| task.period as f64);
        for tasks in &sets {
            assert!((utilisation(tasks) - 0.7).abs() < 1e-4);
            let mut sorted = tasks.clone();
            sorted.sort_by_key(|task| task.priority);
            assert!(sorted.is_sorted_by_key(|task| std::cmp::Reverse(task.deadline)));
        }
        // Log-uniform: a third in each decade, and a mean share of 0.07 for each place.
        let decade = |least: f64| periods().filter(|p| (least..least * 10.0).contains(p)).count();
        for count in [1e6, 1e7, 1e8].map(decade) {
            assert!((3_000..3_667).contains(&count), "{count}");
        }
        for place in 0..10 {
            let shares = sets.iter().map(|tasks| utilisation(&tasks[place..=place]));
            let mean = shares.sum::<f64>() / 1000.0;
            assert!((mean - 0.07).abs() < 0.008, "{place}: {mean}");
        }
    }

    #[test]
    fn a_seed_gives_one_set() {
        let set = |seed| generate(&RECIPE, &mut Random::of(seed)).unwrap();
        assert_eq!(set(7), set(7));
        assert_ne!(set(7), set(8));
    }

    #[test]
    fn sets_for_several_cpus_have_no_task_above_one() {
        let recipe = Recipe { utilisation: 3.0, tasks: 5, deadline: 0.5, ..RECIPE };
        let tasks = generate(&recipe, &mut Random::of(3)).unwrap();
        assert!((utilisation(&tasks) - 3.0).abs() < 1e-4);
        assert!(tasks.iter().all(|t| t.execution <= t.deadline && t.deadline <= t.period));
    }

    #[test]
    fn recipes_that_mean_nothing_are_refused() {
        let refused = |recipe| generate(&recipe, &mut Random::of(1)).is_err();
        assert!(refused(Recipe { tasks: 0, ..RECIPE }));
        assert!(refused(Recipe { utilisation: f64::NAN, ..RECIPE }));
        assert!(refused(Recipe { utilisation: 10.5, ..RECIPE }));
        assert!(refused(Recipe { shortest: 0, ..RECIPE }));
        assert!(refused(Recipe { longest: u64::MAX, ..RECIPE }));
        assert!(refused(Recipe { deadline: 1.5, ..RECIPE }));
        assert!(refused(Recipe { tasks: 100, utilisation: 99.9, ..RECIPE }), "never below 1");
    }
}
