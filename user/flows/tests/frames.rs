//! What flow a frame belongs to, whatever it is.
#![forbid(unsafe_code)]

use flows::{Flow, HEAD, Key, NoFlow, UNLIMITED, parse};
use proptest::prelude::*;

const LONGEST: usize = 1514;

/// A datagram to a port, with so many words of IPv4 header.
fn datagram(words: u8, port: u16) -> Vec<u8> {
    let header = 4 * usize::from(words);
    let mut frame = vec![0; 14 + header + 8];
    frame[12] = 8;
    frame[14] = 0x40 | words;
    frame[23] = 17;
    frame[14 + header + 2..][..2].copy_from_slice(&port.to_be_bytes());
    frame
}

fn flow(frame: &[u8]) -> Flow {
    Key::of(&frame[..frame.len().min(HEAD)]).flow()
}

proptest! {
    #[test]
    fn a_header_says_the_flow(
        words in 5..16u8,
        port: u16,
        fragment in 0..3u16,
        cut in 0..200usize,
    ) {
        let mut frame = datagram(words, port);
        frame[20..22].copy_from_slice(&fragment.to_be_bytes());
        let of = |port| Flow { protocol: 17, port };
        prop_assert_eq!(flow(&frame), of(if fragment == 0 { port } else { 0 }));
        // Cut short it is less specific, never another one.
        let cut = &frame[..cut.min(frame.len())];
        prop_assert!([flow(&frame), of(0), Flow::ALL].contains(&flow(cut)));
        frame[13] = 6;
        prop_assert_eq!(flow(&frame), Flow::ARP);
        frame[12] = 0x86;
        prop_assert_eq!(flow(&frame), Flow::ALL);
    }

    #[test]
    fn no_frame_panics(
        words in 0..16u8,
        port: u16,
        length in 0..=LONGEST,
        changes in prop::collection::vec((0..60usize, any::<u8>()), 0..6),
    ) {
        let mut frame = datagram(words.max(5), port);
        frame[14] = 0x40 | words;
        for (at, byte) in changes {
            let at = at % frame.len();
            frame[at] = byte;
        }
        frame.resize(length, 0xa5);
        flow(&frame);
    }

    #[test]
    fn a_flow_is_read_as_it_is_written(protocol in 1..=255u8, port: u16, limit: u32) {
        let flow = Flow { protocol, port };
        prop_assert_eq!(Flow::read(&flow.to_string()), Ok(flow));
        let text = format!(" {flow}:{limit} *:0");
        let all: Vec<_> = parse(&text).collect();
        prop_assert_eq!(all, [Ok((flow, limit)), Ok((Flow::ALL, 0))]);
    }

    #[test]
    fn no_text_panics(text: String) {
        let _ = parse(&text).count();
    }
}

#[test]
fn every_length_of_a_frame_has_a_flow() {
    let mut frame = datagram(5, 7);
    frame.resize(LONGEST, 0);
    for length in 0..=LONGEST {
        let expected = match length {
            0..24 => Flow::ALL,
            24..38 => Flow { protocol: 17, port: 0 },
            _ => Flow { protocol: 17, port: 7 },
        };
        assert_eq!(flow(&frame[..length]), expected, "of {length} bytes");
    }
}

#[test]
fn what_is_no_flow_is_refused() {
    for text in ["17", "17/", "17/x", "17/0", "256/1", "/7", "0/7", "0/*", "17/65536", "*/7"] {
        assert_eq!(Flow::read(text), Err(NoFlow), "{text}");
    }
    for text in ["17/7", "17/7:", "17/7:-1", "17/7:4294967296", "17/7 :1"] {
        assert!(parse(text).any(|one| one.is_err()), "{text}");
    }
    assert_eq!(
        parse("17/7:unlimited").next(),
        Some(Ok((Flow { protocol: 17, port: 7 }, UNLIMITED)))
    );
    assert_eq!(parse("0/2054:8").next(), Some(Ok((Flow::ARP, 8))));
}
