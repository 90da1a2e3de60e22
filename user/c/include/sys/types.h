/**
 * Types of POSIX that several headers share.
 */
#ifndef GIUSTO_SYS_TYPES_H
#define GIUSTO_SYS_TYPES_H

#include <stddef.h>

/** A process. There is one, 0: the program. */
typedef int pid_t;

/** Who may use a file: nothing is made of it. */
typedef unsigned mode_t;

/** A size, or -1. */
typedef ptrdiff_t ssize_t;

#endif
