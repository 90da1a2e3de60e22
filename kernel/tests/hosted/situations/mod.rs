//! Stories: what the core does in situations that random programs rarely meet.

mod background;
mod badges;
mod chains;
mod confinement;
mod console;
mod destruction;
mod devices;
mod domains;
mod donation;
mod extremes;
mod faults;
mod jobs;
mod limits;
mod machine;
mod memory;
mod messages;
mod monitors;
mod names;
mod ports;
mod reservations;
mod rights;
mod scheduling;
mod timeouts;
mod urgency;
