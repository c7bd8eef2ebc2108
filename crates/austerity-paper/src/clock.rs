//! CPU time of the calling thread, what a chain has cost, and of the whole process: however busy the machine is otherwise.
//!
//! Where the system does not tell, wall time stands in for it. A reading takes a system call (less than a microsecond).

use std::time::Duration;

/// CPU time that the calling thread has used so far.
#[cfg(unix)]
#[must_use]
pub fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// CPU time that all threads of this process have used so far.
#[cfg(unix)]
#[must_use]
pub fn process_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Wall time since the first call.
#[cfg(not(unix))]
#[must_use]
pub fn process_time() -> Duration {
    thread_time()
}

/// Wall time since the first call.
#[cfg(not(unix))]
#[must_use]
pub fn thread_time() -> Duration {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn work_counts_and_sleep_does_not() {
        let (start, wall) = (thread_time(), Instant::now());
        std::thread::sleep(Duration::from_millis(50));
        assert!(thread_time() - start < Duration::from_millis(40));
        assert!(process_time() >= thread_time());
        let mut sum = 0u64;
        while thread_time() - start < Duration::from_millis(20) {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(wall.elapsed() >= Duration::from_millis(70));
    }
}
