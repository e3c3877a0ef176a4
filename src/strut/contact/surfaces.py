"""Smooth surfaces against each other: where they are closest, followed in time, and compliant contact there.

Duindam's differential method (his theorem 3.6): the closest points p_a and p_b satisfy p_a + gap n_a = p_b
and n_a = -n_b, with n the outward normals (3.16). The differential of these conditions gives the rates of the
surfaces' coordinates; (3.13) and (3.14) say the same in space. Added to it is a pull towards the conditions
themselves, so that the points do not drift, and for closed surfaces a second chart, so that a ball may roll
for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.contact.compliant import PadCompanions, system_with_pads
from strut.contact.laws import AnchoredFriction, Law, SmoothFriction
from strut.contact.pad import Pad
from strut.contact.smooth_surfaces import Surface
from strut.contact.touch import Spot
from strut.errors import ModelError
from strut.mechanism import observe
from strut.mechanism.assemble import Assembly
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.spatial import Pose, skew
from strut.mechanism.tree import Tree
from strut.system import Discrete, Event, Expression, Quantity, State, System, check_name, sx

CHART_RADIUS = 2.0
"""[1] The radius, in coordinates of a chart of a closed surface, beyond which the other chart takes over."""
GRID_POINTS = 24
"""Points per coordinate in the search for the closest points of the initial posture."""
MAX_CANDIDATES = 40
"""Pairs of these points, the best first, from which Newton's method begins."""
REFINE_STEPS = 10
"""Newton steps when a run begins somewhere else than the model does."""
MAX_REFINE_STEP = 1.0
"""[1] The longest of these steps, in coordinates."""
REFINE_TOLERANCE = 1e-6
"""[m], and as a sine [1]: the error up to which closest points found for the beginning of a run are believed;
the rest is pulled back in the run."""
CLOSEST_TOLERANCE = 1e-11
"""[m], and as a sine [1]: the error at which Newton's method for the initial posture ends."""
MAX_NEWTON_CHANGE = 0.3
"""[1] The longest step of Newton's method for the initial posture, in coordinates."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Two surfaces on two frames that may touch."""

    name: str
    frame_a: str
    surface_a: Surface
    frame_b: str
    surface_b: Surface


@checked
def between(frame_a: str, surface_a: Surface, frame_b: str, surface_b: Surface, name: str = "") -> Pair:
    """A pair that may touch. A frame or a body by name, or 'world'. Friction is along the first surface: let
    its normal not point straight down."""
    label = name or (frame_b if frame_a == "world" else f"{frame_a}_{frame_b}")
    check_name(label, "contact")
    if not (surface_a.closed or surface_b.closed) and surface_a.kind == surface_b.kind == "plane":
        raise ModelError(f"contact '{label}' is of two planes: they have no closest points")
    return Pair(label, frame_a, surface_a, frame_b, surface_b)


@checked
def surfaces(
    mechanism: Mechanism,
    pairs: Sequence[Pair],
    *,
    law: Law,
    friction: AnchoredFriction | SmoothFriction | None = None,
    correct: Expression = 50.0,
    stabilise: Expression = 10.0,
    description: str = "",
) -> System:
    """The mechanism with compliant contact between smooth surfaces, as a system.

    pairs: from `between`.
    law, friction: as for `compliant`, in states, events and outputs too, with the name of the pair for that
        of the foot.
    correct: rate [1/s] at which the points are pulled to where the surfaces are closest.

    Each pair P has states P_a and P_b, the coordinates of its points on the surfaces; on closed surfaces the
    discrete state P_a_side or P_b_side, and an event P_a_turn or P_b_turn for the change of chart; and
    outputs P_x, P_y, P_z, the point on the first surface, and P_error, how far from closest the points are.
    Surfaces must have one pair of closest points that moves smoothly: two convex ones do; a hollow one does
    while the other is nearer to it than its centre of curvature.
    """
    if not pairs:
        raise ModelError("no surfaces can touch: give at least one pair, contact.between(...)")
    for k, pair in enumerate(pairs):
        if pair.name in [other.name for other in pairs[:k]]:
            raise ModelError(f"two contacts are called '{pair.name}': give one of them another name")
    numbers = [n for p in pairs for n in (*p.surface_a.numbers, *p.surface_b.numbers)]
    params = mechanism.parameter_set()
    params.add_number(correct, "the rate of correction, correct,", low=0.0)
    params.add_number(stabilise, "the rate of stabilisation, stabilise,", low=0.0)
    params.add(*numbers, *law.numbers, *(friction.numbers if friction else ()))
    assembly = Assembly(mechanism, params)
    meetings = [_Meeting(assembly, pair) for pair in pairs]
    pads = [Pad(assembly.tree, m.spot(mechanism.planar), law, friction, inside=m.inside) for m in meetings]
    more: dict[State, ca.SX] = {}
    z: list[Discrete] = []
    events: list[Event] = []
    begin: dict[Quantity, ca.SX] = {}
    for m in meetings:
        more |= m.rates(sx(correct))
        z += m.sides
        events += m.events()
        begin |= m.refined_start()
        assembly.show("m", m.outputs(mechanism.planar))
        assembly.units[f"{m.name}_error"] = ""
    text = description or f"{mechanism.name} with surfaces that touch"
    companions = PadCompanions(rates=more, z=z, events=events, begin=begin)
    return system_with_pads(assembly, pads, stabilise=sx(stabilise), description=text, companions=companions)


@dataclass(eq=False)
class _Side:
    """One surface of a pair: its coordinates, and its point, tangents and normal in the world."""

    name: str
    frame: str
    surface: Surface
    state: State = field(init=False)
    flag: Discrete | None = field(init=False, default=None)
    u: ca.SX = field(init=False)
    side: ca.SX = field(init=False)

    def begin(self, u: np.ndarray, side: float) -> None:
        """The quantities, and where they begin."""
        self.state = State(self.name, list(u))
        self.flag = Discrete(f"{self.name}_side", side) if self.surface.closed else None

    def meet(self, tree: Tree, u: ca.SX, side: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX]:
        """The point [m], tangents and normal at coordinates u, in the world."""
        X = _pose(tree, self.frame)
        return (
            X.point(self.surface.chart(u, side)),
            X.R @ self.surface.tangents(u, side),
            X.R @ self.surface.normal(u, side),
        )


class _Meeting:
    """A pair on a tree: the conditions of closest points, and what follows from them."""

    def __init__(self, assembly: Assembly, pair: Pair) -> None:
        self.assembly, self.tree, self.name = assembly, assembly.tree, pair.name
        self.a = _Side(f"{pair.name}_a", pair.frame_a, pair.surface_a)
        self.b = _Side(f"{pair.name}_b", pair.frame_b, pair.surface_b)
        self.formal = [ca.SX.sym(n, k) for n, k in (("ua", 2), ("ub", 2), ("sa", 1), ("sb", 1))]
        self._work_out(*self.formal)
        self.inside = self._begin()
        symbols = [
            self.a.state.sym,
            self.b.state.sym,
            *(ca.SX(1) if s.flag is None else s.flag.sym for s in (self.a, self.b)),
        ]
        self._work_out(*symbols)

    def _work_out(self, ua: ca.SX, ub: ca.SX, sa: ca.SX, sb: ca.SX) -> None:
        """Work out the conditions `phi` of closest points, their Jacobian and the gap [m], for these
        coordinates."""
        self.ua, self.ub = ua, ub
        self.p_a, T, self.n_a = self.a.meet(self.tree, ua, sa)
        self.p_b, _, n_b = self.b.meet(self.tree, ub, sb)
        units = ca.horzcat(*[T[:, k] / ca.norm_2(T[:, k]) for k in (0, 1)])
        self.phi = ca.vertcat(units.T @ (self.p_b - self.p_a), units.T @ n_b)
        self.gap = ca.dot(self.n_a, self.p_b - self.p_a)
        self.u = ca.vertcat(ua, ub)
        self.J = ca.densify(ca.jacobian(self.phi, self.u))
        self.facing = -ca.dot(self.n_a, n_b)

    # ---- where to begin ----

    def _begin(self) -> bool:
        """Find the closest points of the initial posture, by a search over both surfaces whose best pairs
        Newton's method refines. Returns whether the surfaces overlap there; raises ModelError where there
        are none."""
        assembly, tree = self.assembly, self.tree
        q, v, _ = assembly.start()
        fixed = [tree.q, tree.v]
        symbols, values = assembly.params.symbols, assembly.params.values
        f = ca.Function(
            "conditions", [*self.formal, *fixed, symbols], [self.phi, self.J, self.gap, self.facing]
        )
        spread = [
            self._sample_surface(s, other, fixed, symbols, (q, v, values))
            for s, other in ((self.a, self.b), (self.b, self.a))
        ]
        (ua, sa, pa, na), (ub, sb, pb, nb) = spread
        apart = ((pa[:, None, :] - pb[None, :, :]) ** 2).sum(-1)
        size = max(
            float(apart.min()), float(np.ptp(pb, axis=0).min()) ** 2, float(np.ptp(pa, axis=0).min()) ** 2
        )
        score = (apart + size * (1 + na @ nb.T) ** 2).reshape(-1)
        best: tuple[float, np.ndarray, float, float] | None = None
        for at in np.argsort(score)[:MAX_CANDIDATES]:
            i, j = divmod(int(at), len(ub))
            u = self._newton(f, np.concatenate([ua[i], ub[j]]), sa[i], sb[j], (q, v, values))
            if u is None:
                continue
            _, _, gap, facing = f(u[:2], u[2:], sa[i], sb[j], q, v, values)
            if float(facing) > 0 and (best is None or abs(float(gap)) < abs(best[0]) - 1e-12):
                best = (float(gap), u, float(sa[i]), float(sb[j]))
        if best is None:
            raise ModelError(
                f"contact '{self.name}' has no closest points near the initial posture: begin with the "
                f"surfaces near each other, "
                "side by side, and give an open surface a span that reaches"
            )
        gap, u, side_a, side_b = best
        self.a.begin(u[:2], side_a)
        self.b.begin(u[2:], side_b)
        return gap < 0

    def _sample_surface(
        self, s: _Side, other: _Side, fixed: list[ca.SX], symbols: ca.SX, values: tuple[np.ndarray, ...]
    ) -> list[np.ndarray]:
        """Coordinates, sides, points and normals all over a surface."""
        u, side = ca.SX.sym("u", 2), ca.SX.sym("side")
        point, _, normal = s.meet(self.tree, u, side)
        local = _pose(self.tree, s.frame).inverse().point(_pose(self.tree, other.frame).p)
        f = ca.Function("sample", [u, side, *fixed, symbols], [point, normal, local])
        if s.surface.closed:
            ticks = np.linspace(-1.1, 1.1, GRID_POINTS)
            grid = [(x, y, way) for way in (1.0, -1.0) for x in ticks for y in ticks if x * x + y * y < 1.3]
        else:
            centre = np.array(f(np.zeros(2), 1.0, *values)[2]).reshape(-1)[:2]
            ticks = np.linspace(-s.surface.span, s.surface.span, GRID_POINTS)
            grid = [(centre[0] + x, centre[1] + y, 1.0) for x in ticks for y in ticks]
        rows = np.array(grid)
        many = f.map(len(rows))
        repeated = [np.tile(np.asarray(value).reshape(-1, 1), (1, len(rows))) for value in values]
        points, normals, _ = many(rows[:, :2].T, rows[:, 2:].T, *repeated)
        return [rows[:, :2], rows[:, 2], np.array(points).T, np.array(normals).T]

    def _newton(
        self, f: ca.Function, u: np.ndarray, sa: float, sb: float, values: tuple[np.ndarray, ...]
    ) -> np.ndarray | None:
        """Newton's method towards the conditions, from u: the coordinates that meet them, or None."""
        for _ in range(40):
            phi, J, _, _ = (np.array(e) for e in f(u[:2], u[2:], sa, sb, *values))
            if not np.all(np.isfinite(J)) or abs(np.linalg.det(J)) < 1e-300:
                return None
            if np.abs(phi).max() < CLOSEST_TOLERANCE:
                return u
            change = -np.linalg.solve(J, phi).reshape(-1)
            u = u + change * min(1.0, MAX_NEWTON_CHANGE / max(np.abs(change).max(), 1e-300))
        return None

    # ---- in time ----

    def rates(self, correct: ca.SX) -> dict[State, ca.SX]:
        """The rates of the coordinates that keep the conditions met and let their error decay."""
        moved = ca.jtimes(self.phi, self.tree.q, self.tree.qdot)
        rate = -_solve_blocks(self.J, moved + correct * self.phi)
        return {self.a.state: rate[:2], self.b.state: rate[2:]}

    @property
    def sides(self) -> list[Discrete]:
        """Which chart each closed surface is in, as discrete states."""
        return [s.flag for s in (self.a, self.b) if s.flag is not None]

    def events(self) -> list[Event]:
        """Changes of chart on closed surfaces."""
        events = []
        for s in (self.a, self.b):
            if s.flag is not None:
                square = ca.sumsqr(s.state.sym)
                reset = {s.state.name: s.state.sym / square, s.flag.name: -s.flag.sym}
                events.append(Event(f"{s.name}_turn", guard=square - CHART_RADIUS**2, reset=reset, loss={}))
        return events

    def refined_start(self) -> dict[Quantity, ca.SX]:
        """Coordinates for runs that begin elsewhere than the model: Newton steps from the points and from
        those opposite to them; of the points values that face each other those with the widest gap, each in
        the chart that suits it."""
        sides = [ca.SX(1) if s.flag is None else s.flag.sym for s in (self.a, self.b)]
        names = [
            e
            for e in ca.symvar(ca.vertcat(ca.vec(self.J), self.phi))
            if not ca.depends_on(ca.vertcat(self.u, *sides, self.tree.q), e)
        ]
        change = _solve_blocks(self.J, self.phi)
        step = self.u - change * ca.fmin(1, MAX_REFINE_STEP / ca.fmax(ca.norm_2(change), MAX_REFINE_STEP / 2))
        arguments = [self.tree.q, ca.vertcat(*names, ca.SX(0, 1))]
        formal = [e if e.is_symbolic() else ca.SX.sym("one") for e in sides]
        refine = ca.Function("refine", [self.u, *formal, *arguments], [step])
        judge = ca.Function(
            "judge", [self.u, *formal, *arguments], [ca.norm_2(self.phi), self.facing, self.gap]
        )
        best, widest = ca.vertcat(self.u, *sides), ca.SX(-ca.inf)
        for turn_a in (1, -1) if self.a.flag is not None else (1,):
            for turn_b in (1, -1) if self.b.flag is not None else (1,):
                flags = [turn_a * sides[0], turn_b * sides[1]]
                u = ca.vertcat(turn_a * self.ua, turn_b * self.ub)
                for _ in range(REFINE_STEPS):
                    u = refine(u, *flags, *arguments)
                error, facing, gap = judge(u, *flags, *arguments)
                better = (error < REFINE_TOLERANCE) * (facing > 0) * (gap > widest)
                best = ca.if_else(better, ca.vertcat(u, *flags), best)
                widest = ca.if_else(better, gap, widest)
        values: dict[Quantity, ca.SX] = {}
        for s, at, side in ((self.a, best[:2], best[4]), (self.b, best[2:4], best[5])):
            square = ca.sumsqr(at)
            over = square > CHART_RADIUS**2 if s.flag is not None else ca.SX(0)
            values[s.state] = ca.if_else(over, at / ca.fmax(square, 1), at)
            if s.flag is not None:
                values[s.flag] = ca.if_else(over, -side, side)
        return values

    # ---- contact ----

    def spot(self, planar: bool) -> Spot:
        """Rows for what the second surface's material does relative to the first's."""
        n = self.n_a
        share = 1 / (1 + n[2])
        forward = ca.vertcat(1 - n[0] ** 2 * share, -n[0] * n[1] * share, -n[0])
        left = ca.vertcat(-n[0] * n[1] * share, 1 - n[1] ** 2 * share, -n[1])
        directions = ca.horzcat(n, forward) if planar else ca.horzcat(n, forward, left)
        relative = _material(self.tree, self.b.frame, self.p_b) - _material(self.tree, self.a.frame, self.p_a)
        return Spot(self.name, self.gap, self.p_a, ca.densify(directions.T @ relative), directions)

    def outputs(self, planar: bool) -> dict[str, ca.SX]:
        """The point on the first surface [m], and the error of the conditions."""
        axes = {"x": 0, "z": 2} if planar else {"x": 0, "y": 1, "z": 2}
        return {f"{self.name}_{axis}": self.p_a[k] for axis, k in axes.items()} | {
            f"{self.name}_error": ca.norm_2(self.phi)
        }


def _pose(tree: Tree, frame: str) -> Pose:
    """The pose of a frame in the world; that of the world is the identity."""
    return Pose.identity() if frame == "world" else observe.pose(tree, frame)


def _material(tree: Tree, frame: str, point: ca.SX) -> ca.SX:
    """3 x nv: the velocity of a body's material at a point of the world."""
    if frame == "world":
        return ca.SX.zeros(3, tree.nv)
    J = observe.world_jacobian(tree, frame)
    return J[3:, :] - skew(point - _pose(tree, frame).p) @ J[:3, :]


def _solve_blocks(J: ca.SX, b: ca.SX) -> ca.SX:
    """J^-1 b for 4 x 4, the upper left 2 x 2 first: that one is the first surface's metric, which is
    regular."""
    A, B, C, D = J[:2, :2], J[:2, 2:], J[2:, :2], J[2:, 2:]
    inverse = _inverse(A)
    second = _inverse(D - C @ inverse @ B) @ (b[2:] - C @ inverse @ b[:2])
    return ca.vertcat(inverse @ (b[:2] - B @ second), second)


def _inverse(A: ca.SX) -> ca.SX:
    """Of a 2 x 2 matrix."""
    det = A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]
    return ca.vertcat(ca.horzcat(A[1, 1], -A[0, 1]), ca.horzcat(-A[1, 0], A[0, 0])) / det
