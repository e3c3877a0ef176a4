/* strut runtime: many runs on a graphics card, one per thread. Threads take runs from a common counter, so that one whose
 * walker has fallen goes on with the next while its neighbours still walk.
 *
 * Compiled by a C++ compiler instead of nvcc, the same text runs on the processor, thread by thread: so it is tested where
 * there is no card. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strut_read_options.h"

#ifdef __CUDACC__
#define STRUT_KERNEL __global__ void
#define STRUT_LAUNCH(kernel, blocks, threads) kernel<<<blocks, threads>>>
#define STRUT_TAKE(counter) (int64_t) atomicAdd(counter, 1ULL)
#else
#define STRUT_KERNEL static void
#define STRUT_LAUNCH(kernel, blocks, threads) kernel
#define STRUT_TAKE(counter) (int64_t)(*(counter))++
typedef int cudaError_t;
enum { cudaSuccess = 0, cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
static cudaError_t cudaMalloc(void **where, size_t bytes) { return (*where = malloc(bytes ? bytes : 1)) ? 0 : 1; }
static cudaError_t cudaFree(void *where) { free(where); return 0; }
static cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int way) { (void)way; memcpy(to, from, bytes); return 0; }
static cudaError_t cudaMemset(void *to, int value, size_t bytes) { memset(to, value, bytes); return 0; }
static cudaError_t cudaGetLastError(void) { return 0; }
static cudaError_t cudaDeviceSynchronize(void) { return 0; }
static const char *cudaGetErrorString(cudaError_t error) { return error ? "out of memory" : "no error"; }
#endif

#if STRUT_SMOOTH
STRUT_KERNEL STRUT_(kernel)(strut_options options, strut_many b, int64_t first, int64_t runs, unsigned long long *next)
{
    STRUT_(smooth) s;
    int64_t run;
    (void)first; /* nothing in such runs is random */
    s.running = 0;
    while ((run = STRUT_TAKE(next)) < runs) {
        STRUT_(smooth_load)(&s, &b, 0, run);
        STRUT_(smooth_loaded)(&s, &b, 1);
        while (s.running) STRUT_(smooth_advance)(&s, &options, &b);
    }
}
#else
STRUT_KERNEL STRUT_(kernel)(strut_options options, strut_many b, int64_t first, int64_t runs, unsigned long long *next)
{
    STRUT_(lane) lane;
    int busy = 0;
    for (;;) { /* one loop: threads of a warp meet again at every step, whichever run each is in */
        if (!busy) {
            int64_t run = STRUT_TAKE(next);
            if (run >= runs) return;
            STRUT_(lane_begin)(&lane, &options, &b, run, first + run);
        }
        busy = STRUT_(lane_advance)(&lane, &b);
    }
}
#endif

/* Where the arrays of some runs lie on the card: one block of memory, laid out twice, once to measure it. */
typedef struct {
    char *memory;
    size_t used;
} strut_shelf;

static void *strut_place(strut_shelf *shelf, size_t bytes)
{
    void *at = shelf->memory ? shelf->memory + shelf->used : 0;
    shelf->used += (bytes + 255) / 256 * 256;
    return at;
}

/* Lay out the arrays of `runs` runs; what is not wanted stays null. */
static strut_many strut_lay_out(strut_shelf *shelf, const strut_many *b, size_t runs, unsigned long long **next)
{
    strut_many d = *b;
    size_t real = sizeof(double);
    d.history = 0;
    d.capacity = 0;
    *next = (unsigned long long *)strut_place(shelf, sizeof(unsigned long long));
    d.stops = (const double *)strut_place(shelf, (size_t)b->n_stops * real);
    d.wanted = (const int32_t *)strut_place(shelf, (size_t)b->n_wanted * sizeof(int32_t));
    d.x0 = (const double *)strut_place(shelf, (b->x_stride ? runs : 1) * STRUT_NX * real);
    d.z0 = (const double *)strut_place(shelf, (b->z_stride ? runs : 1) * STRUT_NZ * real);
    d.u = (const double *)strut_place(shelf, (b->u_stride ? runs : 1) * STRUT_NU * real);
    d.p = (const double *)strut_place(shelf, (b->p_stride ? runs : 1) * STRUT_NP * real);
    d.t = (double *)strut_place(shelf, runs * real);
    d.x = (double *)strut_place(shelf, runs * STRUT_NX * real);
    d.z = (double *)strut_place(shelf, runs * STRUT_NZ * real);
    d.y = (double *)strut_place(shelf, runs * (size_t)(b->n_stops * b->n_wanted) * real);
    d.work = b->work ? (double *)strut_place(shelf, runs * STRUT_NW * real) : 0;
    d.lost = b->lost ? (double *)strut_place(shelf, runs * STRUT_NL * real) : 0;
    d.counts = (int64_t *)strut_place(shelf, runs * STRUT_NJ * sizeof(int64_t));
    d.steps = (int64_t *)strut_place(shelf, runs * sizeof(int64_t));
    d.status = (int32_t *)strut_place(shelf, runs * sizeof(int32_t));
    d.cause = (int32_t *)strut_place(shelf, runs * sizeof(int32_t));
    d.culprit = (int32_t *)strut_place(shelf, runs * sizeof(int32_t));
    return d;
}

/* Copy rows of an array, if there are any; the first failure stays. */
static void strut_copy(cudaError_t *error, void *to, const void *from, size_t bytes, int to_card)
{
    if (*error == cudaSuccess && bytes)
        *error = cudaMemcpy(to, from, bytes, to_card ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost);
}

static void strut_send(cudaError_t *error, const strut_many *d, const strut_many *b, size_t begin, size_t runs)
{
    size_t real = sizeof(double);
#define STRUT_SEND(field, stride, width) \
    strut_copy(error, (void *)d->field, b->field + begin * (size_t)b->stride, (b->stride ? runs : 1) * (width) * real, 1)
    strut_copy(error, (void *)d->stops, b->stops, (size_t)b->n_stops * real, 1);
    strut_copy(error, (void *)d->wanted, b->wanted, (size_t)b->n_wanted * sizeof(int32_t), 1);
    STRUT_SEND(x0, x_stride, STRUT_NX);
    STRUT_SEND(z0, z_stride, STRUT_NZ);
    STRUT_SEND(u, u_stride, STRUT_NU);
    STRUT_SEND(p, p_stride, STRUT_NP);
#undef STRUT_SEND
    if (*error == cudaSuccess && STRUT_NJ) *error = cudaMemset(d->counts, 0, runs * STRUT_NJ * sizeof(int64_t));
}

static void strut_fetch(cudaError_t *error, const strut_many *d, const strut_many *b, size_t begin, size_t runs)
{
#define STRUT_FETCH(field, width) \
    if (b->field) strut_copy(error, b->field + begin * (width), d->field, runs * (width) * sizeof(*b->field), 0)
    STRUT_FETCH(t, 1);
    STRUT_FETCH(x, STRUT_NX);
    STRUT_FETCH(z, STRUT_NZ);
    STRUT_FETCH(y, (size_t)(b->n_stops * b->n_wanted));
    STRUT_FETCH(work, STRUT_NW);
    STRUT_FETCH(lost, STRUT_NL);
    STRUT_FETCH(counts, STRUT_NJ);
    STRUT_FETCH(steps, 1);
    STRUT_FETCH(status, 1);
    STRUT_FETCH(cause, 1);
    STRUT_FETCH(culprit, 1);
#undef STRUT_FETCH
}

/* Bytes of memory that some runs of a batch take on the card, besides the threads' own. */
extern "C" STRUT_EXPORT int64_t strut_cuda_bytes(const strut_many *b, int64_t runs)
{
    strut_shelf shelf = {0, 0};
    unsigned long long *next;
    strut_lay_out(&shelf, b, (size_t)runs, &next);
    return (int64_t)shelf.used;
}

/* Runs begin..end-1 of a batch on the card. Returns 0, or the number of an error whose words are in `message`; then no
 * results were written. */
extern "C" STRUT_EXPORT int strut_cuda_batch(const double *options, const strut_many *b, int64_t begin, int64_t end,
                                             int64_t blocks, int64_t threads, char *message, int64_t length)
{
    strut_shelf shelf = {0, 0};
    unsigned long long *next;
    size_t runs = (size_t)(end - begin);
    strut_many d = strut_lay_out(&shelf, b, runs, &next);
    cudaError_t error = cudaMalloc((void **)&shelf.memory, shelf.used);
    if (error == cudaSuccess) {
        shelf.used = 0;
        d = strut_lay_out(&shelf, b, runs, &next);
        error = cudaMemset(next, 0, sizeof(unsigned long long));
        strut_send(&error, &d, b, (size_t)begin, runs);
        if (error == cudaSuccess) {
            STRUT_LAUNCH(STRUT_(kernel), (unsigned)blocks, (unsigned)threads)(strut_read_options(options), d, begin, end - begin, next);
            error = cudaGetLastError();
        }
        if (error == cudaSuccess) error = cudaDeviceSynchronize();
        strut_fetch(&error, &d, b, (size_t)begin, runs);
        cudaFree(shelf.memory);
    }
    if (length > 0) snprintf(message, (size_t)length, "%s", cudaGetErrorString(error));
    return (int)error;
}

/* The card's name, its free and whole memory [bytes], multiprocessors and compute capability (90 for 9.0), how many
 * blocks of the kernel one multiprocessor holds, and registers and local memory [bytes] of a thread. Returns 0, or an error's number, whose words are in `name`. */
extern "C" STRUT_EXPORT int strut_cuda_card(char *name, int64_t length, int64_t *facts, int64_t threads)
{
#ifdef __CUDACC__
    cudaDeviceProp card;
    cudaFuncAttributes kernel;
    size_t unused = 0, whole = 0;
    int per = 0;
    cudaError_t error = cudaGetDeviceProperties(&card, 0);
    if (error == cudaSuccess) error = cudaMemGetInfo(&unused, &whole);
    if (error == cudaSuccess) error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, STRUT_(kernel), (int)threads, 0);
    snprintf(name, (size_t)length, "%s", error == cudaSuccess ? card.name : cudaGetErrorString(error));
    facts[0] = (int64_t)unused;
    facts[1] = (int64_t)whole;
    facts[2] = error == cudaSuccess ? card.multiProcessorCount : 0;
    facts[3] = error == cudaSuccess ? card.major * 10 + card.minor : 0;
    facts[4] = per;
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&kernel, STRUT_(kernel));
    facts[5] = error == cudaSuccess ? kernel.numRegs : 0;
    facts[6] = error == cudaSuccess ? (int64_t)kernel.localSizeBytes : 0;
    return (int)error;
#else
    snprintf(name, (size_t)length, "this processor, thread by thread");
    facts[0] = facts[1] = INT64_C(1) << 30;
    facts[2] = facts[4] = 1;
    facts[3] = facts[5] = facts[6] = 0;
    (void)threads;
    return 0;
#endif
}
