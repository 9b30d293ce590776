/* A layer between a program and the C library, preloaded: it counts the calls that touch files below one folder, and
 * at one of them kills the process, stops it, lets the call fail, or takes the file away. Or it writes them down, with
 * their data. It does nothing until faults_arm is called, so that one loaded program can fork a process for each fault. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

/* Keep in step with Mode and Kind of layer.py. */
enum mode { OFF, COUNT, RECORD, KILL, TERM, TORN, FAIL, PAUSE, VANISH, CLOCK };
enum kind { LOOK = 1, READ = 2, CREATE = 4, WRITE = 8, SYNC = 16, REMOVE = 32, CHANGE = 64, CLOSE = 128 };
enum verdict { GO, FAILED, HALF };
enum { MOST_FILES = 4096 };

static enum mode mode;
static char root[PATH_MAX];
static size_t root_length;
static long at, calls, step;
static int error_number, error_kinds, sticky, log_file = -1, wake = -1, ready = -1, was_short;
static char *names[MOST_FILES];

void faults_arm(const char *folder, int what, long when, int error, int kinds, int stays, int log, int waker, int told) {
    snprintf(root, sizeof root, "%s", folder);
    root_length = strlen(root);
    mode = what, at = when, error_number = error, error_kinds = kinds, sticky = stays;
    log_file = log, wake = waker, ready = told, calls = 0, was_short = 0;
    step = what == CLOCK ? error : 0;
}

long faults_calls(void) { return calls; }

static int below(const char *path) {
    return !strncmp(path, root, root_length) && (path[root_length] == '/' || !path[root_length]);
}

/* The whole path of a name, without "." and ".."; NULL where it is of no interest. */
static const char *whole(int folder, const char *name, char *buffer) {
    if (mode == OFF || !name) return NULL;
    char joined[2 * PATH_MAX] = "";
    if (name[0] != '/') {
        if (folder == AT_FDCWD) {
            if (syscall(SYS_getcwd, joined, (size_t)PATH_MAX) < 0) return NULL;
        } else if (folder >= 0 && folder < MOST_FILES && names[folder])
            snprintf(joined, sizeof joined, "%s", names[folder]);
        else
            return NULL;
        strcat(joined, "/");
    }
    strncat(joined, name, PATH_MAX - 1);
    buffer[0] = 0;
    size_t length = 0;
    for (char *rest, *part = strtok_r(joined, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
        if (!strcmp(part, ".")) continue;
        if (!strcmp(part, "..")) {
            char *slash = strrchr(buffer, '/');
            if (slash) *slash = 0;
            length = strlen(buffer);
            continue;
        }
        size_t more = strlen(part);
        if (length + more + 2 >= PATH_MAX) return NULL;
        buffer[length++] = '/';
        memcpy(buffer + length, part, more + 1);
        length += more;
    }
    return below(buffer) ? buffer : NULL;
}

static const char *name_of(int file) {
    return mode != OFF && file >= 0 && file < MOST_FILES ? names[file] : NULL;
}

/* Count a call before it is made, and do to it what was asked for. */
static enum verdict met(enum kind kind, const char *path) {
    long number = calls++;
    int saved = errno;
    if (mode == FAIL) {
        if (number < at || (number > at && !sticky) || !(kind & error_kinds)) return GO;
        if (kind == WRITE && (error_number == ENOSPC || error_number == EDQUOT) && !was_short) {
            was_short = 1;
            return HALF;
        }
        errno = error_number;
        return FAILED;
    }
    if (number == at) switch (mode) {
        case TORN: if (kind == WRITE) return HALF; /* fall through */
        case KILL: syscall(SYS_kill, getpid(), SIGKILL); break;
        case TERM: raise(SIGTERM); break;
        case PAUSE: {
            char byte = 'p';
            if (syscall(SYS_write, ready, &byte, (size_t)1) < 0) break;
            while (syscall(SYS_read, wake, &byte, (size_t)1) < 0 && errno == EINTR) continue;
            break;
        }
        case VANISH: if (path) syscall(SYS_unlinkat, AT_FDCWD, path, 0); break;
        default: break;
    }
    errno = saved;
    return GO;
}

static void say(const void *data, size_t size) {
    for (const char *from = data; size;) {
        ssize_t done = syscall(SYS_write, log_file, from, size);
        if (done <= 0) _exit(99);
        from += done, size -= (size_t)done;
    }
}

/* Write a call down that was made; one line, then the paths and the data. */
static void note(enum kind kind, const char *what, const char *one, const char *two, long a, long b, long result,
                 const void *data, size_t size) {
    if (mode != RECORD) return;
    int saved = errno;
    char line[200];
    one = one ? one : "", two = two ? two : "";
    int length = snprintf(line, sizeof line, "%ld %d %s %ld %ld %ld %zu %zu %zu\n", calls - 1, kind, what, a, b, result,
                          strlen(one), strlen(two), size);
    say(line, (size_t)length), say(one, strlen(one)), say(two, strlen(two)), say(data, size);
    errno = saved;
}

static int opened(int folder, const char *name, int flags, mode_t rights) {
    char buffer[PATH_MAX];
    const char *path = whole(folder, name, buffer);
    enum kind kind = flags & (O_CREAT | O_TRUNC) ? CREATE : flags & O_ACCMODE ? CHANGE : READ;
    if (path && met(kind, path) == FAILED) return -1;
    int file = (int)syscall(SYS_openat, folder, name, flags, rights);
    if (path) {
        if (file >= 0 && file < MOST_FILES) free(names[file]), names[file] = strdup(path);
        note(kind, "open", path, NULL, file, flags, file, NULL, 0);
    }
    return file;
}

#define RIGHTS(flags) \
    mode_t rights = 0; \
    if (flags & (O_CREAT | __O_TMPFILE)) { va_list more; va_start(more, flags); rights = va_arg(more, mode_t); va_end(more); }
int open(const char *name, int flags, ...) { RIGHTS(flags) return opened(AT_FDCWD, name, flags, rights); }
int open64(const char *name, int flags, ...) { RIGHTS(flags) return opened(AT_FDCWD, name, flags, rights); }
int openat(int folder, const char *name, int flags, ...) { RIGHTS(flags) return opened(folder, name, flags, rights); }
int openat64(int folder, const char *name, int flags, ...) { RIGHTS(flags) return opened(folder, name, flags, rights); }
int creat(const char *name, mode_t rights) { return opened(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, rights); }

int close(int file) {
    const char *path = name_of(file);
    if (path) {
        met(CLOSE, NULL);
        note(CLOSE, "close", NULL, NULL, file, 0, 0, NULL, 0);
        free(names[file]), names[file] = NULL;
    }
    return (int)syscall(SYS_close, file);
}

ssize_t read(int file, void *to, size_t size) {
    if (name_of(file) && met(READ, NULL) == FAILED) return -1;
    return syscall(SYS_read, file, to, size);
}

ssize_t pread(int file, void *to, size_t size, off_t from) {
    if (name_of(file) && met(READ, NULL) == FAILED) return -1;
    return syscall(SYS_pread64, file, to, size, from);
}
ssize_t pread64(int file, void *to, size_t size, off64_t from) { return pread(file, to, size, from); }

/* place is -1 for the position of the file. */
static ssize_t put(int file, const void *data, size_t size, off_t place) {
    if (name_of(file)) switch (met(WRITE, NULL)) {
        case FAILED: return -1;
        case HALF: size = mode == TORN || size > 1 ? size / 2 : size; break;
        case GO: break;
    }
    off_t where = place;
    if (place < 0 && mode == RECORD && name_of(file)) {
        struct stat found;
        int append = fcntl(file, F_GETFL) & O_APPEND;
        where = append && !fstat(file, &found) ? found.st_size : lseek(file, 0, SEEK_CUR);
    }
    ssize_t done = place < 0 ? syscall(SYS_write, file, data, size) : syscall(SYS_pwrite64, file, data, size, place);
    if (name_of(file)) {
        if (mode == TORN && calls - 1 == at) syscall(SYS_kill, getpid(), SIGKILL);
        note(WRITE, "write", NULL, NULL, file, where, done, data, done > 0 ? (size_t)done : 0);
    }
    return done;
}

ssize_t write(int file, const void *data, size_t size) { return put(file, data, size, -1); }
ssize_t pwrite(int file, const void *data, size_t size, off_t place) { return put(file, data, size, place); }
ssize_t pwrite64(int file, const void *data, size_t size, off64_t place) { return put(file, data, size, place); }

ssize_t writev(int file, const struct iovec *parts, int count) {
    if (!name_of(file)) return syscall(SYS_writev, file, parts, count);
    ssize_t all = 0;
    for (int number = 0; number < count; number++) {
        ssize_t done = put(file, parts[number].iov_base, parts[number].iov_len, -1);
        if (done < 0) return all ? all : done;
        all += done;
        if ((size_t)done < parts[number].iov_len) break;
    }
    return all;
}

/* What the kernel copies by itself is read and written here, so that it is seen. */
static ssize_t copied(int from, off_t *place, int to, size_t size) {
    static char block[1 << 16];
    size = size < sizeof block ? size : sizeof block;
    ssize_t got = place ? syscall(SYS_pread64, from, block, size, *place) : syscall(SYS_read, from, block, size);
    ssize_t done = got > 0 ? put(to, block, (size_t)got, -1) : got;
    if (place && done > 0) *place += done;
    return done;
}

ssize_t sendfile(int to, int from, off_t *place, size_t size) {
    return name_of(to) ? copied(from, place, to, size) : syscall(SYS_sendfile, to, from, place, size);
}
ssize_t sendfile64(int to, int from, off64_t *place, size_t size) { return sendfile(to, from, place, size); }

ssize_t copy_file_range(int from, off64_t *in, int to, off64_t *out, size_t size, unsigned flags) {
    if (name_of(to) && !out) return copied(from, in, to, size);
    return syscall(SYS_copy_file_range, from, in, to, out, size, flags);
}

int ftruncate(int file, off_t size) {
    if (name_of(file) && met(WRITE, NULL) == FAILED) return -1;
    int done = (int)syscall(SYS_ftruncate, file, size);
    if (name_of(file)) note(WRITE, "truncate", NULL, NULL, file, size, done, NULL, 0);
    return done;
}
int ftruncate64(int file, off64_t size) { return ftruncate(file, size); }

/* So far, files are written by none of these. */
int truncate(const char *name, off_t size) { (void)name, (void)size; errno = ENOSYS; return -1; }
int truncate64(const char *name, off64_t size) { return truncate(name, size); }
int fallocate(int file, int how, off_t place, off_t size) {
    (void)how, (void)place, (void)size;
    if (!name_of(file)) return (int)syscall(SYS_fallocate, file, how, place, size);
    errno = EOPNOTSUPP;
    return -1;
}
int fallocate64(int file, int how, off64_t place, off64_t size) { return fallocate(file, how, place, size); }
int posix_fallocate(int file, off_t place, off_t size) { return fallocate(file, 0, place, size) ? errno : 0; }
int posix_fallocate64(int file, off64_t place, off64_t size) { return posix_fallocate(file, place, size); }

static int synced(int file, long number) {
    if (name_of(file) && met(SYNC, NULL) == FAILED) return -1;
    int done = (int)syscall(number, file);
    if (name_of(file)) note(SYNC, "sync", NULL, NULL, file, 0, done, NULL, 0);
    return done;
}
int fsync(int file) { return synced(file, SYS_fsync); }
int fdatasync(int file) { return synced(file, SYS_fdatasync); }

/* A call with one name or two; either may be outside. */
#define NAMED(kind, what, f1, n1, f2, n2, b, call) \
    char buffer1[PATH_MAX], buffer2[PATH_MAX]; \
    const char *one = whole(f1, n1, buffer1), *two = whole(f2, n2, buffer2); \
    if ((one || two) && met(kind, one) == FAILED) return -1; \
    int done = (int)(call); \
    if (one || two) note(kind, what, one, two, 0, b, done, NULL, 0); \
    return done;

int renameat2(int f1, const char *n1, int f2, const char *n2, unsigned flags) {
    NAMED(CREATE, "rename", f1, n1, f2, n2, flags, syscall(SYS_renameat2, f1, n1, f2, n2, flags))
}
int renameat(int f1, const char *n1, int f2, const char *n2) { return renameat2(f1, n1, f2, n2, 0); }
int rename(const char *n1, const char *n2) { return renameat2(AT_FDCWD, n1, AT_FDCWD, n2, 0); }
int linkat(int f1, const char *n1, int f2, const char *n2, int flags) {
    NAMED(CREATE, "link", f1, n1, f2, n2, flags, syscall(SYS_linkat, f1, n1, f2, n2, flags))
}
int link(const char *n1, const char *n2) { return linkat(AT_FDCWD, n1, AT_FDCWD, n2, 0); }
int symlinkat(const char *says, int folder, const char *name) {
    char buffer[PATH_MAX];
    const char *path = whole(folder, name, buffer);
    if (path && met(CREATE, NULL) == FAILED) return -1;
    int done = (int)syscall(SYS_symlinkat, says, folder, name);
    if (path) note(CREATE, "symlink", path, NULL, 0, 0, done, says, strlen(says));
    return done;
}
int symlink(const char *says, const char *name) { return symlinkat(says, AT_FDCWD, name); }
int unlinkat(int folder, const char *name, int flags) {
    NAMED(REMOVE, flags & AT_REMOVEDIR ? "rmdir" : "unlink", folder, name, -1, NULL, 0,
          syscall(SYS_unlinkat, folder, name, flags))
}
int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }
int remove(const char *name) {
    int done = unlink(name);
    return done && (errno == EISDIR || errno == EPERM) ? rmdir(name) : done;
}
int mkdirat(int folder, const char *name, mode_t rights) {
    NAMED(CREATE, "mkdir", folder, name, -1, NULL, 0, syscall(SYS_mkdirat, folder, name, rights))
}
int mkdir(const char *name, mode_t rights) { return mkdirat(AT_FDCWD, name, rights); }
int chmod(const char *name, mode_t rights) {
    NAMED(CHANGE, "chmod", AT_FDCWD, name, -1, NULL, rights, syscall(SYS_fchmodat, AT_FDCWD, name, rights))
}
int fchmod(int file, mode_t rights) {
    if (name_of(file) && met(CHANGE, NULL) == FAILED) return -1;
    int done = (int)syscall(SYS_fchmod, file, rights);
    if (name_of(file)) note(CHANGE, "fchmod", NULL, NULL, file, rights, done, NULL, 0);
    return done;
}
int utimensat(int folder, const char *name, const struct timespec times[2], int flags) {
    NAMED(CHANGE, "utime", folder, name, -1, NULL, 0, syscall(SYS_utimensat, folder, name, times, flags))
}

#define LOOKED(name, f, n, declared, call) \
    int name declared { \
        char buffer[PATH_MAX]; \
        const char *path = whole(f, n, buffer); \
        if (path && met(LOOK, path) == FAILED) return -1; \
        if (path) note(LOOK, "look", path, NULL, 0, 0, 0, NULL, 0); \
        static int (*next) declared; \
        if (!next) next = (int (*) declared)dlsym(RTLD_NEXT, #name); \
        return next call; \
    }
LOOKED(stat, AT_FDCWD, name, (const char *name, struct stat *to), (name, to))
LOOKED(stat64, AT_FDCWD, name, (const char *name, struct stat64 *to), (name, to))
LOOKED(lstat, AT_FDCWD, name, (const char *name, struct stat *to), (name, to))
LOOKED(lstat64, AT_FDCWD, name, (const char *name, struct stat64 *to), (name, to))
LOOKED(fstatat, folder, name, (int folder, const char *name, struct stat *to, int flags), (folder, name, to, flags))
LOOKED(fstatat64, folder, name, (int folder, const char *name, struct stat64 *to, int flags), (folder, name, to, flags))

/* A folder that is listed: what the C library opens for that passes by open. */
DIR *opendir(const char *name) {
    char buffer[PATH_MAX];
    const char *path = whole(AT_FDCWD, name, buffer);
    if (path && met(LOOK, NULL) == FAILED) return NULL;
    if (path) note(LOOK, "list", path, NULL, 0, 0, 0, NULL, 0);
    static DIR *(*next)(const char *);
    if (!next) next = (DIR * (*)(const char *))dlsym(RTLD_NEXT, "opendir");
    return next(name);
}

int clock_gettime(clockid_t which, struct timespec *to) {
    int done = (int)syscall(SYS_clock_gettime, which, to);
    if (!done && mode == CLOCK && calls > at && which == CLOCK_REALTIME) to->tv_sec -= step;
    return done;
}
