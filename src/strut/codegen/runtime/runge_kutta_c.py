"""Write the explicit Runge-Kutta methods as C, from their tableaux: `strut_runge_kutta.h`."""

from __future__ import annotations

from collections.abc import Iterable

from strut.codegen.runtime.tableau import BASIS, Tableau

TERMS_PER_LINE = 3
"""Of a weighted sum, in the C that is written."""


def weighted_sum(weights: tuple[float, ...], end: int | None = None) -> str:
    """Write sum_j weights[j] k_j[i] in C, wrapped and without terms that are zero.

    Stage 0 is `dx`, the rate where the step begins; stage `end` is `dx_new`, the one where it ends.
    """
    terms = []
    for j, weight in enumerate(weights):
        stage = "s->dx[i]" if j == 0 else "s->dx_new[i]" if j == end else f"s->k[{j}][i]"
        if weight:
            terms.append(f"R({weight!r}) * {stage}")
    lines = [" + ".join(terms[k : k + TERMS_PER_LINE]) for k in range(0, len(terms), TERMS_PER_LINE)]
    return "\n            + ".join(lines)


def _point(row: tuple[float, ...], divisor: int = 1) -> str:
    """C that sets the local array `x` to the state plus h / divisor times a weighted sum of rates."""
    length = f"h / R({divisor})" if divisor != 1 else "h"
    return (
        f"    for (int i = 0; i < STRUT_N; i++)\n        x[i] = s->x[i] + {length} * ({weighted_sum(row)});\n"
    )


def _stages(m: Tableau) -> str:
    """C that evaluates the stages into `s->k` and leaves the end of the step in `x`."""
    text = "    strut_real *x = s->x_new;\n"
    for k, row in enumerate(m.a, start=1):
        text += _point(row) + f"    STRUT_(rate)(s, s->t + R({m.c[k]!r}) * h, x, s->k[{k}]);\n"
    if not m.quadrature:
        return text + _point(m.b, m.divisor)
    length = f"h / R({m.divisor})" if m.divisor != 1 else "h"
    return (
        f"{text}    for (int i = 0; i < STRUT_N; i++)\n        x[i] = s->x[i] + ({IS_INTEGRAL}\n"
        f"            ? h * ({weighted_sum(m.quadrature)})\n"
        f"            : {length} * ({weighted_sum(m.b)}));\n"
    )


IS_INTEGRAL = "i >= STRUT_NX || STRUT_(integral)[i]"
"""C that tells whether component i acts back on nothing: an integrated power, or such a state."""
RATE_AT_END = "STRUT_(rate)(s, s->t + h, x, s->dx_new);\n"
"""C that evaluates the flow at the end of a step."""


def fixed_step(m: Tableau) -> str:
    """Write `name`, one step of a method without an error estimate, as C."""
    return (
        f"/* One step of {m.name}. */\nSTRUT_FN void STRUT_({m.name})(STRUT_(sim) * s, strut_real h)\n{{\n"
        f"{_stages(m)}    {RATE_AT_END}}}\n"
    )


def adaptive_step(m: Tableau) -> str:
    """Write `name`, a trial step that returns its error relative to the tolerance, as C."""
    text = f"/* One trial step of {m.name}, written out so that no zero is multiplied. */\n"
    text += f"STRUT_FN strut_real STRUT_({m.name})(STRUT_(sim) * s, strut_real h)\n{{\n{_stages(m)}"
    if len(m.errors) == 1:
        text += f"    {RATE_AT_END}    strut_real e = R(0);\n    for (int i = 0; i < STRUT_NX; i++)\n"
        text += (
            f"        e += strut_sq(h * ({weighted_sum(m.errors[0], len(m.b))}) / STRUT_(scale)(s, i));\n"
            "    return STRUT_SQRT(e / R(STRUT_SLOTS(STRUT_NX)));\n}\n"
        )
        return text
    # the estimates of order 5 and 3 combined; a NaN stays one; a step that fails is not evaluated at its end
    text += (
        "    strut_real e5 = R(0), e3 = R(0), e;\n    for (int i = 0; i < STRUT_NX; i++) {\n        "
        "e = STRUT_(scale)(s, i);\n"
    )
    text += (
        f"        e5 += strut_sq(({weighted_sum(m.errors[0])}) / e);\n        e3 += "
        f"strut_sq(({weighted_sum(m.errors[1])}) / e);\n    }}\n"
    )
    text += (
        "    e = e5 + R(0.01) * e3;\n    e = e > R(0) ? h * e5 / STRUT_SQRT(e * "
        "R(STRUT_SLOTS(STRUT_NX))) : e;\n"
    )
    return text + f"    if (e <= R(1)) {RATE_AT_END}    return e;\n}}\n"


def dense_output(m: Tableau) -> str:
    """Write `name_dense`, which leaves the dense output of the trial step in `s->poly`, as C."""
    end = len(m.b)
    text = f"STRUT_FN void STRUT_({m.name}_dense)(STRUT_(sim) * s, strut_real h)\n{{\n"
    if m.extra_a:
        text += (
            "    strut_real x[STRUT_SLOTS(STRUT_N)];\n    for (int i = 0; i < STRUT_N; i++) "
            f"s->k[{end}][i] = s->dx_new[i];\n"
        )
        for k, row in enumerate(m.extra_a):
            rate = f"STRUT_(rate)(s, s->t + R({m.extra_c[k]!r}) * h, x, s->k[{end + 1 + k}]);"
            text += f"{_point(row)}    {rate}\n"
    text += "    for (int i = 0; i < STRUT_N; i++) {\n        s->poly[0][i] = s->x[i];\n"
    if m.extra_a:
        text += "        strut_real f0 = s->x_new[i] - s->x[i], f1 = h * s->dx[i] - f0;\n"
        text += "        strut_real f2 = R(2) * f0 - h * (s->dx_new[i] + s->dx[i]);\n"
        text += "".join(
            f"        strut_real f{k + 3} = h * ({weighted_sum(row)});\n" for k, row in enumerate(m.dense)
        )
        for power in range(1, 8):
            terms = [f"R({int(BASIS[power, k])}) * f{k}" for k in range(7) if BASIS[power, k]]
            text += f"        s->poly[{power}][i] = {' + '.join(terms)};\n"
    else:
        text += "".join(
            f"        s->poly[{k + 1}][i] = h * ({weighted_sum(row, end)});\n"
            for k, row in enumerate(m.dense)
        )
    return text + f"    }}\n    s->degree = {m.degree};\n}}\n"


def smooth_step_header(m: Tableau) -> str:
    """Write `strut_smooth_step.h`: `smooth_step`, one step of a method without an error estimate. Where each
    stage needs the one before alone, four vectors are all its memory; else it keeps the rates of all."""
    count = len(m.b)
    keeps_rates = any(any(row[:-1]) for row in m.a)
    tables = {"at": m.c, "weight": tuple(b / m.divisor for b in m.b)}
    much = "much"
    if m.quadrature:
        tables["quadrature"] = m.quadrature
        much = f"({IS_INTEGRAL} ? share : much)"
    if keeps_rates:
        tables["row"] = tuple(value for row in m.a for value in row)
        last = count * (count - 1) // 2
        stage_lines = [
            f"        for (int i = 0; i < STRUT_N; i++) next[i] += {much} * k[stage][i];",
            f"        if (stage == {count - 1}) break;",
            "        for (int i = 0; i < STRUT_N; i++) x[i] = s->x[i];",
            "        for (int j = 0; j <= stage; j++) {",
            "            const strut_real far = R(row[first + j]) * length;",
            "            for (int i = 0; i < STRUT_N; i++) x[i] += far * k[j][i];",
            "        }",
            "        first += stage + 1;",
        ]
        begin, rates = f"    strut_real k[{count}][STRUT_SLOTS(STRUT_N)];\n    int first = 0;", "k[stage]"
        assert len(tables["row"]) == last
    else:
        tables["ahead"] = (*[row[-1] for row in m.a], 0.0)
        stage_lines = [
            "        const strut_real far = R(ahead[stage]) * length;",
            "        for (int i = 0; i < STRUT_N; i++) {",
            f"            next[i] += {much} * k[i];",
            "            x[i] = s->x[i] + far * k[i];",
            "        }",
        ]
        begin, rates = "    strut_real k[STRUT_SLOTS(STRUT_N)];", "k"
    lines = [
        f"    static const double {n}[{len(v)}] = {{{', '.join(map(repr, v))}}};" for n, v in tables.items()
    ]
    return "\n".join(
        [
            f"/* strut runtime: one step of {m.name}, from s->x to `next`. Written from tables. */\n",
            "STRUT_FN void STRUT_(smooth_step)(const STRUT_(smooth) * s, const double *h, strut_real *next)",
            "{",
            *lines,
            begin,
            "    strut_real x[STRUT_SLOTS(STRUT_N)];",
            "    const strut_real t = STRUT_(smooth_time)(s->t), length = STRUT_(smooth_time)(h);",
            "    for (int i = 0; i < STRUT_N; i++) x[i] = next[i] = s->x[i];",
            f"    for (int stage = 0; stage < {count}; stage++) {{",
            "        const strut_real much = R(weight[stage]) * length;",
            *(["        const strut_real share = R(quadrature[stage]) * length;"] if m.quadrature else []),
            f"        STRUT_(smooth_rate)(s, t + R(at[stage]) * length, x, {rates});",
            *stage_lines,
            "    }",
            "}\n",
        ]
    )


def runge_kutta_header(tableaux: Iterable[Tableau]) -> str:
    """Write `strut_runge_kutta.h`: a step of every method, and its dense output where it has one of its
    own."""
    parts = ["/* strut runtime: the explicit Runge-Kutta methods. Written from tables; do not edit. */\n"]
    for m in tableaux:
        parts.append(adaptive_step(m) if m.adaptive else fixed_step(m))
        if m.dense:
            parts.append(dense_output(m))
    return "\n".join(parts)
