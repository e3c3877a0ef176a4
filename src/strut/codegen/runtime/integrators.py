"""`INTEGRATORS`: every integration method by the name that users give it; its number in C is its place.

This table is where a method is added. From it come the C enumeration and its dispatch (`contract_c`), the
names that `simulate` and `export` accept, and what the engine in Python steps with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from strut.codegen.runtime.tableau import DOP853, DOPRI5, EULER, RK4, RKC, Tableau


class StepKind(IntEnum):
    """How a method finds the length of its steps, and whether it solves equations for them."""

    FIXED = 0
    ADAPTIVE = 1
    IMPLICIT = 2


HERMITE_DEGREE = 3
"""Degree of the dense output of methods with a fixed step: the cubic Hermite polynomial through both ends."""


@dataclass(frozen=True)
class Integrator:
    """One integration method.

    name: what users write. kind: of its steps. order: of convergence, at most. use: what it is for.
    tableau: its coefficients, if it is an explicit Runge-Kutta method: then the C and the Python of its step
        are written from it. Others are written by hand: `strut_CODE.h` or `strut_methods.h`, and
        `simulate.methods`.
    code: its name in C, if that is another.
    degree: of its dense output.
    stages: how many rates a step keeps.
    """

    name: str
    kind: StepKind
    order: int
    use: str
    code: str = ""
    degree: int = HERMITE_DEGREE
    stages: int = 2
    tableau: Tableau | None = None

    @property
    def c_function(self) -> str:
        """The name of its C function, without the prefix of a model."""
        return self.code or self.name

    @property
    def c_constant(self) -> str:
        """Its constant in `enum strut_method`."""
        return f"STRUT_{self.c_function.upper()}"

    @property
    def damping(self) -> float:
        """Exponent of the error before, in the PI control of an adaptive step."""
        return self.tableau.damping if self.tableau else 0.0

    @property
    def straight(self) -> bool:
        """Is its dense output a straight line? A step of first order is one: anything else would put events
        where it never is."""
        return self.kind is StepKind.FIXED and self.order == 1


def _runge_kutta(tableau: Tableau, use: str) -> Integrator:
    """The integrator of a tableau, under its name."""
    return Integrator(
        name=tableau.name,
        kind=StepKind.ADAPTIVE if tableau.adaptive else StepKind.FIXED,
        order=tableau.order,
        use=use,
        degree=tableau.degree,
        stages=tableau.stages,
        tableau=tableau,
    )


INTEGRATORS: Mapping[str, Integrator] = {
    method.name: method
    for method in (
        _runge_kutta(EULER, "checking against something that used it"),
        _runge_kutta(RK4, "real-time loops, and comparison with other codes"),
        Integrator("leapfrog", StepKind.FIXED, 2, "conservative systems over very long times"),
        Integrator(
            "predictor-corrector",
            StepKind.FIXED,
            4,
            "smooth systems with an expensive flow",
            code="abm4",
            stages=4,
        ),
        _runge_kutta(DOPRI5, "loose tolerances, and very short flights between events"),
        _runge_kutta(DOP853, "almost everything"),
        Integrator("radau", StepKind.IMPLICIT, 5, "stiff systems", degree=3, stages=13),
        Integrator("bdf", StepKind.IMPLICIT, 5, "large stiff systems", degree=5, stages=10),
        _runge_kutta(RKC, "much damping, as of stiff ground: fixed steps 12 times as long as those of rk4"),
    )
}
"""Every integration method, by name. Later ones go to the end, so that numbers stay what they are."""


def integrator_number(name: str) -> int:
    """The number of a method in `enum strut_method`."""
    return list(INTEGRATORS).index(name)


def names_of_kind(kind: StepKind) -> tuple[str, ...]:
    """The names of all methods of a kind, in order."""
    return tuple(name for name, method in INTEGRATORS.items() if method.kind is kind)
