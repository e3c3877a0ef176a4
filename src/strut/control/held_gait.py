"""`HeldGait`: a gait before and after something holds it: multipliers, and what it survives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from strut.control.kalman import EstimateQuality
from strut.errors import ModelError, NoGaitError
from strut.gait import Gait, Survived, find, push, step_down, step_up, walk_over, wrong_parameter
from strut.simulate import SavedResult, simulate
from strut.system import Packed, System
from strut.tabular import TableTexts, Tabular, one_row

RECOVERY_STEPS = 10
"""Steps over which what feedback costs is measured after a disturbance."""
STEP_RESOLUTION = 1e-4
"""[m] How exactly the largest step down is wanted."""
PUSH_RESOLUTION = 1e-3
"""[1] How exactly the largest push is wanted, as a part of the rates."""
PARAMETER_RESOLUTION = 0.05
"""[1] How exactly the largest error of a parameter is wanted, relative to its value."""
ROUGH_HEIGHTS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
"""[m] Heights of rough ground that are tried, up and down; one after the other until a walk falls."""
ROUGH_STEPS = 50
"""Steps that are to be made over rough ground."""
ROUGH_WALKS = 8
"""Walks over rough ground, each over another, all of which are to make their steps."""
MEASURED_PUSH = 0.01
"""[1] The push after which the cost of feedback is measured: all rates change by this part of themselves."""


@dataclass(frozen=True)
class Compared(Tabular):
    """One number before and after something holds a gait; nan where it is not known.

    name, unit: what it is. note: what happened beyond it, or why it is not known. before_less_than,
    after_less_than: where a number is 0 because nothing that was tried is survived, the smallest that was;
    else nan.
    """

    name: str
    before: float
    after: float
    unit: str = ""
    note: str = ""
    before_less_than: float = np.nan
    after_less_than: float = np.nan

    def columns(self) -> dict[str, list[Any]]:
        """Return what it says, as one row."""
        return one_row(self)

    @property
    def unknown(self) -> bool:
        """Whether a number is missing; `note` then says why."""
        return bool(np.isnan(self.before) or np.isnan(self.after))

    def texts(self, write: Callable[[float], str]) -> tuple[str, str]:
        """Return the numbers before and after as a table shows them: also that one is not known, or less than
        the smallest that was tried. write: a number as text."""
        pairs = (self.before, self.before_less_than), (self.after, self.after_less_than)
        before, after = (
            "not known"
            if np.isnan(value)
            else f"less than {write(smallest)}"
            if np.isfinite(smallest)
            else write(value)
            for value, smallest in pairs
        )
        return before, after


@dataclass(frozen=True, eq=False)
class HeldGait(SavedResult, Tabular, Packed):
    """A gait that something holds.

    before: the gait as it was. gait: that of the closed loop, with exact multipliers. method: what holds it.
    settings: the numbers that were chosen, by name. inputs: what it acts by. estimate: how well the states
        are estimated, where they are not all measured.
    efforts: by input, the largest that one acceptable deviation, in the worst direction and at the worst
        moment, asks for beyond the plan, in its unit; of regulators. effort_faults: which of them are more
        than the input can give, in sentences. unkept: what its design was asked of inputs, all along, and the
        loop does not keep.
    survival: whether `comparison` asks what is survived, which takes minutes where a machine has many links.
    system: the closed loop, a machine that walks by itself. stable: whether it is held.
    comparison: multipliers, and the largest step down, push and wrong parameters that are survived. costs:
        what feedback takes.
    """

    before: Gait = field(repr=False)
    gait: Gait = field(repr=False)
    method: str
    settings: Mapping[str, float] = field(repr=False)
    inputs: tuple[str, ...]
    estimate: EstimateQuality | None = None
    efforts: Mapping[str, float] = field(default_factory=dict)
    effort_faults: tuple[str, ...] = ()
    unkept: tuple[str, ...] = ()
    survival: bool = True

    @property
    def system(self) -> System:
        """The closed loop."""
        return self.gait.system

    @property
    def stable(self) -> bool:
        """Whether small disturbances of the closed loop die out."""
        return self.gait.stable

    @cached_property
    def comparison(self) -> tuple[Compared, ...]:
        """The largest multiplier, and the largest step down and up, roughest ground, largest push and wrong
        parameter that are survived, before and after; without `survival` the multiplier alone. What feedback
        costs is in `costs`."""
        return self.compare()

    def compare(self, progress: Callable[[str, float], None] | None = None) -> tuple[Compared, ...]:
        """Return `comparison`, and keep it; progress: called with what is asked next, and which part of all
        questions is answered [1]."""
        names = self._compared_parameters()
        largest = (float(abs(self.before.multipliers[0])), float(abs(self.gait.multipliers[0])))
        questions: dict[str, Callable[[], list[Compared]]] = {
            "step down": lambda: [self._step("down", step_down)],
            "step up": lambda: [self._step("up", step_up)],
            "rough ground": lambda: [self._rough_ground()],
            "pushes": self._pushes,
            **{f"wrong {name}": partial(self._wrong_parameter, name) for name in names},
        }
        rows = [Compared("largest multiplier", *largest)]
        if not self.survival:
            questions = {}
        for k, (word, question) in enumerate(questions.items()):
            if progress is not None:
                progress(word, k / len(questions))
            rows += question()
        answers = tuple(rows)
        self.__dict__["comparison"] = answers
        return answers

    def _step(self, word: str, limit: Callable[..., Survived]) -> Compared:
        """The largest step of the ground, down or up."""
        name = f"largest step {word} survived"
        try:
            before, after = (
                limit(g, exact=STEP_RESOLUTION, trials_beyond=0) for g in (self.before, self.gait)
            )
            return _compare(name, before, after)
        except ModelError as error:
            return Compared(name, np.nan, np.nan, "m", str(error))

    def _rough_ground(self) -> Compared:
        """The roughest ground over which all walks make all steps, of `ROUGH_HEIGHTS`."""
        name = f"roughest ground survived for {ROUGH_STEPS} steps, up and down by"
        try:
            (before, _), (after, note) = (_roughest(g) for g in (self.before, self.gait))
        except ModelError as error:
            return Compared(name, np.nan, np.nan, "m", str(error))
        least = [np.nan if height else ROUGH_HEIGHTS[0] for height in (before, after)]
        return Compared(name, before, after, "m", note, before_less_than=least[0], after_less_than=least[1])

    def _pushes(self) -> list[Compared]:
        """The largest pushes: all rates suddenly change by a part of themselves, up or down."""
        rows = []
        for word, sign in (("faster", 1.0), ("slower", -1.0)):
            before, after = (
                push(
                    gait,
                    {n: sign * v for n, v in rates(gait, self.before).items()},
                    most=1.0,
                    exact=PUSH_RESOLUTION,
                    trials_beyond=0,
                )
                for gait in (self.before, self.gait)
            )
            name = f"largest push survived, all rates {word} by, relative"
            rows.append(_compare(name, before, after, unit=""))
        return rows

    def _compared_parameters(self) -> list[str]:
        """The parameters of which errors are tried: numbers other than 0 that the closed loop has, too."""
        own = {q.name for q in self.system.p}
        return [
            q.name
            for q in self.before.system.p
            if q.size == 1 and isinstance(q.value, np.ndarray) and float(q.value[0]) != 0
            if q.name in own and not q.name.startswith("plan")
        ]

    def _wrong_parameter(self, name: str) -> list[Compared]:
        """The largest error of a parameter, relative, that is survived in both directions."""
        before, after = (
            wrong_parameter(gait, name, exact=PARAMETER_RESOLUTION) for gait in (self.before, self.gait)
        )
        return [_compare(f"largest error survived of {name}, relative", before, after, unit="")]

    @cached_property
    def costs(self) -> tuple[Compared, ...]:
        """What feedback costs: the cost of transport, and what inputs give beyond the plan after a push of
        `MEASURED_PUSH`, at most and as a root mean square over `RECOVERY_STEPS` steps."""
        transport = (self.before.cost_of_transport, self.gait.cost_of_transport)
        rows = [Compared("cost of transport", *transport)]
        rows += [
            Compared(
                f"{name} beyond the plan for one acceptable deviation, at most",
                0.0,
                effort,
                self._unit(f"{name}_feedback") or self._unit(f"{name}_change"),
            )
            for name, effort in self.efforts.items()
        ]
        begin = {
            **self.gait.x0,
            **{n: self.gait.x0[n] + MEASURED_PUSH * v for n, v in rates(self.gait, self.before).items()},
        }
        run = simulate(self.system, t=RECOVERY_STEPS * self.gait.period, x0=begin, z0=dict(self.gait.z0))
        t = np.linspace(run.t0, run.t1, 2000)
        moments, columns = run.at(t), set(run.keys())
        for name in self.inputs:
            label = next((n for n in (f"{name}_feedback", f"{name}_change") if n in columns), None)
            if label is None:
                continue
            unit = self._unit(label)
            values = np.abs(moments[label])
            quantity = f"{name} beyond the plan after a push of {100 * MEASURED_PUSH:g} %"
            rows.append(Compared(f"{quantity}, at most", 0.0, float(values.max()), unit))
            mean = float(np.sqrt(np.mean(values**2)))
            rows.append(Compared(f"{quantity}, root mean square", 0.0, mean, unit))
            if f"{name}_cut_off" in columns:
                share = float(np.mean(np.abs(moments[f"{name}_cut_off"]) > 0))
                rows.append(Compared(f"share of time at the limit of {name} after that push", 0.0, share))
        return tuple(rows)

    def _unit(self, label: str) -> str:
        """The unit of an output, a state or a parameter of the closed loop; empty where it has none."""
        units = {q.name: q.unit for q in (*self.system.x, *self.system.p, *self.system.z)}
        return {**units, **self.system.output_units}.get(label, "")

    def setting_rows(self) -> list[tuple[str, float, str]]:
        """Return what was chosen, for tables: name, value and, of what is acceptable of a state, an input or
        a parameter, its unit."""
        own = self.before.system
        units = {label: q.unit for group in (own.x, own.u, own.p) for q in group for label in q.labels}

        def unit_of(setting: str) -> str:
            word, _, name = setting.partition(" of ")
            if not word.startswith("acceptable "):
                return ""
            return units.get(name) or self._unit(f"{name}_feedback") or self._unit(f"{name}_change")

        return [(name, value, unit_of(name)) for name, value in self.settings.items()]

    def rows(self) -> list[tuple[str, float, float, str]]:
        """Return what there is to say, for tables: name, before, after, unit."""
        return [(c.name, c.before, c.after, c.unit) for c in (*self.comparison, *self.costs)]

    def columns(self) -> dict[str, list[Any]]:
        """Return name, value before and after, and unit of what there is to say."""
        return {
            label: [row[k] for row in self.rows()]
            for k, label in enumerate(("name", "before", "after", "unit"))
        }

    def data(self) -> dict[str, Any]:
        """Return what `strut control --json` prints."""
        return {
            "method": self.method,
            "inputs": list(self.inputs),
            "settings": dict(self.settings),
            "efforts": dict(self.efforts),
            "effort_faults": list(self.effort_faults),
            "unkept": list(self.unkept),
            "stable": {"before": self.before.stable, "after": self.stable},
            "multipliers": {
                word: [[float(m.real), float(m.imag)] for m in g.multipliers]
                for word, g in (("before", self.before), ("after", self.gait))
            },
            "comparison": [
                {
                    "name": c.name,
                    "before": _number(c.before),
                    "after": _number(c.after),
                    "unit": c.unit,
                    "note": c.note,
                    "less_than": {
                        "before": _number(c.before_less_than),
                        "after": _number(c.after_less_than),
                    },
                }
                for c in (*self.comparison, *self.costs)
            ],
            "gait": self.gait.data(),
        }

    def _card_tables(self) -> TableTexts:
        compared = (*self.comparison, *self.costs)
        rows = [(c.name, *c.texts(lambda value: f"{value:.5g}"), c.unit) for c in compared]
        return {"before | after": (("", "before", "after", "unit"), rows)}

    def __repr__(self) -> str:
        before, after = (abs(g.multipliers[0]) for g in (self.before, self.gait))
        word = "held" if self.stable else "not held"
        beyond = ", ".join(fault.partition(":")[0] for fault in self.effort_faults)
        faults = f"; asks {beyond} for more than limits allow, see effort_faults" if beyond else ""
        return (
            f"<HeldGait of {self.system.name}: {word} by {self.method}, largest multiplier {before:.4g} -> "
            f"{after:.4g}{faults}>"
        )


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _compare(name: str, before: Survived, after: Survived, unit: str | None = None) -> Compared:
    """Return what is survived before and after."""
    own = before.unit if unit is None else unit
    least = [np.nan if each.less_than is None else each.less_than for each in (before, after)]
    return Compared(
        name,
        before.largest,
        after.largest,
        own,
        str(replace(after, unit=own)),
        before_less_than=least[0],
        after_less_than=least[1],
    )


def _roughest(gait: Gait) -> tuple[float, str]:
    """Return the roughest ground [m] that a gait survives, of `ROUGH_HEIGHTS`, and what happened beyond."""
    survived = 0.0
    for height in ROUGH_HEIGHTS:
        walk = walk_over(gait, height, steps=ROUGH_STEPS, walks=ROUGH_WALKS)
        if walk.whole_walks < ROUGH_WALKS:
            none = f"less than {height:g} m, the smallest tried, is survived: " if not survived else ""
            return survived, f"{none}{walk}"
        survived = height
    return survived, f"rough ground: all up to {survived:g} m is survived, and no rougher one was tried"


def rates(gait: Gait, before: Gait) -> dict[str, float]:
    """Return the rates of a machine just after a step, by name: states whose unit is per second."""
    units = {label: q.unit for q in before.system.x for label in q.labels}
    return {n: v for n, v in gait.x0.items() if units.get(n, "").endswith("/s")}


def find_held_gait(loop: System, begin: Mapping[str, float], before: Gait) -> Gait:
    """Return the gait of a closed loop: that nearest to the one that is to be held. begin: its states.

    Raises NoGaitError where there is none.
    """
    events = {e.name for e in loop.events}
    happened = {e.name for e in before.trajectory.events} | {"next_piece"}
    try:
        return find(
            loop,
            dict(begin),
            before.section,
            steps=before.steps,
            starts=0,
            events=sorted(happened & events),
        )
    except NoGaitError as error:
        raise NoGaitError(
            f"the closed loop of '{loop.name}' has no gait near the one that is to be held: {error}",
            error.closest,
            error.fell,
        ) from error


__all__ = ["Compared", "HeldGait", "find_held_gait"]
