"""`follow`: a gait as a parameter changes, through folds and past period doublings (pseudo-arclength
continuation)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from strut.checks import checked, finite, integer
from strut.errors import ModelError, NoGaitError, UnknownNameError, ValueRangeError, did_you_mean
from strut.gait.bifurcation_tests import TESTS, BranchPoint, is_bifurcation
from strut.gait.branch import Bifurcation, Branch
from strut.gait.find import find
from strut.gait.gait import Gait, spectrum
from strut.gait.replay import replay, why_no_step
from strut.gait.return_map import ReturnMap
from strut.gait.section import explain_status
from strut.system import System
from strut.system import start as values_of

CLOSE = 1e-11
"""Corrected points solve their equations this exactly, relative to the state."""
EASY, HARD = 3, 6
"""Newton iterations of a point below which the next step along the branch is longer, and above which it is
shorter."""


@checked
def follow(
    system: System,
    parameter: str,
    to: float,
    start: Gait | None = None,
    *,
    points: int = 100,
    most: int = 2000,
    section: str | None = None,
    bounds: tuple[float, float] | None = None,
) -> Branch:
    """The branch of gaits through `start` (by default the one `find` gives), in the direction of `to`, as far
    as that.

    points: at least so many from here to there. most: no more than these in all. bounds: of the parameter;
    the branch ends there too, where a fold turned it back (by default it may return to where it began, and as
    far again). The branch ends at `to`, at a bound, where steps fail (a foot scuffs, the walker takes off),
    or with `most` points.
    """
    known = [q.name for q in system.p]
    if parameter not in known:
        raise UnknownNameError(
            f"system '{system.name}' has no parameter '{parameter}': {did_you_mean(parameter, known)}"
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
    walk = _Follow(step, abs(to - begin), allowed, to)
    return walk.run(gait.y0, begin, float(np.sign(to - begin)), points, most)


class _Follow:
    """Predictor and corrector on a map with one parameter; states and parameter are scaled to be of order
    one."""

    def __init__(self, step: ReturnMap, span: float, bounds: tuple[float, ...], to: float | None) -> None:
        self.step, self.bounds, self.to = step, bounds, to
        self.scale = np.ones(len(step.names) + 1)
        self.scale[-1] = span
        self.own = next(q.bounds for q in step.system.p if q.name == step.parameters[0])
        self.why = ""

    def equations(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, float] | None:
        """The residual at (y, parameter) in scaled numbers, its derivatives and the period; None where the
        step fails."""
        real = w * self.scale
        inside = float(np.clip(real[-1], *self.own))
        if abs(real[-1] - inside) < 1e-12 * self.scale[-1]:  # rounding at the end of the range
            real[-1] = inside
        try:
            done = self.step(real[:-1], [real[-1]])
        except ValueRangeError as error:  # the parameter left its own bounds
            self.why = str(error)
            return None
        if not done.ok:
            self.why = f"steps end by {explain_status(self.step.system, done.status)}"
            return None
        m = len(real) - 1
        F = np.hstack([(done.by_y - np.eye(m)) * self.scale[:-1], done.by_p * self.scale[-1]])
        self.by_y = done.by_y
        return done.y - real[:-1], F, done.period

    def correct(
        self, guess: np.ndarray, row: np.ndarray, aim: float
    ) -> tuple[np.ndarray, np.ndarray, float, int] | None:
        """Newton onto the branch and onto the plane row . w = aim; the last derivative, the period, the
        iterations."""
        w = guess.copy()
        for k in range(12):
            at = self.equations(w)
            if at is None:
                return None
            F, D, period = at
            if np.abs(F).max() <= CLOSE * (1 + np.abs(w).max()) and abs(row @ w - aim) < 1e-12 * (
                1 + abs(aim)
            ):
                return w, D, period, k
            full = np.vstack([D, row])
            dw = np.linalg.lstsq(full, -np.append(F, row @ w - aim), rcond=1e-14)[0]
            if not np.all(np.isfinite(dw)) or np.linalg.norm(dw) > 1.0:
                self.why = "Newton leaves the branch"
                return None
            w = w + dw
        if np.abs(F).max() <= 1e3 * CLOSE * (1 + np.abs(w).max()):
            return w, D, period, 12
        self.why = "Newton does not converge"
        return None

    def tangent(self, D: np.ndarray, along: np.ndarray) -> np.ndarray:
        t = np.linalg.svd(D)[2][-1]
        return t if t @ along >= 0 else -t

    def point(self, w: np.ndarray, D: np.ndarray, period: float, along: np.ndarray) -> BranchPoint:
        J = self.by_y.copy()
        real = w * self.scale
        return BranchPoint(float(real[-1]), real[:-1], period, spectrum(J)[0], J, self.tangent(D, along))

    def ahead(self, at: BranchPoint, ds: float) -> tuple[BranchPoint, int] | None:
        """The point at arclength ds along the tangent."""
        w = np.append(at.y, at.value) / self.scale
        done = self.correct(w + ds * at.tangent, at.tangent, float(at.tangent @ w + ds))
        if done is None or not self.walks(done[0], done[2]):
            return None
        return self.point(done[0], done[1], done[2], at.tangent), done[3]

    def walks(self, w: np.ndarray, period: float) -> bool:
        """Does the simulator make the step, too, and end it on its feet? A fixed point after which a foot
        does not lift is no gait."""
        step, real = self.step, w * self.scale
        p = step.start.p.copy()
        p[step.places] = np.clip(real[-1], *self.own)
        why = why_no_step(replay(step, step.whole(real[:-1]), step.start.z, period, p), period)
        self.why = f"steps end by {explain_status(step.system, why)}" if why else self.why
        return not why

    def run(
        self,
        y: np.ndarray,
        value: float,
        sense: float,
        points: int,
        most: int,
        first: np.ndarray | None = None,
    ) -> Branch:
        w = np.append(y, value) / self.scale
        fixed = np.zeros(len(w))
        fixed[-1] = 1.0
        row = fixed if first is None else first
        done = self.correct(w, row, float(row @ w))
        if done is None:
            raise NoGaitError(
                f"the branch of '{self.step.system.name}' cannot begin at {self.step.parameters[0]} = "
                f"{value:g}: {self.why}"
            )
        here = self.point(done[0], done[1], done[2], fixed * sense if first is None else row)
        found: list[tuple[str, BranchPoint]] = []
        line = [here]
        longest = 1.0 / points
        ds = longest
        ended = f"{most} points"
        while len(line) < most:
            step_length = min(ds, longest / max(abs(here.tangent[-1]), 0.2))
            out = self._outside(here.value + step_length * here.tangent[-1] * self.scale[-1])
            if out is not None and (last := self._onto(here, out)) is not None:
                found += self._between(here, last, None)
                line.append(last)
                ended = f"reached {self.step.parameters[0]} = {out:.6g}"
                break
            next_ = None if out is not None else self.ahead(here, step_length)
            if next_ is None:
                ds = min(ds, step_length) / 2
                if ds < 1e-7:
                    ended = f"beyond {self.step.parameters[0]} = {here.value:.6g} {self.why}"
                    break
                continue
            new, iterations = next_
            if new.tangent @ here.tangent < 0.9 and ds > 1e-5:
                ds = min(ds, step_length) / 2
                continue
            if (out := self._outside(new.value)) is not None:
                ended = f"reached {self.step.parameters[0]} = {out:.6g}"
                break
            found += self._between(here, new, step_length)
            line.append(new)
            here = new
            ds = min(ds * (2.0 if iterations <= EASY else 0.7 if iterations >= HARD else 1.0), 50 * longest)
        step = self.step
        return Branch(
            step.system,
            step.parameters[0],
            step.section,
            step.steps,
            step.names,
            step.start.z,
            tuple(line),
            ended,
            found,
        )

    def _outside(self, value: float) -> float | None:
        """The bound that was passed, or the aim."""
        low, high = self.bounds
        return low if value < low else high if value > high else None

    def _onto(self, here: BranchPoint, value: float) -> BranchPoint | None:
        """The point of the branch at a value of the parameter, near another."""
        fixed = np.zeros(len(self.scale))
        fixed[-1] = 1.0
        aim = value / self.scale[-1]
        w = np.append(here.y, here.value) / self.scale
        slope = here.tangent[-1]
        guess = w + here.tangent * ((aim - w[-1]) / slope) if abs(slope) > 1e-6 else w
        done = self.correct(guess, fixed, aim)
        if done is not None and np.linalg.norm(done[0] - guess) > 10 * np.linalg.norm(guess - w) + 1e-6:
            self.why = "the branch turns before it"
            return None
        return (
            None
            if done is None or not self.walks(done[0], done[2])
            else self.point(done[0], done[1], done[2], here.tangent)
        )

    # ---- bifurcations ----

    def _between(self, a: BranchPoint, b: BranchPoint, ds: float | None) -> list[tuple[str, BranchPoint]]:
        """Bifurcations between two neighbours."""
        if ds is None:
            ds = float(a.tangent @ ((np.append(b.y, b.value) - np.append(a.y, a.value)) / self.scale))
        found = []
        for kind, test in TESTS.items():
            if (
                test(a) * test(b) < 0
                and (point := self._locate(a, b, ds, test)) is not None
                and is_bifurcation(kind, point)
            ):
                found.append((kind, point))
        return sorted(found, key=lambda f: float(np.linalg.norm((f[1].y - a.y) / self.scale[:-1])))

    def _locate(
        self, a: BranchPoint, b: BranchPoint, ds: float, test: Callable[[BranchPoint], float]
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
    """The branch of gaits that repeat after twice as many steps, which begins at a doubling. to: how far the
    parameter goes. amplitude: how far from the old gaits it begins."""
    if at.kind != "doubling":
        raise ModelError(
            f"a {at.kind} at {at.branch.name} = {at.at:.9g} has no doubled branch: only a doubling has"
        )
    branch, point = at.branch, at.point
    values, vectors = spectrum(point.jacobian)
    v = np.real(vectors[:, int(np.argmin(np.abs(values + 1)))])
    v /= np.linalg.norm(v)
    base = ReturnMap(branch.system, branch.section)
    x0 = base.whole(point.y)
    step = ReturnMap(
        branch.system, branch.section, (branch.name,), steps=2 * branch.steps, x0=x0, z0=branch.z0
    )
    parameter = branch.parameter
    unstable = next(
        (b for b in branch.points if not b.stable and abs(b.value - at.at) < 0.1 * (abs(at.at) + 1)), point
    )
    sense = float(np.sign(unstable.value - at.at)) or 1.0
    aim = to if to is not None else at.at + sense * 0.2 * abs(np.ptp(parameter))
    span = max(abs(aim - at.at), 1e-12)
    walk = _Follow(step, span, tuple(sorted((aim, at.at - (aim - at.at)))), aim)
    row = np.append(v, 0.0)
    row /= np.linalg.norm(row)
    return walk.run(
        point.y + amplitude * v,
        at.at,
        1.0,
        int(options.get("points", 100)),
        int(options.get("most", 2000)),
        row,
    )


__all__ = ["doubled_branch", "follow"]
