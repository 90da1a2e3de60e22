/* Why a call has failed, for people. Calls that succeed have no part in it. */
#include "internal.h"
#include "self.h"
#include <giusto.h>
#include <stdio.h>
#include <string.h>

/* The call that failed last in this domain: what it was about, and on which stack it was made. */
static struct {
    uint64_t what, words[3], stack, sum;
} note;

/* What a call wants of a slot. */
struct use {
    uint8_t call, word, shift, wants, rights;
    uint16_t kinds;
};

static const struct use uses[] = {
#define USED(call, word, shift, wants, kinds, rights) {call, word, shift, wants, rights, kinds},
    GIUSTO_USES(USED)
#undef USED
};

/* What a call uses up. */
static const struct {
    uint8_t call, resource;
} spends[] = {
#define SPENT(call, resource) {call, resource},
    GIUSTO_SPENDS(SPENT)
#undef SPENT
};

#define NAME(constant, name) [constant] = #name,
static const char *const calls[] = {GIUSTO_CALLS(NAME)};
static const char *const kinds[] = {GIUSTO_KINDS(NAME)};
static const char *const resources[] = {GIUSTO_RESOURCES(NAME)};
#undef NAME

/* Whether a slot, right or quota is to blame for an error, and not what others do or when. */
static bool is_told(giusto_status status)
{
    switch (status) {
    case GIUSTO_ERROR_NO_CAPABILITY:
    case GIUSTO_ERROR_WRONG_KIND:
    case GIUSTO_ERROR_STALE:
    case GIUSTO_ERROR_MISSING_RIGHT:
    case GIUSTO_ERROR_SLOT_OCCUPIED:
    case GIUSTO_ERROR_QUOTA_EXCEEDED:
    case GIUSTO_ERROR_POOL_EXHAUSTED:
        return true;
    default:
        return false;
    }
}

giusto_status giusto_note(giusto_status status, uint64_t number, struct giusto_about about)
{
    if (!is_told(status))
        return status;
    note.what = (number & 0xff) | (uint64_t)status << 8;
    memcpy(note.words, about.words, sizeof note.words);
    note.stack = giusto_self();
    note.sum = note.what ^ note.words[0] ^ note.words[1] ^ note.words[2] ^ note.stack;
    return status;
}

/* A text that is made piece by piece, as far as there is room. */
struct text {
    char *at;
    size_t room;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text->at, text->room, format, arguments);
    va_end(arguments);
    size_t added = length < 0 ? 0 : (size_t)length;
    if (added >= text->room)
        added = text->room > 0 ? text->room - 1 : 0;
    text->at += added;
    text->room -= added;
}

/* A name as manifests spell it. */
static void add_name(struct text *text, const char *name)
{
    for (; *name != '\0'; name++)
        add(text, "%c", *name >= 'A' && *name <= 'Z' ? *name - 'A' + 'a' : *name);
}

/* A slot, with the name that the manifest gives it. */
static void add_slot(struct text *text, giusto_slot slot)
{
    add(text, "slot %u", (unsigned)slot);
    for (const char *line = giusto_environment; *line != '\0';) {
        size_t whole = strcspn(line, "\n"), name = strcspn(line, "=");
        if (strncmp(line, "cap.", 4) == 0 && name < whole) {
            char value[16];
            size_t length = (size_t)snprintf(value, sizeof value, "%u", (unsigned)slot);
            if (length == whole - name - 1 && strncmp(line + name + 1, value, length) == 0)
                add(text, " (`%.*s`)", (int)(name - 4), line + 4);
        }
        line += line[whole] == '\n' ? whole + 1 : whole;
    }
}

/* A kind of object, with its article. */
static void add_kind(struct text *text, unsigned kind)
{
    bool one = kind == GIUSTO_KIND_CONSOLE || kind == GIUSTO_KIND_SYSTEM;
    bool vowel = kind == GIUSTO_KIND_ENDPOINT || kind == GIUSTO_KIND_INTERRUPT;
    add(text, "%s", one ? "the " : vowel ? "an " : "a ");
    add_name(text, kinds[kind]);
}

static void add_right(struct text *text, unsigned kind, unsigned right)
{
    static const char *const common[] = {"copy", "revoke", "destroy"};
    static const char *const endpoint[] = {"send", "receive", "grant"};
    static const char *const memory[] = {"read", "write", "execute"};
    static const char *const reservation[] = {"control", "reserve", "divide"};
    unsigned bit = (unsigned)__builtin_ctz(right);
    if (bit >= 3)
        add(text, "%s", common[bit - 3]);
    else if (kind == GIUSTO_KIND_ENDPOINT || kind == GIUSTO_KIND_TRAIN)
        add(text, "%s", endpoint[bit]);
    else if (kind == GIUSTO_KIND_NOTIFICATION)
        add(text, "%s", bit == 0 ? "signal" : "receive");
    else if (kind == GIUSTO_KIND_MEMORY)
        add(text, "%s", memory[bit]);
    else
        add(text, "%s", reservation[bit]);
}

/* What a slot holds: the kernel's status, and kind and rights. This fails without a note. */
static giusto_status inspect(giusto_slot slot, unsigned *kind, unsigned *rights)
{
    struct giusto_arguments in = {{slot}, {0}};
    struct giusto_outcome out = giusto_syscall(GIUSTO_CALL_CAP_INSPECT, in);
    *kind = (unsigned)(out.results[0] & 0xff);
    *rights = (unsigned)(out.results[0] >> 8 & 0xff);
    return giusto_status_of(out);
}

/* Adds what is wrong with a slot; false if this error is not about it. */
static bool add_blame(struct text *text, giusto_status status, const struct use *use)
{
    giusto_slot slot = (giusto_slot)(note.words[use->word] >> use->shift);
    unsigned kind, rights, wanted = use->rights;
    giusto_status holds = inspect(slot, &kind, &rights);
    bool takes = use->wants == 0;
    if (takes && (slot == GIUSTO_NOTHING || slot == GIUSTO_REPLY))
        return false;
    if (use->call == GIUSTO_CALL_MAP && takes && use->word == 1)
        wanted = (unsigned)(note.words[2] >> GIUSTO_MAP_RIGHTS_SHIFT);
    if (use->call <= GIUSTO_CALL_CALL && use->shift == 0
        && (note.words[1] & GIUSTO_INFO_CAPABILITY) != 0)
        wanted |= GIUSTO_RIGHTS_GRANT;
    switch (status) {
    case GIUSTO_ERROR_NO_CAPABILITY:
        if (takes ? holds != status : slot != GIUSTO_NOTHING && holds != status)
            return false;
        add_slot(text, slot);
        add(text, "%s", takes ? " is empty" : " is not in the domain's table");
        return true;
    case GIUSTO_ERROR_STALE:
        if (!takes || holds != status)
            return false;
        add_slot(text, slot);
        add(text, ": its object is gone, or was revoked");
        return true;
    case GIUSTO_ERROR_SLOT_OCCUPIED:
        if (use->wants == 2) {
            add(text, "slot %u of that domain is in use", (unsigned)slot);
            return true;
        }
        if (takes || holds == GIUSTO_ERROR_NO_CAPABILITY)
            return false;
        add_slot(text, slot);
        add(text, " is in use");
        if (holds == 0) {
            add(text, ": it holds a capability to ");
            add_kind(text, kind);
        }
        return true;
    case GIUSTO_ERROR_WRONG_KIND:
        if (!takes || holds != 0 || use->kinds == 0 || (use->kinds >> kind & 1) != 0)
            return false;
        add_slot(text, slot);
        add(text, " holds ");
        add_kind(text, kind);
        add(text, ", not ");
        for (unsigned one = 0, any = 0; one < sizeof kinds / sizeof *kinds; one++)
            if ((use->kinds >> one & 1) != 0) {
                add(text, "%s", any++ > 0 ? " or " : "");
                add_kind(text, one);
            }
        return true;
    default:
        if (!takes || holds != 0 || (wanted & ~rights) == 0)
            return false;
        add_slot(text, slot);
        add(text, " lacks the right to ");
        add_right(text, kind, wanted & ~rights);
        return true;
    }
}

static void add_resources(struct text *text, giusto_status status, unsigned call)
{
    add(text, "the %s of ", status == GIUSTO_ERROR_QUOTA_EXCEEDED ? "quota" : "pool");
    for (size_t one = 0, any = 0; one < sizeof spends / sizeof *spends; one++)
        if (spends[one].call == call) {
            add(text, "%s", any++ > 0 ? " or " : "");
            add_name(text, resources[spends[one].resource]);
        }
    add(text, " is used up");
}

const char *giusto_why(giusto_status status, char *text, size_t size)
{
    struct text made = {text, size};
    uint64_t sum = note.what ^ note.words[0] ^ note.words[1] ^ note.words[2] ^ note.stack;
    bool own = note.sum == sum && note.what >> 8 == status && note.stack == giusto_self();
    if (status == 0 || !own) {
        add(&made, "%s", giusto_error_name(status));
        return text;
    }
    unsigned call = (unsigned)(note.what & 0xff);
    add(&made, "%s: ", calls[call]);
    if (status == GIUSTO_ERROR_QUOTA_EXCEEDED || status == GIUSTO_ERROR_POOL_EXHAUSTED) {
        add_resources(&made, status, call);
        return text;
    }
    for (size_t one = 0; one < sizeof uses / sizeof *uses; one++)
        if (uses[one].call == call && add_blame(&made, status, &uses[one]))
            return text;
    add(&made, "%s", giusto_error_name(status));
    return text;
}
