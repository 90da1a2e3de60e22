/*
 * Helpers that come and go between a waiting thread's unlock and its call, on the host: the kernel
 * is what follows, in place of the library's system calls.
 */
#include "cond.h"
#include "mutex.h"
#include "pair.h"
#include "self.h"

int printf(const char *, ...);

static pthread_mutex_t mutex;
static pthread_cond_t cond;
/* What the kernel knows: whether a thread waits, and its helpers. */
static bool waits;
static uint32_t known[4];
/* What others do once the mutex is free. */
static void (*meanwhile)(void);

static bool helps(uint32_t id)
{
    for (int i = 0; i < 4; i++)
        if (known[i] == id)
            return true;
    return false;
}

struct giusto_outcome giusto_test_syscall(uint64_t number, struct giusto_arguments in)
{
    struct giusto_outcome out = {0};
    switch (number & 0xff) {
    case GIUSTO_CALL_INHERIT_COND_WAIT:
        if (giusto_first(*(uint64_t *)(uintptr_t)in.a[0]) != in.a[1]) {
            out.status = GIUSTO_ERROR_CHANGED;
            break;
        }
        waits = true;
        for (int i = 0; i < 4; i++)
            known[i] = (uint32_t)(in.a[4 + i / 2] >> 32 * (i % 2));
        break;
    case GIUSTO_CALL_INHERIT_HELP:
        if (!waits)
            break;
        if (in.a[2] == 1 && helps((uint32_t)in.a[1]))
            out.status = GIUSTO_ERROR_HELPS_ALREADY;
        if (in.a[2] == 0 && !helps((uint32_t)in.a[1]))
            out.status = GIUSTO_ERROR_NO_HELPER;
        break;
    }
    return out;
}

giusto_status giusto_note(giusto_status status, uint64_t number, struct giusto_about about)
{
    (void)number;
    (void)about;
    return status;
}

uint32_t giusto_id(void)
{
    return 1;
}

bool giusto_owns(const pthread_mutex_t *of, uint32_t id)
{
    return of == &mutex && id == 1;
}

uint64_t *giusto_inheriting(pthread_mutex_t *of)
{
    return &of->slow;
}

int giusto_given(pthread_mutex_t *of, uint32_t id, bool died)
{
    (void)of, (void)id, (void)died;
    return 0;
}

int giusto_relock(pthread_mutex_t *of, uint32_t id)
{
    (void)of, (void)id;
    return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *of)
{
    (void)of;
    meanwhile();
    return 0;
}

static pthread_t first = 7, second = 8;

static void nothing(void)
{
}

static void add(void)
{
    pthread_cond_helpers_add(&cond, &second);
    meanwhile = nothing;
}

static void del(void)
{
    pthread_cond_helpers_del(&cond, &first);
    meanwhile = nothing;
}

/* A thread waits, again if it comes back, while others do this. */
static void run(void (*others)(void))
{
    cond = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    waits = false;
    pthread_cond_helpers_add(&cond, &first);
    meanwhile = others;
    const struct giusto_limit never = {GIUSTO_TIMEOUT_NEVER, 0};
    while (!waits)
        giusto_wait_helped(&cond, &mutex, never);
}

int main(void)
{
    run(add);
    bool comes = helps(first) && helps(second);
    run(del);
    bool goes = !helps(first);
    printf("a helper comes before the call: %s\n", comes ? "ok" : "NOT LENT TO");
    printf("a helper goes before the call: %s\n", goes ? "ok" : "LENT TO STILL");
    return !(comes && goes);
}
