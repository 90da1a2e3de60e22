//! A small shell on the serial line.

mod commands;
mod history;
mod input;
mod keys;
mod line;
mod reservations;
mod text;

use input::Input;
use rt::{Console, Env, Wait, ipc, print, println, signal};

/// The shell: capabilities `console`, `keys` and `uart` (what was typed), `system` (statistics,
/// the end of the run), `echo` and `count` (partners of calls), and domains that it may end.
pub fn main(env: &Env) {
    let console = env.console();
    println!(console, "\nGiusto shell; 'help' lists the commands.");
    let mut input = Input::new(console);
    print!(console, "giusto> ");
    loop {
        while let Some(byte) = console.read() {
            if let Some(text) = input.typed(byte) {
                commands::run(env, console, text);
                input.clear();
                print!(console, "giusto> ");
            }
        }
        wait(env, console);
    }
}

/// Waits until something may have been typed.
fn wait(env: &Env, console: Console) {
    let acknowledged = signal::acknowledge(env.cap("uart"));
    let woken = ipc::receive(env.cap("keys"), Wait::NEVER);
    if let Some(error) = acknowledged.err().or(woken.err()) {
        println!(console, "the keyboard is gone: {error:?}");
        rt::exit();
    }
}
