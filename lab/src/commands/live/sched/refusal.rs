//! Why the kernel refuses a change, in plain words.

use super::target::Target;
use crate::live::{Picture, Reservation};
use abi::Error;
use abi::bandwidth::{self, CPU};
use abi::control::Change;
use abi::reservation::{Budget, Curve, LEAST_BUDGET, Policy, Share};
use manifest::{spell_curve, spell_duration, spell_part, spell_part_up};

/// The reason, from what was there before.
pub fn why(error: Error, picture: &Picture, target: &Target, change: &Change) -> String {
    match (error, target) {
        (Error::Overcommitted, Target::Reservation(one)) => overcommitted(picture, one, change),
        (Error::InvalidArgument, Target::Reservation(one))
            if one.above == Some(Policy::ServiceCurves)
                && one.policy == Some(Policy::ServiceCurves) =>
        {
            "a class of service curves inside another one has no budget".to_string()
        }
        (Error::BudgetTooSmall, _) => {
            format!("a budget has to be {} at least", spell_duration(LEAST_BUDGET))
        }
        (Error::InvalidArgument, _) => "a value is out of bounds".to_string(),
        (Error::PriorityTooHigh, _) => {
            "the priority is above the highest of its domain".to_string()
        }
        (Error::Stale | Error::Destroyed, _) => "it does not exist any more".to_string(),
        (Error::UnknownCall, _) => format!("kernel {} has no reservations", picture.kernel),
        (Error::WrongState, _) => "it is not in a state for that".to_string(),
        (error, _) => format!("error {error:?}"),
    }
}

/// What a class can promise in the long run, in parts of a CPU.
fn capacity(class: &Reservation) -> u64 {
    let brought = |limit: Budget| bandwidth::brought(limit.budget, limit.period);
    let own = class.limit.map_or(CPU, brought);
    match (class.above, class.share) {
        (Some(Policy::ServiceCurves), Some(Share::Curve { guaranteed, .. })) => {
            own.min(guaranteed.map_or(0, |curve| bandwidth::from_millionths(curve.rest)))
        }
        (Some(Policy::EarliestDeadline), _) if class.limit.is_none() => 0,
        _ => own,
    }
}

/// What a reservation is promised by its class, in parts of a CPU.
fn promised(one: &Reservation) -> u64 {
    match (one.above, one.share) {
        (Some(Policy::EarliestDeadline), _) => {
            one.limit.map_or(0, |limit| bandwidth::taken(limit.budget, limit.period))
        }
        (_, Some(Share::Curve { guaranteed: Some(curve), .. })) => {
            // As a class has it: of what is rounded up alike, sums are compared by millionths.
            bandwidth::from_millionths(curve.rest).saturating_sub(1)
        }
        _ => 0,
    }
}

fn overcommitted(picture: &Picture, one: &Reservation, change: &Change) -> String {
    let changed = match *change {
        Change::Budget { budget, .. } => Reservation { limit: budget, ..one.clone() },
        Change::Share { share, .. } | Change::Join { share, .. } => {
            Reservation { share: Some(share), ..one.clone() }
        }
        _ => one.clone(),
    };
    let sum = |class: &str, but: &str| -> u64 {
        let inside = picture.reservations.iter().filter(|it| it.class.as_deref() == Some(class));
        inside.filter(|it| it.name != but).map(promised).sum()
    };
    let inner = sum(&one.name, "");
    if one.policy.is_some() && inner > capacity(&changed) {
        let (name, had) = (&one.name, spell_part(capacity(&changed)));
        return format!(
            "{name} has promised {} of the CPU to what is in it, and would have {had}",
            spell_part_up(inner)
        );
    }
    let class = one.class.as_deref().unwrap_or("its class");
    let above = picture.reservations.iter().find(|it| it.name == class);
    let (has, others) = (above.map_or(CPU, capacity), sum(class, &one.name));
    let wanted = promised(&changed);
    let left = has.saturating_sub(others);
    if wanted > left {
        return format!(
            "{class} has {} of the CPU and has promised {} of it to others, so {} can have {}; \
             this would be {}",
            spell_part(has),
            spell_part_up(others),
            one.name,
            spell_part(left),
            spell_part_up(wanted)
        );
    }
    let curve = match changed.share {
        Some(Share::Curve { guaranteed: Some(curve), .. }) => curve,
        _ => Curve::linear(0),
    };
    format!(
        "{class} would promise more than it has at some instant: together with the curves of \
         others, {} is too steep in its beginning",
        spell_curve(curve)
    )
}
