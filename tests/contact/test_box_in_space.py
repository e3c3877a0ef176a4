"""A box on four points with Coulomb's friction in space: many contacts that share a load in many ways."""

import numpy as np
import pytest

import strut
from strut import Mechanism, Param, contact, joints
from strut.codegen.lower import lower
from tests.contact.test_ground_never_pulls import check

MOST_STEPS = 15_000
"""Of a run of 3 s. Before feet that begin to slide kept their way, some took hundreds of thousands."""


WEIGHT = 2.0 * 9.81
CORNERS = tuple(f"corner_{k}" for k in range(4))


def box(middle=False):
    """A box on its four corners; with `middle` on a fifth point between them, which is pushed at its top."""
    m = Mechanism("box")
    body = m.body("box", 2.0, inertia=(0.03, 0.05, 0.07))
    m.joint("base", m.world, body, joints.free(), initial=(0, 0, 0.1, 0, 0, 0, 1.0), actuated=False)
    corners = [(x, y, -0.1) for x in (0.3, -0.3) for y in (0.2, -0.2)]
    if middle:
        corners.append((0.0, 0.0, -0.1))
        m.frame("top", body, (0, 0, 0.4))
        m.push("top")
    feet = contact.polygon(m, "box", corners, "corner")
    return contact.rigid(m, feet, contact.plane(Param("slope", 0.0)), friction=Param("mu", 0.5))


def test_its_code_stays_small():
    """Instructions; what is evaluated in every step is optimised by the compiler, and most of the wait."""
    lowered = lower(box())
    sizes = {
        name: lowered.functions[name].n_instructions() for name in ("flow", "guards", "guards_and_rates")
    }
    assert sizes["flow"] < 7000
    assert sizes["guards"] < 8000
    assert sizes["guards_and_rates"] < 19000


@pytest.mark.slow  # its code takes a compiler ten seconds
def test_thrown_boxes_come_to_rest_or_slide_on():
    made = box()
    rng = np.random.default_rng(0)
    for _ in range(30):
        turned = rng.standard_normal(4) * np.array([0.3, 0.3, 1, 1])
        x0 = {"base.z": 0.6} | dict(
            zip(("base.qx", "base.qy", "base.qz", "base.qw"), turned / np.linalg.norm(turned), strict=True)
        )
        x0 |= {f"base.v{axis}": v for axis, v in zip("xyz", rng.standard_normal(3), strict=True)}
        x0 |= {f"base.w{axis}": v for axis, v in zip("xyz", 3 * rng.standard_normal(3), strict=True)}
        p = {"mu": rng.uniform(0.05, 1.2), "slope": rng.choice([0.0, 0.2])}
        run = strut.simulate(made, t=3.0, x0=x0, p=p, max_steps=MOST_STEPS)
        assert run.status == "done"
        stored = sum(run.ledger.stored[name] for name in run.ledger.stored)
        assert np.diff(stored).max() < 1e-9
        assert run.ledger.residual < 1e-6


@pytest.mark.slow  # the same code
def test_a_box_slides_straight_and_stops():
    """v^2 / (2 mu g), along its velocity, however the corners share the load."""
    run = strut.simulate(box(), t=1.0, x0={"base.vx": 0.8, "base.vy": 0.6})
    distance = 1 / (2 * 0.5 * 9.81)
    assert run.status == "done"
    assert run["base.x"][-1] == pytest.approx(0.8 * distance, rel=1e-6)
    assert run["base.y"][-1] == pytest.approx(0.6 * distance, rel=1e-6)


@pytest.mark.slow  # the same code
def test_a_box_that_slides_over_a_corner_stands_on_three():
    """All by hand: it slides straight, and the ground's force goes through a point as far in front of the centre
    as mu times its height. Four equally soft supports would have to pull at the corner behind, three press."""
    a, b, h, mu = 0.3, 0.2, 0.1, 2.0
    along = np.array([1 / a, 1 / b]) / np.hypot(1 / a, 1 / b)
    x, y = mu * h * along
    assert x / a + y / b > 1  # so that the corner behind would pull
    assert max(x / a, y / b) < 1  # and the box does not tip
    run = strut.simulate(
        box(), t=1.0, x0=dict(zip(("base.vx", "base.vy"), 2.0 * along, strict=True)), p={"mu": mu}
    )
    assert run.status == "done"
    check(run, CORNERS)
    early = run.at(0.01)
    shares = np.array([(x / a + y / b) / 2, (1 - y / b) / 2, (1 - x / a) / 2, 0.0])
    assert [early[f"{corner}_normal"] for corner in CORNERS] == pytest.approx(WEIGHT * shares, abs=1e-6)
    distance = 2.0**2 / (2 * mu * 9.81)
    assert run["base.x"][-1] == pytest.approx(distance * along[0], rel=1e-5)
    assert run["base.y"][-1] == pytest.approx(distance * along[1], rel=1e-5)
    assert max(abs(run["base.z"] - 0.1)) < 1e-9


@pytest.mark.slow  # the same code
def test_the_ground_never_pulls_at_boxes_that_slide_and_turn():
    made = box()
    rng = np.random.default_rng(3)
    for _ in range(40):
        x0 = dict(zip(("base.vx", "base.vy", "base.wz"), rng.uniform(-3, 3, 3), strict=True))
        run = strut.simulate(made, t=1.0, x0=x0, p={"mu": rng.uniform(0.5, 2.5)}, max_steps=MOST_STEPS)
        assert run.status == "done"
        check(run, CORNERS)


@pytest.mark.slow  # five contacts with friction: their code takes a compiler half a minute
def test_a_box_on_five_points_stands_slides_and_tips():
    """All by hand: the points carry the weight together; it slides where the push exceeds mu times the
    weight, and accelerates by the rest; with more friction it tips where the push turns it more than the
    weight holds it, about the edge in front, and no earlier."""
    made = box(middle=True)
    normals = [f"corner_{k}_normal" for k in range(5)]

    def pushed(force, mu, t=0.3, along="x"):
        return strut.simulate(made, t=t, u={f"top_push_{along}": force}, p={"mu": mu})

    stands = pushed(0.0, 0.5)
    assert stands.status == "done"
    assert sum(stands[name][-1] for name in normals) == pytest.approx(WEIGHT, abs=1e-8)
    assert max(abs(stands["base.z"] - 0.1)) < 1e-12
    # lower than it tips: it slides, by what friction leaves of the push
    slides = pushed(5.0, 0.2)
    assert slides.status == "done"
    acceleration = (5.0 - 0.2 * WEIGHT) / 2.0
    assert slides["base.x"][-1] == pytest.approx(acceleration * 0.3**2 / 2, rel=1e-6)
    assert slides["base.y"][-1] == pytest.approx(0.0, abs=1e-9)
    assert slides.ledger.residual < 1e-9
    for along, reach in (("x", 0.3), ("y", 0.2)):
        least = WEIGHT * reach / 0.5  # of the weight about the edge, and of the push 0.5 m above the ground
        holds, tips = (pushed(share * least, 2.0, along=along) for share in (0.99, 1.01))
        assert holds.status == tips.status == "done"
        assert max(abs(holds["base.z"] - 0.1)) < 1e-10
        assert tips["base.z"][-1] > 0.1 + 1e-4
        standing = [name for name in normals if abs(tips[name][-1]) > 0]
        assert len(standing) == 2  # the edge that it turns about
        assert tips.ledger.residual < 1e-9
