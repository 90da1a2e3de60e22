//! The kinds of object in one table: what names each kind, and what copies, revokes, inspects and
//! destroys an object of it. Code with an arm for each kind expands the table.

/// Hands the table to a macro, behind what else that takes. The columns: the kind, which is the
/// name of its type, of its capability and of its [`abi::Kind`]; whether a capability to it carries
/// a `badge` or is `plain`; the check before one is destroyed, and what destroys it in steps: both
/// are functions of the [`Manager`](crate::manage::Manager).
macro_rules! kinds {
    ($expand:ident $($with:tt)*) => {
        $expand! {
            $($with)*
            /// A domain.
            Domain plain may_end_domain destroy_domain,
            /// A thread.
            Thread plain may_end_thread destroy_thread,
            /// An endpoint.
            Endpoint badge may_end destroy_endpoint,
            /// A notification.
            Notification badge may_end destroy_notification,
            /// An interrupt.
            Interrupt plain may_end destroy_interrupt,
            /// Memory.
            Memory plain may_end destroy_memory,
            /// A mapping.
            Mapping plain may_end destroy_mapping,
            /// A timer.
            Timer plain may_end destroy_timer,
            /// A reservation of CPU time.
            Reservation plain may_end_reservation destroy_reservation,
            /// A train.
            Train badge may_end_train destroy_train,
        }
    };
}

pub(crate) use kinds;
