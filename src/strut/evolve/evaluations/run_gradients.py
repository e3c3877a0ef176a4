"""Exact derivatives of a run's measures by what is searched: variational equations beside the flow, saltation
matrices at events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca
import numpy as np

from strut.errors import ModelError
from strut.evolve.evaluations.evaluation import GradientRun
from strut.evolve.evaluations.run_measures import ENERGY_TOTALS, component
from strut.evolve.evaluations.system_runs import SystemEvaluation
from strut.gait.variational import ALONG, BY_HELD, BY_STATE, OF_TIME, variational, varying_discrete_states
from strut.simulate.prepared_run import PreparedRun
from strut.system import Discrete, Event, System, start, sx, time

END_EVENT = "evaluation_ends"
"""The event that ends a run at its time."""
GRADIENT_TOLERANCES = {"rtol": 1e-9, "atol": 1e-11}
"""Relative and absolute error of a run with its derivatives."""
TIME_MARGIN = 1e-6
"""Part of a run's time by which it may last longer, so that its end is an event inside of it."""


class RunGradients:
    """Measures of runs of a system and their derivatives by parameters and initial states.

    names: what is searched; each is a parameter or a state of the system. row: values from which it begins.
    All runs end as the run from these does: in the same terminal event, or at the evaluation's time. Measures
    that count, and energies, have no derivatives: `smooth` says which have.
    Raises ModelError for a system with samples, delays or random numbers, and for an input.
    """

    def __init__(self, evaluation: SystemEvaluation, names: Sequence[str], row: np.ndarray) -> None:
        self.evaluation, self.names = evaluation, tuple(names)
        run_measures = evaluation.run_measures
        self.system = system = run_measures.system
        if system.randoms:
            raise ModelError(
                f"the system '{system.name}' draws random numbers ('{system.randoms[0].name}'): its measures "
                "have no derivatives"
            )
        for name in self.names:
            if name not in system.labels("p") and name not in system.labels("x"):
                raise ModelError(
                    f"'{name}' is neither a parameter nor a state of '{system.name}': there are derivatives "
                    "by these alone; make it a parameter"
                )
        own_run = PreparedRun(system, evaluation.time, **GRADIENT_TOLERANCES)
        self._fill(own_run, row)
        own_run()
        self.ending = own_run.status
        terminal = [event.name for event in system.events if event.terminal]
        if self.ending != "done" and self.ending not in terminal:
            raise ModelError(f"the run broke off ({self.ending}): it has no derivatives")
        section = self.ending
        if self.ending == "done":
            end = Event(END_EVENT, time - evaluation.time, terminal=True)
            system = replace(system, events=(*system.events, end))
            section = END_EVENT
        self.section = section
        self.held = varying_discrete_states(system)
        self._run = PreparedRun(
            variational(system, section, len(self.names)),
            evaluation.time * (1 + TIME_MARGIN),
            **GRADIENT_TOLERANCES,
        )
        self._counts = {
            f"count.{name}": float(count)
            for name, count in zip(own_run.jumps, own_run.counts[0], strict=True)
        }
        self._function, self.smooth = self._measure_function()
        self._initial = _initial_function(self.system, self.held)

    def run(self, row: np.ndarray) -> GradientRun | None:
        """Return measures and derivatives of a run, or None where it does not end as the first one did."""
        run, system = self._run, self.system
        self._fill(run, row)
        nx, nz, count = system.size("x"), system.size("z"), len(self.names)
        along = np.zeros((system.size("p"), count))
        by_state = np.zeros((nx, count))
        initial = self._initial(run.p[0, : system.size("p")], run.x0[0, :nx])
        x_by_p, z_by_x, z_by_p = (np.array(each) for each in initial)
        # what is searched begins where it is put, whatever the parameters are
        x_by_p[[system.labels("x").index(name) for name in self.names if name in system.labels("x")]] = 0.0
        for k, name in enumerate(self.names):
            if name in system.labels("p"):
                along[system.labels("p").index(name), k] = 1.0
                by_state[:, k] = x_by_p[:, system.labels("p").index(name)]
            else:
                by_state[system.labels("x").index(name), k] = 1.0
        by_held = z_by_x @ by_state + z_by_p @ along
        varied = run.system
        places = varied.slices("x")[BY_STATE], varied.slices("p")[ALONG]
        run.x0[0, places[0]] = np.hstack([np.eye(nx), by_state]).reshape(-1, order="F")
        run.p[0, places[1]] = along.reshape(-1, order="F")
        run.z0[0, nz:] = 0.0
        if self.held:
            zeros = np.zeros((len(by_held), nx))
            run.z0[0, varied.slices("z")[BY_HELD]] = np.hstack([zeros, by_held]).reshape(-1, order="F")
        run()
        if run.status != self.section:
            return None
        x, z, p = run.x[0, :nx], run.z[0, :nz], run.p[0, : system.size("p")]
        x_by = run.x[0, places[0]].reshape(nx, -1, order="F")[:, nx:]
        t_by = run.z[0, varied.slices("z")[OF_TIME]][nx:]
        z_by = (
            run.z[0, varied.slices("z")[BY_HELD]].reshape(len(by_held), -1, order="F")[:, nx:]
            if self.held
            else np.zeros((0, count))
        )
        values, m_x, m_z, m_p, m_t = (np.array(each) for each in self._function(run.t[0], x, z, run.u[0], p))
        return GradientRun(values[:, 0], m_x @ x_by + m_z @ z_by + m_p @ along + m_t @ t_by[None])

    def _fill(self, run: PreparedRun, row: np.ndarray) -> None:
        """Put the values of an individual into a prepared run."""
        system = self.system
        chosen: dict[str, dict[str, float]] = {"p": {}, "x": {}}
        for name, value in zip(self.names, row, strict=True):
            chosen["p" if name in system.labels("p") else "x"][name] = float(value)
        begin = start(system, x0=chosen["x"], p=chosen["p"])
        for group, target in (("x", run.x0), ("z", run.z0), ("u", run.u), ("p", run.p)):
            target[0, : system.size(group)] = getattr(begin, group)

    def _measure_function(self) -> tuple[ca.Function, tuple[bool, ...]]:
        """Return measures of the end of a run with their derivatives by its states, the discrete states that
        vary, parameters and time; and which measures have derivatives."""
        measures, system = self.evaluation.run_measures, self.system
        unknown = {name: ca.SX.sym(f"k{k}") for k, name in enumerate(measures.names)}
        values: dict[str, ca.SX] = {}
        for name in measures.names:
            if name == "end.time":
                values[name] = time
            elif name == "end.ok":
                values[name] = ca.SX(float(self.ending == "done"))
            elif name.partition(".")[0] in ("count", *ENERGY_TOTALS):
                values[name] = unknown[name]
            else:
                values[name] = sx(component(system, name))
        rows = sx(measures.function(ca.vertcat(*values.values())))
        jumps = ca.vertcat(
            *[symbol for name, symbol in unknown.items() if values[name] is symbol], ca.SX(0, 1)
        )
        smooth = tuple(not (jumps.numel() and ca.depends_on(rows[k], jumps)) for k in range(rows.numel()))
        counts = ca.vertcat(
            *[ca.SX(self._counts.get(name, 0.0)) for name in unknown if values[name] is unknown[name]],
            ca.SX(0, 1),
        )
        if jumps.numel():
            rows = ca.substitute(rows, jumps, counts)
        x, z, u, p = system.vectors()
        held_symbols = ca.vertcat(*[q.sym for q in self.held], ca.SX(0, 1))
        by_held = ca.jacobian(rows, held_symbols) if held_symbols.numel() else ca.SX(rows.numel(), 0)
        results = [rows, ca.jacobian(rows, x), by_held, ca.jacobian(rows, p), ca.jacobian(rows, time)]
        return ca.Function("measures", [time, x, z, u, p], [ca.densify(each) for each in results]), smooth


def _initial_function(system: System, held: Sequence[Discrete]) -> ca.Function:
    """Return derivatives of initial values, at parameters and states: of states by parameters, and of the
    discrete states that vary by states and by parameters."""
    x, _, _, p = system.vectors()
    states = ca.vertcat(*[ca.vec(sx(q.value)) for q in system.x], ca.SX(0, 1))
    discrete = ca.vertcat(*[ca.vec(sx(q.value)) for q in held], ca.SX(0, 1))
    by_x = ca.jacobian(discrete, x) if discrete.numel() else ca.SX(0, x.numel())
    by_p = ca.jacobian(discrete, p) if discrete.numel() else ca.SX(0, p.numel())
    results = [ca.jacobian(states, p), by_x, by_p]
    return ca.Function("initial", [p, x], [ca.densify(each) for each in results])
