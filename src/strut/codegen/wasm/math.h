/* <math.h> of a module for WebAssembly, which has no C library: what the machine does itself, three functions of ours, and
 * the rest from outside, under the names of JavaScript's Math: {env: Math} is all that a module imports. */
#ifndef STRUT_WASM_MATH_H
#define STRUT_WASM_MATH_H

#define INFINITY (__builtin_inff())
#define NAN (__builtin_nanf(""))
/* By names of our own: compilers know sin, and forget where it comes from. */
#define STRUT_FROM_OUTSIDE(name) __attribute__((import_module("env"), import_name(#name)))

STRUT_FROM_OUTSIDE(sin) double strut_env_sin(double a);
#define sin strut_env_sin
STRUT_FROM_OUTSIDE(cos) double strut_env_cos(double a);
#define cos strut_env_cos
STRUT_FROM_OUTSIDE(tan) double strut_env_tan(double a);
#define tan strut_env_tan
STRUT_FROM_OUTSIDE(asin) double strut_env_asin(double a);
#define asin strut_env_asin
STRUT_FROM_OUTSIDE(acos) double strut_env_acos(double a);
#define acos strut_env_acos
STRUT_FROM_OUTSIDE(atan) double strut_env_atan(double a);
#define atan strut_env_atan
STRUT_FROM_OUTSIDE(atan2) double strut_env_atan2(double a, double b);
#define atan2 strut_env_atan2
STRUT_FROM_OUTSIDE(sinh) double strut_env_sinh(double a);
#define sinh strut_env_sinh
STRUT_FROM_OUTSIDE(cosh) double strut_env_cosh(double a);
#define cosh strut_env_cosh
STRUT_FROM_OUTSIDE(tanh) double strut_env_tanh(double a);
#define tanh strut_env_tanh
STRUT_FROM_OUTSIDE(asinh) double strut_env_asinh(double a);
#define asinh strut_env_asinh
STRUT_FROM_OUTSIDE(acosh) double strut_env_acosh(double a);
#define acosh strut_env_acosh
STRUT_FROM_OUTSIDE(atanh) double strut_env_atanh(double a);
#define atanh strut_env_atanh
STRUT_FROM_OUTSIDE(exp) double strut_env_exp(double a);
#define exp strut_env_exp
STRUT_FROM_OUTSIDE(expm1) double strut_env_expm1(double a);
#define expm1 strut_env_expm1
STRUT_FROM_OUTSIDE(log) double strut_env_log(double a);
#define log strut_env_log
STRUT_FROM_OUTSIDE(log1p) double strut_env_log1p(double a);
#define log1p strut_env_log1p
STRUT_FROM_OUTSIDE(pow) double strut_env_pow(double a, double b);
#define pow strut_env_pow
STRUT_FROM_OUTSIDE(hypot) double strut_env_hypot(double a, double b);
#define hypot strut_env_hypot

#define sqrt __builtin_sqrt
#define fabs __builtin_fabs
#define floor __builtin_floor
#define ceil __builtin_ceil
#define copysign __builtin_copysign

/* Of a number and none, the number. */
static inline double fmin(double a, double b) { return a < b || b != b ? a : b; }
static inline double fmax(double a, double b) { return a > b || b != b ? a : b; }

/* a - n b for the whole n towards zero, exactly: every difference below is exact, as both are within a factor of two. */
static inline double fmod(double a, double b)
{
    double rest = fabs(a), part = fabs(b);
    if (!(part > 0.0) || !(rest < INFINITY)) return NAN;
    while (rest >= part) {
        double most = part;
        while (most <= 0.5 * rest) most += most;
        rest -= most;
    }
    return copysign(rest, a);
}

/* a - n b for the whole n nearest to a / b, of two the even one. */
static inline double remainder(double a, double b)
{
    double part = fabs(b), rest = fabs(fmod(a, part + part < INFINITY ? part + part : part));
    if (rest != rest) return rest;
    if (rest > 0.5 * part) {
        rest -= part;
        if (rest >= 0.5 * part) rest -= part;
    }
    return a < 0.0 ? -rest : rest;
}

/* The error function: its series, and beyond 2.5 Laplace's continued fraction of what is left to 1. */
static inline double erf(double a)
{
    double size = fabs(a), term = size, sum = size, rest = 0.0;
    if (size != size) return a;
    if (size > 6.0) return copysign(1.0, a);
    if (size > 2.5) {
        for (int k = 120; k > 0; k--) rest = 0.5 * k / (size + rest);
        return copysign(1.0 - exp(-size * size) / (1.772453850905516 * (size + rest)), a);
    }
    for (int k = 1; k < 80; k++) {
        term *= -size * size / k;
        sum += term / (2 * k + 1);
    }
    return copysign(1.1283791670955126 * sum, a);
}

#endif
