/**
 * How message queues are opened (mqueue.h). There are no files.
 */
#ifndef GIUSTO_FCNTL_H
#define GIUSTO_FCNTL_H

#include <sys/types.h>

/** For receiving, for sending, for both. */
#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
/** The bits of these three. */
#define O_ACCMODE 3
/** It is made if it is not there. */
#define O_CREAT 0100
/** With `O_CREAT`: it must not be there. */
#define O_EXCL 0200
/** Nothing waits. */
#define O_NONBLOCK 04000

#endif
