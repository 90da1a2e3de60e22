/* Ends the run when both are done. */
#include <giusto.h>

int main(void)
{
    uint64_t done = 0;
    while (done != 3) {
        struct giusto_message message;
        if (giusto_receive(giusto_cap("done"), &message, giusto_never()) != 0)
            return 1;
        done |= message.badge;
    }
    return 0;
}
