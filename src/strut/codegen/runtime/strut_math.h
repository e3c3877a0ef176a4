/* strut runtime: the real type, the mathematics and random numbers.
 *
 * Everything the runtime and a generated model need of the outside world is named here, so that
 *   -DSTRUT_FLOAT          makes every number a float instead of a double,
 *   -DSTRUT_SIN=my_sin     (or COS, TAN, SQRT, EXP, ...) replaces one function of <math.h>,
 *   nvcc                   sees the whole runtime as device code.
 */
#ifndef STRUT_MATH_H
#define STRUT_MATH_H

#ifdef __CUDACC_RTC__
#include "strut_without_libc.h"
#else
#include <float.h>
#include <math.h>
#include <stdint.h>
#endif

#ifdef STRUT_FLOAT
typedef float strut_number;
#define STRUT_EPS FLT_EPSILON
#define STRUT_MAX FLT_MAX
#else
typedef double strut_number;
#define STRUT_EPS DBL_EPSILON
#define STRUT_MAX DBL_MAX
#endif

/* The real type is one number; elsewhere it may be several, one of each of several runs. */
#ifndef STRUT_LANES
#define STRUT_LANES 1
typedef strut_number strut_real;
#define STRUT_LANE(number, lane) (number)
#ifdef STRUT_FLOAT
#define STRUT_CALL(function) function##f
#else
#define STRUT_CALL(function) function
#endif
#endif

/* A literal of the real type. The cast is done by the compiler, not at run time. */
#define R(literal) ((strut_real)(literal))
#define STRUT_INF ((strut_real)INFINITY)
#define STRUT_NAN ((strut_real)NAN)

#ifdef __CUDACC__
#define STRUT_FN static __device__ inline
#define STRUT_PART static __device__ __noinline__
#define STRUT_CALLED static __device__ __noinline__
#define STRUT_TABLE static __device__ const
#define STRUT_RESTRICT __restrict__
#else
#define STRUT_FN static inline
#if defined(__GNUC__) || defined(__clang__)
#define STRUT_PART static __attribute__((noinline))
#else
#define STRUT_PART static
#endif
#define STRUT_TABLE static const
#ifndef __cplusplus
#define STRUT_RESTRICT restrict
#elif defined(__GNUC__) || defined(__clang__) || defined(_MSC_VER)
#define STRUT_RESTRICT __restrict
#else
#define STRUT_RESTRICT
#endif
#endif

/* Parts of long resets, which run once in many steps. */
#ifndef STRUT_RARE
#define STRUT_RARE STRUT_PART
#endif

/* What many places call, and takes long: on a graphics card its code stands once, else it would be compiled for minutes. */
#ifndef STRUT_CALLED
#define STRUT_CALLED STRUT_FN
#endif

/* Functions that are loops over like terms. */
#ifndef STRUT_LOOPS
#define STRUT_LOOPS STRUT_FN
#endif

/* C has no empty arrays: a model without inputs still owns one unused slot. */
#define STRUT_SLOTS(n) ((n) > 0 ? (n) : 1)

#ifndef STRUT_INVERSE
#define STRUT_INVERSE(a) (R(1) / (a))
#endif
#ifndef STRUT_SIN
#define STRUT_SIN(a) STRUT_CALL(sin)(a)
#endif
#ifndef STRUT_COS
#define STRUT_COS(a) STRUT_CALL(cos)(a)
#endif
#ifndef STRUT_TAN
#define STRUT_TAN(a) STRUT_CALL(tan)(a)
#endif
#ifndef STRUT_ASIN
#define STRUT_ASIN(a) STRUT_CALL(asin)(a)
#endif
#ifndef STRUT_ACOS
#define STRUT_ACOS(a) STRUT_CALL(acos)(a)
#endif
#ifndef STRUT_ATAN
#define STRUT_ATAN(a) STRUT_CALL(atan)(a)
#endif
#ifndef STRUT_ATAN2
#define STRUT_ATAN2(a, b) STRUT_CALL(atan2)(a, b)
#endif
#ifndef STRUT_SINH
#define STRUT_SINH(a) STRUT_CALL(sinh)(a)
#endif
#ifndef STRUT_COSH
#define STRUT_COSH(a) STRUT_CALL(cosh)(a)
#endif
#ifndef STRUT_TANH
#define STRUT_TANH(a) STRUT_CALL(tanh)(a)
#endif
#ifndef STRUT_ASINH
#define STRUT_ASINH(a) STRUT_CALL(asinh)(a)
#endif
#ifndef STRUT_ACOSH
#define STRUT_ACOSH(a) STRUT_CALL(acosh)(a)
#endif
#ifndef STRUT_ATANH
#define STRUT_ATANH(a) STRUT_CALL(atanh)(a)
#endif
#ifndef STRUT_EXP
#define STRUT_EXP(a) STRUT_CALL(exp)(a)
#endif
#ifndef STRUT_EXPM1
#define STRUT_EXPM1(a) STRUT_CALL(expm1)(a)
#endif
#ifndef STRUT_LOG
#define STRUT_LOG(a) STRUT_CALL(log)(a)
#endif
#ifndef STRUT_LOG1P
#define STRUT_LOG1P(a) STRUT_CALL(log1p)(a)
#endif
#ifndef STRUT_POW
#define STRUT_POW(a, b) STRUT_CALL(pow)(a, b)
#endif
#ifndef STRUT_SQRT
#define STRUT_SQRT(a) STRUT_CALL(sqrt)(a)
#endif
#ifndef STRUT_HYPOT
#define STRUT_HYPOT(a, b) STRUT_CALL(hypot)(a, b)
#endif
#ifndef STRUT_ERF
#define STRUT_ERF(a) STRUT_CALL(erf)(a)
#endif
#ifndef STRUT_FLOOR
#define STRUT_FLOOR(a) STRUT_CALL(floor)(a)
#endif
#ifndef STRUT_CEIL
#define STRUT_CEIL(a) STRUT_CALL(ceil)(a)
#endif
#ifndef STRUT_FMOD
#define STRUT_FMOD(a, b) STRUT_CALL(fmod)(a, b)
#endif
#ifndef STRUT_REMAINDER
#define STRUT_REMAINDER(a, b) STRUT_CALL(remainder)(a, b)
#endif
#ifndef STRUT_FABS
#define STRUT_FABS(a) STRUT_CALL(fabs)(a)
#endif
#ifndef STRUT_FMIN
#define STRUT_FMIN(a, b) STRUT_CALL(fmin)(a, b)
#endif
#ifndef STRUT_FMAX
#define STRUT_FMAX(a, b) STRUT_CALL(fmax)(a, b)
#endif
#ifndef STRUT_COPYSIGN
#define STRUT_COPYSIGN(a, b) STRUT_CALL(copysign)(a, b)
#endif

#if STRUT_LANES == 1
#define STRUT_IF_ELSE_ZERO(condition, a) ((condition) != R(0) ? (a) : R(0))
STRUT_FN strut_real strut_sign(strut_real a) { return a > R(0) ? R(1) : (a < R(0) ? R(-1) : a); }
STRUT_FN strut_real strut_sq(strut_real a) { return a * a; }
STRUT_FN strut_real strut_min(strut_real a, strut_real b) { return a < b ? a : b; }
STRUT_FN strut_real strut_max(strut_real a, strut_real b) { return a > b ? a : b; }

/* ---- random numbers: splitmix64, one stream per run, the n-th draw a function of (stream, n) alone ---- */

STRUT_FN uint64_t strut_mix(uint64_t a)
{
    a += UINT64_C(0x9E3779B97F4A7C15);
    a = (a ^ (a >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    a = (a ^ (a >> 27)) * UINT64_C(0x94D049BB133111EB);
    return a ^ (a >> 31);
}

STRUT_FN uint64_t strut_stream(uint64_t seed, uint64_t run) { return strut_mix(strut_mix(seed) ^ run); }

/* Uniform on [0, 1): 24 bits survive in a float, 53 in a double. */
STRUT_FN strut_real strut_uniform(uint64_t stream, uint64_t *draws)
{
    uint64_t bits = strut_mix(stream + (*draws)++ * UINT64_C(0x9E3779B97F4A7C15));
#ifdef STRUT_FLOAT
    return (strut_real)(bits >> 40) * R(5.9604644775390625e-08);
#else
    return (strut_real)(bits >> 11) * R(1.1102230246251565e-16);
#endif
}

/* Standard normal, by Box and Muller. */
STRUT_FN strut_real strut_normal(uint64_t stream, uint64_t *draws)
{
    strut_real a = R(1) - strut_uniform(stream, draws), b = strut_uniform(stream, draws);
    return STRUT_SQRT(R(-2) * STRUT_LOG(a)) * STRUT_COS(R(6.283185307179586) * b);
}

#endif

#endif
