/* strut runtime: runs in which nothing happens but steps of one length, until an event ends them: no samples, no delays, no
 * event after which a run goes on. Such a run needs little more memory than its state. A thread of a graphics card does one
 * at a time, a core STRUT_LANES of them; a lane whose run has ended takes the next. */

#include "strut_host_types.h"

typedef struct {
    strut_real x[STRUT_SLOTS(STRUT_N)]; /* states, then integrated powers [J] */
    strut_real z[STRUT_SLOTS(STRUT_NZ)], u[STRUT_SLOTS(STRUT_NU)], p[STRUT_SLOTS(STRUT_NP + STRUT_NK)];
    strut_real g[STRUT_SLOTS(STRUT_NG)]; /* guards at the present state; below zero where an event is not enabled */
    double t[STRUT_LANES], grid[STRUT_LANES];
    int64_t run[STRUT_LANES], stop[STRUT_LANES], steps[STRUT_LANES], on_grid[STRUT_LANES];
    uint32_t running; /* a bit for every lane that has a run which has not ended */
} STRUT_(smooth);

/* Times of all lanes as one number of the model's. */
STRUT_FN strut_real STRUT_(smooth_time)(const double *t)
{
    strut_real all;
    for (int l = 0; l < STRUT_LANES; l++) STRUT_LANE(all, l) = (strut_number)t[l];
    return all;
}

STRUT_FN void STRUT_(smooth_rate)(const STRUT_(smooth) * s, strut_real t, const strut_real *x, strut_real *dx)
{
    strut_real none[1];
    STRUT_(flow_and_powers)(t, x, s->z, s->u, s->p, none, STRUT_NX > 0 ? dx : none, dx + STRUT_NX);
}

/* The rate at the present state, where it is seldom asked for. */
STRUT_PART void STRUT_(smooth_rate_there)(const STRUT_(smooth) * s, strut_real *dx)
{
    STRUT_(smooth_rate)(s, STRUT_(smooth_time)(s->t), s->x, dx);
}

#include "strut_smooth_step.h"

STRUT_FN void STRUT_(smooth_guards)(const STRUT_(smooth) * s, const double *t, const strut_real *x, strut_real *g)
{
#if STRUT_NG > 0
    strut_real still[STRUT_SLOTS(STRUT_NX)], rates[STRUT_NG], on[STRUT_NG];
    for (int i = 0; i < STRUT_NX; i++) still[i] = R(0);
    STRUT_(guards_and_rates)(STRUT_(smooth_time)(t), x, s->z, s->u, s->p, still, g, rates);
    STRUT_(enabled)(s->z, s->u, s->p, on);
    for (int i = 0; i < STRUT_NG; i++)
        for (int l = 0; l < STRUT_LANES; l++)
            if (!(STRUT_LANE(on[i], l) > 0)) STRUT_LANE(g[i], l) = -1;
#else
    (void)s;
    (void)t;
    (void)x;
    (void)g;
#endif
}

/* The place of the first of n numbers that is infinite or not a number in a lane; -1 if all are finite. */
STRUT_FN int STRUT_(smooth_not_finite)(const strut_real *a, int n, int lane)
{
    for (int i = 0; i < n; i++)
        if (!(STRUT_LANE(a[i], lane) - STRUT_LANE(a[i], lane) == 0)) return i;
    return -1;
}

/* The outputs that are wanted at a stop of a lane's run; not a number where it did not reach it. */
STRUT_PART void STRUT_(smooth_outputs)(const STRUT_(smooth) * s, const strut_many *b, int l, int64_t stop, int reached)
{
    strut_real y[STRUT_SLOTS(STRUT_NY)], none[1];
    double *row = b->y + (s->run[l] * b->n_stops + stop) * b->n_wanted;
    if (!b->n_wanted) return;
    if (reached) STRUT_(outputs)(STRUT_(smooth_time)(s->t), s->x, s->z, s->u, s->p, none, y);
    for (int64_t k = 0; k < b->n_wanted; k++) row[k] = reached ? (double)STRUT_LANE(y[b->wanted[k]], l) : (double)NAN;
}

/* End the run of a lane, or leave it where an event comes next: write what it is at. `next`: the state that one that ends as
 * not finite would have come to, else null. */
STRUT_PART void STRUT_(smooth_end)(STRUT_(smooth) * s, const strut_many *b, int l, int status, const strut_real *next)
{
    strut_real dx[STRUT_SLOTS(STRUT_N)];
    int64_t run = s->run[l];
    int culprit = -1, i;
    if (next) { /* what was wrong first: the state, a discrete one, a rate, or the end of the step */
        STRUT_(smooth_rate_there)(s, dx);
        if ((i = STRUT_(smooth_not_finite)(s->x, STRUT_NX, l)) >= 0) culprit = i;
        else if ((i = STRUT_(smooth_not_finite)(s->z, STRUT_NZ, l)) >= 0) culprit = STRUT_NX + i;
        else if ((i = STRUT_(smooth_not_finite)(dx, STRUT_NX, l)) >= 0) culprit = i;
        else culprit = STRUT_(smooth_not_finite)(next, STRUT_NX, l);
    }
    for (int64_t stop = s->stop[l]; stop < b->n_stops; stop++) STRUT_(smooth_outputs)(s, b, l, stop, (int)b->at_end);
    b->t[run] = s->t[l];
    for (int k = 0; k < STRUT_NX; k++) b->x[run * STRUT_NX + k] = (double)STRUT_LANE(s->x[k], l);
    for (int k = 0; k < STRUT_NZ; k++) b->z[run * STRUT_NZ + k] = (double)STRUT_LANE(s->z[k], l);
    if (b->work)
        for (int k = 0; k < STRUT_NW; k++) b->work[run * STRUT_NW + k] = (double)STRUT_LANE(s->x[STRUT_NX + k], l);
    if (b->lost)
        for (int k = 0; k < STRUT_NL; k++) b->lost[run * STRUT_NL + k] = 0;
    b->steps[run] = s->steps[l];
    b->status[run] = status;
    b->cause[run] = -1;
    b->culprit[run] = culprit;
    s->running &= ~(UINT32_C(1) << l);
}

/* Outputs at the stops that a lane's run has come to; behind the last one it ends. */
STRUT_FN void STRUT_(smooth_stops)(STRUT_(smooth) * s, const strut_many *b, int l)
{
    while (s->stop[l] < b->n_stops && s->t[l] >= b->stops[s->stop[l]]) STRUT_(smooth_outputs)(s, b, l, s->stop[l]++, 1);
    if (s->stop[l] == b->n_stops) STRUT_(smooth_end)(s, b, l, STRUT_DONE, 0);
}

/* Put a run into a lane, at its beginning; `smooth_loaded` follows. */
STRUT_FN void STRUT_(smooth_load)(STRUT_(smooth) * s, const strut_many *b, int l, int64_t run)
{
    for (int i = 0; i < STRUT_NX; i++) STRUT_LANE(s->x[i], l) = (strut_number)b->x0[run * b->x_stride + i];
    for (int i = STRUT_NX; i < STRUT_N; i++) STRUT_LANE(s->x[i], l) = 0;
    for (int i = 0; i < STRUT_NZ; i++) STRUT_LANE(s->z[i], l) = (strut_number)b->z0[run * b->z_stride + i];
    for (int i = 0; i < STRUT_NU; i++) STRUT_LANE(s->u[i], l) = (strut_number)b->u[run * b->u_stride + i];
    for (int i = 0; i < STRUT_NP; i++) STRUT_LANE(s->p[i], l) = (strut_number)b->p[run * b->p_stride + i];
    s->t[l] = s->grid[l] = b->t0;
    s->run[l] = run;
    s->stop[l] = s->steps[l] = s->on_grid[l] = 0;
    s->running |= UINT32_C(1) << l;
}

/* After runs were put into lanes: what depends on their parameters, and where their guards and stops are. One whose guard is
 * not below zero is left to those who know events. */
STRUT_PART void STRUT_(smooth_loaded)(STRUT_(smooth) * s, const strut_many *b, uint32_t lanes)
{
    STRUT_(prepare)(s->p);
    STRUT_(smooth_guards)(s, s->t, s->x, s->g);
    for (int l = 0; l < STRUT_LANES; l++) {
        int near = 0;
        if (!(lanes >> l & 1)) continue;
        for (int i = 0; i < STRUT_NG; i++) near |= STRUT_LANE(s->g[i], l) >= 0;
        if (near) STRUT_(smooth_end)(s, b, l, STRUT_RUNNING, 0);
        else STRUT_(smooth_stops)(s, b, l);
    }
}

/* One step of all lanes. Times are those of `advance`: steps lie on a grid that begins anew at every stop that is not on it. */
STRUT_FN void STRUT_(smooth_advance)(STRUT_(smooth) * s, const strut_options *o, const strut_many *b)
{
    strut_real next[STRUT_SLOTS(STRUT_N)], g[STRUT_SLOTS(STRUT_NG)], sum = R(0);
    double step = (double)o->step, wanted = o->max_step < o->step ? (double)o->max_step : step;
    double h[STRUT_LANES], t[STRUT_LANES];
    uint32_t last = 0; /* steps that end at a stop */
    volatile double ahead; /* rounded, not fused with the sum that it goes into: times are those of all other runs */
    for (int l = 0; l < STRUT_LANES; l++) {
        double room;
        h[l] = 0;
        t[l] = s->t[l];
        if (!(s->running >> l & 1)) continue;
        if (s->steps[l] >= o->max_steps) {
            STRUT_(smooth_end)(s, b, l, STRUT_MAX_STEPS, 0);
            continue;
        }
        room = b->stops[s->stop[l]] - s->t[l];
        if (wanted * (1 + 1e3 * DBL_EPSILON) + 8 * DBL_EPSILON * fabs(s->t[l]) >= room) {
            last |= UINT32_C(1) << l;
            h[l] = room;
            t[l] = b->stops[s->stop[l]];
        } else {
            h[l] = wanted;
            ahead = (double)(s->on_grid[l] + 1) * step;
            t[l] = wanted == step ? s->grid[l] + ahead : s->t[l] + wanted;
        }
    }
    STRUT_(smooth_step)(s, h, next);
    STRUT_(smooth_guards)(s, t, next, g);
    for (int i = 0; i < STRUT_NX; i++) sum += next[i] - next[i];
    for (int l = 0; l < STRUT_LANES; l++) {
        int crosses = 0;
        if (!(s->running >> l & 1)) continue;
        for (int i = 0; i < STRUT_NG; i++) crosses |= STRUT_LANE(s->g[i], l) < 0 && STRUT_LANE(g[i], l) >= 0;
        if (!(STRUT_LANE(sum, l) == 0)) STRUT_(smooth_end)(s, b, l, STRUT_NOT_FINITE, next);
        else if (crosses) STRUT_(smooth_end)(s, b, l, STRUT_RUNNING, 0);
        s->steps[l]++;
        ahead = (double)(s->on_grid[l] + 1) * step;
        if (!(last >> l & 1) && t[l] == s->grid[l] + ahead) s->on_grid[l]++;
        else {
            s->grid[l] = t[l];
            s->on_grid[l] = 0;
        }
        s->t[l] = t[l];
    }
    for (int i = 0; i < STRUT_N; i++) s->x[i] = next[i];
    for (int i = 0; i < STRUT_NG; i++) s->g[i] = g[i];
    for (int l = 0; l < STRUT_LANES; l++)
        if (s->running >> l & 1 && s->t[l] >= b->stops[s->stop[l]]) STRUT_(smooth_stops)(s, b, l);
}
