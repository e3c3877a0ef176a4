/* strut runtime: one of many runs, step by step. The threads of a processor and those of a graphics card do the same:
 * they take a run, go on with it until it has ended, and take the next. */

#include "strut_host_types.h"

typedef struct STRUT_(lane) {
    STRUT_(sim) sim;
    int64_t run, stop; /* which run of the batch, and which of its stops it is on its way to */
} STRUT_(lane);

/* Begin run number `run`; `stream` is its number in the whole population, which its random numbers depend on. */
STRUT_FN void STRUT_(lane_begin)(STRUT_(lane) * lane, const strut_options *options, const strut_many *b, int64_t run, int64_t stream)
{
    strut_real x[STRUT_SLOTS(STRUT_NX)], z[STRUT_SLOTS(STRUT_NZ)], u[STRUT_SLOTS(STRUT_NU)], *p = lane->sim.p;
    for (int i = 0; i < STRUT_NX; i++) x[i] = (strut_real)b->x0[run * b->x_stride + i];
    for (int i = 0; i < STRUT_NZ; i++) z[i] = (strut_real)b->z0[run * b->z_stride + i];
    for (int i = 0; i < STRUT_NU; i++) u[i] = (strut_real)b->u[run * b->u_stride + i];
    for (int i = 0; i < STRUT_NP; i++) p[i] = (strut_real)b->p[run * b->p_stride + i];
    lane->run = run;
    lane->stop = 0;
    STRUT_(begin)(&lane->sim, options, (strut_real)b->t0, x, z, u, p, strut_stream(b->seed, (uint64_t)stream),
                  (strut_real *)b->history, b->capacity);
}

/* The outputs that are wanted at a stop; not a number at those that a run did not reach. */
STRUT_FN void STRUT_(lane_outputs)(STRUT_(lane) * lane, const strut_many *b)
{
    STRUT_(sim) *s = &lane->sim;
    strut_real y[STRUT_SLOTS(STRUT_NY)];
    double *row = b->y + (lane->run * b->n_stops + lane->stop) * b->n_wanted;
    int reached = s->t >= (strut_real)b->stops[lane->stop] || b->at_end;
    STRUT_(delayed)(s, s->t);
    STRUT_(outputs)(s->t, s->x, s->z, s->u, s->p, s->d, y);
    for (int64_t k = 0; k < b->n_wanted; k++) row[k] = reached ? (double)y[b->wanted[k]] : (double)NAN;
}

/* Write what a run that has ended leaves: its own rows, and nothing else. */
STRUT_FN void STRUT_(lane_end)(const STRUT_(lane) * lane, const strut_many *b)
{
    const STRUT_(sim) *s = &lane->sim;
    int64_t run = lane->run;
    b->t[run] = (double)s->t;
    for (int i = 0; i < STRUT_NX; i++) b->x[run * STRUT_NX + i] = (double)s->x[i];
    for (int i = 0; i < STRUT_NZ; i++) b->z[run * STRUT_NZ + i] = (double)s->z[i];
    if (b->work)
        for (int i = 0; i < STRUT_NW; i++) b->work[run * STRUT_NW + i] = (double)s->x[STRUT_NX + i];
    if (b->lost)
        for (int i = 0; i < STRUT_NL; i++) b->lost[run * STRUT_NL + i] = (double)s->lost[i];
    b->steps[run] = s->steps;
    b->status[run] = s->status;
    b->cause[run] = s->cause;
    b->culprit[run] = s->culprit;
}

/* One step or jump of a run. Returns 0 where that was its end. */
STRUT_FN int STRUT_(lane_advance)(STRUT_(lane) * lane, const strut_many *b)
{
    STRUT_(sim) *s = &lane->sim;
    int did = STRUT_(advance)(s, (strut_real)b->stops[lane->stop]);
    if (did == STRUT_JUMP && b->counts) b->counts[lane->run * STRUT_NJ + s->jump]++;
    if (did != STRUT_STOPPED) return 1;
    if (b->n_wanted) STRUT_(lane_outputs)(lane, b);
    if (++lane->stop < b->n_stops) {
        if (s->status == STRUT_DONE) s->status = STRUT_RUNNING;
        return 1;
    }
    STRUT_(lane_end)(lane, b);
    return 0;
}
