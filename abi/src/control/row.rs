//! What the program answers: rows, each a word with its kind and length and then its fields.

/// Most words of a row.
pub const MOST_WORDS: usize = 24;

/// Words that are no rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// Kinds of row: a name, a code, and the fields in their order.
macro_rules! rows {
    ($($(#[$about:meta])* $name:ident = $code:literal {
        $($(#[$meaning:meta])* $field:ident),* $(,)?
    })*) => {
        $(
            $(#[$about])*
            #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
            pub struct $name {
                $($(#[$meaning])* pub $field: u64,)*
            }

            impl $name {
                const FIELDS: usize = [$(stringify!($field)),*].len();
            }
        )*

        /// A row.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Row {
            $($(#[$about])* $name($name),)*
        }

        impl Row {
            /// Its words, and how many of them there are.
            pub fn encode(&self) -> ([u64; MOST_WORDS], usize) {
                let mut words = [0; MOST_WORDS];
                let length = 1 + match self {
                    $(Row::$name(row) => {
                        let fields = [$(row.$field),*];
                        words[1..1 + fields.len()].copy_from_slice(&fields);
                        words[0] = $code;
                        fields.len()
                    })*
                };
                words[0] |= (length as u64) << 32;
                (words, length)
            }

            /// The row of this kind with these fields.
            fn decode(code: u64, fields: &[u64]) -> Result<Row, Malformed> {
                match code {
                    $($code => {
                        let fields: [u64; $name::FIELDS] =
                            fields.try_into().map_err(|_| Malformed)?;
                        let [$($field),*] = fields;
                        Ok(Row::$name($name { $($field),* }))
                    })*
                    _ => Err(Malformed),
                }
            }
        }
    };
}

rows! {
    /// The machine as a whole; the first row.
    Machine = 1 {
        /// The first half of the kernel's name.
        kernel_low,
        /// The second half.
        kernel_high,
        /// Nanoseconds since boot.
        now,
        /// How many CPUs there are.
        cpus,
        /// Steps of the counter in a second.
        counter_hz,
        /// How often the program has looked for requests.
        looks,
    }
    /// A domain that is alive.
    Domain = 2 {
        /// Its place in the kernel's table.
        index,
        /// The first half of its name.
        name_low,
        /// The second half.
        name_high,
        /// The highest priority of its threads.
        max_priority,
        /// How many threads it has.
        threads,
        /// Slots of its capability table that are in use.
        slots_used,
        /// All of its slots.
        slots,
    }
    /// A thread.
    Thread = 3 {
        /// Its place in the kernel's table.
        index,
        /// The code of its [`ThreadState`](crate::call::ThreadState).
        state,
        /// What it waits for, as [`Awaited::word`](crate::call::Awaited::word) has it.
        awaits,
        /// Its own priority.
        priority,
        /// The priority that it has now: its own, or a higher one that is lent to it.
        effective_priority,
        /// Its domain's place.
        domain,
        /// One more than the node of the reservation that it was given; 0: it was given none.
        node_after,
        /// How long CPUs have run it, in steps of the counter; ones: nothing counts that.
        ticks,
        /// Bytes of its stack that were in use at once; ones: that is not known.
        stack_used,
        /// Bytes of its stack.
        stack,
        /// The first half of the name that a program gave it; zeros: none did.
        name_low,
        /// The second half.
        name_high,
    }
    /// A reservation.
    Reservation = 4 {
        /// Its place in the kernel's table.
        index,
        /// Its node.
        node,
        /// The node of its class; `u32::MAX` for a root.
        class,
        /// The code of its [`Policy`](crate::reservation::Policy); 0 for a leaf.
        policy,
        /// 1 if it waits for budget.
        throttled,
        /// The code of its [`Server`](crate::reservation::Server); 0: it has no limit.
        server,
        /// Its budget in nanoseconds.
        budget,
        /// Its period in nanoseconds.
        period,
        /// CPU time that it has had, in nanoseconds.
        service,
        /// How often its budget was exhausted.
        overruns,
        /// Jobs that ended behind their deadline.
        missed,
        /// Jobs that have ended.
        jobs,
        /// The code of its [`Share`](crate::reservation::Share).
        share,
        /// The first word of the share.
        share_a,
        /// The second.
        share_b,
        /// The third.
        share_c,
        /// The fourth.
        share_d,
    }
    /// A reservation that the program holds a capability to.
    Held = 5 {
        /// The slot.
        slot,
        /// Its node.
        node,
        /// The longest time from a job's release to its end, in nanoseconds.
        worst,
        /// The longest time from a deadline to the job's end, in nanoseconds.
        latest,
        /// 1 if the program has changed what its jobs are like, to what the next two fields say.
        changed,
        /// Their deadline in nanoseconds; 0: none.
        deadline,
        /// Their separation in nanoseconds.
        separation,
    }
    /// A window of a class, if the program has changed those; in their order.
    Window = 6 {
        /// The slot of the class.
        slot,
        /// Where it ends, from the frame's begin, in nanoseconds.
        end,
        /// Whose it is.
        partition,
    }
}

/// Reads rows; ends behind the first words that are none.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    words: &'a [u64],
}

impl<'a> Rows<'a> {
    /// The rows in these words.
    pub fn new(words: &'a [u64]) -> Rows<'a> {
        Rows { words }
    }

    fn row(&self) -> Result<(Row, usize), Malformed> {
        let head = *self.words.first().ok_or(Malformed)?;
        let length = usize::try_from(head >> 32).map_err(|_| Malformed)?;
        let fields = self.words.get(1..length).ok_or(Malformed)?;
        Ok((Row::decode(head & u64::from(u32::MAX), fields)?, length))
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<Row, Malformed>;

    fn next(&mut self) -> Option<Result<Row, Malformed>> {
        if self.words.is_empty() {
            return None;
        }
        let read = self.row();
        self.words = read.map_or(&[], |(_, length)| &self.words[length..]);
        Some(read.map(|(row, _)| row))
    }
}
