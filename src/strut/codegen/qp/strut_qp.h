/* strut: quadratic programs of a sampled controller, solved by daqp and checked.
 *
 *   minimise    y'Hy / 2 + g'y + sum over goals of w (T y - target)^2 / 2
 *   subject to  low <= (y, A y) <= up
 *
 * H: n x n. T, A: row by row. low, up: of the n variables, then of the rows of A; equal ones are equations, and
 * infinite ones are none. level of a goal: 1 is met before 2, and so on. rank of a bound or row: 0 is never
 * given up; where there is no solution, those of the highest rank are relaxed first, and among those relaxed the
 * lowest rank is missed least (sum of squares, each over its row's norm), then the next. Within these misses, which may
 * be held wider by a thousandth, the cost is least; where no solution of that passes the check, what misses least is
 * taken, which keeps all other rows.
 */
#ifndef STRUT_QP_H
#define STRUT_QP_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct strut_qp strut_qp;

enum strut_qp_status {
    STRUT_QP_SOLVED = 0,   /* with equations as rows, or taken out first */
    STRUT_QP_RETRIED = 1,  /* by another form, other tolerances, or about a point that keeps all rows */
    STRUT_QP_RELAXED = 2,  /* there is no solution: rows of the highest ranks are met as well as they can be */
    STRUT_QP_FAILED = 3,   /* no attempt passed the check, or rows of rank 0 contradict one another */
    STRUT_QP_BAD_DATA = 4, /* something is no number */
    STRUT_QP_STATUSES = 5
};

typedef struct {
    double status;          /* an enum strut_qp_status */
    double iterations;      /* of the active-set method, all attempts together */
    double relaxed;         /* the lowest rank that was relaxed; 0: none */
    double relaxation;      /* by how much a relaxed row is missed at most, in its unit */
    double missed_row;      /* of those of the lowest rank that was relaxed, the one that is missed most: k < n, the
                               bound of variable k, else row k - n; -1: none was relaxed */
    double stationarity;    /* of the Lagrangian's gradient, relative to the largest of its terms */
    double feasibility;     /* of rows and bounds, relative to 1 + the size of their terms */
    double complementarity; /* the smaller of slack and multiplier, both relative; and multipliers of wrong sign */
} strut_qp_report;

/* n variables, `goals` rows of T and `rows` of A; `levels` of goals and `ranks` of bounds and rows are copied.
 * slack: whether goals have variables of their own in the first attempt. Returns null where memory is short. */
strut_qp *strut_qp_new(int n, int goals, int rows, const int *levels, const int *ranks, int slack);
void strut_qp_free(strut_qp *s);

/* Writes y and a report; y is meaningful for statuses below STRUT_QP_FAILED. */
int strut_qp_solve(strut_qp *s, const double *H, const double *g, const double *T, const double *target,
                   const double *w, const double *A, const double *low, const double *up, double *y,
                   strut_qp_report *report);

#ifdef __cplusplus
}
#endif
#endif
