/* Further threads. */
#include "internal.h"
#include <giusto.h>
#include <stddef.h>

/* What a new thread finds on top of its stack. */
struct task {
    void (*work)(uint64_t);
    uint64_t argument;
};

/* A thread's first function. No function has called it: the word above its frame is 0. */
__attribute__((noreturn)) static void begin(const struct task *task)
{
    task->work(task->argument);
    giusto_wait_for_ever();
}

giusto_status giusto_prepare_thread(
    unsigned n, giusto_slot slot, uint64_t priority, void (*work)(uint64_t), uint64_t argument)
{
    if (n == 0)
        giusto_panic("thread 0 is the first one, which runs on its stack");
    giusto_forget(n);
    uint64_t buffer = (uint64_t)(uintptr_t)giusto_buffer(n);
    uint64_t task_at = giusto_stack(n) - sizeof(struct task);
    uint64_t return_at = task_at - sizeof(uint64_t);
    struct giusto_arguments create = {
        {slot, GIUSTO_NOTHING, priority, buffer, giusto_fault_handler()}, {0}};
    giusto_status status = giusto_noted(giusto_syscall(GIUSTO_CALL_THREAD_CREATE, create),
        GIUSTO_CALL_THREAD_CREATE, slot, GIUSTO_NOTHING, create.a[4] | priority << 32);
    if (status != 0)
        return status;
    struct task *task = (struct task *)(uintptr_t)task_at;
    task->work = work;
    task->argument = argument;
    *(uint64_t *)(uintptr_t)return_at = 0;
    uint64_t mask = GIUSTO_EXCHANGE_INSTRUCTION | GIUSTO_EXCHANGE_STACK | GIUSTO_EXCHANGE_ARGUMENT;
    struct giusto_arguments set = {
        {slot, (uint64_t)(uintptr_t)begin, return_at, task_at, 0, mask}, {0}};
    return giusto_noted(giusto_syscall(GIUSTO_CALL_THREAD_EXCHANGE, set),
        GIUSTO_CALL_THREAD_EXCHANGE, slot, 0, 0);
}

giusto_status giusto_start_thread(
    unsigned n, giusto_slot slot, uint64_t priority, void (*work)(uint64_t), uint64_t argument)
{
    giusto_status status = giusto_prepare_thread(n, slot, priority, work, argument);
    return status != 0 ? status : giusto_resume(slot);
}
