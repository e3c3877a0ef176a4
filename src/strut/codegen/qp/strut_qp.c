/* strut: see strut_qp.h. Variables are scaled by the diagonal of the Hessian (Jacobi), without which weights of
 * many magnitudes make feasible programs look infeasible; variables with equal bounds are taken out for the same
 * reason. Infeasible programs are relaxed in two stages: the least misses, whatever the cost, then the cost with these
 * held. No flag of the solver is believed: every solution is
 * checked against the conditions of Karush, Kuhn and Tucker of the program as it was given. */
#include "strut_qp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "utils.h"

#define MAX_KKT 1e-8        /* largest residual of a solution that is taken */
#define PIVOT DAQP_DEFAULT_SING_TOL
#define FINE_PIVOT 1e-15    /* rows that differ in columns of small scale only are not dependent */
#define LEVEL_DAMPING 1e-9  /* Tikhonov's, of all but the last level, relative to the scaled Hessian */
#define MISS_WEIGHT 1e8     /* of squared misses of relaxed rows beside squared variables */
/* By which misses are held wider than they are, relative to 1 + their row's size: the least first, and more where
 * that leaves no solution that passes the check, as the points of least misses may be a single one. */
static const double MISS_MARGINS[] = {1e-9, 1e-7, 1e-5, 1e-3};
#define LEAST_DIAGONAL 1e-12 /* of the Hessian, relative to its largest: what is smaller is scaled as this */
#define NO_BOUND 1e29
#define KEPT_FORMS 2

struct strut_qp {
    int n, goals, rows, slack, top_level, top_rank, most_variables, most_rows;
    int *level, *rank, *sense, *slack_of; /* slack_of: for every bound and row, its relaxing variable or -1 */
    double *H, *f, *A, *low, *up, *d, *z, *lam; /* the scaled program handed to daqp, and its answer */
    double *met, *gradient, *size, *row_lam, *goal_lam; /* of the program as given */
    double *identity, *zeros, *wide_low, *wide_up; /* of the program of least misses, and bounds that hold them */
    double *origin; /* the point about which the next program is written */
    int moved;      /* whether it is another than zero */
    DAQPSettings settings;
    DAQPWorkspace work[KEPT_FORMS]; /* kept from call to call: of equations as rows, and of equations taken out */
    DAQPProblem problem;
    int has_work[KEPT_FORMS];
};

static double larger(double a, double b) { return a > b ? a : b; }

static void *room(size_t count, size_t each) { return calloc(count ? count : 1, each); }

strut_qp *strut_qp_new(int n, int goals, int rows, const int *levels, const int *ranks, int slack)
{
    strut_qp *s = calloc(1, sizeof *s);
    size_t N, M;
    int i;
    if (!s) return 0;
    s->n = n, s->goals = goals, s->rows = rows, s->slack = slack;
    s->most_variables = n + goals + n + rows;
    s->most_rows = goals + n + rows;
    N = (size_t)s->most_variables, M = (size_t)s->most_rows;
    s->level = room((size_t)goals, sizeof(int)), s->rank = room((size_t)(n + rows), sizeof(int));
    s->sense = room(N + M, sizeof(int)), s->slack_of = room((size_t)(n + rows), sizeof(int));
    s->H = room(N * N, 8), s->f = room(N, 8), s->A = room(M * N, 8), s->low = room(N + M, 8), s->up = room(N + M, 8);
    s->d = room(N, 8), s->z = room(N, 8), s->lam = room(N + M, 8);
    s->identity = room((size_t)n * (size_t)n, 8), s->zeros = room((size_t)(n + goals), 8);
    s->origin = room((size_t)n, 8);
    s->wide_low = room((size_t)(n + rows), 8), s->wide_up = room((size_t)(n + rows), 8);
    s->met = room((size_t)goals, 8), s->gradient = room((size_t)n, 8), s->size = room((size_t)n, 8);
    s->row_lam = room((size_t)(n + rows), 8), s->goal_lam = room((size_t)goals, 8);
    if (!s->level || !s->rank || !s->sense || !s->slack_of || !s->H || !s->f || !s->A || !s->low || !s->up || !s->d
        || !s->z || !s->lam || !s->met || !s->gradient || !s->size || !s->row_lam || !s->goal_lam || !s->identity
        || !s->zeros || !s->origin || !s->wide_low || !s->wide_up) {
        strut_qp_free(s);
        return 0;
    }
    for (i = 0; i < goals; i++) {
        s->level[i] = levels[i];
        if (levels[i] > s->top_level) s->top_level = levels[i];
    }
    for (i = 0; i < n + rows; i++) {
        s->rank[i] = ranks[i];
        if (ranks[i] > s->top_rank) s->top_rank = ranks[i];
    }
    for (i = 0; i < n; i++) s->identity[i * n + i] = 1;
    daqp_default_settings(&s->settings);
    return s;
}

static void forget_work(strut_qp *s, int form)
{
    DAQPWorkspace *work = s->work + form;
    if (!s->has_work[form]) return;
    work->settings = 0; /* ours */
    free_daqp_workspace(work);
    free_daqp_ldp(work);
    s->has_work[form] = 0;
}

void strut_qp_free(strut_qp *s)
{
    int form;
    if (!s) return;
    for (form = 0; form < KEPT_FORMS; form++) forget_work(s, form);
    free(s->level), free(s->rank), free(s->sense), free(s->slack_of), free(s->H), free(s->f), free(s->A);
    free(s->low), free(s->up), free(s->d), free(s->z), free(s->lam), free(s->met);
    free(s->identity), free(s->zeros), free(s->origin), free(s->wide_low), free(s->wide_up);
    free(s->gradient), free(s->size), free(s->row_lam), free(s->goal_lam), free(s);
}

typedef struct { /* a program as given */
    const double *H, *g, *T, *target, *w, *A, *low, *up;
} given;

typedef struct { /* one attempt: its form and its care; relax: the rank whose rows have slacks, 0: none */
    int slack, relax, level, reduce, keep;
    double tolerance, singular; /* of rows; pivots below which active rows count as dependent */
} attempt;

static int all_numbers(const double *a, int count)
{
    int i;
    for (i = 0; i < count; i++)
        if (!isfinite(a[i])) return 0;
    return 1;
}

static int is_good(const strut_qp *s, const given *q)
{
    int i, n = s->n;
    for (i = 0; i < n + s->rows; i++)
        if (isnan(q->low[i]) || isnan(q->up[i])) return 0;
    for (i = 0; i < s->goals; i++)
        if (q->w[i] < 0) return 0;
    return all_numbers(q->H, n * n) && all_numbers(q->g, n) && all_numbers(q->T, s->goals * n)
           && all_numbers(q->target, s->goals) && all_numbers(q->w, s->goals) && all_numbers(q->A, s->rows * n);
}

/* The product of a row of n numbers and the origin. */
static double at_origin(const strut_qp *s, const double *row)
{
    double sum = 0;
    int i;
    for (i = 0; s->moved && i < s->n; i++) sum += row[i] * s->origin[i];
    return sum;
}

/* The Hessian of goals of one level (0: of all), upper triangle of an N x N matrix, and their linear term. */
static void add_goals(const strut_qp *s, const given *q, int level, int N, double *H, double *f)
{
    int i, j, k, n = s->n;
    for (k = 0; k < s->goals; k++) {
        const double *row = q->T + k * n;
        double target;
        if (q->w[k] == 0 || (level && s->level[k] != level)) continue;
        target = q->target[k] - at_origin(s, row);
        for (i = 0; i < n; i++) {
            double a = q->w[k] * row[i];
            if (a == 0) continue;
            f[i] -= a * target;
            for (j = i; j < n; j++) H[i * N + j] += a * row[j];
        }
    }
}

/* Whether bounds leave a variable no choice. It is taken out (its scale is 0), as it would hide the others in rows. */
static int is_fixed(const strut_qp *s, const given *q, int k)
{
    return k < s->n && q->low[k] == q->up[k] && s->slack_of[k] < 0;
}

/* Write the scaled program of an attempt; returns how many variables it has, and its rows. */
static int write_program(strut_qp *s, const given *q, const attempt *a, int *row_count)
{
    int i, j, k, n = s->n, N = n, r = 0, last = !a->level || a->level == s->top_level, bounded;
    double largest = 0, damping;
    for (k = 0; k < s->goals; k++)
        if (a->slack && (!a->level || s->level[k] == a->level)) N++;
    for (k = 0; k < n + s->rows; k++) {
        int relaxed = a->relax && s->rank[k] == a->relax && (q->low[k] > -NO_BOUND || q->up[k] < NO_BOUND);
        s->slack_of[k] = relaxed ? N++ : -1;
        if (is_fixed(s, q, k)) s->origin[k] = q->low[k], s->moved |= q->low[k] != 0;
    }
    memset(s->H, 0, sizeof(double) * (size_t)N * (size_t)N);
    memset(s->f, 0, sizeof(double) * (size_t)N);
    for (i = 0; i < n; i++) { /* H and g count at the last level */
        for (j = i; j < n; j++) s->H[i * N + j] = last ? q->H[i * n + j] : 0;
        s->f[i] = last ? q->g[i] : 0;
        for (j = 0; last && s->moved && j < n; j++)
            s->f[i] += (i <= j ? q->H[i * n + j] : q->H[j * n + i]) * s->origin[j];
    }
    if (!a->slack) add_goals(s, q, a->level, N, s->H, s->f);
    for (i = 0; i < n; i++) { /* scaled as if every goal were there, so that all levels share a scale */
        double diagonal = q->H[i * n + i];
        for (k = 0; k < s->goals; k++) diagonal += q->w[k] * q->T[k * n + i] * q->T[k * n + i];
        s->d[i] = diagonal;
        if (diagonal > largest && !is_fixed(s, q, i)) largest = diagonal;
    }
    if (largest <= 0) largest = 1;
    for (i = 0; i < n; i++)
        s->d[i] = is_fixed(s, q, i) ? 0 : 1 / sqrt(larger(s->d[i], LEAST_DIAGONAL * largest));
    for (i = n; i < N; i++) s->d[i] = 1;
    damping = last ? 0 : LEVEL_DAMPING;
    for (i = 0; i < n; i++) {
        s->f[i] *= s->d[i];
        for (j = i; j < n; j++) s->H[i * N + j] *= s->d[i] * s->d[j];
        s->H[i * N + i] += s->d[i] > 0 ? damping : 1;
        bounded = s->slack_of[i] < 0 && s->d[i] > 0;
        s->low[i] = bounded && q->low[i] > -NO_BOUND ? (q->low[i] - s->origin[i]) / s->d[i] : -DAQP_INF;
        s->up[i] = bounded && q->up[i] < NO_BOUND ? (q->up[i] - s->origin[i]) / s->d[i] : DAQP_INF;
    }
    for (i = n; i < N; i++) s->low[i] = -DAQP_INF, s->up[i] = DAQP_INF;
    /* rows: of goals that have slacks or were met at earlier levels, of relaxed bounds, and those given */
    {
        int variable = n;
        for (k = 0; k < s->goals; k++) {
            int own = a->slack && (!a->level || s->level[k] == a->level), before = a->level && s->level[k] < a->level;
            double *row = s->A + r * N, weight = sqrt(q->w[k]), shift;
            if (own && weight == 0) { /* the slack of what has no weight takes no part */
                s->H[variable * N + variable] = 1, variable++;
                continue;
            }
            if ((!own && !before) || weight == 0) continue;
            memset(row, 0, sizeof(double) * (size_t)N);
            for (i = 0; i < n; i++) row[i] = (own ? weight : 1) * q->T[k * n + i] * s->d[i];
            shift = at_origin(s, q->T + k * n);
            s->low[N + r] = s->up[N + r] = own ? weight * (q->target[k] - shift) : s->met[k] - shift;
            if (own) row[variable] = -1, s->H[variable * N + variable] = 1, variable++;
            r++;
        }
    }
    for (k = 0; k < n + s->rows; k++) {
        double *row = s->A + r * N, norm = 0, shift;
        if (k < n && s->slack_of[k] < 0) continue;
        shift = k < n ? s->origin[k] : at_origin(s, q->A + (k - n) * n);
        memset(row, 0, sizeof(double) * (size_t)N);
        if (k < n) row[k] = s->d[k];
        else {
            const double *given_row = q->A + (k - n) * n;
            for (i = 0; i < n; i++) row[i] = given_row[i] * s->d[i];
        }
        if (s->slack_of[k] >= 0) {
            int variable = s->slack_of[k];
            for (i = 0; i < n; i++) norm += row[i] * row[i];
            row[variable] = -(norm > 0 ? sqrt(norm) : 1);
            s->H[variable * N + variable] = MISS_WEIGHT;
        }
        s->low[N + r] = q->low[k] <= -NO_BOUND ? -DAQP_INF : q->low[k] - shift;
        s->up[N + r] = q->up[k] >= NO_BOUND ? DAQP_INF : q->up[k] - shift;
        r++;
    }
    for (i = 0; i < N; i++)
        for (j = 0; j < i; j++) s->H[i * N + j] = s->H[j * N + i];
    *row_count = r;
    return N;
}

/* Hand the scaled program to daqp; returns its flag. keep: in a workspace that is kept from call to call. */
static int call_daqp(strut_qp *s, const attempt *a, int N, int r, int *iterations)
{
    int form = a->reduce == DAQP_EQ_REDUCTION_ON;
    DAQPWorkspace *work = s->work + form;
    DAQPResult result;
    memset(&result, 0, sizeof result);
    result.x = s->z, result.lam = s->lam;
    memset(s->lam, 0, sizeof(double) * (size_t)(N + r));
    memset(s->sense, 0, sizeof(int) * (size_t)(N + r));
    s->problem.n = N, s->problem.m = N + r, s->problem.ms = N, s->problem.nh = 0, s->problem.problem_type = 0;
    s->problem.H = s->H, s->problem.f = s->f, s->problem.A = s->A;
    s->problem.bupper = s->up, s->problem.blower = s->low, s->problem.sense = s->sense;
    s->problem.break_points = 0;
    s->settings.primal_tol = a->tolerance, s->settings.eq_reduction = a->reduce;
    s->settings.sing_tol = a->singular;
    if (!a->keep) {
        DAQPProblem problem = s->problem;
        daqp_quadprog(&result, &problem, &s->settings);
    } else if (!s->has_work[form]) {
        memset(work, 0, sizeof *work);
        work->settings = &s->settings;
        result.exitflag = setup_daqp(&s->problem, work, 0);
        s->has_work[form] = result.exitflag >= 0;
        if (s->has_work[form]) daqp_solve(&result, work);
    } else {
        int mask = DAQP_UPDATE_Rinv + DAQP_UPDATE_M + DAQP_UPDATE_v + DAQP_UPDATE_d + DAQP_UPDATE_sense;
        result.exitflag = daqp_update_ldp(mask, work, &s->problem);
        if (result.exitflag >= 0) daqp_solve(&result, work);
        if (result.exitflag <= 0) forget_work(s, form); /* begin anew with the next one */
    }
    *iterations += result.iter;
    return result.exitflag;
}

/* Residuals of the program as given, at y with multipliers of bounds and rows. */
static void check(const strut_qp *s, const given *q, const attempt *a, const double *y, strut_qp_report *report)
{
    int i, j, k, n = s->n, last = !a->level || a->level == s->top_level;
    double terms = 0, residual = 0;
    report->stationarity = report->feasibility = report->complementarity = 0;
    for (i = 0; i < n; i++) {
        double sum = last ? q->g[i] : s->d[i] > 0 ? LEVEL_DAMPING * y[i] / (s->d[i] * s->d[i]) : 0, size = fabs(sum);
        for (j = 0; last && j < n; j++) {
            double part = (i <= j ? q->H[i * n + j] : q->H[j * n + i]) * y[j];
            sum += part, size = larger(size, fabs(part));
        }
        s->gradient[i] = sum + s->row_lam[i], s->size[i] = larger(size, fabs(s->row_lam[i]));
    }
    for (k = 0; k < s->goals; k++) {
        double miss = -q->target[k], size = fabs(q->target[k]);
        if (a->level && s->level[k] < a->level) /* met before: an equation with a multiplier */
            for (i = 0; i < n; i++) {
                double part = q->T[k * n + i] * s->goal_lam[k];
                s->gradient[i] += part, s->size[i] = larger(s->size[i], fabs(part));
            }
        if (a->level && s->level[k] != a->level) continue;
        for (i = 0; i < n; i++) {
            double part = q->T[k * n + i] * y[i];
            miss += part, size = larger(size, fabs(part));
        }
        for (i = 0; i < n; i++) {
            s->gradient[i] += q->w[k] * q->T[k * n + i] * miss;
            s->size[i] = larger(s->size[i], fabs(q->w[k] * q->T[k * n + i]) * size);
        }
    }
    for (k = 0; k < s->rows; k++)
        for (i = 0; s->row_lam[n + k] != 0 && i < n; i++) {
            double part = q->A[k * n + i] * s->row_lam[n + k];
            s->gradient[i] += part, s->size[i] = larger(s->size[i], fabs(part));
        }
    for (i = 0; i < n; i++) {
        terms = larger(terms, s->size[i] * s->d[i]);
        residual = larger(residual, fabs(s->gradient[i]) * s->d[i]);
    }
    report->stationarity = residual / larger(terms, 1e-300);
    for (k = 0; k < n + s->rows; k++) {
        double value = 0, size = 0, norm = 0, below, above, lam = s->row_lam[k];
        if (k < n) value = y[k], size = fabs(y[k]), norm = s->d[k];
        else
            for (i = 0; i < n; i++) {
                double part = q->A[(k - n) * n + i] * y[i];
                value += part, size = larger(size, fabs(part));
                norm = larger(norm, fabs(q->A[(k - n) * n + i]) * s->d[i]);
            }
        below = q->low[k] > -NO_BOUND ? q->low[k] - value : -1e300;
        above = q->up[k] < NO_BOUND ? value - q->up[k] : -1e300;
        if (s->slack_of[k] >= 0) { /* relaxed: its multiplier is the gradient of its squared miss */
            double square = 0, pull = above > 0 ? above : below > 0 ? -below : 0;
            for (i = 0; i < n; i++) {
                double part = (k < n ? i == k : q->A[(k - n) * n + i]) * s->d[i];
                square += part * part;
            }
            pull *= MISS_WEIGHT / (square > 0 ? square : 1);
            report->complementarity = larger(report->complementarity, fabs(lam - pull) * norm / larger(terms, 1e-300));
            continue;
        }
        size = 1 + larger(size, larger(below > -1e299 ? fabs(q->low[k]) : 0, above > -1e299 ? fabs(q->up[k]) : 0));
        report->feasibility = larger(report->feasibility, larger(below, above) / size);
        if (q->up[k] - q->low[k] > 0) {
            double push = fabs(lam) * norm / larger(terms, 1e-300), slack = lam > 0 ? -above : -below;
            report->complementarity = larger(report->complementarity, fmin(push, fabs(slack) / size));
        }
    }
}

/* One attempt; returns whether it passed the check. */
static int try_once(strut_qp *s, const given *q, const attempt *a, double *y, strut_qp_report *report)
{
    int i, k, r, n = s->n, N = write_program(s, q, a, &r), first, iterations = 0, at;
    int flag = call_daqp(s, a, N, r, &iterations);
    report->iterations += iterations;
    if (flag <= 0) return 0;
    for (i = 0; i < n; i++) y[i] = s->origin[i] + s->z[i] * s->d[i];
    if (!all_numbers(y, n)) return 0;
    first = r; /* rows of relaxed bounds and of A stand last */
    for (k = 0; k < n + s->rows; k++)
        if (k >= n || s->slack_of[k] >= 0) first--;
    at = N + first;
    for (k = 0, r = N; k < s->goals; k++) {
        int own = a->slack && (!a->level || s->level[k] == a->level), before = a->level && s->level[k] < a->level;
        if (q->w[k] == 0 || (!own && !before)) s->goal_lam[k] = 0;
        else s->goal_lam[k] = s->lam[r++];
    }
    for (k = 0; k < n + s->rows; k++) {
        if (k >= n || s->slack_of[k] >= 0) s->row_lam[k] = s->lam[at++];
        else s->row_lam[k] = s->d[k] > 0 ? s->lam[k] / s->d[k] : 0; /* of a fixed one it may be anything */
    }
    for (i = 0; i < n; i++) /* bounds hold to the last bit */
        if (s->slack_of[i] < 0) y[i] = y[i] < q->low[i] ? q->low[i] : y[i] > q->up[i] ? q->up[i] : y[i];
    check(s, q, a, y, report);
    return report->stationarity <= MAX_KKT && report->feasibility <= MAX_KKT && report->complementarity <= MAX_KKT;
}

/* One level, by attempts of growing patience. relax: the rank whose rows have slacks; keep: see call_daqp. */
static int solve_level(strut_qp *s, const given *q, int level, int relax, int keep, double *y, strut_qp_report *report)
{
    int slack = relax ? 0 : s->slack, kept = keep && !level;
    /* few equations are as well rows as the others, and sooner done; those of slacks are as many as goals */
    attempt rows = {slack, relax, level, DAQP_EQ_REDUCTION_OFF, kept, 1e-10, PIVOT};
    attempt reduced = {slack, relax, level, DAQP_EQ_REDUCTION_ON, kept, 1e-10, PIVOT};
    attempt other = {!slack && !relax, relax, level, DAQP_EQ_REDUCTION_ON, 0, 1e-10, PIVOT};
    attempt plain = {slack, relax, level, DAQP_EQ_REDUCTION_OFF, 0, 1e-9, PIVOT};
    attempt loose = {slack, relax, level, DAQP_EQ_REDUCTION_ON, 0, 1e-6, PIVOT};
    attempt fine = {slack, relax, level, DAQP_EQ_REDUCTION_ON, 0, 1e-10, FINE_PIVOT};
    if (!slack && try_once(s, q, &rows, y, report)) return 1;
    if (try_once(s, q, &reduced, y, report)) return 1;
    if (!relax && try_once(s, q, &other, y, report)) return 2;
    if (try_once(s, q, &plain, y, report)) return 3;
    if (try_once(s, q, &loose, y, report)) return 4;
    return try_once(s, q, &fine, y, report) ? 5 : 0;
}

/* All levels, one after the other; returns 1 where the first two attempts solved each, 0 where one is not solved. */
static int solve_levels(strut_qp *s, const given *q, int keep, double *y, strut_qp_report *report)
{
    int level, k, i, most = 1;
    for (level = s->top_level > 1; level <= s->top_level; level++) {
        int attempts = solve_level(s, q, level, 0, keep, y, report);
        if (!attempts || !level) return attempts;
        if (attempts > most) most = attempts;
        for (k = 0; k < s->goals; k++)
            if (s->level[k] == level)
                for (s->met[k] = 0, i = 0; i < s->n; i++) s->met[k] += q->T[k * s->n + i] * y[i];
    }
    return most;
}

/* By how much a row or bound is missed at y: below is positive under the lower side, above over the upper one. */
static void miss_of(const strut_qp *s, const given *q, int k, const double *y, double *below, double *above)
{
    double value = k < s->n ? y[k] : 0;
    int i;
    for (i = 0; k >= s->n && i < s->n; i++) value += q->A[(k - s->n) * s->n + i] * y[i];
    *below = q->low[k] > -NO_BOUND ? q->low[k] - value : 0;
    *above = q->up[k] < NO_BOUND ? value - q->up[k] : 0;
}

/* Find a point within bounds and rows, where those of ranks from `relax` on are missed as little as can be: the sum
 * of squares (each over its row's norm) of rank `relax` first, then of the next rank with these held, and so on. The
 * cost takes no part. Widen bounds by these misses and write the point to the origin; returns whether there is one. */
static int hold_least_misses(strut_qp *s, const given *q, int relax, double margin, double *y, strut_qp_report *report)
{
    given least = {s->identity, s->zeros, q->T, s->zeros, s->zeros, q->A, s->wide_low, s->wide_up};
    int rank = relax, k, all = s->n + s->rows;
    memset(s->origin, 0, sizeof(double) * (size_t)s->n);
    s->moved = 0;
    for (k = 0; k < all; k++) {
        s->wide_low[k] = s->rank[k] < relax ? q->low[k] : -10 * NO_BOUND;
        s->wide_up[k] = s->rank[k] < relax ? q->up[k] : 10 * NO_BOUND;
    }
    do {
        for (k = 0; k < all; k++)
            if (s->rank[k] == rank) s->wide_low[k] = q->low[k], s->wide_up[k] = q->up[k];
        if (!solve_level(s, &least, 0, rank, 0, y, report)) return 0;
        for (k = 0; k < all; k++) {
            double below, above;
            if (s->rank[k] != rank) continue;
            miss_of(s, q, k, y, &below, &above);
            if (below > 0) s->wide_low[k] -= below + margin * (1 + fabs(q->low[k]) + below);
            if (above > 0) s->wide_up[k] += above + margin * (1 + fabs(q->up[k]) + above);
        }
    } while (++rank <= s->top_rank);
    memcpy(s->origin, y, sizeof(double) * (size_t)s->n);
    s->moved = 1;
    return 1;
}

int strut_qp_solve(strut_qp *s, const double *H, const double *g, const double *T, const double *target,
                   const double *w, const double *A, const double *low, const double *up, double *y,
                   strut_qp_report *report)
{
    given q = {H, g, T, target, w, A, low, up}, held = {H, g, T, target, w, A, s->wide_low, s->wide_up};
    double most = 0;
    int relax, attempts, k;
    memset(report, 0, sizeof *report);
    report->missed_row = -1;
    if (!is_good(s, &q)) return (int)(report->status = STRUT_QP_BAD_DATA);
    memset(s->origin, 0, sizeof(double) * (size_t)s->n);
    s->moved = 0;
    attempts = solve_levels(s, &q, 1, y, report);
    if (attempts) return (int)(report->status = attempts > 1 ? STRUT_QP_RETRIED : STRUT_QP_SOLVED);
    /* first with nothing relaxed: about a point that keeps all rows, where there is one */
    for (relax = s->top_rank + 1; relax >= 1; relax--) {
        int margins = relax > s->top_rank ? 1 : (int)(sizeof MISS_MARGINS / sizeof *MISS_MARGINS), found = 0;
        for (attempts = k = 0; !attempts && k < margins; k++)
            if (hold_least_misses(s, &q, relax, MISS_MARGINS[k], y, report))
                found = 1, attempts = solve_levels(s, &held, 0, y, report);
        if (!found) continue;
        /* what misses least is within all other rows: a command that can be given, though it minimises no cost */
        if (!attempts && !hold_least_misses(s, &q, relax, MISS_MARGINS[0], y, report)) break;
        if (!attempts && relax > s->top_rank) break;
        if (relax > s->top_rank) return (int)(report->status = STRUT_QP_RETRIED);
        for (k = 0; k < s->n + s->rows; k++) {
            double below, above;
            miss_of(s, &q, k, y, &below, &above);
            below = larger(below, above);
            if (s->rank[k] >= relax) report->relaxation = larger(report->relaxation, below);
            if (s->rank[k] == relax && below > most) most = below, report->missed_row = k;
        }
        report->relaxed = relax;
        return (int)(report->status = STRUT_QP_RELAXED);
    }
    return (int)(report->status = STRUT_QP_FAILED);
}
