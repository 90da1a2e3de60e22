/* Reservations from C: a thread that never waits has its budget, and is told of. */
#include "check.h"
#include <giusto.h>
#include <stdlib.h>

#define MS UINT64_C(1000000)
#define BUDGET (2 * MS)
#define PERIOD (20 * MS)

/* Its first job begins when it has slept: what a thread does before is no job. */
static void spin(uint64_t word)
{
    giusto_sleep(MS);
    for (;;)
        giusto_work(word);
}

/* What a leaf has in so many nanoseconds. */
static uint64_t had(giusto_slot leaf, uint64_t time)
{
    struct giusto_usage before = {0}, after = {0};
    giusto_inspect_reservation(leaf, &before);
    giusto_sleep(time);
    giusto_inspect_reservation(leaf, &after);
    return after.service - before.service;
}

static int classes(giusto_slot root)
{
    giusto_slot edf = giusto_fresh_slot(), leaf = giusto_fresh_slot();
    giusto_slot frames = giusto_fresh_slot(), part = giusto_fresh_slot();
    giusto_slot curves = giusto_fresh_slot(), other = giusto_fresh_slot();
    const struct giusto_window windows[2] = {{5 * MS, 1}, {20 * MS, 0}};
    const struct giusto_curve tenth = {100000, 0, 100000}, whole = {1000000, 0, 1000000};
    int failed = check("classes are made in the root",
        giusto_create_class(edf, root, GIUSTO_POLICY_EARLIEST_DEADLINE, giusto_by_priority(20)) == 0
            && giusto_create_class(frames, root, GIUSTO_POLICY_PARTITIONS, giusto_by_priority(9))
                == 0
            && giusto_create_class(
                   curves, root, GIUSTO_POLICY_SERVICE_CURVES, giusto_by_priority(8))
                == 0);
    failed += check("a leaf goes by deadlines",
        giusto_create_leaf(leaf, edf, giusto_by_deadline()) == 0
            && giusto_set_timing(leaf, 5 * MS, 10 * MS) == 0);
    failed += check("no more is promised than there is",
        giusto_set_budget(leaf, GIUSTO_SERVER_SPORADIC, 4 * MS, 10 * MS) == 0
            && giusto_create_leaf(other, edf, giusto_by_deadline()) == 0
            && giusto_set_budget(other, GIUSTO_SERVER_SPORADIC, 3 * MS, 10 * MS)
                == GIUSTO_ERROR_OVERCOMMITTED
            && giusto_set_budget(other, GIUSTO_SERVER_SPORADIC, 1 * MS, 10 * MS) == 0);
    failed += check("windows are set, and a partition is made",
        giusto_set_windows(frames, windows, 2) == 0
            && giusto_create_leaf(part, frames, giusto_by_window(1, 3)) == 0);
    failed += check("a leaf joins another class, by a curve",
        giusto_join(part, curves, giusto_by_curve(&tenth, tenth)) == 0
            && giusto_set_share(part, giusto_by_curve(NULL, whole)) == 0);
    failed += check("a share of another kind is refused",
        giusto_set_share(part, giusto_by_priority(3)) == GIUSTO_ERROR_INVALID_ARGUMENT);
    giusto_destroy(curves);
    giusto_destroy(frames);
    failed += check("what is in a class ends with it",
        giusto_set_share(part, giusto_by_curve(NULL, whole)) == GIUSTO_ERROR_STALE);
    giusto_destroy(edf);
    return failed;
}

int main(void)
{
    giusto_slot root = giusto_cap("root"), leaf = giusto_fresh_slot();
    giusto_slot thread = giusto_fresh_slot(), notification = giusto_fresh_slot();
    giusto_slot signals = giusto_fresh_slot();
    struct giusto_usage usage = {0};
    struct giusto_message message = {0};
    int failed = classes(root);
    failed += check("a leaf is made and limited",
        giusto_create_leaf(leaf, root, giusto_by_priority(300)) == 0
            && giusto_set_timing(leaf, 10 * MS, PERIOD) == 0
            && giusto_set_budget(leaf, GIUSTO_SERVER_PERIODIC, BUDGET, PERIOD) == 0);
    failed += check("its monitor is set",
        giusto_create_notification(notification) == 0
            && giusto_mint(notification, signals, GIUSTO_RIGHTS_SEND, 1 | 2) == 0
            && giusto_set_monitor(leaf, signals, 1, 2) == 0);
    failed += check("a thread runs on it",
        giusto_start_thread(1, thread, 10, spin, 1000) == 0 && giusto_run_on(thread, leaf) == 0);
    failed += check("an overrun is told",
        giusto_receive(notification, &message, giusto_never()) == 0 && (message.badge & 2) != 0);
    while (message.badge == 2 && giusto_receive(notification, &message, giusto_never()) == 0) {
    }
    failed += check("a miss is told", (message.badge & 1) != 0);
    struct giusto_job job = {0};
    failed += check("of which job, and by how much",
        giusto_inspect_job(leaf, &job) == 0 && job.number == 1 && !job.is_over && job.late > 0
            && job.response == job.late + 10 * MS
            && giusto_inspect_job(root, &job) == GIUSTO_ERROR_WRONG_STATE);
    uint64_t limited = had(leaf, 10 * PERIOD);
    failed += check("the thread has its budget", limited > 5 * BUDGET && limited < 30 * BUDGET);
    giusto_inspect_reservation(leaf, &usage);
    failed += check("what it does is counted",
        usage.overruns >= 5 && usage.missed == 1 && usage.jobs == 0 && usage.worst > 10 * MS);
    giusto_set_monitor(leaf, GIUSTO_NOTHING, 0, 0);
    failed += check(
        "it may run on in the background", giusto_set_background(leaf, true, false) == 0);
    failed += check("and does", had(leaf, 10 * PERIOD) > 5 * PERIOD);
    failed += check("it waits again", giusto_set_background(leaf, false, false) == 0);
    failed += check("the leaf ends", giusto_destroy(leaf) == 0);
    failed += check("and is not there any more",
        giusto_inspect_reservation(leaf, &usage) != 0);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
