//! Whole columns, decoded on threads.
//!
//! Threads take the columns in turn: each reads one, passes it through `work`, and uses the memory that `work` leaves there for the next. What comes of it goes to the calling
//! thread. At most one column per thread waits, and one more is being made. After an error no further column begins.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::Column;
use crate::error::Result;

/// Hands `count` columns, each read and passed through `work` on some thread, to `take` with its number.
pub(super) fn each<T: Send>(
    (count, threads): (usize, usize),
    read: &(dyn Fn(usize, Column) -> Result<Column> + Sync),
    work: &(dyn Fn(usize, &mut Column) -> Result<T> + Sync),
    take: &mut dyn FnMut(usize, T) -> Result<()>,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let stop = || next.store(count, Ordering::Relaxed);
    let share = &|done: &dyn Fn(usize, T)| -> Result<()> {
        let mut column = Column::default();
        loop {
            let position = next.fetch_add(1, Ordering::Relaxed);
            if position >= count {
                return Ok(());
            }
            column = read(position, std::mem::take(&mut column))?;
            done(position, work(position, &mut column)?);
        }
    };
    std::thread::scope(|scope| {
        let (sender, receiver) = std::sync::mpsc::sync_channel(threads);
        for _ in 0..threads.min(count).max(1) {
            let (sender, stop) = (sender.clone(), &stop);
            scope.spawn(move || {
                // The receiver is gone when another column failed.
                let done = |position, made| drop(sender.send(Ok((position, made))));
                if let Err(error) = share(&done) {
                    stop();
                    drop(sender.send(Err(error)));
                }
            });
        }
        drop(sender);
        let mut outcome = Ok(());
        for received in &receiver {
            outcome = received.and_then(|(position, made)| take(position, made));
            if outcome.is_err() {
                stop();
                break;
            }
        }
        drop(receiver);
        outcome
    })
}
