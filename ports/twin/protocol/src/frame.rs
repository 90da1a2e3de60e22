//! Frames: the length of a message in bytes, a little-endian word, and the message.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, ErrorKind, Read, Write};

/// Sends a message.
pub fn send(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    let bytes = postcard::to_stdvec(message).map_err(io::Error::other)?;
    to.write_all(&(bytes.len() as u64).to_le_bytes())?;
    to.write_all(&bytes)?;
    to.flush()
}

/// Receives a message; `None`: the other side has closed the connection, and sent no part of one.
pub fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<T>> {
    let mut length = Vec::new();
    from.by_ref().take(size_of::<u64>() as u64).read_to_end(&mut length)?;
    if length.is_empty() {
        return Ok(None);
    }
    let length = length.try_into().map_err(|_| ErrorKind::UnexpectedEof)?;
    let length = u64::from_le_bytes(length);
    let mut bytes = Vec::new();
    from.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 != length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    let message = postcard::from_bytes(&bytes);
    message.map(Some).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, Request, Run};

    fn request() -> Request {
        let options = Options { input: b"typed".to_vec(), ..Options::default() };
        let run = Run { archive: vec![1, u64::MAX], options, wanted: vec![(3, 4096)] };
        Request::Run(Box::new(run))
    }

    fn sent(messages: &[Request]) -> Vec<u8> {
        let mut bytes = Vec::new();
        messages.iter().for_each(|message| send(&mut bytes, message).unwrap());
        bytes
    }

    #[test]
    fn messages_arrive_one_after_the_other() {
        let bytes = sent(&[request(), Request::About]);
        let mut from = &bytes[..];
        assert_eq!(receive(&mut from).unwrap(), Some(request()));
        assert_eq!(receive(&mut from).unwrap(), Some(Request::About));
        assert_eq!(receive::<Request>(&mut from).unwrap(), None);
    }

    #[test]
    fn a_message_that_is_cut_short_is_an_error() {
        let bytes = sent(&[request()]);
        for end in 1..bytes.len() {
            let error = receive::<Request>(&mut &bytes[..end]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{end} of {} bytes", bytes.len());
        }
    }

    #[test]
    fn a_message_that_means_nothing_is_an_error() {
        let mut bytes = sent(&[Request::About]);
        *bytes.last_mut().unwrap() = 9;
        let error = receive::<Request>(&mut &bytes[..]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
    }
}
