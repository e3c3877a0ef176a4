/* strut: a controller as the simulator calls it, a strut_controller: sensors are picked from states and discrete
 * states, commands are put where its inputs are. */
STRUT_EXPORT void strut_act(double t, const double *x, const double *z, const double *p, double *u, void *data)
{
    STRUT_(loop) *c = data;
    double s[STRUT_SLOTS(STRUT_NS)];
    int i;
    (void)p;
    for (i = 0; i < STRUT_NS; i++) s[i] = c->from[i] >= 0 ? x[c->from[i]] : z[-1 - c->from[i]];
    STRUT_(sample)(c, t, s);
    for (i = 0; i < STRUT_NU; i++) u[c->to[i]] = c->u[i];
}
STRUT_EXPORT int strut_sample(void *data, double t, const double *s) { return STRUT_(sample)(data, t, s); }
