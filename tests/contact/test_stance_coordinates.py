"""Walkers that step stand on their base: what a machine must be for that is said."""

import pytest

from strut import contact
from strut.errors import ModelError, UnknownNameError
from tests.contact.test_leg_exchange import compass


def stand(*, base=("x", "z"), foot=(0, 0, 0), radius=0.0, ground=None):
    """Put a compass on its stance foot."""
    machine = compass(relative=False)
    machine.frame("heel", machine.bodies["stance"], foot)
    stance, swing = contact.arc("heel", radius), contact.arc("swing_foot", radius)
    swap = {"stance": "swing", "swing": "stance"}
    return contact.stepping(machine, contact.Legs(base, stance, swing, swap, "hip", fall=0.4), ground)


@pytest.mark.parametrize(
    ("wrong", "error", "sentence"),
    [
        ({"base": ("x", "zz")}, UnknownNameError, "'compass' has no joint 'zz': did you mean 'z'"),
        ({"base": ("x",)}, ModelError, "stance foot of 'compass' is carried by 1 joints: 2 are needed"),
        ({"foot": (0, 0, -0.1)}, ModelError, "the base of 'compass' must sit at the stance foot 'heel'"),
        (
            {"radius": 0.1, "ground": contact.profile(lambda x, y: 0.1 * x**2)},
            ModelError,
            "stance foot of 'compass' cannot roll on this ground: arcs need a plane",
        ),
    ],
)
def test_a_machine_that_cannot_stand_on_its_base_is_refused(wrong, error, sentence):
    stand()
    with pytest.raises(error, match=sentence):
        stand(**wrong)
