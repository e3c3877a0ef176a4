"""Networks: nodes and edges, equations as people write them, in the coupled-dynamics language.

net = network.load("oscillators.cdn")
run = strut.simulate(net.system(), t=10, **net.options())
"""

from strut.network.build.calculation import evaluate_expression
from strut.network.model import Edge, Node, Variable
from strut.network.network import Network, load, loads
from strut.network.text.errors import NetworkError, NetworkProblem

__all__ = [
    "Edge",
    "Network",
    "NetworkError",
    "NetworkProblem",
    "Node",
    "Variable",
    "evaluate_expression",
    "load",
    "loads",
]
