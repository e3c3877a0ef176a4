/* strut runtime: a run is a sequence of steps and jumps. `advance` does one of them and says which.
 *
 * No heap, no globals, no recursion: everything lives in the sim struct. A template, like strut_types.h; it needs the
 * model's functions (flow, guards, jump, ...) and the tables velocity_of, guard_of, jump_of, clock_of, terminal, eager, ... */

#ifndef STRUT_API
#define STRUT_API STRUT_FN
#endif

#include "strut_methods.h"
#include "strut_events.h"
#include "strut_delay.h"

enum { STRUT_PASTE(STRUT_PREFIX, jumps_at_once) = 256 };

/* Are all of n numbers finite? No branches: it is asked at every step. */
STRUT_FN int STRUT_(finite)(const strut_real *a, int n)
{
    strut_real sum = R(0);
    for (int i = 0; i < n; i++) sum += a[i] - a[i];
    return sum == R(0);
}

/* The place of the first of n numbers that is infinite or not a number; -1 if all are finite. */
STRUT_FN int STRUT_(first_not_finite)(const strut_real *a, int n)
{
    if (!STRUT_(finite)(a, n))
        for (int i = 0; i < n; i++)
            if (!(a[i] - a[i] == R(0))) return i;
    return -1;
}

/* End the run if one of n states (rates, discrete states) is not finite; `offset` is the first one's number. */
STRUT_FN int STRUT_(ends_not_finite)(STRUT_(sim) * s, const strut_real *a, int n, int offset, int cause)
{
    int i = STRUT_(first_not_finite)(a, n);
    if (i < 0) return 0;
    s->status = STRUT_NOT_FINITE;
    s->cause = cause;
    s->culprit = offset + i;
    return 1;
}

/* Flow, enabling and guards at the present state. */
STRUT_FN void STRUT_(refresh)(STRUT_(sim) * s)
{
    STRUT_(rate)(s, s->t, s->x, s->dx);
    STRUT_(enabled)(s->z, s->u, s->p, s->on);
    STRUT_(look)(s, s->t, s->x, s->dx, s->g, s->r);
}

/* After x, z or u were changed at once: which guards did that make true, which pending jumps did it make void? */
STRUT_CALLED void STRUT_(settle)(STRUT_(sim) * s)
{
    strut_real before[STRUT_SLOTS(STRUT_NG)];
    for (int i = 0; i < STRUT_NG; i++) before[i] = s->g[i];
    STRUT_(refresh)(s);
    s->n_past = 0;
    STRUT_(remember)(s);
    for (int i = 0; i < STRUT_NG; i++) {
        int j = STRUT_(jump_of)[i], now = STRUT_(positive)(s, i, s->g[i], s->r[i]);
        if (s->pending[j]) {
            if (s->on[i] > R(0) && s->g[i] >= strut_min(R(0), before[i]) - STRUT_(fuzz)(s, i, s->r[i])) continue;
            s->pending[j] = 0;
        } else if (now && !s->holds[i] && s->on[i] > R(0)) {
            s->pending[j] = 1;
        }
        s->holds[i] = (uint8_t)now;
    }
}

/* New inputs, held until the next call. */
STRUT_API void STRUT_(hold)(STRUT_(sim) * s, const strut_real *u)
{
    for (int i = 0; i < STRUT_NU; i++) s->u[i] = u[i];
    STRUT_(settle)(s);
}

/* All stored energy [J]; `size` adds up magnitudes, the scale on which the sum is known. */
STRUT_FN strut_real STRUT_(stored)(const STRUT_(sim) * s, strut_real *size)
{
    strut_real e[STRUT_SLOTS(STRUT_NE)], sum = R(0);
    STRUT_(energies)(s->t, s->x, s->z, s->u, s->p, e);
    *size = R(0);
    for (int i = 0; i < STRUT_NE; i++) {
        sum += e[i];
        *size += STRUT_FABS(e[i]);
    }
    return sum;
}

/* What the energy account cannot explain so far [J]; meaningful with options.ledger. */
STRUT_API strut_real STRUT_(imbalance)(const STRUT_(sim) * s, strut_real *size)
{
    strut_real gap = STRUT_(stored)(s, size) - s->energy_begin;
    for (int i = STRUT_NX; i < STRUT_N; i++) gap -= s->x[i];
    for (int i = 0; i < STRUT_NL; i++) gap += s->lost[i];
    return gap;
}

/* Begin a run. `history` is memory for delayed signals, `capacity` rows of 1 + 2 ND reals; null and 0 for a model
 * without delays. `stream` selects the run's random numbers, see strut_stream. */
STRUT_API void STRUT_(begin)(STRUT_(sim) * s, const strut_options *options, strut_real t, const strut_real *x,
                             const strut_real *z, const strut_real *u, const strut_real *p, uint64_t stream,
                             strut_real *history, int64_t capacity)
{
    s->options = *options;
    s->t = s->t0 = s->t_begin = s->grid = t;
    s->on_grid = 0;
    s->h0 = s->h = s->error_before = s->h_past = R(0);
    s->degree = s->jump = s->started = s->at_this_instant = s->n_past = s->covered = 0;
    s->status = STRUT_RUNNING;
    s->cause = s->culprit = -1;
    s->steps = s->rejected = s->flows = s->jumps = 0;
    s->stream = stream;
    s->draws = 0;
    for (int i = 0; i < STRUT_NP; i++) s->p[i] = p[i];
    STRUT_(prepare)(s->p);
    for (int i = 0; i < STRUT_NU; i++) s->u[i] = u[i];
    for (int i = 0; i < STRUT_N; i++) s->x[i] = i < STRUT_NX ? x[i] : R(0);
    for (int i = 0; i < STRUT_NZ; i++) s->z[i] = z[i];
    for (int i = 0; i < STRUT_NL; i++) s->lost[i] = s->loss[i] = R(0);
    for (int j = 0; j < STRUT_NJ; j++) s->pending[j] = 0;
    STRUT_(clocks)(s->p, s->period, s->offset);
    for (int i = 0; i < STRUT_NC; i++)
        s->tick[i] = (int64_t)STRUT_CEIL((t - s->offset[i]) / s->period[i] - R(1e3) * STRUT_EPS);
    s->history = history;
    s->capacity = capacity;
    s->first = s->count = 0;
    STRUT_(delays)(s->p, s->delay);
    s->longest = R(0);
    s->shortest = STRUT_MAX;
    for (int i = 0; i < STRUT_ND; i++) {
        s->longest = strut_max(s->longest, s->delay[i]);
        s->shortest = strut_min(s->shortest, s->delay[i]);
    }
    s->energy_begin = STRUT_(stored)(s, &s->h);
    s->h = R(0);
    STRUT_(refresh)(s);
    for (int i = 0; i < STRUT_NG; i++) {
        s->g_size[i] = STRUT_FABS(s->g[i]);
        s->holds[i] = s->g[i] > STRUT_(fuzz)(s, i, s->r[i]); /* one on zero that rises will fire at once */
        if (s->holds[i] && s->on[i] > R(0) && STRUT_(eager)[STRUT_(jump_of)[i]]) s->pending[STRUT_(jump_of)[i]] = 1;
        s->fired[i] = -STRUT_MAX;
        s->gap[i] = R(0);
        s->shrinking[i] = s->chatter[i] = 0;
    }
    STRUT_(remember)(s);
    if (STRUT_(ends_not_finite)(s, s->x, STRUT_NX, 0, -1)) return;
    if (STRUT_(ends_not_finite)(s, s->z, STRUT_NZ, STRUT_NX, -1)) return;
    if (!STRUT_(finite)(&s->energy_begin, 1)) s->status = STRUT_NOT_FINITE; /* neither cause nor culprit: the energy */
}

/* Jump j: reset the state, book the loss, and see which other guards that makes true. */
STRUT_CALLED void STRUT_(execute)(STRUT_(sim) * s, int j, strut_real t_stop)
{
    strut_real random[STRUT_SLOTS(STRUT_NR)], x[STRUT_SLOTS(STRUT_NX)], z[STRUT_SLOTS(STRUT_NZ)];
    int i = STRUT_(guard_of)[j], c = STRUT_(clock_of)[j];
    STRUT_(delayed)(s, s->t);
    s->pending[j] = 0;
    s->jump = j;
    s->jumps++;
    if (c >= 0) s->tick[c]++;
    for (int k = 0; k < STRUT_N; k++) s->x_before[k] = s->x[k];
    for (int k = 0; k < STRUT_NZ; k++) s->z_before[k] = s->z[k];
    if (STRUT_(draws_random)[j])
        for (int k = 0; k < STRUT_NR; k++)
            random[k] = STRUT_(random_kind)[k] ? strut_normal(s->stream, &s->draws) : strut_uniform(s->stream, &s->draws);
    else
        for (int k = 0; k < STRUT_NR; k++) random[k] = R(0);
    STRUT_(reset)(j, s->t, s->x, s->z, s->u, s->p, s->d, random, x, z);
    if (s->options.ledger) {
        STRUT_(losses)(j, s->t, s->x, s->z, s->u, s->p, x, z, s->loss);
        for (int k = 0; k < STRUT_NL; k++) s->lost[k] += s->loss[k];
    }
    for (int k = 0; k < STRUT_NX; k++) s->x[k] = x[k];
    for (int k = 0; k < STRUT_NZ; k++) s->z[k] = z[k];
    if (i >= 0) s->holds[i] = 1;
    if (STRUT_(ends_not_finite)(s, s->x, STRUT_NX, 0, j) || STRUT_(ends_not_finite)(s, s->z, STRUT_NZ, STRUT_NX, j)) return;
    STRUT_(settle)(s);
    /* what only records, on a guard that rests on zero, has said so: to fire again would say nothing new */
    if (STRUT_(records)[j] && s->g[i] >= -STRUT_(fuzz)(s, i, s->r[i]) && s->r[i] >= R(0)) s->holds[i] = 1;
    if (STRUT_(terminal)[j]) {
        s->status = STRUT_TERMINAL;
        s->cause = j;
    } else if (++s->at_this_instant > STRUT_(jumps_at_once) || (i >= 0 && STRUT_(accumulates)(s, i, t_stop - s->t))) {
        s->status = STRUT_ZENO;
        s->cause = j;
    }
}

/* Hairer's guess of a first step: small against the scale of x, x' and x''. */
STRUT_FN strut_real STRUT_(first_step)(STRUT_(sim) * s, strut_real longest, strut_real order)
{
    strut_real d0 = R(0), d1 = R(0), d2 = R(0), h, n = R(STRUT_SLOTS(STRUT_NX));
    for (int i = 0; i < STRUT_NX; i++) {
        strut_real size = s->options.atol + s->options.rtol * STRUT_FABS(s->x[i]);
        d0 += strut_sq(s->x[i] / size) / n;
        d1 += strut_sq(s->dx[i] / size) / n;
    }
    h = d0 < R(1e-10) || d1 < R(1e-10) ? R(1e-6) : R(0.01) * STRUT_SQRT(d0 / d1);
    h = strut_min(h, longest);
    STRUT_(euler)(s, h);
    for (int i = 0; i < STRUT_NX; i++)
        d2 += strut_sq((s->dx_new[i] - s->dx[i]) / (s->options.atol + s->options.rtol * STRUT_FABS(s->x[i]))) / n;
    d2 = strut_max(d1, d2 / (h * h));
    d1 = d2 > R(1e-30) ? STRUT_POW(R(0.01) / STRUT_SQRT(d2), R(1) / order) : strut_max(R(1e-6), h * R(1e-3));
    return strut_min(strut_min(R(100) * h, d1), longest);
}

#if STRUT_STIFF
#include "strut_stiff.h"
#include "strut_bdf.h"
#include "strut_radau.h"

/* A step of an implicit method, at most `room` long. It comes with its dense output. */
STRUT_FN strut_real STRUT_(implicit)(STRUT_(sim) * s, strut_real room)
{
    int bdf = s->options.method == STRUT_BDF;
    strut_real longest = strut_min(s->options.max_step, s->shortest), h;
    if (!s->started) {
        h = STRUT_(first_step)(s, strut_min(room, longest), bdf ? R(2) : R(4));
        s->h = s->options.step > R(0) ? s->options.step : h;
        s->started = 1;
    }
    h = bdf ? STRUT_(bdf)(s, room, longest) : STRUT_(radau)(s, room, longest);
    if (h > R(0)) return h;
    STRUT_(euler)(s, R(16) * STRUT_EPS * STRUT_FABS(s->t)); /* is there anything to integrate, an instant ahead? */
    if (!STRUT_(ends_not_finite)(s, s->x_new, STRUT_NX, 0, -1)
        && !STRUT_(ends_not_finite)(s, s->dx_new, STRUT_NX, 0, -1)) s->status = STRUT_TOO_SMALL;
    return R(0);
}

/* Shorten the step of length h to the fraction a, on its dense output, whose order is that of the method. */
STRUT_FN void STRUT_(implicit_shorten)(STRUT_(sim) * s, strut_real h, strut_real a)
{
    strut_real scale = R(1);
    STRUT_(interpolate)(s, h, a, s->x_new, 0);
    for (int k = 1; k <= s->degree; k++) {
        scale *= a;
        for (int i = 0; i < STRUT_N; i++) s->poly[k][i] *= scale;
    }
    STRUT_(rate)(s, s->t + a * h, s->x_new, s->dx_new);
    s->n_past = 0;
}
#else
STRUT_FN strut_real STRUT_(implicit)(STRUT_(sim) * s, strut_real room)
{
    (void)room;
    s->status = STRUT_TOO_SMALL; /* this model was written without the implicit methods */
    return R(0);
}
STRUT_FN void STRUT_(implicit_shorten)(STRUT_(sim) * s, strut_real h, strut_real a)
{
    (void)s;
    (void)h;
    (void)a;
}
#endif

/* A trial step that passes the error test, at most `room` long. Sets s->h for the step after. Returns its length. */
STRUT_FN strut_real STRUT_(attempt)(STRUT_(sim) * s, strut_real room)
{
    int kind = strut_kind_of(s->options.method), adaptive = kind == STRUT_KIND_ADAPTIVE, rejected = 0;
    strut_real order = strut_order_of(s->options.method), damping = strut_damping_of(s->options.method);
    strut_real longest = strut_min(s->options.max_step, s->shortest);
    if (STRUT_(ends_not_finite)(s, s->dx, STRUT_NX, 0, -1)) return R(0);
    if (kind == STRUT_KIND_IMPLICIT) return STRUT_(implicit)(s, room);
    if (!adaptive && !(s->options.step > R(0))) {
        s->status = STRUT_TOO_SMALL; /* a fixed-step method needs a step */
        return R(0);
    }
    if (!s->started) {
        s->h = s->options.step > R(0) ? s->options.step
                                      : STRUT_(first_step)(s, strut_min(room, longest), order);
        s->error_before = R(1e-4);
        s->started = 1;
    }
    for (;;) {
        strut_real wanted = strut_min(s->h, longest);
        int last = wanted * (R(1) + R(1e3) * STRUT_EPS) + R(8) * STRUT_EPS * STRUT_FABS(s->t) >= room;
        strut_real h = last ? room : wanted, error, factor;
        error = STRUT_(trial)(s, h);
        if (!adaptive) {
            STRUT_(ends_not_finite)(s, s->x_new, STRUT_NX, 0, -1);
            return h;
        }
        if (error <= R(1) && STRUT_(finite)(s->dx_new, STRUT_NX)) {
            factor = STRUT_POW(strut_max(error, R(1e-10)), R(1) / order - R(0.75) * damping);
            factor = R(0.9) / factor * STRUT_POW(s->error_before, damping);
            factor = strut_min(strut_max(factor, R(0.2)), rejected ? R(1) : R(6));
            s->error_before = strut_max(error, R(1e-4));
            if (!last || h * factor > s->h || factor < R(1)) s->h = h * factor;
            return h;
        }
        s->rejected++;
        rejected = 1;
        factor = error == error && error < STRUT_MAX ? R(0.9) / STRUT_POW(error, R(1) / order) : R(0.1);
        s->h = h * strut_min(strut_max(factor, R(0.1)), R(0.9));
        if (!(s->h > R(4) * STRUT_EPS * STRUT_FABS(s->t)) || s->rejected > s->options.max_steps) {
            if (!STRUT_(ends_not_finite)(s, s->x_new, STRUT_NX, 0, -1)
                && !STRUT_(ends_not_finite)(s, s->dx_new, STRUT_NX, 0, -1)) s->status = STRUT_TOO_SMALL;
            return R(0);
        }
    }
}

/* One step, or one jump, or nothing: STRUT_STEP, STRUT_JUMP, STRUT_STOPPED. Steps end exactly at t_stop, at clock
 * ticks and at events; a tick at t_stop itself is left to the run that goes on from there. After STRUT_DONE the caller may set status to STRUT_RUNNING and go on to a later t_stop. */
STRUT_API int STRUT_(advance)(STRUT_(sim) * s, strut_real t_stop)
{
    strut_real target = t_stop, h, length;
    if (s->status != STRUT_RUNNING) return STRUT_STOPPED;
    if (!STRUT_(has_room)(s)) {
        s->status = STRUT_NO_HISTORY;
        return STRUT_STOPPED;
    }
    for (int j = 0; j < STRUT_NJ; j++) {
        int c = STRUT_(clock_of)[j];
        if (c >= 0) {
            strut_real due = s->offset[c] + (strut_real)s->tick[c] * s->period[c];
            if (due > s->t + R(8) * STRUT_EPS * STRUT_FABS(s->t)) target = strut_min(target, due);
            else if (s->t < t_stop) s->pending[j] = 1;
        }
    }
    for (int j = 0; j < STRUT_NJ; j++)
        if (s->pending[j]) {
            STRUT_(execute)(s, j, t_stop);
            return STRUT_JUMP;
        }
    if (s->t >= t_stop) {
        s->status = STRUT_DONE;
        return STRUT_STOPPED;
    }
    if (s->steps >= s->options.max_steps) {
        s->status = STRUT_MAX_STEPS;
        return STRUT_STOPPED;
    }
    do {
        h = STRUT_(attempt)(s, target - s->t);
        if (s->status != STRUT_RUNNING) return STRUT_STOPPED;
        s->may_shrink = strut_kind_of(s->options.method) == STRUT_KIND_ADAPTIVE
            && h > R(1e4) * STRUT_EPS * strut_max(STRUT_FABS(s->t), target - s->t);
        length = STRUT_NG > 0 ? STRUT_(locate)(s, h) : h;
        if (s->status != STRUT_RUNNING) return STRUT_STOPPED;
        if (length < R(0)) s->h = h / R(8);
    } while (length < R(0));
    if (s->options.dense || STRUT_ND > 0) STRUT_(cover)(s, length);

    s->t0 = s->t;
    s->h0 = length;
    if (h == target - s->t && length == h) s->t = target;
    else if (length == s->options.step && strut_kind_of(s->options.method) == STRUT_KIND_FIXED) s->t = s->grid + (strut_real)++s->on_grid * length;
    else s->t += length;
    if (s->t != s->grid + (strut_real)s->on_grid * s->options.step) {
        s->grid = s->t;
        s->on_grid = 0;
    }
    if (s->t > s->t0) s->at_this_instant = 0;
    if (s->options.method == STRUT_ABM4) {
        if (STRUT_FABS(length - s->h_past) > R(1e3) * STRUT_EPS * length) s->n_past = 0;
        for (int i = 0; i < STRUT_N; i++) {
            s->past[2][i] = s->past[1][i];
            s->past[1][i] = s->past[0][i];
            s->past[0][i] = s->dx[i];
        }
        if (s->n_past < 3) s->n_past++;
        s->h_past = length;
    }
    for (int i = 0; i < STRUT_N; i++) {
        s->x[i] = s->x_new[i];
        s->dx[i] = s->dx_new[i];
    }
    for (int i = 0; i < STRUT_NG; i++) {
        s->g[i] = s->g_new[i];
        s->r[i] = s->r_new[i];
        s->g_size[i] = strut_max(s->g_size[i], STRUT_FABS(s->g[i]));
        s->holds[i] = s->pending[STRUT_(jump_of)[i]] || STRUT_(positive)(s, i, s->g[i], s->r[i]);
    }
    s->steps++;
    STRUT_(remember_step)(s);
    return STRUT_STEP;
}

/* Run to t_stop, or to whatever ends the run before. Returns the status. */
STRUT_API int STRUT_(run)(STRUT_(sim) * s, strut_real t_stop)
{
    if (s->status == STRUT_DONE) s->status = STRUT_RUNNING;
    while (STRUT_(advance)(s, t_stop) != STRUT_STOPPED) {}
    return s->status;
}
