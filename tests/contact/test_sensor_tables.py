"""Sensors and watchers of model files: the same as in Python, and mistakes with their place."""

import pytest

import strut
from strut import mechanism
from strut.errors import ModelError
from strut.mechanism import sensors, watchers

ARM = """
name = "arm"
[bodies.link]
mass = 2.0
com = [0, 0, -0.2]
inertia = [0.02, 0.02, 0.001]
[frames.tip]
body = "link"
at = [0, 0, -0.4]
[joints.elbow]
type = "revolute"
axis = "y"
parent = "world"
child = "link"
initial = 1.0
[sensors.tip]
kind = "imu"
frame = "tip"
[sensors.place]
kind = "anchor"
frame = "tip"
of = ["position"]
[sensors.elbow]
kind = "encoder"
joint = "elbow"
resolution = 0.01
[watchers.elbow]
kind = "range"
limits = { elbow = [-0.5, 2.0] }
"""


def test_tables_are_what_python_says():
    arm = strut.contact.parse(ARM)
    robot = mechanism.modelfile.parse(ARM)
    by_hand = mechanism.sense(
        mechanism.system(robot),
        robot,
        [sensors.Imu("tip"), sensors.Anchor("tip", of=["position"]), sensors.Encoder("elbow", 0.01)],
    )
    by_hand = mechanism.watch(by_hand, robot, [watchers.JointRange({"elbow": (-0.5, 2.0)})])
    ours, expected = (strut.simulate(each, t=2.0, backend="virtual") for each in (arm, by_hand))
    assert ours.status == "elbow_out_of_range"
    assert not ours.ok
    assert ours["elbow"][-1] == pytest.approx(-0.5, abs=1e-9)
    for name in ("tip_gyro[1]", "tip_accelerometer[2]", "tip_position[0]", "elbow_encoder"):
        assert ours[name][-1] == expected[name][-1]


def test_a_watcher_may_watch_a_sensor_and_only_record():
    text = ARM.replace('kind = "range"\nlimits = { elbow = [-0.5, 2.0] }',
                       'kind = "output"\noutput = "tip_gyro"\nlimit = 2.0\nends = false')  # fmt: skip
    run = strut.simulate(strut.contact.parse(text), t=1.0, backend="virtual")
    assert run.ok
    assert "tip_gyro_limit" in run.events.names


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('frame = "tip"\n[sensors.place]', 'frame = "tp"\n[sensors.place]', "line 16.*no frame or body 'tp': did you mean 'tip'"),
        ('kind = "imu"', 'kind = "imo"', "line 17.*kind is 'imo': did you mean 'imu'"),
        ("resolution = 0.01", "resolution = 0", "resolution of the encoder on 'elbow' is 0.0: a positive"),
        ("resolution = 0.01", "", "resolution"),
        ('joint = "elbow"', 'joint = "elbow"\nmotors = true', "'motors' is unknown here: did you mean 'motor'"),
        ("[-0.5, 2.0]", "[-0.5]", "the range of 'elbow' is .*its lower and upper end are needed"),
        ('of = ["position"]', 'of = ["place"]', "an anchor has no 'place' to read"),
    ],
)  # fmt: skip
def test_mistakes_are_said_with_their_place(old, new, sentence):
    assert old in ARM
    with pytest.raises(ModelError, match=sentence):
        strut.contact.parse(ARM.replace(old, new))
