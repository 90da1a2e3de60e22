/* string.h, in what is easily wrong; the host compares all of it with its own. */
#include "check.h"
#include <string.h>

static int overlapping(void)
{
    char up[] = "abcdefghijklmnopqrstuvwxyz", down[] = "abcdefghijklmnopqrstuvwxyz";
    memmove(up + 3, up, 20);
    memmove(down, down + 3, 20);
    return check("string: ranges that overlap are moved",
        strcmp(up, "abcabcdefghijklmnopqrstxyz") == 0
            && strcmp(down, "defghijklmnopqrstuvwuvwxyz") == 0);
}

int strings(void)
{
    char text[16];
    int failed = overlapping();
    failed += check("string: bytes are compared without a sign",
        memcmp("\x80", "\x01", 1) > 0 && strcmp("\x80", "\x01") > 0);
    failed += check("string: strncpy pads, and writes no more",
        memset(text, '#', sizeof text) == text && strncpy(text, "ab", 5) == text
            && memcmp(text, "ab\0\0\0#", 6) == 0);
    failed += check("string: what is looked for is found",
        strcmp(strstr("find it", "it"), "it") == 0 && strrchr("a/b/c", '/')[1] == 'c'
            && strchr("abc", 'd') == NULL && memchr("a\0b", 'b', 3) != NULL);
    return failed;
}
