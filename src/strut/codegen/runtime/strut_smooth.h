/* strut runtime: runs in which nothing happens but steps of one length: no events, no samples, no delays. Such a run needs
 * little more memory than its state. A thread of a graphics card does one; a core does STRUT_LANES of them at once, which
 * have the same times, since neither steps nor stops depend on the state. */

#include "strut_host_types.h"

typedef struct {
    strut_real x[STRUT_SLOTS(STRUT_N)]; /* states, then integrated powers [J] */
    strut_real z[STRUT_SLOTS(STRUT_NZ)], u[STRUT_SLOTS(STRUT_NU)], p[STRUT_SLOTS(STRUT_NP + STRUT_NK)];
    double t;
    int64_t first, steps; /* the run of the first lane */
    uint32_t running;     /* a bit for every lane whose run has not ended */
} STRUT_(smooth);

STRUT_FN void STRUT_(smooth_rate)(const STRUT_(smooth) * s, double t, const strut_real *x, strut_real *dx)
{
    strut_real none[1];
    STRUT_(flow_and_powers)(R(t), x, s->z, s->u, s->p, none, STRUT_NX > 0 ? dx : none, dx + STRUT_NX);
}

/* The rate at the present state, where it is seldom asked for. */
STRUT_PART void STRUT_(smooth_rate_there)(const STRUT_(smooth) * s, strut_real *dx)
{
    STRUT_(smooth_rate)(s, s->t, s->x, dx);
}

#include "strut_smooth_step.h"

/* Take over the first states, inputs and parameters of `count` runs. Lanes that are left over repeat the last. */
STRUT_FN void STRUT_(smooth_begin)(STRUT_(smooth) * s, const strut_many *b, int64_t first, int count)
{
    s->t = b->t0;
    s->first = first;
    s->steps = 0;
    s->running = count < 32 ? (UINT32_C(1) << count) - 1 : ~UINT32_C(0);
    for (int l = 0; l < STRUT_LANES; l++) {
        int64_t run = first + (l < count ? l : count - 1);
        for (int i = 0; i < STRUT_NX; i++) STRUT_LANE(s->x[i], l) = (strut_number)b->x0[run * b->x_stride + i];
        for (int i = 0; i < STRUT_NZ; i++) STRUT_LANE(s->z[i], l) = (strut_number)b->z0[run * b->z_stride + i];
        for (int i = 0; i < STRUT_NU; i++) STRUT_LANE(s->u[i], l) = (strut_number)b->u[run * b->u_stride + i];
        for (int i = 0; i < STRUT_NP; i++) STRUT_LANE(s->p[i], l) = (strut_number)b->p[run * b->p_stride + i];
    }
    for (int i = STRUT_NX; i < STRUT_N; i++) s->x[i] = R(0);
    STRUT_(prepare)(s->p);
}

/* The place of the first of n numbers that is infinite or not a number in a lane; -1 if all are finite. */
STRUT_FN int STRUT_(smooth_not_finite)(const strut_real *a, int n, int lane)
{
    for (int i = 0; i < n; i++)
        if (!(STRUT_LANE(a[i], lane) - STRUT_LANE(a[i], lane) == 0)) return i;
    return -1;
}

/* The outputs that are wanted at a stop of one run; not a number where it did not reach it. */
STRUT_FN void STRUT_(smooth_outputs)(const STRUT_(smooth) * s, const strut_many *b, int64_t stop, uint32_t lanes, int reached)
{
    strut_real y[STRUT_SLOTS(STRUT_NY)], none[1];
    if (!b->n_wanted || !lanes) return;
    STRUT_(outputs)(R(s->t), s->x, s->z, s->u, s->p, none, y);
    for (int l = 0; l < STRUT_LANES; l++)
        if (lanes >> l & 1) {
            double *row = b->y + ((s->first + l) * b->n_stops + stop) * b->n_wanted;
            for (int64_t k = 0; k < b->n_wanted; k++)
                row[k] = reached ? (double)STRUT_LANE(y[b->wanted[k]], l) : (double)NAN;
        }
}

/* End the runs of some lanes on the way to a stop: write what each leaves. `next`: the state that one that ends as not
 * finite would have come to, else null. */
STRUT_PART void STRUT_(smooth_end)(STRUT_(smooth) * s, const strut_many *b, int64_t stop, uint32_t lanes, int status,
                                   const strut_real *next)
{
    strut_real dx[STRUT_SLOTS(STRUT_N)];
    if (next) STRUT_(smooth_rate_there)(s, dx);
    for (; stop < b->n_stops; stop++) STRUT_(smooth_outputs)(s, b, stop, lanes, (int)b->at_end);
    for (int l = 0; l < STRUT_LANES; l++) {
        int64_t run = s->first + l;
        int culprit = -1, i;
        if (!(lanes >> l & 1)) continue;
        if (next) { /* what was wrong first: the state, a discrete one, a rate, or the end of the step */
            if ((i = STRUT_(smooth_not_finite)(s->x, STRUT_NX, l)) >= 0) culprit = i;
            else if ((i = STRUT_(smooth_not_finite)(s->z, STRUT_NZ, l)) >= 0) culprit = STRUT_NX + i;
            else if ((i = STRUT_(smooth_not_finite)(dx, STRUT_NX, l)) >= 0) culprit = i;
            else culprit = STRUT_(smooth_not_finite)(next, STRUT_NX, l);
        }
        b->t[run] = s->t;
        for (int k = 0; k < STRUT_NX; k++) b->x[run * STRUT_NX + k] = (double)STRUT_LANE(s->x[k], l);
        for (int k = 0; k < STRUT_NZ; k++) b->z[run * STRUT_NZ + k] = (double)STRUT_LANE(s->z[k], l);
        if (b->work)
            for (int k = 0; k < STRUT_NW; k++) b->work[run * STRUT_NW + k] = (double)STRUT_LANE(s->x[STRUT_NX + k], l);
        if (b->lost)
            for (int k = 0; k < STRUT_NL; k++) b->lost[run * STRUT_NL + k] = 0;
        b->steps[run] = s->steps;
        b->status[run] = status;
        b->cause[run] = -1;
        b->culprit[run] = culprit;
    }
    s->running &= ~lanes;
}

/* The lanes in which one of n numbers is not finite. */
STRUT_FN uint32_t STRUT_(smooth_lost)(const strut_real *a, int n)
{
    strut_real sum = R(0);
    uint32_t lost = 0;
    for (int i = 0; i < n; i++) sum += a[i] - a[i];
    for (int l = 0; l < STRUT_LANES; l++) lost |= (uint32_t)!(STRUT_LANE(sum, l) == 0) << l;
    return lost;
}

/* `count` runs from the one numbered `first` on, from their beginning to their end. Times are those of `advance`: steps
 * lie on a grid that begins anew at every stop that is not on it. */
STRUT_FN void STRUT_(smooth_runs)(STRUT_(smooth) * s, const strut_options *o, const strut_many *b, int64_t first, int count)
{
    strut_real next[STRUT_SLOTS(STRUT_N)];
    double step = (double)o->step, wanted = o->max_step < o->step ? (double)o->max_step : step, grid = b->t0;
    volatile double ahead; /* rounded, not fused with the sum that it goes into: times are those of all other runs */
    int64_t on_grid = 0;
    STRUT_(smooth_begin)(s, b, first, count);
    for (int64_t stop = 0; stop < b->n_stops; stop++) {
        while (s->running && s->t < b->stops[stop]) {
            double room = b->stops[stop] - s->t;
            int last = wanted * (1 + 1e3 * DBL_EPSILON) + 8 * DBL_EPSILON * fabs(s->t) >= room;
            double h = last ? room : wanted;
            uint32_t lost;
            if (s->steps >= o->max_steps) {
                STRUT_(smooth_end)(s, b, stop, s->running, STRUT_MAX_STEPS, 0);
                break;
            }
            STRUT_(smooth_step)(s, h, next);
            lost = STRUT_(smooth_lost)(next, STRUT_NX) & s->running;
            if (lost) STRUT_(smooth_end)(s, b, stop, lost, STRUT_NOT_FINITE, next);
            for (int i = 0; i < STRUT_N; i++) s->x[i] = next[i];
            if (h == step && !last) on_grid++;
            ahead = (double)on_grid * step;
            s->t = last ? b->stops[stop] : h == step ? grid + ahead : s->t + h;
            if (s->t != grid + ahead) {
                grid = s->t;
                on_grid = 0;
            }
            s->steps++;
        }
        STRUT_(smooth_outputs)(s, b, stop, s->running, 1);
    }
    if (s->running) STRUT_(smooth_end)(s, b, b->n_stops, s->running, STRUT_DONE, 0);
}
