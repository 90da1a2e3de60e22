/* Which thread calls. */
#include "self.h"
#include "internal.h"

struct giusto_row giusto_row;
uint32_t giusto_ids[GIUSTO_KEPT];
pthread_mutex_t *giusto_ceilings[GIUSTO_KEPT];

void giusto_find_row(void)
{
    uint64_t row[2];
    if (!giusto_stacks(row))
        return;
    giusto_row.top = row[0];
    giusto_row.reciprocal = UINT64_MAX / row[1] + 1;
}

void giusto_forget(unsigned n)
{
    if (n >= GIUSTO_KEPT)
        return;
    __atomic_store_n(&giusto_ids[n], 0, __ATOMIC_RELAXED);
    giusto_ceilings[n] = NULL;
}

/* Whether the calling thread's number is one that the manifest lays out a stack for. */
static bool is_kept(uint64_t n)
{
    return n < GIUSTO_KEPT && n < giusto_threads();
}

uint32_t giusto_id(void)
{
    uint32_t id = giusto_kept_id();
    if (id != 0)
        return id;
    id = giusto_futex_identity();
    uint64_t n = giusto_self();
    if (is_kept(n))
        __atomic_store_n(&giusto_ids[n], id, __ATOMIC_RELAXED);
    return id;
}

pthread_mutex_t **giusto_own_ceilings(void)
{
    uint64_t n = giusto_self();
    return is_kept(n) ? &giusto_ceilings[n] : NULL;
}

pthread_t pthread_self(void)
{
    return giusto_id();
}
