/* What the parts of the program for POSIX use, and the program's parts. */
#ifndef POSIX_H
#define POSIX_H

#include <pthread.h>
#include <stdint.h>

enum { LOW = 40, MAIN = 50, MIDDLE = 60, HIGH = 80, TOO_HIGH = 95, MILLISECOND = 1000000 };

/* The policy of levels that the system has, and the one that it does not have. */
extern int levels, refused;

/* Makes a thread with a level; panics if that fails. */
pthread_t make(int level, void *(*work)(void *), void *argument);

/* What a thread returns; panics if it cannot be joined. */
void *joined(pthread_t thread);

/* The instant in so many nanoseconds, and a span. */
struct timespec in(uint64_t nanoseconds);
struct timespec span(uint64_t nanoseconds);

/* Sleeps, and computes, for so long. */
void rest(uint64_t nanoseconds);
void spin(uint64_t nanoseconds);

/* Whether a call has failed with this number. */
int fails(long returned, int number);

int threads(void);
int policies(void);
int clocks(void);
int queues(void);

#endif
