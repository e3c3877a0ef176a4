/* strut runtime, host side: runs of a batch in the lanes of a core. */

#include <stdlib.h>

#include "strut_read_options.h"

/* Runs begin..end-1 of a batch, STRUT_LANES at a time. `options`: as strut_read_options reads them. Returns 0, or 1 where
 * there is no memory; then nothing was done. */
extern "C" STRUT_EXPORT int strut_lanes_batch(const double *options, const strut_many *b, int64_t begin, int64_t end)
{
    strut_options o = strut_read_options(options);
    size_t align = sizeof(strut_real), size = (sizeof(STRUT_(smooth)) + align - 1) / align * align;
    STRUT_(smooth) *s = (STRUT_(smooth) *)aligned_alloc(align, size);
    if (!s) return 1;
    for (int64_t run = begin; run < end; run += STRUT_LANES)
        STRUT_(smooth_runs)(s, &o, b, run, (int)(end - run < STRUT_LANES ? end - run : STRUT_LANES));
    free(s);
    return 0;
}
