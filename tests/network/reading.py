"""What the variables of a network are when a run begins, found without compiling anything."""

import casadi as ca
import numpy as np

from strut import network
from strut.system.quantity import sx, time


def begin(text, t=0.0, outputs=None, **changed):
    """Values by name at time `t`, of some outputs only and with some states or parameters changed: numbers, or columns."""
    net = network.loads(text) if isinstance(text, str) else text
    system = net.system(outputs=outputs)
    system = system.using(**changed) if changed else system
    found = {q.name: np.asarray(q.value, dtype=float).reshape(-1) for q in (*system.p, *system.u)}
    symbols = [q.sym for q in (*system.p, *system.u)]
    for group in (system.x, system.z):
        for q in group:
            f = ca.Function("start", symbols, [sx(q.value)])
            found[q.name] = np.array(
                f.call([ca.DM(found[n]) for n in list(found)[: len(symbols)]])[0]
            ).reshape(-1)
        symbols += [q.sym for q in group]
    f = ca.Function("outputs", [time, *symbols], list(system.outputs.values()))
    for name, value in zip(
        system.outputs, f.call([t, *(ca.DM(found[n]) for n in list(found)[: len(symbols)])]), strict=True
    ):
        found[name] = np.array(value).reshape(-1)
    return {name: float(v[0]) if v.size == 1 else v for name, v in found.items()}
