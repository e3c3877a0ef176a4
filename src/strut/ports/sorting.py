"""Which variable is computed when: strongly connected components, and where to cut the loops in them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

N = TypeVar("N", bound=Hashable)


def components(needs: Mapping[N, Sequence[N]]) -> list[list[N]]:
    """Strongly connected components (Tarjan), each after those that it needs. Without recursion: chains are
    long."""
    order: dict[N, int] = {}
    low: dict[N, int] = {}
    on_stack: set[N] = set()
    stack: list[N] = []
    groups: list[list[N]] = []
    for root in needs:
        if root in order:
            continue
        work = [(root, iter(needs[root]))]
        order[root] = low[root] = len(order)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            following = next((other for other in rest if other in needs), None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    at = stack.index(node) if len(stack) < 50 else len(stack) - 1 - stack[::-1].index(node)
                    group = stack[at:]
                    del stack[at:]
                    on_stack.difference_update(group)
                    groups.append(group)
            elif following not in order:
                order[following] = low[following] = len(order)
                stack.append(following)
                on_stack.add(following)
                work.append((following, iter(needs[following])))
            elif following in on_stack:
                low[node] = min(low[node], order[following])
    return groups


def is_loop(group: Sequence[N], needs: Mapping[N, Sequence[N]]) -> bool:
    """Does a component need itself?"""
    return len(group) > 1 or group[0] in needs[group[0]]


def tear(group: Sequence[N], needs: Mapping[N, Sequence[N]], rank: Mapping[N, int]) -> list[N]:
    """Variables of a loop without which the others can be computed one after the other: the one that most
    others need first, of those with the highest `rank`, again and again until no loop is left."""
    torn: list[N] = []
    pending = [list(group)]
    while pending:
        members = pending.pop()
        inside = set(members)
        local = {n: [m for m in needs[n] if m in inside] for n in members}
        if len(members) == 1 and members[0] not in local[members[0]]:
            continue
        users: dict[N, int] = dict.fromkeys(members, 0)
        for wishes in local.values():
            for m in wishes:
                users[m] += 1
        cut = max(members, key=lambda n: (rank.get(n, 0), users[n] * max(len(local[n]), 1)))
        torn.append(cut)
        del local[cut]
        rest = {n: [m for m in wishes if m != cut] for n, wishes in local.items()}
        pending += [g for g in components(rest) if is_loop(g, rest)]
    return torn


def shortest_loop(start: N, needs: Mapping[N, Sequence[N]]) -> list[N]:
    """The shortest chain of needs that leads from a variable back to itself (breadth first)."""
    before: dict[N, N] = {}
    queue = [start]
    for node in queue:
        for other in needs[node]:
            if other == start:
                chain = [node]
                while chain[-1] != start:
                    chain.append(before[chain[-1]])
                return chain[::-1]
            if other in needs and other not in before:
                before[other] = node
                queue.append(other)
    return [start]
