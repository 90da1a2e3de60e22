/**
 * Memory that stays: all does.
 */
#ifndef GIUSTO_SYS_MMAN_H
#define GIUSTO_SYS_MMAN_H

#include <errno.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What there is now, and what there will be. */
#define MCL_CURRENT 1
#define MCL_FUTURE 2

/** No memory is ever paged out: nothing is to be done. `EINVAL`: other bits are set, or none. */
static inline int mlockall(int flags)
{
    if (flags > 0 && flags <= (MCL_CURRENT | MCL_FUTURE))
        return 0;
    errno = EINVAL;
    return -1;
}

#ifdef __cplusplus
}
#endif
#endif
