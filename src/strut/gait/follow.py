"""`follow`: a gait as a parameter changes, through folds and past period doublings (pseudo-arclength
continuation)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from strut.checks import checked, finite, integer
from strut.errors import ModelError, NoGaitError, UnknownNameError, ValueRangeError, did_you_mean
from strut.gait.bifurcation_tests import TESTS, BranchPoint, is_bifurcation
from strut.gait.branch import Bifurcation, Branch
from strut.gait.find import find
from strut.gait.gait import Gait, spectrum
from strut.gait.replay import replay, why_no_step
from strut.gait.return_map import ReturnMap, Step
from strut.gait.section import explain_status
from strut.system import System
from strut.system import start as values_of

CORRECTOR_TOLERANCE = 1e-11
"""Largest residual of a corrected point, relative to 1 + |w|; integration leaves a hundredth of it."""
STALLED_TOLERANCE = 1e3 * CORRECTOR_TOLERANCE
"""Largest residual of a point on which the corrector has used up its iterations, relative to 1 + |w|."""
PLANE_TOLERANCE = 1e-12
"""Largest distance of a corrected point from its plane, relative to 1 + the plane's own; and of a parameter
from its bound that is rounding, relative to the span."""
MAX_ITERATIONS = 12
"""Newton iterations of the corrector."""
MAX_CORRECTION = 1.0
"""Longest Newton step of the corrector, in scaled numbers: a longer one leaves the branch."""
FEW_ITERATIONS, MANY_ITERATIONS = 3, 6
"""Newton iterations of a point up to which the next step along the branch is longer, and from which on it is
shorter."""
MIN_STEP = 1e-7
"""Shortest step along the branch, in scaled arclength: where that fails, the branch ends."""
MAX_STEP_GROWTH = 50
"""A step along the branch is at most so many times as long as the points asked for need."""
MIN_TANGENT_COSINE = 0.9
"""Cosine of the angle between neighbouring tangents, at least, of steps longer than `MAX_STEP_AT_CORNERS`."""
MAX_STEP_AT_CORNERS = 1e-5
"""Arclength below which a step may turn by any angle."""
MIN_PARAMETER_PART = 0.2
"""Part of the tangent along the parameter, at least, by which a step is divided: near a fold the parameter
hardly changes, and steps would become endless."""


@checked
def follow(  # noqa: PLR0913 one that goes on by itself has that many choices
    system: System,
    parameter: str,
    to: float,
    start: Gait | None = None,
    *,
    points: int = 100,
    most: int = 2000,
    section: str | None = None,
    bounds: tuple[float, float] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Branch:
    """Follow the branch of gaits through `start` (by default the one `find` gives) as a parameter goes to the
    value `to`, by pseudo-arclength continuation.

    points: at least so many from here to there. most: no more than these in all. bounds: of the parameter;
    the branch ends there too, where a fold turned it back (by default it may return to where it began, and as
    far again). progress: called with the fraction of the way to `to`. The branch ends at `to`, at a bound,
    where steps fail (a foot scuffs, the walker takes off), or with `most` points. Raises NoGaitError where it
    cannot begin.
    """
    names = [q.name for q in system.p]
    if parameter not in names:
        raise UnknownNameError(
            f"system '{system.name}' has no parameter '{parameter}': {did_you_mean(parameter, names)}"
        )
    gait = start if start is not None else find(system, section=section)
    begin = float(values_of(gait.system).p[system.slices("p")[parameter].start])
    if to == begin:
        raise ValueRangeError(f"'{parameter}' is {to:g} already: follow a gait to another value")
    step = gait.map((parameter,))
    integer("points", points, 2)
    integer("most", most, 1)
    finite("to", to)
    own = next(q.bounds for q in system.p if q.name == parameter)
    low, high = sorted(bounds or (to, begin - 2 * (to - begin)))
    allowed = max(low, own[0]), min(high, own[1])
    continuation = Continuation(step, abs(to - begin), allowed)
    first = continuation.first_point(gait.y0, begin, sense=float(np.sign(to - begin)))
    continuation.tell = progress
    return continuation.branch_from(first, points, most)


@dataclass(frozen=True, eq=False)
class _Corrected:
    """A point on the branch, in scaled numbers, that the corrector found.

    w: free states and parameter. slopes: the derivative of the residual by w. jacobian: of the return map by
    the free states. period: of the gait there [s]. iterations: how many it took.
    """

    w: np.ndarray
    slopes: np.ndarray
    jacobian: np.ndarray
    period: float
    iterations: int


class Continuation:
    """Predictor and corrector on a map with one parameter (pseudo-arclength continuation); states and
    parameter are scaled to be of order one.

    span: the scale of the parameter. bounds: between which it stays. why: what the last point that failed
        failed by. tell: is called with the fraction of the span that is behind.
    """

    def __init__(self, step: ReturnMap, span: float, bounds: tuple[float, float]) -> None:
        self.step, self.bounds = step, bounds
        self.scale = np.ones(len(step.names) + 1)
        self.scale[-1] = span
        self.own = next(q.bounds for q in step.system.p if q.name == step.parameters[0])
        self.along_parameter = np.zeros(len(self.scale))
        self.along_parameter[-1] = 1.0
        self.why = ""
        self.tell: Callable[[float], None] | None = None

    # ---- points ----

    def evaluate(self, w: np.ndarray) -> Step | None:
        """The step at free states and parameter `w`; None where it fails."""
        real = w * self.scale
        inside = float(np.clip(real[-1], *self.own))
        if abs(real[-1] - inside) < PLANE_TOLERANCE * self.scale[-1]:  # rounding at the end of the range
            real[-1] = inside
        try:
            step = self.step(real[:-1], [real[-1]])
        except ValueRangeError as error:  # the parameter left its own bounds
            self.why = str(error)
            return None
        if not step.ok:
            self.why = f"steps end by {explain_status(self.step.system, step.status)}"
            return None
        return step

    def correct(self, guess: np.ndarray, row: np.ndarray, aim: float) -> _Corrected | None:
        """Newton's method onto the branch and onto the plane row . w = aim; None where it fails."""
        w = guess.copy()
        m = len(w) - 1
        for iterations in range(MAX_ITERATIONS):
            step = self.evaluate(w)
            if step is None:
                return None
            residual = step.y - (w * self.scale)[:-1]
            slopes = np.hstack([(step.by_y - np.eye(m)) * self.scale[:-1], step.by_p * self.scale[-1]])
            here = _Corrected(w, slopes, step.by_y, step.period, iterations)
            off_plane = row @ w - aim
            size = np.abs(residual).max() / (1 + np.abs(w).max())
            if size <= CORRECTOR_TOLERANCE and abs(off_plane) < PLANE_TOLERANCE * (1 + abs(aim)):
                return here
            bordered = np.vstack([slopes, row])
            dw = np.linalg.lstsq(bordered, -np.append(residual, off_plane), rcond=1e-14)[0]
            if not np.all(np.isfinite(dw)) or np.linalg.norm(dw) > MAX_CORRECTION:
                self.why = "Newton leaves the branch"
                return None
            w = w + dw
        if np.abs(residual).max() <= STALLED_TOLERANCE * (1 + np.abs(w).max()):
            return replace(here, w=w, iterations=MAX_ITERATIONS)
        self.why = "Newton does not converge"
        return None

    def point(self, corrected: _Corrected, along: np.ndarray) -> BranchPoint:
        """The point of a branch, its tangent in the sense of `along`."""
        real = corrected.w * self.scale
        tangent = np.linalg.svd(corrected.slopes)[2][-1]
        return BranchPoint(
            value=float(real[-1]),
            y=real[:-1],
            period=corrected.period,
            multipliers=spectrum(corrected.jacobian)[0],
            jacobian=corrected.jacobian,
            tangent=tangent if tangent @ along >= 0 else -tangent,
        )

    def ahead(self, at: BranchPoint, ds: float) -> tuple[BranchPoint, int] | None:
        """The point at arclength `ds` along the tangent, and the iterations it took; None where it fails."""
        w = np.append(at.y, at.value) / self.scale
        corrected = self.correct(w + ds * at.tangent, at.tangent, float(at.tangent @ w + ds))
        if corrected is None or not self.walks(corrected):
            return None
        return self.point(corrected, at.tangent), corrected.iterations

    def walks(self, corrected: _Corrected) -> bool:
        """Say whether the simulator makes the step, too, and ends it on its feet. A fixed point after which a
        foot does not lift is no gait."""
        step, real = self.step, corrected.w * self.scale
        p = step.start.p.copy()
        p[step.places] = np.clip(real[-1], *self.own)
        period = corrected.period
        why = why_no_step(replay(step, step.whole(real[:-1]), step.start.z, period, p), period)
        self.why = f"steps end by {explain_status(step.system, why)}" if why else self.why
        return not why

    # ---- along the branch ----

    def first_point(
        self, y: np.ndarray, value: float, *, sense: float = 1.0, row: np.ndarray | None = None
    ) -> BranchPoint:
        """The point to begin with, near free states and a value of the parameter: at this value, with a
        tangent along it in a `sense` of 1 or -1; or in the plane through it across `row`, with a tangent
        along that. Raises NoGaitError where there is none."""
        w = np.append(y, value) / self.scale
        across = self.along_parameter if row is None else row
        corrected = self.correct(w, across, float(across @ w))
        if corrected is None:
            raise NoGaitError(
                f"the branch of '{self.step.system.name}' cannot begin at {self.step.parameters[0]} = "
                f"{value:g}: {self.why}"
            )
        return self.point(corrected, self.along_parameter * sense if row is None else row)

    def branch_from(self, first: BranchPoint, points: int, most: int) -> Branch:
        """The branch from its first point on: at least so many `points` over the span of the parameter, at
        most `most` in all."""
        here, line, roots = first, [first], list[tuple[str, BranchPoint]]()
        parameter, longest = self.step.parameters[0], 1.0 / points
        ds, ended = longest, f"{most} points"
        while len(line) < most:
            step_length = min(ds, longest / max(abs(here.tangent[-1]), MIN_PARAMETER_PART))
            # a step that would pass a bound of the parameter goes onto it, and is the last
            bound = self._passed_bound(here.value + step_length * here.tangent[-1] * self.scale[-1])
            if bound is not None and (last := self._onto(here, bound)) is not None:
                roots += self._bifurcations_between(here, last, None)
                line.append(last)
                ended = f"reached {parameter} = {bound:.6g}"
                break
            # a step that fails, or turns too sharply, is halved
            following = None if bound is not None else self.ahead(here, step_length)
            if following is None:
                ds = min(ds, step_length) / 2
                if ds < MIN_STEP:
                    ended = f"beyond {parameter} = {here.value:.6g} {self.why}"
                    break
                continue
            new, iterations = following
            if new.tangent @ here.tangent < MIN_TANGENT_COSINE and ds > MAX_STEP_AT_CORNERS:
                ds = min(ds, step_length) / 2
                continue
            if (bound := self._passed_bound(new.value)) is not None:
                ended = f"reached {parameter} = {bound:.6g}"
                break
            roots += self._bifurcations_between(here, new, step_length)
            line.append(new)
            here = new
            if self.tell is not None:
                self.tell(min(1.0, abs(here.value - first.value) / self.scale[-1]))
            # the next step is longer or shorter by how hard this one was
            factor = 2.0 if iterations <= FEW_ITERATIONS else 0.7 if iterations >= MANY_ITERATIONS else 1.0
            ds = min(ds * factor, MAX_STEP_GROWTH * longest)
        step = self.step
        return Branch(
            system=step.system,
            name=parameter,
            section=step.section,
            steps=step.steps,
            names=step.names,
            z0=step.start.z,
            points=tuple(line),
            ended=ended,
            roots=roots,
        )

    def _passed_bound(self, value: float) -> float | None:
        """The bound that a value of the parameter is beyond, if it is."""
        low, high = self.bounds
        return low if value < low else high if value > high else None

    def _onto(self, here: BranchPoint, value: float) -> BranchPoint | None:
        """The point of the branch at a value of the parameter, near another; None where it fails."""
        aim = value / self.scale[-1]
        w = np.append(here.y, here.value) / self.scale
        slope = here.tangent[-1]
        guess = w + here.tangent * ((aim - w[-1]) / slope) if abs(slope) > 1e-6 else w
        corrected = self.correct(guess, self.along_parameter, aim)
        if corrected is None:
            return None
        if np.linalg.norm(corrected.w - guess) > 10 * np.linalg.norm(guess - w) + 1e-6:
            self.why = "the branch turns before it"
            return None
        return self.point(corrected, here.tangent) if self.walks(corrected) else None

    # ---- bifurcations ----

    def _bifurcations_between(
        self, a: BranchPoint, b: BranchPoint, ds: float | None
    ) -> list[tuple[str, BranchPoint]]:
        """The bifurcations between two neighbours, in order: kind and point. ds: the arclength between them,
        where it is known."""
        if ds is None:
            ds = float(a.tangent @ ((np.append(b.y, b.value) - np.append(a.y, a.value)) / self.scale))
        roots = []
        for kind, test in TESTS.items():
            if (
                test(a) * test(b) < 0
                and (point := self._root_of(test, a, b, ds)) is not None
                and is_bifurcation(kind, point)
            ):
                roots.append((kind, point))
        return sorted(roots, key=lambda root: float(np.linalg.norm((root[1].y - a.y) / self.scale[:-1])))

    def _root_of(
        self, test: Callable[[BranchPoint], float], a: BranchPoint, b: BranchPoint, ds: float
    ) -> BranchPoint | None:
        """Where a test vanishes along the branch, by the Illinois variant of false position."""
        low, high, f_low, f_high = 0.0, ds, test(a), test(b)
        best = b
        for _ in range(60):
            s = high - f_high * (high - low) / (f_high - f_low)
            if not low < s < high:
                s = (low + high) / 2
            at = self.ahead(a, s)
            if at is None:
                return None
            best, f = at[0], test(at[0])
            if f * f_high < 0:
                low, f_low = high, f_high
            else:
                f_low /= 2
            moved = abs(s - high)
            high, f_high = s, f
            low, high, f_low, f_high = (
                (low, high, f_low, f_high) if low <= high else (high, low, f_high, f_low)
            )
            if f == 0 or moved < 1e-13 or high - low < 1e-14 or abs(f) < 1e-14:
                break
        return best


def doubled_branch(
    at: Bifurcation, to: float | None = None, amplitude: float = 1e-3, **options: float
) -> Branch:
    """The branch of gaits that repeat after twice as many steps, which begins at a doubling.

    to: how far the parameter goes, by default a fifth of the old branch. amplitude: how far from the old
    gaits it begins, along the eigenvector of the multiplier -1. options: `points` and `most`, as of `follow`.
    Raises ModelError for another kind of bifurcation.
    """
    if at.kind != "doubling":
        raise ModelError(
            f"a {at.kind} at {at.branch.name} = {at.at:.9g} has no doubled branch: only a doubling has"
        )
    branch, point = at.branch, at.point
    values, vectors = spectrum(point.jacobian)
    v = np.real(vectors[:, int(np.argmin(np.abs(values + 1)))])
    v /= np.linalg.norm(v)
    x0 = ReturnMap(branch.system, branch.section).whole(point.y)
    step = ReturnMap(
        branch.system, branch.section, (branch.name,), steps=2 * branch.steps, x0=x0, z0=branch.z0
    )
    # it goes to the side on which the old gaits are unstable, unless told otherwise
    unstable = next(
        (b for b in branch.points if not b.stable and abs(b.value - at.at) < 0.1 * (abs(at.at) + 1)), point
    )
    sense = float(np.sign(unstable.value - at.at)) or 1.0
    aim = to if to is not None else at.at + sense * 0.2 * abs(np.ptp(branch.parameter))
    span = max(abs(aim - at.at), 1e-12)
    opposite = at.at - (aim - at.at)
    continuation = Continuation(step, span, (min(aim, opposite), max(aim, opposite)))
    row = np.append(v, 0.0)
    row /= np.linalg.norm(row)
    first = continuation.first_point(point.y + amplitude * v, at.at, row=row)
    return continuation.branch_from(first, int(options.get("points", 100)), int(options.get("most", 2000)))


__all__ = ["Continuation", "doubled_branch", "follow"]
