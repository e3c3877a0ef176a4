/* strut runtime: many runs on a graphics card, one per thread. Threads take runs from a common counter; warps whose walkers
 * have all fallen go on with the next while others still walk. Memory and launches are the host's, in Python.
 *
 * Compiled by a C++ compiler instead of one of CUDA, the same text runs on the processor, thread by thread: so it is tested
 * where there is no card. */

#include "strut_read_options.h"

#ifdef __CUDACC__
#define STRUT_KERNEL extern "C" __global__ void
#define STRUT_CREW_KERNEL extern "C" __global__ void __launch_bounds__(32 * STRUT_CREW * STRUT_GROUPS)
#define STRUT_TAKE(counter) (int64_t) atomicAdd(counter, 1ULL)
#define STRUT_ANY(condition) __any_sync(0xffffffffu, condition)
#define STRUT_COUNT(counter) atomicAdd(counter, 1ULL)
#define STRUT_THREAD ((int64_t)blockIdx.x * blockDim.x + threadIdx.x)
#define STRUT_THREADS ((int64_t)gridDim.x * blockDim.x)
#else
#define STRUT_KERNEL static void
#define STRUT_CREW_KERNEL static void
#define STRUT_TAKE(counter) (int64_t)(*(counter))++
#define STRUT_ANY(condition) (condition)
#define STRUT_COUNT(counter) (*(counter))++
#define STRUT_THREAD INT64_C(0)
#define STRUT_THREADS INT64_C(1)
#endif

#ifndef STRUT_CREW
#define STRUT_CREW 1
#define STRUT_NEAR 0
#define STRUT_FAR 0
#define STRUT_GROUPS 1
#endif
#if STRUT_CREW > 1
#include "strut_crew_serve.h"
#endif

/* What the host has to know to launch: members of a crew, bytes of a run near and far, warps of a member. */
STRUT_KERNEL strut_tell_crew(int64_t *crew)
{
    crew[0] = STRUT_CREW;
    crew[1] = STRUT_NEAR * (int64_t)sizeof(strut_real);
    crew[2] = STRUT_FAR * (int64_t)sizeof(strut_real);
    crew[3] = STRUT_GROUPS;
}

/* Members of a crew that have no runs help, and leave with those that have; the others learn where far numbers are. */
#if STRUT_CREW > 1 && defined(__CUDACC__)
#define STRUT_ENTER(far) \
    do { \
        if (threadIdx.x == 0) strut_far_numbers = (strut_real *)(far) + (int64_t)blockIdx.x * (STRUT_BLOCK_RUNS * STRUT_FAR); \
        STRUT_MEET(); \
        if (STRUT_MEMBER > 0) { \
            STRUT_(help)(); \
            return; \
        } \
    } while (0)
#elif STRUT_CREW > 1
#define STRUT_ENTER(far) strut_far_numbers = (strut_real *)(far)
#else
#define STRUT_ENTER(far) (void)(far)
#endif
#if STRUT_CREW > 1 && defined(__CUDACC__)
#define STRUT_LEAVE() STRUT_(serve)(STRUT_NOTHING)
#else
#define STRUT_LEAVE() (void)0
#endif

#if STRUT_CREW > 1
#define STRUT_RUNS_KERNEL STRUT_CREW_KERNEL
#else
#define STRUT_RUNS_KERNEL STRUT_KERNEL
#endif

/* Do the runs order[next] to order[end - 1] (without `order`, next to end - 1) of a batch, of which number 0 is number `first`
 * of the population. */
#if STRUT_SMOOTH
STRUT_RUNS_KERNEL strut_do_runs(strut_option_numbers numbers, strut_many b, int64_t first, const int32_t *order, int64_t end, unsigned long long *next, void *far)
{
    const strut_options options = strut_read_options(&numbers);
    STRUT_(smooth) s;
    int64_t place;
    (void)first; /* nothing in such runs is random */
    STRUT_ENTER(far);
    s.running = 0;
    while ((place = STRUT_TAKE(next)) < end) {
        STRUT_(smooth_load)(&s, &b, 0, order ? order[place] : place);
        STRUT_(smooth_loaded)(&s, &b, 1);
        while (s.running) STRUT_(smooth_advance)(&s, &options, &b);
    }
    STRUT_LEAVE();
}
#elif STRUT_CREW > 1
STRUT_RUNS_KERNEL strut_do_runs(strut_option_numbers numbers, strut_many b, int64_t first, const int32_t *order, int64_t end, unsigned long long *next, void *far)
{
    const strut_options options = strut_read_options(&numbers);
    STRUT_(lane) lane;
    int64_t place;
    STRUT_ENTER(far);
    while ((place = STRUT_TAKE(next)) < end) { /* threads meet at every long function */
        int64_t run = order ? order[place] : place;
        STRUT_(lane_begin)(&lane, &options, &b, run, first + run);
        while (STRUT_(lane_advance)(&lane, &b)) {}
    }
    STRUT_LEAVE();
}
#else
STRUT_RUNS_KERNEL strut_do_runs(strut_option_numbers numbers, strut_many b, int64_t first, const int32_t *order, int64_t end, unsigned long long *next, void *far)
{
    const strut_options options = strut_read_options(&numbers);
    STRUT_(lane) lane;
    STRUT_ENTER(far);
    for (;;) { /* the threads of a warp begin together: those that begin alike then do alike, where a thread that took the next
                * run at once would be elsewhere than its neighbours ever after */
        int64_t place = STRUT_TAKE(next), run;
        int busy = place < end;
        if (!STRUT_ANY(busy)) return;
        if (busy) {
            run = order ? order[place] : place;
            STRUT_(lane_begin)(&lane, &options, &b, run, first + run);
        }
        while (STRUT_ANY(busy)) /* they meet again at every step */
            if (busy) busy = STRUT_(lane_advance)(&lane, &b);
    }
}
#endif

/* A population in few numbers. Endings: how many runs had each, first by status, then, of those that an event ended, by the
 * event. Every thread takes its share of the runs and keeps an account of each wanted output at the last stop, of those runs
 * whose ending counts as good; the accounts are merged by the host. Sums are of differences from the mean (Welford). */
typedef struct {
    double count, mean, squares, least, most;
    int64_t least_run, most_run;
} strut_account;

STRUT_KERNEL strut_summarise(strut_many b, int64_t first, int64_t runs, int64_t statuses, const uint8_t *is_good,
                             unsigned long long *endings, strut_account *accounts)
{
    for (int64_t k = 0; k < b.n_wanted; k++) {
        strut_account *a = accounts + STRUT_THREAD * b.n_wanted + k;
        a->count = a->mean = a->squares = 0;
        a->least = (double)INFINITY;
        a->most = -(double)INFINITY;
        a->least_run = a->most_run = -1;
    }
    for (int64_t run = STRUT_THREAD; run < runs; run += STRUT_THREADS) {
        int64_t ending = b.status[run] == STRUT_TERMINAL ? statuses + b.cause[run] : b.status[run];
        STRUT_COUNT(endings + ending);
        if (!is_good[ending]) continue;
        for (int64_t k = 0; k < b.n_wanted; k++) {
            strut_account *a = accounts + STRUT_THREAD * b.n_wanted + k;
            double y = b.y[(run * b.n_stops + b.n_stops - 1) * b.n_wanted + k], gap = y - a->mean;
            a->count += 1;
            a->mean += gap / a->count;
            a->squares += gap * (y - a->mean);
            if (y < a->least) {
                a->least = y;
                a->least_run = first + run;
            }
            if (y > a->most) {
                a->most = y;
                a->most_run = first + run;
            }
        }
    }
}

#ifndef __CUDACC__
/* The kernels, called with the addresses of their arguments, as a card's driver has them. */
extern "C" STRUT_EXPORT void strut_do_runs_here(void **a)
{
    strut_do_runs(*(strut_option_numbers *)a[0], *(strut_many *)a[1], *(int64_t *)a[2], *(const int32_t **)a[3], *(int64_t *)a[4],
                  *(unsigned long long **)a[5], *(void **)a[6]);
}

extern "C" STRUT_EXPORT void strut_tell_crew_here(void **a)
{
    strut_tell_crew(*(int64_t **)a[0]);
}

extern "C" STRUT_EXPORT void strut_summarise_here(void **a)
{
    strut_summarise(*(strut_many *)a[0], *(int64_t *)a[1], *(int64_t *)a[2], *(int64_t *)a[3], *(const uint8_t **)a[4],
                    *(unsigned long long **)a[5], *(strut_account **)a[6]);
}
#endif
