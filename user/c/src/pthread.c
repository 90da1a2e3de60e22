/*
 * Threads: their records, beginning and end. A thread that ends destroys itself, so that the kernel
 * tells what it leaves behind; its stack is used again when that is done.
 */
#include "record.h"
#include "internal.h"
#include "self.h"
#include <errno.h>
#include <stdlib.h>

static struct giusto_thread records[GIUSTO_KEPT];

/* Whether the record of the first thread is there, and how many threads have not ended. */
static bool ready;
static unsigned alive = 1;

/*
 * Who owns the records has the priority of those that wait for them. The condition is of the kind
 * that has helpers, though it has none: it then has no mutex of its own, which does not inherit.
 */
static pthread_mutex_t mutex = {.protocol = PTHREAD_PRIO_INHERIT};
static pthread_cond_t ended = {.helped = 1};

void giusto_cpus(uint64_t cpus[2])
{
    struct giusto_arguments in = {{GIUSTO_FACT_CPUS}, {0}};
    struct giusto_outcome out = giusto_syscall(GIUSTO_CALL_FACT, in);
    cpus[0] = out.results[0];
    cpus[1] = out.results[1];
}

void giusto_enter_records(void)
{
    pthread_mutex_lock(&mutex);
    if (ready)
        return;
    ready = true;
    uint64_t cpus[2];
    giusto_cpus(cpus);
    struct giusto_thread *first = &records[0];
    first->life = RUNS;
    first->slot = giusto_find_cap("thread");
    first->cpu = (uint32_t)cpus[1];
    first->priority = (uint8_t)giusto_first_priority();
    first->policy = first->priority == 0 ? SCHED_OTHER : (uint8_t)giusto_policy_of_levels();
}

void giusto_leave_records(void)
{
    pthread_mutex_unlock(&mutex);
}

/* How many threads have records. */
static unsigned count(void)
{
    unsigned threads = giusto_threads();
    return threads < GIUSTO_KEPT ? threads : GIUSTO_KEPT;
}

struct giusto_thread *giusto_record(pthread_t thread)
{
    for (unsigned n = 0; n < count(); n++)
        if (__atomic_load_n(&giusto_ids[n], __ATOMIC_RELAXED) == thread && thread != 0)
            return records[n].life == VACANT || records[n].life == LEFT ? NULL : &records[n];
    return NULL;
}

/* A thread that has ended has left its stack when this returns, and its record is free. */
static void bury(unsigned n)
{
    struct giusto_thread *record = &records[n];
    /* The first one is not destroyed, and its stack not used again. */
    if (n != 0 && giusto_destroy(record->slot) == GIUSTO_ERROR_STALE)
        giusto_delete(record->slot);
    giusto_forget(n);
    record->life = VACANT;
    record->awaited = false;
}

/* The number of a thread that can be made; 0 if there is none. */
static unsigned vacant(void)
{
    for (unsigned n = 1; n < count(); n++) {
        struct giusto_thread *record = &records[n];
        if (record->life == LEFT)
            bury(n);
        if (record->life != VACANT)
            continue;
        if (record->slot == GIUSTO_NOTHING)
            record->slot = giusto_fresh_slot();
        if (record->slot != GIUSTO_NOTHING)
            return n;
    }
    return 0;
}

/* A thread's first function. */
static void begin(uint64_t n)
{
    errno = 0;
    struct giusto_thread *own = &records[n];
    pthread_exit(own->work(own->value));
}

/* The number of an error of making a thread. */
static int number_of(giusto_status status)
{
    return status == 0 ? 0 : status == GIUSTO_ERROR_PRIORITY_TOO_HIGH ? EPERM : EAGAIN;
}

/* Makes the kernel's thread, which does not run yet, and learns how mutexes know it. */
static int make(unsigned n, struct giusto_thread *record, pthread_t *id)
{
    uint64_t cpus[2];
    giusto_cpus(cpus);
    record->cpu = (uint32_t)cpus[1];
    giusto_status status = giusto_prepare_thread(n, record->slot, record->priority, begin, n);
    if (status == 0 && cpus[0] > 1)
        status = giusto_simple(GIUSTO_CALL_THREAD_MIGRATE, record->slot, record->cpu, 0);
    struct giusto_arguments in = {{record->slot}, {0}};
    struct giusto_outcome out = giusto_syscall(GIUSTO_CALL_THREAD_INSPECT, in);
    if (status == 0)
        status = giusto_status_of(out);
    if (status != 0) {
        giusto_destroy(record->slot);
        return number_of(status);
    }
    *id = (pthread_t)(out.results[1] >> 32);
    __atomic_store_n(&giusto_ids[n], *id, __ATOMIC_RELAXED);
    return 0;
}

/* Policy and priority of a thread that the calling one makes; without attributes its own. */
static int choose(const pthread_attr_t *attr, struct giusto_thread *made)
{
    if (attr->is_explicit) {
        made->policy = attr->policy;
        return giusto_priority_of(attr->policy, &attr->param, &made->priority);
    }
    const struct giusto_thread *own = giusto_record(giusto_id());
    if (own == NULL)
        own = &records[0];
    made->policy = own->policy;
    made->priority = own->priority;
    return 0;
}

/* Makes a thread with this function and argument, which does not run yet. */
static int create(const pthread_attr_t *attr, void *(*work)(void *), void *argument,
    giusto_slot *slot, pthread_t *id)
{
    unsigned n = vacant();
    if (n == 0)
        return EAGAIN;
    struct giusto_thread *record = &records[n];
    int error = choose(attr, record);
    if (error == 0)
        error = make(n, record, id);
    if (error != 0)
        return error;
    record->work = work;
    record->value = argument;
    record->life = attr->detached ? DETACHED : RUNS;
    alive++;
    *slot = record->slot;
    return 0;
}

int pthread_create(
    pthread_t *thread, const pthread_attr_t *attr, void *(*work)(void *), void *argument)
{
    const pthread_attr_t none = {.initialised = 1}, chosen = attr == NULL ? none : *attr;
    if (!chosen.initialised)
        return EINVAL;
    giusto_slot slot = GIUSTO_NOTHING;
    pthread_t id = 0;
    giusto_enter_records();
    int error = create(&chosen, work, argument, &slot, &id);
    giusto_leave_records();
    if (error != 0)
        return error;
    *thread = id;
    giusto_resume(slot);
    return 0;
}

void pthread_exit(void *value)
{
    giusto_enter_records();
    struct giusto_thread *own = giusto_record(giusto_id());
    bool last = false;
    if (own != NULL) {
        own->value = value;
        own->life = own->life == DETACHED ? LEFT : ENDED;
        last = --alive == 0;
        pthread_cond_broadcast(&ended);
    }
    giusto_leave_records();
    if (last)
        exit(EXIT_SUCCESS);
    /* The first thread, and those that were made otherwise, wait for ever. */
    if (own != NULL && own != &records[0])
        giusto_destroy(own->slot);
    giusto_wait_for_ever();
}

/* Why a thread cannot be joined or detached; 0 if it can. */
static int check(const struct giusto_thread *thread)
{
    if (thread == NULL)
        return ESRCH;
    return thread->life == DETACHED || thread->awaited ? EINVAL : 0;
}

int pthread_join(pthread_t thread, void **value)
{
    if (thread == pthread_self())
        return EDEADLK;
    giusto_enter_records();
    struct giusto_thread *joined = giusto_record(thread);
    int error = check(joined);
    void *result = NULL;
    if (error == 0) {
        joined->awaited = true;
        while (joined->life != ENDED)
            pthread_cond_wait(&ended, &mutex);
        result = joined->value;
        bury((unsigned)(joined - records));
    }
    giusto_leave_records();
    if (error == 0 && value != NULL)
        *value = result;
    return error;
}

int pthread_detach(pthread_t thread)
{
    giusto_enter_records();
    struct giusto_thread *detached = giusto_record(thread);
    int error = check(detached);
    if (error == 0)
        detached->life = detached->life == ENDED ? LEFT : DETACHED;
    giusto_leave_records();
    return error;
}
