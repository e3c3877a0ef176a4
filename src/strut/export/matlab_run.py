"""Fixed-step runs in MATLAB: `strut_run.m`, the methods it knows, and a system as it wants it.

`strut_run.m` does in MATLAB what the C runtime and `simulate.python_engine` do with a fixed step, events and
samples included, so that a run there can be compared with one here digit by digit.
"""

from __future__ import annotations

from pathlib import Path

from strut.codegen import DEFAULTS, INTEGRATORS, Lowered, StepKind, Tableau
from strut.export import matlab
from strut.system import System, start

RUN_FILE = "strut_run.m"
"""The file that runs any exported system; it stands beside this one."""
FIXED_TABLEAUX: dict[str, Tableau] = {
    name: method.tableau
    for name, method in INTEGRATORS.items()
    if method.kind is StepKind.FIXED and method.tableau is not None
}
"""Runge-Kutta methods of a fixed step, by name."""


def run_files(system: System, low: Lowered, name: str) -> dict[str, str]:
    """The texts of `strut_run.m`, `strut_tableau.m` and `NAME_model.m`, by file name."""
    return {
        RUN_FILE: Path(__file__).with_name(RUN_FILE).read_text(),
        "strut_tableau.m": _tableaux(),
        f"{name}_model.m": _model(system, low, name),
    }


def _row(values: list[float] | tuple[float, ...]) -> str:
    return "[" + ", ".join(matlab.literal(float(v)) for v in values) + "]"


def _matrix(tableau: Tableau) -> str:
    """The coefficients of the stages, one row each, the first one empty."""
    stages = len(tableau.b)
    rows = [(), *tableau.a]
    whole = [[*row, *[0.0] * (stages - len(row))] for row in rows]
    return "[" + "; ...\n           ".join(_row(row)[1:-1] for row in whole) + "]"


def _tableaux() -> str:
    """The function file that gives the coefficients of a method."""
    cases = [
        f"    case '{method}'\n"
        f"      m.order = {t.order};\n"
        f"      m.c = {_row(t.c)};\n"
        f"      m.a = {_matrix(t)};\n"
        f"      m.b = {_row(t.b)};\n"
        f"      m.divisor = {t.divisor};\n"
        f"      m.quadrature = {_row(t.quadrature)};"
        for method, t in FIXED_TABLEAUX.items()
    ]
    methods = ", ".join(FIXED_TABLEAUX)
    head = matlab.header(
        "strut_tableau",
        "Coefficients of a Runge-Kutta method of fixed step, a struct.",
        ["m = strut_tableau(method)", "", f"method: one of {methods}; the same as of strut.simulate.", ""],
    )
    return (
        f"function m = strut_tableau(method)\n{head}  switch method\n"
        + "\n".join(cases)
        + f"\n    otherwise\n      error('there is no method ''%s'': give one of {methods}', method);\n"
        + "  end\nend\n"
    )


def _column(numbers: list[int]) -> str:
    return f"[{'; '.join(map(str, numbers))}]" if numbers else "zeros(0, 1)"


def _model(system: System, low: Lowered, name: str) -> str:
    """The function file that gives a system as `strut_run` wants it."""
    draws = "; ".join("randn" if kind else "rand" for kind in low.tables["random_kind"])
    random = f", [{draws}]" if draws else ""
    tables = low.tables
    inputs = [matlab.literal(float(v)) for v in start(system).u]
    conditional = any(event.when is not None for event in system.events)
    values = {
        "flow": f"@{name}_flow",
        "guards": f"@{name}_guards_and_rates" if system.events else "[]",
        "enabled": f"@{name}_enabled" if conditional else "[]",
        "clocks": f"@{name}_clocks" if system.samples else "[]",
        "reset": f"@(jump, t, x, z, u, p) {name}_reset(jump, t, x, z, u, p{random})" if low.jumps else "[]",
        "jump_of": _column([k + 1 for k in tables["jump_of"]]) + ";  % of every guard",
        "guard_of": _column([k + 1 for k in tables["guard_of"]]) + ";  % of every jump; 0: it has none",
        "clock_of": _column([k + 1 for k in tables["clock_of"]]) + ";  % the same",
        "terminal": _column(tables["terminal"]) + ";  % jumps that end the run",
        "eager": _column(tables["eager"]) + ";  % those that happen where a run begins with a positive guard",
        "records": _column(tables["records"]) + ";  % those that change nothing",
        "zeno": matlab.literal(DEFAULTS.zeno) + ";  % [s] events closer than that accumulate",
        "max_steps": f"{DEFAULTS.max_steps};  % those that a run may take",
        "integral": f"logical({_column(tables['integral'])});  % states that act back on nothing",
        "u": f"[{'; '.join(inputs)}];  % inputs, held" if inputs else "zeros(0, 1)",
        "p": "p",
    }
    lines = [
        f"  model.{field} = {value}{'' if ';' in value and '%' in value else ';'}"
        for field, value in values.items()
    ]
    head = matlab.header(
        f"{name}_model",
        "The system as strut_run wants it, a struct.",
        [
            f"model = {name}_model(p)",
            "",
            f"[T, X, Z, jumps, status] = strut_run({name}_model(), 1, 1e-4, 'rk4') runs it for a second in",
            "steps of 0.1 ms, to rounding as strut.simulate does with the same method and step.",
            f"p: parameters, a struct as {name}_parameters() gives it, which is the default; the states to",
            "begin from, model.x and model.z, follow from them.",
            "",
        ],
    )
    return (
        f"function model = {name}_model(p)\n{head}  if nargin < 1, p = {name}_parameters(); end\n"
        + "  model = struct();\n"
        + "\n".join(lines)
        + f"\n  [model.x, model.z] = {name}_initial(p);\nend\n"
    )
