"""`Broker`: the actor in a Ray cluster that shares its cores among jobs by priority.

Ray itself gives cores to whoever asks first, so that jobs share them erratically; here each asks before every
share of a generation. The broker stays in the cluster when jobs end; it is small.
"""

from __future__ import annotations

import asyncio
import math
import time as clock
from typing import Any

from strut.evolve.workers.stride import StrideScheduler
from strut.extras import optional_module

BROKER_NAME = "strut-broker-1"
"""Its name in a cluster; the number changes with what it is asked."""
BROKER_NAMESPACE = "strut"
"""Ray's namespace that all jobs look for it in."""
LOOK_SECONDS = 0.5
"""Time [s] between two looks at leases and at how many cores there are."""
SHARES_AHEAD = 0.5
"""Shares beyond the number of a machine's cores that a job which is alone may have there, per core, so that
no core waits for the next one; where several jobs share it, none."""


class Broker:
    """Grants the cores of a cluster to jobs, by stride scheduling.

    It answers in one thread, in which many requests wait at a time, and keeps nothing that could be lost: a
    broker that is begun anew after its machine was lost hears of every job again.
    """

    def __init__(self) -> None:
        self._ray = optional_module("ray", "sharing a cluster")
        self._scheduler = StrideScheduler(clock.monotonic)
        self._waiting: dict[int, asyncio.Future[tuple[int, str]]] = {}
        self._cores = self._count_cores()
        self._looking: asyncio.Task[None] | None = None

    async def acquire(self, job: str, terms: tuple[float, float], seconds: float) -> tuple[int, str]:
        """Return a ticket and a machine once the job may begin a share of about so long [s]; -1 where its
        lease ended.
        terms: its priority, and its lease [s]."""
        self._begin_looking()
        self._scheduler.enter(job, *terms)
        ticket = self._scheduler.ask(job, seconds)
        self._waiting[ticket] = asyncio.get_running_loop().create_future()
        answer = self._waiting[ticket]
        self._grant()
        return await answer

    async def release(self, job: str, ticket: int, seconds: float) -> None:
        """Take a share as done."""
        self._scheduler.release(job, ticket, seconds)
        self._grant()

    async def beat(self, job: str, terms: tuple[float, float]) -> dict[str, int]:
        """Hear that a job is alive; return how many cores each machine of the cluster has."""
        self._begin_looking()
        self._scheduler.enter(job, *terms)
        return self._cores

    async def rest(self, job: str) -> None:
        """Take back what a job asked for or was given and has not used: it has nothing to do for now."""
        self._refuse(self._scheduler.rest(job))
        self._grant()

    async def leave(self, job: str) -> None:
        """Forget a job that has ended."""
        self._refuse(self._scheduler.leave(job))
        self._grant()

    async def usage(self) -> dict[str, float]:
        """Return the time [s] of cores that each job has used."""
        return self._scheduler.usage()

    def _grant(self) -> None:
        ahead = SHARES_AHEAD if self._scheduler.job_count == 1 else 0
        cores = {place: count + math.ceil(ahead * count) for place, count in self._cores.items()}
        for ticket, place in self._scheduler.grant(cores):
            self._waiting.pop(ticket).set_result((ticket, place))

    def _refuse(self, tickets: list[int]) -> None:
        for ticket in tickets:
            self._waiting.pop(ticket).set_result((-1, ""))

    def _begin_looking(self) -> None:
        if self._looking is None:
            self._looking = asyncio.get_running_loop().create_task(self._look())

    async def _look(self) -> None:
        """Look at leases and cores, for ever."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self._refuse(self._scheduler.expire())
            self._cores = self._count_cores()
            self._grant()

    def _count_cores(self) -> dict[str, int]:
        return {
            str(node["NodeID"]): int(node["Resources"].get("CPU", 0))
            for node in self._ray.nodes()
            if node["Alive"]
        }


def find_broker(ray: Any) -> Any:
    """Return the broker of the cluster, which is begun where there is none."""
    options = {
        "name": BROKER_NAME,
        "namespace": BROKER_NAMESPACE,
        "lifetime": "detached",
        "get_if_exists": True,
        "num_cpus": 0,
        "max_restarts": -1,
        "max_concurrency": 10_000,
    }
    return ray.remote(Broker).options(**options).remote()
