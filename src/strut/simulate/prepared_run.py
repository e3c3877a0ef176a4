"""`PreparedRun`: the same run again and again from other numbers, with everything prepared, where checking
arguments would cost more than the run."""

from __future__ import annotations

import time as clock
from typing import Any

import numpy as np

from strut.codegen import Many, Native, address, byref, compile_system
from strut.simulate.batch import simulate_batch
from strut.simulate.options import STIFF, chosen_options
from strut.simulate.record import STATUS
from strut.simulate.simulate import names_of
from strut.system import System


class PreparedRun:
    """Runs of a system from 0 to at most `t` [s], or as long as a call says. Put numbers into `x0`, `z0`,
    `u`, `p` and call; then read `t`, `x`, `z`, `counts` (of events, in order) and `status` before the next
    call overwrites them. Nothing is checked: it is for numbers that were."""

    def __init__(self, system: System, t: float, **options: Any) -> None:
        self.system, self.end, self.options = system, t, options
        self.model = model = compile_system(system, stiff=options.get("method") in STIFF)
        self.x0, self.z0, self.u, self.p = (np.zeros((1, system.size(g))) for g in "xzup")
        self.x, self.z, self.t = np.zeros((1, system.size("x"))), np.zeros((1, system.size("z"))), np.zeros(1)
        self.code, self.cause, self.culprit = (np.zeros(1, dtype=np.int32) for _ in range(3))
        self.jumps = names_of(system).jumps
        self.status = ""
        self.native = isinstance(model, Native) and not system.delays
        self.counts = np.zeros((1, len(self.jumps)), dtype=np.int64)
        if isinstance(model, Native) and self.native:
            sizes = model.sizes
            self.chosen = chosen_options({"ledger": False, **options}).native(dense=False)
            self.counts = np.zeros((1, sizes["NJ"]), dtype=np.int64)
            self.rest = [np.array([t]), np.zeros((1, 1, 0)), self.counts, np.zeros(1, dtype=np.int64)]
            self.sim = model.sim()
            self.empty, self.none = np.empty((0, 1)), np.empty(0, dtype=np.int32)
            stops, y, _, steps = self.rest
            self.many = Many(
                0.0,
                address(stops),
                *map(address, (self.x0, self.z0, self.u, self.p)),
                1,
                sizes["NX"],
                sizes["NZ"],
                sizes["NU"],
                sizes["NP"],
                0,
                0,
                address(self.empty),
                address(self.none),
                0,
                1,
                *map(address, (self.t, self.x, self.z, y, None, None, self.counts, steps)),
                *map(address, (self.code, self.cause, self.culprit, self.sim)),
            )
            self.go = model.library.strut_batch
            self.arguments = byref(self.chosen), byref(self.many), 0, 1

    def __call__(self, t: float | None = None) -> None:
        """Run from the numbers put in, as long as `t` [s] says."""
        end = self.end if t is None else t
        if not self.native:
            batch = simulate_batch(
                self.system, end, x0=self.x0, z0=self.z0, u=self.u, p=self.p, **self.options
            )
            self.x[:], self.z[:], self.t[:], self.status = batch.x, batch.z, batch.t, str(batch.status[0])
            self.counts[0] = [batch.counts[name][0] for name in self.jumps]
            return
        self.rest[0][0] = end
        self.counts[:] = 0
        began = clock.perf_counter()
        self.go(*self.arguments)
        self._spend(clock.perf_counter() - began)
        word = STATUS[self.code[0]]
        self.status = self.jumps[self.cause[0]] if word == "terminal" else word

    def _spend(self, seconds: float) -> None:
        """Count the time of a run [s], and go on with a better library where there is one by now."""
        assert isinstance(self.model, Native)
        self.model.spend(seconds)
        best = self.model.best()
        if best is not self.model:
            self.model, self.go = best, best.library.strut_batch


__all__ = ["PreparedRun"]
