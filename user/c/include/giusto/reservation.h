/**
 * Reservations of CPU time, under the kernel `tree` (docs/reservations.md): leaves that threads run
 * on, and classes that divide what they have. Times are in nanoseconds, slopes in millionths of the
 * CPU.
 * Other kernels answer each call with `GIUSTO_ERROR_UNKNOWN_CALL`.
 */
#ifndef GIUSTO_RESERVATION_H
#define GIUSTO_RESERVATION_H

#include <giusto/call.h>
#include <giusto/system.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a reservation is among the children of its class; made by the functions below. */
struct giusto_share {
    /** Which kind of class it is for. */
    uint64_t code;
    /** What that kind wants to know. */
    uint64_t words[4];
};

/** A service curve: `slope` up to the instant `bend`, `rest` from then on. */
struct giusto_curve {
    uint32_t slope;
    uint64_t bend;
    uint32_t rest;
};

/** A window of a major frame, for a class of time partitions. */
struct giusto_window {
    /** Where it ends, from the frame's begin. */
    uint64_t end;
    /** Whose it is; 0: only the background partition may run. */
    uint16_t partition;
};

/** What a reservation has had. */
struct giusto_usage {
    /** CPU time. */
    uint64_t service;
    /** How often its budget was used up. */
    uint32_t overruns;
    /** Its node, as tables call it. */
    uint32_t node;
    /** Of a leaf's jobs: how many have ended. */
    uint64_t jobs;
    /** How many were late, one that has not ended included. */
    uint64_t missed;
    /** The longest time from release to end. */
    uint64_t worst;
    /** The longest time from deadline to end. */
    uint64_t latest;
};

/** The job of a leaf that is released and has not ended, or else the last one. */
struct giusto_job {
    /** Which of its jobs it is, from 1 on; 0: there was none. */
    uint64_t number;
    /** The time since its release, or from there to its end. */
    uint64_t response;
    /** How much of that is behind its deadline. */
    uint64_t late;
    /** Whether it has ended. */
    bool is_over;
};

/** In a class of fixed priorities: below `GIUSTO_LEVELS`, greater is more urgent. */
static inline struct giusto_share giusto_by_priority(uint16_t priority)
{
    struct giusto_share share = {1, {priority, 0, 0, 0}};
    return share;
}

/** In a class of earliest deadlines. */
static inline struct giusto_share giusto_by_deadline(void)
{
    struct giusto_share share = {2, {0, 0, 0, 0}};
    return share;
}

/** In a class of service curves: what is guaranteed, or `NULL`, and the share in what is left. */
static inline struct giusto_share giusto_by_curve(
    const struct giusto_curve *guaranteed, struct giusto_curve share)
{
    struct giusto_share made = {4, {0, 0, (uint64_t)share.slope << 32 | share.rest, share.bend}};
    if (guaranteed != NULL) {
        made.code = 3;
        made.words[0] = (uint64_t)guaranteed->slope << 32 | guaranteed->rest;
        made.words[1] = guaranteed->bend;
    }
    return made;
}

/** In a class of time partitions: its number, 0 for the background one, and its priority. */
static inline struct giusto_share giusto_by_window(uint16_t number, uint16_t priority)
{
    struct giusto_share share = {5, {number, priority, 0, 0}};
    return share;
}

/** A call about reservations with four arguments and four words; the others use it. */
static inline giusto_status giusto_call_of_reservations(uint64_t call, uint64_t slot, uint64_t a,
    uint64_t b, uint64_t c, const uint64_t words[4])
{
    struct giusto_arguments in = {{slot, a, b, c}, {words[0], words[1], words[2], words[3]}};
    return giusto_status_of(giusto_syscall(call, in));
}

/**
 * Creates a class in an empty slot, in the class `parent`, with an `enum giusto_policy`. Needs the
 * right `divide` on that, and a quota of reservations.
 */
static inline giusto_status giusto_create_class(
    giusto_slot slot, giusto_slot parent, uint64_t policy, struct giusto_share share)
{
    return giusto_call_of_reservations(
        GIUSTO_CALL_RESERVATION_CREATE, slot, parent, policy, share.code, share.words);
}

/** Creates a leaf in the same way. */
static inline giusto_status giusto_create_leaf(
    giusto_slot slot, giusto_slot parent, struct giusto_share share)
{
    return giusto_create_class(slot, parent, 0, share);
}

/** Moves a reservation into another class of the same CPU. */
static inline giusto_status giusto_join(
    giusto_slot slot, giusto_slot parent, struct giusto_share share)
{
    return giusto_call_of_reservations(
        GIUSTO_CALL_RESERVATION_JOIN, slot, parent, share.code, 0, share.words);
}

/**
 * Lets a thread run on a leaf, or all threads that a domain will have; with `GIUSTO_NOTHING` on the
 * one of the thread's domain.
 */
static inline giusto_status giusto_run_on(giusto_slot thread_or_domain, giusto_slot leaf)
{
    return giusto_simple(GIUSTO_CALL_RESERVE, thread_or_domain, leaf, 0);
}

/** Changes a reservation: an `enum giusto_setting`, its code and its words. */
static inline giusto_status giusto_set_reservation(
    giusto_slot slot, uint64_t setting, uint64_t code, const uint64_t words[4])
{
    return giusto_call_of_reservations(
        GIUSTO_CALL_RESERVATION_SET, slot, setting, code, 0, words);
}

/** Changes what a reservation is among its siblings. */
static inline giusto_status giusto_set_share(giusto_slot slot, struct giusto_share share)
{
    return giusto_set_reservation(slot, GIUSTO_SETTING_SHARE, share.code, share.words);
}

/**
 * Limits a reservation to a budget in each period, which comes back as an `enum giusto_server`
 * says; with 0 in its place there is no limit.
 */
static inline giusto_status giusto_set_budget(
    giusto_slot slot, uint64_t server, uint64_t budget, uint64_t period)
{
    const uint64_t words[4] = {server, budget, period, 0};
    return giusto_set_reservation(slot, GIUSTO_SETTING_BUDGET, 0, words);
}

/** Gives the jobs of a leaf a relative deadline and a least separation; zeros: none. */
static inline giusto_status giusto_set_timing(
    giusto_slot slot, uint64_t deadline, uint64_t period)
{
    const uint64_t words[4] = {deadline, period, 0, 0};
    return giusto_set_reservation(slot, GIUSTO_SETTING_TIMING, 0, words);
}

/**
 * Lets a notification be signalled: with the bits `missed` when a job has not ended by its
 * deadline, with `overran` when the budget is used up; 0 stands for no signal, and
 * `GIUSTO_NOTHING` for no monitor. The capability's badge has to have these bits. A miss is told
 * behind what is above both the leaf and the thread that calls this, if that runs on its CPU.
 */
static inline giusto_status giusto_set_monitor(
    giusto_slot slot, giusto_slot notification, uint64_t missed, uint64_t overran)
{
    const uint64_t words[4] = {missed, overran, 0, 0};
    return giusto_set_reservation(slot, GIUSTO_SETTING_MONITOR, notification, words);
}

/**
 * Lets a reservation run on where its CPU would idle: when its budget is used up, until that comes
 * back; when a job has not ended by its deadline, until it ends.
 */
static inline giusto_status giusto_set_background(giusto_slot slot, bool overrun, bool miss)
{
    const uint64_t words[4] = {overrun, miss, 0, 0};
    return giusto_set_reservation(slot, GIUSTO_SETTING_BACKGROUND, 0, words);
}

/**
 * Gives a class of time partitions these windows, each ending behind the one before; the first
 * begins now. If one is refused, those before it are set.
 */
static inline giusto_status giusto_set_windows(
    giusto_slot slot, const struct giusto_window *windows, size_t count)
{
    const uint64_t begin[4] = {giusto_clock(), 0, 0, 0};
    giusto_status status = giusto_set_reservation(slot, GIUSTO_SETTING_FRAME, 0, begin);
    for (size_t i = 0; i < count && status == 0; i++) {
        const uint64_t words[4] = {windows[i].end, windows[i].partition, 0, 0};
        status = giusto_set_reservation(slot, GIUSTO_SETTING_WINDOW, 0, words);
    }
    return status;
}

/** What a reservation has had up to its CPU's last decision; unchanged if that is not told. */
static inline giusto_status giusto_inspect_reservation(
    giusto_slot slot, struct giusto_usage *usage)
{
    struct giusto_arguments in = {{slot}, {0}};
    struct giusto_outcome out = giusto_syscall(GIUSTO_CALL_RESERVATION_INSPECT, in);
    if (giusto_status_of(out) == 0) {
        usage->service = out.results[0];
        usage->overruns = (uint32_t)out.results[1];
        usage->node = (uint32_t)(out.results[1] >> 32);
        usage->jobs = out.words[0];
        usage->missed = out.words[1];
        usage->worst = out.words[2];
        usage->latest = out.words[3];
    }
    return giusto_status_of(out);
}

/**
 * The job of a leaf that is released and has not ended, or else the last one, as it is now;
 * unchanged if that is not told: GIUSTO_ERROR_WRONG_STATE for a class.
 */
static inline giusto_status giusto_inspect_job(giusto_slot slot, struct giusto_job *job)
{
    struct giusto_arguments in = {{slot, 1}, {0}};
    struct giusto_outcome out = giusto_syscall(GIUSTO_CALL_RESERVATION_INSPECT, in);
    if (giusto_status_of(out) == 0) {
        job->number = out.results[0];
        job->is_over = out.results[1] == 1;
        job->response = out.words[0];
        job->late = out.words[1];
    }
    return giusto_status_of(out);
}

#ifdef __cplusplus
}
#endif
#endif
