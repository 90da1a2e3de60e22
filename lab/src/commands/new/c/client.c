/* Has two numbers added: capabilities `adder` (send), `console`, `system`. */
#include "adder.h"
#include <giusto.h>
#include <inttypes.h>
#include <stdio.h>

enum { MILLISECOND = 1000000 };

int main(void)
{
    uint64_t a = giusto_number("a", 2), b = giusto_number("b", 3);
    struct giusto_message message = giusto_message(ADDER_ADD, 2, a, b);
    uint64_t deadline = giusto_clock() + 100 * MILLISECOND;
    giusto_status status = giusto_call_until(giusto_cap("adder"), &message, deadline);
    if (status != 0) {
        printf("no answer: %s\n", giusto_error_name(status));
        return 1;
    }
    if (giusto_label(&message) != GIUSTO_ANSWER_DONE || giusto_length(&message) != 1) {
        puts("no sum: it is refused");
        return 1;
    }
    printf("%" PRIu64 " + %" PRIu64 " = %" PRIu64 "\n", a, b, message.words[0]);
    return 0;
}
