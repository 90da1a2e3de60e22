//! A display server and players (S4-12): frames go to the screen by a queue that the server's own
//! threads empty, as by a socket, or by a train, on which the player shows them itself.
//!
//! Images are in memory that a player shares with the server. One mutex, whose waiting threads are
//! in the order of priority, is held from the beginning to the end of showing an image.

use super::sums::granted;
use rt::prelude::*;
use rt::thread::{self, Spec};
use rt::train::{self, Entry, Visitor};
use rt::{OwnedSlot, SlotPool, Wait, Words, reservation, system, time};
use service::{Capability, service};
use sync::{InheritMutex, Queue, Scope, ThreadId};

/// Players, by number: what shows their images.
const PLAYERS: [&str; 3] = ["slow", "fast", "train"];
/// Memory with a player's images.
const IMAGES: [&str; PLAYERS.len()] = ["slow-image", "fast-image", "train-image"];
/// Queues of frames that are to be shown, of the players that use them.
const SOCKETS: [&str; 2] = ["slow-socket", "fast-socket"];
/// Frames that wait in a queue at most.
const WAITING: usize = 2;
/// Words of an image, and how many a player has: one is shown while others wait, and one is drawn.
const IMAGE: usize = 128;
const SLOTS: u64 = 4;
/// What the mutex protects: for each player how many frames were shown and when, then the pixels.
const LOG: usize = 2_048;
const PIXELS: usize = PLAYERS.len() * LOG;

/// Attaching to the display.
#[service]
pub trait Display {
    /// A capability to the train by which a thread shows an image: player, frame.
    fn attach(&mut self) -> Capability;
}

struct Server(Slot);

impl Display for Server {
    fn attach(&mut self) -> Capability {
        granted(self.0)
    }
}

/// The server's code, as it is entered by a train.
struct PutImage;

impl Entry for PutImage {
    type Question = [u64; 4];
    type Answer = [u64; 4];
    fn enter(visitor: Visitor, [player, frame, ..]: [u64; 4]) -> [u64; 4] {
        put_image(&visitor.env(), ThreadId::current(), player as usize, frame);
        [0; 4]
    }
}

/// Where a player's frame is drawn.
fn image_of(env: &Env, player: usize, frame: u64) -> Words {
    env.mem(IMAGES[player]).part((frame % SLOTS) as usize * IMAGE, IMAGE)
}

/// Shows a frame: `work` units of time, and what copying takes.
fn put_image(env: &Env, me: ThreadId, player: usize, frame: u64) {
    let screen = InheritMutex::new(env.mem("screen"));
    let image = image_of(env, player, frame);
    let shown = screen.lock(me).expect("the screen's mutex");
    for pixel in 0..IMAGE {
        shown.set(PIXELS + player * IMAGE + pixel, image.get(pixel));
    }
    system::work(env.number("work", 400_000));
    assert!(image.get(0) == frame, "a player draws over what is not shown yet");
    let count = shown.get(player * LOG) as usize;
    if count + 1 < LOG {
        shown.set(player * LOG + 1 + count, Instant::now().as_nanos());
        shown.set(player * LOG, count as u64 + 1);
    }
}

/// The server: capability `attach` (receive); memories `screen`, `stacks`, images and sockets;
/// argument `work`, the time that an image takes.
pub fn server(env: &Env) {
    let pool = SlotPool::new(env);
    let _threads: [OwnedSlot; SOCKETS.len()] = core::array::from_fn(|player| {
        let (slot, n) = (pool.take(), player + 1);
        let spec = Spec::further(env, n, env.number("priority", 100));
        thread::start(env, n, slot.slot(), spec, (empty, player as u64)).expect("a thread");
        slot
    });
    let train = pool.take();
    train::export::<PutImage>(env, train.slot(), env.mem("stacks"), 2, 0).expect("a train");
    let mut display = Server(train.slot());
    let server = rt::Server::new(env.cap("attach")).with_buffer(env.buffer(0));
    let why = server.run(|request| display.dispatch(request));
    panic!("no more players: {why:?}");
}

/// Shows what comes through a player's queue.
fn empty(env: &Env, player: u64) {
    let (socket, me) = (socket(env, player as usize), ThreadId::current());
    loop {
        let frame = socket.pop(me, Wait::NEVER).expect("the queue is whole");
        put_image(env, me, player as usize, frame);
    }
}

fn socket(env: &Env, player: usize) -> Queue {
    Queue::new(env.mem(SOCKETS[player]).part(0, Queue::WORDS + WAITING), Scope::Shared)
}

/// A player: capability `attach` (send) if it shows its frames by train; memories with its images
/// and, if it does not, its socket; arguments `player`, its number, and `decode`, the time that it
/// takes to draw a frame.
pub fn player(env: &Env) {
    let (player, me) = (env.number("player", 0) as usize, ThreadId::current());
    let train = env.find_cap("attach").map(|attach| {
        let display = DisplayClient::new(attach).accepting(SlotPool::new(env), env.buffer(0));
        let train = display.attach().ok().and_then(Capability::into_slot);
        train.expect("the display exports a train")
    });
    for frame in 1.. {
        system::work(env.number("decode", 4_000_000));
        let image = image_of(env, player, frame);
        (0..IMAGE).for_each(|pixel| image.set(pixel, frame + pixel as u64));
        let shown = match &train {
            Some(train) => {
                train::call(train.slot(), [player as u64, frame, 0, 0], Wait::NEVER).map(|_| ())
            }
            None => socket(env, player).push(me, frame, Wait::NEVER),
        };
        shown.expect("the display shows the frame");
    }
}

/// Ends the run after `ms` milliseconds with a line for each player: frames, microseconds of CPU
/// time, and the mean and the longest time between frames in microseconds. Capabilities to the
/// players' reservations (copy), `console`, `system`; memory `screen`.
pub fn watch(env: &Env) {
    time::sleep(env.number("ms", 5_000).ms());
    // The mutex is the display's own. What the log counts is complete.
    let screen = env.mem("screen");
    let log = screen.part(InheritMutex::WORDS, screen.len() - InheritMutex::WORDS);
    for (player, name) in PLAYERS.into_iter().enumerate() {
        let had = reservation::usage(env.cap(name)).expect("it is a reservation").service / 1_000;
        let shown = log.get(player * LOG) as usize;
        let at = |frame: usize| log.get(player * LOG + 1 + frame) / 1_000;
        let between = (1..shown).map(|frame| at(frame) - at(frame - 1));
        let longest = between.max().unwrap_or(0);
        let mean = (at(shown.max(1) - 1) - at(0)) / (shown.max(2) as u64 - 1);
        println!(env.console(), "shown {name} {shown} {had} {mean} {longest}");
    }
    system::shutdown(env.cap("system"), 0).expect("the run ends");
}
