/* The suite: each part says what held and returns how many checks did not. */
#include "check.h"
#include <stdlib.h>

int main(void)
{
    int failed = strings() + formats() + heap() + kernel();
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
