/* strut runtime, host side: runs of a batch in the lanes of a core. */

#include <stdlib.h>

#include "strut_read_options.h"

/* Runs begin..end-1 of a batch, STRUT_LANES at a time. One that comes to an event is left where its step before it began,
 * with status STRUT_RUNNING. `options`: as strut_read_options reads them. Returns 0, or 1 where
 * there is no memory; then nothing was done. */
extern "C" STRUT_EXPORT int strut_lanes_batch(const strut_option_numbers *options, const strut_many *b, int64_t begin, int64_t end)
{
    strut_options o = strut_read_options(options);
    size_t align = sizeof(strut_real), size = (sizeof(STRUT_(smooth)) + align - 1) / align * align;
    STRUT_(smooth) *s = (STRUT_(smooth) *)aligned_alloc(align, size);
    if (!s) return 1;
    for (int l = 0; l < STRUT_LANES; l++) STRUT_(smooth_load)(s, b, l, begin); /* those without a run of their own repeat one */
    s->running = 0;
    for (int64_t run = begin; run < end || s->running;) {
        uint32_t loaded = 0;
        for (int l = 0; l < STRUT_LANES && run < end; l++)
            if (!(s->running >> l & 1)) {
                STRUT_(smooth_load)(s, b, l, run++);
                loaded |= UINT32_C(1) << l;
            }
        if (loaded) STRUT_(smooth_loaded)(s, b, loaded);
        if (s->running) STRUT_(smooth_advance)(s, &o, b);
    }
    free(s);
    return 0;
}
