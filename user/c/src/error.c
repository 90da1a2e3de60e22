/* Names of errors. */
#include <giusto.h>

const char *giusto_error_name(giusto_status status)
{
    switch (status) {
    case 0:
        return "Ok";
#define NAMED(constant, name) \
    case constant: \
        return #name;
        GIUSTO_ERRORS(NAMED)
#undef NAMED
    default:
        return "?";
    }
}
