//! Datagrams between one of our UDP ports and that of the program.
//!
//! On a network of its own nothing else is sent: whether all datagrams have arrived is known by the kernel's counts (`ports.rs`).

use crate::datagram::Datagram;
use crate::host::channel::{Channel, Transit};
use crate::host::diag::Diagnosis;
use crate::host::sys;
use crate::problem::Problem;
use crate::stream::Stream;
use std::io;
use std::os::fd::OwnedFd;

/// Room for answers that were not received yet.
const ROOM: i32 = 8 << 20;
/// The longest datagram.
const LENGTH_MAX: usize = 1 << 16;

/// Datagrams between one of our ports and that of the program.
pub(crate) struct Flow {
    socket: OwnedFd,
    far_port: u16,
    answers: Vec<Datagram>,
    /// There are no bytes of a stream.
    nothing: Stream,
    /// What cannot be told.
    problem: Option<Problem>,
}

impl Flow {
    /// Datagrams from a port to another one.
    pub fn open(socket: OwnedFd, from: u16, to: u16) -> io::Result<Self> {
        // More than the system's limit is allowed to whoever owns the network, `socket(7)`.
        let _ = sys::set_option(&socket, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &ROOM);
        // Who listens nowhere is told by an error, `ip(7)`.
        sys::set_option(&socket, libc::IPPROTO_IP, libc::IP_RECVERR, &1)?;
        sys::bind(&socket, from)?;
        let (answers, nothing) = (Vec::new(), Stream::default());
        Ok(Self { socket, far_port: to, answers, nothing, problem: None })
    }

    /// Adds a datagram. One that comes from elsewhere than where the program listens is not modelled.
    fn add(&mut self, from: u16, bytes: &[u8]) {
        if from != self.far_port {
            let what = format!("listens on UDP port {} and answers from {from}", self.far_port);
            self.problem = Some(Problem::Unmodelled(format!("{what}: answers from another port are not modelled")));
        }
        self.answers.push(Datagram::Bytes(bytes.to_vec()));
    }
}

impl Channel for Flow {
    fn send(&mut self, bytes: &[u8]) {
        if let Err(error) = sys::send_to(&self.socket, bytes, self.far_port) {
            self.problem = Some(Problem::system("sending a datagram", &error));
        }
        self.pump();
    }

    fn finish(&mut self) {}

    fn close(&mut self) {}

    fn reset(&mut self) {}

    fn abandon(&mut self) {}

    fn pump(&mut self) -> bool {
        let before = self.answers.len();
        while sys::take_error(&self.socket) {
            self.answers.push(Datagram::Unreachable);
        }
        let mut room = [0; LENGTH_MAX];
        while let Ok((length, from)) = sys::receive_from(&self.socket, &mut room) {
            self.add(from, &room[..length]);
        }
        self.answers.len() > before
    }

    fn transit(&self, _: &Diagnosis) -> Result<Transit, Problem> {
        match &self.problem {
            Some(problem) => Err(problem.clone()),
            None if sys::has_lost(&self.socket) => {
                Err(Problem::Unmodelled("sent more datagrams at once than there is room for".to_owned()))
            }
            None => Ok(Ok(false)),
        }
    }

    fn note_rest(&mut self) {}

    /// Another datagram can come at any time.
    fn is_over(&self) -> bool {
        false
    }

    fn stream(&self) -> &Stream {
        &self.nothing
    }

    fn datagrams(&self) -> &[Datagram] {
        &self.answers
    }
}
