/* strut runtime, stiff systems: what the implicit methods share. A model has it where STRUT_STIFF is 1; then it also has
 *   state_jacobian   the nonzeros of the flow's Jacobian by the state, at jacobian_row, jacobian_column;
 *   jacobian_order   which state stands where in these: an order in which they lie at most LOWER below and UPPER above
 *                    the diagonal. Pivoting widens that, upwards to LOWER + UPPER.
 * The powers of the energy account (components NX to N) take part in a step and in no test of it: nothing depends on
 * them, so their rows of every matrix are a number on the diagonal. */

/* Root mean square of the states, each against its size in x (and in y, unless that is null). */
STRUT_FN strut_real STRUT_(stiff_norm)(const STRUT_(sim) * s, const strut_real *a, const strut_real *x, const strut_real *y)
{
    strut_real sum = R(0);
    for (int i = 0; i < STRUT_NX; i++) {
        strut_real size = y ? strut_max(STRUT_FABS(x[i]), STRUT_FABS(y[i])) : STRUT_FABS(x[i]);
        sum += strut_sq(a[i] / (s->options.atol + s->options.rtol * size));
    }
    return STRUT_SQRT(sum / R(STRUT_SLOTS(STRUT_NX)));
}

/* How small Newton's corrections must become, against the tolerance of the step. */
STRUT_FN strut_real STRUT_(newton_tolerance)(const STRUT_(sim) * s)
{
    return strut_max(R(10) * STRUT_EPS / s->options.rtol, strut_min(R(0.03), STRUT_SQRT(s->options.rtol)));
}

/* The Jacobian, dense, at a point. An entry that is infinite there (that of a square root at zero) is left out: the
 * matrix only guides Newton's method, what it converges to is tested by the flow itself. */
STRUT_FN void STRUT_(stiff_jacobian)(STRUT_(sim) * s, strut_real t, const strut_real *x)
{
    strut_real *entries = s->lu_re; /* free until the next factors: on a stack there may be too little room */
    STRUT_(delayed)(s, t);
    STRUT_(state_jacobian)(t, x, s->z, s->u, s->p, s->d, entries);
    for (int k = 0; k < STRUT_NX * STRUT_NX; k++) s->jacobian[k] = R(0);
    for (int k = 0; k < STRUT_NNZ; k++)
        if (entries[k] - entries[k] == R(0))
            s->jacobian[STRUT_(jacobian_row)[k] * STRUT_NX + STRUT_(jacobian_column)[k]] = entries[k];
    s->jacobian_current = 1;
    s->factored = 0;
}

/* LU factors, by rows with partial pivoting, of (re + i im) on the diagonal minus the Jacobian; `b` holds the imaginary
 * parts, null for a real matrix. Only what can differ from zero is touched. */
STRUT_FN void STRUT_(factor)(const STRUT_(sim) * s, strut_real re, strut_real im, strut_real *a, strut_real *b, int32_t *pivot)
{
    int n = STRUT_NX;
    for (int k = 0; k < n * n; k++) a[k] = -s->jacobian[k];
    if (b)
        for (int k = 0; k < n * n; k++) b[k] = R(0);
    for (int i = 0; i < n; i++) {
        a[i * n + i] += re;
        if (b) b[i * n + i] = im;
    }
    for (int k = 0; k < n; k++) {
        strut_real best = R(-1), size, c, d;
        int p = k, low = k + STRUT_LOWER < n ? k + STRUT_LOWER + 1 : n;
        int right = k + STRUT_LOWER + STRUT_UPPER < n ? k + STRUT_LOWER + STRUT_UPPER + 1 : n;
        for (int i = k; i < low; i++) {
            size = STRUT_FABS(a[i * n + k]) + (b ? STRUT_FABS(b[i * n + k]) : R(0));
            if (size > best) {
                best = size;
                p = i;
            }
        }
        pivot[k] = (int32_t)p;
        if (p != k)
            for (int j = 0; j < right; j++) {
                c = a[k * n + j];
                a[k * n + j] = a[p * n + j];
                a[p * n + j] = c;
                if (b) {
                    d = b[k * n + j];
                    b[k * n + j] = b[p * n + j];
                    b[p * n + j] = d;
                }
            }
        c = a[k * n + k];
        d = b ? b[k * n + k] : R(0);
        size = c * c + d * d;
        for (int i = k + 1; i < low; i++) {
            strut_real *row = a + i * n, *top = a + k * n, l, m;
            if (row[k] == R(0) && (!b || b[i * n + k] == R(0))) continue;
            if (!b) {
                row[k] = l = row[k] / c;
                for (int j = k + 1; j < right; j++) row[j] -= l * top[j];
            } else {
                strut_real *row_b = b + i * n, *top_b = b + k * n;
                l = (row[k] * c + row_b[k] * d) / size;
                m = (row_b[k] * c - row[k] * d) / size;
                row[k] = l;
                row_b[k] = m;
                for (int j = k + 1; j < right; j++) {
                    row[j] -= l * top[j] - m * top_b[j];
                    row_b[j] -= l * top_b[j] + m * top[j];
                }
            }
        }
    }
}

/* Solve with the factors, in place: x, and where b is not null x + i y. The components beyond NX are left to the caller. */
STRUT_FN void STRUT_(backsolve)(const strut_real *a, const strut_real *b, const int32_t *pivot, strut_real *x, strut_real *y)
{
    strut_real v[STRUT_SLOTS(STRUT_NX)], w[STRUT_SLOTS(STRUT_NX)], c;
    int n = STRUT_NX;
    for (int k = 0; k < n; k++) {
        v[k] = x[STRUT_(jacobian_order)[k]];
        w[k] = b ? y[STRUT_(jacobian_order)[k]] : R(0);
    }
    for (int k = 0; k < n; k++)
        if (pivot[k] != k) {
            c = v[k];
            v[k] = v[pivot[k]];
            v[pivot[k]] = c;
            c = w[k];
            w[k] = w[pivot[k]];
            w[pivot[k]] = c;
        }
    for (int pass = 0; pass < 2; pass++) /* down through L, whose diagonal is one, then up through U */
        for (int k = 0; k < n; k++) {
            int i = pass ? n - 1 - k : k, first = pass ? i + 1 : 0, end = i;
            const strut_real *row = a + i * n, *row_b = b ? b + i * n : b;
            strut_real re = v[i], im = w[i], size;
            if (pass) end = i + STRUT_LOWER + STRUT_UPPER < n ? i + STRUT_LOWER + STRUT_UPPER + 1 : n;
            for (int j = first; j < end; j++) re -= row[j] * v[j];
            if (b)
                for (int j = first; j < end; j++) {
                    re += row_b[j] * w[j];
                    im -= row[j] * w[j] + row_b[j] * v[j];
                }
            if (pass && !b) re /= row[i];
            else if (pass) {
                size = row[i] * row[i] + row_b[i] * row_b[i];
                c = (re * row[i] + im * row_b[i]) / size;
                im = (im * row[i] - re * row_b[i]) / size;
                re = c;
            }
            v[i] = re;
            w[i] = im;
        }
    for (int k = 0; k < n; k++) {
        x[STRUT_(jacobian_order)[k]] = v[k];
        if (b) y[STRUT_(jacobian_order)[k]] = w[k];
    }
}
