"""`RayWorkers`: generations are evaluated by a Ray cluster, of one machine or many, which jobs share."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading
import time as clock
import uuid
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from strut.checks import integer, positive
from strut.errors import ClusterError
from strut.evolve.evaluations.evaluation import Evaluated
from strut.evolve.problem import SearchProblem
from strut.evolve.workers.broker import find_broker
from strut.evolve.workers.lost_shares import LostShares
from strut.evolve.workers.ray_cluster import RAY_PURPOSE, join_cluster, start_cluster
from strut.evolve.workers.stride import LEASE_SECONDS
from strut.evolve.workers.workers import Shares, ShareSize, evaluate_checked, on_one_core
from strut.extras import optional_module
from strut.version import VERSION

BEATS_PER_LEASE = 5
"""How often a job gives a sign of life during a lease."""
MAX_CREWS = 2
"""Problems whose workers are kept."""
PATIENCE_SECONDS = 30.0
"""Time [s] without any answer after which a warning says what is waited for."""


class RayWorkers:
    """Evaluates on a Ray cluster, in a process of its own (an actor) for each core that it is given.

    address: of the cluster to be joined, HOST:PORT, or RAY_ADDRESS; without either one is started on this
    machine, with `cores` of them, and ends with the job. token_file: see `join_cluster`. priority: jobs that
    share a cluster use it in proportion to these numbers. lease: time [s] after which a job that died loses
    its cores.

    Workers may come and go: what one had begun when it was lost is evaluated again, and counts once. All
    machines need the same version of strut and, for Python functions, the module that defines them.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        token_file: str | Path | None = None,
        priority: float = 1.0,
        cores: int | None = None,
        lease: float = LEASE_SECONDS,
    ) -> None:
        self.priority, self.lease = positive("priority", priority), positive("lease", lease, "s")
        self._terms = (self.priority, self.lease)
        if cores is not None:
            integer("cores", cores, 1)
        self.address = address or os.environ.get("RAY_ADDRESS") or ""
        self._owns = False
        self._ray: Any = sys.modules.get("ray")
        if self._ray is None or not self._ray.is_initialized():  # else whoever called us has joined one
            self._ray = join_cluster(self.address, token_file) if self.address else start_cluster(cores)
            self._owns = True
        self._errors = optional_module("ray.exceptions", RAY_PURPOSE)
        self._crews: list[_Crew] = []
        self._broker = find_broker(self._ray)
        self.job = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self.cores: dict[str, int] = {}
        self._end = threading.Event()
        self._beat()
        self._heart = threading.Thread(target=self._beat_on, daemon=True)
        self._heart.start()

    def evaluate(self, problem: SearchProblem, x: np.ndarray, seeds: np.ndarray) -> Shares:
        """Yield shares as they arrive."""
        crew = self._crew(problem)
        shares = LostShares(np.arange(len(x)), whole=not problem.evaluation.divisible)
        requests: list[Any] = []
        running: dict[Any, _Task] = {}
        heard = clock.monotonic()
        try:
            while shares.backlog or running:
                requests += self._ask(crew, shares, len(requests), running)
                ready, _ = self._ray.wait([*requests, *running], num_returns=1, timeout=1.0)
                heard = self._watch_silence(heard, bool(ready))
                for ref in ready:
                    if ref not in running:
                        requests.remove(ref)
                        ticket, node = self._ticket(ref)
                        if ticket >= 0 and shares.backlog:
                            places = shares.take(self._share_count(crew, shares.backlog))
                            worker = crew.pool.worker(node, self.cores.get(node, 1))
                            task = worker.evaluate(x[places], seeds[places])
                            running[task] = _Task(places, ticket, clock.monotonic(), worker)
                        elif ticket >= 0:
                            self._release(ticket, 0.0)
                        continue
                    share = running.pop(ref)
                    try:
                        answers = self._answers(crew, ref, share)
                    except self._errors.ActorUnschedulableError:  # its machine was gone before it began
                        self._let_go(crew, share)
                        shares.put_back(share.places)
                        continue
                    if answers is None:
                        answers = shares.give_back(share.places, len(problem.evaluation.measures))
                    if answers is not None:
                        yield share.places, answers
        finally:
            self._abandon(crew, requests, running)

    def close(self) -> None:
        """Leave the cluster, and end it where it was started here."""
        if self._end.is_set():
            return
        self._end.set()
        self._heart.join()
        with contextlib.suppress(Exception):  # a cluster that is gone needs no farewell
            self._ray.get(self._broker.leave.remote(self.job), timeout=2.0)
        for crew in self._crews:
            crew.pool.clear()
        if self._owns:
            self._ray.shutdown()

    def usage(self) -> dict[str, float]:
        """Return the time [s] of cores that each job of the cluster has used."""
        used: dict[str, float] = self._ray.get(self._broker.usage.remote())
        return used

    # ---- tickets ----

    def _crew(self, problem: SearchProblem) -> _Crew:
        """Return the workers that evaluate a problem. Those of the one before stay, too: a search that
        confirms its best goes back and forth between two."""
        for crew in self._crews:
            if crew.problem is problem:
                return crew
        while len(self._crews) >= MAX_CREWS:
            self._crews.pop(0).pool.clear()
        pool = _Pool(self._ray, self._ray.put(on_one_core(problem)))
        self._crews.append(_Crew(problem, pool, ShareSize()))
        return self._crews[-1]

    def _share_count(self, crew: _Crew, backlog: int) -> int:
        """Return how many individuals the next share has: towards the end of a generation fewer, down to half
        of what is worthwhile, so that all cores end together."""
        count = crew.size.count
        return max(-(-count // 2), min(count, -(-backlog // max(sum(self.cores.values()), 1))))

    def _ask(self, crew: _Crew, shares: LostShares, requests: int, running: dict[Any, _Task]) -> list[Any]:
        """Ask the broker for as many tickets as there are shares, and no more than it may ever give."""
        whole = not crew.problem.evaluation.divisible
        share_count = min(shares.backlog, 1) if whole else -(-shares.backlog // crew.size.count)
        cores = max(sum(self.cores.values()), 1)
        # towards the end of a generation none goes ahead: it would wait behind one while other cores rest
        room = 2 * cores - len(running)
        if share_count <= 2 * cores:
            room = cores - len({id(task.worker) for task in running.values()})
        more = min(share_count, room) - requests
        expected = crew.size.expected_seconds
        return [self._broker.acquire.remote(self.job, self._terms, expected) for _ in range(more)]

    def _ticket(self, ref: Any) -> tuple[int, str]:
        """Return a ticket and the machine that it is for; -1 where our lease had ended or the broker was
        lost: then it is asked again."""
        try:
            ticket: tuple[int, str] = self._ray.get(ref)
        except self._errors.RayActorError:
            self._broker = find_broker(self._ray)
            return -1, ""
        return ticket

    def _release(self, ticket: int, seconds: float) -> None:
        self._broker.release.remote(self.job, ticket, seconds)

    # ---- answers ----

    def _answers(self, crew: _Crew, ref: Any, share: _Task) -> Evaluated | None:
        """Return what a task measured; None where its worker was lost."""
        share.worker.busy -= 1
        try:
            answer = self._ray.get(ref)
        except self._errors.RayTaskError as error:
            raise error.as_instanceof_cause() from None
        except (
            self._errors.RayActorError,
            self._errors.OutOfMemoryError,
            self._errors.ObjectLostError,
            self._errors.WorkerCrashedError,
        ):
            self._let_go(crew, share)
            return None
        self._release(share.ticket, answer["seconds"])
        if answer["version"] != VERSION:
            raise ClusterError(
                f"the worker on {answer['host']} has strut {answer['version']}, and this is {VERSION}: "
                "install the same everywhere"
            )
        crew.size.observe(len(share.places), answer["seconds"])
        return Evaluated(answer["measures"], answer["status"])

    def _let_go(self, crew: _Crew, share: _Task) -> None:
        """Give up a worker, and the core that it was to use."""
        crew.pool.drop(share.worker)
        self._release(share.ticket, clock.monotonic() - share.began)

    def _abandon(self, crew: _Crew, requests: list[Any], running: dict[Any, _Task]) -> None:
        """Take back what is still asked for at the end of a generation, and under way after an error."""
        with contextlib.suppress(Exception):  # the cluster may be what failed
            for share in running.values():
                self._let_go(crew, share)
            if requests:
                self._broker.rest.remote(self.job)

    # ---- signs of life ----

    def _beat(self) -> None:
        """Say that we are alive, and hear how many cores there are."""
        try:
            self.cores = self._ray.get(self._broker.beat.remote(self.job, self._terms), timeout=self.lease)
        except (self._errors.RayActorError, self._errors.GetTimeoutError):
            self._broker = find_broker(self._ray)

    def _beat_on(self) -> None:
        while not self._end.wait(self.lease / BEATS_PER_LEASE):
            with contextlib.suppress(
                Exception
            ):  # what is wrong is met, and said, where shares are handed out
                self._beat()

    def _watch_silence(self, heard: float, ready: bool) -> float:
        """Warn where the cluster gives no answer for long; return when it was last heard of [s]."""
        now = clock.monotonic()
        if ready:
            return now
        if now - heard > PATIENCE_SECONDS:
            what = "is busy" if any(self.cores.values()) else "has no core: waiting for a machine to join"
            warnings.warn(f"no answer for {PATIENCE_SECONDS:g} s: the cluster {what}", stacklevel=2)
            return now
        return heard


@dataclass(eq=False)
class _Worker:
    """An actor of ours on a machine. busy: how many shares it has."""

    node: str
    actor: Any
    busy: int = 0

    def evaluate(self, x: np.ndarray, seeds: np.ndarray) -> Any:
        """Hand it a share; return the reference of its answer."""
        self.busy += 1
        return self.actor.evaluate.remote(x, seeds)


class _Pool:
    """Our actors, which stay while the job runs. Ray's own tasks would not do: it ends processes that wait,
    and where jobs take turns each turn would begin with importing everything anew."""

    def __init__(self, ray: Any, problem: Any) -> None:
        """problem: a reference of it."""
        scheduling = optional_module("ray.util.scheduling_strategies", RAY_PURPOSE)
        self._ray, self._problem = ray, problem
        self._affinity = scheduling.NodeAffinitySchedulingStrategy
        self._workers: list[_Worker] = []

    def worker(self, node: str, cores: int) -> _Worker:
        """Return one on a machine, a new one where all are busy and it has more cores."""
        own = sorted((each for each in self._workers if each.node == node), key=lambda each: each.busy)
        if own and (not own[0].busy or len(own) >= cores):
            return own[0]
        actor = self._ray.remote(Evaluator).options(
            num_cpus=0, max_restarts=0, scheduling_strategy=self._affinity(node, soft=False)
        )
        # in a list, a reference is followed by the actor, not by Ray
        self._workers.append(_Worker(node, actor.remote([self._problem])))
        return self._workers[-1]

    def drop(self, worker: _Worker) -> None:
        """Let go of one that died, or that is to stop what it does."""
        if worker in self._workers:
            self._workers.remove(worker)
            self._ray.kill(worker.actor)

    def clear(self) -> None:
        """Let go of all."""
        for worker in list(self._workers):
            self.drop(worker)


@dataclass(frozen=True, eq=False)
class _Crew:
    """The workers that evaluate one problem, and the size of their shares."""

    problem: SearchProblem
    pool: _Pool
    size: ShareSize


@dataclass(frozen=True, eq=False)
class _Task:
    """A share that is under way: its places, its ticket, when it was handed out [s], and to whom."""

    places: np.ndarray
    ticket: int
    began: float
    worker: _Worker


class Evaluator:
    """The actor: evaluates shares in a process of the cluster."""

    def __init__(self, boxed: list[Any]) -> None:
        self._problem: SearchProblem = optional_module("ray", RAY_PURPOSE).get(boxed[0])

    def evaluate(self, x: np.ndarray, seeds: np.ndarray) -> dict[str, Any]:
        """Return what is measured, how long it took [s], and who did it."""
        began = clock.perf_counter()
        answers = evaluate_checked(self._problem, x, seeds)
        return {
            "measures": answers.measures,
            "status": answers.status,
            "seconds": clock.perf_counter() - began,
            "version": VERSION,
            "host": socket.gethostname(),
        }
