//! A TCP proxy between a controller and the server, which can cut and stall connections.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What a connection does with what it is given.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wire {
    Open,
    /// Carries nothing, not even the end of the other side.
    Stalled,
    Cut,
}

/// One controller's way to the server.
pub struct Proxy {
    /// Where it listens, on 127.0.0.1.
    pub port: u16,
    shared: Arc<Mutex<Shared>>,
    task: tokio::task::JoinHandle<()>,
}

struct Shared {
    /// What new connections begin as.
    first: Wire,
    /// By the port that the server sees.
    wires: HashMap<u16, watch::Sender<Wire>>,
}

impl Proxy {
    /// Listens, and passes on to the server on `server`, a port of 127.0.0.1.
    pub async fn new(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let port = listener.local_addr().expect("it listens").port();
        let shared = Arc::new(Mutex::new(Shared { first: Wire::Open, wires: HashMap::new() }));
        let task = tokio::spawn(accept(listener, server, shared.clone()));
        Self { port, shared, task }
    }

    /// Closes one connection on both sides; `false`: it is not ours.
    pub fn cut(&self, port: u16) -> bool {
        self.set(port, Wire::Cut)
    }

    /// From now on one connection carries nothing; `false`: it is not ours.
    pub fn stall(&self, port: u16) -> bool {
        self.set(port, Wire::Stalled)
    }

    /// It carries again.
    pub fn heal(&self, port: u16) {
        self.set(port, Wire::Open);
    }

    /// From now on nothing is carried, or everything again.
    pub fn partition(&self, apart: bool) {
        let mut shared = self.shared.lock().expect("no panic");
        shared.first = if apart { Wire::Stalled } else { Wire::Open };
        for wire in shared.wires.values() {
            wire.send_replace(shared.first);
        }
    }

    fn set(&self, port: u16, to: Wire) -> bool {
        let shared = self.shared.lock().expect("no panic");
        shared.wires.get(&port).map(|wire| wire.send_replace(to)).is_some()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, server: u16, shared: Arc<Mutex<Shared>>) {
    while let Ok((client, _)) = listener.accept().await {
        tokio::spawn(carry(client, server, shared.clone()));
    }
}

/// One connection, until a side closes it or it is cut.
async fn carry(client: TcpStream, server: u16, shared: Arc<Mutex<Shared>>) {
    // Where there is no server, the client is told so as the kernel would: by a closed connection.
    let Ok(server) = TcpStream::connect(("127.0.0.1", server)).await else { return };
    let Ok(port) = server.local_addr().map(|address| address.port()) else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let mut wire = {
        let mut shared = shared.lock().expect("no panic");
        let (sender, wire) = watch::channel(shared.first);
        shared.wires.insert(port, sender);
        wire
    };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::select! {
        () = pump(from_client, to_server, wire.clone()) => {}
        () = pump(from_server, to_client, wire.clone()) => {}
        _ = wire.wait_for(|wire| *wire == Wire::Cut) => {}
    }
    // Unless the port was given to another one meanwhile.
    let mut shared = shared.lock().expect("no panic");
    if shared.wires.get(&port).is_some_and(|sender| sender.subscribe().same_channel(&wire)) {
        shared.wires.remove(&port);
    }
}

async fn pump(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut wire: watch::Receiver<Wire>) {
    let mut buffer = vec![0; 16 << 10];
    loop {
        if wire.wait_for(|wire| *wire == Wire::Open).await.is_err() {
            return;
        }
        let read = tokio::select! {
            // Only to look again.
            _ = wire.changed() => continue,
            read = from.read(&mut buffer) => read,
        };
        let Ok(length @ 1..) = read else { break };
        // What was under way when it stalled stays under way.
        if wire.wait_for(|wire| *wire == Wire::Open).await.is_err() || to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
    let _ = wire.wait_for(|wire| *wire == Wire::Open).await;
}
