"""What may change from step to step: added wherever an input is read, and nothing of the machine is lost."""

import casadi as ca

from strut import Discrete, Input, Ledger, Sample, State, System
from strut.control.adjust import add_changes


def test_changes_reach_samples_and_keep_what_is_electrical():
    speed, reading = State("speed", 0.0, "rad/s"), Discrete("reading", 0.0, "V")
    voltage = Input("voltage", 0.0, "V")
    motor = System(
        "motor",
        x=[speed],
        z=[reading],
        u=[voltage],
        flow={speed: voltage - speed},
        samples=[Sample("computer", every=0.1, set={reading: voltage.sym})],
        ledger=Ledger(supplied={"terminals": voltage * voltage}, electrical=("terminals",)),
    )
    adjusted = add_changes(motor, ("voltage",))
    assert adjusted.ledger.electrical == ("terminals",)
    change = next(q for q in adjusted.p if q.name == "voltage_change")
    assert ca.depends_on(adjusted.samples[0].set["reading"], change.sym)
    assert ca.depends_on(adjusted.flow["speed"], change.sym)
