"""Share the assignments of a long function out among the members of a crew: warps of a graphics card that do
one evaluation together.

A member keeps what it computes in its own registers; what another needs crosses over through memory that they
share, and is there once all have met (a barrier). Between two meetings lies a phase (a superstep of the
bulk-synchronous model of Valiant, 1990).
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from strut.codegen.instructions import AssignmentLine

LONG_OPERATIONS = {"STRUT_INVERSE": 8, "STRUT_SQRT": 10, "STRUT_SIN": 12, "STRUT_COS": 12, "STRUT_": 30}
"""By what stands in an expression, about how many instructions it is; others are one. The first that fits
counts."""
PHASE_COST = 256
"""Instructions of a member between two meetings, at most."""
CLUSTER_COST = 32
"""Instructions of assignments that are shared out together, at most."""
PIECE_PHASES = 8
"""Phases that are one function: compilers need far more than twice the time for twice as much."""
BALANCE = 64
"""Instructions by which the load of a member may exceed the least, for the sake of arguments that it has."""


@dataclass(frozen=True)
class SharedOut:
    """Assignments shared out: `phases[s][m]` are those of member m in phase s. home: by local, the phase and
    the member that compute it."""

    phases: Sequence[Sequence[Sequence[AssignmentLine]]]
    home: dict[str, tuple[int, int]]

    def crossings(self) -> dict[str, int]:
        """Return the locals that other members than their own read, or their own in another piece, each with
        the last phase in which anybody does."""
        last: dict[str, int] = {}
        crosses: set[str] = set()
        for s, phase in enumerate(self.phases):
            for m, lines in enumerate(phase):
                for name in {name for line in lines for name in line.reads if name in self.home}:
                    begin, owner = self.home[name]
                    last[name] = s
                    if owner != m or begin // PIECE_PHASES != s // PIECE_PHASES:
                        crosses.add(name)
        return {name: s for name, s in last.items() if name in crosses}


def cost_of(line: AssignmentLine) -> int:
    """Return about how many instructions an assignment is."""
    return next((cost for text, cost in LONG_OPERATIONS.items() if text in line.expression), 1)


def share_out(
    body: Sequence[AssignmentLine], members: int, phase_cost: int = PHASE_COST, balance: int = BALANCE
) -> SharedOut:
    """Share assignments out among so many members.

    Greedy: in every phase clusters of assignments are taken in their order. One that needs what was computed
    in the same phase goes to the member that computed it, or waits if there are two; any other goes to the
    member that has most of its arguments, the least busy of them, until every member has done its part of the
    phase.
    """
    clusters = make_clusters(body, CLUSTER_COST)
    place = {line.target: k for k, lines in enumerate(clusters) for line in lines if line.local}
    arguments = [
        sorted({place[name] for line in lines for name in line.reads if name in place} - {k})
        for k, lines in enumerate(clusters)
    ]
    users: list[list[int]] = [[] for _ in clusters]
    for k, needed in enumerate(arguments):
        for j in needed:
            users[j].append(k)
    waits_for = [len(a) for a in arguments]
    costs = [sum(map(cost_of, lines)) for lines in clusters]
    done_in, done_by = [-1] * len(clusters), [-1] * len(clusters)
    phases: list[list[list[AssignmentLine]]] = []
    ready = [k for k, count in enumerate(waits_for) if count == 0]
    while ready:
        s, load, waiting = len(phases), [0] * members, []
        parts: list[list[AssignmentLine]] = [[] for _ in range(members)]
        heapq.heapify(ready)
        while ready:
            k = heapq.heappop(ready)
            here = {done_by[j] for j in arguments[k] if done_in[j] == s}
            m = _choose_member(here, [done_by[j] for j in arguments[k]], load, balance)
            if m < 0 or (load[m] and load[m] + costs[k] > phase_cost):
                waiting.append(k)
                continue
            load[m] += costs[k]
            done_in[k], done_by[k] = s, m
            parts[m] += clusters[k]
            for user in users[k]:
                waits_for[user] -= 1
                if waits_for[user] == 0:
                    heapq.heappush(ready, user)
        phases.append(parts)
        ready = waiting
    home = {name: (done_in[k], done_by[k]) for name, k in place.items()}
    return SharedOut(phases, home)


def make_clusters(body: Sequence[AssignmentLine], most: int) -> list[list[AssignmentLine]]:
    """Return the assignments in clusters, ordered such that none needs a later one: what a single other
    assignment needs is with it, unless the cluster would cost more than `most`."""
    place = {line.target: k for k, line in enumerate(body) if line.local}
    users: list[set[int]] = [set() for _ in body]
    for k, line in enumerate(body):
        for name in line.reads:
            if name in place:
                users[place[name]].add(k)
    cluster, cost = list(range(len(body))), [cost_of(line) for line in body]
    for k in range(len(body) - 1, -1, -1):
        homes = {cluster[user] for user in users[k]}
        if len(homes) == 1 and cost[k] + cost[next(iter(homes))] <= most:
            cluster[k] = next(iter(homes))
            cost[cluster[k]] += cost[k]
    lines: dict[int, list[AssignmentLine]] = {}
    for k, line in enumerate(body):
        lines.setdefault(cluster[k], []).append(line)
    return [lines[k] for k in sorted(lines)]


def _choose_member(here: set[int], owners: Sequence[int], load: Sequence[int], balance: int) -> int:
    """Return the member that does an assignment; -1 where it has to wait. here: those that computed an
    argument in this phase; owners: those that computed any."""
    if len(here) > 1:
        return -1
    if here:
        return next(iter(here))
    least = min(load)
    return min(range(len(load)), key=lambda m: (load[m] > least + balance, -owners.count(m), load[m]))


@dataclass(frozen=True)
class Places:
    """Where the crossing locals lie: near (in a multiprocessor's own memory) or far, by number."""

    near: dict[str, int]
    far: dict[str, int]

    def text(self, name: str) -> str:
        """Return how a crossing local is read and written."""
        return f"near[{self.near[name]}]" if name in self.near else f"far[{self.far[name]}]"


def find_places(out: SharedOut, room: int) -> Places:
    """Return places for what crosses, of which at most `room` are near. A place is used again in the phase
    after the last that reads it."""
    last = out.crossings()
    reads = dict.fromkeys(last, 0)
    for phase in out.phases:
        for lines in phase:
            for name in {name for line in lines for name in line.reads if name in last}:
                reads[name] += 1
    near_count = [0] * len(out.phases)
    near: list[str] = []
    for name in sorted(last, key=lambda n: -reads[n] / (last[n] - out.home[n][0] + 1)):
        span = range(out.home[name][0], last[name] + 1)
        if all(near_count[s] < room for s in span):
            near.append(name)
            for s in span:
                near_count[s] += 1
    chosen = set(near)
    return Places(
        _number_spans({n: (out.home[n][0], last[n]) for n in last if n in chosen}),
        _number_spans({n: (out.home[n][0], last[n]) for n in last if n not in chosen}),
    )


def _number_spans(spans: dict[str, tuple[int, int]]) -> dict[str, int]:
    """Return a number for each span of phases, such that spans which overlap have different ones."""
    free: list[int] = []
    ending: list[tuple[int, int]] = []
    numbers: dict[str, int] = {}
    count = 0
    for name, (begin, end) in sorted(spans.items(), key=lambda item: item[1]):
        while ending and ending[0][0] < begin:
            heapq.heappush(free, heapq.heappop(ending)[1])
        if not free:
            free, count = [count], count + 1
        numbers[name] = heapq.heappop(free)
        heapq.heappush(ending, (end, numbers[name]))
    return numbers
