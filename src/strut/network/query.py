"""`NetworkQuery`: evaluates further expressions in a network, seen from one of its nodes."""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca
import numpy as np

from strut.network.lower import scope
from strut.network.lower.frame import EvaluationFrame
from strut.network.lower.loaded_network import LoadedNetwork
from strut.network.lower.to_system import Lowering
from strut.network.model import Object, Variable
from strut.network.text.errors import Mistake, NetworkError, NetworkProblem
from strut.system import System, sx, time


class NetworkQuery:
    """Evaluates expressions of the variables of a network. system: that of the network."""

    def __init__(self, network: LoadedNetwork, seed: int = 0) -> None:
        self.network = network
        self._lowering = Lowering(network, seed)
        self.system: System = self._lowering.system(None)

    def place(self, path: str) -> Object:
        """The node or edge of a path such as 'leg.knee'; the network itself for an empty one.

        Raises `NetworkError` where there is none.
        """
        thing = scope.step_into(path, self.network.root) if path else self.network.root
        if thing is None:
            raise NetworkError([NetworkProblem(f"there is no '{path}' in the network")])
        return thing

    def expression(self, text: str, path: str = "") -> ca.SX:
        """A text as an expression of the quantities of the system, its names looked up from `path`.

        Raises `NetworkError` where it is wrong, or needs random numbers or delays.
        """
        place = self.place(path)
        before = len(self._lowering.meaning.draws), len(self._lowering.meaning.delays)
        try:
            value = self._lowering.meaning.formula(
                text, Variable("it", place, text=text), EvaluationFrame(place)
            )
        except Mistake as mistake:
            raise NetworkError([mistake.problem]) from mistake
        if (len(self._lowering.meaning.draws), len(self._lowering.meaning.delays)) != before:
            raise NetworkError(
                [NetworkProblem(f"'{text}' needs a state of its own (rand or delayed): make it a variable")]
            )
        return value

    def value(
        self, text: str, t: float = 0.0, at: Mapping[str, object] | None = None, path: str = ""
    ) -> np.ndarray:
        """The number or matrix that a text stands for at a time [s].

        at: values of states, parameters and inputs by name; what is not given is as when a run begins. Raises
        `NetworkError` where the text is wrong or known only while the network runs.
        """
        expression = self.expression(text, path)
        system = self.system.using(dict(at)) if at else self.system
        symbols: list[ca.SX] = [time]
        values: list[ca.DM] = [ca.DM(t)]
        for group in ((*system.p, *system.u), system.x, system.z):
            start = ca.Function("start", symbols, [sx(q.value) for q in group], {"allow_free": True})
            values += start.call(values)
            symbols += [q.sym for q in group]
        evaluate = ca.Function("value", symbols, [expression], {"allow_free": True})
        if evaluate.get_free():
            raise NetworkError(
                [
                    NetworkProblem(
                        f"'{text}' is known only while the network runs: it uses {evaluate.get_free()[0]}"
                    )
                ]
            )
        return np.array(evaluate.call(values)[0])
