//! Where things lie in the kernel's memory that the laboratory looks at from outside, while the
//! machine stands still: threads and what they wait for. A kernel image holds a [`Layout`] behind
//! the address that all of it is found from, so that the kernel itself need tell nothing.

/// The symbol of the [`Layout`] in a kernel image.
pub const SYMBOL: &str = "LAYOUT";

macro_rules! layout {
    ($($(#[$doc:meta])* $field:ident,)*) => {
        /// Distances and sizes in bytes. `A_B` is how far `b` lies behind the beginning of an `a`.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[repr(C)]
        pub struct Layout {
            $($(#[$doc])* pub $field: u64,)*
        }

        impl Layout {
            /// How many words it is.
            pub const WORDS: usize = [$(stringify!($field)),*].len();

            /// The layout in its words.
            pub fn from_words(words: [u64; Layout::WORDS]) -> Layout {
                let [$($field),*] = words;
                Layout { $($field),* }
            }
        }
    };
}

layout! {
    /// The kernel's address, behind the address that stands in front of the layout.
    machine_kernel,
    /// The first CPU's address, and how many there are.
    kernel_cpus,
    /// The first thread's address, and how many places there are.
    kernel_threads,
    /// The first endpoint's address, and how many places there are.
    kernel_endpoints,
    /// How many interrupts exist, in 4 bytes.
    kernel_interrupts,
    /// Bytes of a CPU.
    cpu_size,
    /// The thread that runs.
    cpu_current,
    /// The thread that runs when no other one can.
    cpu_idle,
    /// What its timer is programmed for; ones: nothing.
    cpu_armed,
    /// Bytes of a thread's place.
    thread_size,
    /// Whether the place holds a thread: a byte, [`LIVE`] if so.
    thread_life,
    /// Which of all threads there it is.
    thread_incarnation,
    /// The place's index, in 4 bytes.
    thread_index,
    /// What it is doing: a byte, 0 for ready, and then as in
    /// [`ThreadState`](crate::call::ThreadState) from `Sending` on.
    thread_state,
    /// Its flags, in 4 bytes.
    thread_flags,
    /// The instant of its deadline, if it has one; ones: it never comes.
    thread_deadline,
    /// The domain that it runs in.
    thread_domain,
    /// The thread that is to answer its call, or 0.
    thread_server,
    /// What it waits for: nothing, an endpoint, a notification or a train; its address is behind.
    thread_wait,
    /// The incarnation that was given a name.
    thread_named,
    /// That name.
    thread_name,
    /// The thread in whose place the inheriting mutex or condition is described that it waits for,
    /// or 0.
    thread_turnstile,
    /// The address of the one that is described in this place.
    thread_described,
    /// Whether it has called to wait for a condition.
    thread_conditional,
    /// The address of that.
    thread_condition,
    /// The address of the mutex that it waits for.
    thread_mutex,
    /// The name of a domain.
    domain_name,
    /// The domain that owns it, or 0.
    domain_owner,
    /// Bytes of an endpoint's place.
    endpoint_size,
    /// Whether the place holds an endpoint, as of a thread.
    endpoint_life,
    /// How many messages were given up there before they were received, in 2 bytes; it stays at
    /// 65,535.
    endpoint_given_up,
    /// The index of an endpoint's place, in 4 bytes.
    endpoint_index,
    /// The same of a notification.
    notification_index,
    /// The same of a train.
    train_index,
    /// The flag of a suspended thread.
    flag_suspended,
    /// The flag of a thread whose wait ends at a deadline.
    flag_deadline,
    /// The flag of a thread that has stopped at a fault that none handles.
    flag_ended,
}

/// Of a place that holds an object.
pub const LIVE: u8 = 1;
