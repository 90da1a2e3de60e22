/* Conditions with helpers. */
#include "check.h"
#include "threads.h"
#include <errno.h>

static pthread_mutex_t mutex;
static pthread_cond_t cond;

/* What the mutex protects: what is waited for, and which threads have come. */
static unsigned filled, came;
static volatile int told;
/* The thread that last said who it is. */
static volatile pthread_t who;

/* A mutex whose ceiling, if it has one, is that of all threads here. */
static void make(pthread_mutex_t *at, int protocol, int robust)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setprotocol(&attr, protocol);
    pthread_mutexattr_setprioceiling(&attr, HIGH);
    pthread_mutexattr_setrobust(&attr, robust);
    pthread_mutex_init(at, &attr);
}

/* The mutex and the condition are new. */
static void renew(int protocol, int robust)
{
    make(&mutex, protocol, robust);
    pthread_cond_init(&cond, NULL);
    filled = came = 0;
    told = 0;
}

/* The calling thread owns the mutex for what it calls. */
static int changed(int (*change)(pthread_cond_t *, pthread_t *), pthread_t thread)
{
    int error = pthread_mutex_lock(&mutex);
    if (error == 0) {
        error = change(&cond, &thread);
        told |= pthread_mutex_unlock(&mutex);
    }
    return error;
}

static int fill(unsigned much, int (*wake)(pthread_cond_t *))
{
    pthread_mutex_lock(&mutex);
    filled += much;
    int error = wake(&cond);
    error |= pthread_mutex_unlock(&mutex);
    settle();
    return error;
}

/* Waits until there is something, and takes it. */
static void take(uint64_t n)
{
    int error = pthread_mutex_lock(&mutex);
    while (error == 0 && filled == 0)
        error = pthread_cond_wait(&cond, &mutex);
    filled--;
    came = came * 10 + (unsigned)n;
    told |= error | pthread_mutex_unlock(&mutex);
}

static void stay(uint64_t n)
{
    (void)n;
    who = pthread_self();
    giusto_sleep_until(UINT64_MAX);
}

/* A thread that does nothing. */
static pthread_t idler(unsigned n)
{
    run(n, HIGH, stay, n);
    return who;
}

/* Becomes a helper, works, and makes the condition true. */
static void help(uint64_t n)
{
    (void)n;
    uint64_t begin = giusto_clock();
    told |= changed(pthread_cond_helpers_add, pthread_self());
    giusto_sleep(2 * MILLISECOND);
    while (giusto_clock() < begin + 5 * MILLISECOND)
        continue;
    pthread_mutex_lock(&mutex);
    filled++;
    told |= pthread_cond_signal(&cond);
    told |= pthread_mutex_unlock(&mutex);
}

static void disturb(uint64_t n)
{
    giusto_sleep(3 * MILLISECOND);
    came = came * 10 + (unsigned)n;
}

static int no_inversion(const char *kind)
{
    run(1, LOW, help, 1);
    run(2, LOW + 5, disturb, 2);
    giusto_sleep(MILLISECOND);
    take(1);
    unsigned at_once = came;
    settle();
    return check_of(kind, "a helper goes before what would delay the waiting thread",
        told == 0 && at_once == 1 && came == 12);
}

static int by_priority(const char *kind, int protocol, int robust)
{
    renew(protocol, robust);
    int added = changed(pthread_cond_helpers_add, pthread_self());
    run(1, LOW, take, 1);
    run(2, HIGH, take, 2);
    run(3, MIDDLE, take, 3);
    settle();
    int failed = check_of(kind, "who wakes owns the mutex", pthread_cond_signal(&cond) == EPERM);
    failed += check_of(kind, "the most urgent thread is woken, then all",
        added == 0 && fill(1, pthread_cond_signal) == 0 && came == 2
            && fill(2, pthread_cond_broadcast) == 0 && came == 231 && told == 0);
    return failed;
}

static int comings_and_goings(void)
{
    renew(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
    pthread_t me = pthread_self(), first = idler(1);
    int failed = check("a helper is named, and is one once",
        changed(pthread_cond_helpers_add, first) == 0
            && changed(pthread_cond_helpers_add, first) == EEXIST
            && changed(pthread_cond_helpers_del, me) == ENOENT);
    failed += check("no thread is no helper",
        changed(pthread_cond_helpers_add, 0) == ESRCH
            && changed(pthread_cond_helpers_add, 0x12345) == ESRCH
            && changed(pthread_cond_helpers_del, 0) == ENOENT
            && pthread_cond_helpers_add(&cond, NULL) == EINVAL
            && pthread_cond_helpers_del(&cond, NULL) == EINVAL);
    int full = 0;
    for (unsigned n = 2; n <= 4; n++)
        full |= changed(pthread_cond_helpers_add, idler(n));
    failed += check("four threads help, and no fifth one",
        full == 0 && changed(pthread_cond_helpers_add, me) == ENOSPC);
    end(1);
    failed += check("one that has ended leaves its place, and helps no more",
        changed(pthread_cond_helpers_add, first) == ESRCH
            && changed(pthread_cond_helpers_add, me) == 0
            && changed(pthread_cond_helpers_del, first) == ENOENT
            && changed(pthread_cond_helpers_del, me) == 0
            && changed(pthread_cond_helpers_add, me) == 0);
    run(1, LOW, take, 1);
    settle();
    failed += check("while threads wait, helpers are changed by who owns the mutex",
        pthread_cond_helpers_del(&cond, &me) == EPERM && changed(pthread_cond_helpers_del, me) == 0
            && changed(pthread_cond_helpers_add, me) == 0
            && changed(pthread_cond_helpers_add, me) == EEXIST
            && pthread_cond_destroy(&cond) == EBUSY && fill(1, pthread_cond_signal) == 0
            && came == 1 && told == 0);
    failed += check("a destroyed condition has no helpers",
        pthread_cond_destroy(&cond) == 0 && changed(pthread_cond_helpers_add, me) == EINVAL
            && changed(pthread_cond_helpers_del, me) == EINVAL);
    return failed;
}

static int refusals(void)
{
    struct timespec soon = in(MILLISECOND);
    pthread_t me = pthread_self();
    renew(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
    changed(pthread_cond_helpers_add, me);
    pthread_mutex_lock(&mutex);
    int failed = check("a wait with helpers ends at its deadline, with the mutex",
        pthread_cond_timedwait(&cond, &mutex, &soon) == ETIMEDOUT
            && pthread_mutex_unlock(&mutex) == 0);
    renew(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_STALLED);
    int added = changed(pthread_cond_helpers_add, me);
    pthread_mutex_lock(&mutex);
    failed += check("threads wait with a mutex that inherits",
        added == 0 && pthread_cond_wait(&cond, &mutex) == EINVAL
            && pthread_mutex_unlock(&mutex) == 0);
    renew(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
    run(1, HIGH, take, 1);
    failed += check("threads that wait already lend nothing to a first helper",
        changed(pthread_cond_helpers_add, me) == EBUSY && fill(1, pthread_cond_signal) == 0
            && came == 1 && changed(pthread_cond_helpers_add, me) == 0);
    return failed;
}

/* Takes what there is, and keeps the mutex for a while. */
static void take_slowly(uint64_t n)
{
    pthread_mutex_lock(&mutex);
    while (told == 0 && filled == 0)
        told |= pthread_cond_wait(&cond, &mutex);
    uint64_t end = giusto_clock() + 3 * MILLISECOND;
    while (giusto_clock() < end)
        continue;
    came = came * 10 + (unsigned)n;
    told |= pthread_mutex_unlock(&mutex);
}

static void note_soon(uint64_t n)
{
    giusto_sleep(MILLISECOND);
    came = came * 10 + (unsigned)n;
}

static void lower_the_ceiling(uint64_t ceiling)
{
    told |= pthread_mutex_setprioceiling(&mutex, (int)ceiling, NULL);
}

static void wait_once(uint64_t n)
{
    (void)n;
    pthread_mutex_lock(&mutex);
    told |= pthread_cond_wait(&cond, &mutex);
    came++;
}

static void own_for_ever(uint64_t n)
{
    (void)n;
    pthread_mutex_lock(&mutex);
    giusto_sleep_until(UINT64_MAX);
}

static int ceiling(void)
{
    renew(PTHREAD_PRIO_PROTECT, PTHREAD_MUTEX_ROBUST);
    changed(pthread_cond_helpers_add, pthread_self());
    run(1, MIDDLE, take_slowly, 1);
    run(2, HIGH - 1, note_soon, 2);
    pthread_mutex_lock(&mutex);
    filled++;
    int error = pthread_cond_signal(&cond) | pthread_mutex_unlock(&mutex);
    settle();
    int failed = check("a thread that is woken has the ceiling again, until it unlocks",
        error == 0 && told == 0 && came == 12);
    struct timespec soon = in(MILLISECOND);
    pthread_mutex_lock(&mutex);
    run(1, HIGH, lower_the_ceiling, LOW);
    failed += check("one whose ceiling was lowered meanwhile comes back with the mutex",
        pthread_cond_timedwait(&cond, &mutex, &soon) == ETIMEDOUT && told == 0
            && pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_lock(&mutex) == EINVAL);
    return failed;
}

/* The mutex of threads that wait for a condition is one that is never owned again. */
static int lost(void)
{
    renew(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
    changed(pthread_cond_helpers_add, pthread_self());
    told = 0;
    run(1, MIDDLE, wait_once, 0);
    run(2, MIDDLE, wait_once, 0);
    run(3, HIGH, own_for_ever, 0);
    end(3);
    int error = pthread_mutex_lock(&mutex);
    unsigned before = came;
    int unlocked = pthread_mutex_unlock(&mutex);
    settle();
    int failed = check("threads that wait for a condition are told of a mutex that is lost",
        error == EOWNERDEAD && before == 0 && unlocked == 0 && came == 2
            && told == ENOTRECOVERABLE && pthread_cond_destroy(&cond) == 0);
    renew(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
    changed(pthread_cond_helpers_add, pthread_self());
    run(3, HIGH, own_for_ever, 0);
    end(3);
    error = pthread_mutex_lock(&mutex);
    failed += check("a wait that does not mend what it gives up is the end of the mutex",
        error == EOWNERDEAD && pthread_cond_wait(&cond, &mutex) == ENOTRECOVERABLE
            && pthread_mutex_unlock(&mutex) == EPERM && pthread_cond_destroy(&cond) == 0);
    return failed;
}

/* Two conditions with four helpers each, of which thread 2 is one of the first, and waits for the
 * second: a thread that waits for the first has eight in front of it. */
static struct {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    unsigned wait, stay;
} rows[] = {{.wait = 2, .stay = 20}, {.wait = 1, .stay = 8}};

/* Threads 1 and 2 wait for one of the conditions, from an instant until an instant. */
static void wait_in_row(uint64_t n)
{
    bool keeps = n == 2;
    unsigned row = (unsigned)n % 2;
    uint64_t begin = giusto_clock();
    who = pthread_self();
    struct timespec until = in(rows[row].stay * MILLISECOND);
    giusto_sleep_until(begin + rows[row].wait * MILLISECOND);
    if (keeps)
        told |= pthread_mutex_lock(&mutex);
    told |= pthread_mutex_lock(&rows[row].mutex);
    told |= pthread_cond_timedwait(&rows[row].cond, &rows[row].mutex, &until) ^ ETIMEDOUT;
    told |= pthread_mutex_unlock(&rows[row].mutex);
    if (keeps)
        told |= pthread_mutex_unlock(&mutex);
}

/* The two threads begin; the first keeps the mutex. Threads 3 to 6 help, one the mutex's condition
 * too, or the first thread does. */
static void make_rows(bool keeps)
{
    renew(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
    pthread_t ids[7];
    for (unsigned n = 3; n <= 6; n++)
        ids[n] = idler(n);
    for (unsigned n = 1; n <= 2; n++) {
        make(&rows[n - 1].mutex, PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
        pthread_cond_init(&rows[n - 1].cond, NULL);
        run(n, HIGH, wait_in_row, n == 2 ? 1 : keeps ? 2 : 0);
        ids[n] = who;
    }
    for (unsigned n = 2; n <= 5; n++) {
        told |= pthread_cond_helpers_add(&rows[0].cond, &ids[n]);
        told |= pthread_cond_helpers_add(&rows[1].cond, &ids[n + 1]);
    }
    told |= pthread_cond_helpers_add(&cond, &ids[keeps ? 6 : 1]);
}

static int many_in_a_row(void)
{
    make_rows(true);
    struct timespec soon = in(4 * MILLISECOND);
    uint64_t begin = giusto_clock();
    pthread_mutex_lock(&mutex);
    int failed = check("a wait that ends behind many comes back with the mutex, once it can",
        pthread_cond_timedwait(&cond, &mutex, &soon) == ETIMEDOUT
            && giusto_clock() >= begin + 18 * MILLISECOND && told == 0
            && pthread_mutex_unlock(&mutex) == 0);
    settle();
    make_rows(false);
    giusto_sleep(4 * MILLISECOND);
    pthread_mutex_lock(&mutex);
    soon = in(4 * MILLISECOND);
    failed += check("a wait behind many in a row ends at its deadline",
        pthread_cond_timedwait(&cond, &mutex, &soon) == ETIMEDOUT
            && pthread_mutex_unlock(&mutex) == 0);
    giusto_sleep(20 * MILLISECOND);
    failed += check("the others have waited until their deadlines", told == 0);
    return failed;
}

int helpers(void)
{
    renew(PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
    int failed = no_inversion("an inheriting mutex");
    renew(PTHREAD_PRIO_NONE, PTHREAD_MUTEX_ROBUST);
    failed += no_inversion("a robust mutex");
    failed += by_priority("an inheriting mutex", PTHREAD_PRIO_INHERIT, PTHREAD_MUTEX_STALLED);
    const char *both = "a robust mutex with a ceiling";
    failed += by_priority(both, PTHREAD_PRIO_PROTECT, PTHREAD_MUTEX_ROBUST);
    return failed + comings_and_goings() + refusals() + ceiling() + lost() + many_in_a_row();
}
