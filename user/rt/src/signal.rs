//! Endpoints and what signals: notifications, timers, interrupts.

use crate::Slot;
use crate::system::done;
use abi::Error;
use abi::call::Call;

/// Creates an endpoint. With a notification other than [`Slot::NONE`], receiving on the endpoint
/// also receives that one's signals.
pub fn create_endpoint(slot: Slot, notification: Slot) -> Result<(), Error> {
    done(Call::EndpointCreate, [slot.word(), notification.word()])
}

/// Creates a notification.
pub fn create_notification(slot: Slot) -> Result<(), Error> {
    done(Call::NotificationCreate, [slot.word()])
}

/// Signals a notification with the capability's badge.
#[inline(always)]
pub fn signal(notification: Slot) -> Result<(), Error> {
    done(Call::Signal, [notification.word()])
}

/// Creates a timer that signals a notification.
pub fn create_timer(slot: Slot, notification: Slot) -> Result<(), Error> {
    done(Call::TimerCreate, [slot.word(), notification.word()])
}

/// Arms a timer for an instant in nanoseconds since boot; 0 disarms it.
#[inline(always)]
pub fn set_timer(timer: Slot, instant: u64) -> Result<(), Error> {
    done(Call::TimerSet, [timer.word(), instant])
}

/// Lets an interrupt come to a CPU from now on, which the caller's domain may use.
pub fn route(interrupt: Slot, cpu: u64) -> Result<(), Error> {
    done(Call::InterruptRoute, [interrupt.word(), cpu])
}

/// Lets an interrupt that was delivered come again.
pub fn acknowledge(interrupt: Slot) -> Result<(), Error> {
    done(Call::InterruptAck, [interrupt.word()])
}
