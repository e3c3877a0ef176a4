"""Where names stand in a picture: beside what they name, on nothing that is drawn already."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from strut.html import safe

LETTER_SHARE = 0.62
"""[1] Width of a letter as a share of the size of its type, about: browsers differ."""
HALF_HEIGHT_SHARE = 0.48
"""[1] Half of the height from the top of capitals to the end of descenders, as a share of the size."""
BASELINE_SHARE = 0.27
"""[1] Of the size, by which the line that letters stand on is below the middle of that height."""
DIRECTIONS = np.array([(-1, 0), (1, 0), (-1, -1), (1, -1), (-1, 1), (1, 1), (0, -1), (0, 1)], dtype=float)
"""[1] Ways from what is named to its name, those that are liked best first."""
STEP = 4.0
"""[px] By which a name goes farther from what it names where there is no room."""
MAX_STEPS = 12
"""Steps after which a name stands where it hides least."""
LEADER_GAP = 14.0
"""[px] Beyond which a thin line leads from a name to what it names."""
SAMPLE_DISTANCE = 2.0
"""[px] Between points of lines that names keep away from, at most."""
CLEARANCE = 1.5
"""[px] That names and their leaders keep around them."""
LEADER_WIDTH = 0.6
"""[px] Of a line that leads from a name to what it names."""
SAME_PLACE = 1e-6
"""[px] Below which two points are one."""
NEARER_SHARE = 1.5
"""[1] Of a name's distance from what it names, within which it is taken for the name of something else."""
COVERED_WEIGHT, CROSSED_WEIGHT, POINT_WEIGHT, BACK_WEIGHT = 1e4, 100.0, 10.0, 1.0
"""[1] What a place of a name costs: of a disc or a name that would be covered; of a disc that a leader would
cross; of a point of another line that would be hidden, crossed, or is so near that the name is taken for its
own; of a point that would be hidden of a line without a name, which is behind all others."""


class Labels:
    """Names in a picture, each placed where it hides least of what is there and is not taken for the name of
    something else; those placed before count.

    Everything that names keep away from is told first, by `avoid_line`, `avoid_disc` and `avoid_box`. Names
    are placed in the order in which they come, so that the same picture always has them at the same places.
    """

    def __init__(self) -> None:
        self._points = np.zeros((0, 2))  # of lines
        self._lines: list[str] = []  # by point the name of its line
        self._weights = np.zeros(0)  # by point what hiding it costs
        self._discs = np.zeros((0, 3))  # centre and radius
        self._boxes = np.zeros((0, 4))  # left, top, right, bottom of names and other boxes

    def avoid_line(self, begin: ArrayLike, end: ArrayLike, width: float = 1.0, name: str = "") -> None:
        """Keep names away from a line between two points [px] that is so wide [px]. name: that it will have,
        so that no other stands beside it."""
        a, b = np.asarray(begin, dtype=float), np.asarray(end, dtype=float)
        length = float(np.linalg.norm(b - a))
        across = np.array((a[1] - b[1], b[0] - a[0])) / max(length, 1e-9)
        along = np.linspace(0.0, 1.0, 2 + int(length / SAMPLE_DISTANCE))
        sides = np.linspace(-width / 2, width / 2, 2 + int(width / SAMPLE_DISTANCE))
        grid = a + along[:, None, None] * (b - a) + sides[:, None] * across
        count = along.size * sides.size
        self._points = np.vstack([self._points, grid.reshape(count, 2)])
        self._lines += [name] * count
        self._weights = np.append(self._weights, np.full(count, POINT_WEIGHT if name else BACK_WEIGHT))

    def avoid_disc(self, centre: ArrayLike, radius: float) -> None:
        """Keep names away from a disc [px]."""
        self._discs = np.vstack([self._discs, np.append(centre, radius)])

    def avoid_box(self, middle: ArrayLike, half: ArrayLike) -> None:
        """Keep names away from a box around a point [px] that has these halves of width and height [px]."""
        self._boxes = np.vstack([self._boxes, np.append(np.subtract(middle, half), np.add(middle, half))])

    @property
    def corners(self) -> np.ndarray:
        """Corners of boxes, of names and others, and around discs [px]: a picture is at least as large."""
        centres, radii = self._discs[:, :2], self._discs[:, 2:]
        return np.vstack([centres - radii, centres + radii, self._boxes.reshape(-1, 2)])

    def place(
        self, text: str, anchors: Sequence[np.ndarray], colour: str, size: int, gap: float = 4.0
    ) -> str:
        """Return a name beside what it names as SVG, where it hides least; of places that are equally good
        the nearest.

        anchors: points of what is named [px], those that are liked best first. size: of its type [px]. gap:
        that it keeps from such a point at least [px].
        """
        half = np.array((LETTER_SHARE * size * len(text) / 2, HALF_HEIGHT_SHARE * size))
        lines = np.array(self._lines, dtype=str)
        own, others = self._points[lines == text], self._points[(lines != text) & (lines != "")]
        least, where, leader = np.inf, anchors[0], None
        for far in gap + STEP * np.arange(MAX_STEPS + 1):
            for anchor in anchors:
                for direction in DIRECTIONS:
                    # the nearest corner or edge of the box is so far from the point
                    middle = anchor + direction / np.linalg.norm(direction) * far + direction * half
                    cost, path = self._hidden_by(middle, half), None
                    if far > LEADER_GAP:
                        path = (anchor, np.clip(anchor, middle - half - CLEARANCE, middle + half + CLEARANCE))
                        cost += self._crossed_by(*path, others)
                    elif len(own):
                        cost += POINT_WEIGHT * _count_nearer(middle, half, own, others)
                    if cost < least:
                        least, where, leader = cost, middle, path
            if least == 0:
                break
        self.avoid_box(where, half)
        line = ""
        if leader is not None:
            begin, end = leader
            self.avoid_line(begin, end, name=text)
            line = (
                f'<line x1="{begin[0]:.1f}" y1="{begin[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" '
                f'stroke="{colour}" stroke-width="{LEADER_WIDTH}"/>'
            )
        return line + text_at(where, text, colour, size)

    def _hidden_by(self, middle: np.ndarray, half: np.ndarray) -> float:
        """Return how much a box hides; 0 where it hides nothing. middle, half: of the box, and of its width
        and height [px]."""
        low, high = middle - half - CLEARANCE, middle + half + CLEARANCE
        points = self._weights[((self._points > low) & (self._points < high)).all(axis=1)].sum()
        # a disc reaches into the box where the point of the box that is nearest to its centre is in it
        centres, radii = self._discs[:, :2], self._discs[:, 2]
        discs = (np.linalg.norm(np.clip(centres, low, high) - centres, axis=1) < radii).sum()
        boxes = ((self._boxes[:, :2] < high) & (self._boxes[:, 2:] > low)).all(axis=1).sum()
        return float(points + COVERED_WEIGHT * (discs + boxes))

    def _crossed_by(self, begin: np.ndarray, end: np.ndarray, others: np.ndarray) -> float:
        """Return how much a leader crosses; 0 where it crosses nothing but what it leads to. others: points
        of lines with other names [px]."""
        steps = np.linspace(0.0, 1.0, 2 + int(np.linalg.norm(end - begin) / SAMPLE_DISTANCE))[:, None, None]
        path = begin + steps * (end - begin)
        points = (np.linalg.norm(path - others, axis=2) < CLEARANCE).any(axis=0).sum()
        # a leader to a pin begins in its centre
        centres, radii = self._discs[:, :2], self._discs[:, 2]
        named = np.linalg.norm(begin - centres, axis=1) < SAME_PLACE
        discs = ((np.linalg.norm(path - centres, axis=2) < radii).any(axis=0) & ~named).sum()
        inside = ((path > self._boxes[:, :2]) & (path < self._boxes[:, 2:])).all(axis=2)
        names = inside.any(axis=0).sum()
        return float(POINT_WEIGHT * points + CROSSED_WEIGHT * discs + COVERED_WEIGHT * names)


def _count_nearer(middle: np.ndarray, half: np.ndarray, own: np.ndarray, others: np.ndarray) -> float:
    """Return how many points of other lines are about as near to a box as those of its own, so that it may be
    taken for their name. own, others: points [px]."""
    to_own, to_others = (
        np.linalg.norm(np.maximum(np.abs(points - middle) - half, 0.0), axis=1) for points in (own, others)
    )
    return float((to_others < NEARER_SHARE * to_own.min()).sum())


def text_at(middle: Sequence[float] | np.ndarray, text: str, colour: str, size: int) -> str:
    """Return a text as SVG whose letters are around a point [px]. size: of its type [px]."""
    return (
        f'<text x="{middle[0]:.1f}" y="{middle[1] + BASELINE_SHARE * size:.1f}" fill="{colour}" '
        f'font-size="{size}" text-anchor="middle">{safe(text)}</text>'
    )
