/* strut runtime: the names of a template. STRUT_(flow) is PREFIX_flow, so that one program can hold several models. */

#define STRUT_PASTE_(a, b) a##_##b
#define STRUT_PASTE(a, b) STRUT_PASTE_(a, b)
#define STRUT_(name) STRUT_PASTE(STRUT_PREFIX, name)

#define STRUT_N (STRUT_NX + STRUT_NW) /* states, then the integrals of the ledger's powers */
