"""Swinging: when a foot may land. Stiff legs of equal length scuff in mid-swing, and models of them look
away."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

from strut.system import Discrete, Event

BEHIND, FRONT, MISSED = 0.0, 1.0, 2.0
"""Where a foot is in its swing: values of the flag `passed`."""
CLEAR_HEIGHT = 1e-9
"""[m] A foot that is higher is off the ground."""
PASS_MARGIN = 1e-9
"""[m] How far in front a foot is when it passes the other. Legs of equal length are level just where one
passes the other: a little later the height of the foot is more than rounding."""


class Swing:
    """The rule: the ground is ignored until the foot has been in front (`ahead` positive) and above the
    ground. A foot that falls behind again does not land in this swing. Without `ahead`, a foot that was let
    go lands again after it was off the ground.

    begin: makes an initial value of an expression. prefix: of the names of flags and events. disarms: whether
    landing disarms a foot, so that it must leave the ground before it lands again; if not, only ground that
    rises under it does.
    """

    def __init__(
        self,
        gap: ca.SX,
        ahead: ca.SX | None,
        begin: Callable[[ca.SX], ca.SX],
        prefix: str = "",
        *,
        disarms: bool = True,
    ) -> None:
        self.gap, self.ahead, self.prefix, self.disarms = gap, ahead, prefix, disarms
        self.passed = None if ahead is None else Discrete(f"{prefix}passed", begin(ahead > 0), internal=True)
        arms = 1.0 if ahead is None else begin((ahead > 0) * (gap > 0))
        self.armed = Discrete(f"{prefix}armed", arms, internal=True)

    @property
    def discrete(self) -> list[Discrete]:
        """The flags of the swing, as discrete states."""
        return [z for z in (self.passed, self.armed) if z is not None]

    def flags_after_landing(self, flag: ca.SX | float = 1.0) -> dict[str, ca.SX]:
        """The flags after the foot landed, or where `flag` is 1."""
        return {z.name: z.sym * (1 - flag) for z in self.discrete} if self.disarms else {}

    def events(self, free: ca.SX | float = 1.0) -> list[Event]:
        """What happens to a foot while it is `free`. Every guard is smooth: kinks cost the search for events
        dearly."""
        armed = self.armed.sym
        if self.passed is None or self.ahead is None:
            return [
                Event(
                    f"{self.prefix}clear",
                    guard=self.gap - CLEAR_HEIGHT,
                    when=free * (1 - armed),
                    reset={self.armed.name: 1},
                    internal=True,
                    eager=True,
                )
            ]
        passed = self.passed.sym
        return [
            Event(
                f"{self.prefix}passes",
                guard=self.ahead - PASS_MARGIN,
                when=free * (passed == BEHIND),
                reset={self.passed.name: FRONT, self.armed.name: self.gap > 0},
                description="the swing foot comes in front",
            ),
            Event(
                f"{self.prefix}clear",
                guard=self.gap,
                when=free * (passed == FRONT) * (1 - armed),
                reset={self.armed.name: 1},
                description="it comes out of the ground it scuffed",
                internal=True,
            ),
            Event(
                f"{self.prefix}returns",
                guard=-self.ahead,
                when=passed == FRONT,
                reset={self.passed.name: ca.if_else(free, MISSED, BEHIND), self.armed.name: 0},
                description="it falls behind again, or the other foot passes it",
                internal=True,
            ),
        ]

    def scuff(self, depth: float, free: ca.SX) -> Event:
        """Ends a run where the foot is in the ground in front."""
        assert self.passed is not None
        scuffs = ca.if_else(free * (self.passed.sym == FRONT) * (1 - self.armed.sym), -self.gap - depth, -1)
        return Event(
            f"{self.prefix}scuff",
            guard=scuffs,
            terminal=True,
            failure=True,
            description="it stumbled: the swing foot was in the ground in front of the other",
        )
