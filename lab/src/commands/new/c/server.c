/* Adds two numbers for each client that asks: capability `adder` (receive). */
#include "adder.h"
#include <giusto.h>

/* The answer to a request. Its label, length and words are the client's choice. */
static struct giusto_message answer(const struct giusto_message *request)
{
    uint64_t sum;
    if (giusto_label(request) != ADDER_ADD || giusto_length(request) != 2)
        return giusto_message(GIUSTO_ANSWER_UNKNOWN, 0, 0, 0);
    if (__builtin_add_overflow(request->words[0], request->words[1], &sum))
        return giusto_message(GIUSTO_ANSWER_REFUSED, 0, 0, 0);
    return giusto_message(GIUSTO_ANSWER_DONE, 1, sum, 0);
}

int main(void)
{
    giusto_slot adder = giusto_cap("adder");
    struct giusto_message message;
    giusto_status status = giusto_receive(adder, &message, giusto_never());
    while (status == 0) {
        message = answer(&message);
        status = giusto_reply_wait(adder, &message);
    }
    giusto_panic(giusto_error_name(status));
}
