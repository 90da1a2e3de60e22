/**
 * Numbers of errors, which functions of `pthread.h` return. There is no variable `errno`.
 */
#ifndef GIUSTO_ERRNO_H
#define GIUSTO_ERRNO_H

/** The caller does not own it. */
#define EPERM 1
/** It is not one of them. */
#define ENOENT 2
/** There is no such thread. */
#define ESRCH 3
/** There are too many: of locks of one mutex, of threads in a row, of ceilings. */
#define EAGAIN 11
/** It is in use. */
#define EBUSY 16
/** It is one of them already. */
#define EEXIST 17
/** It is no such object, or a value is out of its range. */
#define EINVAL 22
/** There is no room for a further one. */
#define ENOSPC 28
/** The caller would wait for itself. */
#define EDEADLK 35
/** The deadline has passed. */
#define ETIMEDOUT 110
/** The last owner has ended; the caller owns the mutex. */
#define EOWNERDEAD 130
/** What the mutex protects was given up. */
#define ENOTRECOVERABLE 131

#endif
