/* strut runtime: what it needs of <float.h>, <math.h> and <stdint.h>, for NVRTC, which has no headers of a C library. */

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#define INT64_C(number) number##LL
#define UINT32_C(number) number##U
#define UINT64_C(number) number##ULL
#define FLT_EPSILON 1.1920928955078125e-07f
#define FLT_MAX 3.4028234663852886e+38f
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MAX 1.7976931348623157e+308
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
