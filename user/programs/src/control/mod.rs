//! Shows and changes how a running system is scheduled, as the host asks through a memory in the
//! layout of [`abi::control`].

mod answer;
mod kept;

use abi::control::{
    COMMAND_WORDS, Command, MAGIC, WORD_ANSWER, WORD_ANSWER_CHECK, WORD_COMMAND, WORD_CUT,
    WORD_LENGTH, WORD_MAGIC, WORD_REQUEST, WORD_REQUEST_CHECK, WORD_STATUS, number,
};
use answer::Answer;
use core::sync::atomic::{Ordering, fence};
use kept::Kept;
use rt::prelude::*;
use rt::{Words, sched};

/// Looks for a request each `poll` microseconds. Argument `memory` names the memory; capabilities
/// `system`, and those to what may be changed.
pub fn main(env: &Env) {
    let memory = env.mem(env.arg("memory").unwrap_or("control"));
    let mut ticker = Ticker::every(env.number("poll", 20_000).us());
    let (mut kept, mut looks) = (Kept::default(), 0);
    memory.set(WORD_MAGIC, MAGIC);
    loop {
        ticker.wait();
        looks += 1;
        let Some(request) = asked(memory) else { continue };
        let answer = Answer::new(memory);
        answer_to(env, command(memory), answer, (&mut kept, looks));
        fence(Ordering::Release);
        memory.set(WORD_ANSWER_CHECK, !request);
        memory.set(WORD_ANSWER, request);
    }
}

/// The number of a request that has not been answered.
fn asked(memory: Words) -> Option<u64> {
    let request = number(memory.get(WORD_REQUEST), memory.get(WORD_REQUEST_CHECK))?;
    fence(Ordering::Acquire);
    (request != memory.get(WORD_ANSWER)).then_some(request)
}

fn command(memory: Words) -> Option<Command> {
    let mut words = [0; COMMAND_WORDS];
    for (index, word) in words.iter_mut().enumerate() {
        *word = memory.get(WORD_COMMAND + index);
    }
    Command::decode(words)
}

fn answer_to(
    env: &Env,
    command: Option<Command>,
    mut answer: Answer,
    (kept, looks): (&mut Kept, u64),
) {
    let done = match command {
        None => Err(Error::InvalidArgument),
        Some(Command::Picture { stacks }) => {
            answer::picture(env, &mut answer, kept, (looks, stacks));
            Ok(())
        }
        Some(Command::Set(change)) => {
            let done = kept.fits(change).and_then(|()| sched::set(change));
            done.inspect(|()| kept.note(change))
        }
    };
    let memory = answer.memory();
    memory.set(WORD_STATUS, done.map_or_else(|error| error as u64, |()| 0));
    memory.set(WORD_LENGTH, answer.length());
    memory.set(WORD_CUT, answer.is_cut().into());
}
