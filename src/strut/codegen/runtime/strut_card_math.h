/* strut runtime: sines, inverses and roots for the threads of a graphics card. Those of CUDA branch to a function for
 * arguments that are rare, and every branch parts the long straight lines of a model: these have none, and what the sine
 * and the cosine of one angle share is computed once. They are within 2 units of the last place; angles beyond 1e9 (in
 * single precision 1e5) lose accuracy, and inverses of numbers below the smallest normal one are infinite.
 *
 * Included before strut_math.h, by nvcc and, to be tested, by a compiler for the processor. */
#ifndef STRUT_CARD_MATH_H
#define STRUT_CARD_MATH_H

#ifdef __CUDACC__
#define STRUT_CARD_FN static __device__ __forceinline__
#else
#include <math.h>
#include <stdint.h>
#include <string.h>
#define STRUT_CARD_FN static inline
#endif

#ifdef STRUT_FLOAT
typedef float strut_card_real;
#define STRUT_CARD_FMA fmaf
#else
typedef double strut_card_real;
#define STRUT_CARD_FMA fma
#endif
#define STRUT_CARD_R(literal) ((strut_card_real)(literal))

/* An angle less whole quarters of a turn, which is within an eighth of one, and how many quarters, modulo 4. Adding 1.5 times
 * a power of two leaves the nearest whole number in the last bits. */
STRUT_CARD_FN strut_card_real strut_card_reduce(strut_card_real a, int *quarters)
{
#ifdef STRUT_FLOAT
    const float shift = 12582912.0f, shifted = fmaf(a, 0.63661977f, shift), n = shifted - shift;
#ifdef __CUDACC__
    *quarters = __float_as_int(shifted);
#else
    int32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    *quarters = bits;
#endif
    return fmaf(n, 1.7151245100058819e-15f, fmaf(n, 4.371138828673793e-08f, fmaf(n, -1.5707963705062866f, a)));
#else
    const double shift = 6755399441055744.0, shifted = fma(a, 0.6366197723675814, shift), n = shifted - shift;
#ifdef __CUDACC__
    *quarters = __double2loint(shifted);
#else
    int64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    *quarters = (int)(bits & 3);
#endif
    return fma(n, 1.4973849048591698e-33, fma(n, -6.123233995736766e-17, fma(n, -1.5707963267948966, a)));
#endif
}

/* Polynomials in the square of the angle, by Chebyshev interpolation of (sin r / r - 1) / r^2 and (cos r - 1 + r^2 / 2) / r^4. */
STRUT_CARD_FN strut_card_real strut_card_sine_near_zero(strut_card_real r, strut_card_real square)
{
#ifdef STRUT_FLOAT
    const float rest = fmaf(fmaf(-1.9587570200538062e-4f, square, 8.332746785403564e-3f), square, -0.16666664654667668f);
#else
    double rest = fma(1.5917950583002814e-10, square, -2.505112936290209e-08);
    rest = fma(rest, square, 2.7557316090635477e-06);
    rest = fma(rest, square, -0.00019841269836735586);
    rest = fma(rest, square, 0.008333333333330934);
    rest = fma(rest, square, -0.16666666666666666);
#endif
    return STRUT_CARD_FMA(rest * square, r, r);
}

STRUT_CARD_FN strut_card_real strut_card_cosine_near_zero(strut_card_real square)
{
#ifdef STRUT_FLOAT
    const float rest = fmaf(fmaf(2.454762072888085e-05f, square, -1.388830154765279e-3f), square, 4.166666465184117e-2f);
#else
    double rest = fma(-1.1382520624874583e-11, square, 2.087614471563214e-09);
    rest = fma(rest, square, -2.755731726427476e-07);
    rest = fma(rest, square, 2.4801587298751307e-05);
    rest = fma(rest, square, -0.0013888888888887387);
    rest = fma(rest, square, 0.041666666666666664);
#endif
    return STRUT_CARD_FMA(rest * square, square, STRUT_CARD_FMA(square, STRUT_CARD_R(-0.5), STRUT_CARD_R(1)));
}

/* sin(a + turn quarters of a turn) */
STRUT_CARD_FN strut_card_real strut_card_turned_sine(strut_card_real a, int turn)
{
    int quarters;
    const strut_card_real r = strut_card_reduce(a, &quarters), square = r * r;
    const strut_card_real sine = strut_card_sine_near_zero(r, square), cosine = strut_card_cosine_near_zero(square);
    const strut_card_real value = (quarters + turn) & 1 ? cosine : sine;
    return (quarters + turn) & 2 ? -value : value;
}

STRUT_CARD_FN strut_card_real strut_card_sin(strut_card_real a) { return strut_card_turned_sine(a, 0); }
STRUT_CARD_FN strut_card_real strut_card_cos(strut_card_real a) { return strut_card_turned_sine(a, 1); }

/* First guesses of 1 / a and 1 / sqrt(a), of at least 20 bits. */
STRUT_CARD_FN strut_card_real strut_card_rough_inverse(strut_card_real a)
{
#if defined(__CUDACC__) && defined(STRUT_FLOAT)
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
#elif defined(__CUDACC__)
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
    return y;
#else
    return STRUT_CARD_R(1) / a * STRUT_CARD_R(1.000001); /* as rough as that of a card */
#endif
}

STRUT_CARD_FN strut_card_real strut_card_rough_inverse_root(strut_card_real a)
{
#if defined(__CUDACC__) && defined(STRUT_FLOAT)
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(a));
    return y;
#elif defined(__CUDACC__)
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(a));
    return y;
#else
    return STRUT_CARD_R(1) / STRUT_CARD_R(sqrt(a)) * STRUT_CARD_R(1.000001);
#endif
}

/* 1 / a by Newton's iteration; where that has no number (a is 0 or infinite) the guess is exact. */
STRUT_CARD_FN strut_card_real strut_card_inverse(strut_card_real a)
{
    const strut_card_real guess = strut_card_rough_inverse(a);
    strut_card_real y = STRUT_CARD_FMA(guess, STRUT_CARD_FMA(-a, guess, STRUT_CARD_R(1)), guess);
#ifndef STRUT_FLOAT
    y = STRUT_CARD_FMA(y, STRUT_CARD_FMA(-a, y, STRUT_CARD_R(1)), y);
#endif
    return y == y ? y : guess;
}

/* sqrt(a), by Goldschmidt's iteration. */
STRUT_CARD_FN strut_card_real strut_card_sqrt(strut_card_real a)
{
    const strut_card_real guess = strut_card_rough_inverse_root(a);
    strut_card_real root = a * guess, half = STRUT_CARD_R(0.5) * guess, gap;
#ifndef STRUT_FLOAT
    gap = STRUT_CARD_FMA(-half, root, STRUT_CARD_R(0.5));
    root = STRUT_CARD_FMA(root, gap, root);
    half = STRUT_CARD_FMA(half, gap, half);
#endif
    gap = STRUT_CARD_FMA(-root, root, a);
    root = STRUT_CARD_FMA(gap, half, root);
#ifdef STRUT_FLOAT
    return a > STRUT_CARD_R(1e-37) || a != a || a < STRUT_CARD_R(0) ? root : STRUT_CARD_R(0);
#else
    return a > STRUT_CARD_R(1e-300) || a != a || a < STRUT_CARD_R(0) ? root : STRUT_CARD_R(0);
#endif
}

/* As fmin and fmax of <math.h>: of a number and none, the number. */
STRUT_CARD_FN strut_card_real strut_card_fmin(strut_card_real a, strut_card_real b) { return a < b || b != b ? a : b; }
STRUT_CARD_FN strut_card_real strut_card_fmax(strut_card_real a, strut_card_real b) { return a > b || b != b ? a : b; }

#ifndef STRUT_SIN
#define STRUT_SIN(a) strut_card_sin(a)
#endif
#ifndef STRUT_COS
#define STRUT_COS(a) strut_card_cos(a)
#endif
#ifndef STRUT_INVERSE
#define STRUT_INVERSE(a) strut_card_inverse(a)
#endif
#ifndef STRUT_SQRT
#define STRUT_SQRT(a) strut_card_sqrt(a)
#endif
#ifndef STRUT_FMIN
#define STRUT_FMIN(a, b) strut_card_fmin(a, b)
#endif
#ifndef STRUT_FMAX
#define STRUT_FMAX(a, b) strut_card_fmax(a, b)
#endif

#endif
