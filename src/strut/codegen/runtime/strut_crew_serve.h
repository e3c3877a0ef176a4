/* strut runtime: how a thread that needs a long function is served, and what the other members of a crew do meanwhile. */

#ifdef __CUDACC__
/* The function that the warps of a member do next, of those that their threads need: for which most waiting has been done. */
STRUT_FN int STRUT_(choose)(int what, int waits)
{
    int best = STRUT_NOTHING, most = 0;
    for (int k = 0; k < STRUT_FUNCTIONS; k++) {
        int sum = what == k ? 1 + waits : 0;
        for (int apart = 16; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart);
#if STRUT_GROUPS > 1
        strut_votes[STRUT_GROUP][k] = sum;
    }
    asm volatile("barrier.sync 1, %0;" ::"n"(STRUT_BLOCK_RUNS) : "memory"); /* the warps of the first member */
    for (int k = 0; k < STRUT_FUNCTIONS; k++) {
        int sum = 0;
        for (int group = 0; group < STRUT_GROUPS; group++) sum += strut_votes[group][k];
#endif
        if (sum > most) {
            most = sum;
            best = k;
        }
    }
    return best;
}

/* Wait until function `what` is done for this thread. All threads of the
 * first member come here, from wherever they are; those without a run say STRUT_NOTHING, and leave when all do. */
STRUT_CALLED void STRUT_(serve)(int what)
{
    for (int waits = 0;; waits++) {
        int now;
        __syncwarp(0xffffffffu);
        now = STRUT_(choose)(what, waits);
        if (STRUT_RUN_OF_BLOCK == 0) strut_command = now;
        STRUT_MEET();
        if (now != STRUT_NOTHING) {
            STRUT_(do_share)<0>(now);
            STRUT_MEET();
        }
        if (what == now) return;
    }
}

template <int ME> STRUT_FN void STRUT_(help_as)(int what)
{
    if constexpr (ME < STRUT_CREW) {
        if (STRUT_MEMBER == ME) STRUT_(do_share)<ME>(what);
        else STRUT_(help_as)<ME + 1>(what);
    }
}

/* What members without runs do. */
STRUT_FN void STRUT_(help)(void)
{
    for (;;) {
        STRUT_MEET();
        if (strut_command == STRUT_NOTHING) return;
        STRUT_(help_as)<1>(strut_command);
        STRUT_MEET();
    }
}

#else /* on a processor */
STRUT_CALLED void STRUT_(serve)(int what)
{
    STRUT_(do_share)<-1>(what);
}
#endif
