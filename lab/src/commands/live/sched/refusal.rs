//! Why the kernel refuses a change, in plain words.

use super::target::Target;
use crate::live::{Picture, Reservation};
use abi::Error;
use abi::control::Change;
use abi::reservation::{Budget, Curve, Policy, Share, WHOLE};
use manifest::{spell_curve, spell_percent};

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

/// A part of the CPU in millionths, rounded up as admission does.
fn bandwidth(limit: Option<Budget>) -> u64 {
    let part = |limit: Budget| {
        let part = u128::from(limit.budget) * u128::from(WHOLE);
        part.div_ceil(u128::from(limit.period.max(1))) as u64
    };
    limit.map_or(0, part)
}

/// What a class can promise in the long run, in millionths.
fn capacity(class: &Reservation) -> u64 {
    let own = class.limit.map_or(u64::from(WHOLE), |limit| bandwidth(Some(limit)));
    match (class.above, class.share) {
        (Some(Policy::ServiceCurves), Some(Share::Curve { guaranteed, .. })) => {
            own.min(guaranteed.map_or(0, |curve| curve.rest.into()))
        }
        (Some(Policy::EarliestDeadline), _) if class.limit.is_none() => 0,
        _ => own,
    }
}

/// What a reservation is promised by its class, in millionths.
fn promised(one: &Reservation) -> u64 {
    match (one.above, one.share) {
        (Some(Policy::EarliestDeadline), _) => bandwidth(one.limit),
        (_, Some(Share::Curve { guaranteed, .. })) => guaranteed.map_or(0, |it| it.rest.into()),
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
    let part = |millionths: u64| spell_percent(millionths);
    let inner = sum(&one.name, "");
    if one.policy.is_some() && inner > capacity(&changed) {
        let (name, had) = (&one.name, part(capacity(&changed)));
        return format!(
            "{name} has promised {} of the CPU to what is in it, and would have {had}",
            part(inner)
        );
    }
    let class = one.class.as_deref().unwrap_or("its class");
    let above = picture.reservations.iter().find(|it| it.name == class);
    let (has, others) = (above.map_or(u64::from(WHOLE), capacity), sum(class, &one.name));
    let wanted = promised(&changed);
    let left = has.saturating_sub(others);
    if wanted > left {
        return format!(
            "{class} has {} of the CPU and has promised {} of it to others, so {} can have {}; \
             this would be {}",
            part(has),
            part(others),
            one.name,
            part(left),
            part(wanted)
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
