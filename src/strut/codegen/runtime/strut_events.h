/* strut runtime: when does a guard become true inside a step?
 *
 * A guard g holds while it is positive; an event that is enabled fires when its guard begins to hold, whether the flow
 * or a reset made it so. Values and rates of every guard are known at both ends of a step, so a guard that rises
 * and falls again inside one step (grazing), or that was left by a reset and comes back (bouncing), is seen as well. */

#define STRUT_BUNDLE 4 /* guards that are looked at together: every evaluation gives all of them */

STRUT_CALLED void STRUT_(look)(STRUT_(sim) * s, strut_real t, const strut_real *x, const strut_real *dx, strut_real *g,
                           strut_real *r)
{
    STRUT_(guards_and_rates)(t, x, s->z, s->u, s->p, dx, g, r);
}

/* What rounding makes of a guard that is exactly zero. */
STRUT_FN strut_real STRUT_(fuzz)(const STRUT_(sim) * s, int i, strut_real r)
{
    return STRUT_EPS * (R(256) * s->g_size[i] + R(8) * STRUT_FABS(r) * strut_max(STRUT_FABS(s->t), s->h0));
}

/* A guard on zero holds if it is rising. */
STRUT_FN int STRUT_(positive)(const STRUT_(sim) * s, int i, strut_real g, strut_real r)
{
    strut_real fuzz = STRUT_(fuzz)(s, i, r);
    return g > fuzz || (g >= -fuzz && r > R(0));
}

/* All guards, and their rates, at the fraction a of the covered step of length h. */
STRUT_FN void STRUT_(guards_at)(STRUT_(sim) * s, strut_real h, strut_real a, strut_real *g, strut_real *r)
{
    strut_real x[STRUT_SLOTS(STRUT_N)], dx[STRUT_SLOTS(STRUT_N)];
    STRUT_(interpolate)(s, h, a, x, dx);
    STRUT_(look)(s, s->t + a * h, x, dx, g, r);
}

/* Guard i at the fraction a of the covered step, and its rate [1/step]. */
STRUT_FN strut_real STRUT_(guard_at)(STRUT_(sim) * s, strut_real h, strut_real a, int i, strut_real *rate)
{
    strut_real g[STRUT_SLOTS(STRUT_NG)], r[STRUT_SLOTS(STRUT_NG)];
    STRUT_(guards_at)(s, h, a, g, r);
    *rate = h * r[i];
    return g[i];
}

/* A guard at one fraction of a step: its value, its rate [1/step], and whether it holds. */
typedef struct {
    strut_real a, g, r;
    int holds;
} STRUT_(reading);

/* Can a guard between two readings come to the wanted sign, where its rate changes sign in between? The tangents at both
 * ends bound what bends one way; twice as far is allowed for what does not. */
STRUT_FN int STRUT_(may_reach)(STRUT_(reading) left, STRUT_(reading) right, strut_real sign, strut_real fuzz)
{
    strut_real rise = sign * left.r, fall = sign * right.r, top = strut_max(sign * left.g, sign * right.g), meet;
    if (!(rise > R(0) && fall < R(0))) return 1;
    meet = (sign * (right.g - left.g) - fall * (right.a - left.a)) / (rise - fall); /* where they meet, from the left */
    return top + R(2) * strut_max(sign * left.g + rise * meet - top, R(0)) > fuzz;
}

/* Between two readings the rate of guard i changes sign: follow it to the extremum and return the first fraction at
 * which the guard itself has the wanted sign; -1 if it never has. */
STRUT_FN strut_real STRUT_(extremum)(STRUT_(sim) * s, strut_real h, int i, STRUT_(reading) left, STRUT_(reading) right,
                                     strut_real sign, strut_real fuzz)
{
    for (int tries = 0; tries < 12 && STRUT_(may_reach)(left, right, sign, fuzz); tries++) {
        STRUT_(reading) m;
        m.a = tries % 3 == 2 ? (left.a + right.a) / R(2) : left.a + (right.a - left.a) * left.r / (left.r - right.r);
        if (!(m.a > left.a && m.a < right.a)) break;
        m.g = STRUT_(guard_at)(s, h, m.a, i, &m.r);
        if (sign * m.g > fuzz) return m.a;
        if ((m.r > R(0)) == (left.r > R(0))) left = m;
        else right = m;
        if (right.a - left.a < R(64) * STRUT_EPS) break;
    }
    return R(-1);
}

/* The root of guard i in (a, b], negative at a and not so at b: Newton's method from b or from `near`, bisecting where that
 * leaves the bracket or is slow. */
STRUT_FN strut_real STRUT_(root)(STRUT_(sim) * s, strut_real h, int i, strut_real a, strut_real b, strut_real near)
{
    strut_real m = near > a && near < b ? near : b, step = b - a, step_before = step, g_before = STRUT_MAX;
    for (int tries = 0; tries < 100; tries++) {
        strut_real r, g = STRUT_(guard_at)(s, h, m, i, &r), next = m - g / r;
        if (STRUT_FABS(next - m) <= R(4) * STRUT_EPS * m) return m;
        if (STRUT_FABS(next - m) <= R(1e7) * STRUT_EPS * m && R(2) * STRUT_FABS(g) > g_before) return m; /* rounding is left */
        g_before = STRUT_FABS(g);
        if (g < R(0)) a = m;
        else b = m;
        if (!(next > a && next < b) || R(2) * STRUT_FABS(g) > STRUT_FABS(step_before * r)) next = (a + b) / R(2);
        step_before = step;
        step = next - m;
        m = next;
        if (STRUT_FABS(step) <= R(4) * STRUT_EPS * m) break;
    }
    return m;
}

/* The fraction between two readings at which guard i begins to hold, or 2 if it does not. */
STRUT_FN strut_real STRUT_(between)(STRUT_(sim) * s, strut_real h, int i, STRUT_(reading) left, STRUT_(reading) right)
{
    strut_real fuzz = STRUT_(fuzz)(s, i, s->r_new[i]), a = left.a, b = right.a, near = R(-1);
    if (!left.holds && !right.holds) { /* up and down again? */
        if (!(left.r > R(0) && right.r < R(0))) return R(2);
        STRUT_(cover)(s, h);
        b = STRUT_(extremum)(s, h, i, left, right, R(1), fuzz);
        if (b < R(0)) return R(2);
    } else if (!right.holds) {
        return R(2);
    } else if (left.holds || left.g >= R(0)) { /* down and up again? */
        int leaves = left.r < R(0) && right.r > R(0);
        if (left.holds && !leaves) return R(2);
        STRUT_(cover)(s, h);
        a = leaves ? STRUT_(extremum)(s, h, i, left, right, R(-1), left.holds ? fuzz : R(0)) : R(-1);
        if (a < R(0)) return left.holds ? R(2) : left.a;
    }
    if (a == left.a && !(left.g < R(0))) return a;
    STRUT_(cover)(s, h);
    if (a == left.a && b == right.a && left.g < -fuzz && left.r > R(0))
        near = a + (b - a) * left.g / (left.g - right.g); /* the secant; one that only just left zero crosses it late */
    return STRUT_(root)(s, h, i, a, b, near);
}

/* Can the guard not cross zero between two readings, or only as its ends show? So if it is too far from zero to reach
 * it; or if it runs one way and its rates explain its change (the trapezoidal rule). */
STRUT_FN int STRUT_(plain)(STRUT_(reading) left, STRUT_(reading) right, int turning)
{
    strut_real change = right.g - left.g, reach = strut_max(STRUT_FABS(left.r), STRUT_FABS(right.r));
    if (left.g * right.g > R(0)
        && strut_min(STRUT_FABS(left.g), STRUT_FABS(right.g)) > R(2) * strut_max(reach, STRUT_FABS(change))) return 1;
    if (!turning && reach > R(3) * STRUT_FABS(change)) return 0;
    return STRUT_FABS(change - (left.r + right.r) / R(2)) <= reach / R(6);
}

/* Is the guard over two pieces the cubic that its ends and rates make of it, and do its values move as far as its rates
 * say (those of a fast oscillation do not)? Rates are per piece. */
STRUT_FN int STRUT_(cubic)(STRUT_(reading) left, STRUT_(reading) middle, STRUT_(reading) right)
{
    strut_real reach = strut_max(STRUT_FABS(left.r), STRUT_FABS(right.r)), change = STRUT_FABS(right.g - left.g);
    strut_real guess = (left.g + right.g) / R(2) + (left.r - right.r) / R(4);
    strut_real moved = strut_max(STRUT_FABS(middle.g - left.g), STRUT_FABS(right.g - middle.g));
    return moved >= R(0.3) * reach && STRUT_FABS(middle.g - guess) <= R(0.05) * strut_max(R(2) * reach, change);
}

/* A guard where the trial step of length h begins and where it ends. */
STRUT_FN STRUT_(reading) STRUT_(at_begin)(const STRUT_(sim) * s, strut_real h, int i)
{
    STRUT_(reading) m;
    m.a = R(0);
    m.g = s->g[i];
    m.r = h * s->r[i];
    m.holds = s->holds[i];
    return m;
}

STRUT_FN STRUT_(reading) STRUT_(at_end)(const STRUT_(sim) * s, strut_real h, int i)
{
    STRUT_(reading) m;
    m.a = R(1);
    m.g = s->g_new[i];
    m.r = h * s->r_new[i];
    m.holds = STRUT_(positive)(s, i, s->g_new[i], s->r_new[i]);
    return m;
}

/* Is a guard simple in each of so many pieces of a step, and over every two of them? `at`: its readings at 64ths. */
STRUT_FN int STRUT_(simple)(const STRUT_(reading) * at, int pieces)
{
    int apart = 64 / pieces, simple = 1;
    for (int k = 0; k < 64 && simple; k += 2 * apart) {
        STRUT_(reading) m[3];
        for (int j = 0; j < 3; j++) {
            m[j] = at[k + j * apart];
            m[j].r /= (strut_real)pieces; /* per piece, to compare */
        }
        simple = STRUT_(plain)(m[0], m[1], 1) && STRUT_(plain)(m[1], m[2], 1) && STRUT_(cubic)(m[0], m[1], m[2]);
    }
    return simple;
}

/* The first fraction at which guard i begins to hold in one of so many pieces of a step, or 2 if in none. */
STRUT_FN strut_real STRUT_(first_between)(STRUT_(sim) * s, strut_real h, int i, const STRUT_(reading) * at, int pieces)
{
    int apart = 64 / pieces;
    for (int k = 0; k < 64; k += apart) {
        strut_real a = STRUT_(between)(s, h, i, at[k], at[k + apart]);
        if (a <= R(1)) return a;
    }
    return R(2);
}

/* The fractions of the trial step at which several guards first begin to hold, of which two ends do not tell the whole
 * story, each into its place of `found`: 2 if it does not, 3 if it is not simple even in 64 pieces of the dense output,
 * and the step may be shortened. They are looked at together, in 4 pieces, 16 and 64, until each is simple. */
STRUT_CALLED void STRUT_(crossings)(STRUT_(sim) * s, strut_real h, const int32_t *who, int count, strut_real *found)
{
    strut_real g[STRUT_SLOTS(STRUT_NG)], r[STRUT_SLOTS(STRUT_NG)];
    STRUT_(reading) at[STRUT_BUNDLE][65];
    int left = count;
    STRUT_(cover)(s, h);
    for (int n = 0; n < count; n++) {
        found[n] = R(-1);
        at[n][0] = STRUT_(at_begin)(s, h, who[n]);
        at[n][64] = STRUT_(at_end)(s, h, who[n]);
    }
    for (int pieces = 4; pieces <= 64 && left > 0; pieces *= 4) {
        int apart = 64 / pieces;
        for (int k = apart; k < 64; k += apart) {
            strut_real a = (strut_real)k / R(64);
            if (k % (4 * apart) == 0) continue; /* known from the pieces before */
            STRUT_(guards_at)(s, h, a, g, r);
            for (int n = 0; n < count; n++) {
                STRUT_(reading) *m = &at[n][k];
                m->a = a;
                m->g = g[who[n]];
                m->r = h * r[who[n]];
                m->holds = STRUT_(positive)(s, who[n], m->g, r[who[n]]);
            }
        }
        for (int n = 0; n < count; n++) {
            int simple;
            if (found[n] >= R(0)) continue;
            simple = STRUT_(simple)(at[n], pieces);
            if (!simple && pieces < 64) continue;
            found[n] = !simple && s->may_shrink ? R(3) : STRUT_(first_between)(s, h, who[n], at[n], pieces);
            left--;
        }
    }
}

/* Where events are looked for in a step: which guard is the first to begin to hold, at which fraction of it; and those
 * that wait to be looked at together. */
typedef struct {
    strut_real first;
    int32_t who, lost, waiting, bundle[STRUT_BUNDLE];
} STRUT_(lookout);

STRUT_FN void STRUT_(note_crossing)(STRUT_(lookout) * o, int i, strut_real a)
{
    if (a > R(2)) o->lost = 1;
    if (a < o->first || (a == o->first && a < R(2) && i < o->who)) {
        o->first = a;
        o->who = (int32_t)i;
    }
}

STRUT_FN void STRUT_(look_at_waiting)(STRUT_(sim) * s, strut_real h, STRUT_(lookout) * o)
{
    strut_real found[STRUT_BUNDLE];
    if (o->waiting) STRUT_(crossings)(s, h, o->bundle, o->waiting, found);
    for (int n = 0; n < o->waiting; n++) STRUT_(note_crossing)(o, o->bundle[n], found[n]);
    o->waiting = 0;
}

/* Shorten the trial step of length h to the first event in it: find the root on the dense output, then repeat the step
 * itself up to the event until the guard is zero to rounding. Returns the new length, with x_new, dx_new, g_new, r_new
 * at its end and the jumps due there marked pending; -1 if a guard turns too fast to be followed over such a step. */
STRUT_FN void STRUT_(implicit_shorten)(STRUT_(sim) * s, strut_real h, strut_real a);

STRUT_CALLED strut_real STRUT_(locate)(STRUT_(sim) * s, strut_real h)
{
    strut_real first, length = h, moved = h;
    STRUT_(lookout) o;
    int who;
    o.first = R(2);
    o.who = -1;
    o.lost = o.waiting = 0;
    STRUT_(look)(s, s->t + h, s->x_new, s->dx_new, s->g_new, s->r_new);
    for (int i = 0; i < STRUT_NG; i++) {
        STRUT_(reading) begin, end;
        if (!(s->on[i] > R(0))) continue;
        if (s->g_new[i] != s->g_new[i]) {
            s->status = STRUT_NOT_FINITE;
            s->cause = STRUT_(jump_of)[i];
            return h;
        }
        begin = STRUT_(at_begin)(s, h, i);
        end = STRUT_(at_end)(s, h, i);
        if (STRUT_(plain)(begin, end, 0)) {
            STRUT_(note_crossing)(&o, i, STRUT_(between)(s, h, i, begin, end));
            continue;
        }
        o.bundle[o.waiting++] = (int32_t)i;
        if (o.waiting == STRUT_BUNDLE) STRUT_(look_at_waiting)(s, h, &o);
    }
    STRUT_(look_at_waiting)(s, h, &o);
    first = o.first;
    who = o.who;
    if (o.lost) return R(-1);
    if (who < 0) return h;
    if (first < R(1) && strut_kind_of(s->options.method) == STRUT_KIND_IMPLICIT) {
        length = first * h;
        STRUT_(implicit_shorten)(s, h, first);
        STRUT_(look)(s, s->t + length, s->x_new, s->dx_new, s->g_new, s->r_new);
    } else if (first < R(1)) {
        length = first * h;
        for (int tries = 0; tries < 8; tries++) {
            strut_real change;
            if (!(STRUT_(trial)(s, length) <= R(1))) STRUT_(rate)(s, s->t + length, s->x_new, s->dx_new);
            STRUT_(look)(s, s->t + length, s->x_new, s->dx_new, s->g_new, s->r_new);
            change = -s->g_new[who] / s->r_new[who];
            if (!(STRUT_FABS(change) < moved / R(2))) break; /* no longer converging; also true of a zero rate */
            if (STRUT_FABS(change) <= STRUT_EPS * strut_max(STRUT_FABS(s->t), length)) break;
            if (length + change <= R(0) || length + change > h || tries == 7) break;
            moved = STRUT_FABS(change);
            length += change;
        }
    }
    for (int i = 0; i < STRUT_NG; i++)
        if (s->on[i] > R(0) && (i == who || (!s->holds[i] && STRUT_(positive)(s, i, s->g_new[i], s->r_new[i]))))
            s->pending[STRUT_(jump_of)[i]] = 1;
    return length;
}

/* Has guard i fired so often, so closely, that its events accumulate? Either the gaps shrink geometrically and what is
 * left of their sum is nothing; or it chatters without the clock moving; or it crawls, events apart by no more than what
 * counts as nothing, so many of them that the steps allowed do not suffice for the time that remains. */
STRUT_FN int STRUT_(accumulates)(STRUT_(sim) * s, int i, strut_real remaining)
{
    strut_real gap = s->fired[i] > -STRUT_MAX ? s->t - s->fired[i] : STRUT_MAX, near_zero = s->options.zeno * strut_max(R(1), STRUT_FABS(s->t)), ratio;
    ratio = s->gap[i] > R(0) && s->gap[i] < STRUT_MAX ? gap / s->gap[i] : R(2);
    s->shrinking[i] = ratio < R(1) && gap * ratio / (R(1) - ratio) < near_zero ? s->shrinking[i] + 1 : 0;
    if (gap * R(64) < near_zero) s->chatter[i] += 4;
    else if (gap < near_zero && gap * (strut_real)s->options.max_steps < remaining) s->chatter[i]++;
    else s->chatter[i] = 0;
    s->fired[i] = s->t;
    s->gap[i] = gap;
    return s->shrinking[i] >= 3 || s->chatter[i] >= 256;
}
