//! The remote protocol by which debuggers drive an emulator: stop, go on, step, look.

use anyhow::{Context, Result, bail};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long the emulator may take to open its socket, and to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection to an emulator.
pub struct Debugger<S = UnixStream> {
    stream: S,
    /// What has arrived and was not read yet.
    arrived: VecDeque<u8>,
}

impl Debugger {
    /// Connects to the emulator that opens this socket.
    pub fn connect(socket: &Path) -> Result<Debugger> {
        let started = Instant::now();
        loop {
            match UnixStream::connect(socket) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(PATIENCE))?;
                    return Ok(Debugger { stream, arrived: VecDeque::new() });
                }
                Err(error) if started.elapsed() > PATIENCE => {
                    return Err(error).context("the emulator does not answer its debugger");
                }
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        }
    }
}

impl<S: Read + Write> Debugger<S> {
    /// Stops the machine whenever it comes to this address.
    pub fn break_at(&mut self, address: u64) -> Result<()> {
        self.expect_ok(&format!("Z1,{address:x},1"))
    }

    /// Undoes [`Debugger::break_at`].
    pub fn pass(&mut self, address: u64) -> Result<()> {
        self.expect_ok(&format!("z1,{address:x},1"))
    }

    /// Lets the machine run until it stops; it stops at once where it already is to stop.
    pub fn go(&mut self) -> Result<()> {
        self.until_stopped("c")
    }

    /// Executes one instruction.
    pub fn step(&mut self) -> Result<()> {
        self.until_stopped("s")
    }

    /// The registers, in the order and format that the protocol gives them.
    pub fn registers(&mut self) -> Result<Vec<u8>> {
        let answer = self.ask("g")?;
        bytes(&answer).with_context(|| format!("the emulator shows no registers: {answer}"))
    }

    /// Virtual memory as the stopped machine sees it; `None` where nothing is mapped.
    pub fn memory(&mut self, address: u64, length: usize) -> Result<Option<Vec<u8>>> {
        Ok(bytes(&self.ask(&format!("m{address:x},{length:x}"))?))
    }

    fn expect_ok(&mut self, packet: &str) -> Result<()> {
        match self.ask(packet)?.as_str() {
            "OK" => Ok(()),
            answer => bail!("the emulator refuses `{packet}`: {answer}"),
        }
    }

    fn until_stopped(&mut self, packet: &str) -> Result<()> {
        let answer = self.ask(packet)?;
        // An exit begins with W or X.
        if answer.starts_with(['T', 'S']) { Ok(()) } else { bail!("the machine ended: {answer}") }
    }

    /// Sends a packet and receives the answer.
    fn ask(&mut self, packet: &str) -> Result<String> {
        let sum = checksum(packet);
        self.stream.write_all(format!("${packet}#{sum:02x}").as_bytes())?;
        let mut answer = Vec::new();
        let mut begun = false;
        loop {
            match self.byte()? {
                b'$' => (begun, answer) = (true, Vec::new()),
                b'#' if begun => break,
                byte if begun => answer.push(byte),
                b'-' => bail!("the emulator did not understand `{packet}`"),
                _ => {}
            }
        }
        let answer = String::from_utf8(answer)?;
        let sum = [self.byte()?, self.byte()?];
        if sum != *format!("{:02x}", checksum(&answer)).as_bytes() {
            bail!("the emulator's answer to `{packet}` is damaged");
        }
        self.stream.write_all(b"+")?;
        Ok(answer)
    }

    fn byte(&mut self) -> Result<u8> {
        if self.arrived.is_empty() {
            let mut buffer = [0; 4096];
            let count =
                self.stream.read(&mut buffer).context("the emulator's debugger is silent")?;
            self.arrived.extend(&buffer[..count]);
        }
        self.arrived.pop_front().context("the emulator has ended")
    }
}

fn checksum(packet: &str) -> u8 {
    packet.bytes().fold(0, u8::wrapping_add)
}

/// Bytes from pairs of hexadecimal digits.
fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = (0..digits.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An emulator that has made up its mind.
    struct Answers(Vec<u8>, String);

    impl Read for Answers {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let count = buffer.len().min(self.0.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0.drain(..count);
            Ok(count)
        }
    }

    impl Write for Answers {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.1.push_str(std::str::from_utf8(bytes).unwrap());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn debugger(answers: &str) -> Debugger<Answers> {
        Debugger {
            stream: Answers(answers.as_bytes().to_vec(), String::new()),
            arrived: VecDeque::new(),
        }
    }

    #[test]
    fn packets_are_framed_summed_and_acknowledged() {
        let mut debugger = debugger("+$OK#9a+$0fa0#27+$E14#aa");
        debugger.break_at(0x1000).unwrap();
        assert_eq!(debugger.memory(0x20, 2).unwrap(), Some(vec![0x0f, 0xa0]));
        assert_eq!(debugger.memory(0x20, 2).unwrap(), None);
        assert_eq!(debugger.stream.1, "$Z1,1000,1#d5+$m20,2#2d+$m20,2#2d+");
    }

    #[test]
    fn what_cannot_be_trusted_is_an_error() {
        assert!(debugger("+$E22#a9").pass(0x1000).is_err());
        assert!(debugger("+$OK#00").break_at(1).is_err());
        assert!(debugger("+$W00#b7").go().unwrap_err().to_string().contains("ended"));
        assert!(debugger("-").step().is_err());
        assert!(debugger("").step().is_err());
        assert!(debugger("+$T05thread:01;#07").step().is_ok());
    }
}
