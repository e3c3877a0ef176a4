/* strut runtime: one step of every method, from (t, x, dx) to (x_new, dx_new), and its dense output.
 *
 * Each method evaluates the flow at the end of its step; that evaluation is the first of the next step.
 * A trial step changes nothing but x_new, dx_new and k, so it can be repeated with another length. */

STRUT_FN void STRUT_(delayed)(STRUT_(sim) * s, strut_real t);

STRUT_CALLED void STRUT_(rate)(STRUT_(sim) * s, strut_real t, const strut_real *x, strut_real *dx)
{
    STRUT_(delayed)(s, t);
    s->flows++;
    if (s->options.ledger) {
        strut_real none[1]; /* for a model without states, whose dx belongs to the powers alone */
        STRUT_(flow_and_powers)(t, x, s->z, s->u, s->p, s->d, STRUT_NX > 0 ? dx : none, dx + STRUT_NX);
    } else {
        STRUT_(flow)(t, x, s->z, s->u, s->p, s->d, dx);
        for (int i = STRUT_NX; i < STRUT_N; i++) dx[i] = R(0);
    }
}

/* The scale against which component i of an error is measured. */
STRUT_FN strut_real STRUT_(scale)(const STRUT_(sim) * s, int i)
{
    return s->options.atol + s->options.rtol * strut_max(STRUT_FABS(s->x[i]), STRUT_FABS(s->x_new[i]));
}

#include "strut_runge_kutta.h"

/* Velocity Verlet for every position whose rate is itself a state; the other states by Heun. Symplectic where
 * accelerations depend on positions and time alone, second order everywhere. */
STRUT_FN void STRUT_(leapfrog)(STRUT_(sim) * s, strut_real h)
{
    strut_real *x = s->x_new;
    for (int i = 0; i < STRUT_N; i++) {
        int v = i < STRUT_NX ? STRUT_(velocity_of)[i] : -1;
        x[i] = s->x[i] + h * (s->dx[i] + (v >= 0 ? h / R(2) * s->dx[v] : R(0)));
    }
    STRUT_(rate)(s, s->t + h, x, s->k[1]);
    for (int i = 0; i < STRUT_N; i++) {
        int v = i < STRUT_NX ? STRUT_(velocity_of)[i] : -1;
        if (v < 0) x[i] = s->x[i] + h / R(2) * (s->dx[i] + s->k[1][i]);
    }
    STRUT_(rate)(s, s->t + h, x, s->dx_new);
}

/* Adams-Bashforth predictor, Adams-Moulton corrector, fourth order, PECE; it starts, and restarts after every jump
 * and every step of another length, with Runge-Kutta. */
STRUT_FN void STRUT_(abm4)(STRUT_(sim) * s, strut_real h)
{
    strut_real *x = s->x_new, c = h / R(24);
    if (s->n_past < 3 || STRUT_FABS(h - s->h_past) > R(1e3) * STRUT_EPS * h) {
        STRUT_(rk4)(s, h);
        return;
    }
    for (int i = 0; i < STRUT_N; i++)
        x[i] = s->x[i] + c * (R(55) * s->dx[i] - R(59) * s->past[0][i] + R(37) * s->past[1][i] - R(9) * s->past[2][i]);
    STRUT_(rate)(s, s->t + h, x, s->k[1]);
    for (int i = 0; i < STRUT_N; i++)
        x[i] = s->x[i] + c * (R(9) * s->k[1][i] + R(19) * s->dx[i] - R(5) * s->past[0][i] + s->past[1][i]);
    STRUT_(rate)(s, s->t + h, x, s->dx_new);
}

/* Cubic Hermite through both ends: third degree, enough for every method of order two to four. */
STRUT_FN void STRUT_(hermite)(STRUT_(sim) * s, strut_real h)
{
    for (int i = 0; i < STRUT_N; i++) {
        strut_real a = s->x[i], b = s->x_new[i], da = h * s->dx[i], db = h * s->dx_new[i];
        s->poly[0][i] = a;
        s->poly[1][i] = da;
        s->poly[2][i] = R(3) * (b - a) - R(2) * da - db;
        s->poly[3][i] = R(2) * (a - b) + da + db;
    }
    s->degree = 3;
}

/* The straight line that Euler's step is: anything else would put events where it never is. */
STRUT_FN void STRUT_(straight)(STRUT_(sim) * s)
{
    for (int i = 0; i < STRUT_N; i++) {
        s->poly[0][i] = s->x[i];
        s->poly[1][i] = s->x_new[i] - s->x[i];
        s->poly[2][i] = s->poly[3][i] = R(0);
    }
    s->degree = 3;
}

#include "strut_choose_method.h"

/* State (and, where dx is not null, its rate) at the fraction a of the step just covered. */
STRUT_FN void STRUT_(interpolate)(const STRUT_(sim) * s, strut_real h, strut_real a, strut_real *x, strut_real *dx)
{
    for (int i = 0; i < STRUT_N; i++) {
        strut_real value = s->poly[s->degree][i], slope = R(0);
        for (int k = s->degree - 1; k >= 0; k--) {
            slope = slope * a + value;
            value = value * a + s->poly[k][i];
        }
        x[i] = value;
        if (dx) dx[i] = h > R(0) ? slope / h : s->dx[i];
    }
}
