"""The walk of a network: said in the file, or that of a machine in it."""

import casadi as ca
import numpy as np
import pytest

import strut
from strut import contact, gait, network, walkers
from strut.errors import StrutError
from tests.contact.machines import rod

PLACES = 1e-9
"""Two descriptions of one walker, each gait found to 1e-12, agree to this."""

WHEEL = """
node "wheel" {
    mass = 1  length = 1  slope = 0.08  g = 9.81
    half = "pi / 8"
    angle = "slope - half"
    angle' = "rate"
    rate = 1
    rate' = "g / length * sin(angle)"
    foot = 0
    height = "length * cos(angle)"
    event when "angle > slope + half" {
        set angle = "angle - 2 * half"
        set rate = "cos(2 * half) * rate"
        set foot = "foot + 2 * length * sin(half)"
    }
    output "walk" type "walk" {
        settings { section = event_1  progress = foot  slope = slope  weight = "mass * g" }
    }
    output "spoke" type "foot" { settings { lands = event_1  gap = height } }
}
"""


def test_a_wheel_in_the_language_finds_its_gait_without_being_told_the_section():
    net = network.loads(WHEEL, "wheel")
    system = net.system()
    assert not net.warnings
    assert system.walk.section == "wheel.event_1"
    assert system.walk.step_events == ("wheel.event_1",)
    ours, theirs = gait.find(system), gait.find(walkers.rimless_wheel())
    assert ours.period == pytest.approx(theirs.period, abs=PLACES)
    assert ours.step_length == pytest.approx(theirs.step_length, abs=PLACES)
    assert np.sort(abs(ours.multipliers)) == pytest.approx(np.sort(abs(theirs.multipliers)), abs=1e-7)


def test_what_a_walk_names_has_its_unit_and_is_always_an_output():
    system = network.loads(WHEEL).system(outputs=())
    assert list(system.outputs) == ["wheel.height"]
    assert system.output_units == {"wheel.height": "m"}
    assert {q.name: q.unit for q in (*system.z, *system.p) if q.unit} == {
        "wheel.foot": "m",
        "wheel.slope": "rad",
    }
    mass_times_g = ca.Function("w", [q.sym for q in system.p], [system.walk.weight])
    assert float(mass_times_g(*[q.value for q in system.p])) == pytest.approx(9.81)


def test_a_template_of_a_walker_brings_its_walk_along():
    text = f'templates {{ {WHEEL} }} node "mine" : wheel {{ slope = 0.1 }}'
    walk = network.loads(text).system().walk
    assert (walk.section, walk.progress, walk.feet[0].name) == (
        "mine.event_1",
        ("mine.foot",),
        "mine.spoke",
    )


def test_names_are_looked_up_from_where_the_output_stands():
    outside = 'output "w" type "walk" { settings { section = "wheel.event_1"  progress = "wheel.foot" } }'
    inside = WHEEL.replace('output "walk" type "walk" {', 'output "walk" type "foot" {').replace(
        'section = event_1  progress = foot  slope = slope  weight = "mass * g"', "stands = foot"
    )
    walk = network.loads(inside + outside).system().walk
    assert (walk.section, walk.progress) == ("wheel.event_1", ("wheel.foot",))
    assert [foot.name for foot in walk.feet] == ["wheel.walk", "wheel.spoke"]


def test_several_names_stand_in_brackets_or_between_commas():
    for said in ("[foot, angle]", '"foot, angle"'):
        net = network.loads(WHEEL.replace("progress = foot", f"progress = {said}"))
        assert net.system().walk.progress == ("wheel.foot", "wheel.angle")


def test_a_machine_in_a_network_keeps_its_walk_under_the_name_of_its_node():
    net = network.loads('node "leg" { angle = 0 | in }')
    system = net.system(machines={"leg": walkers.rimless_wheel()})
    assert system.walk.section == "leg.heel_strike"
    assert system.walk.progress == ("leg.foot",)
    alone = gait.find(walkers.rimless_wheel())
    assert gait.find(system).period == pytest.approx(alone.period, abs=PLACES)


def test_the_walk_that_a_file_states_comes_before_that_of_a_machine():
    net = network.loads(WHEEL + 'node "leg" { angle = 0 | in }')
    assert net.system(machines={"leg": walkers.rimless_wheel()}).walk.section == "wheel.event_1"


def test_of_two_machines_that_walk_neither_is_the_walk_of_the_whole():
    net = network.loads('node "a" { angle = 0 | in }  node "b" { angle = 0 | in }')
    wheel = walkers.rimless_wheel()
    assert net.system(machines={"a": wheel, "b": wheel}).walk is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("section = event_1", "section = event_2", "section of 'wheel.walk' is 'event_2', which is no event"),
        ("progress = foot", "progress = mass", "is 'mass', which is no state"),
        ("slope = slope ", "slope = foot ", "is 'foot', which is no parameter"),
        ("gap = height", "gap = hight", "gap of 'wheel.spoke' is 'hight', which is no output"),
        ("lands = event_1", "hops = event_1", "an output of type 'foot' has no 'hops'"),
        ("progress = foot", "progess = foot", "did you mean 'progress'"),
        ("slope = slope ", "slope = [slope, mass] ", "slope of 'wheel.walk' has 2 names: give 1"),
        ("slope = slope ", "ground_step = slope ", "ground_step of 'wheel.walk' has 1 names: give 2"),
        ('"mass * g"', '"mass * rate"', "the weight of 'wheel.walk' must be one number, made of parameters"),
        ('"mass * g"', '"mas * g"', "'mas'"),
    ],
)
def test_a_walk_that_names_what_is_not_there_is_a_mistake_with_its_place(old, new, message):
    assert old in WHEEL
    with pytest.raises(network.NetworkError, match="wheel.cdn:1[0-9]:") as caught:
        network.loads(WHEEL.replace(old, new), "wheel.cdn").system()
    assert message in str(caught.value)


def test_a_network_has_one_walk():
    more = 'output "w" type "walk" { settings { section = "wheel.event_1" } }'
    with pytest.raises(network.NetworkError, match="two walks, w and wheel.walk|two walks, wheel.walk and w"):
        network.loads(WHEEL + more).system()


def test_without_a_walk_the_section_is_asked_for():
    bare = network.loads('x = 1  x\' = "-x"  event when "x < 0.5" { set x = 1 }').system()
    assert bare.walk is None
    with pytest.raises(StrutError, match="does not say what ends a step"):
        gait.find(bare)


def test_an_input_of_type_walk_is_left_out_with_a_warning():
    net = network.loads('x = 1  input "w" type "walk" {}')
    assert "left out" in net.warnings[0].message
    assert strut.simulate(net.system(), t=1).ok


def test_what_says_the_walk_is_no_node_of_the_picture():
    picture = network.loads(WHEEL).graph()
    assert 'id="wheel"' in picture
    assert 'id="wheel.walk"' not in picture
    assert 'id="wheel.spoke"' not in picture


def test_a_mechanism_on_the_ground_keeps_its_feet_in_a_network():
    alone = contact.rigid(rod(), ["left", "right"])
    net = network.loads('node "leg" { node "base" { x = 0 | in } }')
    walk = net.system(machines={"leg": alone}).walk
    assert len(walk.feet) == 2
    assert [foot.lands for foot in walk.feet] == [f"leg.{foot.lands}" for foot in alone.walk.feet]
    assert walk.progress == tuple(f"leg.{name}" for name in alone.walk.progress)
