//! What the tree keeps of a node whose class goes by service curves (S4-03, S4-04).

use super::avl::{Links, NIL};
use super::curve::{NEVER, Runtime, clamped};
use abi::reservation::{Curve, Share};

/// State of a child of a class of service curves; of a class that is the top of such classes also
/// the set of those below it that have a guarantee.
#[derive(Clone, Debug)]
#[cfg_attr(test, derive(PartialEq))]
pub(super) struct Fair {
    /// The virtual curve V; none before the first activation.
    virtual_curve: Option<Runtime>,
    /// Its virtual time.
    pub(super) virtual_time: u128,
    /// Service of all kinds, w.
    service: u64,
    /// Service that its guarantee has brought, c.
    guaranteed: u64,
    /// The deadline curve D.
    deadlines: Option<Runtime>,
    /// The curve of eligible instants E.
    eligibles: Option<Runtime>,
    /// Its place in the set of its top class.
    pub(super) eligible: Links,
    /// From when on it must be served, e.
    pub(super) eligible_at: u64,
    /// Until when it must have run for a quantum more, d.
    pub(super) deadline: u64,
    /// Whether its guarantee is why it runs.
    pub(super) is_due: bool,
    /// How many threads in it run on lent leaves, and are charged here as well.
    pub(super) lent: u32,
    /// Whether it is logically active: it has a place among its siblings that it keeps.
    pub(super) is_active: bool,
    /// Of a class: above this no child's virtual time was when the last one went to sleep.
    pub(super) above: u128,
    /// Of a class: at least here each child was that was ready when one went to sleep.
    pub(super) beside: u128,
    /// Of a top class: the set of nodes below it that have a guarantee and are ready.
    pub(super) waiting: u32,
}

impl Fair {
    /// A node that was never ready.
    pub(super) const NEW: Fair = Fair {
        virtual_curve: None,
        virtual_time: 0,
        service: 0,
        guaranteed: 0,
        deadlines: None,
        eligibles: None,
        eligible: Links::OUT,
        eligible_at: NEVER,
        deadline: NEVER,
        is_due: false,
        lent: 0,
        is_active: false,
        above: 0,
        beside: 0,
        waiting: NIL,
    };

    /// It becomes ready, when its siblings' virtual times call for this one. Where its curve is
    /// flat it has no share, so it stands where that begins to rise; if the same curve is its
    /// guarantee, it goes there once it has been served, as S4-04 says.
    pub(super) fn wake(&mut self, share: &Curve, siblings: u128, is_guaranteed: bool) {
        let (at, service) = (self.virtual_time.max(siblings), self.service);
        let curve = self.virtual_curve.get_or_insert_with(|| Runtime::new(share, at, service));
        curve.lower_to(share, at, service);
        self.virtual_time = if is_guaranteed { at } else { at.max(curve.instant(service)) };
    }

    /// It can be chosen again and was logically active all the time: it goes on from where it is,
    /// but not from before `least`.
    pub(super) fn come_back(&mut self, share: &Curve, least: u128) {
        if self.virtual_time < least {
            self.wake(share, least, false);
        }
    }

    /// It becomes ready and has a guarantee.
    pub(super) fn wake_guaranteed(&mut self, curve: &Curve, now: u64, quantum: u64) {
        let (now, served) = (u128::from(now), self.guaranteed);
        let deadlines = self.deadlines.get_or_insert_with(|| Runtime::new(curve, now, served));
        deadlines.lower_to(curve, now, served);
        self.eligibles = Some(deadlines.eligible());
        self.set_instants(quantum);
    }

    /// It has run for so long.
    #[inline(always)]
    pub(super) fn charge(&mut self, time: u64) {
        self.service = self.service.saturating_add(time);
        if let Some(curve) = &self.virtual_curve {
            self.virtual_time = curve.instant(self.service).max(self.virtual_time);
        }
    }

    /// How much of the time that it has run until now its guarantee has brought: up to what it had
    /// to have by now, and if that was why it was chosen, a quantum more. A node that runs for
    /// long, since no other one is ready, neither uses up what it is guaranteed later, nor saves
    /// it up.
    #[inline(always)]
    pub(super) fn guaranteed_part(&self, time: u64, now: u64, quantum: u64) -> u64 {
        let Some(eligibles) = &self.eligibles else { return 0 };
        let beyond = if self.is_due { quantum } else { 0 };
        let most = eligibles.service(now.into()).saturating_add(beyond);
        time.min(most.saturating_sub(self.guaranteed))
    }

    /// Its guarantee has brought so much.
    pub(super) fn charge_guaranteed(&mut self, time: u64, quantum: u64) {
        self.guaranteed = self.guaranteed.saturating_add(time);
        self.set_instants(quantum);
    }

    /// It can be chosen again and was logically active all the time, but could not be served: what
    /// its guarantee was to bring meanwhile counts as had, but for a quantum. Else it would come
    /// at once, before what its siblings are guaranteed.
    pub(super) fn forfeit(&mut self, now: u64, quantum: u64) {
        let Some(deadlines) = &self.deadlines else { return };
        let promised = deadlines.service(now.into()).saturating_sub(quantum);
        if let Some(late) = promised.checked_sub(self.guaranteed) {
            self.charge_guaranteed(late, quantum);
        }
    }

    fn set_instants(&mut self, quantum: u64) {
        if let (Some(eligibles), Some(deadlines)) = (&self.eligibles, &self.deadlines) {
            self.eligible_at = clamped(eligibles.instant(self.guaranteed));
            self.deadline = clamped(deadlines.instant(self.guaranteed.saturating_add(quantum)));
        }
    }

    /// It has another share: what it has had so far stays had, so that no change brings a burst
    /// anew. Without a curve nothing is guaranteed from now on.
    pub(super) fn change(&mut self, share: Share, now: u64) {
        let none = Curve::linear(0);
        let (guaranteed, share) = match share {
            Share::Curve { guaranteed, share } => (guaranteed.unwrap_or(none), share),
            _ => (none, none),
        };
        let (at, service) = (self.virtual_time, self.service);
        self.virtual_curve = self.virtual_curve.map(|old| old.continued_as(&share, at, service));
        let (now, served) = (now.into(), self.guaranteed);
        self.deadlines = self.deadlines.map(|old| old.continued_as(&guaranteed, now, served));
        self.eligibles = None;
        self.is_active = false;
    }

    /// It is in another class, where virtual times are others.
    pub(super) fn begin_in_class(&mut self) {
        self.virtual_curve = self.virtual_curve.map(|curve| curve.moved_to(0));
        self.virtual_time = 0;
        self.is_active = false;
    }
}
