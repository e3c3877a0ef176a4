"""Rewriting many expressions at once, so that what they share is still shared afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import casadi as ca

from strut.system.event import Event, Sample
from strut.system.quantity import Expression, sx

Rewrite = Callable[[list[ca.SX]], list[ca.SX]]


class BatchRewrite:
    """Groups of named expressions, collected first and rewritten in one go."""

    def __init__(self) -> None:
        self.expressions: list[ca.SX] = []

    def add(self, group: Mapping[str, Expression] | None) -> Callable[[], dict[str, ca.SX] | None]:
        """Collect a group; the answer gives it rewritten, once `rewrite` was called."""
        if group is None:
            return lambda: None
        begin = len(self.expressions)
        self.expressions += [ca.densify(sx(e)) for e in group.values()]
        end = len(self.expressions)
        return lambda: dict(zip(group, self.expressions[begin:end], strict=True))

    def add_jumps(self, jumps: Sequence[Event] | Sequence[Sample]) -> Callable[[], tuple[Any, ...]]:
        """Collect events or samples."""
        waiting = []
        for jump in jumps:
            body = "reset" if isinstance(jump, Event) else "set"
            guard = self.add({"guard": jump.guard} if isinstance(jump, Event) else {})
            waiting.append((jump, body, guard, self.add(getattr(jump, body)), self.add(jump.loss)))

        def rewritten_tuple() -> tuple[Any, ...]:
            rewritten_jumps = []
            for jump, body, guard, reset, loss in waiting:
                changes: dict[str, Any] = {**(guard() or {}), body: reset(), "loss": loss()}
                rewritten_jumps.append(replace(jump, **changes))
            return tuple(rewritten_jumps)

        return rewritten_tuple

    def rewrite(self, rule: Rewrite) -> None:
        """Rewrite everything that was collected, in one call of `rule`."""
        self.expressions = rule(self.expressions) if self.expressions else []
