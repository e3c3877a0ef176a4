"""`bifurcation_map`: how a walker walks once it has settled, over a parameter, by walking (brute-force
bifurcation diagram)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from strut.checks import checked, integer
from strut.errors import ModelError, UnknownNameError, did_you_mean
from strut.gait.gait import Gait
from strut.simulate import simulate
from strut.tabular import Tabular

MAP_TOLERANCE = 1e-8
"""Relative and absolute error of the runs of a map: what is seen in a figure needs no more."""
SETTLED_CHANGE = 1e-4
"""[1] Change of the first state after a step, relative to its size, from one period to the next, below which
a walk has settled: a hundredth of what is seen in a figure."""
MAX_SETTLING_ROUNDS = 20
"""How many times `steps` more steps are walked at most where a walk is still settling, as beside a
bifurcation."""
CHECKED_PERIODS = (1, 2, 4, 8)
"""Steps after which a walk may repeat itself, as it is looked at whether it still settles."""
TIME_PER_STEP = 1.2
"""[1] Time that a run has for each of its steps, over the mean of the steps before: steps get longer."""


@checked
@dataclass(frozen=True, eq=False)
class BifurcationMap(Tabular):
    """Steps of a walker over a parameter, after it had time to settle at each value.

    name: of the parameter. at: its value at each step. step_time: how long each step took [s].
    names, states: of what was free in the gait, just after each step; a row for each step.
    ended: why there are no more values.
    """

    name: str
    at: np.ndarray = field(repr=False)
    step_time: np.ndarray = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    states: np.ndarray = field(repr=False)
    ended: str = ""

    def columns(self) -> dict[str, np.ndarray]:
        """Return of every step the parameter, how long it took [s], and the states after it."""
        return {self.name: self.at, "step_time": self.step_time} | dict(
            zip(self.names, self.states.T, strict=True)
        )

    def __repr__(self) -> str:
        return f"<BifurcationMap over {self.name}: {len(self.at)} steps, {self.ended}>"


@checked
def bifurcation_map(
    gait: Gait,
    name: str,
    to: float,
    *,
    values: int = 120,
    steps: int = 60,
    kept: int = 30,
    progress: Callable[[float], None] | None = None,
) -> BifurcationMap:
    """Walk at each value of a parameter, from where the walk before it ended, and note the last steps: a
    brute-force bifurcation diagram. What is unstable is not seen; `follow` sees it.

    gait: where it begins, with its parameters. name, to: the parameter, and its last value. values: how many
    there are. steps: walked at each, of which the last `kept` are noted. Where these still come closer to a
    gait or leave one, slowly, as they do beside a bifurcation, it walks on, for up to
    `MAX_SETTLING_ROUNDS` times as many; of what has not settled even then the last period alone is noted. The
    map ends where the walker falls. progress: called with the fraction of the values that are done. Raises
    UnknownNameError for no parameter, ModelError for a gait whose steps do not all end in one event.
    """
    parameters = {q.name: float(np.ravel(q.value)[0]) for q in gait.system.p if np.size(q.value) == 1}
    if name not in parameters:
        raise UnknownNameError(f"there is no parameter '{name}': {did_you_mean(name, list(parameters))}")
    integer("values", values, 2)
    integer("steps", steps, 2)
    integer("kept", kept, 1, steps)
    x, z, return_map = gait.vector, np.array(list(gait.z0.values()), dtype=float), gait.map()
    step_time = gait.period / max(gait.steps, 1)
    at: list[float] = []
    times: list[float] = []
    rows: list[list[float]] = []
    ended = f"reached {name} = {to:g}"
    for k, value in enumerate(np.linspace(parameters[name], to, values)):
        for walked in range(1 + MAX_SETTLING_ROUNDS):
            run = simulate(
                gait.system,
                t=steps * step_time * TIME_PER_STEP,
                x0=x,
                z0=z,
                p={name: value},
                ledger=False,
                rtol=MAP_TOLERANCE,
                atol=MAP_TOLERANCE,
            )
            if run.names.step_events != (gait.section,):
                raise ModelError(
                    f"steps of '{gait.system.name}' end in {', '.join(run.names.step_events) or 'no event'}: "
                    f"a map is of walkers whose steps all end in one event"
                )
            ends = [event for event in run.events if event.name == gait.section][-kept - 1 :]
            if not run.ok or len(ends) < 2:
                break
            durations = np.diff([event.t for event in ends])
            after = np.array([[event.after[each] for each in gait.names] for event in ends[1:]])
            step_time = float(durations.mean())
            # where the foot stands and what the clock says begin anew: ground of another slope lies elsewhere
            x = np.asarray(return_map.whole(after[-1:]))[0]
            period = settling_period(after[:, 0])
            if not period:
                break
            if walked == MAX_SETTLING_ROUNDS:
                durations, after = durations[-period:], after[-period:]
        if not run.ok or len(ends) < 2:
            ended = f"no walk of {steps} steps at {name} = {value:.5g}: {run.status}"
            break
        at += [float(value)] * len(durations)
        times += durations.tolist()
        rows += after.tolist()
        if progress is not None:
            progress((k + 1) / values)
    states = np.array(rows).reshape(-1, len(gait.names))
    return BifurcationMap(name, np.array(at), np.array(times), gait.names, states, ended)


def settling_period(values: np.ndarray) -> int:
    """Return after how many steps a walk repeats itself that still settles: its values, a period apart, all
    move one way. 0 where it has settled, or never will (chaos)."""
    size = SETTLED_CHANGE * (float(np.abs(values).max()) or 1.0)
    for period in CHECKED_PERIODS:
        if len(values) <= 3 * period:
            break
        change = values[period:] - values[:-period]
        if np.abs(change).max() <= size:
            return 0
        columns = [change[k::period] for k in range(period)]
        if all((column >= 0).all() or (column <= 0).all() for column in columns):
            return period
    return 0


__all__ = ["BifurcationMap", "bifurcation_map"]
