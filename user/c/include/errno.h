/**
 * Numbers of errors. Functions of `pthread.h` and `clock_nanosleep` return them; the others of
 * POSIX return -1 and set `errno`.
 */
#ifndef GIUSTO_ERRNO_H
#define GIUSTO_ERRNO_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The calling thread's own variable, 0 at first. Threads on stacks that the manifest does not lay
 * out, and those from the 129th on, share one.
 */
#define errno (*giusto_errno())
int *giusto_errno(void);

#ifdef __cplusplus
}
#endif

/** The caller does not own it, or may not do that. */
#define EPERM 1
/** It is not one of them. */
#define ENOENT 2
/** There is no such thread. */
#define ESRCH 3
/** It is no descriptor, or not one for that. */
#define EBADF 9
/** There are too many: of locks, of threads, of ceilings. Or it would have to wait. */
#define EAGAIN 11
/** It is in use. */
#define EBUSY 16
/** It is one of them already. */
#define EEXIST 17
/** It is no such object, or a value is out of its range. */
#define EINVAL 22
/** There are too many descriptors. */
#define EMFILE 24
/** There is no room for a further one. */
#define ENOSPC 28
/** The caller would wait for itself. */
#define EDEADLK 35
/** The name is too long. */
#define ENAMETOOLONG 36
/** The message is too long, or the room for it too short. */
#define EMSGSIZE 90
/** The system has no such thing. */
#define ENOTSUP 95
/** The deadline has passed. */
#define ETIMEDOUT 110
/** The last owner has ended; the caller owns the mutex. */
#define EOWNERDEAD 130
/** What the mutex protects was given up. */
#define ENOTRECOVERABLE 131

#endif
