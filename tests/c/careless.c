/* Panics, without a console and without the right to end the run. */
#include <assert.h>
#include <stdlib.h>

int main(void)
{
    void *block = malloc(16);
    assert(block == NULL);
    return 0;
}
