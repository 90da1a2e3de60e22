/* What the server can be asked. Both programs are written against this. */
#ifndef ADDER_H
#define ADDER_H

/* Labels of requests. */
enum {
    /* The sum of two words: an answer `GIUSTO_ANSWER_DONE` with it, or `GIUSTO_ANSWER_REFUSED`. */
    ADDER_ADD = 1,
};

#endif
