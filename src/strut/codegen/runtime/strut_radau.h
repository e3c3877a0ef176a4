/* strut runtime, stiff systems: Radau IIA of order 5, three implicit stages, as Hairer and Wanner's RADAU5 (Solving Ordinary
 * Differential Equations II, section IV.8). The stages' equations are decoupled into a real and a complex one. */

enum { STRUT_PASTE(STRUT_PREFIX, radau_newton) = 6 };
#define STRUT_S6 R(2.449489742783178)
#define STRUT_MU R(3.6378342527444957)   /* the real eigenvalue of the inverse coefficients, 3 + 3^(2/3) - 3^(1/3) */
#define STRUT_MU_RE R(2.6810828736277523) /* and the complex pair, 3 + (3^(1/3) - 3^(2/3)) / 2 */
#define STRUT_MU_IM R(-3.0504301992474105)

STRUT_TABLE strut_real STRUT_(radau_t)[3][3] = {
    {R(0.09443876248897524), R(-0.14125529502095421), R(0.03002919410514742)},
    {R(0.25021312296533332), R(0.20412935229379994), R(-0.38294211275726192)},
    {R(1), R(1), R(0)}};
STRUT_TABLE strut_real STRUT_(radau_inverse)[3][3] = {
    {R(4.17871859155190428), R(0.32768282076106237), R(0.52337644549944951)},
    {R(-4.17871859155190428), R(-0.32768282076106237), R(0.47662355450055044)},
    {R(0.50287263494578682), R(-2.57192694985560522), R(0.59603920482822492)}};

/* The stages Z = k[0..2] from a first guess there. Returns how many iterations Newton's method took, 0 if it did not
 * converge; `rate` is how fast it did. */
STRUT_FN int STRUT_(radau_solve)(STRUT_(sim) * s, strut_real h, strut_real *rate)
{
    strut_real *z[3], *w[3], *f[3], *step[3], before = R(0), tolerance = STRUT_(newton_tolerance)(s), *stage = s->x_new;
    strut_real at[3];
    at[0] = (R(4) - STRUT_S6) / R(10);
    at[1] = (R(4) + STRUT_S6) / R(10);
    at[2] = R(1);
    for (int i = 0; i < 3; i++) {
        z[i] = s->k[i];
        w[i] = s->k[3 + i];
        f[i] = s->k[6 + i];
        step[i] = s->k[9 + i];
    }
    for (int m = 0; m < STRUT_N; m++)
        for (int i = 0; i < 3; i++) {
            const strut_real *row = STRUT_(radau_inverse)[i];
            w[i][m] = row[0] * z[0][m] + row[1] * z[1][m] + row[2] * z[2][m];
        }
    *rate = R(1);
    for (int k = 0; k < STRUT_(radau_newton); k++) {
        strut_real norm = R(0), n[3];
        for (int i = 0; i < 3; i++) {
            for (int m = 0; m < STRUT_N; m++) stage[m] = s->x[m] + z[i][m];
            STRUT_(rate)(s, s->t + at[i] * h, stage, f[i]);
            if (!STRUT_(finite)(f[i], STRUT_NX)) return 0;
        }
        for (int m = 0; m < STRUT_N; m++) {
            strut_real g[3];
            for (int i = 0; i < 3; i++) {
                const strut_real *row = STRUT_(radau_inverse)[i];
                g[i] = row[0] * f[0][m] + row[1] * f[1][m] + row[2] * f[2][m];
            }
            step[0][m] = g[0] - STRUT_MU / h * w[0][m];
            step[1][m] = g[1] - (STRUT_MU_RE * w[1][m] - STRUT_MU_IM * w[2][m]) / h;
            step[2][m] = g[2] - (STRUT_MU_RE * w[2][m] + STRUT_MU_IM * w[1][m]) / h;
        }
        STRUT_(backsolve)(s->lu, 0, s->pivot, step[0], 0);
        STRUT_(backsolve)(s->lu_re, s->lu_im, s->pivot_complex, step[1], step[2]);
        for (int m = STRUT_NX; m < STRUT_N; m++) {
            strut_real size = (STRUT_MU_RE * STRUT_MU_RE + STRUT_MU_IM * STRUT_MU_IM) / h, a = step[1][m], b = step[2][m];
            step[0][m] *= h / STRUT_MU;
            step[1][m] = (a * STRUT_MU_RE + b * STRUT_MU_IM) / size;
            step[2][m] = (b * STRUT_MU_RE - a * STRUT_MU_IM) / size;
        }
        for (int i = 0; i < 3; i++) {
            n[i] = STRUT_(stiff_norm)(s, step[i], s->x, 0);
            norm += n[i] * n[i] / R(3);
        }
        norm = STRUT_SQRT(norm);
        if (!(norm < STRUT_MAX)) return 0;
        if (k > 0) {
            *rate = norm / before;
            if (*rate >= R(1)) return 0;
            if (STRUT_POW(*rate, (strut_real)(STRUT_(radau_newton) - k)) / (R(1) - *rate) * norm > tolerance) return 0;
        }
        for (int m = 0; m < STRUT_N; m++) {
            for (int i = 0; i < 3; i++) w[i][m] += step[i][m];
            for (int i = 0; i < 3; i++) {
                const strut_real *row = STRUT_(radau_t)[i];
                z[i][m] = row[0] * w[0][m] + row[1] * w[1][m] + row[2] * w[2][m];
            }
        }
        if (norm == R(0) || (k > 0 && *rate / (R(1) - *rate) * norm < tolerance)) return k + 1;
        before = norm;
    }
    return 0;
}

/* The collocation polynomial, a cubic. */
STRUT_FN void STRUT_(radau_dense)(STRUT_(sim) * s)
{
    for (int m = 0; m < STRUT_N; m++) {
        strut_real a = s->k[0][m], b = s->k[1][m], c = s->k[2][m];
        s->poly[0][m] = s->x[m];
        s->poly[1][m] = (R(13) + R(7) * STRUT_S6) / R(3) * a + (R(13) - R(7) * STRUT_S6) / R(3) * b + c / R(3);
        s->poly[2][m] = (R(-23) - R(22) * STRUT_S6) / R(3) * a + (R(-23) + R(22) * STRUT_S6) / R(3) * b - R(8) / R(3) * c;
        s->poly[3][m] = (R(10) / R(3) + R(5) * STRUT_S6) * a + (R(10) / R(3) - R(5) * STRUT_S6) * b + R(10) / R(3) * c;
    }
    s->degree = 3;
}

STRUT_FN strut_real STRUT_(radau_factor)(const STRUT_(sim) * s, strut_real h, strut_real error)
{
    strut_real grown = R(1);
    if (s->error_before > R(0) && s->h_past > R(0) && error > R(0))
        grown = h / s->h_past * STRUT_POW(s->error_before / error, R(0.25));
    return strut_min(R(1), grown) * STRUT_POW(error, R(-0.25));
}

/* One step, at most `room` long, that passes the error test. Returns its length, 0 if there is none. */
STRUT_FN strut_real STRUT_(radau)(STRUT_(sim) * s, strut_real room, strut_real longest)
{
    strut_real guess[3][STRUT_SLOTS(STRUT_N)], *error = s->k[12], h, wanted, norm, rate, safety, factor, at[3];
    int iterations, last, rejected = 0, renew;
    at[0] = (R(4) - STRUT_S6) / R(10);
    at[1] = (R(4) + STRUT_S6) / R(10);
    at[2] = R(1);
    if (!s->n_past) { /* begin, and begin again after every jump */
        STRUT_(stiff_jacobian)(s, s->t, s->x);
        s->error_before = s->h_past = R(0);
    }
    for (;;) {
        if (!(s->h > R(10) * STRUT_EPS * STRUT_FABS(s->t))) return R(0);
        wanted = strut_min(s->h, longest);
        last = wanted * (R(1) + R(1e3) * STRUT_EPS) + R(8) * STRUT_EPS * STRUT_FABS(s->t) >= room;
        h = last ? room : wanted;
        if (h != s->factored_for) s->factored = 0;
        for (int i = 0; i < 3; i++) { /* the last step's polynomial goes on; without one, nothing moves */
            strut_real a = s->n_past ? R(1) + at[i] * h / s->h_past : R(0);
            for (int m = 0; m < STRUT_N; m++)
                guess[i][m] = s->n_past ? s->poly[0][m] + a * (s->poly[1][m] + a * (s->poly[2][m] + a * s->poly[3][m])) - s->x[m] : R(0);
        }
        for (;;) { /* with the Jacobian at hand; if that does not do, with a new one */
            if (!s->factored) {
                STRUT_(factor)(s, STRUT_MU / h, R(0), s->lu, 0, s->pivot);
                STRUT_(factor)(s, STRUT_MU_RE / h, STRUT_MU_IM / h, s->lu_re, s->lu_im, s->pivot_complex);
                s->factored = 1;
                s->factored_for = h;
            }
            for (int i = 0; i < 3; i++)
                for (int m = 0; m < STRUT_N; m++) s->k[i][m] = guess[i][m];
            iterations = STRUT_(radau_solve)(s, h, &rate);
            if (iterations || s->jacobian_current) break;
            STRUT_(stiff_jacobian)(s, s->t, s->x);
        }
        if (!iterations) {
            s->rejected++;
            s->h = h / R(2);
            if (s->rejected > s->options.max_steps) return R(0);
            continue;
        }
        for (int m = 0; m < STRUT_N; m++) {
            s->k[9][m] = ((R(-13) - R(7) * STRUT_S6) * s->k[0][m] + (R(-13) + R(7) * STRUT_S6) * s->k[1][m] - s->k[2][m]) / (R(3) * h);
            error[m] = s->dx[m] + s->k[9][m];
            s->x_new[m] = s->x[m] + s->k[2][m];
        }
        STRUT_(backsolve)(s->lu, 0, s->pivot, error, 0);
        norm = STRUT_(stiff_norm)(s, error, s->x, s->x_new);
        safety = R(0.9) * R(2 * STRUT_(radau_newton) + 1) / (strut_real)(2 * STRUT_(radau_newton) + iterations);
        if (rejected && norm > R(1)) { /* the estimate is too large where the solution is very stiff: filter it once more */
            for (int m = 0; m < STRUT_N; m++) s->k[10][m] = m < STRUT_NX ? s->x[m] + error[m] : s->x[m];
            STRUT_(rate)(s, s->t, s->k[10], error);
            for (int m = 0; m < STRUT_N; m++) error[m] += s->k[9][m];
            STRUT_(backsolve)(s->lu, 0, s->pivot, error, 0);
            norm = STRUT_(stiff_norm)(s, error, s->x, s->x_new);
        }
        factor = STRUT_(radau_factor)(s, h, norm);
        if (norm <= R(1)) break;
        s->rejected++;
        rejected = 1;
        s->h = h * (norm < STRUT_MAX ? strut_max(R(0.2), safety * factor) : R(0.2));
        if (s->rejected > s->options.max_steps) return R(0);
    }
    STRUT_(rate)(s, s->t + h, s->x_new, s->dx_new);
    STRUT_(radau_dense)(s);
    renew = iterations > 2 && rate > R(1e-3);
    factor = strut_min(R(10), safety * factor);
    if (!renew && factor < R(1.2)) factor = R(1); /* the factors can be used again */
    s->jacobian_current = 0;
    if (renew) STRUT_(stiff_jacobian)(s, s->t + h, s->x_new);
    s->error_before = norm;
    s->h_past = h;
    s->n_past = 1;
    wanted = h * factor;
    if (!last || wanted > s->h || wanted < h) s->h = wanted;
    return h;
}
#undef STRUT_S6
#undef STRUT_MU
#undef STRUT_MU_RE
#undef STRUT_MU_IM
