/* strut runtime, for WebAssembly: one run in a memory of its own, and what a page asks of it. Not part of an export as C.
 *
 * Numbers go in and out through arrays: address(which) says where one is. Included after the model and strut_run.h; the
 * model also gives `initial`, `views` (further functions of the state, see wasm_module.py) and STRUT_NV and STRUT_NA. */

#define STRUT_EXPORT(name) __attribute__((export_name(#name)))
enum { STRUT_STOPPED_AT_JUMP = 100, STRUT_REPORT_SIZE = 10 };

static STRUT_(sim) strut_run_of_module;
static strut_options strut_options_of_module;
static double strut_p[STRUT_SLOTS(STRUT_NP)], strut_u[STRUT_SLOTS(STRUT_NU)], strut_x[STRUT_SLOTS(STRUT_N)];
static double strut_z[STRUT_SLOTS(STRUT_NZ)], strut_y[STRUT_SLOTS(STRUT_NY)], strut_seen[STRUT_SLOTS(STRUT_NV)];
static double strut_asked[STRUT_SLOTS(STRUT_NA)], strut_report[STRUT_REPORT_SIZE];
static double strut_counts[STRUT_SLOTS(STRUT_NJ)], strut_times[STRUT_SLOTS(STRUT_NJ)], strut_stops[STRUT_SLOTS(STRUT_NJ)];
static uint64_t strut_seed;

/* The arrays: p, u, x, z as a run begins with them and as it stands; outputs y; what a view shows, and what it was asked;
 * a report; and by jump how often it happened, when last, and whether run_to_stop ends after it. */
STRUT_EXPORT(address) double *strut_address(int which)
{
    double *const places[] = {strut_p, strut_u, strut_x, strut_z, strut_y, strut_seen, strut_asked, strut_report,
                              strut_counts, strut_times, strut_stops};
    return places[which];
}

static void strut_tell(void)
{
    const STRUT_(sim) *s = &strut_run_of_module;
    for (int i = 0; i < STRUT_NX; i++) strut_x[i] = s->x[i];
    for (int i = 0; i < STRUT_NZ; i++) strut_z[i] = s->z[i];
    strut_report[0] = s->t;
    strut_report[1] = s->status;
    strut_report[2] = s->cause;
    strut_report[3] = s->culprit;
    strut_report[4] = (double)s->steps;
    strut_report[5] = (double)s->rejected;
    strut_report[6] = (double)s->flows;
    strut_report[7] = (double)s->jumps;
    strut_report[8] = s->jump;
}

/* Options as the system has them, and the states with which a run begins, of the parameters. */
STRUT_EXPORT(reset) void strut_reset(void)
{
    strut_options_of_module = strut_defaults();
    strut_options_of_module.method = STRUT_MODULE_METHOD;
    strut_options_of_module.step = STRUT_MODULE_STEP;
    STRUT_(initial)(strut_p, strut_x, strut_z);
}

/* The states with which a run begins, of the parameters. */
STRUT_EXPORT(initial) void strut_initial(void) { STRUT_(initial)(strut_p, strut_x, strut_z); }

/* Errors that are allowed, the longest step, and the most steps of a run; what is not positive stays as it is. */
STRUT_EXPORT(options) void strut_set_options(double rtol, double atol, double max_step, double max_steps)
{
    if (rtol > 0) strut_options_of_module.rtol = rtol;
    if (atol > 0) strut_options_of_module.atol = atol;
    if (max_step > 0) strut_options_of_module.max_step = max_step;
    if (max_steps > 0) strut_options_of_module.max_steps = (int64_t)max_steps;
}
STRUT_EXPORT(seed) void strut_set_seed(double seed) { strut_seed = (uint64_t)seed; }

/* Begin a run at t, from the arrays p, u, x and z. */
STRUT_EXPORT(begin) void strut_begin(double t)
{
    for (int j = 0; j < STRUT_NJ; j++) strut_counts[j] = 0.0, strut_times[j] = -STRUT_MAX;
    STRUT_(begin)(&strut_run_of_module, &strut_options_of_module, t, strut_x, strut_z, strut_u, strut_p,
                  strut_stream(strut_seed, 0), 0, 0);
    strut_tell();
}

/* Go on from where the run stands with other parameters, inputs or states: those in the arrays. */
STRUT_EXPORT(retune) void strut_retune(void)
{
    STRUT_(begin)(&strut_run_of_module, &strut_options_of_module, strut_run_of_module.t, strut_x, strut_z, strut_u, strut_p,
                  strut_stream(strut_seed, 0), 0, 0);
    strut_tell();
}

/* New inputs, those in the array u, held until the next call. */
STRUT_EXPORT(hold) void strut_hold(void) { STRUT_(hold)(&strut_run_of_module, strut_u); }

/* To t, or to whatever ends the run before; with `stops` nonzero also to just after a jump that is marked in the array of
 * stops. Returns the status, or STRUT_STOPPED_AT_JUMP. */
static int strut_go(double t, int stops)
{
    STRUT_(sim) *s = &strut_run_of_module;
    if (s->status == STRUT_DONE && t > s->t) s->status = STRUT_RUNNING;
    for (;;) {
        int did = STRUT_(advance)(s, t);
        if (did == STRUT_STOPPED) break;
        if (did != STRUT_JUMP) continue;
        strut_counts[s->jump] += 1.0;
        strut_times[s->jump] = s->t;
        if (stops && strut_stops[s->jump] != 0.0 && s->status == STRUT_RUNNING) {
            strut_tell();
            return STRUT_STOPPED_AT_JUMP;
        }
    }
    strut_tell();
    return s->status;
}
STRUT_EXPORT(run) int strut_run_to(double t) { return strut_go(t, 0); }
STRUT_EXPORT(run_to_stop) int strut_run_to_stop(double t) { return strut_go(t, 1); }

/* Outputs now, into the array y. */
STRUT_EXPORT(observe) void strut_observe(void)
{
    const STRUT_(sim) *s = &strut_run_of_module;
    STRUT_(outputs)(s->t, s->x, s->z, s->u, s->p, s->d, strut_y);
}

/* A view of the present state: a further function of the model, of what stands in the array `asked`; into `seen`. */
STRUT_EXPORT(see) void strut_see(int view)
{
    const STRUT_(sim) *s = &strut_run_of_module;
    strut_views(view, s->t, s->x, s->z, s->u, s->p, strut_asked, strut_seen);
}
