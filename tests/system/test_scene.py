"""How systems look."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut.errors import ModelError, UnknownNameError
from strut.system.scene import Part, Scene, ball, rod, slope_floor


@pytest.mark.parametrize("name", sorted(strut.walkers.CATALOGUE))
def test_every_machine_can_be_drawn_and_nothing_of_it_is_lost(name):
    system = strut.walkers.CATALOGUE[name]()
    if name == "van-der-pol":
        assert not system.scene.parts
        return
    assert system.scene.parts
    start = strut.simulate(system, t=0.0).end
    groups = system.vectors()
    f = ca.Function("scene", [strut.time, *groups], list(system.scene.columns().values()))
    values = f(0.0, start["x0"], start["z0"], start["u"], start["p"])
    assert all(np.all(np.isfinite(np.array(v))) for v in values)


def test_the_legs_of_the_compass_meet_at_the_hip():
    walker = strut.walkers.compass()
    run = strut.simulate(walker, t=0.4)
    parts = {p.name: p for p in walker.scene.parts}
    assert {"stance_leg", "swing_leg"} <= set(parts)
    groups = walker.vectors()
    end = run.end
    ends = [parts["stance_leg"].values["end"], parts["swing_leg"].values["start"]]
    found = ca.Function("f", groups, ends)(end["x0"], end["z0"], end["u"], end["p"])
    hip, top = (np.array(v).reshape(-1) for v in found)
    np.testing.assert_allclose(hip, top, atol=1e-12)
    np.testing.assert_allclose(hip[[0, 2]], [run["com_x"][-1], run["com_z"][-1]], atol=0.5)


def test_scenes_are_composed_and_checked():
    one = strut.add_prefix(strut.walkers.pendulum(), "a")
    both = strut.join("both", one, strut.add_prefix(strut.walkers.rimless_wheel(), "b"))
    assert {p.name.split(".")[0] for p in both.scene.parts} == {"a", "b"}
    assert both.scene.floor is not None
    with pytest.raises(ModelError, match="drawn as 'cone'"):
        Part("hat", "cone", {})
    with pytest.raises(ModelError, match="the sphere 'ball' needs"):
        Part("ball", "sphere", {"at": ca.SX([0, 0])})
    x = strut.State("x", 0.0)
    stranger = ca.SX.sym("y")
    with pytest.raises(UnknownNameError, match="of the scene"):
        strut.System("s", x=[x], flow={x: 0}, scene=Scene((ball("b", (stranger, 0), 1),)))
    with pytest.raises(ModelError, match="the ground does not move"):
        strut.System(
            "s", x=[x], flow={x: 0}, scene=Scene((rod("r", (0, 0), (1, 1), 0.1),), floor=slope_floor(x.sym))
        )


def test_points_are_outputs_and_stay_with_them():
    x = strut.State("x", 1.0, "m")
    outputs = {"tip_x": x.sym, "tip_z": ca.SX(0.0)}
    scene = Scene(points={"tip": ("tip_x", "tip_z")})
    cart = strut.System("cart", x=(x,), flow={x: -x.sym}, outputs=outputs, scene=scene)
    assert strut.simulate(cart, t=1).names.points == {"tip": ("tip_x", "tip_z")}
    assert strut.add_prefix(cart, "a").scene.points == {"a.tip": ("a.tip_x", "a.tip_z")}
    assert not cart.replace(outputs={"tip_x": x.sym}).scene.points
    with pytest.raises(
        UnknownNameError, match="the point 'tip' of the scene is at 'top_z', which is no output"
    ):
        cart.replace(scene=Scene(points={"tip": ("tip_x", "top_z")}))
    with pytest.raises(ModelError, match="has 1 coordinates: give the outputs of x and z"):
        cart.replace(scene=Scene(points={"tip": ("tip_x",)}))
