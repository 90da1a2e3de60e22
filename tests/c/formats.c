/* printf: against what it must print. */
#include "check.h"
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#define PRINTS(wanted, ...) \
    (snprintf(text, sizeof text, __VA_ARGS__) == (int)strlen(wanted) && strcmp(text, wanted) == 0)

int formats(void)
{
    char text[80], small[4];
    int failed = check("printf: integers",
        PRINTS("-2147483648 4294967295 -1 ff FF 17", "%d %u %hhd %x %X %o", INT_MIN, UINT_MAX,
            (signed char)-1, 255u, 255u, 15u)
            && PRINTS("-9223372036854775808", "%" PRId64, INT64_MIN)
            && PRINTS("18446744073709551615", "%zu", SIZE_MAX));
    failed += check("printf: flags, width and precision",
        PRINTS("[   42|42   |00042|+42| 42|  042]", "[%5d|%-5d|%05d|%+d|% d|%5.3d]", 42, 42, 42,
            42, 42, 42)
            && PRINTS("0xff 010 [ 7]", "%#x %#o [%*d]", 255u, 8u, 2, 7));
    failed += check("printf: text",
        PRINTS("[  abc|abc  |ab|x|%]", "[%5s|%-5s|%.2s|%c|%%]", "abc", "abc", "abc", 'x')
            && PRINTS("0x1000", "%p", (void *)0x1000));
    failed += check("printf: what does not fit is cut and counted",
        snprintf(small, sizeof small, "%d", 123456) == 6 && strcmp(small, "123") == 0
            && snprintf(NULL, 0, "%s", "seven..") == 7);
    return failed;
}
