/* strut runtime: delayed signals. Every accepted step and every jump adds a row (t, signals, their rates) to a ring of
 * the caller's memory; between rows the signal is the cubic through both ends. */

#if STRUT_ND > 0
#define STRUT_ROW (1 + 2 * STRUT_ND)

STRUT_FN strut_real *STRUT_(row)(const STRUT_(sim) * s, int64_t k)
{
    return s->history + ((s->first + k) % s->capacity) * STRUT_ROW;
}

#define STRUT_PIECES 16 /* of a long step */

/* Forget what no delay reaches any more. Is there room for a step, a jump and new inputs? */
STRUT_FN int STRUT_(has_room)(STRUT_(sim) * s)
{
    while (s->count > 2 && STRUT_(row)(s, 1)[0] < s->t - s->longest) {
        s->first = (s->first + 1) % s->capacity;
        s->count--;
    }
    return s->capacity - s->count >= STRUT_PIECES + 2;
}

STRUT_FN void STRUT_(remember_at)(STRUT_(sim) * s, strut_real t, const strut_real *x, const strut_real *dx)
{
    strut_real *row;
    if (s->count >= s->capacity) return; /* only before the first step, with too little memory: has_room says so */
    row = STRUT_(row)(s, s->count++);
    row[0] = t;
    STRUT_(signals)(t, x, s->z, s->u, s->p, row + 1);
    STRUT_(signal_rates)(t, x, s->z, s->u, s->p, dx, row + 1 + STRUT_ND);
}

STRUT_FN void STRUT_(remember)(STRUT_(sim) * s) { STRUT_(remember_at)(s, s->t, s->x, s->dx); }

/* The step just taken. A long step of high order is no cubic: remember it in pieces. */
STRUT_FN void STRUT_(remember_step)(STRUT_(sim) * s)
{
    int pieces = strut_kind_of(s->options.method) != STRUT_KIND_FIXED ? STRUT_PIECES : 1;
    for (int k = 1; k < pieces; k++) {
        strut_real x[STRUT_SLOTS(STRUT_N)], dx[STRUT_SLOTS(STRUT_N)], a = (strut_real)k / (strut_real)pieces;
        STRUT_(interpolate)(s, s->h0, a, x, dx);
        STRUT_(remember_at)(s, s->t0 + a * s->h0, x, dx);
    }
    STRUT_(remember)(s);
}

STRUT_FN void STRUT_(delayed)(STRUT_(sim) * s, strut_real t)
{
    for (int i = 0; i < STRUT_ND; i++) {
        strut_real then = t - s->delay[i], before[STRUT_ND], h, a;
        const strut_real *left, *right;
        int64_t low = 0, high = s->count - 1;
        if (then < s->t_begin || s->count == 0) {
            STRUT_(past)(then, s->p, before);
            s->d[i] = before[i];
            continue;
        }
        while (high - low > 1) {
            int64_t middle = (low + high) / 2;
            if (STRUT_(row)(s, middle)[0] <= then) low = middle;
            else high = middle;
        }
        left = STRUT_(row)(s, low);
        right = STRUT_(row)(s, high);
        h = right[0] - left[0];
        a = h > R(0) ? strut_min((then - left[0]) / h, R(1)) : R(0);
        s->d[i] = left[1 + i] + a * (h * left[1 + STRUT_ND + i] + a * ((R(3) - R(2) * a) * (right[1 + i] - left[1 + i])
            - h * ((R(2) - a) * left[1 + STRUT_ND + i] + (R(1) - a) * right[1 + STRUT_ND + i])));
    }
}
#undef STRUT_ROW
#undef STRUT_PIECES
#else
STRUT_FN int STRUT_(has_room)(STRUT_(sim) * s)
{
    (void)s;
    return 1;
}
STRUT_FN void STRUT_(remember)(STRUT_(sim) * s) { (void)s; }
STRUT_FN void STRUT_(remember_step)(STRUT_(sim) * s) { (void)s; }
STRUT_FN void STRUT_(delayed)(STRUT_(sim) * s, strut_real t)
{
    (void)s;
    (void)t;
}
#endif
