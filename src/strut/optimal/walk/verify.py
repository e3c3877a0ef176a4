"""What keeps a design from being believed, each in a sentence: the plan itself, its replay in the simulator,
and whether it repeats there."""

from __future__ import annotations

from strut.optimal.solver.limit_units import missed_requirements, violations
from strut.optimal.solver.result import Solution
from strut.optimal.walk.limit_origins import limit_origins
from strut.optimal.walk.replay import MAX_IMBALANCE, Replay
from strut.optimal.walk.step_limits import StepLimits


def plan_faults(solution: Solution, limits: StepLimits | None = None) -> list[str]:
    """Return what is wrong with a plan by itself: not solved, no optimum, inaccurate, or a limit that is kept
    at the points of the mesh but not between them. limits: of the step, so that what cannot be met is told
    with who asked it."""
    if not solution.success:
        reason = ""
        if cannot := missed_requirements(solution, limit_origins(solution, limits)):
            reason = f"; in the nearest motion found that the machine can do, {', '.join(cannot)}"
        elif stopped := violations(solution):
            reason = f"; where the search stopped there are violated: {', '.join(stopped)}"
        return [f"not solved: {solution.status}{reason}"]
    faults = list(solution.wrong)
    for name, (excess, unit) in solution.exceeded_limits.items():
        faults.append(
            f"'{name}' holds at the points of the mesh and is exceeded between them, by {excess:.3g}"
            f"{f' {unit}' if unit else ''}: give more intervals"
        )
    return faults


def replay_faults(replay: Replay) -> list[str]:
    """Return what is wrong with a plan in the simulator: another motion, an energy account that does not
    close, feet that pull, or a step that does not repeat."""
    if not replay.ok:
        return [f"the simulator tells another story than the plan: {replay.outcome_text}"]
    faults = []
    if replay.balance.relative > MAX_IMBALANCE:
        faults.append(
            f"the energy account of the replayed step does not close: {replay.balance.relative:.2g} of what "
            f"moved is missing, more than {MAX_IMBALANCE:g}"
        )
    faults += [
        f"the smallest normal force [N] of foot '{load.foot}' is {load.least_normal:.4g}, a foot cannot pull"
        for load in replay.foot_loads
        if load.least_normal < 0
    ]
    if replay.result.problem.repeats is None:
        return faults
    # A second equal step is no gait: it is one where states return exactly, and the multipliers are known.
    if replay.steps == 1 and replay.gait is None:
        faults.append(f"the plan does not repeat in the simulator: {replay.no_gait}")
    if replay.steps > 1 and replay.gait is None and not replay.repeats:
        faults.append(f"the {replay.steps} steps of the plan do not repeat in the simulator")
    return faults


__all__ = ["plan_faults", "replay_faults"]
