//! Independent work on threads: each item once, results in the order of the items.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// `work` of every item, on at most `threads` threads. The first error, in the order of the items, wins; work already begun is
/// finished.
pub fn each<T: Sync, R: Send, E: Send>(
    threads: usize,
    items: &[T],
    work: impl Fn(usize, &T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<R, E>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(place) else { break };
                    let result = work(place, item);
                    *results[place].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
                }
            });
        }
    });
    results.into_iter().filter_map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}

/// The same for work that cannot fail.
pub fn map<T: Sync, R: Send>(threads: usize, items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let done = each(threads, items, |_, item| Ok::<_, Infallible>(work(item)));
    done.unwrap_or_else(|never| match never {})
}

/// Seconds that the calling thread had a core so far, where the system tells (Linux): on a busy machine less than the clock says.
pub fn core_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(1e-9 * nanoseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_and_the_first_error_wins() {
        let items: Vec<usize> = (0..100).collect();
        let squares = each(3, &items, |place, item| Ok::<_, ()>(place * item)).unwrap();
        assert!(squares.iter().enumerate().all(|(i, square)| *square == i * i));
        let failed = each(3, &items, |_, item| if *item == 7 || *item == 9 { Err(*item) } else { Ok(()) });
        assert_eq!(failed, Err(7));
        assert!(each(2, &[0; 0], |_, _| Ok::<_, ()>(())).unwrap().is_empty());
    }
}
