"""`Trajectory`: the result of a run, with names, dense evaluation at any time, an event log and the energy
account."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from strut.checks import checked, number_array, positive
from strut.errors import StrutError, UnknownNameError, ValueRangeError, did_you_mean
from strut.html import card
from strut.simulate.account import Account
from strut.simulate.dense_output import recorded_points, states_at
from strut.simulate.ending import ending_message, spell_choices
from strut.simulate.event_log import EventLog, event_log
from strut.simulate.live_result import LiveResult
from strut.simulate.names import Names
from strut.simulate.record import Raw
from strut.simulate.scene_samples import SceneSamples
from strut.simulate.steps import StepLedger, step_ledger
from strut.tabular import dataframe
from strut.units import LIMIT_FLAG

if TYPE_CHECKING:
    import pandas as pd

    from strut.codegen import Native, Virtual
    from strut.system import Quantity, System


VERBS: dict[str, Callable[..., Any]] = {}
"""What others do with a run, by the name of the method of `Trajectory` that calls it, so that a run needs to
know none of them. `strut.simulate` enters scenes and files when it is imported, `strut.view` pictures."""


def verb(name: str) -> Callable[..., Any]:
    """The function behind a method of `Trajectory`; imports `strut.view` when the first picture is asked
    for."""
    if name not in VERBS:
        importlib.import_module("strut.view")
    return VERBS[name]


@dataclass(frozen=True, eq=False)
class Delays:
    """The delays of a run [s], and its signals before it began as a function of time and parameters."""

    by: np.ndarray
    past: Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Moments:
    """A trajectory at chosen times: `moments["hip"]` is an array over them, or a number for a single time."""

    t: np.ndarray
    values: Mapping[str, np.ndarray] = field(repr=False)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.values:
            raise UnknownNameError(f"there is no '{name}' here: {did_you_mean(name, list(self.values))}")
        return self.values[name]

    def keys(self) -> list[str]:
        """Every name that can be asked for."""
        return list(self.values)


class CompiledLater:
    """The functions of a system, compiled when they are first asked for: of a run that comes out of a
    pickle."""

    def __init__(self, system: System, backend: str) -> None:
        self.system, self.backend = system, backend

    def evaluate(self, *arguments: Any) -> np.ndarray:
        """One of the system's functions at many points; see `Native.evaluate`."""
        from strut.codegen import compile_system

        return compile_system(self.system, backend=self.backend).evaluate(*arguments)


@dataclass(frozen=True, eq=False)
class Trajectory(LiveResult):
    """The result of a run.

    t: the times of all points [s]; an event contributes two, before and after.
    trajectory["name"]: a state, discrete state, input or output at those times; a parameter's value.
    at(times): everything at any times, from the integrator's dense output.
    events, ledger: what happened, and where the energy went.
    status: 'done', the name of the terminal event that ended the run, or what went wrong; `ok` is true for
        the first two. message: the same as a sentence, with names and numbers.
    statistics: steps, rejected, flows, jumps; wall and compile [s].
    provenance: system, versions, options, seed: what is needed to run it again.
    stored, stored_scene: what the file of a loaded run has: 'outputs' and 'energies' at its points, and its
        scene in frames.
    """

    system_name: str
    names: Names
    p: np.ndarray
    raw: Raw = field(repr=False)
    status: str
    statistics: Mapping[str, float]
    provenance: Mapping[str, Any] = field(repr=False)
    model: Native | Virtual | CompiledLater | None = field(default=None, repr=False)
    stored: Mapping[str, np.ndarray] = field(default_factory=dict, repr=False)  # of a loaded run
    delays: Delays | None = field(default=None, repr=False)
    system: System | None = field(default=None, repr=False)  # absent from a loaded run
    stored_scene: SceneSamples | None = field(default=None, repr=False)  # of a loaded run

    def __getstate__(self) -> dict[str, Any]:
        """For a pickle: the fields, but for compiled code."""
        return {label: getattr(self, label) for label in self.__dataclass_fields__ if label != "model"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        system, backend = self.system, "auto" if self.provenance["compiled"] else "virtual"
        self.__dict__["model"] = None if system is None else CompiledLater(system, backend)

    @property
    def ok(self) -> bool:
        """The run reached its end, or ended in an event that was meant to end it: not in a failure, such as a
        fall."""
        return self.status == "done" or (self.status in self.names.jumps and not self.ended_in_failure)

    @property
    def ended_in_failure(self) -> bool:
        """Whether the run ended in an event that says the machine failed."""
        return self.status in self.names.failures

    @property
    def ending_meaning(self) -> str:
        """What the event that ended the run says of itself; empty where none did, or it says nothing."""
        values = dict(zip(self.names.z, self.raw.z_end, strict=True))
        return spell_choices(self.names.meanings.get(self.status, ""), values)

    @property
    def dimensionless(self) -> bool:
        """Whether its numbers have no units. They have none where the system names `scales` and all of them
        were 1."""
        if not self.names.scales:
            return False
        scales = [
            value for name, value in zip(self.names.p, self.p, strict=True) if name in self.names.scales
        ]
        return bool(scales) and all(value == 1 for value in scales)

    @property
    def message(self) -> str:
        """How the run ended, as a sentence; it names the event or the state that ended it."""
        states = [*self.raw.x_end[: len(self.names.x)], *self.raw.z_end]
        return ending_message(
            self.status, self.names, self.t1, cause=self.raw.cause, culprit=self.raw.culprit, states=states
        )

    @property
    def time_at_limits(self) -> dict[str, float]:
        """For which part of the time each limit decided, such as that of a motor's driver, by the name of the
        output that says so; those that never did are left out. Steps of the run are counted by their ends."""
        flags = [name for name in self.names.outputs if self.names.units.get(name) == LIMIT_FLAG]
        span = self.t1 - self.t0
        if not flags or not span > 0:
            return {}
        weights = np.zeros(len(self.t))
        weights[:-1] += np.diff(self.t) / 2
        weights[1:] += np.diff(self.t) / 2
        shares = {name: float(np.asarray(self[name]) @ weights) / span for name in flags}
        return {name: share for name, share in shares.items() if share > 0}

    def __repr__(self) -> str:
        span = f"{self.t0:g} to {self.t1:g} s"
        return (
            f"<Trajectory {self.system_name}: {span}, {len(self.raw.t)} steps, {len(self.events)} events, "
            f"{self.status}>"
        )

    def _repr_html_(self) -> str:
        """In a notebook."""
        n = self.names
        ends = [*zip(n.x, self.raw.x_end, strict=False), *zip(n.z, self.raw.z_end, strict=True)]
        tables: dict[str, tuple[Sequence[str], Sequence[Sequence[object]]]] = {
            "at the end": (
                ("state", "value", "unit"),
                [(k, f"{v:.6g}", n.units.get(k.split("[")[0], "")) for k, v in ends],
            ),
            "parameters": (
                ("name", "value", "unit"),
                [(k, f"{v:.6g}", n.units.get(k, "")) for k, v in zip(n.p, self.p, strict=True)],
            ),
            "events": (("event", "times"), list(self.events.counts().items())),
        }
        if n.stored and self.has_ledger:
            tables["energy"] = (
                ("where", "change [J]"),
                [(k, f"{v:.6g}") for k, v in self.ledger.summary().items()],
            )
        about = (
            f"{self.t0:g} to {self.t1:g} s, {len(self.raw.t)} steps, {len(self.events)} events, {self.status}"
        )
        return card(f"Trajectory {self.system_name}", about, tables)

    @property
    def has_ledger(self) -> bool:
        """Whether the energy account was kept during this run."""
        return bool(self.provenance["options"]["ledger"])

    @property
    def end(self) -> dict[str, np.ndarray]:
        """The state in which the run ended, to go on from there: `simulate(system, t=(run.t1, 20),
        **run.end)`."""
        return {
            "x0": self.raw.x_end[: len(self.names.x)],
            "z0": self.raw.z_end,
            "u": self.raw.u_end,
            "p": self.p,
        }

    @property
    def t0(self) -> float:
        """When the run began [s]."""
        return float(self.t[0])

    @property
    def t1(self) -> float:
        """When the run ended [s]."""
        return float(self.raw.t_end)

    # ---- points ----

    @cached_property
    def _points(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Times, states (with integrated powers), discrete states, inputs, and how many jumps came before."""
        return recorded_points(self.raw)

    @cached_property
    def t(self) -> np.ndarray:
        """The times of all points [s]; an event contributes two, before and after."""
        return self._points[0]

    @cached_property
    def _outputs(self) -> np.ndarray:
        """The outputs at all points."""
        if "outputs" in self.stored:
            return self.stored["outputs"]
        t, x, z, u, _ = self._points
        return self._evaluate("outputs", t, x, z, u)

    def _evaluate(self, which: str, t: np.ndarray, x: np.ndarray, z: np.ndarray, u: np.ndarray) -> np.ndarray:
        """One of the system's functions at many points; see `Native.evaluate`."""
        if self.model is None:
            raise StrutError(
                "this trajectory was loaded without its system: give it, Trajectory.load(file, system=...)"
            )
        nx = len(self.names.x)
        d: Any = 0.0
        if self.delays is not None:
            d = np.empty((len(t), len(self.delays.by)))
            for k, by in enumerate(self.delays.by):
                then = np.maximum(t - by, self.t0)
                xs, zs, us = self._states(then)
                during = self.model.evaluate("signals", then, xs[:, :nx], zs, us, self.p)[:, k]
                before = np.array(self.delays.past(t[None, :] - by, self.p))[k] if len(t) else during
                d[:, k] = np.where(t - by < self.t0, before, during)
        return self.model.evaluate(which, t, x[:, :nx], z, u, self.p, d)

    def _states(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x, z, u at any times, from the dense output."""
        return states_at(self.raw, t)

    def __getitem__(self, name: str | Quantity) -> np.ndarray:
        """Values over `t`; several columns for a vector. A parameter gives its value."""
        name = str(name)
        t, x, z, u, _ = self._points
        if name == "t":
            return t
        for group, array in (("x", x), ("z", z), ("u", u)):
            columns = _columns(getattr(self.names, group), name)
            if columns is not None:
                return array[:, columns]
        columns = _columns(self.names.outputs, name)
        if columns is not None:
            return self._outputs[:, columns]
        columns = _columns(self.names.p, name)
        if columns is not None:
            return self.p[columns]
        raise UnknownNameError(f"'{self.system_name}' has no '{name}': {did_you_mean(name, self.keys())}")

    def keys(self) -> list[str]:
        """Every name that can be asked for."""
        n = self.names
        return [*n.x, *n.z, *n.u, *n.outputs, *n.p]

    @checked
    def at(self, times: Any) -> Moments:
        """Return everything at `times` [s], from the dense output; outputs are computed there, not
        interpolated."""
        t = self._inside(times)
        x, z, u = self._states(t)
        groups = {"x": x, "z": z, "u": u}
        if self.names.outputs and self.model is not None:
            groups["outputs"] = self._evaluate("outputs", t, x, z, u)
        single = np.ndim(times) == 0
        values = {}
        for group, array in groups.items():
            labels = getattr(self.names, group)
            for name in dict.fromkeys(label.split("[")[0] for label in labels) | dict.fromkeys(labels):
                chosen = array[:, _columns(labels, name)]
                values[name] = chosen[0] if single else chosen
        return Moments(t[0] if single else t, values)

    def _inside(self, times: Any) -> np.ndarray:
        """`times` as an array, if the run covers them."""
        t = np.atleast_1d(number_array("times", times))
        slack = 1e-12 * max(1.0, abs(self.t1))
        if t.size and not (self.t0 - slack <= t.min() and t.max() <= self.t1 + slack):
            raise ValueRangeError(
                f"asked for t = {t.min():g} to {t.max():g} s, but the run covers {self.t0:g} to {self.t1:g} s"
            )
        return t

    # ---- events and energy ----

    @cached_property
    def events(self) -> EventLog:
        """Events in order of time; samples of the clock are left out."""
        return event_log(self.names, self.raw, clocked=False)

    @cached_property
    def samples(self) -> EventLog:
        """What the clock triggered."""
        return event_log(self.names, self.raw, clocked=True)

    @cached_property
    def ledger(self) -> Account:
        """Stored, supplied, dissipated and lost energy over `t`, and how well they balance."""
        t, x, z, u, count = self._points
        energies = (
            self.stored["energies"] if "energies" in self.stored else self._evaluate("energies", t, x, z, u)
        )
        return self._account(t, energies, x, count)

    @checked
    def ledger_at(self, times: Any) -> Account:
        """The energy account at any times [s]; at an event, what holds after it."""
        t = self._inside(times)
        x, z, u = self._states(t)
        return self._account(
            t, self._evaluate("energies", t, x, z, u), x, np.searchsorted(self.raw.jump_t, t, side="right")
        )

    @checked
    def steps(self, event: str | None = None) -> StepLedger:
        """The energy account step by step, from landing to landing; `event` names what ends a step, if not
        the obvious one."""
        if event is not None:
            self.events.times(event)  # an error if there is no such event
        return step_ledger(
            self.events,
            self.ledger,
            ended_by=self.names.step_events if event is None else (event,),
            jumps_before=self._points[-1],
        )

    def _account(self, t: np.ndarray, energies: np.ndarray, x: np.ndarray, jumps: np.ndarray) -> Account:
        """The energy account at times [s], of stored energies, states with integrated powers, and how many
        jumps came before each."""
        n = self.names
        work = x[:, len(n.x) :]
        if not self.has_ledger:
            raise StrutError("this run kept no ledger: simulate with ledger=True")
        lost = np.vstack([np.zeros((1, self.raw.loss.shape[1])), np.cumsum(self.raw.loss, axis=0)])[jumps]
        s = len(n.supplied)
        return Account(
            t,
            dict(zip(n.stored, energies.T, strict=True)),
            dict(zip(n.supplied, work[:, :s].T, strict=True)),
            dict(zip(n.dissipated, -work[:, s:].T, strict=True)),
            dict(zip(n.lost, lost.T, strict=True)),
        )

    # ---- pictures ----

    @checked
    def stage(self, rate: float = 60.0) -> SceneSamples | None:
        """Sample where everything that can be seen is, `rate` times a second; None for a run of nothing
        visible."""
        positive("rate", rate, "frames per second")
        samples: SceneSamples | None = verb("stage")(self, rate)
        return samples

    @checked
    def animate(self, path: str | Path | None = None, **options: Any) -> Any:
        """A moving picture: .html to play, turn and follow in any browser, .gif, .mp4, or frames as
        name%d.png; see `strut.view.animation`. Without a path, one that a notebook shows."""
        return verb("animate")(self, path, **options)

    @checked
    def plot(self, *names: str, **options: Any) -> Any:
        """Curves by name over time; see `strut.view.plot`."""
        return verb("plot")(self, *names, **options)

    # ---- files and tables ----

    @checked
    def to_dataframe(self, times: Any = None) -> pd.DataFrame:
        """A pandas table of states, discrete states, inputs and outputs, at all points or at chosen times."""
        return dataframe(self.table(times))

    @checked
    def table(self, times: Any = None) -> dict[str, np.ndarray]:
        """Columns by name: t, then every component of states, discrete states, inputs and outputs."""
        n = self.names
        labels = (*n.x, *n.z, *n.u, *n.outputs)
        if times is None:
            return {"t": self.t, **{label: self[label] for label in labels}}
        moments = self.at(np.atleast_1d(number_array("times", times)))
        return {"t": moments.t, **{label: moments[label] for label in labels if label in moments.values}}

    @checked
    def save(self, path: str | Path, times: Any = None) -> Path:
        """Write the run: .h5 keeps everything and can be loaded again; .csv holds a table, at all points or
        at chosen times. The file appears whole or not at all."""
        written: Path = verb("save")(self, Path(path), times)
        return written

    @staticmethod
    @checked
    def load(path: str | Path, system: System | None = None) -> Trajectory:
        """Read a run from .h5. With its `system`, outputs can be evaluated at any time; without, at the
        points."""
        run: Trajectory = verb("load")(Path(path), system)
        return run


def _columns(labels: tuple[str, ...], name: str) -> int | list[int] | None:
    """Where `name` stands among component labels: one column, or several for a whole vector."""
    if name in labels:
        return labels.index(name)
    several = [k for k, label in enumerate(labels) if label.startswith(name + "[")]
    return several or None
