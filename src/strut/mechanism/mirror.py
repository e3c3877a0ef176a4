"""Left and right: the mirror image of one side, and the relabelling that swaps both.

The mirror is the x-z plane. A side is said by the end of names ('_l', '_r') or, with the underscore last
('l_', 'r_'), by their beginning.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from strut.checks import checked
from strut.errors import ModelError
from strut.mechanism import constraints, joints
from strut.mechanism.mechanism import Mechanism
from strut.mechanism.parts import Body, Connection, Constraint, ConstraintArgument, Frame
from strut.mechanism.spatial import axis_of, reflect, reflect_matrix, reflect_pose, reflect_twist
from strut.mechanism.states import coordinate_names, quantities_of, velocity_names
from strut.mechanism.tree import Tree
from strut.system import sx

IMAGE_TOLERANCE = 1e-9
"""[1] Relative difference up to which two numbers count as mirror images of each other."""
MIN_SCALE = 1e-3
"""[m, kg, kg m^2] Smaller numbers are compared as if they were this large."""
IMAGE_TRIALS = 3
"""Random configurations and parameters in which a mirror image is looked for."""

Signed = tuple[str, float]
"""The name of a quantity, and 1 or -1."""


@checked
def add_mirror_image(m: Mechanism, side: str = "_l") -> None:
    """Add the mirror image, in the x-z plane, of all bodies, joints, frames, constraints and shapes whose
    names end in `side`. `Mechanism.mirror` is this function.

    Names change from `_l` to `_r` (or back). Parameters, springs and initial values are shared: equal
    coordinates on both sides mean a mirrored posture, so that a hip which abducts for positive angles does so
    on both sides.
    """
    if side not in m.sides:
        raise ModelError(f"there is no side '{side}' to mirror: use '{m.sides[0]}' or '{m.sides[1]}'")
    swap = _swapper(m.sides)
    bodies = {name: body for name, body in m.bodies.items() if name.endswith(side)}
    if not bodies:
        raise ModelError(f"mechanism '{m.name}' has nothing to mirror: no body's name ends in '{side}'")
    for name in m.forces:
        if name.endswith(side):
            raise ModelError(
                f"mechanism '{m.name}' has the force '{name}', which has no mirror image: add it on both "
                f"sides after mirroring"
            )
    for body in bodies.values():
        m.body(swap(body.name), body.mass, reflect(body.com), reflect_matrix(body.about_com), forgiving=True)
        if body.name in m.shapes:
            m.shape(m.bodies[swap(body.name)], *(shape.mirror_image() for shape in m.shapes[body.name]))
    for c in [c for c in m.connections.values() if c.child.name in bodies]:
        _mirror_joint(m, c, swap)
    for frame in [f for f in m.frames.values() if f.name.endswith(side)]:
        X = reflect_pose(frame.X_BF)
        m.frame(swap(frame.name), _partner(m, frame.body, swap), X.p, X.R)
    for constraint in [c for c in m.constraints.values() if c.name.endswith(side)]:
        m.constrain(_mirror_constraint(constraint, swap))


def _mirror_joint(m: Mechanism, c: Connection, swap: Callable[[str], str]) -> None:
    """Add the mirror image of a joint."""
    if swap(c.name) == c.name:
        raise ModelError(
            f"joint '{c.name}' carries '{c.child.name}', which is mirrored: let its name end like that of "
            f"the body"
        )
    joint = joints.mirror_image(c.joint)
    if joint.gear:
        leader, ratio, offset = joint.gear
        if swap(leader) == leader:
            raise ModelError(
                f"joint '{c.name}' follows '{leader}', which is in the middle: its mirror image is unknown, "
                f"add it yourself"
            )
        joint = joints.gear(swap(leader), ratio, offset, of=joint.arguments["of"])
    X = reflect_pose(c.X_PJ)
    m.joint(
        swap(c.name),
        _partner(m, c.parent, swap),
        m.bodies[swap(c.child.name)],
        joint,
        X.p,
        rotation=X.R,
        spring=c.spring,
        rest=0.0 if c.rest is None else c.rest,
        damping=c.damping,
        armature=c.armature,
        stop=c.stop,
        actuated=c.actuated,
        initial=c.initial,
        rate=c.initial_rate,
        limits=m.limits.get(c.name),
    )


def _partner(m: Mechanism, body: Body, swap: Callable[[str], str]) -> Body:
    """The body's image, or itself if it is in the middle."""
    return m.bodies.get(swap(body.name), body)


def _mirror_constraint(c: Constraint, swap: Callable[[str], str]) -> Constraint:
    """The mirror image of a constraint."""
    if c.kind == "general":
        raise ModelError(
            f"constraint '{c.name}' is one of your own, whose mirror image is unknown: add it to both sides "
            f"yourself"
        )
    for key in ("first", "second"):
        if c.kind == "coupled" and swap(c.arguments[key]) == c.arguments[key]:
            raise ModelError(
                f"constraint '{c.name}' couples '{c.arguments[key]}', which is in the middle: add the mirror "
                f"image yourself"
            )
    changed: dict[str, Any] = {}
    for key, value in c.arguments.items():
        role = constraints.KINDS[c.kind].arguments[key]
        if role in (ConstraintArgument.FRAME, ConstraintArgument.JOINT):
            changed[key] = swap(value)
        elif role is ConstraintArgument.AXIS:
            changed[key] = tuple(np.array(ca.DM(reflect(axis_of(value)))).reshape(-1))
        else:
            changed[key] = value
    return constraints.KINDS[c.kind].make(swap(c.name), **changed)


def _swapper(sides: tuple[str, str]) -> Callable[[str], str]:
    """Takes the name of the left thing to that of the right one, and back; others stay."""
    left, right = sides

    def swap(name: str) -> str:
        for here, there in ((left, right), (right, left)):
            if here.endswith("_") and name.startswith(here):
                return there + name[len(here) :]
            if not here.endswith("_") and name.endswith(here):
                return name[: -len(here)] + there
        return name

    return swap


# ---- the symmetry of a mechanism ----


@dataclass(frozen=True)
class Symmetry:
    """The relabelling left to right: what the image of every quantity is called, and its sign.

    states: of coordinates and velocities; inputs, outputs (of `mechanism.system`): likewise. bodies, frames,
    params: names. 'hip_l': ('hip_r', 1.0) says that in the mirror image hip_r has the value that hip_l had;
        'y': ('y', -1.0) that y changes sign.
    """

    states: Mapping[str, Signed]
    inputs: Mapping[str, Signed]
    outputs: Mapping[str, Signed]
    bodies: Mapping[str, str]
    frames: Mapping[str, str]
    params: Mapping[str, str]

    def relabel(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The mirror image of states, inputs or outputs given by name. What has no image is an error, what is
        not asked for is left out."""
        images = {**self.states, **self.inputs, **self.outputs}
        for name in values:
            if name not in images:
                raise ModelError(
                    f"'{name}' has no mirror image: it is no state, input or position of this mechanism"
                )
        return {images[name][0]: images[name][1] * value for name, value in values.items()}

    def matrix(self, names: Iterable[str]) -> np.ndarray:
        """The relabelling of a vector with these components: its image is `matrix @ vector`."""
        order = list(names)
        images = {**self.states, **self.inputs, **self.outputs}
        relabelling = np.zeros((len(order), len(order)))
        for k, name in enumerate(order):
            image, sign = images[name]
            relabelling[order.index(image), k] = sign
        return relabelling


@checked
def symmetry(mechanism: Mechanism, sides: tuple[str, str] = ("_l", "_r"), inertias: bool = True) -> Symmetry:
    """The mirror symmetry of a mechanism, found from names and checked in numbers; an error names what is not
    symmetric.

    It does not matter how the sides were made: signs come from the joints. inertias=False asks for the same
    geometry only, for robots whose motors weigh differently left and right. Springs and constraints are not
    checked.
    """
    swap, tree = _swapper(sides), Tree(mechanism)
    both = _Values(mechanism, swap)
    for what, things in (("body", mechanism.bodies), ("joint", mechanism.connections)):
        for name in things:
            if swap(name) not in things:
                raise ModelError(f"{what} '{name}' has no mirror image: there is no '{swap(name)}'")
    # signs of coordinates and velocities, joint by joint
    states: dict[str, Signed] = {}
    coordinate_signs: dict[str, tuple[float, ...]] = {}
    for c in mechanism.connections.values():
        image = mechanism.connections[swap(c.name)]
        _check_place(c, image, both, swap)
        signs, rates = both.signs(c, image)
        coordinate_signs[c.name] = signs
        if not c.joint.gear:
            names, images = (
                coordinate_names(c) + velocity_names(c),
                coordinate_names(image) + velocity_names(image),
            )
            states |= dict(zip(names, zip(images, (*signs, *rates), strict=True), strict=True))
    for c in mechanism.connections.values():  # once the signs of all leaders are known
        _check_gear(c, mechanism.connections[swap(c.name)], both, coordinate_signs, swap)
    for body in mechanism.bodies.values() if inertias else ():
        other = mechanism.bodies[swap(body.name)]
        both.check(
            [body.mass, reflect(body.com), reflect_matrix(body.about_com)],
            [other.mass, other.com, other.about_com],
            f"the inertia of body '{other.name}' is not the mirror image of that of '{body.name}'",
        )
    # what follows from bodies and states: frames, outputs, inputs
    frames = {frame.name: both.image(mechanism, frame, swap) for frame in mechanism.frames.values()}
    axes = {"x": 1.0, "z": 1.0} if mechanism.planar else {"x": 1.0, "y": -1.0, "z": 1.0}
    outputs = {
        f"{name}_{axis}": (f"{image}_{axis}", sign)
        for name, image in (frames | {"com": "com"}).items()
        for axis, sign in axes.items()
    }
    return Symmetry(
        states=states,
        inputs=_input_images(tree, states),
        outputs=outputs,
        bodies={name: swap(name) for name in mechanism.bodies},
        frames=frames,
        params=both.param_names,
    )


def _check_place(c: Connection, image: Connection, both: _Values, swap: Callable[[str], str]) -> None:
    """Raise ModelError unless two joints connect mirrored bodies at mirrored places."""
    for here, there in ((c.parent, image.parent), (c.child, image.child)):
        if swap(here.name) != there.name:
            raise ModelError(
                f"joint '{c.name}' is at '{here.name}', its image '{image.name}' at '{there.name}', not "
                f"at '{swap(here.name)}'"
            )
    X = reflect_pose(c.X_PJ)
    both.check(
        [X.R, X.p],
        [image.X_PJ.R, image.X_PJ.p],
        f"joint '{image.name}' is not where the mirror image of '{c.name}' is",
    )


def _check_gear(
    c: Connection,
    image: Connection,
    both: _Values,
    signs: Mapping[str, tuple[float, ...]],
    swap: Callable[[str], str],
) -> None:
    """Raise ModelError unless both joints, or neither, are gears, with mirrored laws."""
    if (c.joint.gear is None) != (image.joint.gear is None):
        raise ModelError(f"joint '{c.name}' and its mirror image '{image.name}' are not both gears")
    if c.joint.gear is None or image.joint.gear is None:
        return
    (leader, ratio, offset), (other_leader, other_ratio, other_offset) = c.joint.gear, image.joint.gear
    complaint = (
        f"joint '{image.name}' does not follow '{other_leader}' as the mirror image of "
        f"'{c.name}' follows '{leader}'"
    )
    if swap(leader) != other_leader:
        raise ModelError(complaint)
    sign, lead = signs[c.name][0], signs[leader][0]
    both.check([sign * lead * sx(ratio), sign * sx(offset)], [sx(other_ratio), sx(other_offset)], complaint)


def _input_images(tree: Tree, states: Mapping[str, Signed]) -> dict[str, Signed]:
    """The images of inputs: a torque changes side and sign with the velocity it pushes along."""
    _, velocities, inputs = quantities_of(tree)
    by_velocity = {velocities[k].name: source.name for k, source in inputs.items()}
    images = {}
    for velocity, source in by_velocity.items():
        image, sign = states[velocity]
        if image not in by_velocity:
            raise ModelError(
                f"'{source}' drives a joint whose mirror image nothing drives: actuate both sides, or none"
            )
        images[source] = (by_velocity[image], sign)
    return images


class _Values:
    """Numbers for a mechanism's expressions, and for those of its image, in which parameters of left and
    right are swapped."""

    def __init__(self, mechanism: Mechanism, swap: Callable[[str], str]) -> None:
        params = list(mechanism.params.values())
        names = {p.name for p in params}
        self.param_names = {n: swap(n) if swap(n) in names else n for n in sorted(names)}
        self.symbols = ca.vertcat(*[p.sym for p in params], ca.SX(0, 1))
        self.rng = np.random.default_rng(0)
        self.trials = []
        for _ in range(IMAGE_TRIALS):
            drawn = {p.name: p.value * self.rng.uniform(0.9, 1.1, p.size) for p in params}
            for name, image in self.param_names.items():
                if len(drawn[name]) != len(drawn[image]):
                    raise ModelError(
                        f"parameters '{name}' and '{image}' have {len(drawn[name])} and {len(drawn[image])} "
                        f"components"
                    )
            mine = np.concatenate([drawn[p.name] for p in params] or [np.empty(0)])
            theirs = np.concatenate([drawn[self.param_names[p.name]] for p in params] or [np.empty(0)])
            self.trials.append((mine, theirs))

    def check(self, here: list[ca.SX], there: list[ca.SX], complaint: str) -> None:
        """Raise ModelError with a complaint unless expressions are the same on both sides."""
        if not self.same(here, there):
            raise ModelError(complaint)

    def image(self, m: Mechanism, frame: Frame, swap: Callable[[str], str]) -> str:
        """The frame at the mirrored place: that of the swapped name, or another on the same body."""
        others = [f for f in m.frames.values() if f.body.name == swap(frame.body.name)]
        for other in sorted(others, key=lambda f: f.name != swap(frame.name)):
            if self.same([reflect(frame.X_BF.p)], [other.X_BF.p]):
                return other.name
        raise ModelError(
            f"frame '{frame.name}' has no mirror image: no frame is at the mirrored place on body "
            f"'{swap(frame.body.name)}'"
        )

    def same(self, here: list[ca.SX], there: list[ca.SX]) -> bool:
        """Whether expressions have the same values, with the parameters of left and right swapped."""
        f, g = (ca.Function("side", [self.symbols], [sx(e) for e in side]) for side in (here, there))
        for mine, theirs in self.trials:
            if not all(
                _close(np.array(a), np.array(b))
                for a, b in zip(f.call([mine]), g.call([theirs]), strict=True)
            ):
                return False
        return True

    def signs(self, c: Connection, image: Connection) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Of coordinates and velocities of `image` when those of `c` are mirrored; such that the unmoved
        joint stays so, and as few negative ones as possible."""
        complaint = (
            f"the motion of joint '{image.name}' ({image.joint.kind}) is not the mirror image of "
            f"that of '{c.name}' ({c.joint.kind})"
        )
        if (c.joint.nq, c.joint.nv) != (image.joint.nq, image.joint.nv):
            raise ModelError(complaint)
        if not c.joint.nq:
            return (), ()
        q = ca.SX.sym("q", c.joint.nq)
        X, Y = reflect_pose(c.joint.pose(q)), image.joint.pose(q)
        mine = ca.Function(
            "mine", [q, self.symbols], [ca.vertcat(ca.vec(X.R), X.p), reflect_twist(c.joint.S(q))]
        )
        theirs = ca.Function("theirs", [q, self.symbols], [ca.vertcat(ca.vec(Y.R), Y.p), image.joint.S(q)])
        points = [(self.rng.uniform(0.2, 1.0, c.joint.nq), *trial) for trial in self.trials]
        rest = joints.neutral(c.joint)
        candidates = itertools.product((1.0, -1.0), repeat=c.joint.nq)
        for signs in sorted(candidates, key=lambda s: (float(np.abs(rest - rest * s).sum()), s.count(-1.0))):
            if all(
                _close(np.array(mine(x, a)[0]), np.array(theirs(np.array(signs) * x, b)[0]))
                for x, a, b in points
            ):
                x, a, b = points[0]
                here, there = np.array(mine(x, a)[1]), np.array(theirs(np.array(signs) * x, b)[1])
                rates = [
                    next((s for s in (1.0, -1.0) if _close(here[:, k], s * there[:, k])), 0.0)
                    for k in range(c.joint.nv)
                ]
                if all(rates):
                    return signs, tuple(rates)
        raise ModelError(complaint)


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether numbers are equal up to `IMAGE_TOLERANCE`."""
    return bool(np.all(np.abs(a - b) <= IMAGE_TOLERANCE * max(MIN_SCALE, float(np.abs(a).max(initial=0.0)))))
