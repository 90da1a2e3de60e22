/* What a free mutex costs: instructions, since the counter advances by one with each. */
#include "check.h"
#include "threads.h"

/* What one call may take, with the call itself. */
enum { MOST = 15, ROUNDS = 4 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* The least of some rounds, less what it takes to read the counter twice. */
#define LEAST(operation, undo) \
    __extension__({ \
        uint64_t least = UINT64_MAX; \
        for (int round = 0; round < ROUNDS; round++) { \
            uint64_t first = __builtin_ia32_rdtsc(); \
            uint64_t before = __builtin_ia32_rdtsc(); \
            operation; \
            uint64_t after = __builtin_ia32_rdtsc(); \
            undo; \
            uint64_t took = after - before - (before - first); \
            least = took < least ? took : least; \
        } \
        least; \
    })

int cost(void)
{
    uint64_t lock = LEAST(pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex));
    pthread_mutex_lock(&mutex);
    uint64_t unlock = LEAST(pthread_mutex_unlock(&mutex), pthread_mutex_lock(&mutex));
    printf("a free mutex: lock %llu, unlock %llu\n", (unsigned long long)lock,
        (unsigned long long)unlock);
    return check("a free mutex is locked and unlocked in 15 instructions each",
        lock > 0 && unlock > 0 && lock <= MOST && unlock <= MOST);
}
