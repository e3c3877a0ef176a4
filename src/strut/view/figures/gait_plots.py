"""Figures of gaits and designs: multipliers, bifurcations, basins, trade-offs. They take plain arrays, or any
result that has the attributes named in each docstring, and ask nothing else of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from strut.checks import checked, number_array, require_attributes, short_repr
from strut.errors import ArgumentError, ShapeError, UnknownNameError, did_you_mean
from strut.view.figures.figure import NEUTRAL, PALETTE, SYMBOLS, Cells, Figure, Line, Points
from strut.view.figures.gait_results import DrawnBasin, DrawnBranch, HasMultipliers, SpecialPoint
from strut.view.units import shown_unit

STABLE_COLOR, UNSTABLE_COLOR = PALETTE[0], PALETTE[1]
"""Colours of what is stable, and of what is not."""
CIRCLE_TOLERANCE = 1e-7
"""A multiplier whose modulus is this close to 1 lies on the unit circle: its last digits do not say on which
side."""


@checked
def multipliers(gait: HasMultipliers | Mapping[str, Any] | Any, labels: Sequence[str] = ()) -> Figure:
    """Multipliers of a gait in the complex plane, with the unit circle: the gait is stable if all are inside.

    gait: an array of complex numbers, a mapping from names to such arrays, or a result with the attribute
        `multipliers`.
    """
    data = gait.multipliers if isinstance(gait, HasMultipliers) else gait
    groups = dict(data) if isinstance(data, Mapping) else {"": data}
    angle = np.linspace(0, 2 * np.pi, 241)
    traces: list[Line | Points] = [Line("unit circle", np.cos(angle), np.sin(angle), NEUTRAL, "dash", 1.2)]
    for k, (name, array) in enumerate(groups.items()):
        values = _multipliers(array)
        texts = tuple(labels) or tuple(f"{v:.4g}, modulus {abs(v):.4g}" for v in values)
        if len(texts) != len(values):
            raise ShapeError(
                f"there are {len(texts)} labels for {len(values)} multipliers: give as many, or none"
            )
        on = np.abs(np.abs(values) - 1) < CIRCLE_TOLERANCE
        inside = (np.abs(values) < 1) & ~on
        places = (
            ("inside", inside, "circle"),
            ("on the circle", on, "square"),
            ("outside", ~inside & ~on, "diamond"),
        )
        v = values
        for word, which, symbol in places:
            if which.any():
                color = (
                    PALETTE[k % len(PALETTE)]
                    if len(groups) > 1
                    else STABLE_COLOR
                    if word == "inside"
                    else UNSTABLE_COLOR
                )
                chosen = tuple(label for label, is_chosen in zip(texts, which, strict=True) if is_chosen)
                label = f"{name}, {word}" if name else word
                traces.append(
                    Points(label, v.real[which], v.imag[which], color, symbol, 9, chosen, len(labels) > 0)
                )
    return Figure(tuple(traces), "real part [1]", "imaginary part [1]", equal=True, height=420)


@checked
def bifurcation(
    branches: DrawnBranch | Mapping[str, Any] | Iterable[DrawnBranch | Mapping[str, Any]],
    quantity: str = "",
    parameter: str = "",
    units: Mapping[str, str] | None = None,
) -> Figure:
    """A quantity of gaits over a parameter: solid where they are stable, dashed where not, special points
    marked. One becomes the other at the special point between two gaits, or where none is known halfway.

    branches: one branch or several: of `gait.follow`, or mappings with
        values: the parameter along the branch, an array; parameter: its name. stable: true or false along the
            branch.
        a key per quantity: an array along the branch.
        points: special points (may be absent), each with `kind` (fold, doubling, ...), `at` (the parameter
            there) and `values`, by quantity.
        units: by name (may be absent), unless given here.
    quantity: the first state unless given; `period` is the time of a step. A gait of several steps is drawn
    at each of them.
    """
    if not isinstance(branches, Iterable | DrawnBranch):
        raise ArgumentError(
            f"branches is {short_repr(branches)}: what gait.follow returns, or a list of such, is needed"
        )
    several = [branches] if isinstance(branches, Mapping | DrawnBranch) else list(branches)
    for branch in several:
        if not isinstance(branch, Mapping):
            require_attributes(
                "branches", branch, ("names", "stable", "system"), "a list of what gait.follow returns"
            )
    if not several:
        raise ArgumentError("branches is empty: what gait.follow returns, or a list of such, is needed")
    read = [_branch(branch, quantity) for branch in several]
    all_units: dict[str, str] = {}
    for branch in read:
        all_units |= branch["units"]
    all_units |= units or {}
    counts = sorted({branch["steps"] for branch in read})
    traces: list[Line | Points] = []
    special: dict[str, list[tuple[float, float]]] = {}
    for branch in read:
        at, stable = np.asarray(branch["values"], dtype=float), np.asarray(branch["stable"], dtype=bool)
        prefix = f"{branch['steps']} step{'s' if branch['steps'] > 1 else ''}, " if len(counts) > 1 else ""
        rows = [np.asarray(row, dtype=float) for row in branch["rows"]]
        for height in rows:
            if not at.shape == height.shape == stable.shape:
                raise ShapeError(
                    f"a branch has {at.shape} parameters, {height.shape} of '{quantity}' and {stable.shape} "
                    f"stable: they must be alike"
                )
        changes = _changes(at, rows[0], stable, [(place, value) for _, place, value in branch["points"]])
        for k, height in enumerate(rows):
            x, y, cut = _cut(at, height, changes if k == 0 else [(n, place, None) for n, place, _ in changes])
            first = 2 * counts.index(branch["steps"])
            stable_points = np.insert(stable, [n for n, _, _ in changes], False)
            for word, which, shift, dash in (
                ("stable", stable_points | cut, 0, "solid"),
                ("unstable", ~stable_points | cut, 1, "dash"),
            ):
                if which.any():
                    traces.append(
                        Line(
                            prefix + word,
                            x,
                            np.where(which, y, np.nan),
                            PALETTE[(first + shift) % len(PALETTE)],
                            dash,
                            2,
                        )
                    )
        for kind, place, value in branch["points"]:
            special.setdefault(kind, []).append((place, value))
    for k, (kind, places) in enumerate(special.items()):
        x, y = np.array(places).T
        traces.append(
            Points(kind, x, y, PALETTE[(k + 4) % len(PALETTE)], SYMBOLS[(k + 1) % len(SYMBOLS)], 10)
        )
    name = quantity or str(read[0]["quantity"])
    if name == "period":
        all_units["time of a step"], name = all_units.get("period", "s"), "time of a step"
    return Figure(
        _merge_lines(traces),
        _axis_title(parameter or read[0]["parameter"], all_units),
        _axis_title(name, all_units),
        height=380,
    )


def _branch(branch: DrawnBranch | Mapping[str, Any], quantity: str) -> dict[str, Any]:
    """What a diagram needs of a branch; rows: the quantity after each step of a gait."""
    if isinstance(branch, Mapping):
        points = [
            (str(_get(p, "kind")), float(_get(p, "at")), float(_get(p, "values")[quantity]))
            for p in branch.get("points", ())
        ]
        data = {
            "parameter": str(branch.get("parameter", "")),
            "values": _get(branch, "values"),
            "rows": [_get(branch, quantity)],
        }
        return data | {
            "stable": _get(branch, "stable"),
            "points": points,
            "units": dict(branch.get("units", {})),
            "steps": 1,
            "quantity": "",
        }
    chosen = quantity or branch.names[0]
    system_units = {q.name: q.unit for group in (branch.system.x, branch.system.p) for q in group} | {
        "period": "s"
    }
    units = {name: shown_unit(branch.system, unit) for name, unit in system_units.items()}
    rows = branch.values_after_steps(chosen)

    def height(b: SpecialPoint) -> float:
        if chosen != "period":
            return float(b.point.y[branch.names.index(chosen)])
        if branch.steps == 1:
            return float(b.point.period)
        # of several steps the first: between the two gaits around it
        around = np.argsort(np.abs(branch.parameter - b.at))[:2]
        order = around[np.argsort(branch.parameter[around])]
        return float(np.interp(b.at, branch.parameter[order], rows[0][order]))

    points = [(b.kind, float(b.at), height(b)) for b in branch.bifurcations]
    data = {"parameter": branch.name, "values": branch.parameter, "rows": rows, "stable": branch.stable}
    return data | {"points": points, "units": units, "steps": branch.steps, "quantity": chosen}


@checked
def basin(
    labels: DrawnBasin | Any,
    x: Any = None,
    y: Any = None,
    x_name: str = "",
    y_name: str = "",
    *,
    names: Mapping[int, str] | None = None,
    title: str = "",
) -> Figure:
    """A picture of where runs that begin at points of a plane end.

    labels: a basin of `gait.basin`, which says the rest itself and marks its gait; or whole numbers by row
    (y) and column (x): which gait, or what became of the run, or with no `names`, how many steps it took; nan
    is left blank.
    x, y: the values along the axes; x_name, y_name: their names, with units, "rate [rad/s]".
    """
    marked: tuple[Points, ...] = ()
    if isinstance(labels, DrawnBasin):
        computed_basin = labels
        units = {q.name: shown_unit(computed_basin.gait.system, q.unit) for q in computed_basin.gait.system.x}
        kinds = sorted(computed_basin.outcomes, key=lambda kind: (kind != "walks", kind))
        names = dict(enumerate(kinds))
        labels = np.vectorize(kinds.index)(computed_basin.label.astype(str)).T
        x, y, (x_name, y_name) = (
            computed_basin.first,
            computed_basin.second,
            (_axis_title(name, units) for name in computed_basin.names),
        )
        here = [np.array([computed_basin.gait.x0[name]]) for name in computed_basin.names]
        marked = (Points("the gait", here[0], here[1], PALETTE[4], "cross", 11, ("the gait",)),)
    values, columns, rows = number_array("labels", labels, (2,)), number_array("x", x), number_array("y", y)
    if values.shape != (rows.size, columns.size):
        raise ShapeError(
            f"a basin of shape {values.shape} has {columns.size} values of x and {rows.size} of y: rows are "
            f"y, columns are x"
        )
    cells = Cells(columns, rows, values, title, dict(names or {}))
    return Figure((cells, *marked), x_name, y_name, legend=False, height=420)


@checked
def trade_off(
    x: Any,
    y: Any,
    x_name: str,
    y_name: str,
    labels: Sequence[str] = (),
    *,
    more: tuple[bool, bool] = (False, False),
    name: str = "designs",
) -> Figure:
    """Designs by two merits, and the front of those that no other beats in both.

    more: for x and for y, whether more is better; less is, unless said. x_name, y_name: with units, "speed
        [m/s]".
    """
    a, b = number_array("x", x), number_array("y", y)
    if a.shape != b.shape or a.ndim != 1:
        raise ShapeError(f"a trade-off needs as many x as y: there are {a.shape} and {b.shape}")
    front = pareto(a, b, more)
    beaten = np.setdiff1d(np.arange(len(a)), front)
    texts = tuple(labels)
    traces: list[Line | Points] = []
    for word, which, color, symbol in (
        (name, beaten, NEUTRAL, "circle"),
        ("unbeaten", front, PALETTE[0], "diamond"),
    ):
        if len(which):
            chosen = tuple(texts[k] for k in which) if texts else ()
            traces.append(Points(word, a[which], b[which], color, symbol, 8, chosen, word == "unbeaten"))
    if len(front) > 1:
        traces.insert(0, Line("front", a[front], b[front], PALETTE[0], "solid", 1.6))
    return Figure(tuple(traces), x_name, y_name, height=360)


@checked
def pareto(x: np.ndarray, y: np.ndarray, more: tuple[bool, bool] = (False, False)) -> np.ndarray:
    """The numbers of the points that no other beats: at least as good in both and better in one; in the order
    of x."""
    x, y = number_array("x", x, (1,)), number_array("y", y, (1,))
    if len(x) != len(y):
        raise ShapeError(f"a front needs as many x as y: there are {len(x)} and {len(y)}")
    a, b = (-v if better else v for v, better in zip((x, y), more, strict=True))
    order = np.lexsort((b, a))
    order = order[np.isfinite(a[order]) & np.isfinite(b[order])]
    front: list[int] = []
    for k in order:
        if not front or b[k] < b[front[-1]] or (a[k], b[k]) == (a[front[-1]], b[front[-1]]):
            front.append(int(k))
    return np.array(sorted(front, key=lambda k: x[k]), dtype=int)


def _multipliers(array: Any) -> np.ndarray:
    try:
        return np.atleast_1d(np.asarray(array, dtype=complex)).reshape(-1)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(
            f"multipliers are {short_repr(array)}: a gait, or complex numbers, are needed"
        ) from error


# ---- what results look like ----

_NOTHING = object()
"""Stands for no default."""


def _get(thing: Any, name: str, default: Any = _NOTHING) -> Any:
    """An attribute, or an entry of a mapping."""
    value = thing.get(name, default) if isinstance(thing, Mapping) else getattr(thing, name, default)
    if value is _NOTHING:
        names = (
            list(thing) if isinstance(thing, Mapping) else [n for n in dir(thing) if not n.startswith("_")]
        )
        raise UnknownNameError(
            f"a {type(thing).__name__} has no '{name}', which the figure needs: {did_you_mean(name, names)}"
        )
    return value


Change = tuple[int, float, float | None]
"""Before which point of a branch it becomes stable or unstable, at which parameter, and the quantity there,
if it is known."""


def _changes(
    at: np.ndarray, height: np.ndarray, stable: np.ndarray, special: Sequence[tuple[float, float]]
) -> list[Change]:
    """Where a branch becomes stable or unstable: at the special point on the way from one point to the next,
    or if none is, halfway."""
    changes: list[Change] = []
    scale = np.array([np.ptp(values) or 1.0 for values in (at, height)]) if len(at) else np.ones(2)
    for n in np.flatnonzero(stable[1:] != stable[:-1]) + 1:
        ends = np.array([[at[k], height[k]] for k in (n - 1, n)]) / scale
        way = float(np.linalg.norm(ends[1] - ends[0]))
        longer = [
            sum(float(np.linalg.norm(np.array(point) / scale - end)) for end in ends) - way
            for point in special
        ]
        if longer and min(longer) <= way:
            place, value = special[int(np.argmin(longer))]
            changes.append((int(n), place, value))
        else:
            changes.append((int(n), float(at[n - 1] + at[n]) / 2, None))
    return changes


def _cut(
    at: np.ndarray, height: np.ndarray, changes: Sequence[Change]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A branch with its changes as points of it, and which these are; an unknown quantity there is taken from
    the line."""
    before = [n for n, _, _ in changes]
    values = []
    for n, place, value in changes:
        a, b = at[n - 1], at[n]
        part = float(np.clip((place - a) / (b - a), 0, 1)) if a != b else 0.5
        values.append(height[n - 1] + part * (height[n] - height[n - 1]) if value is None else value)
    added = np.insert(np.zeros(len(at), dtype=bool), before, True)
    return np.insert(at, before, [place for _, place, _ in changes]), np.insert(height, before, values), added


def _merge_lines(traces: Iterable[Line | Points]) -> tuple[Line | Points, ...]:
    """Lines of one name made one, with gaps, so that a legend names each once."""
    lines: dict[str, Line] = {}
    others: list[Line | Points] = []
    for trace in traces:
        if isinstance(trace, Line) and trace.name in lines:
            first = lines[trace.name]
            x, y = (np.concatenate([getattr(first, n), [np.nan], getattr(trace, n)]) for n in "xy")
            lines[trace.name] = Line(trace.name, x, y, trace.color, trace.dash, trace.width)
        elif isinstance(trace, Line):
            lines[trace.name] = trace
        else:
            others.append(trace)
    return (*lines.values(), *others)


def _axis_title(name: str, units: Mapping[str, str]) -> str:
    """A name with its unit, if it has one."""
    unit = units.get(name, "")
    return f"{name} [{unit}]" if unit else name
