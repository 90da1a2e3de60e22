/**
 * Assertions. One that does not hold is a panic; `NDEBUG` leaves them out.
 */
#ifndef GIUSTO_ASSERT_H
#define GIUSTO_ASSERT_H

#include <giusto/panic.h>

#ifndef __cplusplus
#define static_assert _Static_assert
#endif

#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) \
    ((condition) ? (void)0 : giusto_panic_at(GIUSTO_HERE, "assertion failed: " #condition))
#endif

#endif
