"""The waist: hybrid systems over named vectors. Everything that other rooms use of it is exported here."""

from strut.system.archive import Archive, from_archive, room_classes, to_archive
from strut.system.compose import add_prefix, join
from strut.system.differences import model_differences
from strut.system.disturbance import HeldDisturbance, hold_disturbances, release_disturbances
from strut.system.event import Event, Sample
from strut.system.expression_text import number_text, parse_expression, write_expression
from strut.system.impacts import position_places, stops_dead
from strut.system.implied import Implied
from strut.system.known_names import names_by_kind, suggest_names
from strut.system.ldl import Factors, solve_ltdl
from strut.system.ledger import Ledger
from strut.system.memoise import memo
from strut.system.order import order_like, other_names, other_orders
from strut.system.pickling import Packed
from strut.system.piecewise import limit_between, limit_to, nearest_step
from strut.system.ported_function import (
    Entry,
    Port,
    PortedFunction,
    make_ported_function,
    operation_count,
    port,
    rate_unit,
)
from strut.system.quantity import (
    MIN_POSITIVE,
    UNBOUNDED,
    Delay,
    Discrete,
    Disturbance,
    Expression,
    Input,
    Param,
    Quantity,
    Random,
    State,
    check_name,
    known_symbol,
    own_value,
    sx,
    time,
)
from strut.system.rewrite import BatchRewrite
from strut.system.scene import (
    HINGES,
    KINDS,
    SIDES,
    Arrow,
    Floor,
    Hinge,
    Part,
    Scene,
    ball,
    hinge,
    place,
    rod,
    slope_floor,
)
from strut.system.sums import Like, Sums, Terms, Totals
from strut.system.system import GROUPS, System
from strut.system.take_turns import Switch, activate, alternate, is_alternating, switching_events
from strut.system.tape import ExpressionTape
from strut.system.values import Start, initial_values, parameters, runs_in, start
from strut.system.walk import Foot, Grip, Walk

__all__ = [
    "GROUPS",
    "HINGES",
    "KINDS",
    "MIN_POSITIVE",
    "SIDES",
    "UNBOUNDED",
    "Archive",
    "Arrow",
    "BatchRewrite",
    "Delay",
    "Discrete",
    "Disturbance",
    "Entry",
    "Event",
    "Expression",
    "ExpressionTape",
    "Factors",
    "Floor",
    "Foot",
    "Grip",
    "HeldDisturbance",
    "Hinge",
    "Implied",
    "Input",
    "Ledger",
    "Like",
    "Packed",
    "Param",
    "Part",
    "Port",
    "PortedFunction",
    "Quantity",
    "Random",
    "Sample",
    "Scene",
    "Start",
    "State",
    "Sums",
    "Switch",
    "System",
    "Terms",
    "Totals",
    "Walk",
    "activate",
    "add_prefix",
    "alternate",
    "ball",
    "check_name",
    "from_archive",
    "hinge",
    "hold_disturbances",
    "initial_values",
    "is_alternating",
    "join",
    "known_symbol",
    "limit_between",
    "limit_to",
    "make_ported_function",
    "memo",
    "model_differences",
    "names_by_kind",
    "nearest_step",
    "number_text",
    "operation_count",
    "order_like",
    "other_names",
    "other_orders",
    "own_value",
    "parameters",
    "parse_expression",
    "place",
    "port",
    "position_places",
    "rate_unit",
    "release_disturbances",
    "rod",
    "room_classes",
    "runs_in",
    "slope_floor",
    "solve_ltdl",
    "start",
    "stops_dead",
    "suggest_names",
    "switching_events",
    "sx",
    "time",
    "to_archive",
    "write_expression",
]
