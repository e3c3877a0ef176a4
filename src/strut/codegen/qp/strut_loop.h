/* strut: one sample of a controller that solves a quadratic program. A template: the sizes STRUT_N... and the
 * functions build, act, safe and first of the controller stand before it.
 *
 *   sensors -> build: H, g, T, ... -> solve -> act: commands, next memory, outputs
 *
 * Where a sensor is no number, no attempt to solve passes the check, or a command is no number, the last good
 * commands are held for `patience` samples, and then the safe ones are given; memory stays as it was. Memory begins with the first sample whose
 * sensors are numbers. */
#include <string.h>

#include "strut_qp.h"

enum STRUT_(status) { /* of a sample; those of strut_qp_status come first */
    STRUT_BAD_SENSOR = STRUT_QP_STATUSES,
    STRUT_BAD_COMMAND,
    STRUT_LOOP_STATUSES
};

typedef int (*strut_qp_solver)(strut_qp *, const double *, const double *, const double *, const double *,
                               const double *, const double *, const double *, const double *, double *,
                               strut_qp_report *);

typedef struct {
    strut_qp_solver solve;
    strut_qp *qp;
    const double *p;     /* parameters */
    double *m;           /* memory, and the one after this sample */
    double *u;           /* the last commands */
    const int32_t *from; /* of each sensor: k >= 0, state k; k < 0, discrete state -1 - k of the simulator */
    const int32_t *to;   /* of each command: which input of the simulator */
    double *record;      /* a row per sample, or null */
    int64_t capacity, samples, patience, failures; /* failures: samples in a row that gave no command */
    int64_t begun;       /* whether memory has begun */
    int64_t counts[STRUT_LOOP_STATUSES];
} STRUT_(loop);

#define STRUT_REPORT ((int)(sizeof(strut_qp_report) / sizeof(double))) /* numbers in a report */
#define STRUT_ROW (1 + STRUT_REPORT + STRUT_NU + STRUT_NM + STRUT_NY + STRUT_NO) /* numbers in a row of the record */

static int STRUT_(finite)(const double *a, int count)
{
    int i;
    for (i = 0; i < count; i++)
        if (!isfinite(a[i])) return 0;
    return 1;
}

/* Begin memory with what sensors say; it has not begun where one of them, or it, is no number. */
STRUT_API void STRUT_(begin_memory)(STRUT_(loop) * c, const double *s)
{
    STRUT_(first)(s, c->p, c->m);
    c->begun = STRUT_(finite)(s, STRUT_NS) && STRUT_(finite)(c->m, STRUT_NM);
}

/* One sample: from sensors to commands. Returns its status. */
STRUT_API int STRUT_(sample)(STRUT_(loop) * c, double t, const double *s)
{
    double H[STRUT_SLOTS(STRUT_NY * STRUT_NY)], g[STRUT_SLOTS(STRUT_NY)], T[STRUT_SLOTS(STRUT_NT * STRUT_NY)];
    double target[STRUT_SLOTS(STRUT_NT)], w[STRUT_SLOTS(STRUT_NT)], A[STRUT_SLOTS(STRUT_NA * STRUT_NY)];
    double low[STRUT_SLOTS(STRUT_NY + STRUT_NA)], up[STRUT_SLOTS(STRUT_NY + STRUT_NA)], k[STRUT_SLOTS(STRUT_NK)];
    double y[STRUT_SLOTS(STRUT_NY)] = {0}, u[STRUT_SLOTS(STRUT_NU)], m[STRUT_SLOTS(STRUT_NM)];
    double o[STRUT_SLOTS(STRUT_NO)];
    strut_qp_report report;
    int i, status = STRUT_BAD_SENSOR;
    memset(&report, 0, sizeof report);
    report.missed_row = -1;
    T[0] = target[0] = w[0] = A[0] = k[0] = 0; /* a program without goals or rows writes none */
    for (i = 0; i < STRUT_NO; i++) o[i] = NAN;
    if (isfinite(t) && STRUT_(finite)(s, STRUT_NS)) {
        if (!c->begun) STRUT_(begin_memory)(c, s);
        STRUT_(build)(t, s, c->m, c->p, H, g, T, target, w, A, low, up, k);
        status = c->solve(c->qp, H, g, T, target, w, A, low, up, y, &report);
        if (status < STRUT_QP_FAILED) {
            STRUT_(act)(t, s, c->m, c->p, k, y, u, m, o);
            if (!STRUT_(finite)(u, STRUT_NU) || !STRUT_(finite)(m, STRUT_NM)) status = STRUT_BAD_COMMAND;
        }
    }
    report.status = status;
    c->counts[status]++;
    if (status < STRUT_QP_FAILED) {
        c->failures = 0;
        memcpy(c->u, u, sizeof(double) * STRUT_NU);
        memcpy(c->m, m, sizeof(double) * STRUT_NM);
    } else if (c->failures++ >= c->patience) {
        STRUT_(safe)(t, s, c->m, c->p, u);
        for (i = 0; i < STRUT_NU; i++) c->u[i] = isfinite(u[i]) ? u[i] : 0;
    }
    if (c->record && c->samples < c->capacity) {
        double *row = c->record + c->samples * STRUT_ROW;
        *row++ = t;
        memcpy(row, &report, sizeof report), row += STRUT_REPORT;
        memcpy(row, c->u, sizeof(double) * STRUT_NU), row += STRUT_NU;
        memcpy(row, c->m, sizeof(double) * STRUT_NM), row += STRUT_NM;
        memcpy(row, y, sizeof(double) * STRUT_NY), row += STRUT_NY;
        memcpy(row, o, sizeof(double) * STRUT_NO);
    }
    c->samples++;
    return status;
}
