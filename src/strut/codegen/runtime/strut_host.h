/* strut runtime, host side: recording a run into arrays, and running many. Not part of an export. */

#ifdef _WIN32
#define STRUT_EXPORT __declspec(dllexport)
#else
#define STRUT_EXPORT __attribute__((visibility("default")))
#endif

#include "strut_lane.h"

static int strut_width(const STRUT_(sim) * s) { return s->options.ledger ? STRUT_N : STRUT_NX; }

static double *strut_put(double *to, const double *from, int n)
{
    for (int i = 0; i < n; i++) to[i] = from[i];
    return to + n;
}

static void strut_keep_step(const STRUT_(sim) * s, strut_record *r)
{
    int n = strut_width(s);
    int64_t k = r->steps++;
    double *poly = r->poly + k * (s->degree + 1) * n;
    r->t[k] = s->t0;
    r->h[k] = s->h0;
    for (int i = 0; i <= s->degree; i++) poly = strut_put(poly, s->poly[i], n);
    strut_put(r->z + k * STRUT_NZ, s->z, STRUT_NZ);
    strut_put(r->u + k * STRUT_NU, s->u, STRUT_NU);
}

static void strut_keep_jump(const STRUT_(sim) * s, strut_record *r)
{
    int64_t k = r->jumps++;
    r->jump_t[k] = s->t;
    r->jump[k] = s->jump;
    r->jump_after[k] = s->steps;
    strut_put(r->x_before + k * STRUT_NX, s->x_before, STRUT_NX);
    strut_put(r->z_before + k * STRUT_NZ, s->z_before, STRUT_NZ);
    strut_put(r->x_after + k * STRUT_NX, s->x, STRUT_NX);
    strut_put(r->z_after + k * STRUT_NZ, s->z, STRUT_NZ);
    strut_put(r->loss + k * STRUT_NL, s->loss, STRUT_NL);
}

/* Go on to t_stop, keeping every step and jump. Returns an enum strut_recording_end: stopped, the record is full, or
 * `budget` things were done. A
 * controller acts before the samples of its instant, and not at t_stop. */
STRUT_EXPORT int strut_go(STRUT_(sim) * s, double t_stop, strut_record *r, strut_control *c, int64_t budget)
{
    while (budget-- > 0) {
        double due = c->act ? c->offset + (double)c->tick * c->every : t_stop, u[STRUT_SLOTS(STRUT_NU)];
        int did;
        if (r->steps >= r->steps_capacity || r->jumps >= r->jumps_capacity) return STRUT_RECORDING_FULL;
        did = STRUT_(advance)(s, due < t_stop ? due : t_stop);
        if (did == STRUT_STEP) strut_keep_step(s, r);
        if (did == STRUT_JUMP) strut_keep_jump(s, r);
        if (did != STRUT_STOPPED) continue;
        if (s->status != STRUT_DONE || s->t >= t_stop) return STRUT_RECORDING_STOPPED;
        s->status = STRUT_RUNNING;
        strut_put(u, s->u, STRUT_NU);
        c->act(s->t, s->x, s->z, s->p, u, c->data);
        STRUT_(hold)(s, u);
        c->tick++;
    }
    return STRUT_RECORDING_BUDGET;
}

/* Runs begin..end-1 of a batch, one after the other. */
STRUT_EXPORT void strut_batch(const strut_options *options, const strut_many *b, int64_t begin, int64_t end)
{
    for (int64_t run = begin; run < end; run++) {
        STRUT_(lane_begin)(b->lane, options, b, run, run);
        while (STRUT_(lane_advance)(b->lane, b)) {}
    }
}

STRUT_EXPORT void strut_begin(STRUT_(sim) * s, const strut_options *o, double t, const double *x, const double *z,
                              const double *u, const double *p, uint64_t seed, double *history, int64_t capacity)
{
    STRUT_(begin)(s, o, t, x, z, u, p, strut_stream(seed, 0), history, capacity);
}
STRUT_EXPORT void strut_hold(STRUT_(sim) * s, const double *u) { STRUT_(hold)(s, u); }
STRUT_EXPORT int64_t strut_sim_size(void) { return (int64_t)sizeof(STRUT_(lane)); }
STRUT_EXPORT int64_t strut_parameters_size(void) { return STRUT_SLOTS(STRUT_NP + STRUT_NK); }

/* Where a run stands; balance: the imbalance of the energy account and the size of what it is made of [J]. */
STRUT_EXPORT void strut_see(const STRUT_(sim) * s, double *t, double *x, double *z, double *u, int64_t *counts, double *balance)
{
    *t = s->t;
    strut_put(x, s->x, strut_width(s));
    strut_put(z, s->z, STRUT_NZ);
    strut_put(u, s->u, STRUT_NU);
    counts[STRUT_COUNTER_STATUS] = s->status;
    counts[STRUT_COUNTER_CAUSE] = s->cause;
    counts[STRUT_COUNTER_STEPS] = s->steps;
    counts[STRUT_COUNTER_REJECTED] = s->rejected;
    counts[STRUT_COUNTER_FLOWS] = s->flows;
    counts[STRUT_COUNTER_JUMPS] = s->jumps;
    counts[STRUT_COUNTER_CULPRIT] = s->culprit;
    balance[0] = STRUT_(imbalance)(s, balance + 1);
}
STRUT_EXPORT void strut_resume(STRUT_(sim) * s)
{
    if (s->status == STRUT_DONE) s->status = STRUT_RUNNING;
}

/* After STRUT_NO_HISTORY, a longer history: the old rows in order, and space. */
STRUT_EXPORT void strut_lengthen(STRUT_(sim) * s, double *longer, int64_t capacity)
{
    int row = 1 + 2 * STRUT_ND;
    for (int64_t k = 0; k < s->count; k++)
        strut_put(longer + k * row, s->history + ((s->first + k) % s->capacity) * row, row);
    s->history = longer;
    s->capacity = capacity;
    s->first = 0;
    if (s->status == STRUT_NO_HISTORY) s->status = STRUT_RUNNING;
}

/* One of the model's functions at m points, a row each; a parameter row per point or, with stride 0, one for all. `own` is memory
 * for parameters and what depends on them alone. */
STRUT_EXPORT void strut_eval(int which, int64_t m, const double *t, const double *x, const double *z, const double *u,
                             const double *p, int64_t p_stride, const double *d, double *out, double *own)
{
    double dx[STRUT_SLOTS(STRUT_NX)], rates[STRUT_SLOTS(STRUT_NG)];
    const double *given = p;
    p = own;
    for (int64_t k = 0; k < m; k++, t++, x += STRUT_NX, z += STRUT_NZ, u += STRUT_NU, d += STRUT_ND) {
        if (k == 0 || p_stride) {
            strut_put(own, given + k * p_stride, STRUT_NP);
            STRUT_(prepare)(own);
        }
        switch (which) {
        case STRUT_EVAL_FLOW: STRUT_(flow)(*t, x, z, u, p, d, out); out += STRUT_NX; break;
        case STRUT_EVAL_POWERS: STRUT_(flow_and_powers)(*t, x, z, u, p, d, dx, out); out += STRUT_NW; break;
        case STRUT_EVAL_OUTPUTS: STRUT_(outputs)(*t, x, z, u, p, d, out); out += STRUT_NY; break;
        case STRUT_EVAL_ENERGIES: STRUT_(energies)(*t, x, z, u, p, out); out += STRUT_NE; break;
        case STRUT_EVAL_GUARDS:
            for (int i = 0; i < STRUT_NX; i++) dx[i] = 0.0;
            STRUT_(guards_and_rates)(*t, x, z, u, p, dx, out, rates);
            out += STRUT_NG;
            break;
        case STRUT_EVAL_SIGNALS: STRUT_(signals)(*t, x, z, u, p, out); out += STRUT_ND; break;
        default: break;
        }
    }
}
