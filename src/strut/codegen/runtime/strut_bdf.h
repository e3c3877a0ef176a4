/* strut runtime, stiff systems: numerical differentiation formulas of order 1 to 5 with quasi-constant steps (Shampine and
 * Reichelt, The MATLAB ODE Suite, 1997). The past is kept as backward differences D for steps of length bdf_h:
 * another length changes them. */

enum { STRUT_PASTE(STRUT_PREFIX, bdf_order) = 5, STRUT_PASTE(STRUT_PREFIX, bdf_newton) = 4 };

STRUT_FN strut_real STRUT_(bdf_gamma)(int k)
{
    strut_real sum = R(0);
    for (int i = 1; i <= k; i++) sum += R(1) / (strut_real)i;
    return sum;
}

STRUT_FN strut_real STRUT_(bdf_kappa)(int k)
{
    switch (k) {
    case 1: return R(-0.1850);
    case 2: return R(-1) / R(9);
    case 3: return R(-0.0823);
    case 4: return R(-0.0415);
    default: return R(0);
    }
}

STRUT_FN strut_real STRUT_(bdf_error)(int k)
{
    return STRUT_(bdf_kappa)(k) * STRUT_(bdf_gamma)(k) + R(1) / (strut_real)(k + 1);
}

/* The differences for steps that are `factor` times as long. */
STRUT_FN void STRUT_(bdf_stretch)(STRUT_(sim) * s, strut_real factor)
{
    strut_real r[6][6], u[6][6], c[6][6], old[6];
    int n = s->bdf_k + 1;
    for (int j = 0; j < n; j++) {
        r[0][j] = u[0][j] = R(1);
        for (int i = 1; i < n; i++) {
            r[i][j] = j ? r[i - 1][j] * ((strut_real)(i - 1) - factor * (strut_real)j) / (strut_real)i : R(0);
            u[i][j] = j ? u[i - 1][j] * (strut_real)(i - 1 - j) / (strut_real)i : R(0);
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            c[i][j] = R(0);
            for (int k = 0; k < n; k++) c[i][j] += r[i][k] * u[k][j];
        }
    for (int m = 0; m < STRUT_N; m++) {
        for (int i = 0; i < n; i++) old[i] = s->k[i][m];
        for (int j = 0; j < n; j++) {
            s->k[j][m] = R(0);
            for (int i = 0; i < n; i++) s->k[j][m] += c[i][j] * old[i];
        }
    }
    s->bdf_h *= factor;
    s->bdf_equal = 0;
    s->factored = 0;
}

/* Newton's method for the correction d of the predicted x. Returns how many iterations it took, or 0 if it did not
 * converge; then x_new and d = k[8] hold what it found. */
STRUT_FN int STRUT_(bdf_solve)(STRUT_(sim) * s, strut_real t, const strut_real *predicted, const strut_real *psi, strut_real c)
{
    strut_real *d = s->k[8], *step = s->k[9], before = R(0), tolerance = STRUT_(newton_tolerance)(s);
    for (int i = 0; i < STRUT_N; i++) {
        d[i] = R(0);
        s->x_new[i] = predicted[i];
    }
    for (int k = 0; k < STRUT_(bdf_newton); k++) {
        strut_real norm, rate;
        STRUT_(rate)(s, t, s->x_new, s->dx_new);
        if (!STRUT_(finite)(s->dx_new, STRUT_NX)) return 0;
        for (int i = 0; i < STRUT_N; i++) step[i] = s->dx_new[i] - (psi[i] + d[i]) / c;
        STRUT_(backsolve)(s->lu, 0, s->pivot, step, 0);
        for (int i = STRUT_NX; i < STRUT_N; i++) step[i] *= c;
        norm = STRUT_(stiff_norm)(s, step, predicted, 0);
        if (!(norm < STRUT_MAX)) return 0;
        rate = norm / before;
        if (k > 0 && (rate >= R(1) || STRUT_POW(rate, (strut_real)(STRUT_(bdf_newton) - k)) / (R(1) - rate) * norm > tolerance)) return 0;
        for (int i = 0; i < STRUT_N; i++) {
            s->x_new[i] += step[i];
            d[i] += step[i];
        }
        if (norm == R(0) || (k > 0 && rate / (R(1) - rate) * norm < tolerance)) return k + 1;
        before = norm;
    }
    return 0;
}

/* The polynomial through the last points, in powers of the fraction of the step just taken. */
STRUT_FN void STRUT_(bdf_dense)(STRUT_(sim) * s)
{
    strut_real p[6], sum[6];
    for (int m = 0; m < STRUT_N; m++) {
        for (int i = 0; i < 6; i++) sum[i] = p[i] = R(0);
        p[0] = R(1);
        sum[0] = s->k[0][m];
        for (int j = 0; j < s->bdf_k; j++) { /* times (a - 1 + j) / (j + 1) */
            for (int i = j + 1; i >= 0; i--)
                p[i] = ((i > 0 ? p[i - 1] : R(0)) + (strut_real)(j - 1) * p[i]) / (strut_real)(j + 1);
            for (int i = 0; i <= j + 1; i++) sum[i] += s->k[j + 1][m] * p[i];
        }
        for (int i = 0; i < 6; i++) s->poly[i][m] = sum[i];
        s->poly[0][m] = s->x[m];
    }
    s->degree = 5;
}

/* One step, at most `room` long, that passes the error test. Returns its length, 0 if there is none. */
STRUT_FN strut_real STRUT_(bdf)(STRUT_(sim) * s, strut_real room, strut_real longest)
{
    strut_real psi[STRUT_SLOTS(STRUT_N)], predicted[STRUT_SLOTS(STRUT_N)], h, wanted, c, error, safety, best;
    int iterations, order, last;
    if (!s->n_past) { /* begin, and begin again after every jump */
        for (int i = 0; i < STRUT_N; i++) {
            s->k[0][i] = s->x[i];
            s->k[1][i] = s->h * s->dx[i];
            s->k[2][i] = s->k[3][i] = R(0);
        }
        s->bdf_k = 1;
        s->bdf_h = s->h;
        s->bdf_equal = 0;
        STRUT_(stiff_jacobian)(s, s->t, s->x);
        s->n_past = 1;
    }
    for (;;) {
        if (!(s->h > R(10) * STRUT_EPS * STRUT_FABS(s->t))) return R(0);
        wanted = strut_min(strut_min(s->h, R(10) * s->bdf_h), longest); /* differences stretch only so far */
        last = wanted * (R(1) + R(1e3) * STRUT_EPS) + R(8) * STRUT_EPS * STRUT_FABS(s->t) >= room;
        h = last ? room : wanted;
        if (h != s->bdf_h) {
            STRUT_(bdf_stretch)(s, h / s->bdf_h);
            s->bdf_h = h;
        }
        order = s->bdf_k;
        c = h / ((R(1) - STRUT_(bdf_kappa)(order)) * STRUT_(bdf_gamma)(order));
        for (int i = 0; i < STRUT_N; i++) {
            predicted[i] = s->k[0][i];
            psi[i] = R(0);
        }
        for (int k = 1; k <= order; k++) {
            strut_real weight = STRUT_(bdf_gamma)(k) * c / h;
            for (int i = 0; i < STRUT_N; i++) {
                predicted[i] += s->k[k][i];
                psi[i] += weight * s->k[k][i];
            }
        }
        for (;;) { /* with the Jacobian at hand; if that does not do, with a new one */
            if (!s->factored) STRUT_(factor)(s, R(1) / c, R(0), s->lu, 0, s->pivot);
            s->factored = 1;
            iterations = STRUT_(bdf_solve)(s, s->t + h, predicted, psi, c);
            if (iterations || s->jacobian_current) break;
            STRUT_(stiff_jacobian)(s, s->t + h, predicted);
        }
        if (!iterations) {
            s->rejected++;
            s->h = h / R(2);
            if (s->rejected > s->options.max_steps) return R(0);
            continue;
        }
        safety = R(0.9) * R(2 * STRUT_(bdf_newton) + 1) / (strut_real)(2 * STRUT_(bdf_newton) + iterations);
        error = STRUT_FABS(STRUT_(bdf_error)(order)) * STRUT_(stiff_norm)(s, s->k[8], s->x_new, 0);
        if (error <= R(1)) break;
        s->rejected++;
        s->h = h * strut_max(R(0.2), safety * STRUT_POW(error, R(-1) / (strut_real)(order + 1)));
        if (s->rejected > s->options.max_steps) return R(0);
    }
    s->jacobian_current = 0;
    s->bdf_equal++;
    for (int i = 0; i < STRUT_N; i++) {
        s->k[order + 2][i] = s->k[8][i] - s->k[order + 1][i];
        s->k[order + 1][i] = s->k[8][i];
        for (int k = order; k >= 0; k--) s->k[k][i] += s->k[k + 1][i];
        s->k[0][i] = s->x_new[i];
    }
    STRUT_(rate)(s, s->t + h, s->x_new, s->dx_new);
    STRUT_(bdf_dense)(s);
    if (!last) s->h = h;
    if (s->bdf_equal < order + 1) return h;
    best = STRUT_POW(error, R(-1) / (strut_real)(order + 1)); /* which order allows the longest step? */
    if (order > 1) {
        strut_real lower = STRUT_FABS(STRUT_(bdf_error)(order - 1)) * STRUT_(stiff_norm)(s, s->k[order], s->x_new, 0);
        lower = STRUT_POW(lower, R(-1) / (strut_real)order);
        if (lower > best) {
            best = lower;
            s->bdf_k = order - 1;
        }
    }
    if (order < STRUT_(bdf_order)) {
        strut_real higher = STRUT_FABS(STRUT_(bdf_error)(order + 1)) * STRUT_(stiff_norm)(s, s->k[order + 2], s->x_new, 0);
        higher = STRUT_POW(higher, R(-1) / (strut_real)(order + 2));
        if (higher > best) {
            best = higher;
            s->bdf_k = order + 1;
        }
    }
    wanted = h * strut_min(R(10), safety * best);
    if (!last || wanted > s->h || wanted < h) s->h = wanted;
    s->bdf_equal = 0;
    s->factored = 0;
    return h;
}
