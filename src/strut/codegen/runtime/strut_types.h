/* strut runtime: the workspace of one run. A template: include it with STRUT_PREFIX and the sizes
 *   NX states, NZ discrete states, NU inputs, NP parameters, NW ledger powers, NE stored energies, NL losses,
 *   NK prepared numbers, NG guards, NJ jumps (guarded and clocked, in priority order), NC clocks, NR random numbers, ND delays,
 *   NY outputs; STIFF 1 if the implicit methods are wanted, then also NNZ, LOWER and UPPER: see strut_stiff.h
 * defined as STRUT_NX and so on. No pointer in it owns anything; copying the struct copies the run. */

#include "strut_contract.h"
#include "strut_template.h"

typedef struct {
    strut_options options;

    strut_real t;                             /* [s] */
    strut_real x[STRUT_SLOTS(STRUT_N)];       /* continuous state, then integrated powers [J] */
    strut_real dx[STRUT_SLOTS(STRUT_N)];      /* its rate at t */
    strut_real z[STRUT_SLOTS(STRUT_NZ)];      /* discrete state */
    strut_real u[STRUT_SLOTS(STRUT_NU)];      /* inputs: write them between calls, they are held */
    strut_real p[STRUT_SLOTS(STRUT_NP + STRUT_NK)]; /* parameters, then what depends on them alone */
    strut_real d[STRUT_SLOTS(STRUT_ND)];      /* delayed signals at the last evaluation */
    strut_real lost[STRUT_SLOTS(STRUT_NL)];   /* energy lost in jumps, by channel [J] */
    strut_real energy_begin;                  /* stored when the run began [J] */

    /* the last step: x(t0 + a h0) = sum_k poly[k] a^k, a in [0, 1] */
    strut_real t0, h0;
    strut_real poly[STRUT_DEGREE + 1][STRUT_SLOTS(STRUT_N)];
    int32_t degree;

    /* the last jump */
    strut_real x_before[STRUT_SLOTS(STRUT_N)], z_before[STRUT_SLOTS(STRUT_NZ)], loss[STRUT_SLOTS(STRUT_NL)];
    int32_t jump;

    int32_t status; /* enum strut_status */
    int32_t cause;  /* the jump that ended the run, or -1 */
    int32_t culprit; /* with STRUT_NOT_FINITE the state that is not: below NX of x, from NX on of z; -1: the guard of
                      * `cause`, or where there is none the stored energy */
    int64_t steps, rejected, flows, jumps;

    /* private to the runtime */
    int32_t started, at_this_instant, n_past, covered, may_shrink;
    strut_real h, error_before, h_past, grid; /* grid, on_grid: fixed steps counted from where they began */
    int64_t on_grid;
    strut_real x_new[STRUT_SLOTS(STRUT_N)], dx_new[STRUT_SLOTS(STRUT_N)];
    strut_real k[STRUT_STAGES][STRUT_SLOTS(STRUT_N)];
    strut_real past[3][STRUT_SLOTS(STRUT_N)];
    strut_real g[STRUT_SLOTS(STRUT_NG)], r[STRUT_SLOTS(STRUT_NG)];
    strut_real g_new[STRUT_SLOTS(STRUT_NG)], r_new[STRUT_SLOTS(STRUT_NG)], g_size[STRUT_SLOTS(STRUT_NG)];
    strut_real on[STRUT_SLOTS(STRUT_NG)];
    uint8_t holds[STRUT_SLOTS(STRUT_NG)], pending[STRUT_SLOTS(STRUT_NJ)];
    strut_real fired[STRUT_SLOTS(STRUT_NG)], gap[STRUT_SLOTS(STRUT_NG)];
    int32_t shrinking[STRUT_SLOTS(STRUT_NG)], chatter[STRUT_SLOTS(STRUT_NG)];
    strut_real period[STRUT_SLOTS(STRUT_NC)], offset[STRUT_SLOTS(STRUT_NC)];
    int64_t tick[STRUT_SLOTS(STRUT_NC)];
    uint64_t stream, draws;

    /* history of the delayed signals: memory of the caller's, `capacity` rows of 1 + 2 ND reals */
    strut_real *history;
    strut_real delay[STRUT_SLOTS(STRUT_ND)], t_begin, longest, shortest;
    int64_t capacity, first, count;

#if STRUT_STIFF
    /* implicit methods: the Jacobian by the state, factors of the matrices made of it, by rows */
    strut_real jacobian[STRUT_SLOTS(STRUT_NX * STRUT_NX)], lu[STRUT_SLOTS(STRUT_NX * STRUT_NX)];
    strut_real lu_re[STRUT_SLOTS(STRUT_NX * STRUT_NX)], lu_im[STRUT_SLOTS(STRUT_NX * STRUT_NX)], factored_for, bdf_h;
    int32_t pivot[STRUT_SLOTS(STRUT_NX)], pivot_complex[STRUT_SLOTS(STRUT_NX)];
    int32_t jacobian_current, factored, bdf_k, bdf_equal;
#endif
} STRUT_(sim);
