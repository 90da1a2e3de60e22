/* Threads as pthread.h knows them, by the number of their stack. */
#ifndef GIUSTO_RECORD_H
#define GIUSTO_RECORD_H

#include <giusto.h>
#include <pthread.h>

/* Where a thread of `pthread_create`, or the first one, is in its life. */
enum {
    VACANT = 0, /* There is none with this number, or it was made otherwise. */
    RUNS = 1, /* It runs, and can be joined. */
    DETACHED = 2, /* It runs, and cannot. */
    ENDED = 3, /* It has ended, and will be joined. */
    LEFT = 4, /* It has ended, and its stack can be used again. */
};

struct giusto_thread {
    /* Its function, and the argument of that, or what it has returned. */
    void *(*work)(void *);
    void *value;
    /* A capability to it, in a slot that the number keeps; `GIUSTO_NOTHING` if there is none. */
    giusto_slot slot;
    uint32_t cpu;
    uint8_t life, policy, priority;
    /* Whether another one waits for its end. */
    bool awaited;
};

/*
 * Owns all records, until it is left; the record of the first thread is there. Callers use none of
 * a program's pointers in between: a bad one would stop the thread while it owns the records.
 */
void giusto_enter_records(void);
void giusto_leave_records(void);

/* The record of a thread; null if it has none. The caller owns the records. */
struct giusto_thread *giusto_record(pthread_t thread);

/* The policy of levels that the system has. */
int giusto_policy_of_levels(void);

/* The kernel's priority for a level of a policy; 0, or a number of errno.h. */
int giusto_priority_of(int policy, const struct sched_param *param, uint8_t *priority);

/* How many CPUs there are, and the one that the caller runs on. */
void giusto_cpus(uint64_t cpus[2]);

#endif
