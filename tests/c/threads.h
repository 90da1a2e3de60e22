/* Further threads, each used again when its last function was. */
#ifndef THREADS_H
#define THREADS_H

#include <giusto.h>
#include <pthread.h>

enum { LOW = 40, MAIN = 50, MIDDLE = 60, HIGH = 80, MILLISECOND = 1000000 };

/* Lets thread `n` run a function at a priority, in place of what it did before. */
void run(unsigned n, uint64_t priority, void (*work)(uint64_t), uint64_t argument);

/* Ends thread `n`, wherever it is. */
void end(unsigned n);

/* Lets all others run until they wait. */
void settle(void);

/* The instant in so many nanoseconds. */
struct timespec in(uint64_t nanoseconds);

int mutexes(void);
int protocols(void);
int conditions(void);
int helpers(void);
int cost(void);

#endif
