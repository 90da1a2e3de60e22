/*
 * The calling thread, as mutexes know it. There is no storage of a thread's own, so its number is
 * found by its stack pointer: the manifest lays stacks out in a row.
 */
#ifndef GIUSTO_SELF_H
#define GIUSTO_SELF_H

#include <giusto.h>
#include <pthread.h>

/* Threads whose ids are kept. Further ones, and threads on other stacks, ask the kernel. */
#define GIUSTO_KEPT 128

/* The row: the top of the first stack, and 2^64 by the distance of two, rounded up. */
struct giusto_row {
    uint64_t top, reciprocal;
};

extern struct giusto_row giusto_row;

/* Ids by thread number; 0 is not known yet. */
extern uint32_t giusto_ids[GIUSTO_KEPT];

/* By thread number, the first of the mutexes with ceilings that the thread owns. */
extern pthread_mutex_t *giusto_ceilings[GIUSTO_KEPT];

/* The number of the calling thread, if it runs on a stack of the row; else any number. */
static inline uint64_t giusto_self(void)
{
    __extension__ typedef unsigned __int128 wide;
    return (uint64_t)((wide)giusto_below(giusto_row.top) * giusto_row.reciprocal >> 64);
}

/* The id of the calling thread; 0 if it is not kept. */
static inline uint32_t giusto_kept_id(void)
{
    uint64_t n = giusto_self();
    return n < GIUSTO_KEPT ? __atomic_load_n(&giusto_ids[n], __ATOMIC_RELAXED) : 0;
}

/* The id of the calling thread, which is kept from now on if it can be. */
uint32_t giusto_id(void);

/* The list of the calling thread in `giusto_ceilings`; null if it has none. */
pthread_mutex_t **giusto_own_ceilings(void);

#endif
