/* strut runtime: numbers in lanes. `strut_real` is then STRUT_LANES numbers, one of each of as many runs, in the vector
 * registers of one core; the text of a model is compiled with it as it is. Included before strut_math.h. C++, with the vector types of GCC and Clang. */

#include <math.h>

#ifdef STRUT_FLOAT
#define STRUT_SCALAR(function) function##f
typedef float strut_vector __attribute__((vector_size(STRUT_LANES * sizeof(float))));
#else
#define STRUT_SCALAR(function) function
typedef double strut_vector __attribute__((vector_size(STRUT_LANES * sizeof(double))));
#endif
typedef decltype(strut_vector() < strut_vector()) strut_truths;

/* What a comparison gives: of every lane yes or no. */
struct strut_mask {
    strut_truths m;
};

struct strut_real {
    strut_vector v;
    strut_real() = default;
    strut_real(double a) : v(strut_vector{} + (decltype(v[0] + v[0]))a) {}
    strut_real(strut_vector a) : v(a) {}
    explicit strut_real(strut_mask a) : v(a.m ? strut_vector{} + 1 : strut_vector{}) {}
};

static inline strut_real operator+(strut_real a, strut_real b) { return a.v + b.v; }
static inline strut_real operator-(strut_real a, strut_real b) { return a.v - b.v; }
static inline strut_real operator*(strut_real a, strut_real b) { return a.v * b.v; }
static inline strut_real operator/(strut_real a, strut_real b) { return a.v / b.v; }
static inline strut_real operator-(strut_real a) { return -a.v; }
static inline strut_real &operator+=(strut_real &a, strut_real b) { a.v += b.v; return a; }
static inline strut_real &operator-=(strut_real &a, strut_real b) { a.v -= b.v; return a; }
static inline strut_mask operator<(strut_real a, strut_real b) { return {a.v < b.v}; }
static inline strut_mask operator<=(strut_real a, strut_real b) { return {a.v <= b.v}; }
static inline strut_mask operator>(strut_real a, strut_real b) { return {a.v > b.v}; }
static inline strut_mask operator>=(strut_real a, strut_real b) { return {a.v >= b.v}; }
static inline strut_mask operator==(strut_real a, strut_real b) { return {a.v == b.v}; }
static inline strut_mask operator!=(strut_real a, strut_real b) { return {a.v != b.v}; }
static inline strut_mask operator&&(strut_mask a, strut_mask b) { return {a.m & b.m}; }
static inline strut_mask operator||(strut_mask a, strut_mask b) { return {a.m | b.m}; }
static inline strut_real strut_choose(strut_mask c, strut_real a, strut_real b) { return c.m ? a.v : b.v; }

/* Functions of <math.h>, lane by lane. */
#define STRUT_EACH(name, function) \
    static inline strut_real strut_##name(strut_real a) \
    { \
        for (int l = 0; l < STRUT_LANES; l++) a.v[l] = function(a.v[l]); \
        return a; \
    }
#define STRUT_EACH_PAIR(name, function) \
    static inline strut_real strut_##name(strut_real a, strut_real b) \
    { \
        for (int l = 0; l < STRUT_LANES; l++) a.v[l] = function(a.v[l], b.v[l]); \
        return a; \
    }

/* Those that glibc has for whole registers, as <libmvec.so> exports them; they are within 4 units of the last place. */
#ifdef STRUT_VECTOR_LIBRARY
#define STRUT_WHOLE_(name, symbol) \
    extern "C" strut_vector symbol(strut_vector); \
    static inline strut_real strut_##name(strut_real a) { return symbol(a.v); }
#define STRUT_WHOLE_PAIR_(name, symbol) \
    extern "C" strut_vector symbol(strut_vector, strut_vector); \
    static inline strut_real strut_##name(strut_real a, strut_real b) { return symbol(a.v, b.v); }
#define STRUT_SYMBOL__(abi, lanes, kinds, function) _ZGV##abi##N##lanes##kinds##_##function
#define STRUT_SYMBOL_(abi, lanes, kinds, function) STRUT_SYMBOL__(abi, lanes, kinds, function)
#ifdef STRUT_FLOAT
#define STRUT_WHOLE(name) STRUT_WHOLE_(name, STRUT_SYMBOL_(STRUT_VECTOR_LIBRARY, STRUT_LANES, v, name##f))
#define STRUT_WHOLE_PAIR(name) STRUT_WHOLE_PAIR_(name, STRUT_SYMBOL_(STRUT_VECTOR_LIBRARY, STRUT_LANES, vv, name##f))
#else
#define STRUT_WHOLE(name) STRUT_WHOLE_(name, STRUT_SYMBOL_(STRUT_VECTOR_LIBRARY, STRUT_LANES, v, name))
#define STRUT_WHOLE_PAIR(name) STRUT_WHOLE_PAIR_(name, STRUT_SYMBOL_(STRUT_VECTOR_LIBRARY, STRUT_LANES, vv, name))
#endif
#else
#define STRUT_WHOLE(name) STRUT_EACH(name, STRUT_SCALAR(name))
#define STRUT_WHOLE_PAIR(name) STRUT_EACH_PAIR(name, STRUT_SCALAR(name))
#endif

STRUT_WHOLE(sin)
STRUT_WHOLE(cos)
STRUT_WHOLE(exp)
STRUT_WHOLE(log)
STRUT_WHOLE_PAIR(pow)
STRUT_EACH(tan, STRUT_SCALAR(tan))
STRUT_EACH(asin, STRUT_SCALAR(asin))
STRUT_EACH(acos, STRUT_SCALAR(acos))
STRUT_EACH(atan, STRUT_SCALAR(atan))
STRUT_EACH_PAIR(atan2, STRUT_SCALAR(atan2))
STRUT_EACH(sinh, STRUT_SCALAR(sinh))
STRUT_EACH(cosh, STRUT_SCALAR(cosh))
STRUT_EACH(tanh, STRUT_SCALAR(tanh))
STRUT_EACH(asinh, STRUT_SCALAR(asinh))
STRUT_EACH(acosh, STRUT_SCALAR(acosh))
STRUT_EACH(atanh, STRUT_SCALAR(atanh))
STRUT_EACH(expm1, STRUT_SCALAR(expm1))
STRUT_EACH(log1p, STRUT_SCALAR(log1p))
STRUT_EACH(sqrt, STRUT_SCALAR(sqrt))
STRUT_EACH_PAIR(hypot, STRUT_SCALAR(hypot))
STRUT_EACH(erf, STRUT_SCALAR(erf))
STRUT_EACH(floor, STRUT_SCALAR(floor))
STRUT_EACH(ceil, STRUT_SCALAR(ceil))
STRUT_EACH_PAIR(fmod, STRUT_SCALAR(fmod))
STRUT_EACH_PAIR(remainder, STRUT_SCALAR(remainder))
STRUT_EACH_PAIR(copysign, STRUT_SCALAR(copysign))
static inline strut_real strut_fabs(strut_real a) { return a.v < 0 ? -a.v : a.v; }
/* As fmin and fmax of <math.h>: of a number and none, the number. */
static inline strut_real strut_fmin(strut_real a, strut_real b) { return (a.v < b.v) | (b.v != b.v) ? a.v : b.v; }
static inline strut_real strut_fmax(strut_real a, strut_real b) { return (a.v > b.v) | (b.v != b.v) ? a.v : b.v; }
static inline strut_real strut_sign(strut_real a)
{
    strut_vector one = strut_vector{} + 1;
    return a.v > 0 ? one : (a.v < 0 ? -one : a.v);
}

#define STRUT_CALL(function) strut_##function
#define STRUT_LANE(number, lane) (number).v[lane]
#define STRUT_IF_ELSE_ZERO(condition, a) strut_choose((condition) != R(0), a, R(0))
