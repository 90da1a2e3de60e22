//! Bytes that are sent as they are: a sequence of numbers would be sent one by one.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The contents of a memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        deserializer.deserialize_byte_buf(Copied)
    }
}

/// Makes a copy of what the message holds.
struct Copied;

impl Visitor<'_> for Copied {
    type Value = Bytes;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("bytes")
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Bytes, E> {
        Ok(Bytes(bytes.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_arrive_as_they_were_sent() {
        let sent = vec![Bytes((0..=255).collect()), Bytes::default()];
        let message = postcard::to_stdvec(&sent).unwrap();
        // One word tells how many there are, two and one how long they are.
        assert_eq!(message.len(), 256 + 4);
        assert_eq!(postcard::from_bytes::<Vec<Bytes>>(&message).unwrap(), sent);
        assert!(postcard::from_bytes::<Vec<Bytes>>(&message[..100]).is_err());
    }
}
