/* strut runtime: threads of a graphics card that meet at the long functions of a model. Runs diverge: one steps while
 * another looks for an event. Threads of a warp that need a long function wait until all need one; those that need the one
 * for which most waiting has been done are served together.
 *
 * STRUT_CREW members, STRUT_GROUPS warps each, may share every such function: thread k of each of them works for run k of a
 * block. What they hand to each other lies near, in the memory of the multiprocessor, STRUT_NEAR numbers for each run; or far,
 * STRUT_FAR numbers. The first member goes through the runs; the others wait for what it asks them for. The warps of a member
 * execute the same instructions, which are fetched once for all of them: long functions do not fit the caches of
 * instructions.
 *
 * On a processor one thread does all shares, phase by phase. */

enum { STRUT_NOTHING = -1 };

/* Numbers of one run. Those of the runs of a block lie side by side. */
#ifdef __CUDACC__
#define STRUT_BLOCK_RUNS (32 * STRUT_GROUPS)
#else
#define STRUT_BLOCK_RUNS 1
#endif
typedef struct strut_column {
    strut_real *first;
#ifdef __CUDACC__
    __device__ __forceinline__
#endif
    strut_real &operator[](int k) const { return first[k * STRUT_BLOCK_RUNS]; }
} strut_column;

STRUT_CALLED void STRUT_(serve)(int what);
template <int ME> STRUT_FN void STRUT_(do_share)(int what);

#define STRUT_MINE(member) if constexpr (ME < 0 || ME == (member))

#ifdef __CUDACC__
extern __shared__ strut_real strut_numbers[];
static __shared__ strut_real *strut_far_numbers;
static __shared__ int strut_command, strut_votes[STRUT_GROUPS][STRUT_SLOTS(STRUT_FUNCTIONS)];
/* Warps of one member are as many apart as there are members: with four of them they share a scheduler, and its cache. */
#define STRUT_MEMBER ((int)(threadIdx.x / 32 % STRUT_CREW))
#define STRUT_GROUP ((int)(threadIdx.x / 32 / STRUT_CREW))
#define STRUT_RUN_OF_BLOCK (STRUT_GROUP * 32 + (int)(threadIdx.x % 32))
#define STRUT_MEET() asm volatile("barrier.sync 0;" ::: "memory")
STRUT_FN strut_real *strut_near(void) { return strut_numbers + STRUT_RUN_OF_BLOCK; }
STRUT_FN strut_real *strut_far(void)
{
    strut_real *far = strut_far_numbers + STRUT_RUN_OF_BLOCK;
    __builtin_assume(__isGlobal(far));
    return far;
}
#else
static strut_real strut_numbers[STRUT_SLOTS(STRUT_NEAR)], *strut_far_numbers;
#define STRUT_MEET() (void)0
STRUT_FN strut_real *strut_near(void) { return strut_numbers; }
STRUT_FN strut_real *strut_far(void) { return strut_far_numbers; }
#endif

/* Show parameters to all members. */
#define STRUT_PUBLISH(p) \
    do { \
        const strut_column near = {strut_near()}; \
        for (int k = 0; k < STRUT_NP + STRUT_NK; k++) near[STRUT_NEAR_P + k] = (p)[k]; \
    } while (0)
