"""`StageSource`: a stage function before it is differentiated, and the general form in which it is compiled.

In CasADi's virtual machine a stage function has the derivatives by what is free, and no others. The general
form has them by every single parameter of the system that it reads, so that one library serves whatever is
free: free parameters are unknowns there, fixed ones numbers, and of its derivatives the columns of what is
free are selected.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from strut.optimal.nlp.stage_function import StageFunction
from strut.optimal.nlp.unknowns import Layout
from strut.system import time

MAX_PARAMETERS = 40
"""Parameters of the general form at most. A stage that reads more is compiled for those that are free: a
Hessian by hundreds would take longer to compile than all choices that anybody makes."""


@dataclass(frozen=True, eq=False)
class StageSource:
    """A stage function to be made.

    name: of it. size: how many numbers it gives. layout, phase: where it belongs. make: takes a layout, which
    says what is free, and gives the stage function, not compiled. data: how many numbers it has of its own.
    reads: all expressions of the system that it is made of. content: what else it depends on, as text.
    What reads nothing is never compiled.
    """

    name: str
    size: int
    layout: Layout
    phase: int
    make: Callable[[Layout], StageFunction]
    data: int = 2
    reads: Sequence[ca.SX] = ()
    content: str = ""

    @cached_property
    def own_form(self) -> StageFunction:
        """With the derivatives by what is free; not compiled."""
        return self.make(self.layout)

    @cached_property
    def general_layout(self) -> Layout:
        """The layout in which every single parameter that is read is free, and numbers are those read."""
        layout, first = self.layout, self.layout.np + self.layout.nz * self.phase
        symbols = {s.element_hash() for e in self.reads for s in ca.symvar(e)}
        _, z, _, p = layout.vectors
        read = [i for i in range(layout.np) if p[i].element_hash() in symbols]
        single = {layout.system.slices("p")[q.name].start for q in layout.system.p if q.size == 1}
        free = [i for i in read if i in single]
        if len(free) > MAX_PARAMETERS:
            free = [i for i in free if i in layout.free]
        numbers = [i for i in read if i not in free]
        numbers += [first + i for i in range(layout.nz) if z[i].element_hash() in symbols]
        return layout.with_parameters(free, numbers)

    @cached_property
    def digest(self) -> str:
        """A hash of all that the general form depends on."""
        general, (x, z, u, p) = self.general_layout, self.layout.vectors
        places = [*general.free, *(i for i in general.taken if i < self.layout.np)]
        symbols = [time, x, z, u, ca.vertcat(*[p[i] for i in places], ca.SX(0, 1))]
        implied = self.layout.system.implied
        symbols += [] if implied is None else [implied.unknown]
        written = ca.Function("stage", symbols, list(self.reads)).serialize()
        words = [self.content, str(self.data), str(len(general.free)), general.stage_text(self.phase)]
        return hashlib.sha256("\n".join([*words, written]).encode()).hexdigest()

    @property
    def growth(self) -> float:
        """About how many times as many instructions the general form has: as it has variables. Measured for
        five walkers of which nothing is free: 1.4 to 2.6 by this, 1.5 to 3.1 counted."""
        own = 2 + self.layout.nx + self.layout.nu + len(self.layout.free)
        return max(1.0, (own + len(self.general_layout.free) - len(self.layout.free)) / own)

    def general_functions(self) -> tuple[ca.Function, ca.Function, ca.Function]:
        """Return value, Jacobian and upper triangle of the Hessian of the general form, as matrices: from a
        library, too, they say where they are zero."""
        stage = self.make(self.general_layout)
        sizes = {"v": stage.value.size1_in(0), "d": stage.value.size1_in(1), "weights": stage.size}
        v, d, weights = (ca.MX.sym(label, n) for label, n in sizes.items())
        J = _matrix(stage.jacobian_at, (stage.size, sizes["v"]), stage.jacobian(v, d))
        H = _matrix(stage.hessian_at, (sizes["v"], sizes["v"]), stage.hessian(v, d, weights))
        return (
            ca.Function("stage_value", [v, d], [stage.value(v, d)]),
            ca.Function("stage_jacobian", [v, d], [J]),
            ca.Function("stage_hessian", [v, d, weights], [H]),
        )

    def selected_form(self, functions: Sequence[ca.Function]) -> StageFunction:
        """Return the stage function, of functions of the general form: fixed parameters are numbers, and
        derivatives those by what is free."""
        layout, general, (value, jacobian, hessian) = self.layout, self.general_layout, functions
        common = value.size1_in(0) - len(general.free)  # variables before the parameters
        v, d = ca.MX.sym("v", common + len(layout.free)), ca.MX.sym("d", self.data + layout.data)
        weights = ca.MX.sym("weights", self.size)
        places = {i: common + k for k, i in enumerate(layout.free)}
        parameters = [v[places[i]] if i in places else d[self.data + i] for i in general.free]
        V = ca.vertcat(v[:common], *parameters)
        D = ca.vertcat(d[: self.data], *[d[self.data + i] for i in general.taken])
        rows = {r: r for r in range(self.size)}
        own = {c: c for c in range(common)}
        own |= {common + k: places[i] for k, i in enumerate(general.free) if i in places}
        J, jacobian_at = _select(jacobian(V, D), rows, own)
        H, hessian_at = _select(hessian(V, D, weights), own, own)
        return StageFunction(
            self.name,
            ca.Function(f"{self.name}_value", [v, d], [value(V, D)]),
            ca.Function(f"{self.name}_jacobian", [v, d], [J]),
            ca.Function(f"{self.name}_hessian", [v, d, weights], [H]),
            jacobian_at,
            hessian_at,
        )


def _matrix(places: tuple[np.ndarray, np.ndarray], shape: tuple[int, int], nonzeros: Any) -> ca.MX:
    """Return the matrix of non-zeros, which are in the order of a compressed matrix."""
    rows, columns = (part.tolist() for part in places)
    return ca.MX(ca.Sparsity.triplet(*shape, rows, columns), ca.vec(nonzeros))


def _select(
    matrix: Any, rows: Mapping[int, int], columns: Mapping[int, int]
) -> tuple[ca.MX, tuple[np.ndarray, np.ndarray]]:
    """Return the non-zeros of a matrix in chosen rows and columns, and where they stand among these, by the
    place that each has there."""
    r, c = matrix.sparsity().get_triplet()
    places_kept = [k for k in range(len(r)) if r[k] in rows and c[k] in columns]
    at = (
        np.array([rows[r[k]] for k in places_kept], dtype=int),
        np.array([columns[c[k]] for k in places_kept], dtype=int),
    )
    return (ca.vec(matrix.nz[places_kept]) if places_kept else ca.MX(0, 1)), at


__all__ = ["StageSource"]
