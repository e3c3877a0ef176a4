"""Describing never changes what it describes: whatever is made of a mechanism or a system, the mechanism, the
system and the parameters in them are afterwards what they were before."""

import gc
from dataclasses import fields

import casadi as ca
import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from strut import Param, State, System, actuator, contact, mechanism
from strut.errors import StrutError
from strut.mechanism import Mechanism, constraints, forces, joints
from strut.mechanism.io import modelfile
from strut.system import join, known_symbol

EXAMPLES = 12
"""Random mechanisms per test: each is described twice and used once."""
PLANAR = ("revolute", "prismatic", "fixed")
SPATIAL = (*PLANAR, "spherical", "universal")


# ---- what there is to see ----


def seen_of_quantity(q):
    return q.name, str(q.value), q.unit, q.bounds, q.description, sorted(q.__dict__)


def seen_of_system(system):
    """Everything a system says, as text; symbols by their names."""
    return {
        **{group: [seen_of_quantity(q) for q in getattr(system, group)] for group in "xzup"},
        "flow": {str(name): str(e) for name, e in system.flow.items()},
        "outputs": {name: str(e) for name, e in system.outputs.items()},
        "events": [
            (e.name, str(e.guard), str(e.when), {k: str(v) for k, v in e.reset.items()})
            for e in system.events
        ],
        "samples": [(s.name, str(s.every), {k: str(v) for k, v in s.set.items()}) for s in system.samples],
        "ledger": [
            {name: str(e) for name, e in book.items()}
            for book in (system.ledger.stored, system.ledger.supplied, system.ledger.dissipated)
        ],
        "symmetry": {name: str(e) for name, e in system.symmetry.items()},
        "rest": (system.name, system.description, dict(system.output_units), system.scales, str(system.walk)),
    }


def seen_of_mechanism(m):
    """Everything a mechanism says, and the system that is made of it."""
    return {
        "params": [(key, seen_of_quantity(p)) for key, p in m.params.items()],
        **{
            group: [(name, [str(getattr(one, f.name)) for f in fields(one)]) for name, one in getattr(m, group).items()]
            for group in ("bodies", "connections", "frames", "constraints", "forces")
        },
        "rest": (m.name, m.planar, str(m.gravity), str(m.shapes), dict(m.limits)),
        "system": seen_of_system(mechanism.system(m)),
    }  # fmt: skip


def seen_of_params(params):
    """What the caller's own parameters are, and whom their symbols belong to."""
    return [
        (seen_of_quantity(p), seen_of_quantity(known_symbol(p.sym)), known_symbol(p.sym) is p) for p in params
    ]


# ---- random mechanisms ----


@st.composite
def mechanisms(draw, closed=True):
    """A machine that can fall and turn, with a tree of up to three more bodies on it, its numbers partly
    parameters. Returns the mechanism and the caller's parameters."""
    planar = draw(st.booleans())
    params = []

    def number(name, value):
        if not draw(st.booleans()):
            return value
        param = Param(name, value)
        params.append(param)
        return param if draw(st.booleans()) else param * 1.5

    m = Mechanism("machine", planar=planar)
    trunk = m.body("trunk", number("trunk_mass", 2.0), inertia=number("trunk_inertia", 0.1))
    if planar:
        m.joint("base", m.world, trunk, joints.planar("y"), actuated=False, initial=(0, 0.5, 0.1))
    else:
        m.joint("base", m.world, trunk, joints.free(), initial=(0, 0, 0.5, 0, 0, 0, 1))
    bodies, hinges = [trunk], []
    for k in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(PLANAR if planar else SPATIAL))
        body = m.body(f"b{k}", number(f"mass{k}", 1.0), (0, 0, -0.1), number(f"inertia{k}", 0.05))
        joint = {
            "revolute": lambda: joints.revolute("y"),
            "prismatic": lambda: joints.prismatic("z"),
            "fixed": joints.fixed,
            "spherical": joints.spherical,
            "universal": lambda: joints.universal("x", "y"),
        }[kind]()
        elastic = {"spring": number(f"spring{k}", 3.0), "rest": number(f"rest{k}", 0.2)}
        parent = draw(st.sampled_from(bodies))
        place = (0, 0, number(f"length{k}", -0.2))
        m.joint(f"j{k}", parent, body, joint, place, **(elastic if kind in ("revolute", "prismatic") else {}))
        bodies.append(body)
        hinges += [f"j{k}"] if kind in ("revolute", "prismatic") else []
    m.frame("foot", bodies[-1], (0.05, 0, number("leg", -0.3)))
    m.frame("heel", bodies[-1], (-0.05, 0, -0.3))
    if hinges and draw(st.booleans()):
        m.force(forces.dry_friction("dry", hinges[0], number("dry_level", 0.1)))
    if closed and hinges and draw(st.booleans()):
        offset = number("offset", 0.2)  # known to the closure alone
        m.constrain(constraints.general("held", lambda tree: tree.q[tree.q_of[hinges[-1]].start] - offset))
    return m, params


@st.composite
def numbers(draw, params, **values):
    """Numbers, some of them parameters of the caller."""
    found = {}
    for name, value in values.items():
        if draw(st.booleans()):
            params.append(Param(name, value))
            found[name] = params[-1] if draw(st.booleans()) else 1.0 * params[-1]
        else:
            found[name] = value
    return found


def on_rigid_ground(draw, m, params):
    n = draw(
        numbers(params, slope=0.05, mu=0.6, restitution=0.2, rest_speed=1e-6, low=-2.0, rate=20.0, ahead=0.01)
    )
    contact.rigid(
        m,
        ["foot", "heel"],
        contact.plane(n["slope"]),
        friction=draw(st.sampled_from([None, 0.0])) if draw(st.booleans()) else n["mu"],
        restitution=n["restitution"],
        rest_speed=n["rest_speed"],
        arm={"foot": contact.ahead_of("foot", "heel", n["ahead"])},
        fall=("heel", n["low"]),
        stabilise=n["rate"],
    )  # fmt: skip


def on_soft_ground(draw, m, params):
    n = draw(numbers(params, slope=0.05, k=1e4, d=10.0, mu=0.6, radius=0.01, rate=10.0))
    law = draw(st.sampled_from([contact.linear, contact.hunt_crossley]))(n["k"], n["d"])
    friction = draw(st.sampled_from([None, contact.coulomb(n["mu"]), contact.anchored(1e4, n["d"], n["mu"])]))
    feet = [contact.sphere("foot", n["radius"]), "heel"]
    contact.compliant(m, feet, contact.plane(n["slope"]), law=law, friction=friction, stabilise=n["rate"])


def in_steps(draw, m, params):
    n = draw(numbers(params, slope=0.05, mu=0.6, dt=1e-3, recover=0.2, relaxation=0.9))
    ground = contact.stairs([(0.5, n["slope"])])
    contact.time_stepped(
        m, ["foot"], ground, friction=n["mu"], dt=n["dt"], recover=n["recover"], relaxation=n["relaxation"], sweeps=2
    )  # fmt: skip


def with_surfaces(draw, m, params):
    n = draw(numbers(params, a=0.1, k=1e4, d=0.1, correct=50.0))
    pair = contact.between(
        "world", contact.plane_surface(), "foot", contact.ellipsoid(n["a"], n["a"], n["a"])
    )
    contact.surfaces(m, [pair], law=contact.linear(n["k"], n["d"]), correct=n["correct"])


def as_system(draw, m, params):
    n = draw(numbers(params, rate=10.0, project=0.1))
    mechanism.system(m, stabilise=n["rate"], project=n["project"], reactions=draw(st.booleans()))


def reduced(draw, m, params):
    n = draw(numbers(params, rate=10.0))
    mechanism.system(m, stabilise=n["rate"], reduced=True)


def as_functions(draw, m, params):
    mechanism.functions(m, stabilise=draw(numbers(params, rate=10.0))["rate"])


def closed_state(draw, m, params):
    mechanism.closed_state(m)


def symmetry(draw, m, params):
    mechanism.symmetry(m)


def hamiltonian(draw, m, params):
    mechanism.hamiltonian_system(m)


def as_file(draw, m, params):
    modelfile.dump(m)


USES = (
    on_rigid_ground,
    on_soft_ground,
    in_steps,
    with_surfaces,
    as_system,
    reduced,
    as_functions,
    closed_state,
    symmetry,
    hamiltonian,
    as_file,
)
"""What is made of a mechanism. Some are refused for some mechanisms, which must not change them either."""
NEVER_REFUSED = (on_rigid_ground, on_soft_ground, in_steps, as_system, as_functions)


@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_what_is_made_of_a_mechanism_leaves_it_as_it_was(use, data):
    m, params = data.draw(mechanisms())
    before = seen_of_mechanism(m)
    given = len(params)
    own = seen_of_params(params)
    try:
        use(data.draw, m, params)
    except StrutError as error:
        event(type(error).__name__)
        if use in NEVER_REFUSED:
            raise
    assert seen_of_mechanism(m) == before
    assert seen_of_params(params[:given]) == own
    assert all(known_symbol(p.sym) is p and p.bounds == Param("fresh", 0.0).bounds for p in params)


# ---- one foot at a time ----


def stiff_legs(mass, length):
    """Two straight legs, the stance leg carried by its foot."""
    m = Mechanism("legs", planar=True)
    heel, foot = m.body("heel"), m.body("foot")
    m.joint("foot_x", m.world, heel, joints.prismatic("x"), actuated=False)
    m.joint("foot_z", heel, foot, joints.prismatic("z"), actuated=False)
    stance, hip = m.body("stance_leg", mass, (0, 0, length / 2)), m.body("hip", 1.0)
    m.joint("stance", foot, stance, joints.revolute("y"), initial=0.2, actuated=False)
    level = joints.gear("stance", -1.0, of=joints.revolute("y"))
    m.joint("hip_level", stance, hip, level, at=(0, 0, length))
    swing = m.body("swing_leg", mass, (0, 0, -length / 2))
    m.joint("swing", hip, swing, joints.revolute("y"), initial=-0.2, actuated=False)
    m.frame("pelvis", hip)
    m.frame("stance_foot", stance)
    m.frame("swing_foot", swing, (0, 0, -length))
    return m


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_stepping_leaves_the_mechanism_as_it_was(data):
    params = []
    own = data.draw(numbers(params, mass=5.0, length=1.0))
    m = stiff_legs(own["mass"], own["length"])
    n = data.draw(numbers(params, slope=0.05, fall=0.5, margin=0.02, spring=2.0, damping=0.1, rest=0.0))
    before, mine = seen_of_mechanism(m), seen_of_params(params)
    drive = contact.Between("hip", {"swing": 1, "stance": -1}, n["spring"], n["damping"], n["rest"])
    legs = contact.Legs(
        base=("foot_x", "foot_z"),
        stance="stance_foot",
        swing="swing_foot",
        swap={"stance": "swing", "swing": "stance"},
        hip="pelvis",
        fall=n["fall"],
        drives=[drive],
        margin=n["margin"],
    )
    walker = contact.stepping(m, legs, contact.plane(n["slope"]))
    assert seen_of_mechanism(m) == before
    assert seen_of_params(params) == mine
    assert {p.name for p in params} <= {p.name for p in walker.p}
    assert "slope" not in [p.name for p in m.params.values()]


# ---- drives ----


@pytest.mark.parametrize("drive", [actuator.series, actuator.parallel, actuator.drives])
@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_drives_leave_the_system_as_it_was(drive, data):
    m, params = data.draw(mechanisms(closed=False))
    driven = mechanism.system(m)
    of = [q.name for q in driven.u if q.name.startswith("j") and q.unit in ("N", "N m")]
    of = [name for name in of if driven[name].numel() == 1 and name.count("_") == 1]
    before, mine, whole = seen_of_system(driven), seen_of_params(params), seen_of_mechanism(m)
    try:
        drive(driven, of)
    except StrutError as error:
        event(type(error).__name__)
    assert seen_of_system(driven) == before
    assert seen_of_params(params) == mine
    assert seen_of_mechanism(m) == whole


# ---- symbols and their owners ----


def sample_system():
    p = Param("p", 1.0)
    x = State("x", 2 * p)
    return System("sample", x=(x,), p=(p,), flow={x: -p * x})


def test_a_copy_keeps_the_owner_of_its_symbol():
    """Only a variant of the system is kept, and still its symbols are known."""
    variant = sample_system().using(p=3.0)
    gc.collect()
    assert known_symbol(variant.p[0].sym).name == "p"
    assert known_symbol(variant.x[0].sym).name == "x"


def test_narrower_bounds_are_a_copys_own():
    p = Param("p", 1.0)
    narrow = p.at_least(0.0)
    assert p.bounds[0] < 0 == narrow.bounds[0]
    assert known_symbol(p.sym) is p
    symbol = narrow.sym
    del p
    gc.collect()
    assert known_symbol(symbol).name == "p"
    del narrow
    gc.collect()
    assert known_symbol(symbol) is None


def test_a_new_symbol_belongs_to_nobody():
    """Joining and copying makes no symbols whose addresses stay registered once they are gone."""
    kept = [join(f"j{k}", sample_system()) for k in range(30)]
    assert all(known_symbol(ca.SX.sym("new")) is None for _ in range(500))
    assert len(kept) == 30
    symbols = [ca.SX.sym("new") for _ in range(500)]
    assert [s for s in symbols if known_symbol(s) is not None] == []


def test_contact_has_its_own_parameters():
    m = Mechanism("box", planar=True)
    box = m.body("box", 1.0, inertia=0.1)
    m.joint("base", m.world, box, joints.planar("y"), actuated=False, initial=(0, 1, 0))
    m.frame("corner", box, (0.1, 0, -0.1))
    slope, mu = Param("slope", 0.1), Param("mu", 0.5)
    first = contact.rigid(m, ["corner"], contact.plane(slope), friction=mu)
    assert [p.name for p in first.p] == ["g", "slope", "mu"]
    assert [p.name for p in mechanism.system(m).p] == ["g"] == [p.name for p in m.params.values()]
    assert first.p[2].bounds[0] == 0.0
    assert mu.bounds[0] == -np.inf
