//! A receive port and a transmit port as one that echoes: what arrives at the first leaves by the second, in a copy.

use super::{EchoPort, Forward, PortError, RxDrops, RxPort, Slot, Source, TxPort};

/// Where frames arrive, and where they leave.
pub struct Relay<R, T> {
    rx: R,
    tx: T,
    copy: Vec<u8>,
}

impl<R, T> Relay<R, T> {
    /// From `rx` to `tx`, of frames of up to `longest` bytes (without FCS); longer ones do not leave.
    pub fn new(rx: R, tx: T, longest: usize) -> Self {
        Self { rx, tx, copy: vec![0; longest] }
    }
}

/// The one frame to send.
struct One<'a>(Option<&'a [u8]>);

impl Source for One<'_> {
    fn next_len(&mut self) -> Option<usize> {
        self.0.map(<[u8]>::len)
    }

    fn write(&mut self, _slot: Slot, buf: &mut [u8]) {
        if let Some(frame) = self.0.take().filter(|frame| frame.len() == buf.len()) {
            buf.copy_from_slice(frame);
        }
    }
}

impl<R: RxPort, T: TxPort> EchoPort for Relay<R, T> {
    fn turn(
        &mut self,
        max: usize,
        mut edit: impl FnMut(&mut [u8], bool) -> Forward,
    ) -> Result<usize, PortError> {
        let Self { rx, tx, copy } = self;
        let mut failed = Ok(());
        let arrived = rx.recv(max, |frame| {
            let len = frame.bytes.len().min(copy.len());
            let (Some(copy), Some(bytes)) = (copy.get_mut(..len), frame.bytes.get(..len)) else { return };
            copy.copy_from_slice(bytes);
            let room = failed.is_ok() && len == frame.bytes.len() && tx.room() > 0;
            if edit(copy, room) == Forward::Send && room {
                failed = tx.send(1, &mut One(Some(copy))).and_then(all_left);
            }
        })?;
        failed.map(|()| arrived)
    }

    fn kick(&mut self) -> Result<(), PortError> {
        if self.tx.in_flight() == 0 { Ok(()) } else { self.tx.kick() }
    }

    fn reclaim(&mut self) -> Result<usize, PortError> {
        Ok(self.tx.reclaim(|_| {}))
    }

    fn in_flight(&self) -> usize {
        self.tx.in_flight()
    }

    fn drops(&self) -> Option<RxDrops> {
        self.rx.drops()
    }
}

fn all_left(sent: usize) -> Result<(), PortError> {
    let why = "it has less room than it said".to_owned();
    if sent == 1 { Ok(()) } else { Err(PortError::Other { what: "the transmit ring", why }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_port::{Event, Faults, wire};
    use std::sync::{Arc, Mutex};

    /// Frames of such lengths.
    struct Lengths(Vec<usize>);

    impl Source for Lengths {
        fn next_len(&mut self) -> Option<usize> {
            self.0.first().copied()
        }
        fn write(&mut self, _slot: Slot, buf: &mut [u8]) {
            buf.fill(self.0.remove(0).to_le_bytes()[0]);
        }
    }

    #[test]
    fn what_fits_leaves_as_it_was_edited_and_the_rest_is_known_to_have_no_room() {
        let (mut sender, mut near) = wire(1, 8, 8, Faults::none(1), |_, _| {});
        let left = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&left);
        let tap = move |_: Event, bytes: &[u8]| seen.lock().unwrap().push(bytes.to_vec());
        let (far, _) = wire(1, 8, 2, Faults::none(1), tap);
        let mut relay = Relay::new(near.remove(0), far, 100);
        sender.send(5, &mut Lengths(vec![60, 101, 70, 80, 90])).unwrap();
        let mut rooms = Vec::new();
        let arrived = relay.turn(8, |bytes, room| {
            rooms.push(room);
            bytes[0] = 1;
            if bytes.len() == 70 { Forward::Drop } else { Forward::Send }
        });
        // Two chunks: one for the first, one for the fourth.
        assert_eq!((arrived, rooms), (Ok(5), vec![true, false, true, true, false]));
        let left = left.lock().unwrap().clone();
        assert_eq!(left.iter().map(Vec::len).collect::<Vec<_>>(), [60, 80]);
        assert_eq!((left[0][0], left[0][1]), (1, 60));
        assert_eq!((relay.in_flight(), relay.reclaim(), relay.in_flight()), (2, Ok(2), 0));
    }
}
