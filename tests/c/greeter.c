/* The server of `hello` in C: answers each greeting with its square, and how many came. */
#include <giusto.h>
#include <inttypes.h>
#include <stdio.h>

enum { HELLO = 1 };

int main(void)
{
    giusto_slot greeting = giusto_cap("greeting");
    struct giusto_message message;
    uint64_t seen = 0;
    printf("%s: at your service\n", giusto_name());
    giusto_status status = giusto_receive(greeting, &message, giusto_never());
    while (status == 0) {
        if (giusto_label(&message) == HELLO && giusto_length(&message) == 1) {
            uint64_t number = message.words[0];
            printf("%s: badge %" PRIu64 " says hello %" PRIu64 "\n", giusto_name(), message.badge,
                number);
            message = giusto_message(GIUSTO_ANSWER_DONE, 2, number * number, ++seen);
        } else {
            message = giusto_message(GIUSTO_ANSWER_UNKNOWN, 0, 0, 0);
        }
        status = giusto_reply_wait(greeting, &message);
    }
    printf("%s: no more greetings: %s\n", giusto_name(), giusto_error_name(status));
    return 1;
}
