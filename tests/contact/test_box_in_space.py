"""A box on four points with Coulomb's friction in space: many contacts that share a load in many ways."""

import numpy as np
import pytest

import strut
from strut import Mechanism, Param, contact, joints
from strut.codegen.lower import lower

MOST_STEPS = 15_000
"""Of a run of 3 s. Before feet that begin to slide kept their way, some took hundreds of thousands."""


WEIGHT = 2.0 * 9.81


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
