//! A proxy that counts the packets of one connection, both ways, and cuts it after a given one.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Before each packet: three bytes of its length, one of its place in the sequence.
const HEADER: usize = 4;

/// How a connection is cut.
#[derive(Clone, Copy, Debug)]
pub enum Close {
    /// In good order, as the kernel closes the sockets of a process that died.
    Fin,
    /// Reset, as a firewall or a host that came up again does.
    Reset,
}

/// The way of one connection to the server.
pub struct Cutter {
    /// Where it listens, on 127.0.0.1.
    pub port: u16,
    task: JoinHandle<Passed>,
}

/// What became of the connection.
#[derive(Clone, Copy, Debug)]
pub struct Passed {
    /// How many packets it carried.
    pub packets: usize,
    /// When it was cut; `None`: its client closed it.
    pub cut: Option<Instant>,
}

impl Cutter {
    /// Passes one connection on to the server on `server`, a port of 127.0.0.1, and cuts it after packet `limit`.
    pub async fn new(server: u16, limit: usize, close: Close) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let port = listener.local_addr().expect("it listens").port();
        let carry = async move {
            let (client, _) = listener.accept().await.expect("a client");
            let server = TcpStream::connect(("127.0.0.1", server)).await.expect("the test server answers");
            carry([client, server], limit, close).await
        };
        Self { port, task: tokio::spawn(carry) }
    }

    /// Closes the connection on both sides.
    pub fn cut(self) {
        self.task.abort();
    }

    /// Waits for the end of the connection.
    pub async fn ended(self) -> Passed {
        self.task.await.expect("no panic")
    }
}

/// One connection, until a side closes it or it is cut.
async fn carry([mut client, mut server]: [TcpStream; 2], limit: usize, close: Close) -> Passed {
    let passed = AtomicUsize::new(0);
    for side in [&client, &server] {
        side.set_nodelay(true).expect("a socket");
    }
    {
        let ((from_client, to_client), (from_server, to_server)) = (client.split(), server.split());
        tokio::select! {
            _ = pump(from_client, to_server, &passed, limit) => {}
            _ = pump(from_server, to_client, &passed, limit) => {}
        }
    }
    let packets = passed.into_inner();
    let cut = (packets == limit).then(Instant::now);
    for side in [&mut client, &mut server] {
        match close {
            Close::Fin => drop(side.shutdown().await),
            Close::Reset => side.set_zero_linger().expect("a socket"),
        }
    }
    Passed { packets, cut }
}

/// One direction, packet by packet; ends with the connection, or right after packet `limit`.
async fn pump(mut from: ReadHalf<'_>, mut to: WriteHalf<'_>, passed: &AtomicUsize, limit: usize) -> std::io::Result<()> {
    loop {
        let mut packet = vec![0; HEADER];
        from.read_exact(&mut packet).await?;
        let length = u32::from_le_bytes([packet[0], packet[1], packet[2], 0]);
        packet.resize(HEADER + usize::try_from(length).expect("24 bits"), 0);
        from.read_exact(&mut packet[HEADER..]).await?;
        to.write_all(&packet).await?;
        if passed.fetch_add(1, Ordering::Relaxed) + 1 == limit {
            return Ok(());
        }
    }
}
