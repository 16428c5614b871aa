//! One test, on all servers at once.

use std::future::Future;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};

use super::db::Db;
use super::servers::{self, Server};

/// Runs a test on every server at the same time, each in a fresh schema with jobctl installed; a failure names the server.
pub fn each<F, T>(test: F)
where
    F: Fn(Db) -> T + Sync,
    T: Future<Output = ()>,
{
    on(servers::all().iter(), |runtime, server| {
        let db = runtime.block_on(Db::installed(server, &test_name()));
        let ended = catch(|| runtime.block_on(test(db.clone())));
        if ended.is_ok() || std::env::var_os("JOBCTL_TEST_KEEP").is_none() {
            runtime.block_on(db.remove());
        }
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

/// Runs a test for every server of which a private instance can be started, at the same time.
pub fn each_private<F, T>(test: F)
where
    F: Fn(Server) -> T + Sync,
    T: Future<Output = ()>,
{
    if servers::startable().next().is_none() {
        eprintln!("{}: NOT RUN, it starts servers of its own, and JOBCTL_TEST_SERVERS names none that can be", test_name());
    }
    on(servers::startable(), |runtime, server| runtime.block_on(test(server.clone())));
}

/// Polls `condition` until it holds; fails with `what` when the deadline comes first.
pub async fn wait_until<F>(what: &str, deadline: Duration, mut condition: F)
where
    F: AsyncFnMut() -> bool,
{
    let began = Instant::now();
    while !condition().await {
        assert!(began.elapsed() < deadline, "not within {deadline:?}: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The count of a test that repeats: all of it with JOBCTL_TEST_FULL=1, else fewer; the one used is printed.
pub fn full(full: usize, reduced: usize) -> usize {
    let count = if std::env::var_os("JOBCTL_TEST_FULL").is_some_and(|value| value == "1") { full } else { reduced };
    eprintln!("{}: count {count} of {full}", test_name());
    count
}

/// One thread and one runtime per server; the thread bears the name of the test, and its panic is a failure on that server.
fn on<'a>(servers: impl Iterator<Item = &'a Server>, run: impl Fn(&Runtime, &Server) + Sync) {
    let (test, run) = (test_name(), &run);
    let failures: Vec<_> = std::thread::scope(|scope| {
        let start = |server: &'a Server| {
            let work = move || {
                let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
                let ended = catch(|| run(&runtime, server));
                runtime.shutdown_timeout(Duration::from_secs(1));
                ended.err().map(|panic| format!("on {}: {}", server.name, reason(panic)))
            };
            std::thread::Builder::new().name(test.clone()).spawn_scoped(scope, work).expect("a thread")
        };
        let threads: Vec<_> = servers.map(start).collect();
        threads.into_iter().filter_map(|thread| thread.join().expect("panics are caught")).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn catch(work: impl FnOnce()) -> std::thread::Result<()> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work))
}

/// Waits for all of them at the same time.
pub async fn join<T: Future>(futures: Vec<T>) -> Vec<T::Output> {
    let mut futures: Vec<_> = futures.into_iter().map(|future| (Box::pin(future), None)).collect();
    std::future::poll_fn(|context| {
        let mut ready = true;
        for (future, output) in &mut futures {
            if output.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(value) => *output = Some(value),
                    std::task::Poll::Pending => ready = false,
                }
            }
        }
        if ready { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    futures.into_iter().map(|(_, output)| output.expect("all are ready")).collect()
}

/// libtest names its threads after the tests.
fn test_name() -> String {
    std::thread::current().name().unwrap_or("test").to_owned()
}

fn reason(panic: Box<dyn std::any::Any + Send>) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_else(|| "panicked".into())
}
