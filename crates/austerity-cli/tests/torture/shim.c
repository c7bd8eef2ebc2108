/* Lets the n-th file call below the working folder fail, or kills the process there: LD_PRELOAD=shim.so.
 *
 * FAULT_AT      which call, from 0; none when absent
 * FAULT_ERROR   the error number; 0: SIGKILL instead of the call
 * FAULT_ALL     with a value: every writing call from there on fails, too, as on a full disk
 * FAULT_COUNT   a file to which the number of calls is written at the end
 *
 * Counted: open, read, write, writev, fsync, fdatasync, ftruncate, rename, mkdir, unlink, unlinkat of relative paths, and of
 * what was opened by them. The programs under test are given relative paths only.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES 65536
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static atomic_long calls;
static atomic_uchar ours[FILES];
static long at = -1;
static int error, all;

__attribute__((constructor)) static void begin(void) {
    if (getenv("FAULT_AT")) at = atol(getenv("FAULT_AT"));
    if (getenv("FAULT_ERROR")) error = atoi(getenv("FAULT_ERROR"));
    all = getenv("FAULT_ALL") != NULL;
}

__attribute__((destructor)) static void end(void) {
    const char *file = getenv("FAULT_COUNT");
    int fd = file ? REAL(open)(file, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (fd >= 0) dprintf(fd, "%ld\n", (long)calls);
}

/* Whether this call fails. */
static int fault(int writes) {
    long call = atomic_fetch_add(&calls, 1);
    if (at < 0 || (call != at && !(all && writes && call > at))) return 0;
    if (!error) kill(getpid(), SIGKILL);
    errno = error;
    return 1;
}

static int relative(const char *path) { return path && path[0] != '/'; }
static int known(int fd) { return fd >= 0 && fd < FILES && ours[fd]; }

static int opened(int fd) {
    if (fd >= 0 && fd < FILES) ours[fd] = 1;
    return fd;
}

static int open_one(const char *path, int flags, mode_t mode) {
    if (!relative(path)) return REAL(open64)(path, flags, mode);
    if (fault(flags & O_CREAT)) return -1;
    return opened(REAL(open64)(path, flags, mode));
}

int open64(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = (flags & O_CREAT) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open_one(path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    mode_t mode = (flags & O_CREAT) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return open_one(path, flags, mode);
}

int close(int fd) {
    if (fd >= 0 && fd < FILES) ours[fd] = 0;
    return REAL(close)(fd);
}

ssize_t read(int fd, void *buffer, size_t count) {
    return known(fd) && fault(0) ? -1 : REAL(read)(fd, buffer, count);
}

/* A write that fails has written a part. */
ssize_t write(int fd, const void *buffer, size_t count) {
    if (!known(fd)) return REAL(write)(fd, buffer, count);
    if (!fault(1)) return REAL(write)(fd, buffer, count);
    int why = errno;
    if (count > 1) REAL(write)(fd, buffer, count / 2);
    errno = why;
    return -1;
}

ssize_t writev(int fd, const struct iovec *pieces, int count) {
    return known(fd) && fault(1) ? -1 : REAL(writev)(fd, pieces, count);
}

int fsync(int fd) { return known(fd) && fault(1) ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return known(fd) && fault(1) ? -1 : REAL(fdatasync)(fd); }
int ftruncate64(int fd, off64_t length) { return known(fd) && fault(1) ? -1 : REAL(ftruncate64)(fd, length); }
int rename(const char *from, const char *to) { return relative(from) && fault(1) ? -1 : REAL(rename)(from, to); }
int mkdir(const char *path, mode_t mode) { return relative(path) && fault(1) ? -1 : REAL(mkdir)(path, mode); }
int unlink(const char *path) { return relative(path) && fault(0) ? -1 : REAL(unlink)(path); }
int unlinkat(int fd, const char *path, int flags) {
    return relative(path) && fault(0) ? -1 : REAL(unlinkat)(fd, path, flags);
}
