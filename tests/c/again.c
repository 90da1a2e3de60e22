/* Says how often it has begun, by its statics and by a memory that stays; then fails, sometimes. */
#include <giusto.h>
#include <stdio.h>

static unsigned begun = 1;

int main(void)
{
    char name[32];
    snprintf(name, sizeof name, "%s-runs", giusto_name());
    volatile uint64_t *runs = giusto_memory(name).words;
    printf("%s: run %u, by statics %u\n", giusto_name(), (unsigned)++*runs, begun++);
    giusto_work(1000);
    if (*runs <= FAILS)
        *(volatile char *)(uintptr_t)(*runs / 8) = 1;
    giusto_signal(giusto_cap("done"));
    return 0;
}
